"""A trainer whose weights count the batches of a training; for test_cut_training.py."""
from __future__ import annotations

import time
from typing import Any

import numpy as np

import pyfedsim


class Stepper(pyfedsim.Trainer):
    """The n-th batch of a training adds n to each weight; n is in the memory."""

    layout = [("w", (3,))]
    training_samples = 40
    test_samples = 0

    def __init__(self, pause: float) -> None:
        self.pause = pause

    def initial(self, seed: int) -> Any:
        return {"w": np.zeros(3, np.float32)}

    def train(self, parameters: Any, client: int, batches: range, order: Any, memory: Any, keys: Any) -> Any:
        print(f"client {client}, {batches.start} to {batches.stop}")
        time.sleep(self.pause)
        steps = int(memory.get("steps", 0))
        for _ in batches:
            steps += 1
            parameters["w"] += steps
        return parameters, float(sum(map(len, order))), {"steps": np.array(steps)}

    def evaluate(self, parameters: Any, samples: Any, split: Any) -> pyfedsim.Sums:
        return pyfedsim.Sums(loss=0.0)


def make(pause: float = 0.0) -> Stepper:
    return Stepper(pause)
