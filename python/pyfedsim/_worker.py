"""The process in which a trainer runs: `python -m pyfedsim._worker`, started by the command `fedsim`.

Requests come on standard input and answers go to what was standard output: eight bytes with the length, then the
bytes. Parameters are in the memory of descriptor 3. What a trainer prints goes to standard error.
"""
from __future__ import annotations

import json
import mmap
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pyfedsim._pipe import Pipe, Wrong, digest, fault, load, pack, unpack, versions

import numpy as np
from numpy.typing import NDArray

from pyfedsim._trainer import Parameters, Split, Sums, Trainer

FORMAT = 1
MEMORY = 3


def main() -> int:
    """Serves a run until its pipe ends."""
    pipe = Pipe("trainer: ")
    begin = json.loads(pipe.receive() or b"{}")
    try:
        if begin.get("format") != FORMAT:
            raise Wrong("the command fedsim is of another version than the package pyfedsim")
        trainer = make(begin["folder"], begin["trainer"], json.loads(begin["settings"]))
        desk = Desk(trainer, MEMORY)
        statement, arrays = desk.statement()
    except BaseException as error:  # whatever the code of a user raises, even SystemExit
        pipe.send(json.dumps({**_empty(), "fault": fault(error)}).encode())
        return 1
    pipe.send(json.dumps({**statement, "digest": digest(begin["trainer"])}).encode())
    for array in arrays:
        pipe.send(array.astype("<i4").tobytes())
    while (request := pipe.receive()) is not None:
        try:
            answer = struct.pack("<q", 0) + desk.answer(request)
        except BaseException as error:
            answer = struct.pack("<q", 1) + json.dumps(fault(error)).encode()
        pipe.send(answer)
    return 0


def make(folder: str, source: str, settings: Mapping[str, Any]) -> Trainer:
    """The trainer that `module:function` makes; the module is looked for in the folder first."""
    trainer = load(folder, source)(**settings)
    if not isinstance(trainer, Trainer):
        raise Wrong(f"{source} returned {type(trainer).__name__}, expected a pyfedsim.Trainer")
    return trainer


