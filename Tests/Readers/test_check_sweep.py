"""Spoils the tables of a sweep in many ways; check_sweep.py must find each.

    python test_check_sweep.py SWEEP
"""
import contextlib
import io
import pathlib
import shutil
import sys
import tempfile

import h5py

import check_sweep


def number(folder, name, place, change):
    """Changes one number of the arrays."""
    with h5py.File(folder / "table.h5", "r+") as file:
        file[name][place] = change(file[name][place])


def swapped(folder, name):
    """Reverses the values of a variable along its first axis."""
    with h5py.File(folder / "table.h5", "r+") as file:
        file[name][...] = file[name][()][::-1]


def lines(folder, name, change):
    """Changes the lines of a table."""
    path = folder / name
    path.write_text("\n".join(change(path.read_text().splitlines())) + "\n")


def attribute(folder, name, value):
    with h5py.File(folder / "table.h5", "r+") as file:
        file.attrs[name] = value


SPOILS = (
    ("bit", lambda folder: number(folder, "finalLoss", (1, 0, 2), lambda x: x * (1 + 2**-52)), "finalLoss is "),
    ("axis", lambda folder: swapped(folder, "threshold"), "versions is "),
    ("cells", lambda folder: swapped(folder, "versions"), "versions is "),
    ("outcome", lambda folder: number(folder, "outcome", (0, 1, 0), lambda _: 1), "another outcome"),
    ("seed", lambda folder: number(folder, "seed", 1, lambda x: x + 1), "another seed"),
    ("time", lambda folder: number(folder, "timeToAccuracy", (0, 0, 0, 1), lambda x: x + 1e-6), "timeToAccuracy_"),
    ("curve", lambda folder: number(folder, "centralLoss", (2, 1, 4, 1), lambda x: x + 1e-9), "centralLoss differs"),
    ("end", lambda folder: number(folder, "publishedAt", (2, 0, 0, -1), lambda _: 1.0), "goes on after"),
    ("digest", lambda folder: attribute(folder, "contentDigest", "0" * 64), "digest"),
    ("row", lambda folder: lines(folder, "table.csv", lambda rows: rows[:-1]), "not the cells"),
    ("version", lambda folder: lines(folder, "versions.csv", lambda rows: rows[:5] + rows[6:]), "are left out"),
)


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    for name, spoil, words in SPOILS:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            for file in ("table.csv", "table.h5", "versions.csv"):
                shutil.copy(pathlib.Path(arguments[0], file), folder)
            spoil(folder)
            out, error = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
                code = check_sweep.main([str(folder)])
            if code != 1 or words not in error.getvalue():
                print(f"test_check_sweep: {name} was not found: {code}, {error.getvalue()!r}", file=sys.stderr)
                return 1
    print(f"check_sweep finds all of {len(SPOILS)} spoiled tables")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
