"""The content digest of a result file, worked out from the file with h5py and hashlib alone.

The bytes are those that the comment on ResultDocument.contentDigest names.
"""
import hashlib
import struct

import h5py
import numpy as np

LAYOUT = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST"}
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable."
TYPES = {
    "float64": "double", "float32": "float", "int64": "int64", "int32": "int", "int8": "byte", "uint8": "ubyte",
}


def word(number):
    return struct.pack("<Q", int(number) % 2**64)


def text(string):
    return word(len(string.encode())) + string.encode()


def parts(items):
    items = list(items)
    return word(len(items)) + b"".join(items)


def numbers(array):
    array = np.array(array)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    little = array.astype(array.dtype.newbyteorder("<"))
    return text(TYPES[array.dtype.name]) + word(array.size) + little.tobytes()


def attribute(name, value):
    if isinstance(value, str):
        return text(name) + text("text") + text(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return text(name) + text("texts") + parts(text(s) for s in value)
    if isinstance(value, np.ndarray):
        return text(name) + text("array") + numbers(value)
    if isinstance(value, np.uint64):
        return text(name) + text("unsigned") + word(value)
    if isinstance(value, np.integer):
        return text(name) + text("integer") + word(value)
    bits = struct.pack("<d", np.nan if np.isnan(value) else value)
    return text(name) + text("number") + bits


def attributes(owner, leave_out):
    return parts(attribute(n, v) for n, v in owner.attrs.items() if n not in LAYOUT | leave_out)


def is_axis(data):
    return data.attrs.get("CLASS") == b"DIMENSION_SCALE"


def is_bare_axis(data):
    return is_axis(data) and data.attrs["NAME"].startswith(NO_VARIABLE)


def last_name(data):
    return data.name.rsplit("/", 1)[1]


def axis_names(data):
    if is_axis(data):
        return [last_name(data)]
    return [last_name(dimension[0]) for dimension in data.dims]


def axis(data):
    return text(last_name(data)) + word(data.shape[0]) + word(data.maxshape[0] is None)


def variable(data):
    return (
        text(last_name(data)) + parts(text(n) for n in axis_names(data)) + numbers(data[()])
        + text(data.attrs["units"]) + text(data.attrs["long_name"])
        + attributes(data, {"units", "long_name"})
    )


def group(node, name):
    members = list(node.values())
    data = [m for m in members if isinstance(m, h5py.Dataset)]
    texts = [d for d in data if d.dtype.kind == "O"]
    arrays = [d for d in data if d.dtype.kind != "O"]
    return (
        text(name) + attributes(node, {"contentDigest"} if name == "" else set())
        + parts(axis(d) for d in arrays if is_axis(d))
        + parts(text(last_name(d)) + text(d.asstr()[()]) for d in texts)
        + parts(variable(d) for d in arrays if not is_bare_axis(d))
        + parts(group(m, last_name(m)) for m in members if isinstance(m, h5py.Group))
    )


def content_digest(path):
    with h5py.File(path, "r") as file:
        return hashlib.sha256(text("FedSim-1") + group(file, "")).hexdigest()
