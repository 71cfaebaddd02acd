"""What the command says is wrong, as exceptions and warnings."""
from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass

from ._command import Ended

STDIN = "stdin"
"""What the command calls a scenario on standard input: a dictionary here."""


class ScenarioWarning(UserWarning):
    """What the command warns of, such as a scenario that can publish nothing, or a broken assertion."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in what was given."""

    file: str | None
    """The file, or the argument such as `--set server.policy=x`; None: a dictionary."""
    line: int | None
    """Its line, from 1; None where there is none."""
    column: int | None
    """Its column, from 1; None where there is none."""
    path: str
    """The path of the settings, such as "server.trigger"; empty at the root and where there is none."""
    message: str
    """What is wrong, without the place; with the advice."""

    @property
    def advice(self) -> str | None:
        """What to do instead, such as "did you mean `threshold`?"; None where there is none. Errors: none."""
        _, found, advice = self.message.partition("; ")
        return advice if found else None

    def __str__(self) -> str:
        """The fault on one line, as the command prints it; one of a dictionary begins with the settings' path."""
        place = self.file or ""
        if self.line is not None:
            place += f":{self.line}:{self.column}"
        elif self.column is not None:
            place += f": column {self.column}"
        return ": ".join(part for part in (place, self.path, self.message) if part)


class InputError(ValueError):
    """What was given is wrong; nothing was begun. `faults` has each fault with file, line and column."""

    def __init__(self, faults: Sequence[Fault], more: int = 0) -> None:
        self.faults = list(faults)
        """The faults in the order of the text; the command shows the first 20."""
        self.count = len(self.faults) + more
        """How many there are."""
        super().__init__("\n".join(str(fault) for fault in self.faults) + (f"\n({more} more)" if more else ""))


class ScenarioError(InputError):
    """A scenario, its overrides or the place of its result are wrong; nothing was run."""


class RunError(RuntimeError):
    """The command began and failed: a full disk, a data file that changed, a crash. `code` is its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message or f"fedsim ended with code {code}, and said nothing")
        self.code = code
        """Its exit code; negative: the number of the signal that ended it."""


_PLACE = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<rest>.*)")
_ARGUMENT = re.compile(r"(?P<file>--set .*?): column (?P<column>\d+): (?P<rest>.*)")
_FILE = re.compile(r"(?P<file>[^`:]*[./][^`:]*|stdin): (?P<rest>.*)")
_PATH = re.compile(r"(?P<path>[A-Za-z_][\w-]*(?:\[\d+\]|\.[\w-]+|\.?`[^`]*`)*): (?P<rest>.*)")
_COUNT = re.compile(r"(\d+) faults?(?:, the first \d+ are shown)?; nothing was \w+")


def fault_of(line: str) -> Fault:
    """The fault that a line of the command tells of."""
    match = _PLACE.fullmatch(line) or _ARGUMENT.fullmatch(line) or _FILE.fullmatch(line)
    found = match.groupdict() if match else {}
    rest = found.get("rest", line)
    inner = _PATH.fullmatch(rest) if match else None
    name = found.get("file")
    number = {key: int(found[key]) if found.get(key) else None for key in ("line", "column")}
    if name == STDIN:
        name, number = None, {"line": None, "column": None}
    return Fault(
        name, number["line"], number["column"], inner["path"] if inner else "", inner["rest"] if inner else rest,
    )


def faults_of(error: str) -> tuple[list[Fault], int]:
    """The faults in what the command wrote to standard error, and how many it did not show."""
    faults: list[Fault] = []
    count = 0
    for line in error.splitlines():
        if line.startswith(("{", "warning: ", "note: ")) or not line.strip():
            continue
        if match := _COUNT.fullmatch(line):
            count = int(match[1])
        elif line.startswith("Usage: ") or line.startswith("  See "):
            break
        else:
            faults.append(fault_of(line.removeprefix("Error: ")))
    return faults, max(0, count - len(faults))


def require(ended: Ended, kind: type[InputError] = InputError, fine: Sequence[int] = (0,)) -> None:
    """Raises where a command ended with another code than these.

    Errors: `kind` for code 2 (bad input), `RunError` for all others.
    """
    if ended.code in fine:
        return
    if ended.code == 2:
        raise kind(*faults_of(ended.error))
    lines = [line for line in ended.error.splitlines() if line and not line.startswith("{")]
    what = "\n".join(lines[-20:])
    if ended.code < 0:
        what = f"fedsim was ended by signal {-ended.code}" + (f"\n{what}" if what else "")
    raise RunError(what, ended.code)


def warnings_of(error: str) -> list[str]:
    """What the command warned of, a line each."""
    return [line.removeprefix("warning: ") for line in error.splitlines() if line.startswith(("warning: ", "broken: "))]


def warn(texts: Sequence[str], level: int = 3) -> None:
    """Warns of each, as from the caller's caller."""
    for text in texts:
        warnings.warn(text, ScenarioWarning, stacklevel=level + 1)
