"""What the Python processes of a run share: messages, what goes wrong, and arrays with values as bytes."""
from __future__ import annotations

import contextlib
import ctypes
import hashlib
import importlib
import io
import json
import os
import platform
import select
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


Bytes = bytes | memoryview
"""Bytes in memory."""

_PARTS = 512  # IOV_MAX is 1024.
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3  # Of malloc.h.


class Wrong(Exception):
    """A user's code returned something else than what it was asked for."""


class Pipe:
    """The pipe to the run: what a user's code prints goes to standard error, behind a word that says whose it is."""

    def __init__(self, prefix: str) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        _keep_memory()
        self._requests, self._answers = os.dup(0), os.dup(1)
        with open(os.devnull) as nothing:
            os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)
        sys.stdout = Prefixed(prefix)
        threading.Thread(target=_end_with, args=(self._requests,), daemon=True).start()

    def receive(self) -> bytes | None:
        """The next message; None: the run is over."""
        head = read(self._requests, 8)
        return None if head is None else read(self._requests, struct.unpack("<Q", head)[0])

    def send(self, *parts: Bytes) -> None:
        """Sends a message, which may be in parts; the process ends where nobody reads."""
        sys.stdout.flush()
        try:
            write(self._answers, parts)
        except BrokenPipeError:
            os._exit(0)


def load(folder: str, source: str) -> Any:
    """What `module:name` is; the module is looked for in the folder first."""
    sys.path.insert(0, os.path.abspath(folder))
    module, name = source.split(":")
    return getattr(importlib.import_module(module), name)


def digest(source: str) -> str | None:
    """The SHA-256 of the file of the module in `module:name`, which is loaded; None: it has none."""
    path = getattr(sys.modules.get(source.split(":")[0]), "__file__", None)
    if path is None:
        return None
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def versions() -> list[dict[str, str]]:
    """What computes: Python, the libraries that are loaded, and the processor."""
    found = [{"name": "python", "version": platform.python_version()}]
    for name in ("numpy", "torch", "jax", "tensorflow", "scipy", "sklearn"):
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            found.append({"name": name, "version": str(version)})
    found.append({"name": "processor", "version": _processor()})
    return found


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def fault(error: BaseException) -> dict[str, str]:
    """What went wrong, in a line, and where."""
    if isinstance(error, Wrong):
        return {"message": str(error), "traceback": ""}
    text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {"message": f"{type(error).__name__}: {error}", "traceback": text.rstrip()}


def read(descriptor: int, count: int) -> bytes | None:
    """The next bytes; None: there are none any more."""
    data = memoryview(bytearray(count))
    return bytes(data) if fill(descriptor, data) else None


def fill(descriptor: int, data: memoryview) -> bool:
    """Reads as many bytes as there is memory for; whether there were as many."""
    place = 0
    while place < len(data):
        count = os.readv(descriptor, [data[place:]])
        if count == 0:
            return False
        place += count
    return True


def write(descriptor: int, parts: Sequence[Bytes]) -> None:
    """Writes the length of a message and the message."""
    views = [memoryview(part) for part in parts]
    left = [memoryview(struct.pack("<Q", sum(view.nbytes for view in views))), *views]
    while left:
        count = os.writev(descriptor, left[:_PARTS])
        while left and count >= left[0].nbytes:
            count -= left.pop(0).nbytes
        if left:
            left[0] = left[0][count:]


def _keep_memory() -> None:
    """Has the C library keep what was freed. A client after the other needs as much again, and new pages are slow."""
    with contextlib.suppress(OSError, AttributeError):  # Another library than glibc.
        mallopt = ctypes.CDLL(None).mallopt
        for parameter, size in ((_MMAP_THRESHOLD, 32 << 20), (_TRIM_THRESHOLD, 1 << 30), (_TOP_PAD, 64 << 20)):
            mallopt(parameter, size)


def _end_with(descriptor: int) -> None:
    """Ends the process with the run, in the middle of a call, too."""
    poll = select.poll()
    poll.register(descriptor, 0)
    poll.poll()
    os._exit(0)


class Prefixed(io.TextIOBase):
    """Lines go to standard error, behind a word."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self._line = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            sys.stderr.write(f"{self._prefix}{line}\n")
        return len(text)

    def flush(self) -> None:
        if self._line:
            self.write("\n")
        sys.stderr.flush()


# Values with arrays as bytes: the length of JSON, the JSON, and the arrays that it names by their places.

_ARRAY = "\0array"


def pack(value: Mapping[str, Any]) -> bytes:
    """Numbers, words, lists, dictionaries and NumPy arrays as bytes.

    Raises `Wrong` for anything else, for keys that are no words, and for arrays with named fields: they would come back
    as something else.
    """
    if not isinstance(value, Mapping):
        raise Wrong(f"the memory is {type(value).__name__}, expected a dict")
    if not value:
        return b""
    parts: list[bytes] = []
    text = json.dumps(_plain(value, "memory", parts), separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<q", len(text)) + text + b"".join(parts)


def _plain(value: Any, name: str, parts: list[bytes]) -> Any:
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            raise Wrong(f"{name} is an array of objects, expected numbers")
        if value.dtype.names is not None:  # their names would be lost
            raise Wrong(f"{name} is an array with the fields {list(value.dtype.names)}, expected one array for each field")
        data = np.ascontiguousarray(value).tobytes()
        place = sum(map(len, parts))
        parts.append(data + bytes(-len(data) % 8))
        return {_ARRAY: [value.dtype.str, list(value.shape), place, len(data)]}
    if isinstance(value, np.generic) and not isinstance(value, np.void):
        return value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{name}[{place}]", parts) for place, item in enumerate(value)]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise Wrong(f"{name} has the key {key!r}, expected a word")
        return {key: _plain(item, f"{name}[{key!r}]", parts) for key, item in value.items()}
    raise Wrong(f"{name} is {type(value).__name__}, expected numbers, words, lists, dictionaries or NumPy arrays")


def unpack(data: bytes) -> dict[str, Any]:
    """What `pack` made bytes of; tuples come back as lists."""
    if not data:
        return {}
    length = struct.unpack_from("<q", data)[0]
    start = 8 + length

    def array(entries: dict[str, Any]) -> Any:
        if _ARRAY not in entries:
            return entries
        dtype, shape, place, size = entries[_ARRAY]
        place += start
        return np.frombuffer(data[place:place + size], np.dtype(dtype)).reshape(shape).copy()

    found: dict[str, Any] = json.loads(data[8:start], object_hook=array)
    return found
