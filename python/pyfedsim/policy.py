"""Parts of a server policy in Python: selector, trigger, aggregator, server optimizer (docs/own-policy.md).

A scenario names a class by `module:class`:

    server:
      trigger: {python: {part: my_policy:Patient, settings: {updates: 10}}}
      aggregator: {python: my_policy:TrimmedMean}

FedSim plays devices, network and clock, and asks the class at server events. A part keeps nothing in itself: what it
remembers is in `memory`, a dictionary that each call receives, may change, and that is saved with the run.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Memory = dict[str, Any]
Payload = Literal["weights", "delta"]

__all__ = [
    "Aggregator", "CheckIn", "Cohort", "CohortSelector", "Combined", "Facts", "Selector", "Server", "ServerOptimizer",
    "Timer", "Trigger", "Update",
]


@dataclass(frozen=True)
class Server:
    """What a policy may see of the server. Times are seconds after the start of the run."""

    now: float
    version: int
    """The current version."""
    round: int
    """The open round, from 1."""
    pending: int
    """Updates that wait for aggregation."""
    cohort_goal: int | None
    """How many updates of its cohort the round wants; None before one is formed."""
    cohort_size: int
    failures: int
    """Members of the cohort whose streams broke before their result was there."""
    round_opened_at: float


@dataclass(frozen=True)
class Facts:
    """What the server knows of a device; only for parts whose `needs` have "facts"."""

    samples: int
    check_ins: int
    """How often it asked for work."""
    times_chosen: int
    last_round: int
    """The round for which it was last chosen; 0: never."""
    duration: float | None
    """Seconds from its last choice to the arrival of the update; None: none came."""
    times_aggregated: int
    loss: float | None
    """The mean loss of its last training, once the update is aggregated; needs "losses"."""
    battery: float | None
    """From 0 to 1, by its last heartbeat; needs "batteries"."""


@dataclass(frozen=True)
class CheckIn:
    """A device that asks for work."""

    device: int
    """Its number in the fleet, from 0."""
    held_version: int
    """The version that it holds; -1: none."""
    has_pending: bool
    """Whether an update of it waits for aggregation."""
    facts: Facts | None
    """None unless the part's `needs` have "facts"."""


@dataclass(frozen=True)
class Update:
    """An update at its aggregation."""

    device: int
    samples: int
    """Distinct samples it was trained on."""
    staleness: int
    """Versions published since its base."""
    parameters: Floats
    """What was trained, float32 [parameters]."""
    base: Floats | None
    """What the training began with, float32 [parameters]; with `payload` "delta", or where `needs` have "bases"."""

    @property
    def difference(self) -> NDArray[np.float64]:
        """Trained minus base, float64 [parameters]. Raises ValueError without a base."""
        if self.base is None:
            raise ValueError('the base is not there: needs = ("bases",)')
        return self.parameters.astype(np.float64) - self.base


@dataclass(frozen=True)
class Timer:
    """When a trigger's timer rings: `every` so many seconds of the run, that long `since_round` was opened and again
    and again, or once `after_cohort` was formed."""

    kind: Literal["every", "since_round", "after_cohort"]
    seconds: float


@dataclass(frozen=True)
class Cohort:
    """The devices of a round: places in the list of those that wait, and how many of their updates are wanted."""

    members: Sequence[int]
    goal: int | None = None
    """None: all of them."""


class _Part(ABC):
    #: What the part receives, by the words that its class documents.
    needs: Sequence[str] = ()

    def memory(self) -> Memory:
        """What the part remembers when a run begins: numbers, words, lists, dictionaries, NumPy arrays."""
        return {}


class Trigger(_Part):
    """Decides when the server aggregates. `needs` may have "cohorts": it makes sense where cohorts are formed."""

    #: Its timer; None: it has none.
    timer: Timer | None = None
    #: How many updates have to wait before it ever wants an aggregation; None: that depends.
    needed_updates: int | None = None

    @abstractmethod
    def decide(
        self, moment: Literal["arrival", "timer", "connectionReturned", "failure"], server: Server, memory: Memory
    ) -> Literal["wait", "aggregate", "skip"]:
        """What the server does now: wait, aggregate, or end the round without a version."""


class Selector(_Part):
    """Accepts or rejects each device that asks for work, at once.

    `needs` may have "facts", "losses", "batteries" (with heartbeats), "news" (then `hear` is called).
    """

    @abstractmethod
    def admit(self, check_in: CheckIn, server: Server, memory: Memory) -> bool:
        """Whether the device may train."""

    def hear(self, news: Literal["delivered", "lost"], device: int, server: Server, memory: Memory) -> None:
        """An update of a device reached the server, or its stream broke before."""


class CohortSelector(_Part):
    """Lets devices wait, and forms cohorts of them. `needs` as of `Selector`."""

    #: How many devices must wait before a cohort is formed; None: `choose_cohort` decides.
    needed_waiting: int | None = None
    #: Seconds after which a round without a cohort is skipped; None: it waits for ever.
    wait_limit: float | None = None
    #: Whether updates of earlier rounds' members are taken in when they come.
    accepts_late: bool = False

    def receive(self, check_in: CheckIn, server: Server, memory: Memory) -> bool:
        """Whether the device waits for a cohort; otherwise it is rejected."""
        return True

    @abstractmethod
    def choose_cohort(
        self, waiting: Sequence[CheckIn], server: Server, random: np.random.Generator, memory: Memory
    ) -> Cohort | None:
        """A cohort out of the devices that wait, in device order; None: too few wait.

        `random` is seeded from the run's stream for the round: random numbers come from it alone.
        """

    def hear(self, news: Literal["delivered", "lost"], device: int, server: Server, memory: Memory) -> None:
        """An update of a device reached the server, or its stream broke before."""


class Aggregator(_Part):
    """Makes one out of many updates. `needs` may have "bases" and "differences" (then `payload` has to be "delta")."""

    @abstractmethod
    def combine(self, updates: Sequence[Update], payload: Payload, current: Floats, memory: Memory) -> NDArray[Any]:
        """The combined parameters, or with `payload` "delta" the combined difference; [parameters], rounded to float32.

        `updates` are in device order, at least one. Add in float64 and in that order, as NumPy's sums over axis 0 do.
        `current` is the model, float32 [parameters]. Arrays cannot be changed.
        """


@dataclass(frozen=True)
class Combined:
    """What was made of many updates."""

    parameters: Floats
    """Combined parameters or differences, float32 [parameters]."""
    payload: Payload
    updates: int
    """How many updates went into it."""
    devices: int
    """How many devices the fleet has."""

    def difference(self, current: Floats) -> NDArray[np.float64]:
        """What it would change of the model, float64 [parameters]."""
        if self.payload == "delta":
            return self.parameters.astype(np.float64)
        return self.parameters.astype(np.float64) - current


class ServerOptimizer(_Part):
    """Moves the model by the combined update. `needs` may have "plainMean": every update has to count the same."""

    @abstractmethod
    def step(self, current: Floats, combined: Combined, memory: Memory) -> NDArray[Any]:
        """The next model, [parameters], rounded to float32. Arrays cannot be changed."""
