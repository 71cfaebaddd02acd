"""Opens result files with the readers that people use, and checks what they see.

    python check_result.py RESULT.h5…  [--r TABLE] [--page docs/results.md] [--jobs N]

Prints one line for each thing checked, of several files one line each. Stops at the first that is wrong, with exit
code 1. `--r` names what read_all.R saw in the same files. `--page` names the page of all groups: each of them must
be in one of the files at least.
"""
import argparse
import contextlib
import csv
import itertools
import multiprocessing
import pathlib
import re
import subprocess
import sys

import h5py
import numpy as np
import xarray

from content_digest import axis_names, content_digest, is_bare_axis, last_name

ENGINES = ("h5netcdf", "netcdf4")
GROUPS = ("rounds", "versions", "hours", "devices", "ledger", "partition")
"""What every whole result has; what those of a later schema have besides."""
GROUPS_SINCE = {2: ("staleness", "fairness", "effort")}
UNITS = ("1", "s", "h", "J", "nJ", "byte", "seconds since 1970-01-01 00:00:00")
TYPES = ("float64", "float32", "int64", "int32", "int8", "uint8")
ATTRIBUTES = (
    "Conventions", "title", "engineVersion", "schemaVersion", "seed", "contentDigest", "eventDigest",
    "scenarioDigest", "dataDigest",
)


