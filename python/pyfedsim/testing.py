"""Checks that a trainer, or a policy, is what FedSim takes it for (docs/own-training.md, docs/python.md).

    pyfedsim.testing.check(make())                       # in this process
    pyfedsim.testing.check("my_module:make", folder=".")  # and in two processes of its own
    assert pyfedsim.testing.policy("scenario.yaml") == []  # the parts of its server's policy
"""
from __future__ import annotations

import mmap
import os
import subprocess
import sys
import tempfile
import struct
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _command, _worker
from ._pipe import pack, unpack
from ._trainer import Memory, Parameters, Trainer

__all__ = ["Broken", "Finding", "check", "policy"]


class Broken(AssertionError):
    """A trainer does not do what FedSim relies on."""


@dataclass(frozen=True)
class _Result:
    parameters: dict[str, NDArray[Any]]
    loss: float
    memory: Memory


class _Training:
    """Batches of one client, with a key each."""

    def __init__(self, trainer: Trainer, client: int, batches: int, batch_size: int, seed: int) -> None:
        generator = np.random.default_rng([seed, client])
        count = trainer.training_samples
        self.client = client
        self.order = [
            generator.choice(count, size=min(batch_size, count), replace=False).astype(np.int32) for _ in range(batches)
        ]
        self.keys = [int(key) for key in generator.integers(0, 1 << 64, size=batches, dtype=np.uint64)]

    def run(self, trainer: Trainer, start: _Result, batches: range) -> _Result:
        order = self.order[batches.start:batches.stop]
        keys = self.keys[batches.start:batches.stop]
        parameters: Parameters = {name: array.copy() for name, array in start.parameters.items()}
        memory = unpack(pack(start.memory))
        desk = _worker.Desk(trainer, -1)
        target = {name: np.zeros(shape, np.float32) for name, shape in desk.layout}
        given, loss, kept = trainer.train(parameters, self.client, batches, order, memory, keys)
        desk._copy(given, target, "train")
        return _Result(target, float(loss), unpack(pack(kept)))


def check(
    trainer: Trainer | str, *, batches: int = 6, batch_size: int = 4, seed: int = 1, folder: str = ".",
    settings: Mapping[str, Any] | None = None,
) -> None:
    """Raises `Broken` unless trainings are pure functions of what they are handed.

    Two clients are trained for some batches: whole, in two parts cut at each batch, once more, and in another order.
    A trainer that is given as `module:function` is also compared with one in another process.
    """
    source = trainer if isinstance(trainer, str) else None
    if isinstance(trainer, str):
        trainer = _worker.make(folder, trainer, settings or {})
    if batches < 2:
        raise ValueError("batches: a training of one batch cannot be cut")
    start = _start(trainer, seed)
    one, two = (_Training(trainer, client, batches, batch_size, seed) for client in (0, 1))
    whole = one.run(trainer, start, range(batches))
    other = two.run(trainer, start, range(batches))
    _compare(whole, one.run(trainer, start, range(batches)), "a training computed twice")
    for cut in range(1, batches):
        first = one.run(trainer, start, range(cut))
        two.run(trainer, start, range(batches))  # what comes between must leave no trace
        _compare(whole, _sum(first, one.run(trainer, first, range(cut, batches))), f"a training cut at batch {cut}")
    _compare(other, two.run(trainer, start, range(batches)), "trainings in another order")
    _evaluate(trainer, whole)
    _compare(whole, one.run(trainer, start, range(batches)), "a training after an evaluation")
    if source is not None:
        with _Process(source, folder, settings or {}) as process:
            _compare(other, process.run(two, start, batches), "a training in another worker")
            _compare(whole, process.run(one, start, batches), "a training in another worker, in another order")


def _start(trainer: Trainer, seed: int) -> _Result:
    desk = _worker.Desk(trainer, -1)
    desk.statement()
    versions = []
    for _ in range(2):
        target = {name: np.zeros(shape, np.float32) for name, shape in desk.layout}
        desk._copy(trainer.initial(seed), target, "initial")
        versions.append(_Result(target, 0.0, {}))
    _compare(versions[0], versions[1], f"initial({seed}) computed twice")
    return versions[0]


def _sum(first: _Result, second: _Result) -> _Result:
    return _Result(second.parameters, first.loss + second.loss, second.memory)


def _compare(expected: _Result, found: _Result, what: str) -> None:
    for name, array in expected.parameters.items():
        if not np.all(np.isfinite(found.parameters[name])):
            raise Broken(f"{what}: `{name}` is infinite or not a number")
        if array.tobytes() != found.parameters[name].tobytes():
            most = float(np.abs(array - found.parameters[name]).max())
            raise Broken(f"{what}: `{name}` differs by up to {most:.3g}")
    if set(expected.memory) != set(found.memory):
        raise Broken(f"{what}: the memory has other names")
    for name, array in expected.memory.items():
        if array.tobytes() != found.memory[name].tobytes():
            raise Broken(f"{what}: `{name}` in the memory differs")
    if not np.isclose(expected.loss, found.loss, rtol=1e-9, atol=0):
        raise Broken(f"{what}: the sum of losses is {found.loss!r}, expected {expected.loss!r}")


