"""Opens a result file with the readers that people use, and checks what they see.

    python check_result.py RESULT.h5

Prints one line for each thing checked. Stops at the first that is wrong, with exit code 1.
"""
import subprocess
import sys

import h5py
import numpy as np
import xarray

from content_digest import content_digest, is_bare_axis, last_name

ENGINES = ("h5netcdf", "netcdf4")
GROUPS = ("rounds", "versions", "devices", "ledger", "partition")
ATTRIBUTES = (
    "Conventions", "title", "engineVersion", "schemaVersion", "seed", "contentDigest", "eventDigest",
    "scenarioDigest",
)


class Wrong(Exception):
    """Something about the file is not as it should be."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


def is_whole(file):
    return file.attrs.get("isComplete", 1) == 1


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


def check_flags(data):
    values, meanings = data.attrs.get("flag_values"), data.attrs.get("flag_meanings")
    if values is None and meanings is None:
        return 0
    require(values is not None and meanings is not None, f"{data.name}: flags without meanings or values")
    require(data.dtype == np.int8 and values.dtype == np.int8, f"{data.name}: flags are not int8")
    require(len(values) == len(meanings.split()), f"{data.name}: {len(values)} flags, other number of meanings")
    require(np.isin(data[()], values).all(), f"{data.name}: a value that is no flag")
    return 1


def check_variable(data):
    require(data.dtype.kind in "fiu", f"{data.name}: neither numbers nor a text, but {data.dtype}")
    for name in ("units", "long_name"):
        value = data.attrs.get(name)
        require(isinstance(value, str) and value, f"{data.name}: no {name}")


def check_with_h5py(path):
    counts = {"groups": 0, "variables": 0, "axes": 0, "texts": 0, "flags": 0}

    def visit(_, node):
        if isinstance(node, h5py.Group):
            counts["groups"] += 1
        elif node.dtype.kind in "OS":
            check_text(node)
            counts["texts"] += 1
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

    with h5py.File(path, "r") as file:
        # Of a run that goes on, or was interrupted, only what a journal holds need be there.
        for name in GROUPS if is_whole(file) else ("rounds", "versions"):
            require(isinstance(file.get(name), h5py.Group), f"no group {name}")
        for name in ATTRIBUTES:
            require(name in file.attrs, f"no root attribute {name}")
        require(file.attrs["Conventions"] == "CF-1.10 FedSim-1", "other Conventions")
        require("scenario" in file and file["scenario"].asstr()[()], "no resolved scenario")
        file.visititems(visit)
        stored = file.attrs["contentDigest"]
        groups = [""]
        file.visititems(lambda n, o: groups.append(n) if isinstance(o, h5py.Group) else None)
        names = {
            g: {last_name(d) for d in file[g or "/"].values() if isinstance(d, h5py.Dataset) and not is_bare_axis(d)}
            for g in groups
        }
    print("h5py: " + ", ".join(f"{n} {what}" for what, n in counts.items()))
    print("h5py: a scale on every axis, a unit and a long name on every variable, a meaning for every flag")
    require(content_digest(path) == stored, "the content digest is not that of the content")
    print(f"h5py: the content has the stored digest {stored[:12]}…")
    return names


def check_with_xarray(path, engine, names):
    loaded = {}
    for group, expected in names.items():
        with xarray.open_dataset(path, engine=engine, group=group or None) as data:
            data.load()
            found = set(data.variables)
            require(found == expected, f"{engine}: /{group}: found {sorted(found ^ expected)} too much or not")
            loaded[group] = data
    print(f"xarray, {engine}: {len(names)} groups, {sum(map(len, names.values()))} variables loaded")
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
    require(known.size > 0, f"{engine}: centralAccuracy was never computed")
    require(np.all((known >= 0) & (known <= 1)), f"{engine}: centralAccuracy leaves 0…1")
    print(f"xarray, {engine}: centralAccuracy({', '.join(accuracy.dims)}) with {time.name} in s, last {known[-1]:.4f}")
    return loaded


def check_federated(versions, devices):
    """The summary of the last version against NumPy's from the devices' accuracies."""
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
    for name, value in expected.items():
        found = versions[name].values[-1]
        require(np.isclose(found, value, rtol=0, atol=1e-12), f"versions/{name}: found {found}, NumPy says {value}")
    print(f"numpy: the federated evaluation of the last version is that of its {len(known)} devices")


def check_histograms(partition):
    for histogram, sizes in (("labelHistogram", "samples"), ("validationLabelHistogram", "validationSamples")):
        sums = partition[histogram].sum("label").values
        require(np.array_equal(sums, partition[sizes].values), f"partition/{histogram} does not add up to {sizes}")
    print("numpy: label histograms add up to the clients' samples")


def check_command(path, *command):
    run = subprocess.run([*command, path], capture_output=True, text=True)
    name = " ".join(command)
    require(run.returncode == 0, f"{name}: exit code {run.returncode}: {run.stderr.strip()[-200:]}")
    require("centralAccuracy" in run.stdout, f"{name}: does not show centralAccuracy")
    print(f"{name}: {len(run.stdout.splitlines())} lines")


def check(path):
    names = check_with_h5py(path)
    first, second = (check_with_xarray(path, engine, names) for engine in ENGINES)
    for group, data in first.items():
        require(data.equals(second[group]), f"/{group}: the two engines of xarray see different values")
    print("xarray: both engines see the same values")
    if is_whole(first[""]):
        check_federated(first["versions"], first["devices"])
    if "partition" in first:
        check_histograms(first["partition"])
    check_command(path, "ncdump", "-h")
    check_command(path, "ncdump")
    check_command(path, "h5dump", "-H")


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    try:
        check(arguments[0])
    except (Wrong, OSError, KeyError, ValueError) as error:
        print(f"check_result: {arguments[0]}: {error}", file=sys.stderr)
        return 1
    print(f"{arguments[0]}: as it should be")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
