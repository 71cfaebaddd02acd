"""Parts of a policy that fail, one way each; `python/tests/test_policy.py` plays them."""
import os
import time

import numpy as np

from pyfedsim.policy import Aggregator, Cohort, CohortSelector, Selector, ServerOptimizer, Timer, Trigger


class Threshold(Trigger):
    """As `threshold`."""

    def __init__(self, updates=5, spoil="", at=12):
        self.updates, self.spoil, self.at = updates, spoil, at
        self.needed_updates = updates
        self.calls = 0

    def decide(self, moment, server, memory):
        memory["asked"] = memory.get("asked", 0) + 1
        if self.spoil and memory["asked"] == self.at:
            return self.fail()
        return "aggregate" if server.pending >= self.updates else "wait"

    def fail(self):
        if self.spoil == "raises":
            raise LookupError("nothing is there")
        if self.spoil == "exits":
            raise SystemExit(0)
        if self.spoil == "dies":
            os._exit(9)
        if self.spoil == "hangs":
            time.sleep(60)
        if self.spoil == "prints":
            print("a word of my own")
            return "wait"
        return {"word": "now", "number": 1, "nothing": None}[self.spoil]


class Forgetful(Trigger):
    """Keeps in itself what belongs into the memory."""

    def __init__(self):
        self.calls = 0

    def decide(self, moment, server, memory):
        self.calls += 1
        return "aggregate" if self.calls % 3 == 0 and server.pending else "wait"


class Keys(Trigger):
    def decide(self, moment, server, memory):
        memory["by"] = {3: 4}
        return "wait"


class Object(Trigger):
    def decide(self, moment, server, memory):
        memory["set"] = {1, 2}
        return "wait"


class WrongNeeds(Trigger):
    needs = ("losses",)

    def decide(self, moment, server, memory):
        return "wait"


class WrongTimer(Trigger):
    timer = 60

    def decide(self, moment, server, memory):
        return "wait"


class Stated(Trigger):
    """A trigger that states what it is given."""

    def __init__(self, **stated):
        for name, value in stated.items():
            setattr(self, name, Timer(**value) if name == "timer" else value)

    def decide(self, moment, server, memory):
        return "wait"


class StatedCohorts(CohortSelector):
    """A selector that states what it is given."""

    def __init__(self, **stated):
        for name, value in stated.items():
            setattr(self, name, float(value) if value in ("inf", "nan") else value)

    def choose_cohort(self, waiting, server, random, memory):
        return None


class Fields(Trigger):
    """Remembers an array with named fields."""

    def decide(self, moment, server, memory):
        memory["pairs"] = np.zeros(2, [("device", np.int32), ("loss", np.float64)])
        return "wait"


class Mean(Aggregator):
    """As `uniform-mean`, or spoilt."""

    def __init__(self, spoil=""):
        self.spoil = spoil

    def combine(self, updates, payload, current, memory):
        total = np.zeros(current.size)
        for update in updates:
            total += update.parameters.astype(np.float64) if payload == "weights" else update.difference
        mean = total / len(updates)
        if self.spoil == "shape":
            return mean[1:]
        if self.spoil == "type":
            return mean.astype(np.int32)
        if self.spoil == "list":
            return mean.tolist()
        if self.spoil == "nan":
            mean[3] = np.nan
        if self.spoil == "changes":
            current[0] = 1
        return mean


class Uniform(CohortSelector):
    needed_waiting = 5

    def __init__(self, size=5, spoil=""):
        self.size, self.spoil = size, spoil

    def choose_cohort(self, waiting, server, random, memory):
        places = random.choice(len(waiting), self.size, replace=False)
        if self.spoil == "twice":
            places[0] = places[1]
        if self.spoil == "beyond":
            places[0] = len(waiting)
        return places if self.spoil == "list" else Cohort(places)


class EvenSamples(Selector):
    """Devices with an even number of samples, three times each."""

    needs = ("facts", "news")

    def memory(self):
        return {"delivered": [0] * 60}

    def admit(self, check_in, server, memory):
        return check_in.facts.samples % 2 == 0 and memory["delivered"][check_in.device] < 3

    def hear(self, news, device, server, memory):
        memory["delivered"][device] += news == "delivered"


class Momentum(ServerOptimizer):
    """As `momentum`: v = βv + Δ, w + ηv, in float64 between two arrays of float32."""

    def __init__(self, rate=1.0, beta=0.9):
        self.rate, self.beta = rate, beta

    def step(self, current, combined, memory):
        velocity = memory.get("velocity", np.zeros(current.size))
        memory["velocity"] = self.beta * velocity + combined.difference(current)
        return current + self.rate * memory["velocity"]

