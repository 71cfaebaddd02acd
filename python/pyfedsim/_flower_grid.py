"""Flower's Grid on FedSim's virtual clock."""
from __future__ import annotations

import json
import os
import pickle
import struct
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from flwr.app import Error, Message
from flwr.common.constant import ErrorCode
from flwr.serverapp import Grid
from flwr.supercore.run import Run

from ._flower_clients import Clients, reference
from ._flower_worker import Answer
from ._pipe import read

FORMAT = 1
_UNREACHED = "Error: Node Unavailable — the node's stream broke before its reply was there."
_EXPIRED = "Error: Message Unavailable — the message expired (ttl) before a reply was there."
_WORDS = {"loss": ("loss", "eval_loss", "eval-loss"), "accuracy": ("accuracy", "eval_acc", "eval-acc", "eval_accuracy", "acc")}

Work = Literal["train", "evaluate", "query", "model"]
End = Literal["", "replied", "unreached", "expired"]
Begin = dict[str, Any]


class RunOver(BaseException):
    """The run ended, by `stop.after` or because the command did, while the ServerApp still waited."""


class Stopped(BaseException):
    """The ServerApp is stopped for an error of a client, which is in `VirtualGrid.error`."""


class ClientError(RuntimeError):
    """A client of a Flower program raised. The message has Python's traceback."""

    def __init__(self, node: int, device: str, round: str, text: str, traceback: str) -> None:
        what = f"node {node} ({device}), round {round}" if round else f"node {node} ({device})"
        super().__init__(f"{what}: {text}" + (f"\n{traceback}" if traceback else ""))
        self.node = node
        """Flower's number of the node."""
        self.device = device
        """The device's name."""
        self.round = round
        """The round as the message says it, or an empty text."""
        self.traceback = traceback
        """Python's traceback."""


class Link:
    """The pipe to the command: commands go there, and the next moment comes back."""

    def __init__(self, reading: int, writing: int) -> None:
        self._reading, self._writing = reading, writing

    def receive(self) -> dict[str, Any]:
        """What the command says. Raises `RunOver` where it is gone."""
        head = read(self._reading, 8)
        data = None if head is None else read(self._reading, struct.unpack("<Q", head)[0])
        if data is None:
            raise RunOver
        found: dict[str, Any] = json.loads(data)
        return found

    def send(self, value: dict[str, Any]) -> None:
        """Answers. Raises `RunOver` where the command is gone."""
        text = json.dumps(value).encode()
        data = memoryview(struct.pack("<Q", len(text)) + text)
        try:
            while data:
                data = data[os.write(self._writing, data):]
        except BrokenPipeError:
            raise RunOver from None

    def close(self) -> None:
        """Closes both ends."""
        os.close(self._reading)
        os.close(self._writing)


@dataclass
class Sent:
    """A message on its way, and what has become of it."""

    message: Message
    device: int
    node: int
    work: Work
    metadata: bytes
    content: bytes
    expires: int
    end: End = ""
    answer: Answer | None = None
    reply: Any = None
    """The reply that was computed, until it is pulled."""
    found: dict[str, float] | None = None
    """What an evaluation's pulled reply says."""
    is_wanted: bool = True
    """Whether the ServerApp can still pull the reply."""
    is_over: bool = False
    """Whether the node is done with it."""
    place: int = 0
    """Among those that have ended, from 1."""


