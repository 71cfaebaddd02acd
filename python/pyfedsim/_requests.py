"""Sends the requests of a run, as `fedsim export --format requests` writes them, to a server."""
from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from ._file import Path

NAMES = (
    "access_token", "id", "model_id", "refresh_token", "request_key", "round_id", "training_plan", "worker_id",
)
"""Fields of answers that name something as the server likes: the real name takes the simulated one's place."""

VERSIONS = ("latest_version", "new_version", "version")
"""Fields of answers that number a version."""

VERSION_FIELDS = ("version", "current_version", "client_version")
"""Fields of requests that number a version."""

IDLE = 1.0
"""A connection on which nothing passes for longer, in seconds, is opened anew: servers close idle ones."""


class NotReached(ConnectionError):
    """The server cannot be reached, or closed the connection without an answer."""


class NotRequests(ValueError):
    """A file that holds no requests of a run."""


@dataclass(frozen=True)
class Sent:
    """A request that was sent, and what came back."""

    line: int
    """Its line in the file, from 1."""
    time: float
    """When it reached the simulated server, in seconds of the run."""
    device: str
    request: str
    simulated: int | None
    """The status that the simulated server answered with; None: the device heard no answer."""
    status: int
    """The status of the real server."""
    said: tuple[str | None, str | None] = (None, None)
    """The field `status` of both bodies, such as "pending", the simulated one first."""

    @property
    def differs(self) -> bool:
        """Whether the two answers differ; one that no device heard differs from none. Errors: none."""
        if self.simulated is None:
            return False
        known = None not in self.said
        return self.simulated != self.status or known and self.said[0] != self.said[1]


@dataclass
class Replayed:
    """What came of a replay."""

    sent: list[Sent] = field(default_factory=list)
    skipped: int = 0
    """Requests that reached no simulated server, and were not sent."""

    @property
    def differing(self) -> list[Sent]:
        """The requests that were answered otherwise than in the simulation. Errors: none."""
        return [one for one in self.sent if one.differs]

    def table(self) -> str:
        """The differing requests as a table, one per line. Errors: none."""
        rows = [("line", "time", "device", "request", "simulated", "real")]
        for one in self.differing:
            words = (one.said[0] or "", one.said[1] or "")
            rows.append((
                str(one.line), f"{one.time:g} s", one.device, one.request,
                f"{one.simulated} {words[0]}".strip(), f"{one.status} {words[1]}".strip(),
            ))
        widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
        return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


@dataclass
class Names:
    """What the real server calls what the simulated one has called otherwise."""

    real: dict[str, str] = field(default_factory=dict)
    """Names by simulated name."""
    versions: dict[int, int] = field(default_factory=dict)
    """Versions by simulated version; one that is not there has its own number."""

    def learn(self, simulated: Any, real: Any) -> None:
        """Takes names and versions from two answers to the same request."""
        if not isinstance(simulated, dict) or not isinstance(real, dict):
            return
        for name, value in simulated.items():
            other = real.get(name)
            if name in NAMES and isinstance(value, str) and isinstance(other, (str, int)):
                self.real[value] = str(other)
            elif name in VERSIONS and isinstance(value, int) and isinstance(other, int):
                self.versions[value] = other
            else:
                self.learn(value, other)

    def body(self, value: Any, name: str = "") -> Any:
        """A body with real names; lists are numbers and stay as they are."""
        if isinstance(value, dict):
            return {key: self.body(item, key) for key, item in value.items()}
        if isinstance(value, str):
            return self.real.get(value, value)
        if name in VERSION_FIELDS and type(value) is int:
            return self.versions.get(value, value)
        return value

    def path(self, path: str) -> str:
        """A path with its query, with real names."""
        parts = urlsplit(path)
        steps = "/".join(quote(self.real[step], safe="") if step in self.real else step
                         for step in parts.path.split("/"))
        if not parts.query:
            return steps
        query = []
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            if name in VERSION_FIELDS and value.isdecimal():
                value = str(self.versions.get(int(value), int(value)))
            query.append((name, self.real.get(value, value)))
        return f"{steps}?{urlencode(query, quote_via=quote)}"

    def headers(self, headers: dict[str, str], token: str | None) -> dict[str, str]:
        """Headers with real tokens; `token` stands for every one that the server has not handed out."""
        found = {}
        for name, value in headers.items():
            scheme, _, word = value.partition(" ")
            if name == "Authorization" and word:
                value = f"{scheme} {self.real.get(word, token or word)}"
            found[name] = value
        return found


