"""Makes Tests/DataSetsTests/Fixtures/readers: small data sets in the formats that readers read.

Run from the root of the project, with numpy and h5py (Tests/Readers/make-venv.sh installs both):
  python Tests/Fixtures-scripts/make_reader_files.py
The expected values stand in the tests, worked out by hand from the lines below.
"""

import json
import pathlib

import h5py
import numpy as np

FOLDER = pathlib.Path(__file__).parent.parent / "DataSetsTests" / "Fixtures" / "readers"


def image(first):
    """3,072 bytes: pixel p of colour c is (first + p + 80 c) mod 256."""
    return bytes((first + p + 80 * c) % 256 for c in range(3) for p in range(1024))


def cifar_files():
    ten = FOLDER / "cifar-10-batches-bin"
    ten.mkdir(exist_ok=True)
    for batch in range(1, 6):
        (ten / f"data_batch_{batch}.bin").write_bytes(bytes([batch]) + image(batch))
    (ten / "test_batch.bin").write_bytes(bytes([9]) + image(9) + bytes([0]) + image(0))
    hundred = FOLDER / "cifar-100-binary"
    hundred.mkdir(exist_ok=True)
    (hundred / "train.bin").write_bytes(bytes([19, 99]) + image(1) + bytes([3, 0]) + image(2))
    (hundred / "test.bin").write_bytes(bytes([0, 50]) + image(3))


def array_files():
    arrays = {
        "x_train": np.arange(12, dtype="<f4").reshape(3, 2, 2) / 4,
        "y_train": np.array([0, 2, 1], dtype="<i8"),
        "x_test": np.arange(8, dtype="<f4").reshape(2, 2, 2),
        "y_test": np.array([[1], [0]], dtype="<i4"),
        "owner": np.array([7, -1, 7], dtype="<i8"),
        "bytes": np.arange(12, dtype="|u1").reshape(3, 2, 2),
        "counts": np.arange(12, dtype="<i4").reshape(3, 2, 2),
        "large": np.array([[[0, 0], [0, 2**24 + 1]]] * 3, dtype="<i8"),
        "nan": np.array([[[0, 0], [0, 0]], [[0, 0], [np.nan, 0]], [[0, 0], [0, 0]]], dtype="<f4"),
        "wide": np.full((3, 2, 2), 1e300),
        "flags": np.zeros((3, 2, 2), dtype=bool),
        "flat": np.arange(3, dtype="<f4"),
        "empty": np.zeros((0, 2, 2), dtype="<f4"),
        "hollow": np.zeros((3, 0), dtype="<f4"),
        "four": np.array([0, 1, 2, 0], dtype="<i8"),
        "reals": np.array([0.0, 1.0, 2.0]),
        "negative": np.array([0, -1, 2], dtype="<i8"),
        "huge": np.array([0, 1 << 40, 2], dtype="<i8"),
        "other": np.zeros((2, 4), dtype="<f4"),
    }
    np.savez_compressed(FOLDER / "arrays.npz", **arrays)
    for name in ["x_train", "y_train", "x_test", "y_test"]:
        np.save(FOLDER / f"{name}.npy", arrays[name])


def leaf_files():
    def write(name, users, samples, **more):
        data = {user: {"x": x, "y": y} for user, (x, y) in samples.items()}
        whole = {"users": users, "num_samples": [len(samples[u][1]) for u in users],
                 "user_data": data, **more}
        path = FOLDER / "leaf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(whole))

    write("train/a.json", ["f1", "f0"],
          {"f0": ([[0.5, 1, -2e-3], [4, 5, 6]], [0, 2]), "f1": ([[7, 8, 9]], [1])},
          hierarchies=[])
    write("train/b.json", ["ü"], {"ü": ([[[1], [2], [3]]], [2])})
    write("test/a.json", ["f1"], {"f1": ([[1, 1, 1]], [0])})


def hdf5_file(name, clients):
    with h5py.File(FOLDER / name, "w") as file:
        group = file.create_group("examples")
        for client, arrays in clients.items():
            members = group.create_group(client)
            for key, values in arrays.items():
                members.create_dataset(key, data=values)


def tff_files():
    def floats(*values):
        return np.array(values, dtype="<f4").reshape(-1, 2, 1)

    def labels(*values):
        return np.array(values, dtype="<i4")

    good = {"pixels": floats(0.25, 1), "label": labels(1)}
    hdf5_file("train.h5", {
        "f2": {"pixels": floats(1, 2, 3, 4), "label": labels(0, 2), "id": np.array([b"a", b"b"])},
        "f1": {"pixels": floats(5, 6), "label": labels(1)},
        "f3": {"pixels": np.zeros((0, 2, 1), dtype="<f4"), "label": labels()},
    })
    hdf5_file("test.h5", {"f1": good})
    hdf5_file("bytes.h5", {"a": {"pixels": np.array([[1, 255]], dtype="u1"), "label": labels(1)}})
    spoilt = {
        "no-label": {"pixels": good["pixels"], "lable": labels(1)},
        "counts": {"pixels": good["pixels"], "label": labels(1, 0)},
        "nan": {"pixels": floats(0, np.nan), "label": labels(1)},
        "range": {"pixels": good["pixels"], "label": labels(3)},
        "below": {"pixels": good["pixels"], "label": labels(-1)},
        "reals": {"pixels": good["pixels"], "label": np.array([1.0])},
        "texts": {"pixels": np.array([b"abc"]), "label": labels(1)},
        "large": {"pixels": np.array([[2**24 + 1, 0]], dtype="<i8"), "label": labels(1)},
        "complex": {"pixels": np.array([[1j, 0]]), "label": labels(1)},
        "shape": {"pixels": np.zeros((1, 3), dtype="<f4"), "label": labels(1)},
        "bytes": {"pixels": np.array([[[1], [2]]], dtype="u1"), "label": labels(1)},
        "empty": {"pixels": np.zeros((0, 2, 1), dtype="<f4"), "label": labels()},
    }
    for name, arrays in spoilt.items():
        first = {} if name in ["empty"] else {"a": good}
        hdf5_file(f"spoilt-{name}.h5", {**first, "b": arrays})
    # Shapes of 2^31 numbers of which none is stored, as a spoiled header may claim them.
    for name, claimed in {"claim": "pixels", "claimed-labels": "label"}.items():
        hdf5_file(f"spoilt-{name}.h5", {"a": good, "b": {**good}})
        with h5py.File(FOLDER / f"spoilt-{name}.h5", "a") as file:
            members = file["examples/b"]
            del members[claimed]
            shape = (2**30, 2, 1) if claimed == "pixels" else (2**31,)
            members.create_dataset(
                claimed, shape=shape, dtype="<f4" if claimed == "pixels" else "<i4",
                chunks=(1024, *shape[1:]))
    with h5py.File(FOLDER / "spoilt-group.h5", "w") as file:
        file.create_group("exmples")
    with h5py.File(FOLDER / "spoilt-member.h5", "w") as file:
        file.create_group("examples").create_dataset("a", data=labels(1))


FOLDER.mkdir(parents=True, exist_ok=True)
cifar_files()
array_files()
leaf_files()
tff_files()
