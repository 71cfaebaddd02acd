"""Sweeps as functions, and their tables."""
from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import xarray

from ._command import call, words_of
from ._faults import ScenarioError, require, warn, warnings_of
from ._file import NotAResult, Path, decoded
from ._given import Given, Values, words
from ._progress import Bar, Shown

_WORDS: dict[str, Any] = {"cell": str, "outcome": str, "eventDigest": str, "contentDigest": str, "seed": np.uint64}


class Sweep:
    """The folder of a sweep, whose tables are read when they are asked for."""

    def __init__(self, folder: Path, _kept: str | None = None) -> None:
        """A sweep in a folder. Errors: `NotAResult` for a folder without a sweep."""
        self.folder = pathlib.Path(folder)
        """The folder."""
        if _kept is not None:
            weakref.finalize(self, shutil.rmtree, _kept, True)
        if not (self.folder / "sweep.json").is_file():
            raise NotAResult(f"{self.folder}: this is not the folder of a sweep; it has no sweep.json")

    @property
    def manifest(self) -> dict[str, Any]:
        """What is played: axes, variants, seeds, cells, as the command wrote it. Errors: `OSError`."""
        found: dict[str, Any] = json.loads((self.folder / "sweep.json").read_text(encoding="utf-8"))
        return found

    @property
    def axes(self) -> list[str]:
        """The names of what is varied, as in the tables. Errors: `OSError`."""
        return [axis["name"] for axis in self.manifest["axes"]]

    def table(self) -> pd.DataFrame:
        """A row a cell: id, variant, replica, seed, the axes, outcome, and the numbers of docs/sweeps.md.

        Units: accuracies from 0 to 1, times in s, bytes. Missing numbers are NaN.
        Errors: `FileNotFoundError` where cells are not finished, so that there is no table.
        """
        return self._csv("table.csv", "cells are not finished; `pyfedsim.sweep` with the same arguments goes on")

    def versions(self) -> pd.DataFrame:
        """A row for each version of each cell, of a sweep with `versions=True`. Units: as `table`.

        Errors: `FileNotFoundError` where versions were not asked for.
        """
        return self._csv("versions.csv", "play the sweep with versions=True")

    @property
    def failed(self) -> pd.DataFrame:
        """The cells that failed, with the reason; no rows where none did. Errors: `OSError`."""
        path = self.folder / "failed.csv"
        return pd.read_csv(path, dtype=str) if path.exists() else pd.DataFrame(columns=["cell", "reason"])

    def arrays(self) -> xarray.Dataset:
        """The same numbers over the axes, `[axis, …, replica]`, the curves over `version` at the end, in memory.

        Axes of words have their words as values, `outcome` is a word. Units: as `table`.
        Errors: `FileNotFoundError` as `table`; `NotAResult` for a damaged file.
        """
        path = self.folder / "table.h5"
        if not path.exists():
            raise FileNotFoundError(f"{path}: cells are not finished")
        try:
            with xarray.open_dataset(path, engine="h5netcdf", decode_timedelta=False) as data:
                raw = data.load()
                found = decoded(raw, "seconds", np.datetime64(0, "s"))
        except (OSError, ValueError, KeyError) as error:
            raise NotAResult(f"{path}: this is no table of a sweep ({error})") from error
        for name in self.axes:
            if name in raw.variables and "values" in raw[name].attrs:
                texts = np.atleast_1d(np.asarray(raw[name].attrs["values"], dtype=str))
                values = (raw[name].dims, texts[raw[name].values.astype(int)])
                found = found.assign_coords({name: values}) if name in found.coords else found.assign({name: values})
        return found

    def results(self) -> pd.Series:
        """The path of each cell's result, by the cell's id. Errors: `OSError`."""
        manifest = self.manifest
        cells = [cell["id"] for cell in manifest["cells"]]
        store = pathlib.Path(manifest["store"])
        return pd.Series([str(store / f"{cell}.h5") for cell in cells], index=cells, name="result")

    def __repr__(self) -> str:
        """The folder and what is varied. Errors: `OSError`."""
        return f"<pyfedsim.Sweep {self.folder}: {len(self.manifest['cells'])} cells over {', '.join(self.axes)}>"

    def _csv(self, name: str, advice: str) -> pd.DataFrame:
        path = self.folder / name
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is no such table; {advice}")
        return pd.read_csv(path, dtype=_WORDS, keep_default_na=False, na_values=[""])


def open_sweep(folder: Path) -> Sweep:
    """A sweep that was played before. Errors: `NotAResult` for a folder without a sweep."""
    return Sweep(folder)


_CELL = re.compile(r"(\d+)/(\d+)  \S+ (.*)")


def sweep(
    scenario: Given, *, set: Values | None = None, seed: int | None = None, output: Path | None = None,
    jobs: int | None = None, threads: int | None = None, versions: bool = False, store: Path | None = None,
    timeout: str | None = None, retries: int | None = None, progress: Shown = "auto",
) -> Sweep:
    """Plays the trials of a scenario's section `sweep`; the same call again goes on with one that was interrupted.

    `output` is the sweep's folder: by default `results/NAME` for a file, as with the command, and a temporary folder
    for a dictionary, which is removed together with the `Sweep`. `store` keeps the cells' results. `jobs` workers of
    `threads` threads change no table. `timeout` (a text such as "10 min") and `retries` are for each cell.
    Warnings: `ScenarioWarning` if cells failed (`Sweep.failed`). Errors: `ScenarioError` with file, line and column
    (nothing was played); `RunError`; `CommandNotFound`; `KeyboardInterrupt`, after which finished cells are kept.
    """
    what, given = words(scenario, set, seed)
    kept: str | None = None
    if output is None and isinstance(scenario, Mapping):
        kept = tempfile.mkdtemp(prefix="fedsim-")
        output = os.path.join(kept, "sweep")
    options = words_of({
        "output": output, "jobs": jobs, "threads": threads, "versions": versions, "store": store, "timeout": timeout,
        "retries": retries,
    })
    bar = Bar(progress, "sweep")

    def line(text: str) -> None:
        if match := _CELL.match(text):
            bar.show(int(match[1]) / max(1, int(match[2])), f"{match[1]} of {match[2]} cells")

    try:
        ended = call(["sweep", "run", *options, *what], given, line)
        table = re.search(r"^table: (.*)/table\.csv, ", ended.out, re.MULTILINE)
        require(ended, ScenarioError, fine=(0, 3) if table else (0,))
        found = Sweep(table[1] if table else output or "", kept)
    except BaseException:
        if kept is not None:
            shutil.rmtree(kept, ignore_errors=True)
        raise
    finally:
        bar.close()
    warn(warnings_of(ended.error), 2)
    if ended.code == 3:
        warn([f"{len(found.failed)} cells of {found.folder} failed; `Sweep.failed` has the reasons"], 2)
    return found
