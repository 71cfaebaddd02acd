"""Trainings that are cut off: the batches of each, counted by hand."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pyfedsim
from conftest import COMMAND
from test_training import TESTS, command, model, run

# Ten samples in batches of 4, two epochs: six batches of 10 s. The windows have room for four batches (45 s) and for two
# (25 s); the third for whole trainings. The n-th batch of a training adds n to each weight.
SCENARIO = """
name: cut
seed: 5
stop: {rounds: 2, after: 10 d}
task:
  python: {trainer: "stepper:make", settings: {pause: PAUSE}, checkEvery: 0}
  data: {partition: {iid: {clients: 4}}}
  training: {epochs: 2, batchSize: 4}
fleet:
  - name: phones
    count: 4
    background:
      windows: {fixed: {intervals: [{from: 0 s, to: 45 s}, {from: 10 min, to: 10 min 25 s}, {from: 20 min, to: 9 d}]}}
    participation: {repeats: true, pause: 1 min}
    interruption: {onExpiry: EXPIRY}
    compute: {perBatch: 10 s}
server: {trigger: {threshold: 4}}
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Any:
    def write(expiry: str, pause: float = 0.0) -> Path:
        (tmp_path / "stepper.py").write_text((TESTS / "stepper.py").read_text())
        path = tmp_path / "scenario.yaml"
        path.write_text(SCENARIO.replace("EXPIRY", expiry).replace("PAUSE", str(pause)))
        return path

    return write


def tally(summary: dict[str, Any], name: str) -> int:
    return sum(entry["count"] for entry in summary["tallies"] if entry["name"] == name)


@pytest.mark.parametrize("compute", ["lazy", "eager"])
@pytest.mark.parametrize("expiry, weight", [
    # Whole trainings, cut after batch 4 and continued with 2 more: 1 + 2 + 3 + 4 + 5 + 6 = 21, in each of two rounds.
    ("checkpoint", 42),
    # What there was: 1 + 2 + 3 + 4 = 10 in the first window, 1 + 2 = 3 in the second.
    ("submitPartial", 13),
    # Nothing from the first two windows, and two whole trainings in the third.
    ("discard", 42),
])
def test_cut_trainings_have_the_batches_counted_by_hand(
    expiry: str, weight: int, compute: str, scenario: Any, tmp_path: Path,
) -> None:
    summary = run(scenario(expiry), tmp_path / "r.h5", "--compute", compute)
    np.testing.assert_array_equal(model(tmp_path / "r.h5")["w"], np.full(3, weight, np.float32))
    if expiry == "checkpoint":
        assert tally(summary, "resumed") == 4


def test_a_training_is_computed_when_its_update_is_needed(scenario: Any, tmp_path: Path) -> None:
    # Four clients, cut twice at most: the batches of each are run once and in order, and those that were discarded never.
    for expiry, counts in (("checkpoint", [6, 6]), ("submitPartial", [4, 2]), ("discard", [6, 6])):
        done = command("run", scenario(expiry), "--output", tmp_path / f"{expiry}.h5", "--quiet", "--threads", 1)
        assert done.returncode == 0, done.stderr
        for client in range(4):
            lines = [line for line in done.stderr.splitlines() if line.startswith(f"trainer: client {client}, ")]
            ranges = [tuple(map(int, line.split(", ")[1].split(" to "))) for line in lines]
            ends = [stop for (_, stop), (start, _) in zip(ranges, [*ranges[1:], (0, 0)]) if start == 0]
            assert ends == counts, (expiry, client, ranges)
            assert sum(stop - start for start, stop in ranges) == sum(counts)


def test_a_run_that_is_killed_has_the_weights_counted_by_hand(scenario: Any, tmp_path: Path) -> None:
    # Sixty rounds of whole trainings, the first of them cut: 60 · 21 = 1260.
    path, result = scenario("checkpoint", 0.002), tmp_path / "killed.h5"
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable}
    environment["PYTHONPATH"] = str(Path(pyfedsim.__file__).parent.parent)
    process = subprocess.Popen(
        [COMMAND, "run", str(path), "--output", str(result), "--quiet", "--checkpoint-every", "5 rounds", "--threads", "1",
         "--set", "stop.rounds=60"],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    checkpoint = tmp_path / "killed.h5.run" / "checkpoint"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL, "the run ended before it was killed"
    ended = command("resume", result, "--quiet")
    assert ended.returncode == 0 and "resumes at" in ended.stderr, ended.stderr
    np.testing.assert_array_equal(model(result)["w"], np.full(3, 1260, np.float32))
