"""What `table`, `ledgers`, `timeline` and `device_paths` give."""
import warnings

import h5py
import numpy as np
import pandas as pd
import pytest

import pyfedsim


@pytest.fixture(scope="module")
def three(run):
    """Two seeds of one policy, and a seed of another."""
    return [
        run("smoke/open"), run("smoke/open", "seed=4"), run("smoke/open", "server.payload=delta"),
    ]


def test_versions_are_one_call(night):
    rows = pyfedsim.table(night)
    with h5py.File(night) as file:
        assert rows.columns[:4].tolist() == ["file", "scenario", "seed", "version"]
        assert len(rows) == len(file["versions/version"])
        np.testing.assert_array_equal(rows["centralAccuracy"], file["versions/centralAccuracy"][()])
        np.testing.assert_array_equal(rows["publishedAt"], file["versions/publishedAt"][()])
    assert rows["version"].dtype == np.int64
    assert set(rows["scenario"]) == {"smoke-open"}


def test_several_results_have_columns_for_what_differs(three):
    rows = pyfedsim.table(three)
    assert rows.columns[:5].tolist() == [
        "file", "scenario", "seed", "server.payload", "version",
    ]
    each = rows.groupby("file", sort=False)
    assert each["seed"].first().tolist() == [3, 4, 3]
    assert each["server.payload"].first().tolist() == ["weights", "weights", "delta"]
    assert each.size().tolist() == [len(pyfedsim.table(path)) for path in three]
    alone = pyfedsim.table(three[2], settings=False)
    pd.testing.assert_frame_equal(
        rows[rows["file"] == three[2]].drop(columns="server.payload").reset_index(drop=True), alone,
    )


def test_settings_can_be_chosen(three):
    rows = pyfedsim.table(three, settings=["server.trigger.threshold.updates", "task.model.mlp.hidden"])
    assert rows.columns[3:5].tolist() == ["server.trigger.threshold.updates", "task.model.mlp.hidden"]
    assert set(rows["server.trigger.threshold.updates"]) == {3}
    assert set(rows["task.model.mlp.hidden"]) == {"[8]"}
    assert "server.payload" not in pyfedsim.table(three, settings=False)
    with pytest.raises(KeyError, match="did you mean 'server.payload'"):
        pyfedsim.table(three, settings=["server.paylod"])


def test_a_table_over_two_axes_is_long(night):
    rows = pyfedsim.table(night, "partition", over=("client", "label"))
    with h5py.File(night) as file:
        histogram = file["partition/labelHistogram"][()]
    assert len(rows) == histogram.size
    for client, label in ((0, 0), (3, 2), (histogram.shape[0] - 1, histogram.shape[1] - 1)):
        row = rows[(rows["client"] == client) & (rows["label"] == label)]
        assert row["labelHistogram"].item() == histogram[client, label]
    assert rows.columns[3:5].tolist() == ["client", "label"]


def test_single_numbers_are_a_row_a_result(three):
    rows = pyfedsim.table(three, "ledger", over=())
    assert len(rows) == 3
    for path, found in zip(three, rows["bytesUp"], strict=True):
        with h5py.File(path) as file:
            assert found == file["ledger/bytesUp"][()]


def test_which_axis_is_meant_is_asked_where_it_is_not_clear(night):
    with pytest.raises(ValueError, match="choose with over= from .*attemptOutcome"):
        pyfedsim.table(night, "ledger")
    with pytest.raises(ValueError, match="has no axis 'labels'; it has client, label"):
        pyfedsim.table(night, "partition", over="labels")


def test_a_group_that_only_one_result_has_is_told_of(run, night, three):
    assert "time" in pyfedsim.table(night, "events")
    with pytest.raises(KeyError, match="there is no group 'events'"):
        pyfedsim.table([night, three[0]], "events")


def test_ledgers_add_up(night):
    rows = pyfedsim.ledgers(night)
    assert set(rows["ledger"]) >= {"attempts", "updates", "transmissions"}
    with h5py.File(night) as file:
        for ledger in ("attempts", "updates", "transmissions"):
            counts = rows[(rows["ledger"] == ledger) & (rows["quantity"] == ledger)]
            assert counts["value"].sum() == file[f"ledger/{ledger}Opened"][()]
            words = file[f"ledger/{ledger[:-1]}Outcome"].attrs["flag_meanings"].split()
            assert counts["outcome"].tolist() == words


def test_files_of_central_training_are_a_ledger_too(run):
    rows = pyfedsim.ledgers(run("smoke/central"))
    files = rows[(rows["ledger"] == "files") & (rows["quantity"] == "filesEnded")]
    assert files["value"].sum() == pyfedsim.group(run("smoke/central"), "central").filesOpened.item()


def test_timelines_cover_the_run_without_gaps(night):
    rows = pyfedsim.timeline(night)
    assert set(rows["device"]) == {"phones/3", "tablets/0"}
    end = pyfedsim.open(night).simulatedTime.item()
    for _, part in rows.groupby(["device", "part"]):
        assert part["from"].iloc[0] == 0 and part["to"].iloc[-1] == end
        assert (part["from"].iloc[1:].to_numpy() == part["to"].iloc[:-1].to_numpy()).all()
    assert set(rows.loc[rows["part"] == "power", "state"]) <= {"plugged", "unplugged"}
    civil = pyfedsim.timeline(night, times="civil")
    assert civil["from"].iloc[0] == pd.Timestamp("2025-11-17T00:00:00")


def test_a_result_without_timelines_has_none(three):
    rows = pyfedsim.timeline(three[0])
    assert len(rows) == 0
    assert rows.columns.tolist() == ["file", "scenario", "seed", "device", "part", "from", "to", "state"]


def test_devices_have_their_paths(night):
    found = pyfedsim.device_paths(night)
    devices = pyfedsim.table(night, "devices")
    assert found[3] == "phones/3"
    assert found.nunique() == len(devices)
    events = pyfedsim.table(night, "events")
    assert set(events["device"]) <= set(found.index) | {-1}


def test_several_results_make_one_list(three):
    with pytest.raises(ValueError, match="no result was given"):
        pyfedsim.table([])
    import pathlib
    pd.testing.assert_frame_equal(pyfedsim.table(pathlib.Path(three[0])), pyfedsim.table(three[0]))


def test_a_result_that_is_not_whole_is_named_among_others(recovered, night):
    journal, checkpoint = recovered
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pyfedsim.table(journal, "versions")
        pyfedsim.table([night, night], "versions")
    with pytest.warns(pyfedsim.NotWhole, match=f"had not ended: {journal}$"):
        rows = pyfedsim.table([night, journal], "versions")
    assert rows["file"].nunique() == 2
    # What was under way has no outcome yet.
    ends = pyfedsim.ledgers(checkpoint)
    attempts = ends[ends["ledger"] == "attempts"]["value"].sum()
    assert 0 < attempts <= pyfedsim.group(checkpoint, "ledger").attemptsOpened.item()
    assert pyfedsim.ledgers(journal).empty


def test_a_group_that_holds_groups_only_is_told(night):
    with pytest.raises(ValueError, match="'timeline' holds other groups only: timeline/power"):
        pyfedsim.table(night, "timeline")
