"""`validate`, `check`, `compare`, `explain`, `sweep` and globs."""
import json
import pathlib
import subprocess

import h5py
import numpy as np
import pandas as pd
import pytest
from conftest import COMMAND, ROOT
from small import small

import pyfedsim


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test in a folder of its own, with the command of the tests."""
    monkeypatch.setenv("FEDSIM", COMMAND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="module")
def policies(tmp_path_factory):
    """Three seeds of two policies, a-1.h5 … b-3.h5."""
    folder = tmp_path_factory.mktemp("policies")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FEDSIM", COMMAND)
        for name, threshold in (("a", 2), ("b", 3)):
            for seed in (1, 2, 3):
                values = {"server.trigger.threshold": threshold}
                pyfedsim.run(small(), set=values, seed=seed, output=folder / f"{name}-{seed}.h5")
    return folder


def test_a_valid_scenario_has_every_value_and_its_warnings():
    found = pyfedsim.validate(small())
    assert found.settings["server.trigger.threshold.updates"] == 2 and found.warnings == []
    assert found.scenario.tree["fleet"][0]["name"] == "phones"
    with pytest.warns(pyfedsim.ScenarioWarning, match="threshold") as warned:
        found = pyfedsim.validate(small(server={"trigger": {"threshold": 50}}))
    assert len(found.warnings) == 1 and warned[0].filename == __file__


def test_values_that_the_file_of_a_model_gave_are_read_without_their_origins():
    found = pyfedsim.validate(ROOT / "scenarios" / "smoke" / "core-ml.yaml")
    assert found.settings["task.training.loss"] == "cross-entropy" and found.settings["task.training.epochs"] == 5


def test_check_is_a_table_of_claims(here):
    expect = [{"versions": {"atLeast": 1}}, {"versions": {"atMost": 0}}]
    (here / "claims.yaml").write_text(json.dumps(small(expect=expect)))
    rows = pyfedsim.check("claims.yaml")
    assert rows["holds"].tolist() == [True, False] and set(rows["kind"]) == {"assertion"}
    assert rows["place"][0].startswith("claims.yaml:1:")
    (here / "bad.yaml").write_text("fleet: 3\n")
    with pytest.raises(pyfedsim.ScenarioError) as caught:
        pyfedsim.check("bad.yaml")
    assert caught.value.faults[0].file == "bad.yaml" and caught.value.faults[0].line == 1


def test_two_results_are_compared_and_say_where_they_differ(policies):
    same = pyfedsim.compare(policies / "a-1.h5", policies / "a-1.h5")
    assert same.same and same.data["verdict"] == "sameBytes"
    other = pyfedsim.compare(policies / "a-1.h5", policies / "b-1.h5", replay=False)
    settings = other.table.query("part == 'settings'")
    assert other.same is False and settings["a"].tolist()[0] == "2" and settings["b"].tolist()[0] == "3"


def test_globs_on_each_side_compare_policies_over_seeds(policies):
    found = pyfedsim.compare(f"{policies}/a-*.h5", f"{policies}/b-*.h5", measures=["finalAccuracy", "staleness"])
    last = []
    for seed in (1, 2, 3):
        with h5py.File(policies / f"a-{seed}.h5") as file:
            last.append(file["versions/centralAccuracy"][-1])
    row = found.table.set_index("measure").loc["finalAccuracy"]
    assert found.same is None and len(found.table) == 2
    assert row["medianA"] == np.median(last) and row["pairs"] == 3
    with pytest.raises(pyfedsim.InputError, match="its seed, 1"):
        pyfedsim.compare([policies / "a-1.h5"] * 2, f"{policies}/b-*.h5")


def test_globs_are_sorted_and_one_without_a_file_is_an_error(policies):
    rows = pyfedsim.table(f"{policies}/a-*.h5")
    assert list(dict.fromkeys(rows["file"])) == [f"{policies}/a-{seed}.h5" for seed in (1, 2, 3)]
    assert set(pyfedsim.ledgers(f"{policies}/[ab]-2.h5")["seed"]) == {2}
    for call in (pyfedsim.table, pyfedsim.ledgers, lambda path: pyfedsim.compare(path, path)):
        with pytest.raises(FileNotFoundError, match="no file matches"):
            call(f"{policies}/z-*.h5")
    odd = policies / "odd[1].h5"
    odd.write_bytes((policies / "a-1.h5").read_bytes())
    assert set(pyfedsim.table(odd)["seed"]) == {1}


def test_an_explanation_names_the_cause(policies):
    result = pyfedsim.Result(policies / "a-1.h5")
    found = result.explain("phones/0")
    printed = subprocess.run(
        [COMMAND, "explain", result, "--device", "phones/0"], capture_output=True, text=True, check=True,
    ).stdout
    assert found.cause == "contributed" and found.contributed
    assert str(found).splitlines()[-1] == printed.splitlines()[-1]
    with pytest.raises(pyfedsim.InputError, match="there is no device `phones/9`"):
        result.explain("phones/9")


def test_a_sweep_has_tables_arrays_and_the_results_of_its_cells(here):
    section = {"grid": {"server.trigger.threshold": [2, 3], "server.payload": ["weights", "delta"]}, "replicas": 2}
    sweep = pyfedsim.sweep(small(sweep=section), output="s", jobs=2, versions=True, progress=False)
    rows, arrays = sweep.table(), sweep.arrays()
    assert sweep.axes == ["threshold", "payload"] and len(rows) == 8 and len(sweep.failed) == 0
    assert arrays.finalAccuracy.dims == ("threshold", "payload", "replica")
    assert arrays.payload.values.tolist() == ["weights", "delta"] and set(arrays.outcome.values.flat) == {"finished"}
    for _, row in rows.iterrows():
        with h5py.File(sweep.results()[row["cell"]]) as file:
            assert file["versions/centralAccuracy"][-1] == row["finalAccuracy"]
            assert np.uint64(file.attrs["seed"]) == row["seed"]
        place = {"threshold": row["threshold"], "payload": row["payload"], "replica": row["replica"]}
        assert arrays.finalAccuracy.sel(place) == row["finalAccuracy"]
    assert len(sweep.versions()) == sum(rows["versions"]) + 8
    again = pyfedsim.open_sweep("s")
    pd.testing.assert_frame_equal(again.table(), rows)
    assert "8 cells over threshold, payload" in repr(again)
    with pytest.raises(pyfedsim.NotAResult, match="no sweep.json"):
        pyfedsim.open_sweep(here)
    with pytest.raises(pyfedsim.ScenarioError, match="treshold"):
        pyfedsim.sweep(small(sweep={"grid": {"server.trigger.treshold": [2]}}), output="t")
    assert not pathlib.Path("t").exists()
