"""A figure for a paper from several results: accuracy over time and over bytes, a band over seeds for each policy.

    python paper_figure.py --output FIGURE.svg "one policy" A-1.h5 A-2.h5 … -- "another" B-1.h5 B-2.h5 …

The line is the median over the seeds, the band reaches from the worst seed to the best. At each time a seed has the
accuracy of its last version published until then. Needs matplotlib and the package in python/; `Examples/make_figure`
makes the results and calls it. The same results give the same bytes.
"""
import argparse
import itertools
import pathlib

import pyfedsim
import matplotlib

matplotlib.use("agg")
matplotlib.rcParams.update({
    "svg.hashsalt": "fedsim", "svg.fonttype": "none", "pdf.fonttype": 42, "font.size": 8, "axes.titlesize": 8,
    "axes.spines.top": False, "axes.spines.right": False, "legend.frameon": False,
})
import matplotlib.pyplot as plt
import numpy as np

# Of Okabe and Ito, told apart by colour-blind readers; and by their dashes in grey.
STYLES = (("#0072b2", "-"), ("#d55e00", (0, (5, 1.5))), ("#009e73", (0, (1, 1))), ("#cc79a7", (0, (5, 1, 1, 1))))
# What lies along a panel: a label, the place of each version, and where a result ends.
PANELS = (
    ("simulated days", lambda rows: rows["publishedAt"] / 86_400, lambda rows: rows["simulatedTime"] / 86_400),
    ("kilobytes sent and received per device", lambda rows: rows["bytes"] / 1e3, lambda rows: rows["bytes"] / 1e3),
)


def policies(words):
    """The names of the policies and their results."""
    if wrong := [word for word in words if word.startswith("-") and word != "--"]:
        raise SystemExit(f"paper_figure: found {wrong[0]}, expected --output, names and results")
    groups = [list(group) for is_end, group in itertools.groupby(words, lambda word: word == "--") if not is_end]
    if any(len(group) < 2 for group in groups):
        raise SystemExit("paper_figure: expected a name and at least one result for each policy, with -- between them")
    names = [name for name, *_ in groups]
    if doubled := [name for name in names if names.count(name) > 1]:
        raise SystemExit(f"paper_figure: two policies are named {doubled[0]!r}")
    return {name: results for name, *results in groups}


def read(results):
    """The evaluated versions of one policy's seeds, a row a version."""
    rows = pyfedsim.table(results, "versions", settings=False)
    if "bytesUp" in rows:  # Results of schema 1 do not have it.
        devices = pyfedsim.table(results, "devices", settings=False).groupby("file").size()
        rows["bytes"] = (rows["bytesUp"] + rows["bytesDown"]) / rows["file"].map(devices)
    ends = pyfedsim.table(results, "", over=(), settings=False).set_index("file")["simulatedTime"]
    rows["simulatedTime"] = rows["file"].map(ends)
    rows = rows.dropna(subset="centralAccuracy")
    if missing := [path for path in results if path not in set(rows["file"])]:
        raise SystemExit(f"paper_figure: {missing[0]}: no version of this run was evaluated")
    return rows


def curves(rows, axis, grid):
    """The accuracy of each seed at each place of a grid, a row a seed."""
    found = []
    for _, seed in rows.groupby("file", sort=False):
        last = np.searchsorted(axis(seed), grid, side="right") - 1
        accuracy = seed["centralAccuracy"].to_numpy()
        # Before its first version a seed has no accuracy; behind its last it keeps that one.
        found.append(np.where(last < 0, np.nan, accuracy[np.maximum(last, 0)]))
    return np.array(found)


def draw(panel, data, label, axis, end):
    ends = {name: end(rows).groupby(rows["file"]).max().min() for name, rows in data.items()}
    for (name, rows), (colour, dashes) in zip(data.items(), itertools.cycle(STYLES)):
        # As far as all of its seeds come.
        grid = np.linspace(0, ends[name], 160)
        accuracies = curves(rows, axis, grid)
        panel.fill_between(grid, accuracies.min(0), accuracies.max(0), color=colour, alpha=0.2, linewidth=0)
        panel.plot(grid, np.median(accuracies, axis=0), color=colour, linestyle=dashes, linewidth=1.2, label=name)
    panel.set_xlabel(label)
    panel.set_xlim(0, max(ends.values()))
    panel.grid(alpha=0.25, linewidth=0.5)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", required=True, type=pathlib.Path, help="the picture: .svg, .pdf or .png")
    options, words = parser.parse_known_args()
    try:
        data = {name: read(results) for name, results in policies(words).items()}
    except (OSError, pyfedsim.NotAResult) as error:
        raise SystemExit(f"paper_figure: {error}") from error
    chosen = PANELS if all("bytes" in rows for rows in data.values()) else PANELS[:1]
    figure, panels = plt.subplots(
        1, len(chosen), figsize=(3.4 * len(chosen), 2.7), sharey=True, squeeze=False, layout="constrained"
    )
    panels = panels[0]
    for panel, columns in zip(panels, chosen, strict=True):
        draw(panel, data, *columns)
    seeds = "–".join(str(count) for count in sorted({rows["file"].nunique() for rows in data.values()}))
    panels[0].set_ylabel(f"accuracy on the test set\n(median and range of {seeds} seeds)")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center",
                  ncols=len(data) if len(chosen) > 1 else 1)
    figure.savefig(options.output, metadata={"Date": None} if options.output.suffix == ".svg" else None)


if __name__ == "__main__":
    main()
