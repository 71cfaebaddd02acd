"""Trainings by code in Python: what the command does with them, and with code that fails."""
from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import pyfedsim
import pyfedsim.testing
from conftest import COMMAND, ROOT

TESTS = Path(__file__).parent
EXAMPLE = ROOT / "Examples" / "python-trainer"

# Four clients of ten samples in batches of four: three batches an epoch, six a training. Everybody is there, so the
# first version has an update of each.
SCENARIO = """
name: trained
seed: 5
stop: {rounds: 3, after: 1 d}
task:
  python: {trainer: "failing:make", settings: {fault: "FAULT", mark: "MARK"}, timeout: 5 s}
  data: {partition: {iid: {clients: 4}}}
  training: {epochs: 2, batchSize: 4}
fleet:
  - name: phones
    count: 4
    background: {windows: {fixed: open}}
    participation: {repeats: true, pause: 1 min}
    compute: {perBatch: 10 s}
server: {policy: synchronous-fedavg, selector: {uniform: {cohort: 4}}}
"""


def command(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable, **variables}
    paths = [str(Path(pyfedsim.__file__).parent.parent), environment.get("PYTHONPATH", "")]
    environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)
    return subprocess.run(
        [COMMAND, *map(str, words)], capture_output=True, text=True, env=environment, timeout=300, check=False,
    )


def run(scenario: Path, output: Path, *words: object) -> dict[str, Any]:
    """The summary of a run that ends well."""
    ended = command("run", scenario, "--output", output, "--quiet", "--json", *words)
    assert ended.returncode == 0, ended.stderr
    summary: dict[str, Any] = json.loads(ended.stdout)
    return summary


@pytest.fixture
def written(tmp_path: Path) -> Any:
    def write(fault: str = "", *changes: tuple[str, str]) -> Path:
        text = SCENARIO.replace("FAULT", fault).replace("MARK", str(tmp_path / "mended"))
        for old, new in changes:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / "scenario.yaml"
        path.write_text(text)
        (tmp_path / "failing.py").write_text((TESTS / "failing.py").read_text())
        return path

    return write


def model(result: Path) -> dict[str, np.ndarray[Any, Any]]:
    with h5py.File(result) as file:
        return {name: data[:] for name, data in file["model"].items() if "axis" not in name}


# What is wrong while a run is under way: the words that the error has besides trainer, client and batches.
RUNNING = {
    "raise": ("ValueError: odd sample", "Traceback", 'failing.py", line', 'raise ValueError("odd sample")'),
    "exit": ("SystemExit: 0",),
    "interrupt": ("KeyboardInterrupt",),
    "die": ("the Python process was ended by signal 9, twice",),
    "leave": ("the Python process ended with exit code 7, twice",),
    "hang": ("no answer within 8 s (`task.python.timeout`)",),
    "shape": ("train returned dense1.weight of shape (3, 2), expected (2, 3)",),
    "type": ("train returned dense1.weight of type float64, expected float32",),
    "list": ("train returned dense1.weight as list, expected a NumPy array",),
    "names": ("parameters without ['dense1.weight'] and with ['dense2.weight'] besides",),
    "array": ("train returned ndarray as parameters, expected a dict of arrays",),
    "nothing": ("train returned something else than (parameters, sum of losses, memory)",),
    "nan": ("`dense1.weight` is infinite or not a number",),
    "infinite": ("`dense1.weight` is infinite or not a number",),
    "loss-nan": ("the sum of losses is infinite or not a number",),
    "loss-array": ("train returned ndarray as the sum of losses, expected a number",),
    "memory-list": ("the memory is list, expected a dict",),
    "memory-object": ("memory['state'] is",),
}


