"""The process in which a part of a policy runs: `python -m pyfedsim._policy`, started by the command `fedsim`."""
from __future__ import annotations

import json
import mmap
import struct
import sys
from collections.abc import Callable, Mapping
from typing import Any

from pyfedsim._pipe import Pipe, Wrong, digest, fault, load, pack, unpack, versions
import numpy as np
from numpy.typing import NDArray

from pyfedsim.policy import (
    Aggregator, CheckIn, Cohort, CohortSelector, Combined, Facts, Selector, Server, ServerOptimizer, Timer, Trigger, Update,
)

FORMAT = 1
MEMORY = 3

_CLASSES: dict[str, tuple[type, ...]] = {
    "trigger": (Trigger,), "selector": (Selector, CohortSelector), "aggregator": (Aggregator,),
    "optimizer": (ServerOptimizer,),
}
_NEEDS: dict[str, set[str]] = {
    "trigger": {"cohorts"}, "selector": {"facts", "losses", "batteries", "news"},
    "aggregator": {"bases", "differences"}, "optimizer": {"plainMean"},
}


def main() -> int:
    """Serves a run until its pipe ends."""
    pipe = Pipe("policy: ")
    begin = json.loads(pipe.receive() or b"{}")
    try:
        if begin.get("format") != FORMAT:
            raise Wrong("the command fedsim is of another version than the package pyfedsim")
        part = make(begin["seam"], begin["folder"], begin["part"], json.loads(begin["settings"]))
        stated = {**statement(begin["seam"], part), "digest": digest(begin["part"]), "versions": versions()}
        desk = Desk(part)
    except BaseException as error:  # whatever the code of a user raises, even SystemExit
        pipe.send(json.dumps({**_empty(), "fault": fault(error)}).encode())
        return 1
    pipe.send(json.dumps(stated).encode())
    while (message := pipe.receive()) is not None:
        memory = b""
        try:
            value, memory = desk.answer(message)
            reply: dict[str, Any] = {"value": value}
        except BaseException as error:
            reply = {"fault": fault(error)}
        text = json.dumps(reply).encode()
        pipe.send(struct.pack("<Q", len(text)) + text + memory)
    return 0


def make(seam: str, folder: str, source: str, settings: Mapping[str, Any]) -> Any:
    """The part that a class makes."""
    part = load(folder, source)(**settings)
    if not isinstance(part, _CLASSES[seam]):
        names = " or ".join(f"pyfedsim.policy.{cls.__name__}" for cls in _CLASSES[seam])
        raise Wrong(f"{source} is {type(part).__name__}, expected a {names}")
    return part


def _empty() -> dict[str, Any]:
    """A statement of nothing."""
    return {"format": FORMAT, "needs": [], "formsCohorts": False, "acceptsLate": False, "versions": []}


def statement(seam: str, part: Any) -> dict[str, Any]:
    """What a part states. Raises `Wrong` where that makes no sense."""
    stated = _empty()
    needs = [part.needs] if isinstance(part.needs, str) else list(part.needs)
    for word in needs:
        if word not in _NEEDS[seam]:
            raise Wrong(f"`needs` has {word!r}, expected one of {sorted(_NEEDS[seam])}")
    stated["needs"] = needs
    pack(part.memory())
    if isinstance(part, Trigger):
        if part.timer is not None:
            kinds = {"every": "every", "since_round": "sinceRound", "after_cohort": "afterCohort"}
            if not isinstance(part.timer, Timer) or part.timer.kind not in kinds:
                raise Wrong(f"`timer` is {part.timer!r}, expected a pyfedsim.policy.Timer of 0.001 s or more")
            microseconds = _microseconds("`timer` has seconds that are", part.timer.seconds)
            stated["timer"] = {"kind": kinds[part.timer.kind], "microseconds": microseconds}
        if part.needed_updates is not None:
            stated["neededUpdates"] = _count("needed_updates", part.needed_updates, 1_000_000)
    if isinstance(part, CohortSelector):
        stated |= {"formsCohorts": True, "acceptsLate": _truth_of("accepts_late", part.accepts_late)}
        if part.needed_waiting is not None:
            stated["neededWaiting"] = _count("needed_waiting", part.needed_waiting, 10_000_000)
        if part.wait_limit is not None:
            stated["waitLimit"] = _microseconds("`wait_limit` is", part.wait_limit)
    return stated


def _count(name: str, value: Any, most: int) -> int:
    """A number of things."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value <= most:
        raise Wrong(f"`{name}` is {value!r}, expected None or a whole number from 1 to {most}")
    return int(value)


def _microseconds(what: str, value: Any) -> int:
    """Seconds as the run counts them."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0.001 <= value <= 1e9:
        raise Wrong(f"{what} {value!r}, expected a number of seconds from 0.001 to 1e9")
    return round(float(value) * 1e6)


def _truth_of(name: str, value: Any) -> bool:
    """A word that is yes or no."""
    if not isinstance(value, (bool, np.bool_)):
        raise Wrong(f"`{name}` is {value!r}, expected True or False")
    return bool(value)


