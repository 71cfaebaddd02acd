"""Exports results in every format, reads them as others would, and compares all of it with what h5py sees.

    python check_export.py FEDSIM RESULT.h5…

FEDSIM is the command. Prints a line a result. Stops at the first difference, with exit code 1.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import pandas as pd
import safetensors
import safetensors.numpy

from content_digest import axis_names, is_bare_axis


class Wrong(Exception):
    """An export is not what the result says."""


def require(condition, message):
    if not condition:
        raise Wrong(message)


def same(found, expected):
    """Whether two arrays have the same type, shape and bits, any NaN being like any other."""
    found, expected = np.asarray(found), np.asarray(expected)
    if found.dtype != expected.dtype or found.shape != expected.shape:
        return False
    if found.dtype.kind != "f":
        return np.array_equal(found, expected)
    known = ~np.isnan(expected)
    # Zero and minus zero are equal, and are not the same.
    signs = np.array_equal(np.signbit(found[known]), np.signbit(expected[known]))
    return np.array_equal(found, expected, equal_nan=True) and signs


def contents(path):
    """The variables and texts of a result, by their paths, in the order of the file."""
    variables, texts = {}, {}
    with h5py.File(path, "r") as file:
        def visit(name, node):
            if isinstance(node, h5py.Dataset) and not is_bare_axis(node):
                if node.dtype.kind in "OS":
                    texts[name] = node.asstr()[()]
                else:
                    variables[name] = (node[()], axis_names(node), dict(node.attrs))
        file.visititems(visit)
        attributes = dict(file.attrs)
    return variables, texts, attributes


def export(command, result, target, *more):
    done = subprocess.run([command, "export", result, "--to", target, *more], capture_output=True, text=True)
    require(done.returncode == 0, f"export {' '.join(more)}: exit code {done.returncode}: {done.stderr}")
    require(done.stdout.startswith(f"wrote {target}: "), f"it said {done.stdout!r}")


def check_npz(command, result, folder):
    variables, texts, _ = contents(result)
    export(command, result, f"{folder}/a.npz")
    with np.load(f"{folder}/a.npz") as archive:
        found = {name: archive[name] for name in archive.files}
    require(found.keys() == variables.keys() | texts.keys() | {"schema.json"}, "NPZ: other names")
    for name, (values, _, _) in variables.items():
        require(same(found[name], values), f"NPZ: {name} has other values")
    for name, text in texts.items():
        require(str(found[name]) == text, f"NPZ: {name} has another text")
    schema = json.loads(str(found["schema.json"]))
    require(schema["variables"].keys() == variables.keys(), "NPZ: schema.json has other variables")
    for name, (values, axes, attributes) in variables.items():
        entry = schema["variables"][name]
        require(entry["axes"] == axes and entry["units"] == attributes["units"], f"NPZ: schema.json: {name}")
        require(entry["longName"] == attributes["long_name"], f"NPZ: schema.json: the name of {name}")
        for key in ("flag_meanings", "comment", "coordinates"):
            require(entry["attributes"].get(key) == attributes.get(key), f"NPZ: schema.json: {key} of {name}")
        lengths = [length for axis in axes for length in [axis_length(schema, name, axis)]]
        require(tuple(lengths) == values.shape, f"NPZ: schema.json: the axes of {name}")
    return len(variables)


def axis_length(schema, name, axis):
    place = f"/{name}".rsplit("/", 1)[0] or "/"
    while axis not in schema["groups"][place]["axes"]:
        place = place.rsplit("/", 1)[0] or "/"
    return schema["groups"][place]["axes"][axis]


def check_csv(command, result, folder):
    variables, texts, root = contents(result)
    export(command, result, f"{folder}/csv", "--format", "csv")
    place = pathlib.Path(folder, "csv")
    schema = pd.read_csv(place / "schema.csv", keep_default_na=False)
    files = {path.name for path in place.iterdir()}
    require(files == set(schema["file"]) | {"schema.csv"}, f"CSV: {files ^ set(schema['file'])}")
    seen = set()
    for name, rows in schema.groupby("file", sort=False):
        if name.endswith(".csv") and rows["role"].iloc[0] != "remarks":
            seen |= check_table(place / name, rows, variables)
        elif rows["role"].iloc[0] == "text":
            path = f"{rows['group'].iloc[0]}/{rows['variable'].iloc[0]}".strip("/")
            require((place / name).read_bytes().decode() == texts.pop(path), f"CSV: the text {path}")
    require(not texts, f"CSV: no files for the texts {sorted(texts)}")
    require(seen == set(variables), f"CSV: {sorted(seen ^ set(variables))} too much or not")
    remarks = pd.read_csv(place / "metadata.csv", keep_default_na=False, dtype=str)
    own = remarks[(remarks["group"] == "/") & (remarks["variable"] == "")].set_index("attribute")["value"]
    require(own.to_dict() == {key: str(value) for key, value in root.items()}, "CSV: metadata.csv: the root")
    return len(files)


def check_table(path, rows, variables):
    """One table: pandas reads its numbers to the same bits, and words to the same codes."""
    types = {"double": np.float64, "float": np.float32, "int64": np.int64, "int": np.int32, "byte": np.int8,
             "ubyte": np.uint8, "category": str}
    table = pd.read_csv(
        path, dtype={row.column: types[row.type] for row in rows.itertuples()},
        keep_default_na=False, na_values={row.column: ["NaN"] for row in rows.itertuples() if row.type != "category"},
    )
    require(table.columns.tolist() == rows["column"].tolist(), f"CSV: {path.name} has other columns")
    axes = rows[rows["role"] != "variable"]["column"].tolist()
    seen = set()
    for row in rows.itertuples():
        found = table[row.column].to_numpy()
        if row.role == "place":
            # With the axes before it, it counts up like an odometer.
            shape = [table[axis].nunique() for axis in axes]
            if all(shape):
                expected = np.indices(shape)[axes.index(row.column)].reshape(-1)
                require(np.array_equal(found, expected), f"CSV: {path.name}: places along {row.column}")
            continue
        name = f"{row.group}/{row.variable}".strip("/")
        seen.add(name)
        values, own, attributes = variables[name]
        require(row.axes.split() == own and row.units == attributes["units"], f"CSV: schema.csv: {name}")
        require(row.longName == attributes["long_name"], f"CSV: schema.csv: the long name of {name}")
        if row.type == "category":
            codes = dict(pair.split("=", 1)[::-1] for pair in row.categories.split())
            require(list(codes) == attributes["flag_meanings"].split(), f"CSV: schema.csv: categories of {name}")
            found = np.array([int(codes[word]) for word in found], dtype=np.int8)
        if row.role == "axis":  # Repeated for each place of the other axes.
            shape = [table[axis].nunique() for axis in axes]
            require(not all(shape) or np.prod(shape) == len(table), f"CSV: {path.name} lacks rows")
            values = values[np.indices(shape)[axes.index(row.column)].reshape(-1)] if all(shape) else values[:0]
        require(same(found.astype(values.dtype), np.reshape(values, -1)), f"CSV: {path.name}: {row.column} differs")
    return seen


def model_groups(variables):
    found = {}
    for name, (values, _, attributes) in variables.items():
        if "tensor" in attributes:
            found.setdefault(name.split("/")[0], {})[attributes["tensor"]] = values
    return found


def check_safetensors(command, result, folder):
    variables, texts, root = contents(result)
    models = model_groups(variables)
    for group, tensors in models.items():
        path = f"{folder}/{group}.safetensors"
        export(command, result, path, *([] if group == "model" else ["--group", group]))
        found = safetensors.numpy.load_file(path)
        require(found.keys() == tensors.keys(), f"safetensors: {group} has other tensors")
        for name, values in tensors.items():
            require(same(found[name], values), f"safetensors: {group}: {name} has other values")
        with safetensors.safe_open(path, framework="np") as file:
            metadata = file.metadata()
        require(metadata["group"] == group and metadata["scenario"] == texts["scenario"], "safetensors: metadata")
        for key in ("seed", "contentDigest", "engineVersion", "title"):
            require(metadata[key] == str(root[key]), f"safetensors: metadata: {key}")
    return models


def check_backend(command, result, folder, model):
    """The fields of the backend's answer to GET /api/model/latest."""
    variables, _, _ = contents(result)
    with h5py.File(result) as file:
        version = int(file["model"].attrs["version"])
    if version == 0:
        return
    export(command, result, f"{folder}/latest.json")
    answer = json.loads(pathlib.Path(folder, "latest.json").read_text())
    require(list(answer) == ["model_available", "version", "weights", "aggregation_timestamp", "participating_devices",
                             "average_accuracy"], f"JSON: {list(answer)}")
    require(answer["model_available"] is True and answer["version"] == version, "JSON: the version")
    row = variables["versions/version"][0].tolist().index(version)
    require(answer["participating_devices"] == variables["versions/devices"][0][row], "JSON: the devices")
    accuracy = variables.get("versions/averageAccuracy", variables["versions/validationAccuracy"])[0][row]
    found = np.nan if answer["average_accuracy"] is None else answer["average_accuracy"]
    require(same(np.float64(found), accuracy), f"JSON: the accuracy is {found}, not {accuracy}")
    start, since = variables["startTime"][0], variables["versions/publishedAt"][0][row]
    civil = np.datetime64(int(start), "s") + np.timedelta64(round(float(since) * 1e6), "us")
    require(np.datetime64(answer["aggregation_timestamp"]) == civil, f"JSON: {answer['aggregation_timestamp']}")
    require(answer["weights"].keys() == model.keys(), "JSON: other tensors")
    for name, values in model.items():
        found = np.array([np.nan if x is None else x for x in answer["weights"][name]], dtype=np.float64)
        require(same(found.astype(np.float32), values.reshape(-1)), f"JSON: {name} has other values")


def check(command, result):
    with tempfile.TemporaryDirectory() as folder:
        arrays = check_npz(command, result, folder)
        tables = check_csv(command, result, folder)
        models = check_safetensors(command, result, folder)
        if "model" in models:
            check_backend(command, result, folder, models["model"])
    print(f"{result}: {arrays} arrays by NumPy, {tables} tables by pandas, {len(models)} models by safetensors: equal",
          flush=True)


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    for result in arguments[1:]:
        try:
            check(arguments[0], result)
        except (Wrong, OSError, KeyError, ValueError) as error:
            print(f"check_export: {result}: {type(error).__name__}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
