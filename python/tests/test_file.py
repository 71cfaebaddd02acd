"""What `open`, `group`, `groups` and `attributes` give, beside what h5py reads."""
import os
import shutil
import subprocess
import warnings

import h5py
import numpy as np
import pytest
import xarray

import pyfedsim
from conftest import COMMAND
from pyfedsim._file import decoded


def variables(path):
    """Path, data set and its group, of every variable in a file, as h5py sees them."""
    found = []
    with h5py.File(path) as file:
        def visit(name, node):
            if isinstance(node, h5py.Dataset) and node.dtype.kind in "fiu":
                bare = bytes(node.attrs.get("NAME", b"")).startswith(b"This is a netCDF dimension but not")
                if not bare:
                    found.append((name, node[()], dict(node.attrs)))
        file.visititems(visit)
    return found


def test_every_variable_is_there_with_the_values_that_h5py_reads(night):
    tree = pyfedsim.open(night)
    known = variables(night)
    assert len(known) > 100
    for name, values, attributes in known:
        found = tree[name]
        if name == "startTime":
            assert found.values == np.datetime64(int(values), "s")
        elif "flag_meanings" in attributes:
            words = attributes["flag_meanings"].split()
            assert found.values.tolist() == [words[list(attributes["flag_values"]).index(code)] for code in values]
            assert found.attrs["categories"] == words
        else:
            np.testing.assert_array_equal(found.values, values)
            assert found.dtype == values.dtype
        assert found.attrs["long_name"] == attributes["long_name"]


def test_accuracy_over_time_is_one_expression(night):
    accuracy = pyfedsim.open(night)["versions"].centralAccuracy
    assert accuracy.dims == ("version",)
    assert "publishedAt" in accuracy.coords
    # The accuracy at a time is that of the last version published at or before it.
    last = accuracy.swap_dims(version="publishedAt").sel(publishedAt=7200.0, method="ffill")
    with h5py.File(night) as file:
        row = np.searchsorted(file["versions/publishedAt"][()], 7200.0, side="right") - 1
        assert last.item() == file["versions/centralAccuracy"][row]


def test_a_group_is_that_of_the_tree(night):
    tree = pyfedsim.open(night)
    assert set(pyfedsim.groups(night)) == {node.path.strip("/") for node in tree.subtree} - {""}
    for name in ("", *pyfedsim.groups(night)):
        data = pyfedsim.group(night, name)
        assert isinstance(data, xarray.Dataset)
        assert data.identical(tree[f"/{name}"].to_dataset(inherit=False))


def test_civil_times_are_the_start_of_the_run_and_the_time_since(night):
    seconds = pyfedsim.group(night, "versions")
    civil = pyfedsim.group(night, "versions", times="civil")
    spans = pyfedsim.group(night, "versions", times="timedelta")
    assert civil.publishedAt.values[0] == np.datetime64("2025-11-17T00:00:00")
    # The clock has whole microseconds, and a nanosecond too many would show that they were lost.
    since = civil.publishedAt.values - np.datetime64("2025-11-17T00:00:00", "ns")
    assert (since.astype(np.int64) % 1000 == 0).all()
    assert (since.astype(np.int64) == np.rint(seconds.publishedAt.values * 1e6).astype(np.int64) * 1000).all()
    assert (spans.publishedAt.values == since).all()
    # Durations are no moments.
    assert civil.meanStalenessSeconds.dtype == spans.meanStalenessSeconds.dtype == np.dtype("timedelta64[ns]")
    hours = pyfedsim.group(night, "hours", times="civil")
    assert hours.hour.values[5] == np.datetime64("2025-11-17T05:00:00")


def test_a_missing_time_stays_missing_and_others_have_the_microseconds_that_were_meant():
    # 0.1 + 0.2 s is 300 ms; 1,234,567.891011 s is the nearest float to a whole number of microseconds;
    # a mean of a third of a second is rounded to nanoseconds.
    data = xarray.Dataset({
        "at": ("x", [np.nan, 0.1 + 0.2, 1_234_567.891011, 1 / 3], {"units": "s", "long_name": "simulated time"}),
    })
    start = np.datetime64("2025-11-17T00:00:00", "ns")
    spans = decoded(data, "timedelta", start)["at"].values
    assert np.isnat(spans[0])
    assert spans[1:].astype(np.int64).tolist() == [300_000_000, 1_234_567_891_011_000, 333_333_333]
    moments = decoded(data, "civil", start)["at"].values
    assert np.isnat(moments[0]) and moments[1] == np.datetime64("2025-11-17T00:00:00.300", "ns")


def test_attributes_are_plain_values(night):
    found = pyfedsim.attributes(night)
    assert found["title"] == "smoke-open"
    assert type(found["seed"]) is int and type(found["schemaVersion"]) is int
    assert len(found["contentDigest"]) == 64


def test_what_is_no_result_is_told_of(night, tmp_path):
    (tmp_path / "text.h5").write_text("hours, in words")
    with pytest.raises(pyfedsim.NotAResult, match="not an HDF5 file"):
        pyfedsim.open(tmp_path / "text.h5")
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    with pytest.raises(pyfedsim.NotAResult, match="not a result of FedSim"):
        pyfedsim.attributes(tmp_path / "other.h5")
    with pytest.raises(FileNotFoundError):
        pyfedsim.open(tmp_path / "none.h5")
    with pytest.raises(KeyError, match="no group 'version'; there are rounds, versions"):
        pyfedsim.group(night, "version")
    with pytest.raises(ValueError, match="found 'hours', expected 'seconds'"):
        pyfedsim.group(night, "versions", times="hours")


