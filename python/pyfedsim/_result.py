"""The result of a run as an object."""
from __future__ import annotations

import html
import os
import pathlib
import shutil
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import xarray

from ._file import Path, Times, group, groups, open_result
from ._scenario import Scenario, scenario
from ._tables import ledgers, table

if TYPE_CHECKING:
    from ._ask import Explanation


class Result:
    """A result file, which is read when something of it is asked for.

    `result.versions`, `result.rounds`, `result["timeline/power"]` are groups as `xarray.Dataset`, times in s after the
    start of the run. A result is a path, too: `pyfedsim.table([result, "other.h5"])`.
    """

    def __init__(
        self, path: Path, summary: Mapping[str, Any] | None = None, warnings: Sequence[str] = (),
        _folder: str | None = None,
    ) -> None:
        """A result at a path. Errors: none; a file that is no result is found when it is read (`NotAResult`)."""
        self.path = pathlib.Path(path)
        """The file."""
        self.summary = dict(summary or {})
        """What `fedsim run --json` prints (accuracies from 0 to 1, times in s, bytes); empty without a run."""
        self.warnings = list(warnings)
        """What the run warned of, a line each."""
        if _folder is not None:
            weakref.finalize(self, shutil.rmtree, _folder, True)

    @property
    def holds(self) -> bool:
        """Whether all assertions of the scenario's `expect` about this run hold; true without any. Errors: none."""
        return all(claim["holds"] for claim in self.summary.get("claims") or [])

    @property
    def scenario(self) -> Scenario:
        """The resolved scenario. Errors: as `pyfedsim.scenario`."""
        return scenario(self.path)

    @property
    def groups(self) -> list[str]:
        """The names of the groups. Errors: as `pyfedsim.groups`."""
        return groups(self.path)

    def open(self, *, times: Times = "seconds") -> xarray.DataTree:
        """All groups, in memory. Units: as `pyfedsim.open`. Errors: `NotAResult`, `FileNotFoundError`."""
        return open_result(self.path, times=times)

    def table(
        self, name: str = "versions", *, over: str | Sequence[str] | None = None,
        settings: bool | Sequence[str] = True, times: Times = "seconds",
    ) -> pd.DataFrame:
        """One group as a table, a row a place. Units and errors: as `pyfedsim.table`."""
        return table(self.path, name, over=over, settings=settings, times=times)

    def ledgers(self) -> pd.DataFrame:
        """How attempts, updates and transmissions ended, a row for each outcome. Errors: as `pyfedsim.ledgers`."""
        return ledgers(self.path)

    def explain(self, device: str, round: int | None = None) -> Explanation:
        """Why a device contributed or did not. Errors: as `pyfedsim.explain`."""
        from ._ask import explain

        return explain(self, device, round)

    def __getitem__(self, name: str) -> xarray.Dataset:
        """A group by its name, such as "timeline/power". Errors: `KeyError`, which lists the groups that there are."""
        return group(self.path, name)

    def __getattr__(self, name: str) -> xarray.Dataset:
        """A group by its name. Errors: `AttributeError` where there is none."""
        if name.startswith("_"):
            raise AttributeError(name)
        known = self.groups
        if name not in known:
            raise AttributeError(f"{self.path} has no group {name!r}; there are {', '.join(known)}")
        return self[name]

    def __dir__(self) -> list[str]:
        """The names of the groups, too. Errors: none."""
        try:
            return [*super().__dir__(), *(name for name in self.groups if "/" not in name)]
        except (OSError, ValueError):
            return [*super().__dir__()]

    def __fspath__(self) -> str:
        """The path. Errors: none."""
        return os.fspath(self.path)

    def __repr__(self) -> str:
        """The path and the summary, a line each. Errors: none."""
        return "\n".join([f"<pyfedsim.Result {self.path}>", *(f"  {name:12} {text}" for name, text in self._rows())])

    def _repr_html_(self) -> str:
        """The same as a table. Errors: none."""
        rows = "".join(
            f"<tr><th style='text-align:left'>{html.escape(name)}</th><td style='text-align:left'>{html.escape(text)}"
            "</td></tr>" for name, text in self._rows()
        )
        return f"<table><caption>{html.escape(os.fspath(self.path))}</caption>{rows}</table>"

    def _rows(self) -> list[tuple[str, str]]:
        found = self.summary
        if not found:
            return []
        rows = [("scenario", f"{found['scenario']}, seed {found['seed']}"), ("versions", str(found["version"]))]
        named = {"accuracy": "accuracy", "bestAccuracy": "best", "rmse": "RMSE", "bestRMSE": "lowest"}
        for name, label in named.items():
            if found.get(name) is not None:
                rows.append((label, f"{found[name]:.4g}"))
        rows.append(("simulated", f"{found['simulatedSeconds'] / 86400:.4g} d, {found['devices']} devices"))
        for ledger in found["ledgers"]:
            ends = ", ".join(f"{end['name']} {end['count']}" for end in ledger["outcomes"])
            rows.append((ledger["name"], f"{ledger['opened']}: {ends}" if ends else str(ledger["opened"])))
        rows += [("no version" if found["version"] == 0 else "standstill", line) for line in found["standstill"]]
        return rows + [("warning", line) for line in self.warnings]
