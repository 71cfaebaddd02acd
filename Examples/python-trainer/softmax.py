"""Softmax regression in NumPy: a trainer for FedSim (docs/own-training.md)."""
from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pyfedsim import Memory, Parameters, Split, Sums, Trainer


class Softmax(Trainer):
    """Minibatch SGD on clouds of points, one for each class."""

    def __init__(
        self, features: NDArray[np.float32], labels: NDArray[np.int32], test_features: NDArray[np.float32],
        test_labels: NDArray[np.int32], rate: float,
    ) -> None:
        self.data = {"train": (features, labels), "test": (test_features, test_labels)}
        self.rate = np.float32(rate)
        self.inputs, self.outputs = features.shape[1], int(labels.max()) + 1
        # A multiply-add counts as two; forward, and the gradient of the weights.
        self.operations_per_sample = 4 * self.inputs * self.outputs
        self.values_per_sample = self.outputs

    @property
    def layout(self) -> Sequence[tuple[str, Sequence[int]]]:
        return [("dense1.weight", (self.inputs, self.outputs)), ("dense1.bias", (self.outputs,))]

    @property
    def training_samples(self) -> int:
        return len(self.data["train"][1])

    @property
    def test_samples(self) -> int:
        return len(self.data["test"][1])

    @property
    def labels(self) -> NDArray[np.int32]:
        return self.data["train"][1]

    def initial(self, seed: int) -> Parameters:
        return {name: np.zeros(shape, np.float32) for name, shape in self.layout}

    def train(
        self, parameters: Parameters, client: int, batches: range, order: Sequence[NDArray[np.int32]],
        memory: Memory, keys: Sequence[int],
    ) -> tuple[Parameters, float, Memory]:
        weight, bias = parameters["dense1.weight"], parameters["dense1.bias"]
        loss_sum = 0.0
        for samples in order:
            inputs = self.data["train"][0][samples]
            losses, shares = self.losses(parameters, inputs, self.labels[samples])
            loss_sum += float(losses.sum())
            shares[np.arange(len(samples)), self.labels[samples]] -= 1
            step = shares.astype(np.float32) * (self.rate / np.float32(len(samples)))
            weight -= inputs.T @ step
            bias -= step.sum(axis=0)
        return parameters, loss_sum, memory

    def evaluate(self, parameters: Parameters, samples: NDArray[np.int32], split: Split) -> Sums:
        features, labels = self.data[split]
        losses, shares = self.losses(parameters, features[samples], labels[samples])
        return Sums(loss=float(losses.sum()), correct=int((shares.argmax(axis=1) == labels[samples]).sum()))

    @staticmethod
    def losses(
        parameters: Parameters, inputs: NDArray[np.float32], labels: NDArray[np.int32],
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The loss of each sample, and its share of each class."""
        logits = (inputs @ parameters["dense1.weight"] + parameters["dense1.bias"]).astype(np.float64)
        logits -= logits.max(axis=1, keepdims=True)
        shares = np.exp(logits)
        shares /= shares.sum(axis=1, keepdims=True)
        return -np.log(shares[np.arange(len(labels)), labels]), shares


def clouds(count: int, seed: int, classes: int = 4, inputs: int = 8) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """Points around one centre a class."""
    centres = np.random.default_rng(1).normal(size=(classes, inputs))
    generator = np.random.default_rng(seed)
    labels = (np.arange(count) % classes).astype(np.int32)
    return (centres[labels] + generator.normal(size=(count, inputs))).astype(np.float32), labels


def make(samples: int = 600, rate: float = 0.1) -> Softmax:
    """The trainer of `scenario.yaml`."""
    features, labels = clouds(samples, seed=2)
    test_features, test_labels = clouds(400, seed=3)
    return Softmax(features, labels, test_features, test_labels, rate)
