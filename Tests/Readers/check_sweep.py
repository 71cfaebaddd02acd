"""Opens the arrays of a sweep over a grid with xarray, and compares every cell of them with its rows in the tables.

    python check_sweep.py SWEEP…

SWEEP is the folder of a sweep that is over, played with `--versions`. Prints a line for each engine. Stops at the first
difference, with exit code 1.
"""
import itertools
import pathlib
import sys

import numpy as np
import pandas as pd
import xarray

from content_digest import content_digest

ENGINES = ("h5netcdf", "netcdf4")
CURVES = ("publishedAt", "centralAccuracy", "centralLoss", "centralValidationAccuracy")


class Wrong(Exception):
    """The arrays are not what the tables say."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


def same(found, expected):
    """Whether two numbers are equal, or both are none."""
    return np.array_equal(np.asarray(found, dtype=float), np.asarray(expected, dtype=float), equal_nan=True)


def table(path):
    """A table; what is left empty is no number."""
    digests = {name: str for name in ("cell", "outcome", "eventDigest", "contentDigest")}
    return pd.read_csv(path, dtype=digests)


def check_cells(data, cells, axes):
    columns = list(cells.columns)
    metrics = columns[columns.index("outcome") + 1:columns.index("eventDigest")]
    meanings = data.outcome.attrs["flag_meanings"].split()
    places = [tuple(row) for row in cells[[*axes, "replica"]].itertuples(index=False)]
    points = set(itertools.product(*(data[axis].values for axis in (*axes, "replica"))))
    require(len(places) == len(set(places)) and set(places) == points, "the rows are not the cells of the arrays")
    for place, (_, row) in zip(places, cells.iterrows()):
        cell = data.sel(dict(zip((*axes, "replica"), place)))
        require(meanings[int(cell.outcome)] == row["outcome"], f"{place}: another outcome")
        require(int(cell.seed) % 2**64 == int(row["seed"]), f"{place}: another seed")
        for name in metrics:
            variable, _, target = name.partition("_")
            found = cell[variable].sel(target=float(target)) if target else cell[variable]
            require(same(found, row[name]), f"{place}: {name} is {found.values}, not {row[name]}")
    return len(metrics)


def check_versions(data, versions, axes):
    count = 0
    for place, rows in versions.groupby([*axes, "replica"], sort=False):
        cell = data.sel(dict(zip((*axes, "replica"), place)))
        require(rows["version"].tolist() == list(range(len(rows))), f"{place}: versions are left out")
        for name in CURVES:
            found = cell[name].values
            require(same(found[:len(rows)], rows[name]), f"{place}: {name} differs")
            require(np.isnan(found[len(rows):]).all(), f"{place}: {name} goes on after the last version")
        count += len(rows)
    return count


def check(folder):
    path = folder / "table.h5"
    cells, versions = table(folder / "table.csv"), table(folder / "versions.csv")
    columns = list(cells.columns)
    require(columns[:4] == ["cell", "variant", "replica", "seed"], f"the first columns are {columns[:4]}")
    axes = columns[4:columns.index("outcome")]
    require(cells[axes + ["seed"]].notna().all(axis=None) and len(cells) > 1, "rows without values of the axes")
    for engine in ENGINES:
        with xarray.open_dataset(path, engine=engine, decode_timedelta=False) as data:
            data.load()
            dims = (*axes, "replica")
            require(data.finalAccuracy.dims == dims, f"finalAccuracy is over {data.finalAccuracy.dims}, not {dims}")
            require(data.centralAccuracy.dims == (*dims, "version"), f"the curves are over {data.centralAccuracy.dims}")
            metrics = check_cells(data, cells, axes)
            require(set(versions["cell"]) == set(cells["cell"]), "a cell has no versions")
            rows = check_versions(data, versions, axes)
            require(data.attrs["contentDigest"] == content_digest(path), "the content has not the stored digest")
        print(f"{path}: xarray, {engine}: {metrics} numbers of {len(cells)} cells over {', '.join(dims)} and those of "
              f"{rows} versions: equal", flush=True)


def main(arguments):
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    for folder in arguments:
        try:
            check(pathlib.Path(folder))
        except (Wrong, OSError, KeyError, ValueError) as error:
            print(f"check_sweep: {folder}: {type(error).__name__}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