@pytest.mark.parametrize("fault", RUNNING)
def test_a_fault_of_a_training_names_it_and_the_run_goes_on_once_it_is_mended(
    fault: str, written: Any, tmp_path: Path,
) -> None:
    scenario = written(fault, ("timeout: 5 s", "timeout: 8 s") if fault == "hang" else ("timeout: 5 s", "timeout: 1 min"))
    result = tmp_path / "result.h5"
    ended = command("run", scenario, "--output", result, "--quiet", "--threads", 2)
    assert ended.returncode == 3, ended.stderr
    assert "trainer `failing:make`, client 3 (phones/3), batches 0 to 5: " in ended.stderr
    for words in RUNNING[fault]:
        assert words in ended.stderr
    assert not result.exists()
    (tmp_path / "mended").touch()
    ended = command("resume", result, "--quiet")
    assert ended.returncode == 0, ended.stderr
    whole = tmp_path / "whole.h5"
    run(scenario, whole)
    assert result.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("fault, words", [
    ("evaluate-raises", "RuntimeError: no test today"),
    ("evaluate-tuple", "evaluate returned tuple, expected pyfedsim.Sums"),
    ("too-many-right", "of 5 answers 5 can be right and 6 are"),
])
def test_a_fault_of_an_evaluation_names_its_samples(fault: str, words: str, written: Any, tmp_path: Path) -> None:
    result = tmp_path / "result.h5"
    ended = command("run", written(fault), "--output", result, "--quiet")
    assert ended.returncode == 3
    assert f"trainer `failing:make`, evaluation of 5 test samples: {words}" in ended.stderr
    (tmp_path / "mended").touch()
    assert command("resume", result, "--quiet").returncode == 0


@pytest.mark.parametrize("fault, words", [
    ("make-raises", "RuntimeError: no data here"),
    ("no-trainer", "failing:make returned object, expected a pyfedsim.Trainer"),
    ("initial-raises", "RuntimeError: no weights today"),
    ("initial-nan", "initial(5): `dense1.weight` is infinite or not a number"),
    ("short-labels", "labels are 39, expected one for each of 40 training samples"),
    ("negative-labels", "a label is none of"),
])
def test_a_trainer_that_cannot_begin_is_a_fault_of_the_scenario(fault: str, words: str, written: Any) -> None:
    ended = command("validate", written(fault))
    assert ended.returncode == 2
    assert "task.python.trainer" in ended.stderr and words in ended.stderr


def test_what_is_not_there_is_said(written: Any, tmp_path: Path) -> None:
    missing = command("validate", written("", ("failing:make", "nowhere:make")))
    assert missing.returncode == 2 and "No module named 'nowhere'" in missing.stderr
    function = command("validate", written("", ("failing:make", "failing:makes")))
    assert function.returncode == 2 and "has no attribute 'makes'" in function.stderr
    shape = command("validate", written("", ("failing:make", "failing")))
    assert shape.returncode == 2 and "expected `module:function`" in shape.stderr
    python = command("validate", written(""), FEDSIM_PYTHON="/nowhere/python")
    assert python.returncode == 2 and "`/nowhere/python` cannot be started" in python.stderr
    bare = command("validate", written("", ("timeout: 5 s", "interpreter: /bin/true")))
    assert bare.returncode == 2 and "it needs the Python package pyfedsim" in bare.stderr


@pytest.mark.parametrize("old, new, words", [
    ("batchSize: 4}", "batchSize: 4, optimizer: {sgd: 0.5}}", "the trainer of `task.python` decides this"),
    ("  training:", "  model: softmax\n  training:", "the trainer of `task.python` has the model"),
    ("data: {", "data: {source: fashion-mnist, ", "the trainer of `task.python` has the data"),
    ("compute: {perBatch: 10 s}", "hardware: {classes: {iphone-8: 1}}", "give it `operations_per_sample`"),
    ("iid: {clients: 4}", "natural: {}", "found data without users"),
    ("compute:", "adversary: {share: 0.5, attack: label-flip}\n    compute:", "changes labels"),
])
def test_what_does_not_go_with_a_trainer_is_refused(old: str, new: str, words: str, written: Any) -> None:
    ended = command("validate", written("", (old, new)))
    assert ended.returncode == 2 and words in ended.stderr, ended.stderr


def test_a_worker_that_dies_once_is_replaced(written: Any, tmp_path: Path) -> None:
    dying = run(written("die-once"), tmp_path / "dying.h5")
    assert (tmp_path / "mended.once").exists()
    whole = run(written("die-once"), tmp_path / "whole.h5", "--threads", 2)
    assert dying["contentDigest"] == whole["contentDigest"]


def test_what_a_trainer_prints_or_reads_is_no_answer(written: Any, tmp_path: Path) -> None:
    for fault, line in (("print", "trainer: hello from 3"), ("stdin", "trainer: nothing to read")):
        ended = command("run", written(fault), "--output", tmp_path / f"{fault}.h5", "--quiet", "--json")
        assert ended.returncode == 0, ended.stderr
        assert line in ended.stderr
        json.loads(ended.stdout)


