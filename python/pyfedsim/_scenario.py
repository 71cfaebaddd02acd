"""The resolved scenario in a result."""
from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ._file import Path, paths, text


@dataclass(frozen=True)
class Scenario:
    """A scenario with every value explicit, as a result holds it."""

    text: str
    """The YAML text; `fedsim run` takes it."""

    @cached_property
    def tree(self) -> dict[str, Any]:
        """The same as mappings, lists, numbers, flags and strings; durations and dates stay strings.

        Errors: `ValueError` for a text that FedSim did not write.
        """
        tree: dict[str, Any] = parse(self.text)
        return tree

    @cached_property
    def settings(self) -> dict[str, Any]:
        """Every value by its path, such as "server.trigger.threshold.updates".

        Members of a list are told apart by their `name` where they have one, as in `fedsim run --set`, else by their
        place from 0. A list of plain values is one value.
        Errors: as `tree`.
        """
        found: dict[str, Any] = {}
        _flatten(self.tree, "", found)
        return found


def scenario(path: Path) -> Scenario:
    """The scenario of a result, with every value that was in force.

    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged.
    """
    return Scenario(text(path, "scenario"))


def differences(given: Path | Iterable[Path]) -> dict[str, list[Any]]:
    """The settings that differ between results, each with its value in every result (None: it has none there).

    The seed, the name and the description are left out.
    Errors: `FileNotFoundError`; `NotAResult` for a file that is no result, or is damaged.
    """
    all_settings = [scenario(path).settings for path in paths(given)]
    names = dict.fromkeys(name for settings in all_settings for name in settings)
    left_out = {"seed", "name", "description"}
    columns = {name: [settings.get(name) for settings in all_settings] for name in names if name not in left_out}
    return {name: values for name, values in columns.items() if any(value != values[0] for value in values)}


def _flatten(node: Any, path: str, found: dict[str, Any]) -> None:
    if isinstance(node, Mapping) and node:
        for key, value in node.items():
            _flatten(value, f"{path}.{key}" if path else str(key), found)
    elif isinstance(node, list) and any(isinstance(value, (Mapping, list)) for value in node):
        names = [value.get("name") if isinstance(value, Mapping) else None for value in node]
        are_names = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
        for place, value in enumerate(node):
            _flatten(value, f"{path}.{names[place] if are_names else place}", found)
    else:
        found[path] = node


def parse(source: str) -> Any:
    """The YAML that FedSim writes for a resolved scenario: no more than that.

    Blocks are indented by two spaces, lists of plain values stand in brackets, empty mappings in braces, and strings
    that could be read as something else in double quotes. A comment may follow a value: where it comes from.
    """
    lines = [(len(line) - len(line.lstrip(" ")), line.strip()) for line in map(_bare, source.split("\n")) if line.strip()]
    value, rest = _block(lines, 0)
    if rest != len(lines):
        raise ValueError(f"scenario: found {lines[rest][1]!r} at another indentation")
    return value


_BARE = re.compile(r'(?:"(?:[^"\\]|\\.)*"|(?!\s#).)*')


def _bare(line: str) -> str:
    """A line without its comment."""
    match = _BARE.match(line)
    return match.group() if match else line


def _block(lines: list[tuple[int, str]], at: int) -> tuple[Any, int]:
    """The value that begins at a line, and the line behind it."""
    indent, line = lines[at]
    if line.startswith("- "):
        return _list(lines, at, indent)
    if _key(line) is None:
        return _inline(line), at + 1
    return _mapping(lines, at, indent)


def _list(lines: list[tuple[int, str]], at: int, indent: int) -> tuple[list[Any], int]:
    values = []
    while at < len(lines) and lines[at][0] == indent and lines[at][1].startswith("- "):
        # What stands behind the dash begins a block of its own, two columns further in.
        lines[at] = (indent + 2, lines[at][1][2:])
        value, at = _block(lines, at)
        values.append(value)
    return values, at


def _mapping(lines: list[tuple[int, str]], at: int, indent: int) -> tuple[dict[str, Any], int]:
    entries: dict[str, Any] = {}
    while at < len(lines) and lines[at][0] == indent and not lines[at][1].startswith("- "):
        split = _key(lines[at][1])
        if split is None:
            raise ValueError(f"scenario: found {lines[at][1]!r}, expected a key")
        key, inline = split
        if inline:
            entries[key], at = _inline(inline), at + 1
        else:
            entries[key], at = _block(lines, at + 1)
    return entries, at


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_KEY = re.compile(r'("(?:[^"\\]|\\.)*"|[^"\[{][^:]*(?::[^ :][^:]*)*):(?: (.*))?$')
_INTEGER = re.compile(r"[-+]?\d+")
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


def _key(line: str) -> tuple[str, str] | None:
    """The key at the start of a line and the text behind it; None where there is no key."""
    match = _KEY.match(line)
    if match is None:
        return None
    key = match.group(1)
    return (_unquoted(key) if key.startswith('"') else key), match.group(2) or ""


def _inline(source: str) -> Any:
    if source == "{}":
        return {}
    if source.startswith("["):
        return [_scalar(piece) for piece in _pieces(source[1:-1])]
    return _scalar(source)


def _pieces(source: str) -> list[str]:
    """The members of a list in brackets."""
    pieces, start, at = [], 0, 0
    while at < len(source):
        if source[at] == '"':
            match = _QUOTED.match(source, at)
            if match is None:
                raise ValueError(f"scenario: found {source!r}, expected a closed quote")
            at = match.end()
        elif source[at] == ",":
            pieces.append(source[start:at].strip())
            start = at = at + 1
        else:
            at += 1
    return [*pieces, source[start:].strip()] if source.strip() else []


def _scalar(source: str) -> Any:
    if source.startswith('"'):
        return _unquoted(source)
    if source in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[source]
    if _INTEGER.fullmatch(source):
        return int(source)
    return float(source) if _NUMBER.fullmatch(source) else source


def _unquoted(source: str) -> str:
    plain = {"n": "\n", "r": "\r", "t": "\t"}

    def character(match: re.Match[str]) -> str:
        letter = match.group(1)
        return chr(int(letter[1:], 16)) if letter[0] == "U" else plain.get(letter, letter)

    return re.sub(r"\\(U[0-9a-f]{8}|.)", character, source[1:-1])
