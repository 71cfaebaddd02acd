"""The command `fedsim`: where it is, and how it is run."""
from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ._file import Path


class CommandNotFound(FileNotFoundError):
    """The command `fedsim` is in none of the places where it is looked for."""


def path() -> str:
    """The path of the command.

    Looked for in this order: the variable FEDSIM of the environment, the scripts of this Python environment, those of
    the user's own packages, PATH.
    Errors: `CommandNotFound`, which says how to install it; also where FEDSIM names no program.
    """
    if named := os.environ.get("FEDSIM"):
        found = shutil.which(named)
        if found is None:
            raise CommandNotFound(f"FEDSIM={named}: there is no program at this path")
        return os.path.abspath(found)
    for folder in _script_folders():
        if found := shutil.which(os.path.join(folder, "fedsim")):
            return found
    if found := shutil.which("fedsim"):
        return found
    raise CommandNotFound(
        "the command `fedsim` was not found: install the wheel of pyfedsim, which brings it, or build it (`make build` "
        "in FedSim's folder, .build/release/fedsim) and put it on PATH or into the environment's variable FEDSIM"
    )


def _script_folders() -> list[str]:
    user = sysconfig.get_preferred_scheme("user")
    return [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", user)]


@dataclass(frozen=True)
class Ended:
    """What a process of the command left: its exit code, and all that it wrote."""

    code: int
    out: str
    error: str


class Interrupted(KeyboardInterrupt):
    """The user interrupted the command; `ended` is what it wrote until then."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(*ended.error.strip().splitlines()[-1:])
        self.ended = ended


def words_of(options: dict[str, object]) -> list[str]:
    """Options of the command: none for None and False, no value for True, one each for lists."""
    words: list[str] = []
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is True:
                words.append(f"--{name}")
            elif one is not None and one is not False:
                words += [f"--{name}", os.fspath(one) if isinstance(one, os.PathLike) else str(one)]
    return words


def call(
    words: Iterable[Path], given: str | None = None, line: Callable[[str], None] | None = None,
    program: tuple[int, int] | None = None,
) -> Ended:
    """Runs the command to its end; `given` goes to standard input, `line` is called for each line on standard error.

    Code in Python runs in this interpreter, unless FEDSIM_PYTHON or the scenario names another. `program` are pipes of a
    program that plays along, for the command to write to and to read from; they are closed here.

    Ctrl-C goes to the command, which ends at a moment at which no file is half written. So does an error of `line`.
    Errors: `CommandNotFound`; `Interrupted`; what `line` raises.
    """
    environment = {"FEDSIM_PYTHON": sys.executable, **os.environ}
    if program is not None:
        environment["FEDSIM_PROGRAM"] = ",".join(map(str, program))
    try:
        process = subprocess.Popen(
            [path(), *(os.fspath(word) for word in words)], text=True, encoding="utf-8", errors="replace",
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            pass_fds=program or (), env=environment,
        )
    finally:
        for descriptor in program or ():
            os.close(descriptor)
    out: list[str] = []
    error: list[str] = []
    others = [threading.Thread(target=_read_all, args=(process, out), daemon=True)]
    if given is not None:
        others.append(threading.Thread(target=_write_all, args=(process, given), daemon=True))
    for thread in others:
        thread.start()
    assert process.stderr is not None
    try:
        for text in process.stderr:
            error.append(text)
            if line is not None:
                line(text.rstrip("\n"))
        process.wait()
    except BaseException as raised:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        error.extend(process.stderr)
        process.wait()
        others[0].join()
        if isinstance(raised, KeyboardInterrupt):
            raise Interrupted(Ended(process.returncode, "".join(out), "".join(error))) from None
        raise
    finally:
        if process.poll() is not None:
            process.stderr.close()
    for thread in others:
        thread.join()
    return Ended(process.returncode, "".join(out), "".join(error))


def _read_all(process: subprocess.Popen[str], into: list[str]) -> None:
    assert process.stdout is not None
    with process.stdout:
        into.append(process.stdout.read())


def _write_all(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdin is not None
    try:
        with process.stdin:
            process.stdin.write(text)
    except BrokenPipeError:
        pass  # The command has ended, and says why.
