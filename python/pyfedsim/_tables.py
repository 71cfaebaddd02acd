"""Result files as tidy pandas tables."""
from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray

from ._file import NotWhole, Path, Times, attributes, group, groups, is_whole, paths
from ._scenario import differences, scenario


def table(
    results: Path | Iterable[Path], name: str = "versions", *, over: str | Sequence[str] | None = None,
    settings: bool | Sequence[str] = True, times: Times = "seconds",
) -> pd.DataFrame:
    """A group of one result or of several as one table, a row a place.

    The columns `file`, `scenario` and `seed` come first, then the settings that differ between the results, by their
    paths; then the axes, then every variable over just these axes. Categories are words. `settings=False` leaves the
    settings out, and a list of paths such as `["server.trigger.threshold.updates"]` gives just those.

    `over` names the axis, or several: `table(path, "partition", over=("client", "label"))`; `over=()` gives the
    group's single numbers, a row a result. By default it is the axis that the group is named for (`version` of
    `versions`), or its only one. A variable that a result does not have is missing in its rows (NaN).
    `times` is as in `pyfedsim.group`. Where some of several results are of runs that had not ended, a `NotWhole` warning
    names them.
    Errors: `KeyError` for a group or a setting that there is none of; `ValueError` for an axis that there is none of,
    or several without `over`; `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged;
    `FileNotFoundError` for a glob without a file.
    """
    return _of_all(results, lambda path: _rows(path, name, over, times), settings)


def ledgers(results: Path | Iterable[Path], *, settings: bool | Sequence[str] = True) -> pd.DataFrame:
    """How everything that was begun has ended: a row for each outcome of each ledger.

    Columns, behind those of `table`: `ledger` (attempts, updates, transmissions; files where devices collect),
    `outcome`, `quantity` (what is counted), `units`, `value`.
    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged, or a glob without a file.
    """
    return _of_all(results, _ledger_rows, settings)


def timeline(
    results: Path | Iterable[Path], *, settings: bool | Sequence[str] = True, times: Times = "seconds"
) -> pd.DataFrame:
    """The states of the devices that the scenario's `record.timelineOf` names.

    Columns, behind those of `table`: `device` (its path), `part` (power, link, app, …), `from`, `to`, `state` (a
    word, or a number as text). A state holds from `from` until before `to`.
    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged, or a glob without a file.
    """
    return _of_all(results, lambda path: _timeline_rows(path, times), settings)


def device_paths(path: Path) -> pd.Series:
    """The path of each device, such as `phones/17`, by its number in the fleet.

    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged.
    """
    rows = _rows(path, "devices", "device", "seconds")
    names = rows["group"]
    if names.dtype.kind in "iu":  # More groups than a category has words.
        fleet = [entry["name"] for entry in scenario(path).tree["fleet"]]
        names = names.map(dict(enumerate(fleet)))
    return pd.Series((names + "/" + rows["ordinal"].astype(str)).to_numpy(), index=rows["device"], name="path")


def _of_all(
    results: Path | Iterable[Path], rows_of: Callable[[str], pd.DataFrame], settings: bool | Sequence[str]
) -> pd.DataFrame:
    """The rows of every result, behind columns that say of which."""
    files = paths(results)
    chosen = _settings(files, settings)
    unfinished = [path for path in files if not is_whole(path)]
    if unfinished and len(files) > 1:
        warnings.warn(f"results of runs that had not ended: {', '.join(unfinished)}", NotWhole, stacklevel=3)
    parts = []
    for place, path in enumerate(files):
        about = attributes(path)
        part = rows_of(path)
        head: dict[str, Any] = {"file": path, "scenario": about["title"], "seed": about["seed"]}
        # A variable keeps its name; what says of which result a row is steps aside.
        head = {f"result.{key}" if key in part.columns else key: value for key, value in head.items()}
        head |= {name: _cell(values[place]) for name, values in chosen.items()}
        front = pd.DataFrame({key: [value] * len(part) for key, value in head.items()}, index=part.index)
        parts.append(pd.concat([front, part], axis=1))
    return parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)