class Desk:
    """A trainer, and the memory that its parameters come and go in."""

    def __init__(self, trainer: Trainer, descriptor: int) -> None:
        self.trainer = trainer
        self.layout = [(name, tuple(int(extent) for extent in shape)) for name, shape in trainer.layout]
        self.sizes = [int(np.prod(shape, dtype=np.int64)) for _, shape in self.layout]
        self.count = sum(self.sizes)
        self._descriptor = descriptor
        self._memory: mmap.mmap | None = None
        self._views: dict[tuple[int, bool], Parameters] = {}

    # Statement

    def statement(self) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """What the trainer has, and its labels and owners."""
        trainer = self.trainer
        statistics = list(trainer.statistics)
        unknown = set(statistics) - {name for name, _ in self.layout}
        if unknown:
            raise Wrong(f"statistics names {sorted(unknown)}, which the layout has not")
        given = trainer.labels
        labels = np.zeros(trainer.training_samples, np.int64) if given is None else np.asarray(given).astype(np.int64)
        if len(labels) != trainer.training_samples:
            raise Wrong(f"labels are {len(labels)}, expected one for each of {trainer.training_samples} training samples")
        classes = trainer.classes or (int(labels.max()) + 1 if len(labels) else 1)
        arrays: list[NDArray[Any]] = [labels]
        clients: list[str] | None = None
        if trainer.owners is not None:
            places: dict[str, int] = {}
            arrays.append(_numbers(trainer.owners, places, "owners", trainer.training_samples))
            if trainer.test_owners is not None:
                arrays.append(_numbers(trainer.test_owners, places, "test_owners", trainer.test_samples))
            clients = list(places)
        statement: dict[str, Any] = {
            **_empty(),
            "name": type(trainer).__name__,
            "tensors": [
                {"name": name, "shape": list(shape), "isStatistic": name in statistics} for name, shape in self.layout
            ],
            "train": int(trainer.training_samples),
            "test": int(trainer.test_samples),
            "classes": classes,
            "clients": clients,
            "hasTestOwners": clients is not None and trainer.test_owners is not None,
            "operations": trainer.operations_per_sample,
            "values": trainer.values_per_sample,
            "versions": versions(),
        }
        return statement, arrays

    # Requests

    def answer(self, request: bytes) -> bytes:
        """Does what is asked for; what the answer says."""
        kind = struct.unpack_from("<q", request)[0]
        if kind == 1:
            seed, size = struct.unpack_from("<Qq", request, 8)
            self._map(size)
            self._copy(self.trainer.initial(seed), self._parameters(0, writable=True), "initial")
            return b""
        if kind == 2:
            return self._train(request)
        if kind == 3:
            size, is_test, count = struct.unpack_from("<3q", request, 8)
            self._map(size)
            samples = np.frombuffer(request, "<i4", count, 32)
            split: Split = "test" if is_test else "train"
            sums = self.trainer.evaluate(self._parameters(0, writable=False), samples, split)
            if not isinstance(sums, Sums):
                raise Wrong(f"evaluate returned {type(sums).__name__}, expected pyfedsim.Sums")
            total = count if sums.count is None else sums.count
            answers = total if sums.answers is None else sums.answers
            return struct.pack("<3qd", total, answers, int(sums.correct), float(sums.loss))
        raise Wrong(f"there is no request {kind}")

    def _train(self, request: bytes) -> bytes:
        size, client, first, batches, total, out, state, left = struct.unpack_from("<8q", request, 8)
        self._map(size)
        sizes = np.frombuffer(request, "<i4", batches, 72)
        start = 72 + _rounded(4 * batches, 8)
        samples = np.frombuffer(request, "<i4", total, start)
        keys = np.frombuffer(request, "<u8", batches, start + _rounded(4 * total, 8)).tolist()
        order, end = [], 0
        for rows in sizes.tolist():
            order.append(samples[end:end + rows])
            end += rows
        assert self._memory is not None
        np.copyto(self._flat(out), self._flat(0))
        memory = unpack(bytes(self._memory[state:state + left]))
        own = self._parameters(out, writable=True)
        returned = self.trainer.train(dict(own), client, range(first, first + batches), order, memory, keys)
        if not isinstance(returned, tuple) or len(returned) != 3:
            raise Wrong("train returned something else than (parameters, sum of losses, memory)")
        parameters, loss, kept = returned
        self._copy(parameters, own, "train")
        if isinstance(loss, bool) or not isinstance(loss, (int, float, np.floating, np.integer)):
            raise Wrong(f"train returned {type(loss).__name__} as the sum of losses, expected a number")
        packed = pack(kept)
        end = state + len(packed)
        if end > size:
            size = end
            _grow(self._descriptor, size)
            self._map(size)
        self._memory[state:end] = packed
        return struct.pack("<d2q", float(loss), len(packed), size)

    # Memory

    def _map(self, size: int) -> None:
        if self._memory is None or len(self._memory) < size:
            self._memory = mmap.mmap(self._descriptor, size)
            self._views = {}

    def _flat(self, offset: int) -> NDArray[np.float32]:
        assert self._memory is not None
        return np.frombuffer(self._memory, np.float32, self.count, offset)

    def _parameters(self, offset: int, writable: bool) -> Parameters:
        """The tensors at an offset, as views."""
        found = self._views.get((offset, writable))
        if found is not None:
            return found
        flat, views, start = self._flat(offset), {}, 0
        for (name, shape), size in zip(self.layout, self.sizes):
            view = flat[start:start + size].reshape(shape)
            view.flags.writeable = writable
            views[name] = view
            start += size
        self._views[offset, writable] = views
        return views

    def _copy(self, given: Mapping[str, NDArray[Any]], own: Parameters, what: str) -> None:
        """Puts what a trainer returned where it belongs, if it is what was asked for."""
        if not isinstance(given, Mapping):
            raise Wrong(f"{what} returned {type(given).__name__} as parameters, expected a dict of arrays")
        if set(given) != set(own):
            missing, unknown = sorted(set(own) - set(given)), sorted(set(given) - set(own))
            raise Wrong(f"{what} returned parameters without {missing} and with {unknown} besides")
        for name, target in own.items():
            array = given[name]
            if array is target:
                continue
            if not isinstance(array, np.ndarray):
                raise Wrong(f"{what} returned {name} as {type(array).__name__}, expected a NumPy array")
            if array.dtype != np.float32:
                raise Wrong(f"{what} returned {name} of type {array.dtype}, expected float32")
            if array.shape != target.shape:
                raise Wrong(f"{what} returned {name} of shape {array.shape}, expected {target.shape}")
            np.copyto(target, array)


def _empty() -> dict[str, Any]:
    """A statement of nothing."""
    return {
        "format": FORMAT, "name": "", "tensors": [], "train": 0, "test": 0, "classes": 1, "hasTestOwners": False,
        "versions": [],
    }


def _numbers(owners: Sequence[Any] | NDArray[Any], places: dict[str, int], what: str, expected: int) -> NDArray[Any]:
    if len(owners) != expected:
        raise Wrong(f"{what} are {len(owners)}, expected one for each of {expected} samples")
    return np.array([places.setdefault(str(owner), len(places)) for owner in owners], np.int64)


def _rounded(size: int, step: int) -> int:
    return (size + step - 1) // step * step


def _grow(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)
    else:
        os.ftruncate(descriptor, size)


if __name__ == "__main__":
    sys.exit(main())