class Wrong(Exception):
    """Something about the file is not as it should be."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


def is_whole(file):
    return file.attrs.get("isComplete", 1) == 1


def is_of_a_journal(file):
    """Whether nothing is known but what a journal holds: rounds and versions."""
    return not is_whole(file) and "ledger" not in file


def groups_of(file):
    """The groups that a result has for certain."""
    if is_of_a_journal(file):
        return ("rounds", "versions")
    schema = int(file.attrs["schemaVersion"])
    return GROUPS + tuple(name for since, names in GROUPS_SINCE.items() if schema >= since for name in names)


def check_text(data):
    kind = h5py.check_string_dtype(data.dtype)
    require(data.shape == (), f"{data.name}: strings over axes")
    require(kind.length is None and kind.encoding == "utf-8", f"{data.name}: not variable-length UTF-8")
    data.asstr()[()]


def check_axes(data):
    for i, dimension in enumerate(data.dims):
        require(len(dimension) == 1, f"{data.name}: axis {i} has {len(dimension)} scales, not 1")
        scale = dimension[0]
        require(scale.shape == (data.shape[i],), f"{data.name}: axis {i} is as long as another scale")
        place = scale.parent.name.rstrip("/") + "/"
        require(data.name.startswith(place), f"{data.name}: the scale of axis {i} stands elsewhere, {scale.name}")
    names = axis_names(data)
    require(len(set(names)) == len(names), f"{data.name}: an axis twice: {names}")
    words = data.attrs.get("coordinates", "").split()
    for word in words:
        other = data.parent.get(word)
        require(isinstance(other, h5py.Dataset), f"{data.name}: its coordinate {word} is not in its group")
        require(set(axis_names(other)) <= set(names), f"{data.name}: its coordinate {word} has other axes")


def check_flags(data):
    values, meanings = data.attrs.get("flag_values"), data.attrs.get("flag_meanings")
    if values is None and meanings is None:
        return 0
    require(values is not None and meanings is not None, f"{data.name}: flags without meanings or values")
    require(data.dtype == np.int8 and values.dtype == np.int8, f"{data.name}: flags are not int8")
    words = meanings.split()
    require(len(values) == len(words), f"{data.name}: {len(values)} flags, other number of meanings")
    require(len(set(values)) == len(values), f"{data.name}: a flag twice")
    require(len(set(words)) == len(words), f"{data.name}: a meaning twice: {meanings}")
    require(np.isin(data[()], values).all(), f"{data.name}: a value that is no flag")
    return 1


def check_variable(data):
    require(data.dtype.name in TYPES, f"{data.name}: no number of a type that results have, but {data.dtype}")
    for name in ("units", "long_name"):
        value = data.attrs.get(name)
        require(isinstance(value, str) and value, f"{data.name}: no {name}")
    require(data.attrs["units"] in UNITS, f"{data.name}: the unit {data.attrs['units']}, expected one of {UNITS}")


def check_with_h5py(path):
    counts = {"groups": 0, "variables": 0, "axes": 0, "texts": 0, "flags": 0}
    seen = {}

    def visit(_, node):
        if isinstance(node, h5py.Group):
            counts["groups"] += 1
            seen[node.name] = {}
        elif node.dtype.kind in "OS":
            check_text(node)
            counts["texts"] += 1
            seen[node.parent.name][last_name(node)] = ((), {})
        elif is_bare_axis(node):
            counts["axes"] += 1
        else:
            if node.attrs.get("CLASS") == b"DIMENSION_SCALE":
                counts["axes"] += 1
            else:
                check_axes(node)
            check_variable(node)
            counts["flags"] += check_flags(node)
            counts["variables"] += 1
            remarks = {name: node.attrs[name] for name in ("units", "long_name", "flag_meanings") if name in node.attrs}
            seen[node.parent.name][last_name(node)] = (tuple(axis_names(node)), remarks)

    with h5py.File(path, "r") as file:
        # Of a run that goes on, or was interrupted, only what a journal holds need be there.
        for name in ATTRIBUTES:
            # Of no events there is no digest.
            require(name in file.attrs or name == "eventDigest" and is_of_a_journal(file), f"no root attribute {name}")
        for name in groups_of(file):
            require(isinstance(file.get(name), h5py.Group), f"no group {name}")
        require(file.attrs["Conventions"] == "CF-1.10 FedSim-1", "other Conventions")
        require("scenario" in file and file["scenario"].asstr()[()], "no resolved scenario")
        seen["/"] = {}
        file.visititems(visit)
        stored = file.attrs["contentDigest"]
    say("h5py: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    say("h5py: a scale on every axis, a unit and a long name on every variable, a meaning for every flag")
    require(content_digest(path) == stored, "the content digest is not that of the content")
    say(f"h5py: the content has the stored digest {stored[:12]}…")
    return seen


def check_with_xarray(path, engine, names):
    loaded = {}
    for place, expected in names.items():
        group = place.strip("/")
        # The unit of startTime is one that xarray makes dates of; all others are to be seen as they are.
        with xarray.open_dataset(path, engine=engine, group=group or None, decode_timedelta=False) as data:
            data.load()
            found = set(data.variables)
            both = found ^ set(expected)
            require(not both, f"{engine}: {place}: found {sorted(both)} too much or not")
            for name, (axes, remarks) in expected.items():
                require(data[name].dims == axes, f"{engine}: {place}/{name} is over {data[name].dims}, not {axes}")
                for remark, value in remarks.items():
                    seen = data[name].attrs.get(remark, value if name == "startTime" else None)
                    require(seen == value, f"{engine}: {place}/{name}: {remark} is {seen!r}, not {value!r}")
            loaded[group] = data
    say(f"xarray, {engine}: {len(names)} groups, {sum(map(len, names.values()))} variables loaded")
    accuracy = loaded["versions"].get("centralAccuracy")
    require(accuracy is not None, f"{engine}: no versions/centralAccuracy")
    times = [
        c for c in accuracy.coords.values()
        if c.attrs.get("units") == "s" and "simulated time" in c.attrs.get("long_name", "")
    ]
    require(len(times) == 1, f"{engine}: {len(times)} coordinates of centralAccuracy are the simulated time, not 1")
    time = times[0]
    require(time.dims == accuracy.dims, f"{engine}: {time.name} is not over the axes of centralAccuracy")
    require(np.all(np.diff(time.values) >= 0), f"{engine}: {time.name} goes backwards")
    known = accuracy.values[~np.isnan(accuracy.values)]
    require(known.size > 0 or "model" not in loaded, f"{engine}: centralAccuracy was never computed")
    require(np.all((known >= 0) & (known <= 1)), f"{engine}: centralAccuracy leaves 0…1")
    last = f"last {known[-1]:.4f}" if known.size else "never computed"
    say(f"xarray, {engine}: centralAccuracy({', '.join(accuracy.dims)}) with {time.name} in s, {last}")
    return loaded


def check_federated(versions, devices, path):
    """The summary of the last version against NumPy's from the devices' accuracies.

    Where samples are texts, each answer counts, and the file does not have how many a device's samples are.
    """
    if "federatedAccuracy" not in versions:
        return
    accuracies = devices["federatedAccuracy"].values
    samples = devices["federatedSamples"].values[~np.isnan(accuracies)]
    known = np.sort(accuracies[~np.isnan(accuracies)])
    tenth = int(np.ceil(len(known) / 10))
    expected = {
        "federatedAccuracy": known.mean(),
        "federatedAccuracyBySamples": np.average(accuracies[~np.isnan(accuracies)], weights=samples),
        "federatedAccuracyWorstTenth": known[:tenth].mean(),
        "federatedAccuracyBestTenth": known[-tenth:].mean(),
        "federatedAccuracySpread": known.std(),
        "federatedDevices": len(known),
    }
    with h5py.File(path) as file:
        is_text = any(word in file["scenario"].asstr()[()] for word in ("-lm", "tokens", "next-token"))
    if is_text:
        del expected["federatedAccuracyBySamples"]
        together = versions["federatedAccuracyBySamples"].values[-1]
        require(known[0] <= together <= known[-1], f"versions/federatedAccuracyBySamples: found {together}")
    for name, value in expected.items():
        found = versions[name].values[-1]
        require(np.isclose(found, value, rtol=0, atol=1e-12), f"versions/{name}: found {found}, NumPy says {value}")
    say(f"numpy: the federated evaluation of the last version is that of its {len(known)} devices")


def check_histograms(partition):
    for histogram, sizes in (("labelHistogram", "samples"), ("validationLabelHistogram", "validationSamples")):
        sums = partition[histogram].sum("label").values
        require(np.array_equal(sums, partition[sizes].values), f"partition/{histogram} does not add up to {sizes}")
    say("numpy: label histograms add up to the clients' samples")


def close(found, expected, what):
    require(np.isclose(found, expected, rtol=1e-12, atol=1e-9), f"{what}: found {found}, NumPy says {expected}")


def gini(values):
    """Source: the mean absolute difference of all pairs, over twice the mean."""
    ordered, n = np.sort(values), len(values)
    return (2 * np.arange(1, n + 1) - n - 1) @ ordered / (n * ordered.sum())


def check_sums(loaded):
    """What is told twice, or is a sum of something else in the file."""
    ledger, versions, devices = loaded["ledger"], loaded["versions"], loaded["devices"]
    for name in ("attempt", "update", "transmission"):
        close(ledger[f"{name}s"].sum(), ledger[f"{name}sOpened"], f"the sum of ledger/{name}s")
    for name in ("bytesUp", "bytesDown"):
        close(devices[name].sum(), ledger[name], f"the sum of devices/{name}")
    if "effort" in loaded:
        effort = loaded["effort"]
        aggregated = [effort.outcome.attrs["flag_meanings"].split().index("aggregated") == effort.outcome.values]
        for name in ("bytesUp", "bytesDown"):
            close(effort[name].sum(), ledger[name], f"the sum of effort/{name}")
            require(np.all(np.diff(versions[name]) >= 0), f"versions/{name} goes backwards")
            require(versions[name].values[-1] <= ledger[name].values, f"versions/{name} is more than the whole run's")
        seconds = effort.deviceSeconds.values
        close(devices.deviceSecondsAggregated.sum(), seconds[tuple(aggregated)].sum(), "devices/deviceSecondsAggregated")
        close(
            (devices.deviceSecondsAggregated + devices.deviceSecondsWasted).sum(), seconds.sum(),
            "the sum of devices/deviceSecondsAggregated and deviceSecondsWasted",
        )
    if "staleness" in loaded:
        close(loaded["staleness"].updates.sum(), versions.updates.sum(), "the sum of staleness/updates")
    if "labelShare" in versions:
        sums = versions.labelShare.sum("label", skipna=False).values
        require(np.all(np.isnan(sums) | (np.abs(sums - 1) < 1e-5)), "versions/labelShare does not add up to 1")
    if "fairness" in loaded:
        for name, values in (("Participation", devices.aggregated), ("Samples", devices.samplesAggregated)):
            values = values.values.astype(float)
            if values.any():
                fairness = loaded["fairness"]
                close(fairness[f"gini{name}"], gini(values), f"fairness/gini{name}")
                jain = values.sum() ** 2 / (len(values) * (values**2).sum())
                close(fairness[f"jain{name}"], jain, f"fairness/jain{name}")
    say("numpy: what is a sum of something else in the file adds up")


def check_command(path, *command):
    run = subprocess.run([*command, path], capture_output=True, text=True)
    name = " ".join(command)
    require(run.returncode == 0, f"{name}: exit code {run.returncode}: {run.stderr.strip()[-200:]}")
    require("centralAccuracy" in run.stdout, f"{name}: does not show centralAccuracy")
    say(f"{name}: {len(run.stdout.splitlines())} lines")


def check_tree(path, loaded):
    with xarray.open_datatree(path, engine="h5netcdf", decode_timedelta=False) as tree:
        found = {node.path.strip("/"): node.to_dataset(inherit=False).load() for node in tree.subtree}
    require(found.keys() == loaded.keys(), f"open_datatree: other groups: {sorted(found.keys() ^ loaded.keys())}")
    for group, data in loaded.items():
        require(data.equals(found[group]), f"open_datatree: /{group} has other values")
    say(f"xarray: open_datatree sees the same {len(found)} groups")


def check_with_r(path, rows):
    """What R's ncdf4 saw, row by row, against what h5py sees."""
    names = set()
    with h5py.File(path, "r") as file:
        for row in rows:
            name, count, kind = row["name"], int(row["count"]), row["kind"]
            names.add(name)
            node = file[name]
            if kind == "text":
                require(float(row["sum"]) == len(node.asstr()[()].encode()), f"R: {name} has another length")
                continue
            values = np.asarray(node[()], dtype=float).reshape(-1)
            require(count == values.size, f"R: {name}: {count} values, h5py sees {values.size}")
            require(row["units"] == node.attrs["units"], f"R: {name}: the unit {row['units']}")
            require(int(row["missing"]) == np.isnan(values).sum(), f"R: {name}: {row['missing']} missing")
            known = values[~np.isnan(values)]
            close = np.isclose(float(row["sum"]), known.sum(), rtol=0, atol=1e-9 * (1 + np.abs(known).sum()))
            require(close, f"R: {name}: the sum {row['sum']}, h5py says {known.sum()}")
            for end, place in (("first", 0), ("last", -1)):
                if count and not np.isnan(values[place]):
                    require(float(row[end]) == values[place], f"R: {name}: {end} is {row[end]}, not {values[place]}")
        expected = []
        file.visititems(lambda n, o: expected.append(n) if isinstance(o, h5py.Dataset) and not is_bare_axis(o) else None)
    missed = names ^ set(expected)
    require(not missed, f"R: found {sorted(missed)} too much or not")
    say(f"R: {len(names)} variables, texts and axes as h5py sees them")


