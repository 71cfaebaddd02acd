"""Makes Tests/DataSetsTests/Fixtures: small data files by NumPy and zlib, as others would write them.

Run from the root of the project: python3 Tests/Fixtures-scripts/make_data_files.py
The expected values stand in the tests, worked out by hand from the lines below.
"""

import gzip
import pathlib
import struct
import zlib

import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "DataSetsTests" / "Fixtures"


def idx(shape, values):
    head = struct.pack(">BBBB", 0, 0, 8, len(shape))
    return head + struct.pack(f">{len(shape)}I", *shape) + bytes(values)


def idx_files():
    images = idx([3, 2, 4], [10 * i for i in range(24)])
    (FOLDER / "images.idx").write_bytes(images)
    (FOLDER / "images.idx.gz").write_bytes(gzip.compress(images, mtime=0))
    members = gzip.compress(images[:20], mtime=0) + gzip.compress(images[20:], mtime=0)
    (FOLDER / "two-members.gz").write_bytes(members)
    (FOLDER / "labels.idx").write_bytes(idx([3], [2, 0, 1]))


def npy_files():
    for kind in ["<f4", "<f8"]:
        np.save(FOLDER / f"{kind[1:]}.npy", (np.arange(6).reshape(2, 3) * 0.5 - 1).astype(kind))
    for kind in ["|i1", "<i4", "<i8", "|u1", "<u2", "<u4"]:
        top = min(np.iinfo(kind).max, 2**53)
        np.save(FOLDER / f"{kind[1:]}.npy", np.array([0, 7, top], dtype=kind))
    np.save(FOLDER / "b1.npy", np.array([[True], [False]]))
    np.save(FOLDER / "fortran.npy", np.asfortranarray(np.arange(12, dtype="<f4").reshape(2, 3, 2)))
    np.save(FOLDER / "number.npy", np.float64(2.5))
    np.save(FOLDER / "text.npy", np.array("größe 😀"))
    np.save(FOLDER / "no-text.npy", np.array(""))
    np.save(FOLDER / "nothing.npy", np.zeros((0, 3), dtype="<i4"))
    with open(FOLDER / "version2.npy", "wb") as file:
        np.lib.format.write_array(file, np.array([1, 2, 3], dtype="<i4"), version=(2, 0))
    np.save(FOLDER / "objects.npy", np.array([{}, None], dtype=object), allow_pickle=True)
    np.save(FOLDER / "big-endian.npy", np.array([1.0], dtype=">f4"))
    np.save(FOLDER / "records.npy", np.zeros(2, dtype=[("a", "<f4"), ("b", "<i4")]))


def zip64(contents, name):
    """One stored member whose sizes and place stand in zip64 fields alone, with a zip64 end."""
    checksum = zlib.crc32(contents)
    size = len(contents)
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 45, 0, 0, 0, 0x21, checksum, 2**32 - 1,
                        2**32 - 1, len(name), 20)
    local += name + struct.pack("<HHQQ", 1, 16, size, size) + contents
    entry = struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 45, 45, 0, 0, 0, 0x21, checksum, 2**32 - 1,
                        2**32 - 1, len(name), 28, 0, 0, 0, 0, 2**32 - 1)
    entry += name + struct.pack("<HHQQQ", 1, 24, size, size, 0)
    end64 = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, len(entry), len(local))
    locator = struct.pack("<IIQI", 0x07064B50, 0, len(local) + len(entry), 1)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, 0xFFFF, 0xFFFF, 2**32 - 1, 2**32 - 1, 0)
    return local + entry + end64 + locator + end


def npz_files():
    arrays = {
        "hidden.weight": (np.arange(6).reshape(2, 3) * 0.5 - 1).astype("<f4"),
        "hidden.bias": np.zeros(200, dtype="<f4"),
        "steps": np.array([40], dtype="<i8"),
    }
    np.savez(FOLDER / "stored.npz", **arrays)
    np.savez_compressed(FOLDER / "deflated.npz", **arrays)
    contents = (FOLDER / "i4.npy").read_bytes()
    (FOLDER / "zip64.npz").write_bytes(zip64(contents, b"i4.npy"))
    np.savez(FOLDER / "partition.npz", samples=np.array([4, 0, 3, 1]), offsets=np.array([0, 1, 4]))
    assert np.load(FOLDER / "zip64.npz")["i4"][1] == 7


FOLDER.mkdir(exist_ok=True)
idx_files()
npy_files()
npz_files()