def _evaluate(trainer: Trainer, whole: _Result) -> None:
    samples = np.arange(min(10, trainer.training_samples), dtype=np.int32)
    frozen = {name: array.copy() for name, array in whole.parameters.items()}
    for array in frozen.values():
        array.flags.writeable = False
    first, second = (trainer.evaluate(dict(frozen), samples, "train") for _ in range(2))
    if first != second:
        raise Broken(f"an evaluation computed twice: {second}, expected {first}")


class _Process:
    """A worker as the command starts it."""

    def __init__(self, source: str, folder: str, settings: Mapping[str, Any]) -> None:
        self._file = tempfile.TemporaryFile()
        self._file.truncate(64)
        descriptor = self._file.fileno()
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"import os; os.dup2({descriptor}, 3); import runpy; "
             "runpy.run_module('pyfedsim._worker', run_name='__main__')"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=(descriptor,),
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
        )
        begin = {"format": _worker.FORMAT, "folder": folder, "trainer": source, "settings": json.dumps(dict(settings))}
        self._send(json.dumps(begin).encode())
        self.statement = json.loads(self._receive())
        if self.statement.get("fault"):
            raise Broken(f"another worker: {self.statement['fault']['message']}")
        for _ in range(1 + (self.statement["clients"] is not None) + self.statement["hasTestOwners"]):
            self._receive()

    def __enter__(self) -> _Process:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._file.close()

    def run(self, training: _Training, start: _Result, batches: int) -> _Result:
        """A whole training by the worker."""
        flat = np.concatenate([array.ravel() for array in start.parameters.values()])
        out = _worker._rounded(flat.nbytes, 64)
        os.ftruncate(self._file.fileno(), 2 * out)
        memory = mmap.mmap(self._file.fileno(), 2 * out)
        memory[:flat.nbytes] = flat.tobytes()
        total = sum(len(samples) for samples in training.order)
        request = struct.pack("<9q", 2, 2 * out, training.client, 0, batches, total, out, 2 * out, 0)
        for array in (
            np.array([len(samples) for samples in training.order], "<i4"),
            np.concatenate(training.order).astype("<i4"), np.array(training.keys, "<u8"),
        ):
            request += array.tobytes() + bytes(-array.nbytes % 8)
        self._send(request)
        answer = self._receive()
        if struct.unpack_from("<q", answer)[0] != 0:
            raise Broken(f"another worker: {json.loads(answer[8:])['message']}")
        loss, left, size = struct.unpack_from("<d2q", answer, 8)
        memory = mmap.mmap(self._file.fileno(), size)
        values = np.frombuffer(memory[out:out + flat.nbytes], np.float32)
        parameters, begin = {}, 0
        for name, array in start.parameters.items():
            parameters[name] = values[begin:begin + array.size].reshape(array.shape)
            begin += array.size
        return _Result(parameters, loss, unpack(memory[2 * out:2 * out + left]))

    def _send(self, message: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(struct.pack("<Q", len(message)) + message)
        self._process.stdin.flush()

    def _receive(self) -> bytes:
        assert self._process.stdout is not None
        head = self._process.stdout.read(8)
        if len(head) < 8:
            raise Broken(f"another worker ended with {self._process.wait()}")
        return self._process.stdout.read(struct.unpack("<Q", head)[0])


@dataclass(frozen=True)
class Finding:
    """A promise that a part of a policy breaks."""

    part: str
    promise: str
    """One of those that docs/writing-a-policy.md lists, such as "memory"."""
    message: str


def policy(scenario: str | os.PathLike[str], *, skip: Sequence[str] = (), command: str | None = None) -> list[Finding]:
    """What the parts of a scenario's policy break of what FedSim relies on; an empty list: nothing.

    Each part is called with made-up values; then each, and all of them together, play a small world of 16 devices for
    12 hours, or in one as large and as long as the policy needs: in one piece, again, and saved and restored. `skip` names
    promises that are broken on purpose. `command` is the command `fedsim`; None: the one that `pyfedsim.run` finds.

    Raises `RuntimeError` where the scenario cannot be read, with the command's message, and `CommandNotFound`.
    """
    command = command or _command.path()
    environment = {"FEDSIM_PYTHON": sys.executable, **os.environ}
    words = [word for promise in skip for word in ("--skip", promise)]
    done = subprocess.run(
        [command, "conform", os.fspath(scenario), "--json", *words], capture_output=True, text=True, env=environment)
    if done.returncode not in (0, 1):
        raise RuntimeError(done.stderr.strip())
    return [Finding(**finding) for finding in json.loads(done.stdout)]