class VirtualGrid(Grid):  # type: ignore[misc]
    """The messages of a ServerApp, in virtual time. One thread uses it: that of the ServerApp."""

    def __init__(self, link: Link, begin: Begin, clients: Clients, raises: bool, warn: Any) -> None:
        self._link, self._begin, self._clients, self._raises, self._warn = link, begin, clients, raises, warn
        self._run = Run.create_empty(1)
        self._sent: dict[int, Sent] = {}
        self._count = 0
        self._commands: list[dict[str, Any]] = []
        self._open: dict[str, tuple[int, list[Sent]]] = {}
        self._sizes = (0, 0)
        self._ended = 0
        self._said: set[tuple[int, str]] = set()
        self.error: ClientError | None = None
        self.now = 0
        self._online: list[int] = []
        self._hear(link.receive())

    # Time.

    def _hear(self, moment: dict[str, Any]) -> None:
        self.now, self._online = moment["now"], moment["online"]
        failed = set(moment["failures"])
        for number in moment["ended"]:
            sent = self._sent[number]
            sent.is_over = True
            if number not in failed:
                # An expired one has changed what its node keeps, too.
                self._clients.answered(sent)
            self._end(sent, "unreached" if number in failed else "replied")
            self._forget(number, sent)

    def _end(self, sent: Sent, end: End) -> None:
        if not sent.end:
            self._ended += 1
            sent.end, sent.place = end, self._ended

    def _forget(self, number: int, sent: Sent) -> None:
        """Keeps nothing of a message that nobody can ask for."""
        if sent.is_over and not sent.is_wanted:
            del self._sent[number]

    def _pass(self, *commands: dict[str, Any]) -> None:
        """Lets virtual time pass: until a command is met."""
        self._link.send({"commands": [*self._commands, *commands]})
        self._commands = []
        self._hear(self._link.receive())
        for sent in self._sent.values():
            if sent.expires <= self.now:
                self._end(sent, "expired")

    def sleep(self, seconds: float) -> None:
        """Sleeps for virtual seconds."""
        if seconds > 0:
            until = self.now + round(seconds * 1e6)
            while self.now < until:
                self._pass({"do": "wait", "until": until})

    def await_nodes(self, seconds: float, until: int | None = None) -> None:
        """Sleeps for virtual seconds, again and again until another node is online."""
        commands = [{"do": "wait", "until": until}] if until is not None else []
        self._pass(*commands, {"do": "poll", "until": max(1, round(seconds * 1e6))})

    def end(self) -> None:
        """The ServerApp is over."""
        for work in list(self._open):
            self._close(work)
        self._link.send({"commands": [*self._commands, {"do": "end"}]})

    # Flower's own.

    def set_run(self, run: Run) -> None:
        """Sets the run."""
        self._run = run

    @property
    def run(self) -> Run:
        """The run."""
        return self._run

    def create_message(
        self, content: Any, message_type: str, dst_node_id: int, group_id: str, ttl: float | None = None,
    ) -> Message:
        """A message to a node."""
        return Message(content, dst_node_id, message_type, group_id=group_id, ttl=ttl)

    def get_node_ids(self) -> Iterable[int]:
        """The nodes that are online now, in fleet order."""
        return [node_of(device) for device in self._online]

    def push_messages(self, messages: Iterable[Message]) -> Iterable[str]:
        """Sends messages, each to its node."""
        return [str(number) for number in self._push(list(messages))]

    def pull_messages(self, message_ids: Iterable[str]) -> Iterable[Message]:
        """The replies that are there."""
        return self._collect([int(name) for name in message_ids])

    def send_and_receive(self, messages: Iterable[Message], *, timeout: float | None = None) -> Iterable[Message]:
        """Sends messages and waits for their replies, at most `timeout` virtual seconds."""
        numbers = self._push(list(messages))
        until = None if timeout is None else self.now + round(timeout * 1e6)
        while left := [number for number in numbers if not self._sent[number].end]:
            if until is not None and self.now >= until:
                break
            limit = min([self._sent[number].expires for number in left] + ([] if until is None else [until]))
            self._pass({"do": "wait", "messages": left, "until": limit})
        works = dict.fromkeys(self._sent[number].work for number in numbers)
        replies = self._collect(numbers)
        for number in numbers:
            if late := self._sent.get(number):
                late.is_wanted = False
        for work in works:
            self._close(work)
        return replies

    # Messages.

    def _push(self, messages: Sequence[Message]) -> list[int]:
        for work, (since, _) in list(self._open.items()):
            if since < self.now:
                self._close(work)
        contents: dict[int, bytes] = {}
        numbers: list[int] = []
        for message in messages:
            device = device_of(message.metadata.dst_node_id)
            if not 0 <= device < len(self._begin["names"]):
                raise ValueError(f"there is no node {message.metadata.dst_node_id}")
            number = self._count = self._count + 1
            message.metadata.__dict__["_message_id"] = str(number)
            key = id(message.content)
            if key not in contents:
                contents[key] = pickle.dumps(message.content)
            work = _work(message.metadata.message_type)
            expires = self.now + round(min(message.metadata.ttl, 1e9) * 1e6)
            sent = Sent(
                message, device, message.metadata.dst_node_id, work, pickle.dumps(message.metadata), contents[key], expires,
            )
            self._sent[number] = sent
            numbers.append(number)
            self._size(sent)
            self._commands.append(
                {"do": "send", "message": number, "device": device, "work": work, "until": expires})
            if work in ("train", "evaluate"):
                self._open.setdefault(work, (self.now, []))[1].append(sent)
        return numbers

    def _size(self, sent: Sent) -> None:
        """Says how many bytes the arrays of a message have; a training's reply has as many."""
        if sent.work not in ("train", "evaluate"):
            return
        size = _bytes(sent.message.content)
        sizes = (size, size if sent.work == "train" else self._sizes[1])
        if sizes != self._sizes:
            self._sizes = sizes
            self._commands.append({"do": "sizes", "instruction": sizes[0], "reply": sizes[1]})

    def _close(self, work: str) -> None:
        if work not in self._open:
            return
        _, messages = self._open.pop(work)
        if work == "train":
            self._commands.append({"do": "closeRound"})
            return
        sums = {"examples": 0.0, "loss": 0.0, "accuracy": 0.0}
        for found in [sent.found for sent in messages if sent.found is not None]:
            count = found.get("num-examples", 0.0)
            sums["examples"] += count
            for name in ("loss", "accuracy"):
                sums[name] += count * found.get(name, float("nan"))
        told: dict[str, Any] = {"do": "closeEvaluation", "examples": round(sums["examples"])}
        for name in ("loss", "accuracy"):
            if sums["examples"] > 0 and sums[name] == sums[name]:
                told[name] = sums[name] / sums["examples"]
        self._commands.append(told)

    def _collect(self, numbers: Sequence[int]) -> list[Message]:
        """Replies of messages that have ended and were not pulled, in the order of their ends."""
        asked = {number: self._sent[number] for number in numbers if number in self._sent}
        ended = [(number, sent) for number, sent in asked.items() if sent.end and sent.is_wanted]
        self._clients.compute([sent for _, sent in ended if sent.end == "replied"])
        replies: list[Message] = []
        for number, sent in sorted(ended, key=lambda pair: pair[1].place):
            replies.append(self._reply(sent))
            sent.is_wanted = False
            self._forget(number, sent)
        return replies

    def _reply(self, sent: Sent) -> Message:
        if sent.end == "unreached":
            return Message(Error(ErrorCode.NODE_UNAVAILABLE, _UNREACHED), reply_to=sent.message)
        if sent.end == "expired":
            return Message(Error(ErrorCode.MESSAGE_UNAVAILABLE, _EXPIRED), reply_to=sent.message)
        assert sent.answer is not None
        if not sent.answer.error:
            reply: Message = sent.reply
            sent.reply = None
            self._look(sent, reply)
            return reply
        if self._raises:
            name = self._begin["names"][sent.device]
            self.error = ClientError(
                sent.node, name, _round(sent.message), sent.answer.error, sent.answer.traceback)
            raise Stopped
        return Message(Error(ErrorCode.CLIENT_APP_RAISED_EXCEPTION, sent.answer.reason), reply_to=sent.message)

    def _look(self, sent: Sent, reply: Message) -> None:
        """Warns where a reply is not what the scenario states of its node."""
        if not reply.has_content() or sent.work not in ("train", "evaluate"):
            return
        key = "samples" if sent.work == "train" else "evaluationSamples"
        stated = self._begin[key][sent.device]
        name = f"node {sent.node} ({self._begin['names'][sent.device]})"
        found = _metrics(reply)
        if sent.work == "evaluate":
            sent.found = found
        count = found.get("num-examples")
        if count is not None and count != stated:
            self._say(sent, key, f"{name}: the reply has num-examples {count:g}, and `task.flower.{key}` says {stated}")
        size = _bytes(reply.content)
        if sent.work == "train" and abs(size - self._sizes[1]) > 0.01 * self._sizes[1]:
            self._say(sent, "size", f"{name}: the reply's arrays have {size} B, and were sent as {self._sizes[1]} B")

    def _say(self, sent: Sent, key: str, text: str) -> None:
        if (sent.node, key) not in self._said:
            self._said.add((sent.node, key))
            self._warn(text)


