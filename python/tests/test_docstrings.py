"""Every public name of the package has a docstring, and that of a function or method says its errors."""
import inspect

import pytest

import pyfedsim


def members():
    names = [(name, getattr(pyfedsim, name)) for name in pyfedsim.__all__]
    names += [(f"trackers.{name}", getattr(pyfedsim.trackers, name)) for name in pyfedsim.trackers.__all__]
    for name, value in names:
        yield name, value
        if inspect.isclass(value) and value.__module__.startswith("pyfedsim"):
            for inner, member in vars(value).items():
                is_field = inner in getattr(value, "__dataclass_fields__", {})
                if not inner.startswith("_") and not is_field and (callable(member) or hasattr(member, "__get__")):
                    yield f"{name}.{inner}", getattr(member, "func", member)


@pytest.mark.parametrize("name, value", [pair for pair in members() if pair[0] not in ("Callback", "Split")])
def test_a_public_name_has_a_docstring(name, value):
    text = inspect.getdoc(value) or ""
    assert text, f"{name} has no docstring"
    is_call = inspect.isfunction(value) or isinstance(value, property)
    # A user writes the members of these two; the class says what an error in one of them does.
    if is_call and not name.startswith(("Tracker.", "Trainer.")):
        assert "rrors" in text, f"{name} does not say its errors"


def test_the_classes_that_users_complete_say_what_an_error_does():
    for whole in (pyfedsim.Trainer, pyfedsim.Tracker):
        assert "rrors" in (inspect.getdoc(whole) or "")


def test_the_rule_finds_what_it_is_for():
    found = dict(members())
    assert {"run", "Result.explain", "trackers.MLflow.version", "Sweep.failed"} <= set(found)
