"""Scenarios as they are given: a file, or a dictionary."""
from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from ._file import Path

Given = Path | Mapping[str, Any]
"""A scenario's file, or the same as mappings, lists, numbers, flags and texts."""

Values = Mapping[str, Any]
"""Values that are laid over a scenario, by their paths: `{"server.trigger.threshold": 5}`."""


def words(scenario: Given, values: Values | None, seed: int | None) -> tuple[list[str], str | None]:
    """What the command takes for a scenario, and what goes to its standard input.

    Errors: `TypeError` or `ValueError` for a value that no scenario can hold.
    """
    given: str | None = None
    if isinstance(scenario, Mapping):
        name, given = "-", text(scenario)
    else:
        name = os.fspath(scenario)
    found = [f"--set={path}={text(value)}" for path, value in (values or {}).items()]
    if seed is not None:
        found.append(f"--seed={int(seed)}")
    return [*found, "--", name], given


def text(value: Any) -> str:
    """A value as JSON, which is YAML, too.

    Errors: `TypeError` for what is no mapping, list, number, flag, text or path; `ValueError` for NaN and infinity.
    """
    return json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):  # Arrays and numbers of NumPy.
        return value.tolist()
    raise TypeError(f"a scenario cannot hold {value!r}: expected mappings, lists, numbers, flags, texts and paths")
