"""Parts of a policy in Python: the events and models of the same parts in Swift, what they remember, what goes wrong."""
import json
import os
import pathlib
import subprocess
import sys
import time

import numpy as np
import pytest

import pyfedsim
from pyfedsim import _policy, testing

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMAND = os.environ.get("FEDSIM", str(ROOT / ".build" / "release" / "fedsim"))
SCENARIO = """
seed: 3
stop: {after: 2 d}
task:
  data:
    source: {blobs: {classes: 4, features: 6, train: 500, test: 100}}
    partition: {quantity-power: {clients: 30}}
  model: softmax
  training: {epochs: 2, batchSize: 5, optimizer: {sgd: 0.1}}
fleet:
  - name: phones
    count: 30
    power: {diurnal: [{from: "22:30", to: "07:00", probability: 0.9, spread: 45 min}]}
    background: {processing: {requiresExternalPower: true, earliestBegin: 2 h}}
    compute: {perBatch: 2 s, spread: 0.5}
"""


@pytest.fixture
def policy(tmp_path):
    """Runs the scenario with a server; the finished process, its result at `r.h5` or under another name."""
    (tmp_path / "failing_policy.py").write_text((ROOT / "python/tests/failing_policy.py").read_text())
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}

    def run(server, *words, command="run", output="r.h5"):
        (tmp_path / "s.yaml").write_text(f"{SCENARIO}server: {server}\n")
        result = ("--quiet", "--output", output) if command == "run" else ()
        return subprocess.run(
            [COMMAND, command, "s.yaml", *result, *words], cwd=tmp_path, env=environment, capture_output=True, text=True)

    run.folder = tmp_path
    return run


def model(path):
    """The last model's parameters and the digest of the events."""
    group = pyfedsim.group(path, "model")
    return {name: group[name].values for name in group}, pyfedsim.attributes(path)["eventDigest"]


def python(part, **settings):
    return json.dumps({"python": {"part": f"failing_policy:{part}", "settings": settings}})


def same(policy, ours, theirs, tolerance=0.0):
    """Both servers play the same events, to the same model."""
    for name, server in (("a.h5", ours), ("b.h5", theirs)):
        done = policy(server, output=name)
        assert done.returncode == 0, done.stderr
    (a, events_a), (b, events_b) = model(policy.folder / "a.h5"), model(policy.folder / "b.h5")
    assert events_a == events_b
    assert a.keys() == b.keys() and len(a) > 0
    for name in a:
        assert np.allclose(a[name], b[name], rtol=0, atol=tolerance), name
    assert pyfedsim.open(policy.folder / "a.h5").versions.sizes["version"] > 3


def test_a_trigger_and_an_aggregator_do_what_those_in_swift_do(policy):
    same(
        policy, f"{{trigger: {python('Threshold', updates=4)}, aggregator: {python('Mean')}}}",
        "{trigger: {threshold: 4}, aggregator: uniform-mean}")


def test_differences_and_an_optimizer_that_remembers(policy):
    same(
        policy, f"{{payload: delta, trigger: {{threshold: 4}}, aggregator: {python('Mean')}, "
        f"optimizer: {python('Momentum', rate=0.5, beta=0.5)}}}",
        "{payload: delta, trigger: {threshold: 4}, aggregator: uniform-mean, "
        "optimizer: {momentum: {learningRate: 0.5, momentum: 0.5}}}", tolerance=1e-6)


def test_a_selector_by_what_the_server_knows(policy):
    done = policy(f"{{trigger: {{threshold: 3}}, selector: {python('EvenSamples')}}}", "--set", "record.updates=true")
    assert done.returncode == 0, done.stderr
    updates = pyfedsim.table(policy.folder / "r.h5", "updates")
    devices = pyfedsim.group(policy.folder / "r.h5", "devices")
    assert 0 < len(updates) and updates.groupby("device").size().max() == 3
    assert set(devices.samples.values[updates["device"].unique()] % 2) == {0}


def test_cohorts_and_their_random_numbers(policy):
    server = f"{{selector: {python('Uniform', size=4)}, trigger: cohort-complete}}"
    digests = []
    for name, *words in (("a.h5",), ("b.h5", "--threads", "1"), ("c.h5", "--seed", "4")):
        done = policy(server, *words, output=name)
        assert done.returncode == 0, done.stderr
        digests.append(pyfedsim.attributes(policy.folder / name)["eventDigest"])
    assert digests[0] == digests[1] != digests[2]
    rounds = pyfedsim.group(policy.folder / "a.h5", "rounds")
    assert "published" in rounds.outcome.values


