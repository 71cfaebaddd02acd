"""The package finds the command."""
import sysconfig

import pytest

from pyfedsim import _command


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """An environment, a user and a PATH with no command in them; `put` makes one."""
    paths = {name: tmp_path / name for name in ("environment", "user", "path")}
    for folder in paths.values():
        folder.mkdir()
    schemes = {sysconfig.get_default_scheme(): "environment", sysconfig.get_preferred_scheme("user"): "user"}
    monkeypatch.setattr(sysconfig, "get_path", lambda _, scheme=sysconfig.get_default_scheme(): str(paths[schemes[scheme]]))
    monkeypatch.setenv("PATH", str(paths["path"]))
    monkeypatch.delenv("FEDSIM", raising=False)
    return paths


def put(folder, mode=0o755):
    program = folder / "fedsim"
    program.write_text("#!/bin/sh\n")
    program.chmod(mode)
    return str(program)


def test_the_environments_command_comes_before_the_users_and_that_before_the_paths(folders):
    last = put(folders["path"])
    assert _command.path() == last
    second = put(folders["user"])
    assert _command.path() == second
    first = put(folders["environment"])
    assert _command.path() == first


def test_the_variable_names_the_command_before_all_else(folders, tmp_path, monkeypatch):
    put(folders["environment"])
    own = put(tmp_path)
    monkeypatch.setenv("FEDSIM", own)
    assert _command.path() == own


def test_a_variable_that_names_no_program_is_an_error_and_nothing_else_is_taken(folders, tmp_path, monkeypatch):
    put(folders["environment"])
    monkeypatch.setenv("FEDSIM", put(tmp_path, mode=0o644))
    with pytest.raises(_command.CommandNotFound, match="there is no program at this path"):
        _command.path()


def test_without_a_command_it_is_said_what_to_do(folders):
    with pytest.raises(FileNotFoundError, match="install the wheel of pyfedsim"):
        _command.path()
