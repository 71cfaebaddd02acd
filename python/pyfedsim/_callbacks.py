"""What is told of a run while it goes on."""
from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from ._progress import Bar

Row = dict[str, Any]
"""A version: the columns of the table `versions` by name; a number that is not known is NaN."""


@runtime_checkable
class Tracker(Protocol):
    """An object that follows a run, such as those of `pyfedsim.trackers`.

    Errors: an exception that a member raises ends the run, and the caller of `run` gets it.
    """

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Called once before the run, with every value in force by its path."""

    def version(self, row: Row) -> None:
        """Called for each version of the federated model as it is published, from 0 on, in order."""

    def end(self, summary: Mapping[str, Any] | None) -> None:
        """Called once after the run with its summary; None: the run did not reach its end."""


Callback = Callable[[Row], object] | Tracker
"""Called with each version, or a tracker."""


class Follower:
    """Takes the command's lines of JSON: moves a bar, and calls the callbacks."""

    def __init__(self, bar: Bar, callbacks: Sequence[Callback]) -> None:
        self._bar = bar
        self._callbacks = callbacks
        self._share = 0.0
        self._text = ""

    def line(self, text: str) -> None:
        """Takes a line of standard error. Errors: what a callback raises."""
        if not text.startswith("{"):
            return
        row: Row = json.loads(text)
        kind = row.pop("kind")
        if kind == "status":
            self._share = row["share"]
        elif kind == "version":
            row = {name: math.nan if value is None else value for name, value in row.items()}
            self._text = _words(row)
            for callback in self._callbacks:
                (callback.version if isinstance(callback, Tracker) else callback)(row)
        self._bar.show(self._share, self._text)


def trackers(callbacks: Sequence[Callback]) -> list[Tracker]:
    """Those of the callbacks that are trackers."""
    return [callback for callback in callbacks if isinstance(callback, Tracker)]


def _words(row: Row) -> str:
    words = [f"version {row['version']}"]
    for name, label in (("centralAccuracy", "accuracy"), ("centralRMSE", "RMSE")):
        if not math.isnan(row.get(name, math.nan)):
            words.append(f"{label} {row[name]:.4g}")
    return ", ".join(words)
