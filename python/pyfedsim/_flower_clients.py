"""The clients of a Flower program: what each has kept, and the processes in which they compute."""
from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import pickle
import queue
import random
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ._flower_worker import Answer, Call, answer, answers_of, seed_all
from ._pipe import fill, read, write

_THREADS = [f"{name}_NUM_THREADS" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR")]


class Computed(Protocol):
    """A message of which the reply is computed."""

    node: int
    metadata: bytes
    content: bytes
    answer: Answer | None
    reply: Any


@dataclass
class _Node:
    """What is kept of a node between two messages."""

    state: bytes
    calls: int = 0
    due: list[Any] = field(default_factory=list)


class Clients:
    """Computes replies, for each node in the order in which it has answered, and none that nobody needs."""

    def __init__(
        self, client_app: Callable[[Any, Any], Any], seed: int, configs: Mapping[int, Mapping[str, Any]],
        run_config: Mapping[str, Any], workers: int | None,
    ) -> None:
        from flwr.app import RecordDict

        empty = pickle.dumps(RecordDict())
        self._app, self._seed, self._run_config = client_app, seed, dict(run_config)
        self._configs = {node: dict(config) for node, config in configs.items()}
        self._nodes = {node: _Node(empty) for node in configs}
        self._place = reference(client_app)
        if workers is None:
            workers = len(os.sched_getaffinity(0)) if self._place else 0
        elif workers > 0 and self._place is None:
            raise ValueError(
                "workers: the ClientApp is found by no name in a module that a process can import; put it into a file of "
                "its own, or leave out `workers`"
            )
        self._count = workers
        self._workers: list[_Worker] = []

    def answered(self, message: Computed) -> None:
        """A node has answered a message: its reply may be needed, or what the node has kept since."""
        self._nodes[message.node].due.append(message)

    def compute(self, wanted: Sequence[Computed]) -> None:
        """Computes the answers of messages, and of those that the same nodes have answered before."""
        chains: list[list[Computed]] = []
        names = {id(message) for message in wanted}
        for node in dict.fromkeys(message.node for message in wanted if message.answer is None):
            due = self._nodes[node].due
            last = max(place for place, message in enumerate(due) if id(message) in names)
            chains.append(due[:last + 1])
            del due[:last + 1]
        if not chains:
            return
        if self._count == 0:
            with _as_before():
                for chain in chains:
                    for message in chain:
                        self._take(message, answer(self._app, self._call(message)))
            return
        while len(self._workers) < min(self._count, len(chains)):
            assert self._place is not None
            self._workers.append(_Worker(*self._place))
        # Some chains at once, so that processes wait for little, and have about as much to do.
        size = max(1, len(chains) // (4 * len(self._workers)))
        left: queue.SimpleQueue[list[list[Computed]]] = queue.SimpleQueue()
        for first in range(0, len(chains), size):
            left.put(chains[first:first + size])
        errors: list[BaseException] = []
        helpers = [threading.Thread(target=self._work, args=(worker, left, errors)) for worker in self._workers]
        for helper in helpers:
            helper.start()
        for helper in helpers:
            helper.join()
        if errors:
            raise errors[0]

    def _work(
        self, worker: _Worker, left: queue.SimpleQueue[list[list[Computed]]], errors: list[BaseException],
    ) -> None:
        while not errors:
            try:
                chains = left.get_nowait()
            except queue.Empty:
                return
            try:
                while chains := [chain for chain in chains if chain]:
                    heads = [chain.pop(0) for chain in chains]
                    for message, found in zip(heads, worker.ask([self._call(head) for head in heads]), strict=True):
                        self._take(message, found)
            except BaseException as error:
                errors.append(error)

    def _call(self, message: Computed) -> Call:
        node = self._nodes[message.node]
        key = hashlib.sha256(struct.pack("<QQQ", self._seed, message.node, node.calls)).digest()
        return Call(
            message.node, message.metadata, message.content, self._configs[message.node], self._run_config, node.state,
            int.from_bytes(key[:8], "little") >> 1,
        )

    def _take(self, message: Computed, found: Answer) -> None:
        node = self._nodes[message.node]
        node.calls += 1
        message.answer = replace(found, reply=None)
        message.reply = found.reply.message() if found.reply else None
        if found.state:
            node.state = found.state

    def end(self) -> None:
        """Ends the processes."""
        for worker in self._workers:
            worker.end()


class _Worker:
    """A process, in which arithmetic has one thread."""

    def __init__(self, module: str, name: str) -> None:
        environment = {**os.environ, **{name: os.environ.get(name, "1") for name in _THREADS}}
        own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, [own, os.environ.get("PYTHONPATH")]))
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from pyfedsim._flower_worker import main; main()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env=environment,
        )
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with contextlib.suppress(AttributeError, OSError):  # From Python 3.10 on Linux; a system may have a limit.
                fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)
        self._memory = memoryview(b"")
        path = [os.getcwd() if entry == "" else entry for entry in sys.path]
        self._send({"module": module, "name": name, "path": path})

    def _send(self, value: Any) -> None:
        assert self._process.stdin is not None
        try:
            write(self._process.stdin.fileno(), [pickle.dumps(value)])
        except BrokenPipeError:
            pass  # What it leaves unanswered is noticed.

    def ask(self, calls: list[Call]) -> list[Answer]:
        """Sends calls and waits for the answers, whose parts are in memory that the next answers come into."""
        assert self._process.stdout is not None
        self._send(calls)
        descriptor = self._process.stdout.fileno()
        head = read(descriptor, 8)
        size = struct.unpack("<Q", head)[0] if head else 0
        if size > len(self._memory):
            self._memory = memoryview(bytearray(size))
        if size == 0 or not fill(descriptor, self._memory[:size]):
            code = self._process.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            return [Answer(error=f"the process ended with {how}", reason=how) for _ in calls]
        return answers_of(self._memory[:size])

    def end(self) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


def reference(client_app: object) -> tuple[str, str] | None:
    """The module and the name by which another process finds an app; None: there is none."""
    for name, module in list(sys.modules.items()):
        if name in ("__main__", "__mp_main__") or getattr(module, "__file__", None) is None:
            continue
        for attribute, value in list(vars(module).items()):
            if value is client_app:
                return name, attribute
    return None


@contextlib.contextmanager
def _as_before() -> Iterator[None]:
    """Global generators, and the threads of PyTorch, are afterwards as they were."""
    torch: Any = sys.modules.get("torch")
    before = random.getstate(), np.random.get_state()
    own = (torch.get_rng_state(), torch.get_num_threads()) if torch else None
    if torch:
        torch.set_num_threads(1)
    try:
        yield
    finally:
        random.setstate(before[0])
        np.random.set_state(before[1])
        if own:
            torch.set_rng_state(own[0])
            torch.set_num_threads(own[1])


@contextlib.contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Global generators begin with a seed, and are afterwards as they were."""
    with _as_before():
        seed_all(seed)
        yield