def read_requests(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The requests in a file with their lines, one at a time; header and footer are left out.

    Errors: `OSError`; `NotRequests` for another file.
    """
    with open(path, encoding="utf-8") as file:
        for number, text in enumerate(file, 1):
            try:
                line = json.loads(text)
            except json.JSONDecodeError as error:
                raise NotRequests(f"{os.fspath(path)}:{number}: this is no JSON ({error})") from None
            if number == 1 and (not isinstance(line, dict) or line.get("format") != "fedsim-requests"):
                raise NotRequests(f"{os.fspath(path)}: this is no file of `fedsim export --format requests`")
            if isinstance(line, dict) and "verb" in line:
                yield number, line


class _Server:
    """A connection to a server, opened with the first request that needs it."""

    def __init__(self, url: str, timeout: float) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{url}: expected an address such as http://127.0.0.1:8000")
        self.url = url
        self.prefix = parts.path.rstrip("/")
        kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self.connection = kind(parts.hostname, parts.port, timeout=timeout)

    def send(self, verb: str, path: str, headers: dict[str, str], body: bytes | None) -> tuple[int, Any]:
        """Sends a request: the status, and the body where it is JSON."""
        try:
            self.connection.request(verb, self.prefix + path, body, headers)
            response = self.connection.getresponse()
            content = response.read()
        except (OSError, http.client.HTTPException) as error:
            self.connection.close()
            raise NotReached(f"{self.url}: {verb} {path}: {error or type(error).__name__}") from error
        try:
            return response.status, json.loads(content)
        except ValueError:
            return response.status, None


def replay_requests(
    requests: Path | Iterable[tuple[int, dict[str, Any]]], url: str, *, speed: float | None = None,
    token: str | None = None, timeout: float = 60.0, sleep: Callable[[float], None] = time.sleep,
) -> Replayed:
    """Sends requests to a server, one after the other in the order of the file, and compares the answers.

    `url` is what the paths are appended to. `speed` is how many seconds of the run pass in a second; None: as fast as
    the server answers. `token` takes the place of every token that the server has not handed out itself. Requests
    that reached no simulated server are not sent. Names, tokens and versions that the server hands out take the place
    of the simulated ones in all later requests (`NAMES`, `VERSIONS`).

    Errors: `NotReached` at the first request without an answer, `NotRequests` for another file.
    """
    if speed is not None and not speed > 0:
        raise ValueError(f"speed: found {speed}, expected a number above 0")
    lines = read_requests(requests) if isinstance(requests, (str, os.PathLike)) else requests
    server, names, replayed = _Server(url, timeout), Names(), Replayed()
    begun: float | None = None
    try:
        for number, line in lines:
            if not line["delivered"]:
                replayed.skipped += 1
                continue
            if speed is not None:
                now = time.monotonic()
                if begun is None:
                    begun = now - line["time"] / speed
                if (wait := begun + line["time"] / speed - now) > 0:
                    if wait > IDLE:
                        server.connection.close()
                    sleep(wait)
            headers = names.headers(line["headers"], token)
            body = None
            if line["body"] is not None:
                body = json.dumps(names.body(line["body"])).encode()
            elif "fill" in line:
                body = b"0" * line["fill"]
            status, said = server.send(line["verb"], names.path(line["path"]), headers, body)
            answer = line["answer"] or {}
            names.learn(answer.get("body"), said)
            replayed.sent.append(Sent(
                number, line["time"], line["device"], line["request"], answer.get("status"), status,
                (_word(answer.get("body")), _word(said)),
            ))
    finally:
        server.connection.close()
    return replayed


def _word(body: Any) -> str | None:
    word = body.get("status") if isinstance(body, dict) else None
    return word if isinstance(word, str) else None