def test_a_run_that_was_killed_continues_with_what_its_parts_remember(policy):
    server = (f"{{payload: delta, trigger: {python('Threshold', updates=4)}, aggregator: {python('Mean')}, "
              f"optimizer: {python('Momentum')}}}")
    assert policy(server, "--set", "stop.after=60 d", output="whole.h5").returncode == 0
    folder = policy.folder
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [COMMAND, "run", "s.yaml", "--set", "stop.after=60 d", "--quiet", "--output", "r.h5", "--checkpoint-every", "5 rounds"],
        cwd=folder, env=environment, stderr=subprocess.PIPE)
    checkpoint = folder / "r.h5.run" / "checkpoint"
    while process.poll() is None and not checkpoint.exists():
        time.sleep(0.002)
    process.kill()
    process.wait()
    if not (folder / "r.h5").exists():
        done = subprocess.run([COMMAND, "resume", "r.h5", "--quiet"], cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert (folder / "r.h5").read_bytes() == (folder / "whole.h5").read_bytes()


def test_conform_finds_what_a_part_keeps_in_itself(policy):
    policy(f"{{trigger: {python('Threshold', updates=3)}, aggregator: {python('Mean')}}}", command="validate")
    assert testing.policy(policy.folder / "s.yaml", command=COMMAND) == []
    policy(f"{{trigger: {python('Forgetful')}}}", command="validate")
    found = testing.policy(policy.folder / "s.yaml", command=COMMAND)
    assert {finding.promise for finding in found} & {"repeats", "memory", "saved"}


def test_the_command_of_a_test_is_the_one_of_a_run(policy, monkeypatch):
    policy("{trigger: {threshold: 3}}", command="validate")
    monkeypatch.setenv("FEDSIM", COMMAND)
    assert testing.policy(policy.folder / "s.yaml") == []
    monkeypatch.setenv("FEDSIM", str(policy.folder / "nothing"))
    with pytest.raises(pyfedsim.CommandNotFound, match="there is no program at this path"):
        testing.policy(policy.folder / "s.yaml")


def test_a_changed_part_is_caught_by_check(policy):
    server = f"{{trigger: {python('Threshold', updates=4)}, aggregator: {python('Mean')}}}"
    assert policy(server, "--record", command="check").returncode == 0
    assert policy(server, command="check").returncode == 0
    module = policy.folder / "failing_policy.py"
    module.write_text(module.read_text().replace("server.pending >= self.updates", "server.pending > self.updates"))
    changed = policy(server, command="check")
    assert changed.returncode == 1 and "s.yaml" in changed.stdout + changed.stderr, changed.stdout


@pytest.mark.parametrize("part, key, message", [
    ("Nobody", "trigger", "module 'failing_policy' has no attribute 'Nobody'"),
    ("Mean", "trigger", "is Mean, expected a pyfedsim.policy.Trigger"),
    ("WrongNeeds", "trigger", "`needs` has 'losses', expected one of ['cohorts']"),
    ("WrongTimer", "trigger", "`timer` is 60, expected a pyfedsim.policy.Timer"),
    ("Threshold", "aggregator", "is Threshold, expected a pyfedsim.policy.Aggregator"),
])
def test_what_is_no_part_is_a_fault_of_the_scenario(policy, part, key, message):
    done = policy(f"{{{key}: {python(part)}}}")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert f"server.{key}" in done.stderr and "nothing was run" in done.stderr
    assert not (policy.folder / "r.h5").exists()


@pytest.mark.parametrize("part, stated, message", [
    ("Stated", {"needed_updates": "5"}, "`needed_updates` is '5', expected None or a whole number from 1 to 1000000"),
    ("Stated", {"needed_updates": 2.5}, "`needed_updates` is 2.5, expected None or a whole number"),
    ("Stated", {"needed_updates": 0}, "`needed_updates` is 0, expected"),
    ("Stated", {"needed_updates": True}, "`needed_updates` is True, expected"),
    ("Stated", {"timer": {"kind": "every", "seconds": "60"}}, "`timer` has seconds that are '60', expected a number"),
    ("Stated", {"timer": {"kind": "every", "seconds": 1e12}}, "`timer` has seconds that are 1000000000000, expected"),
    ("StatedCohorts", {"needed_waiting": -1}, "`needed_waiting` is -1, expected None or a whole number from 1 to 10000000"),
    ("StatedCohorts", {"needed_waiting": [5]}, "`needed_waiting` is [5], expected"),
    ("StatedCohorts", {"wait_limit": "inf"}, "`wait_limit` is inf, expected a number of seconds from 0.001 to 1e9"),
    ("StatedCohorts", {"wait_limit": "nan"}, "`wait_limit` is nan, expected"),
    ("StatedCohorts", {"wait_limit": "1 h"}, "`wait_limit` is '1 h', expected"),
    ("StatedCohorts", {"accepts_late": "no"}, "`accepts_late` is 'no', expected True or False"),
])
def test_what_a_class_states_is_of_the_right_type_and_size(policy, part, stated, message):
    key = "selector" if part == "StatedCohorts" else "trigger"
    done = policy(f"{{{key}: {python(part, **stated)}}}", command="validate")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert f"server.{key}" in done.stderr and "another version" not in done.stderr


@pytest.mark.parametrize("word, loss", [("Infinity", np.inf), ("-Infinity", -np.inf), ("NaN", np.nan), (0.25, 0.25)])
def test_losses_that_are_infinite_or_none_reach_a_selector(word, loss):
    # JSON has no such numbers, so the command sends words.
    facts = {"samples": 3, "checkIns": 1, "timesChosen": 1, "lastRound": 1, "timesAggregated": 1, "loss": word}
    seen = _policy._check_in({"device": 4, "heldVersion": 2, "hasPending": False, "facts": facts})
    assert seen.facts.loss == pytest.approx(loss, nan_ok=True) and seen.facts.battery is None


def test_settings_that_the_class_does_not_take(policy):
    done = policy(f"{{trigger: {python('Threshold', update=4)}}}")
    assert done.returncode == 2 and "unexpected keyword argument 'update'" in done.stderr, done.stderr


@pytest.mark.parametrize("server, message", [
    ({"trigger": ("Threshold", {"spoil": "raises"})}, "LookupError: nothing is there"),
    ({"trigger": ("Threshold", {"spoil": "exits"})}, "SystemExit: 0"),
    ({"trigger": ("Threshold", {"spoil": "dies"})}, "the Python process ended with exit code 9, twice"),
    ({"trigger": ("Threshold", {"spoil": "word"})}, "decide returned 'now', expected 'wait', 'aggregate' or 'skip'"),
    ({"trigger": ("Threshold", {"spoil": "number"})}, "decide returned 1, expected"),
    ({"trigger": ("Threshold", {"spoil": "nothing"})}, "decide returned None, expected"),
    ({"trigger": ("Keys", {})}, "memory['by'] has the key 3, expected a word"),
    ({"trigger": ("Object", {})}, "memory['set'] is set, expected numbers"),
    ({"trigger": ("Fields", {})}, "memory['pairs'] is an array with the fields ['device', 'loss'], expected one array"),
    ({"aggregator": ("Mean", {"spoil": "shape"})}, "combine returned the shape (27,), expected (28,)"),
    ({"aggregator": ("Mean", {"spoil": "type"})}, "combine returned int32, expected an array of float32 or float64"),
    ({"aggregator": ("Mean", {"spoil": "list"})}, "combine returned list, expected an array"),
    ({"aggregator": ("Mean", {"spoil": "nan"})}, "combine returned numbers that are infinite or none"),
    ({"aggregator": ("Mean", {"spoil": "changes"})}, "ValueError: assignment destination is read-only"),
    ({"selector": ("Uniform", {"spoil": "twice"}), "trigger": "cohort-complete"}, "each once"),
    ({"selector": ("Uniform", {"spoil": "beyond"}), "trigger": "cohort-complete"}, "choose_cohort returned the places"),
    ({"selector": ("Uniform", {"spoil": "list"}), "trigger": "cohort-complete"}, "choose_cohort returned ndarray"),
])
def test_a_part_that_fails_ends_the_run(policy, server, message):
    parts = {"trigger": "{threshold: 3}"}
    for key, part in server.items():
        parts[key] = part if isinstance(part, str) else python(part[0], **part[1])
    done = policy("{" + ", ".join(f"{key}: {part}" for key, part in parts.items()) + "}")
    assert done.returncode == 3 and message in done.stderr, done.stderr
    key = next(key for key, part in server.items() if not isinstance(part, str))
    assert f"{key} `failing_policy:" in done.stderr, done.stderr
    assert not (policy.folder / "r.h5").exists()


def test_a_part_that_hangs_and_one_that_prints(policy):
    server = f"""{{trigger: {{python: {{part: failing_policy:Threshold, settings: {{spoil: hangs}}, timeout: 5 s}}}}}}"""
    done = policy(server)
    assert done.returncode == 3 and "no answer within 5 s (`timeout`)" in done.stderr, done.stderr
    done = policy(f"{{trigger: {python('Threshold', spoil='prints')}}}", output="p.h5")
    assert done.returncode == 0 and "policy: a word of my own" in done.stderr, done.stderr


def test_after_a_mended_module_resume_continues(policy):
    server = f"{{trigger: {python('Threshold', updates=4, spoil='raises', at=30)}, aggregator: {python('Mean')}}}"
    module = policy.folder / "failing_policy.py"
    done = policy(server, "--checkpoint-every", "1 rounds")
    assert done.returncode == 3 and "fedsim resume" in done.stderr, done.stderr
    module.write_text(module.read_text().replace("return self.fail()", "pass"))
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [COMMAND, "resume", "r.h5", "--quiet"], cwd=policy.folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert policy(server, output="whole.h5").returncode == 0
    assert (policy.folder / "r.h5").read_bytes() == (policy.folder / "whole.h5").read_bytes()


def test_the_example_has_the_numbers_of_its_twin_in_swift(policy):
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [COMMAND, "run", ROOT / "Examples/python-policy/scenario.yaml", "--output", policy.folder / "e.h5"],
        env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "central accuracy 0.8500 at version 47" in done.stdout + done.stderr
    assert "9,559 events" in done.stdout + done.stderr
