"""A trainer that fails in a way that its settings name; for test_training.py."""
from __future__ import annotations

import os
import signal
import time
from typing import Any

import numpy as np

import pyfedsim


class Failing(pyfedsim.Trainer):
    """One tensor that each batch moves by one; client 3 fails at batch 1, or everybody where it is not of a client."""

    def __init__(self, fault: str, mark: str) -> None:
        self.fault, self.mark = fault, mark

    layout = [("dense1.weight", (2, 3))]
    training_samples = 40
    test_samples = 5

    @property
    def labels(self) -> Any:
        labels = [sample % 4 for sample in range(40)]
        if self.fault == "short-labels":
            return labels[:-1]
        return [-1] * 40 if self.fault == "negative-labels" else labels

    def initial(self, seed: int) -> Any:
        if self.fault == "initial-raises":
            raise RuntimeError("no weights today")
        if self.fault == "initial-nan":
            return {"dense1.weight": np.full((2, 3), np.nan, np.float32)}
        return {"dense1.weight": np.zeros((2, 3), np.float32)}

    def train(self, parameters: Any, client: int, batches: range, order: Any, memory: Any, keys: Any) -> Any:
        weight, fault = parameters["dense1.weight"], self.fault
        loss: Any = 0.0
        left: Any = {"steps": np.array([len(batches)])}
        for batch, samples in zip(batches, order):
            weight += 1
            loss += float(len(samples))
        # The mark lets a fault be mended while a run waits.
        if client != 3 or os.path.exists(self.mark):
            return parameters, loss, left
        if fault == "raise":
            raise ValueError("odd sample")
        if fault == "exit":
            raise SystemExit(0)
        if fault == "interrupt":
            raise KeyboardInterrupt
        if fault == "die":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "leave":
            os._exit(7)
        if fault == "hang":
            time.sleep(60)
        if fault == "die-once" and not os.path.exists(self.mark + ".once"):
            open(self.mark + ".once", "w").close()
            os._exit(7)
        if fault == "print":
            print("hello from", client)
            os.write(1, b"raw bytes\n")
        if fault == "stdin":
            assert input.__module__ == "builtins"
            try:
                input()
            except EOFError:
                print("nothing to read")
        if fault == "shape":
            return {"dense1.weight": weight.T.copy()}, loss, left
        if fault == "type":
            return {"dense1.weight": weight.astype(np.float64)}, loss, left
        if fault == "list":
            return {"dense1.weight": weight.tolist()}, loss, left
        if fault == "names":
            return {"dense2.weight": weight}, loss, left
        if fault == "array":
            return weight, loss, left
        if fault == "nothing":
            return None
        if fault == "nan":
            weight[1, 2] = np.nan
        if fault == "infinite":
            weight[0, 0] = np.inf
        if fault == "loss-nan":
            loss = float("nan")
        if fault == "loss-array":
            loss = np.zeros(2)
        if fault == "memory-list":
            left = [1, 2]
        if fault == "memory-object":
            left = {"state": np.array([object()])}
        if fault == "unseeded":
            weight += np.random.default_rng().random((2, 3)).astype(np.float32)
        return parameters, loss, left

    def evaluate(self, parameters: Any, samples: Any, split: Any) -> Any:
        if self.fault == "evaluate-raises" and parameters["dense1.weight"][0, 0] > 0 and not os.path.exists(self.mark):
            raise RuntimeError("no test today")
        if self.fault == "evaluate-tuple" and parameters["dense1.weight"][0, 0] > 0 and not os.path.exists(self.mark):
            return 1.0, 2
        if self.fault == "too-many-right" and parameters["dense1.weight"][0, 0] > 0 and not os.path.exists(self.mark):
            return pyfedsim.Sums(loss=1.0, correct=len(samples) + 1)
        return pyfedsim.Sums(loss=float(parameters["dense1.weight"].sum()), correct=0)


def make(fault: str = "", mark: str = "") -> Any:
    if fault == "make-raises":
        raise RuntimeError("no data here")
    if fault == "no-trainer":
        return object()
    return Failing(fault, mark)
