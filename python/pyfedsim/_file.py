"""Result files as xarray objects."""
from __future__ import annotations

import contextlib
import errno
import glob
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, Literal

import h5py
import numpy as np
import xarray

Path = str | os.PathLike[str]
Times = Literal["seconds", "timedelta", "civil"]

NANOSECONDS = {"s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
"""The units of time that a result uses."""


class NotAResult(ValueError):
    """A file that is no result of FedSim."""


class Changed(UserWarning):
    """A result that another program has changed."""


class NotWhole(UserWarning):
    """Some of several results are of runs that had not ended."""


def open_result(path: Path, *, times: Times = "seconds") -> xarray.DataTree:
    """All of a result, in memory.

    Categories are words instead of codes; their order is in the attribute `categories`. What `times` does is said
    at `group`, what a `Changed` warning says at `groups`. Texts, such as the resolved scenario, are variables without axes.
    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged; `ValueError` for other `times`.
    """
    _check_times(times)
    groups(path)  # which refuses groups that are linked into each other: xarray would walk them without end
    start = start_time(path)
    with _readable(path), xarray.open_datatree(path, engine="h5netcdf", decode_timedelta=False) as tree:
        datasets = {node.path: decoded(node.to_dataset(inherit=False).load(), times, start) for node in tree.subtree}
        return xarray.DataTree.from_dict(datasets)


def group(path: Path, name: str, *, times: Times = "seconds") -> xarray.Dataset:
    """One group of a result, such as "versions" or "timeline/link", in memory; "" is the root.

    `times` says what becomes of variables in units of time. "seconds": they stay as they are, floats in their unit,
    after the start of the run. "timedelta": `timedelta64[ns]`. "civil": moments are `datetime64[ns]` in UTC,
    durations are `timedelta64[ns]`. The latter two round to nanoseconds; the clock of a run has whole microseconds.
    Errors: `KeyError`, which lists the groups that there are; `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged;
    `ValueError` for other `times`.
    """
    _check_times(times)
    known = groups(path)
    start = start_time(path)
    name = name.strip("/")
    if name and name not in known:
        raise KeyError(f"{os.fspath(path)}: there is no group {name!r}; there are {', '.join(known)}")
    with _readable(path), xarray.open_dataset(path, group=name or None, engine="h5netcdf", decode_timedelta=False) as data:
        return decoded(data.load(), times, start)


def groups(path: Path) -> list[str]:
    """The groups of a result, in the order of the file, those inside of others with a slash.

    Where the file does not end with its seal, a `Changed` warning names it: a program that changes a result removes it.
    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged.
    """
    found: list[str] = []
    with _readable(path), _file(path) as file:
        _walk(file, "", found, set())
    if not _has_seal(path):
        warnings.warn(f"{os.fspath(path)}: this result is not as FedSim wrote it", Changed, stacklevel=3)
    return found


SEAL = b"FedSim seal "
"""How the last line of a result begins; 16 digits of a digest follow, which `fedsim report` and `fedsim compare` check."""


def _has_seal(path: Path) -> bool:
    with open(path, "rb") as file:
        length = len(SEAL) + 17
        file.seek(-min(length, file.seek(0, os.SEEK_END)), os.SEEK_END)
        return re.fullmatch(SEAL + rb"[0-9a-f]{16}\n", file.read()) is not None


def attributes(path: Path) -> dict[str, Any]:
    """The attributes of a result: title, seed, versions, digests; whole numbers as `int`.

    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged.
    """
    with _file(path) as file:
        return {name: value.item() if isinstance(value, np.generic) else value for name, value in file.attrs.items()}


def is_whole(path: Path) -> bool:
    """Whether a result is that of a run that has ended; not, if it goes on or was interrupted.

    What `fedsim recover` makes without a checkpoint has no more groups than "rounds" and "versions".
    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged.
    """
    return bool(attributes(path).get("isComplete", 1) != 0)


def start_time(path: Path) -> np.datetime64:
    """The civil time (UTC) at which the run starts."""
    with _file(path) as file:
        if "startTime" not in file:
            kind = str(file.attrs.get("Conventions", ""))
            what = "the table of a sweep: open it with xarray.open_dataset" if "sweep" in kind else "no result of a run"
            raise NotAResult(f"{os.fspath(path)}: this is {what}")
        with _readable(path):
            start: np.datetime64 = np.datetime64(int(file["startTime"][()]), "s").astype("datetime64[ns]")
            return start


def text(path: Path, name: str) -> str:
    """A long text, such as "scenario" or "standstill/report"."""
    with _file(path) as file:
        return str(file[name].asstr()[()])


def _file(path: Path) -> h5py.File:
    try:
        file = h5py.File(path, "r")
    except FileNotFoundError:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), os.fspath(path)) from None
    except IsADirectoryError as error:
        raise NotAResult(f"{os.fspath(path)}: this is a folder, not a result of FedSim") from error
    except OSError as error:
        raise NotAResult(f"{os.fspath(path)}: this is not an HDF5 file ({error})") from error
    if "FedSim-" not in str(file.attrs.get("Conventions", "")):
        file.close()
        raise NotAResult(f"{os.fspath(path)}: this is an HDF5 file, but not a result of FedSim")
    return file


