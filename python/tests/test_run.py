"""`pyfedsim.run`: what it gives, where the result is, what a callback hears, and what is wrong."""
import gc
import os
import pathlib
import signal
import stat
import subprocess
import sys

import h5py
import numpy as np
import pytest
from conftest import COMMAND
from small import small

import pyfedsim
from pyfedsim import _command

BAD = "version: 1\nname: x\nfleet:\n  - name: phones\n    cont: 3\nserver: {trigger: {treshold: 5}}\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test in a folder of its own, with the command of the tests."""
    monkeypatch.setenv("FEDSIM", COMMAND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_dictionary_gives_the_bytes_of_its_file_and_its_result_goes_with_the_object(here):
    import yaml

    (here / "small.yaml").write_text(yaml.safe_dump(small()))
    subprocess.run([COMMAND, "run", "small.yaml", "-q", "-o", "command.h5"], check=True, stdout=subprocess.DEVNULL)
    result = pyfedsim.run(small(), progress=False)
    assert result.path.read_bytes() == pathlib.Path("command.h5").read_bytes()
    kept = result.path.parent
    assert kept.is_dir() and not (here / "results").exists()
    del result
    gc.collect()
    assert not kept.exists()


def test_a_result_has_the_summary_and_its_groups_as_h5py_reads_them(here):
    result = pyfedsim.run(small(), seed=7, set={"server.trigger.threshold": 3}, output=here / "a.h5")
    with h5py.File("a.h5") as file:
        accuracy = file["versions/centralAccuracy"][()]
        aggregated = int(file["versions/updates"][()].sum())
        assert file.attrs["seed"] == result.summary["seed"] == 7
    np.testing.assert_array_equal(result.versions.centralAccuracy, accuracy)
    assert result.summary["version"] == len(accuracy) - 1 and result.summary["accuracy"] == accuracy[-1]
    assert set(result.table()["updates"][1:]) == {3}
    ends = result.ledgers().query("ledger == 'updates' and quantity == 'updates'").set_index("outcome")["value"]
    assert ends["aggregated"] == aggregated
    assert result.scenario.settings["server.trigger.threshold.updates"] == 3
    assert "versions" in dir(result) and "versions" in result.open().children
    assert result.holds and result.warnings == []
    assert f"versions     {len(accuracy) - 1}" in repr(result) and "<td" in result._repr_html_()
    with pytest.raises(AttributeError, match="has no group 'verions'"):
        result.verions
    assert len(pyfedsim.table(result)) == len(accuracy)


def test_a_callback_hears_each_version_with_the_columns_of_the_table_and_changes_no_byte(here):
    rows = []
    heard = pyfedsim.run(small(), output="a.h5", callbacks=[rows.append])
    pyfedsim.run(small(), output="b.h5", progress=False)
    assert pathlib.Path("a.h5").read_bytes() == pathlib.Path("b.h5").read_bytes()
    with h5py.File("a.h5") as file:
        names = [name for name in file["versions"] if name in rows[0]]
        assert {"publishedAt", "centralAccuracy", "trainingLoss", "bytesUp"} <= set(names)
        for name in names:
            np.testing.assert_array_equal([row[name] for row in rows], file["versions"][name][()], name)
    assert len(rows) == heard.summary["version"] + 1


def test_an_error_in_a_callback_ends_the_run_which_can_be_resumed(here):
    def stop(row):
        if row["version"] == 3:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        pyfedsim.run(small(stop={"after": "36500 d"}), output="a.h5", callbacks=[stop])
    assert not pathlib.Path("a.h5").exists() and pathlib.Path("a.h5.run").is_dir()
    with pytest.raises(pyfedsim.ScenarioError, match="unfinished run"):
        pyfedsim.run(small(stop={"after": "36500 d"}), output="a.h5")
    assert pyfedsim.run(small(), output="a.h5", restart=True).summary["version"] > 3


def test_faults_of_a_file_have_file_line_and_column(here):
    (here / "bad.yaml").write_text(BAD)
    with pytest.raises(pyfedsim.ScenarioError) as caught:
        pyfedsim.run("bad.yaml")
    assert [(f.file, f.line, f.column, f.path) for f in caught.value.faults] == [
        ("bad.yaml", 4, 5, "fleet[0]"), ("bad.yaml", 5, 5, "fleet[0]"), ("bad.yaml", 6, 20, "server.trigger"),
    ]
    assert caught.value.faults[1].message == "unknown key `cont`; did you mean `count`?"
    assert caught.value.faults[1].advice == "did you mean `count`?"
    printed = subprocess.run([COMMAND, "run", "bad.yaml"], capture_output=True, text=True).stderr
    assert printed.startswith(str(caught.value) + "\n") and not (here / "results").exists()


def test_faults_of_a_dictionary_and_of_values_are_named_by_their_paths():
    with pytest.raises(pyfedsim.ScenarioError) as caught:
        pyfedsim.validate(small(server={"trigger": {"treshold": 2}}))
    fault = caught.value.faults[0]
    assert (fault.file, fault.line, fault.column, fault.path) == (None, None, None, "server.trigger")
    assert str(caught.value).startswith("server.trigger: there is no aggregation trigger `treshold`")
    with pytest.raises(pyfedsim.ScenarioError) as caught:
        pyfedsim.validate(small(), set={"server.triger": 3})
    assert (caught.value.faults[0].file, caught.value.faults[0].column) == ("--set server.triger=3", 8)
    with pytest.raises(ValueError):
        pyfedsim.validate(small(seed=float("nan")))
    with pytest.raises(TypeError, match="cannot hold"):
        pyfedsim.validate(small(seed=object()))


def test_numbers_of_numpy_paths_and_null_are_values():
    found = pyfedsim.validate(small(), set={"server.trigger.threshold": np.int64(4), "stop": None, "stop.rounds": 3})
    assert found.settings["server.trigger.threshold.updates"] == 4 and found.settings["stop.rounds"] == 3


def test_another_result_is_not_replaced_unless_asked(here):
    pyfedsim.run(small(), output="a.h5")
    before = pathlib.Path("a.h5").read_bytes()
    with pytest.raises(pyfedsim.ScenarioError, match="the result of another run is here"):
        pyfedsim.run(small(), seed=2, output="a.h5")
    assert pathlib.Path("a.h5").read_bytes() == before
    assert pyfedsim.run(small(), seed=2, output="a.h5", force=True).summary["seed"] == 2


def test_broken_assertions_are_warnings_and_the_result_is_there():
    with pytest.warns(pyfedsim.ScenarioWarning, match="at least 1000"):
        result = pyfedsim.run(small(expect=[{"versions": {"atLeast": 1000}}]))
    assert not result.holds and result.summary["version"] < 1000


def test_ctrl_c_is_passed_on_and_the_run_can_be_resumed(here):
    # A shell starts what is in the background with the signal ignored.
    program = f"""
import signal, sys, pyfedsim
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    pyfedsim.run({small(stop={'after': '36500 d'})!r}, output="a.h5", callbacks=[lambda row: print(flush=True)])
except KeyboardInterrupt as error:
    print("stopped", error.__notes__ if sys.version_info >= (3, 11) else error)
"""
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    out = process.communicate(timeout=60)[0]
    assert "stopped" in out and "fedsim resume a.h5" in out
    assert pathlib.Path("a.h5.run/run.json").exists() and not pathlib.Path("a.h5").exists()


def test_a_command_that_dies_is_a_run_error(here, monkeypatch):
    dying = here / "dying"
    dying.write_text("#!/bin/sh\necho half a line >&2\nkill -9 $$\n")
    dying.chmod(dying.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("FEDSIM", str(dying))
    with pytest.raises(pyfedsim.RunError, match="signal 9\nhalf a line") as caught:
        pyfedsim.run(small())
    assert caught.value.code == -9


def test_the_command_is_looked_for_and_its_absence_says_what_to_do(here, monkeypatch):
    assert _command.path() == os.path.abspath(COMMAND)
    monkeypatch.setenv("FEDSIM", "nothing-here")
    with pytest.raises(pyfedsim.CommandNotFound, match="FEDSIM=nothing-here"):
        pyfedsim.run(small())
    monkeypatch.delenv("FEDSIM")
    monkeypatch.setattr(_command, "_script_folders", lambda: [str(here)])
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pyfedsim.CommandNotFound, match="make build"):
        _command.path()
    (here / "fedsim").symlink_to(COMMAND)
    assert _command.path() == str(here / "fedsim")


def test_progress_is_a_bar_only_where_it_is_seen(capsys):
    pytest.importorskip("tqdm")
    pyfedsim.run(small(), progress="auto")
    assert capsys.readouterr().err == ""
    pyfedsim.run(small(), progress=True)
    shown = capsys.readouterr().err
    assert "100%" in shown and "run" in shown
    with pytest.raises(ValueError, match="expected True, False or 'auto'"):
        pyfedsim.run(small(), progress="yes")
