"""The process in which the clients of a Flower program compute."""
from __future__ import annotations

import importlib
import io
import pickle
import random
import struct
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._pipe import Pipe

RUN = 1
"""The number of the run in Flower's messages."""
SERVER = 1
"""The node of the ServerApp."""


@dataclass(frozen=True)
class Call:
    """A message for a client, and what the client has kept."""

    node: int
    metadata: bytes
    content: bytes
    node_config: dict[str, Any]
    run_config: dict[str, Any]
    state: bytes
    seed: int


@dataclass(frozen=True)
class Packed:
    """A message as bytes; those of its arrays are apart, and were not copied."""

    head: bytes
    parts: list[Any]

    @staticmethod
    def of(message: Any) -> Packed:
        """Packs a message."""
        head = io.BytesIO()
        parts: list[Any] = []
        _Pickler(head, protocol=5, buffer_callback=parts.append).dump(message)
        return Packed(head.getvalue(), parts)

    def message(self) -> Any:
        """The message, of which nothing is in the memory of the parts."""
        return pickle.loads(self.head, buffers=self.parts)


class _Pickler(pickle.Pickler):
    """Leaves the bytes of Flower's arrays where they are."""

    def reducer_override(self, value: Any) -> Any:
        from flwr.app import Array

        if type(value) is not Array:
            return NotImplemented
        state = dict(vars(value))
        return _array, (type(value), pickle.PickleBuffer(state.pop("data")), state)


def _array(cls: type[Any], data: Any, state: dict[str, Any]) -> Any:
    array = object.__new__(cls)
    vars(array).update(state, data=bytes(data))
    return array


@dataclass(frozen=True)
class Answer:
    """What a client answers: a message and what it keeps, or what it raised and where."""

    reply: Packed | None = None
    state: bytes = b""
    error: str = ""
    reason: str = ""
    traceback: str = ""


def seed_all(seed: int) -> None:
    """Seeds the global generators of Python, NumPy and, where it is loaded, PyTorch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        # What torch.manual_seed does, but for devices that are not in use: that takes 5 ms.
        torch.default_generator.manual_seed(seed)
        if torch.cuda.is_initialized():
            torch.cuda.manual_seed_all(seed)


def identify() -> None:
    """Says whose messages this process makes."""
    from flwr.supercore.task_identity import TaskIdentity

    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = RUN, SERVER, 1


def answer(client_app: Callable[[Any, Any], Any], call: Call) -> Answer:
    """Has a client answer a message."""
    from flwr.app import Context, Message

    context: Any = None
    try:
        seed_all(call.seed)
        message = Message(pickle.loads(call.content), metadata=pickle.loads(call.metadata))
        context = Context(
            run_id=RUN, node_id=call.node, node_config=dict(call.node_config), state=pickle.loads(call.state),
            run_config=dict(call.run_config),
        )
        reply = client_app(message, context)
        if not isinstance(reply, Message):
            raise TypeError(f"the ClientApp returned {type(reply).__name__}, expected a flwr.app.Message")
        return Answer(Packed.of(reply), pickle.dumps(context.state))
    except Exception as error:
        # As Flower does, what the client has kept is kept all the same.
        return Answer(
            state=pickle.dumps(context.state) if context else b"",
            error=f"{type(error).__name__}: {error}", reason=f"{type(error)}:<'{error}'>",
            traceback="".join(traceback.format_exception(error)).rstrip(),
        )


def main() -> None:
    """Answers calls until the pipe ends."""
    pipe = Pipe("client: ")
    begin = pickle.loads(pipe.receive() or b"")
    client_app: Any = None
    fault: Answer | None = None
    try:
        sys.path[:] = begin["path"]
        identify()
        client_app = getattr(importlib.import_module(begin["module"]), begin["name"])
        if torch := sys.modules.get("torch"):
            torch.set_num_threads(1)
    except BaseException as error:
        fault = Answer(
            error=f"{begin['module']}: {type(error).__name__}: {error}", reason=str(error),
            traceback="".join(traceback.format_exception(error)).rstrip(),
        )
    while (message := pipe.receive()) is not None:
        pipe.send(*_parts([fault or answer(client_app, call) for call in pickle.loads(message)]))


def _parts(answers: list[Answer]) -> list[Any]:
    """Answers as bytes: a pickle's length, the pickle, and the arrays' bytes, whose sizes are in the pickle."""
    parts: list[Any] = []
    sizes: list[list[int]] = []
    for found in answers:
        own = [part.raw() for part in found.reply.parts] if found.reply else []
        sizes.append([part.nbytes for part in own])
        parts += own
    heads = [
        replace(found, reply=Packed(found.reply.head, []) if found.reply else None) for found in answers
    ]
    head = pickle.dumps((heads, sizes))
    return [struct.pack("<Q", len(head)), head, *parts]


def answers_of(data: memoryview) -> list[Answer]:
    """The answers in a message. Their parts are views of it."""
    end = 8 + struct.unpack_from("<Q", data)[0]
    heads, sizes = pickle.loads(data[8:end])
    for found, own in zip(heads, sizes, strict=True):
        for size in own:
            found.reply.parts.append(data[end:end + size])
            end += size
    return list(heads)