@contextlib.contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Names the file where its content is not what a result has: below h5py and h5netcdf each damage is another error."""
    try:
        yield
    except (NotAResult, FileNotFoundError, MemoryError):
        raise
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise NotAResult(f"{os.fspath(path)}: this file is not as FedSim wrote it, and cannot be read ({what})") from error


DEEPEST = 16
"""How many groups may be one in the other, as in the command; results have two levels."""


def _walk(node: h5py.Group, prefix: str, found: list[str], seen: set[tuple[int, int]]) -> None:
    info = h5py.h5o.get_info(node.id)
    place = prefix or "/"
    if (key := (info.fileno, info.addr)) in seen:
        raise NotAResult(f"{node.file.filename}: {place}: a link to a group that is elsewhere, too; a result has each once")
    if prefix.count("/") >= DEEPEST:
        raise NotAResult(f"{node.file.filename}: {place}: more than {DEEPEST} groups one in the other; a result has two")
    seen.add(key)
    for name in node:
        if isinstance(child := node[name], h5py.Group):
            found.append(prefix + name)
            _walk(child, f"{prefix}{name}/", found, seen)


def _check_times(times: str) -> None:
    if times not in ("seconds", "timedelta", "civil"):
        raise ValueError(f"times: found {times!r}, expected 'seconds', 'timedelta' or 'civil'")


def decoded(data: xarray.Dataset, times: Times, start: np.datetime64) -> xarray.Dataset:
    """A data set with words instead of codes, and with times as asked for."""
    _check_times(times)
    moments = _moments(data)
    changed = {}
    for name, variable in data.variables.items():
        if "flag_meanings" in variable.attrs:
            changed[name] = _words(variable)
        elif times != "seconds" and variable.attrs.get("units") in NANOSECONDS:
            changed[name] = _time(variable, start if times == "civil" and name in moments else None)
    return data.assign({name: changed[name] for name in changed if name not in data.coords}).assign_coords(
        {name: changed[name] for name in changed if name in data.coords}
    )


def _moments(data: xarray.Dataset) -> set[str]:
    """The variables that are moments of the virtual clock, and no durations."""
    said = ("simulated time", "virtual time", "moment")
    return {
        str(name) for name, variable in data.variables.items()
        if variable.attrs.get("units") in NANOSECONDS
        and any(words in variable.attrs.get("long_name", "") for words in said)
    }


def _words(variable: xarray.Variable) -> xarray.Variable:
    values = np.atleast_1d(variable.attrs["flag_values"])
    meanings = np.array(variable.attrs["flag_meanings"].split())
    places = np.searchsorted(values, variable.values)
    attributes = {k: v for k, v in variable.attrs.items() if k not in ("flag_values", "flag_meanings")}
    attributes["categories"] = meanings.tolist()
    words = meanings[places] if meanings.size else np.empty(variable.shape, "<U1")
    return xarray.Variable(variable.dims, words, attributes)


def _time(variable: xarray.Variable, start: np.datetime64 | None) -> xarray.Variable:
    attributes = dict(variable.attrs)
    scale = NANOSECONDS[attributes.pop("units")]
    values = variable.values
    if values.dtype.kind == "f":
        # Whole microseconds first: a float of seconds times 10⁹ would end in digits that nobody meant.
        known = np.where(np.isnan(values), 0.0, values)
        whole = np.rint(known * (scale // 1000))
        exact = np.isclose(known * (scale // 1000), whole, rtol=1e-15, atol=1e-4)
        counts = np.where(exact, whole.astype(np.int64) * 1000, np.rint(known * scale).astype(np.int64))
        spans = counts.astype("timedelta64[ns]")
        spans = np.where(np.isnan(values), np.timedelta64("NaT", "ns"), spans)
    else:
        spans = (values.astype(np.int64) * scale).astype("timedelta64[ns]")
    return xarray.Variable(variable.dims, spans if start is None else start + spans, attributes)


def paths(given: Path | Iterable[Path]) -> list[str]:
    """One path or several, as a list of texts; a glob such as "results/*.h5" stands for its files, sorted.

    Errors: `FileNotFoundError` for a glob that matches nothing, `ValueError` where nothing was given.
    """
    listed = [given] if isinstance(given, (str, os.PathLike)) else list(given)
    found = [path for each in listed for path in _matches(os.fspath(each))]
    if not found:
        raise ValueError("no result was given")
    return found


def _matches(path: str) -> list[str]:
    if not glob.has_magic(path) or os.path.exists(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise FileNotFoundError(errno.ENOENT, "no file matches", path)
    return found