class Desk:
    """A part, and the memory that arrays come and go in."""

    def __init__(self, part: Any) -> None:
        self._part = part
        self._memory: mmap.mmap | None = None
        self._calls: dict[str, Callable[[dict[str, Any], dict[str, Any]], Any]] = {
            "decide": self._decide, "admit": self._admit, "receive": self._receive, "hear": self._hear,
            "choose_cohort": self._choose_cohort, "combine": self._combine, "step": self._step,
        }

    def answer(self, message: bytes) -> tuple[Any, bytes]:
        """Does what is asked for: what came of it, and what the part remembers."""
        end = 8 + struct.unpack_from("<Q", message)[0]
        call = json.loads(message[8:end])
        memory = unpack(message[end:]) if len(message) > end else self._part.memory()
        value = self._calls[call["call"]](call, memory)
        return value, pack(memory)

    def _decide(self, call: dict[str, Any], memory: dict[str, Any]) -> str:
        decision = self._part.decide(call["moment"], _server(call["server"]), memory)
        if decision not in ("wait", "aggregate", "skip"):
            raise Wrong(f"decide returned {decision!r}, expected 'wait', 'aggregate' or 'skip'")
        return str(decision)

    def _admit(self, call: dict[str, Any], memory: dict[str, Any]) -> bool:
        return _truth("admit", self._part.admit(_check_in(call["checkIn"]), _server(call["server"]), memory))

    def _receive(self, call: dict[str, Any], memory: dict[str, Any]) -> bool:
        return _truth("receive", self._part.receive(_check_in(call["checkIn"]), _server(call["server"]), memory))

    def _hear(self, call: dict[str, Any], memory: dict[str, Any]) -> bool:
        self._part.hear(call["news"], call["device"], _server(call["server"]), memory)
        return True

    def _choose_cohort(self, call: dict[str, Any], memory: dict[str, Any]) -> dict[str, Any]:
        waiting = [_check_in(words) for words in call["waiting"]]
        low, high = call["seed"]
        random = np.random.Generator(np.random.Philox(key=low | high << 64))
        cohort = self._part.choose_cohort(waiting, _server(call["server"]), random, memory)
        if cohort is None:
            return {}
        if not isinstance(cohort, Cohort):
            raise Wrong(f"choose_cohort returned {type(cohort).__name__}, expected a pyfedsim.policy.Cohort or None")
        members = [int(place) for place in cohort.members]
        if not members or len(set(members)) != len(members) or not all(0 <= place < len(waiting) for place in members):
            raise Wrong(f"choose_cohort returned the places {members} in a list of {len(waiting)}, expected one or more,"
                        " each once")
        goal = len(members) if cohort.goal is None else int(cohort.goal)
        if not 1 <= goal <= len(members):
            raise Wrong(f"choose_cohort wants {goal} updates of {len(members)} members")
        return {"members": members, "goal": goal}

    def _combine(self, call: dict[str, Any], memory: dict[str, Any]) -> bool:
        current = self._array(call, 1)
        updates, place = [], 2
        for facts in call["updates"]:
            parameters = self._array(call, place)
            base = self._array(call, place + 1) if call["hasBases"] else None
            place += 2 if call["hasBases"] else 1
            updates.append(Update(facts["device"], facts["samples"], facts["staleness"], parameters, base))
        self._put(call, "combine", self._part.combine(updates, call["payload"], current, memory))
        return True

    def _step(self, call: dict[str, Any], memory: dict[str, Any]) -> bool:
        combined = Combined(self._array(call, 2), call["payload"], call["updates"], call["devices"])
        self._put(call, "step", self._part.step(self._array(call, 1), combined, memory))
        return True

    def _array(self, call: dict[str, Any], place: int) -> NDArray[np.float32]:
        if self._memory is None or len(self._memory) < call["size"]:
            self._memory = mmap.mmap(MEMORY, call["size"])
        array = np.frombuffer(self._memory, np.float32, call["count"], call["stride"] * place)
        array.flags.writeable = place == 0
        return array

    def _put(self, call: dict[str, Any], what: str, result: Any) -> None:
        target = self._array(call, 0)
        if not isinstance(result, np.ndarray) or result.dtype not in (np.float32, np.float64):
            kind = result.dtype if isinstance(result, np.ndarray) else type(result).__name__
            raise Wrong(f"{what} returned {kind}, expected an array of float32 or float64")
        if result.shape != target.shape:
            raise Wrong(f"{what} returned the shape {result.shape}, expected {target.shape}")
        if not np.isfinite(result).all():
            raise Wrong(f"{what} returned numbers that are infinite or none")
        target[:] = result


def _truth(what: str, value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise Wrong(f"{what} returned {value!r}, expected True or False")
    return bool(value)


def _server(words: dict[str, Any]) -> Server:
    return Server(
        now=words["now"] / 1e6, version=words["version"], round=words["round"], pending=words["pending"],
        cohort_goal=words.get("cohortGoal"), cohort_size=words["cohortSize"], failures=words["failures"],
        round_opened_at=words["roundOpenedAt"] / 1e6)


def _number(word: Any) -> float | None:
    """A number; one that is infinite or none comes as a word: "Infinity", "-Infinity", "NaN"."""
    return None if word is None else float(word)


def _check_in(words: dict[str, Any]) -> CheckIn:
    known = words.get("facts")
    facts = None if known is None else Facts(
        samples=known["samples"], check_ins=known["checkIns"], times_chosen=known["timesChosen"],
        last_round=known["lastRound"], duration=None if known.get("duration") is None else known["duration"] / 1e6,
        times_aggregated=known["timesAggregated"], loss=_number(known.get("loss")), battery=_number(known.get("battery")))
    return CheckIn(words["device"], words["heldVersion"], words["hasPending"], facts)


if __name__ == "__main__":
    sys.exit(main())
