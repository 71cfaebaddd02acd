"""What a trainer is: code that trains in FedSim's place (docs/own-training.md)."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Parameters = dict[str, Floats]
Memory = dict[str, NDArray[Any]]
Split = Literal["train", "test"]


@dataclass(frozen=True)
class Sums:
    """Sums over some samples: of their losses, and how many answers are right.

    `count` is what losses are of and `answers` what can be right or wrong; by default the number of samples.
    """

    loss: float
    correct: int = 0
    count: int | None = None
    answers: int | None = None


class Trainer(ABC):
    """Trains and evaluates a model on samples that it knows by their numbers.

    FedSim deals the training samples to clients, orders batches and decides which of them run, when and on which
    device. A trainer is a pure function: it keeps nothing from one call to the next but its data, and draws
    random numbers only from the keys that it is handed. Batches 0 to n have the result of batches 0 to k followed
    by k to n.

    Errors: an exception that a member raises ends the run with exit code 3; the message has the trainer, the client,
    the batches and the traceback, and `fedsim resume` continues the run. So do wrong shapes and NaN.
    """

    #: Operations of one step for each sample, forward and backward; a multiply-add counts as two. FedSim needs it
    #: where devices have `hardware`; None: nobody says.
    operations_per_sample: int | None = None
    #: Values that layers with parameters give for each sample: their memory, and part of the time on `hardware`.
    values_per_sample: int = 0

    @property
    @abstractmethod
    def layout(self) -> Sequence[tuple[str, Sequence[int]]]:
        """Name and shape of each tensor of the parameters, in their order; all are float32."""

    @property
    @abstractmethod
    def training_samples(self) -> int:
        """How many training samples there are, numbered from 0."""

    @property
    @abstractmethod
    def test_samples(self) -> int:
        """How many test samples there are, numbered from 0."""

    @property
    def statistics(self) -> Sequence[str]:
        """Names of tensors that batches move and gradients do not, such as running means."""
        return ()

    @property
    def labels(self) -> Sequence[int] | NDArray[Any] | None:
        """The class of each training sample, from 0; None: all have one. Partitions by label divide by it."""
        return None

    @property
    def classes(self) -> int | None:
        """How many classes there are; None: as many as the labels show."""
        return None

    @property
    def owners(self) -> Sequence[Any] | NDArray[Any] | None:
        """Whose each training sample is, for `partition: natural`; None: nobody's."""
        return None

    @property
    def test_owners(self) -> Sequence[Any] | NDArray[Any] | None:
        """Whose each test sample is; None: nobody's."""
        return None

    @abstractmethod
    def initial(self, seed: int) -> Mapping[str, NDArray[Any]]:
        """The parameters of version 0. They depend on `seed` alone."""

    @abstractmethod
    def train(
        self, parameters: Parameters, client: int, batches: range, order: Sequence[NDArray[np.int32]],
        memory: Memory, keys: Sequence[int],
    ) -> tuple[Mapping[str, NDArray[Any]], float, Mapping[str, NDArray[Any]]]:
        """Runs some batches: the parameters after them, the sum of the losses of their samples, and the memory.

        `parameters` are this call's own, and may be changed in place. `batches` are the numbers of the batches in
        the device's training, from 0; `order` has the numbers of each one's samples and `keys` a number of 64 bits
        for each, to seed generators with. `memory` is what the call before left, empty at the first batch; it is
        kept with the parameters where a training is interrupted, and ends with the training.
        """

    @abstractmethod
    def evaluate(self, parameters: Parameters, samples: NDArray[np.int32], split: Split) -> Sums:
        """Loss and right answers of some samples, a thousand at most; `parameters` cannot be changed."""
