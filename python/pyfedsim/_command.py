"""Where the command `fedsim` is."""
from __future__ import annotations

import os
import pathlib
import shutil
import sysconfig


class CommandNotFound(FileNotFoundError):
    """The command `fedsim` is not where it is looked for."""


def path() -> str:
    """The command's path: what FEDSIM names, else that of this Python's environment, of the user, or on the PATH."""
    if given := os.environ.get("FEDSIM"):
        if _is_program(given):
            return given
        raise CommandNotFound(f"FEDSIM: found {given!r}, expected the path of the command fedsim")
    schemes = [sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")]
    # `pip install --target` puts the command next to the package.
    folders = [sysconfig.get_path("scripts", scheme) for scheme in schemes]
    folders.append(str(pathlib.Path(__file__).parents[1] / "bin"))
    for folder in folders:
        if _is_program(program := os.path.join(folder, "fedsim")):
            return program
    if found := shutil.which("fedsim"):
        return found
    raise CommandNotFound(
        f"the command fedsim is not in {folders[0]} nor on the PATH: install the wheel of pyfedsim, or build the command "
        "(`make build`) and name it in FEDSIM"
    )


def _is_program(program: str) -> bool:
    return os.path.isfile(program) and os.access(program, os.X_OK)
