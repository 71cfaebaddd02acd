"""What is there of Flower programs without flwr."""
from __future__ import annotations

import sys

import pytest

import pyfedsim
from conftest import COMMAND, ROOT
from pyfedsim import _flower_clients

app = object()


def test_without_flower_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "flwr" or name.startswith("pyfedsim.")]:
        if "flower" in name or "flwr" in name:
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "flwr", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'pyfedsim\[flower\]'"):
        import pyfedsim.flower  # noqa: F401


def test_the_command_alone_says_who_plays_the_scenario(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FEDSIM", COMMAND)
    with pytest.raises(pyfedsim.ScenarioError, match=r"task.flower: .*pyfedsim\.flower\.run"):
        pyfedsim.run(ROOT / "Examples" / "flower" / "scenario.yaml", progress=False)


def test_an_app_is_found_by_the_module_that_has_it() -> None:
    assert _flower_clients.reference(app) == (__name__, "app")
    assert _flower_clients.reference(object()) is None