def test_batches_are_counted_as_by_hand(written: Any, tmp_path: Path) -> None:
    # Ten samples in batches of 4 are 4 + 4 + 2: three batches an epoch, six a training of two epochs. Each batch adds
    # one to each weight, and all clients do the same: after r rounds each weight is 6r. A training takes 60 s.
    run(written(), tmp_path / "result.h5")
    np.testing.assert_array_equal(model(tmp_path / "result.h5")["dense1_weight"], np.full((2, 3), 18, np.float32))
    with h5py.File(tmp_path / "result.h5") as file:
        # The loss of a batch is its samples: the mean over 20 samples of 1 is 1.
        np.testing.assert_allclose(file["versions/trainingLoss"][1:], 1)


def test_an_unseeded_generator_is_found_and_its_client_named(written: Any, tmp_path: Path) -> None:
    # Four clients a version, three versions: twelve trainings, all of them checked; client 3 differs in each.
    summary = run(written("unseeded", ("timeout: 5 s", "checkEvery: 1")), tmp_path / "result.h5")
    assert len(summary["warnings"]) == 3
    for line in summary["warnings"]:
        assert "client 3 (phones/3), batches 0 to 5: computed twice, `dense1.weight` differs" in line
    silent = run(written("", ("timeout: 5 s", "checkEvery: 1")), tmp_path / "silent.h5")
    assert silent["warnings"] == []


def test_results_do_not_depend_on_threads_workers_and_when_trainings_are_computed(tmp_path: Path) -> None:
    scenario = EXAMPLE / "scenario.yaml"
    results = []
    for number, words in enumerate([
        ("--threads", 1), ("--threads", 2), ("--threads", 3), ("--threads", 2, "--compute", "eager"),
    ]):
        results.append(tmp_path / f"{number}.h5")
        run(scenario, results[-1], *words)
    digests = set()
    for workers in (1, 2, 3):
        summary = run(scenario, tmp_path / f"w{workers}.h5", "--set", f"task.python.workers={workers}")
        digests.add(summary["eventDigest"])
        for name, array in model(tmp_path / f"w{workers}.h5").items():
            np.testing.assert_array_equal(array, model(results[0])[name])
    assert len(digests) == 1
    for result in results[1:]:
        assert result.read_bytes() == results[0].read_bytes()


def native(folder: Path) -> Path:
    """The example's scenario with FedSim's own network, on the same samples."""
    sys.path.insert(0, str(EXAMPLE))
    import softmax

    (features, labels), (test_features, test_labels) = softmax.clouds(600, 2), softmax.clouds(400, 3)
    np.savez(folder / "data.npz", x_train=features, y_train=labels, x_test=test_features, y_test=test_labels)
    np.savez(folder / "zeros.npz", **{
        "dense1.weight": np.zeros((8, 4), np.float32), "dense1.bias": np.zeros(4, np.float32),
    })
    lines = (EXAMPLE / "scenario.yaml").read_text().splitlines()
    text = "\n".join(line for line in lines if "python:" not in line)
    text = text.replace("data: {", "data: {source: {npz: data.npz}, ")
    text = text.replace("batchSize: 8}", "batchSize: 8, optimizer: {sgd: 0.1}}\n  model: softmax\n  initialWeights: zeros.npz")
    (folder / "native.yaml").write_text(text)
    return folder / "native.yaml"


@pytest.mark.parametrize("expiry", ["checkpoint", "submitPartial", "discard"])
def test_a_trainer_has_the_events_and_weights_of_a_native_network(expiry: str, tmp_path: Path) -> None:
    words = ("--set", f"fleet.phones.interruption.onExpiry={expiry}")
    own = run(EXAMPLE / "scenario.yaml", tmp_path / "own.h5", *words)
    other = run(native(tmp_path), tmp_path / "native.h5", *words)
    assert own["eventDigest"] == other["eventDigest"]
    assert sum(tally["count"] for tally in own["tallies"] if "xpired" in tally["name"]) > 0
    for name, array in model(tmp_path / "own.h5").items():
        np.testing.assert_allclose(array, model(tmp_path / "native.h5")[name], rtol=0, atol=1e-6)


