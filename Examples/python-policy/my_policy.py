"""A trigger that remembers and an aggregator, as FedSim asks them (docs/python.md)."""
import numpy as np

from pyfedsim.policy import Aggregator, Timer, Trigger


class Patient(Trigger):
    """Many updates at once, or a few after a long wait."""

    def __init__(self, updates=10, minimum=2, patience=1800.0, look=60.0):
        self.updates, self.minimum, self.patience = updates, minimum, patience
        self.timer = Timer("every", look)

    def memory(self):
        return {"round": 0, "since": 0.0}

    def decide(self, moment, server, memory):
        if server.pending == 0:
            return "wait"
        if memory["round"] != server.round:
            memory |= {"round": server.round, "since": server.now}
        if server.pending >= self.updates:
            return "aggregate"
        waited = server.now - memory["since"] >= self.patience
        return "aggregate" if waited and server.pending >= self.minimum else "wait"


class OlympicMean(Aggregator):
    """The mean of each parameter without its `trim` largest and smallest values, and how often it was made."""

    def __init__(self, trim=1):
        self.trim = trim

    def memory(self):
        return {"combined": 0}

    def combine(self, updates, payload, current, memory):
        memory["combined"] += 1
        values = np.stack([u.parameters.astype(np.float64) if payload == "weights" else u.difference for u in updates])
        trim = min(self.trim, (len(updates) - 1) // 2)
        kept = np.sort(values, axis=0)[trim:len(updates) - trim]
        total = np.zeros(current.size)
        for row in kept:
            total += row
        return total / len(kept)