def node_of(device: int) -> int:
    """Flower's number of a node: 1 is the ServerApp's."""
    return device + 2


def device_of(node: int) -> int:
    """The place in the fleet, from 0."""
    return node - 2


def _work(message_type: str) -> Work:
    category = message_type.split(".")[0]
    if category in ("train", "evaluate"):
        return category  # type: ignore[return-value]
    return "model" if category == "get_parameters" else "query"


def _bytes(content: Any) -> int:
    return sum(len(array.data) for record in content.array_records.values() for array in record.values())


def _round(message: Message) -> str:
    """The round of a message, as its strategy says it."""
    for record in message.content.config_records.values():
        for key in ("server-round", "server_round"):
            if key in record:
                return str(record[key])
    return str(message.metadata.group_id)


def _metrics(reply: Message) -> dict[str, float]:
    """The number of examples, the loss and the accuracy that a reply has."""
    found: dict[str, float] = {}
    if not reply.has_content():
        return found
    for name, record in reply.content.metric_records.items():
        for key, value in record.items():
            if isinstance(value, list):
                continue
            if key in ("num-examples", "num_examples"):
                found["num-examples"] = float(value)
            for word, keys in _WORDS.items():
                if key in keys or (word == "loss" and name.endswith("res.loss")):
                    found[word] = float(value)
    for record in reply.content.config_records.values():
        for key, value in record.items():
            for word, keys in _WORDS.items():
                if key in keys and isinstance(value, (int, float)):
                    found[word] = float(value)
    return found


def computed_by(server_app: object, client_app: object) -> str:
    """What computes in FedSim's place, in a line."""
    import platform

    from flwr.supercore.version import package_version

    places = [reference(app) for app in (server_app, client_app)]
    names = [":".join(place) if place else "an app of no module" for place in places]
    parts = [f"flwr {package_version}", f"Python {platform.python_version()}"]
    for name in ("numpy", "torch"):
        if name in sys.modules:
            parts.append(f"{name} {sys.modules[name].__version__}")
    parts = [f"Flower program {' and '.join(names)}", *parts, platform.machine()]
    return "; ".join(parts)
