"""Questions to the command: is a scenario right, what do results show, why did a device not contribute."""
from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ._command import call, words_of
from ._faults import ScenarioError, faults_of, require, warn, warnings_of
from ._file import Path, paths
from ._given import Given, Values, words
from ._scenario import Scenario


@dataclass(frozen=True)
class Validation:
    """A scenario that was found valid, with every value in force."""

    scenario: Scenario
    """The resolved scenario: `.text`, `.tree`, `.settings`."""
    warnings: list[str] = field(default_factory=list)
    """What the command warns of, a line each."""

    @property
    def settings(self) -> dict[str, Any]:
        """Every value by its path; durations and dates are texts. Errors: none."""
        return self.scenario.settings


_ORIGIN = re.compile(r'  # from [^"\n]*$', re.MULTILINE)
"""The comment behind a value that the file of a model gave."""


def validate(
    scenario: Given, *, set: Values | None = None, seed: int | None = None, _warns: bool = True,
) -> Validation:
    """Checks a scenario, a file or a dictionary, and the files that it names; runs nothing.

    Warnings: `ScenarioWarning`. Errors: `ScenarioError`, whose `faults` have file, line, column, path and message;
    `CommandNotFound`; `TypeError` for what no scenario can hold.
    """
    what, given = words(scenario, set, seed)
    ended = call(["validate", "--resolved", *what], given)
    require(ended, ScenarioError)
    found = warnings_of(ended.error)
    if _warns:
        warn(found, 2)
    return Validation(Scenario(_ORIGIN.sub("", ended.out)), found)


def check(scenarios: Path | Iterable[Path], *, jobs: int | None = None) -> pd.DataFrame:
    """Plays scenarios and holds them to their assertions and recordings, a row for each of them.

    `scenarios`: files, folders and globs. Columns: `scenario` (path), `kind` ("assertion", "recording"), `claim`,
    `holds`, `found`, `place` (file:line:column), `seconds` (s, of the scenario's run).
    Errors: `ScenarioError` where a scenario is wrong or there is nothing to check; `RunError` where a run failed;
    `FileNotFoundError` for a glob without a file; `CommandNotFound`.
    """
    ended = call(["check", "--json", *words_of({"jobs": jobs}), "--", *paths(scenarios)])
    if ended.code == 2 and not ended.out.strip():
        require(ended, ScenarioError)
    report = json.loads(ended.out) if ended.out.strip() else {"scenarios": [], "unchecked": []}
    faults = [text for one in report["scenarios"] for text in one["faults"]]
    if faults and ended.code == 2 or ended.code == 2 and not report["scenarios"]:
        raise ScenarioError(faults_of("\n".join(map(str, faults)) or ended.error)[0])
    require(ended, ScenarioError, fine=(0, 1))
    rows: list[dict[str, Any]] = []
    for one in report["scenarios"]:
        about = {"scenario": one["path"], "seconds": one["seconds"]}
        rows += [{**about, "kind": "assertion", **claim} for claim in one["claims"]]
        if recording := one.get("baseline"):
            rows.append({
                **about, "kind": "recording", "claim": "the run is as recorded", "holds": recording["isSame"],
                "found": "; ".join(recording["findings"]), "place": recording["file"],
            })
    return pd.DataFrame(rows, columns=["scenario", "kind", "claim", "holds", "found", "place", "seconds"])


@dataclass(frozen=True)
class Comparison:
    """What `fedsim compare` says of two results, or of two policies over several seeds."""

    data: dict[str, Any]
    """The command's JSON (docs/comparing.md)."""
    same: bool | None
    """Whether two results have equal contents; None for policies over seeds."""

    @property
    def table(self) -> pd.DataFrame:
        """Over seeds: a row for each measure, with medians, difference, p-value and claim. Of two results: a row for
        each place that differs (`place`, `a`, `b`). Units: those of the measure or variable. Errors: none."""
        if self.same is not None:
            parts = ("settings", "attributes", "outcomes", "cells")
            rows = [{"part": part, **row} for part in parts for row in self.data.get(part, [])]
            return pd.DataFrame(rows, columns=["part", "place", "a", "b"])
        return pd.json_normalize(self.data["comparison"]["lines"])


def compare(
    a: Path | Iterable[Path], b: Path | Iterable[Path], *, target: float | None = None, measures: Sequence[str] = (),
    alpha: float | None = None, resamples: int | None = None, replay: bool = True,
) -> Comparison:
    """Compares two results, or the results of two policies in pairs of equal seeds.

    One path on each side: where the two results diverge (`replay=False` plays nothing again). A list or a glob
    ("a-*.h5") on a side: which policy is better; `target` is an accuracy from 0 to 1, `measures` are names as in
    docs/comparing.md, `alpha` is the level of a claim, `resamples` the number for each interval.
    Errors: `InputError` for files that cannot be compared; `FileNotFoundError` for a glob without a file; `RunError`;
    `CommandNotFound`.
    """
    left, right = paths(a), paths(b)
    if len(left) == len(right) == 1:
        ended = call(["compare", "--json", *words_of({"no-replay": not replay}), "--", *left, *right])
        require(ended, fine=(0, 1))
        warn(warnings_of(ended.error), 2)
        return Comparison(json.loads(ended.out), ended.code == 0)
    options = words_of({"target": target, "alpha": alpha, "resamples": resamples})
    names = ["--measures", *measures] if measures else []
    ended = call(["compare", "--json", *options, *names, "--a", *left, "--b", *right])
    require(ended)
    warn(warnings_of(ended.error), 2)
    return Comparison(json.loads(ended.out), None)


@dataclass(frozen=True)
class Explanation:
    """Why a device contributed to a round or a run, or why it did not."""

    device: str
    """The device, such as "phones/17"."""
    contributed: bool
    """Whether an update of the device was aggregated."""
    cause: str
    """The cause in one word, such as "contributed" or "neverHeld" (docs/why.md)."""
    cause_text: str
    """The cause in a sentence."""
    sentences: list[str]
    """What happened, in order, with virtual times."""

    def __str__(self) -> str:
        """The sentences and the cause, a line each. Errors: none."""
        return "\n".join([*self.sentences, f"Cause: {self.cause_text}."])


def explain(result: Path, device: str, round: int | None = None, *, all: bool = False) -> Explanation:
    """Explains why a device contributed to a round (from 1), or to the whole run, or why it did not.

    The run is played again without training. `all=True` omits nothing from the middle of a long report.
    Errors: `InputError` for a file that is no result, another version of FedSim, a device or round that does not exist,
    changed data; `RunError`; `CommandNotFound`.
    """
    ended = call(["explain", "--json", *words_of({"device": device, "round": round, "all": all}), "--", result])
    require(ended)
    warn(warnings_of(ended.error), 2)
    found = json.loads(ended.out)
    return Explanation(
        found["device"], found["contributed"], found["cause"], found["causeText"], found["sentences"],
    )
