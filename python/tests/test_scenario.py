"""The resolved scenario, beside what PyYAML reads."""
import re

import pytest
import yaml

import pyfedsim
from pyfedsim._scenario import parse


class Core(yaml.SafeLoader):
    """PyYAML with the plain scalars of YAML 1.2's core schema, where `on` is a word and `22:30` no number."""


Core.yaml_implicit_resolvers = {}
for tag, pattern, first in (
    ("null", r"null", "n"),
    ("bool", r"true|false", "tf"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    Core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"(?:{pattern})$"), list(first))


def test_every_scenario_that_is_shipped_reads_as_pyyaml_reads_it(resolved):
    assert len(resolved) > 15
    for name, source in resolved.items():
        # Python's equality takes 1, 1.0 and true for one; their texts are different.
        assert repr(parse(source)) == repr(yaml.load(source, Core)), name


def test_strings_with_everything_in_them_read_as_they_were():
    source = (
        'a: "x: [1, \\"2\\"] # no\\n\\t\\\\ größe \\U0001f600"\n"b: c": [1, "two, three", null, true]\n'
        "d:\n  - - 1\n    - x: 2\n  - {}\n  - []\ne: 2025-11-17T00:00:00Z\nf: 1e-05\ng: -3\nh: 7 d\n"
    )
    assert parse(source) == {
        "a": 'x: [1, "2"] # no\n\t\\ größe 😀', "b: c": [1, "two, three", None, True],
        "d": [[1, {"x": 2}], {}, []], "e": "2025-11-17T00:00:00Z", "f": 1e-05, "g": -3, "h": "7 d",
    }


@pytest.mark.parametrize("source", ["a: 1\n    b: 2\n", 'a: ["x]\n', "a: 1\nb\n"])
def test_what_it_does_not_write_is_refused(source):
    with pytest.raises(ValueError, match="scenario: found"):
        parse(source)


def test_settings_have_the_paths_that_the_command_takes(run):
    settings = pyfedsim.scenario(run("smoke/open")).settings
    assert settings["server.trigger.threshold.updates"] == 3
    assert settings["fleet.phones.count"] == 25
    assert settings["fleet.phones.link.markov.states.0.state"] == "wifi"
    assert pyfedsim.scenario(run("smoke/open", "fleet.phones.count=26")).settings["fleet.phones.count"] == 26


def test_differences_are_those_that_were_set(run):
    found = pyfedsim.differences([run("smoke/open"), run("smoke/open", "server.payload=delta", "seed=9")])
    assert found == {"server.payload": ["weights", "delta"]}


def test_the_text_is_the_one_in_the_file(night):
    import h5py
    with h5py.File(night) as file:
        assert pyfedsim.scenario(night).text == file["scenario"].asstr()[()]


def test_a_comment_behind_a_value_is_not_part_of_it():
    text = 'a: 5  # from m.mlmodel\nb: "x  # y"\nc: word#1\nd: [1, "# 2"]  # from "m"\ne: "it\'s \\" # one"\n'
    assert parse(text) == {"a": 5, "b": "x  # y", "c": "word#1", "d": [1, "# 2"], "e": "it's \" # one"}