def test_a_run_that_is_killed_is_resumed_with_the_same_bytes(tmp_path: Path) -> None:
    scenario = EXAMPLE / "scenario.yaml"
    words = ("--set", "stop.rounds=1000", "--set", "stop.after=100 d")
    whole = tmp_path / "whole.h5"
    run(scenario, whole, *words)
    result = tmp_path / "killed.h5"
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable}
    environment["PYTHONPATH"] = str(Path(pyfedsim.__file__).parent.parent)
    process = subprocess.Popen(
        [COMMAND, "run", str(scenario), "--output", str(result), "--quiet", "--checkpoint-every", "20 rounds", *words],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    checkpoint = tmp_path / "killed.h5.run" / "checkpoint"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL, "the run ended before it was killed"
    ended = command("resume", result, "--quiet")
    assert ended.returncode == 0, ended.stderr
    assert "resumes at" in ended.stderr
    assert result.read_bytes() == whole.read_bytes()


class Honest(pyfedsim.Trainer):
    """Moves by a draw from each batch's key, with a momentum in its memory."""

    layout = [("w", (3,))]
    training_samples = 20
    test_samples = 0

    def initial(self, seed: int) -> Any:
        return {"w": np.full(3, seed, np.float32)}

    def train(self, parameters: Any, client: int, batches: range, order: Any, memory: Any, keys: Any) -> Any:
        moved = memory.get("moved", np.zeros(3, np.float32))
        for samples, key in zip(order, keys):
            moved = np.float32(0.5) * moved + np.random.default_rng(key).random(3).astype(np.float32)
            parameters["w"] += moved
        return parameters, float(sum(map(len, order))), {"moved": moved}

    def evaluate(self, parameters: Any, samples: Any, split: Any) -> pyfedsim.Sums:
        return pyfedsim.Sums(loss=float(parameters["w"].sum()))


class Forgetful(Honest):
    """Keeps its momentum outside the memory."""

    moved = np.zeros(3, np.float32)

    def train(self, parameters: Any, client: int, batches: range, order: Any, memory: Any, keys: Any) -> Any:
        for _ in order:
            self.moved = self.moved + np.float32(1)
            parameters["w"] += self.moved
        return parameters, 0.0, {}


class Once(Honest):
    """Draws once for all batches of a call."""

    def train(self, parameters: Any, client: int, batches: range, order: Any, memory: Any, keys: Any) -> Any:
        parameters["w"] += np.random.default_rng(keys[0]).random(3).astype(np.float32)
        return parameters, 0.0, {}


class Unseeded(Honest):
    """Draws from a generator of its own."""

    def train(self, parameters: Any, client: int, batches: range, order: Any, memory: Any, keys: Any) -> Any:
        parameters["w"] += np.random.default_rng().random(3).astype(np.float32)
        return parameters, 0.0, {}


def test_the_check_of_a_trainer_finds_what_is_broken() -> None:
    pyfedsim.testing.check(Honest())
    for trainer, words in [
        (Forgetful(), "a training computed twice"), (Once(), "a training cut at batch 1"),
        (Unseeded(), "a training computed twice"),
    ]:
        with pytest.raises(pyfedsim.testing.Broken, match=words):
            pyfedsim.testing.check(trainer)


def test_the_example_is_checked_in_a_process_of_its_own() -> None:
    pyfedsim.testing.check("softmax:make", folder=str(EXAMPLE), settings={"samples": 100})


def test_a_process_has_one_thread_of_arithmetic(tmp_path: Path) -> None:
    (tmp_path / "wide.py").write_text(
        "import os, numpy as np, softmax\n"
        "class Wide(softmax.Softmax):\n"
        "    def evaluate(self, parameters, samples, split):\n"
        "        np.ones((1500, 1500)) @ np.ones((1500, 1500))\n"
        "        print('threads', len(os.listdir('/proc/self/task')))\n"
        "        return super().evaluate(parameters, samples, split)\n"
        "def make():\n"
        "    features, labels = softmax.clouds(600, 2)\n"
        "    return Wide(features, labels, features, labels, 0.1)\n"
    )
    (tmp_path / "softmax.py").write_text((EXAMPLE / "softmax.py").read_text())
    text = (EXAMPLE / "scenario.yaml").read_text()
    text = text.replace('"softmax:make", settings: {samples: 600, rate: 0.1}', '"wide:make"')
    (tmp_path / "scenario.yaml").write_text(text)
    ended = command("run", tmp_path / "scenario.yaml", "--output", tmp_path / "r.h5", "--quiet", "--set", "stop.rounds=1")
    assert ended.returncode == 0, ended.stderr
    # One that computes, and one that waits for the end of the run.
    assert "trainer: threads 2\n" in ended.stderr and "threads 3" not in ended.stderr