def test_a_result_that_another_program_has_changed_opens_with_a_warning(night, tmp_path):
    path = tmp_path / "changed.h5"
    shutil.copy(night, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error", pyfedsim.Changed)
        pyfedsim.open(path)
        pyfedsim.group(path, "versions")
    with h5py.File(path, "r+") as file:
        file.attrs["title"] = "mine"
    with pytest.warns(pyfedsim.Changed, match="changed.h5: this result is not as FedSim wrote it"):
        assert pyfedsim.open(path).attrs["title"] == "mine"
    with pytest.warns(pyfedsim.Changed):
        pyfedsim.group(path, "versions")


@pytest.mark.parametrize("link, target", [("devices/self", "devices"), ("loop", "/"), ("again", "versions")])
def test_a_group_that_is_linked_twice_is_refused_at_once(night, tmp_path, link, target):
    path = tmp_path / "loop.h5"
    shutil.copy(night, path)
    with h5py.File(path, "r+") as file:
        file[link] = file[target]
    for read in (pyfedsim.open, pyfedsim.groups, lambda path: pyfedsim.group(path, "versions")):
        with pytest.raises(pyfedsim.NotAResult, match="loop.h5: .*: a link to a group that is elsewhere, too"):
            read(path)


def test_groups_are_read_to_sixteen_levels(night, tmp_path):
    path = tmp_path / "deep.h5"
    shutil.copy(night, path)
    with h5py.File(path, "r+") as file:
        file.create_group("/".join("abcdefghijklmnop"[:15]))
    assert "/".join("abcdefghijklmno") in pyfedsim.groups(path)
    with h5py.File(path, "r+") as file:
        file.create_group("/".join("abcdefghijklmnop"))
    for read in (pyfedsim.open, pyfedsim.groups):
        with pytest.raises(pyfedsim.NotAResult, match="more than 16 groups one in the other"):
            read(path)


def test_a_replaced_dimension_is_an_error_of_the_package(night, tmp_path):
    path = tmp_path / "replaced.h5"
    shutil.copy(night, path)
    with h5py.File(path, "r+") as file:
        length = file["devices/device"].shape[0]
        del file["devices/device"]
        file["devices/device"] = np.arange(length)
    for read in (pyfedsim.open, lambda path: pyfedsim.group(path, "devices")):
        with pytest.raises(pyfedsim.NotAResult, match="replaced.h5: this file is not as FedSim wrote it"):
            read(path)
    said = subprocess.run([COMMAND, "report", path], capture_output=True, text=True)
    assert said.returncode == 2 and "a reference to a dimension that is not there" in said.stderr, said.stderr
    with h5py.File(path, "r+") as file:
        del file["versions"]
        file["versions"] = h5py.SoftLink("/nowhere")
    with pytest.raises(pyfedsim.NotAResult, match="replaced.h5: "):
        pyfedsim.groups(path)


def test_nothing_is_written(night):
    before = os.stat(night)
    pyfedsim.open(night), pyfedsim.table(night), pyfedsim.ledgers(night), pyfedsim.timeline(night)
    after = os.stat(night)
    assert (before.st_mtime_ns, before.st_size) == (after.st_mtime_ns, after.st_size)


def test_a_recovered_result_opens_and_says_that_it_is_not_whole(recovered, night):
    journal, checkpoint = recovered
    assert pyfedsim.is_whole(night) and not pyfedsim.is_whole(journal) and not pyfedsim.is_whole(checkpoint)
    assert pyfedsim.groups(journal) == ["rounds", "versions"]
    assert set(pyfedsim.groups(checkpoint)) > {"rounds", "versions", "devices", "ledger", "effort"}
    tree = pyfedsim.open(checkpoint)
    # The tables of the checkpoint are of a time that the run had come to, and all say the same.
    times = {tree[name].attrs["asOf"] for name in pyfedsim.groups(checkpoint) if "asOf" in tree[name].attrs}
    assert len(times) == 1 and 0 < times.pop() <= tree.simulatedTime.item()
    assert pyfedsim.open(journal)["versions"].sizes["version"] == len(pyfedsim.table(journal, "versions"))
    with pytest.raises(KeyError, match="no group 'ledger'; there are rounds, versions"):
        pyfedsim.group(journal, "ledger")


def test_the_table_of_a_sweep_is_named_as_what_it_is(tmp_path):
    path = tmp_path / "table.h5"
    with h5py.File(path, "w") as file:
        file.attrs["Conventions"] = "CF-1.10 FedSim-sweep-1"
    with pytest.raises(pyfedsim.NotAResult, match="this is the table of a sweep"):
        pyfedsim.open(path)


def test_a_scale_that_comes_after_its_variables_is_found(night, tmp_path):
    """As files have it that other programs rewrote: `fedsim` reads the same from them."""
    moved = tmp_path / "moved.h5"
    shutil.copy(night, moved)
    with h5py.File(moved, "r+") as file:
        scales = [f"/versions/{name}" for name, data in file["versions"].items() if "REFERENCE_LIST" in data.attrs]
        assert scales
        for scale in scales:
            file.move(scale, "/elsewhere")
            file.move("/elsewhere", scale)
    done = subprocess.run([COMMAND, "compare", night, moved], capture_output=True, text=True)
    assert (done.returncode, done.stdout.split(":")[0]) == (0, "same content"), done.stderr