LINES = []


def say(line):
    LINES.append(line)


def check(path):
    """Checks a file; the names of its groups."""
    names = check_with_h5py(path)
    first, second = (check_with_xarray(path, engine, names) for engine in ENGINES)
    for group, data in first.items():
        require(data.equals(second[group]), f"/{group}: the two engines of xarray see different values")
    say("xarray: both engines see the same values")
    if is_whole(first[""]):
        check_tree(path, first)
        check_federated(first["versions"], first["devices"], path)
        check_sums(first)
    if "partition" in first and "labelHistogram" in first["partition"]:
        check_histograms(first["partition"])
    check_command(path, "ncdump", "-h")
    check_command(path, "ncdump")
    check_command(path, "h5dump", "-H")
    return {name.strip("/") for name in names} - {""}


def rows_of(table):
    """The rows of read_all.R by file."""
    found = {}
    with open(table, newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            found.setdefault(row["file"], []).append({key: value.strip() for key, value in row.items()})
    return found


def check_one(path, rows):
    """What there is to say of a file, and the names of its groups."""
    LINES.clear()
    try:
        found = check(path)
        if rows is not None:
            check_with_r(path, rows)
    except (Wrong, OSError, KeyError, ValueError) as error:
        raise Wrong(f"{path}: {error}") from error
    return list(LINES), found


def check_all(arguments):
    seen = rows_of(arguments.r) if arguments.r else {}
    groups = set()
    work = [(path, seen.get(path, []) if arguments.r else None) for path in arguments.results]
    # The order of what is said is that of the files.
    with multiprocessing.Pool(arguments.jobs) if arguments.jobs > 1 else contextlib.nullcontext() as pool:
        checked = pool.starmap(check_one, work, chunksize=1) if pool else itertools.starmap(check_one, work)
        for path, (lines, found) in zip(arguments.results, checked, strict=True):
            groups |= found
            if len(arguments.results) == 1:
                print("\n".join(lines))
            print(f"{path}: as it should be ({lines[0].removeprefix('h5py: ')})", flush=True)
    if arguments.page:
        text = pathlib.Path(arguments.page).read_text()
        described = re.findall(r"^## (.*)$", text, re.MULTILINE)
        wanted = {name for line in described for name in re.findall(r"`([A-Za-z/]+)`", line)}
        tops = {name.split("/")[0] for name in groups} | groups
        require(wanted, f"{arguments.page} describes no group")
        require(wanted <= tops, f"no file has the groups {sorted(wanted - tops)} of {arguments.page}")
        print(f"all {len(wanted)} groups of {arguments.page} are in one of the files")


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results", nargs="+")
    parser.add_argument("--r", metavar="TABLE")
    parser.add_argument("--page")
    parser.add_argument("--jobs", type=int, default=1)
    try:
        check_all(parser.parse_args(arguments))
    except Wrong as error:
        print(f"check_result: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