def _settings(files: list[str], wanted: bool | Sequence[str]) -> dict[str, list[Any]]:
    if isinstance(wanted, bool):
        return differences(files) if wanted and len(files) > 1 else {}
    found = [scenario(path).settings for path in files]
    for name in wanted:
        if not any(name in settings for settings in found):
            near = difflib.get_close_matches(name, {key for settings in found for key in settings}, n=1)
            raise KeyError(f"there is no setting {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return {name: [settings.get(name) for settings in found] for name in wanted}


def _cell(value: Any) -> Any:
    """A setting's value for a table: lists as text, since cells of a table are single values."""
    return str(value) if isinstance(value, (list, dict)) else value


def _rows(path: Path, name: str, over: str | Sequence[str] | None, times: Times) -> pd.DataFrame:
    data = group(path, name, times=times)
    axes = _axes(data, name, over, path)
    chosen = [
        str(key) for key, variable in data.variables.items()
        if tuple(variable.dims) == axes and not (len(axes) == 1 and key == axes[0])
        and not (not axes and variable.dtype.kind in "OSUT")
    ]
    inside = [other for other in groups(path) if other.startswith(f"{name.strip('/')}/")]
    if not data.variables and inside:
        raise ValueError(f"{path}: {name!r} holds other groups only: {', '.join(inside)}")
    if not chosen and axes and axes[0] not in data.variables:
        raise ValueError(f"{path}: no variable of {name!r} lies over {axes}")
    lengths = [data.sizes[axis] for axis in axes]
    places: np.ndarray = np.indices(lengths).reshape(len(axes), -1) if axes else np.empty((0, 0), int)
    columns: dict[str, Any] = {}
    for axis, place in zip(axes, places, strict=True):
        columns[axis] = data[axis].values[place] if axis in data.variables else place
    for key in chosen:
        columns[key] = np.atleast_1d(data[key].values.reshape(-1))
    return pd.DataFrame(columns)


def _axes(data: xarray.Dataset, name: str, over: str | Sequence[str] | None, path: Path) -> tuple[str, ...]:
    axes = list(dict.fromkeys(str(axis) for variable in data.variables.values() for axis in variable.dims))
    if over is not None:
        wanted = (over,) if isinstance(over, str) else tuple(over)
        for axis in wanted:
            if axis not in axes:
                raise ValueError(f"{path}: {name!r} has no axis {axis!r}; it has {', '.join(axes) or 'none'}")
        return wanted
    last = name.rstrip("/").rsplit("/", 1)[-1]
    if last.endswith("s") and last[:-1] in axes:
        return (last[:-1],)
    if len(axes) > 1:
        raise ValueError(f"{path}: {name!r} has several axes; choose with over= from {', '.join(axes)}")
    return tuple(axes)


def _ledger_rows(path: Path) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for name in ("ledger", "central"):
        if name not in groups(path):
            continue
        data = group(path, name)
        for axis in (str(axis) for axis in data.dims if str(axis).endswith("Outcome")):
            outcomes = data[axis].values
            for key, variable in data.variables.items():
                if variable.dims != (axis,) or key == axis:
                    continue
                rows += [
                    {
                        "ledger": axis.removesuffix("Outcome") + "s", "outcome": str(outcome), "quantity": str(key),
                        "units": variable.attrs.get("units", "1"), "value": value.item(),
                    }
                    for outcome, value in zip(outcomes, variable.values, strict=True)
                ]
    return pd.DataFrame(rows, columns=["ledger", "outcome", "quantity", "units", "value"])


def _timeline_rows(path: Path, times: Times) -> pd.DataFrame:
    columns = ["device", "part", "from", "to", "state"]
    parts = [name for name in groups(path) if name.startswith("timeline/")]
    if not parts:
        return pd.DataFrame(columns=columns)
    names = device_paths(path)
    frames = []
    for name in parts:
        data = group(path, name, times=times)
        frames.append(pd.DataFrame({
            "device": names.loc[data["device"].values].to_numpy(), "part": name.removeprefix("timeline/"),
            "from": data["from"].values, "to": data["to"].values, "state": data["state"].values.astype(str),
        }))
    return pd.concat(frames, ignore_index=True)[columns]
