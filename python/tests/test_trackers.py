"""Each tracker's own reader finds the metrics of a run, equal to those in the result file."""
import glob
import math
import time

import h5py
import numpy as np
import pytest
from conftest import COMMAND
from small import small

import pyfedsim

NAMES = ("centralAccuracy", "centralLoss", "bytesUp", "publishedAt")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """Every test in a folder of its own, with the command of the tests."""
    monkeypatch.setenv("FEDSIM", COMMAND)
    monkeypatch.chdir(tmp_path)


def played(tracker):
    """Runs with a tracker; the columns of the versions, as h5py reads them."""
    pyfedsim.run(small(), output="a.h5", callbacks=[tracker])
    with h5py.File("a.h5") as file:
        return {name: file["versions"][name][()].astype(float) for name in (*NAMES, "trainingLoss")}


def test_tensorboard_reads_the_metrics_back():
    pytest.importorskip("tensorboard", reason="tensorboard is not installed")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    columns = played(pyfedsim.trackers.TensorBoard("logs"))
    found = EventAccumulator("logs", size_guidance={"scalars": 0})
    found.Reload()
    for name in NAMES:
        events = found.Scalars(name)
        assert [event.step for event in events] == list(range(len(columns[name])))
        np.testing.assert_array_equal([event.value for event in events], columns[name].astype(np.float32))
        np.testing.assert_array_equal([event.wall_time for event in events], columns["publishedAt"])
    # Version 0 has no trainings, so it has no loss.
    assert [event.step for event in found.Scalars("trainingLoss")][0] == 1
    text = found.Tensors("settings/text_summary" if "settings/text_summary" in found.Tags()["tensors"] else "settings")
    assert b"server.trigger.threshold.updates: 2" in text[0].tensor_proto.string_val[0]


def test_mlflow_reads_the_metrics_back(tmp_path, monkeypatch):
    pytest.importorskip("mlflow", reason="neither mlflow nor mlflow-skinny is installed")
    from mlflow import MlflowClient

    # mlflow-skinny has no database.
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    tracker = pyfedsim.trackers.MLflow("phones", uri=f"file:{tmp_path}/mlruns", name="first")
    columns = played(tracker)
    client = MlflowClient(tracking_uri=f"file:{tmp_path}/mlruns")
    run = client.get_run(tracker.run_id)
    assert run.info.status == "FINISHED" and run.info.run_name == "first"
    assert run.data.params["server.trigger.threshold.updates"] == "2"
    assert run.data.metrics["final.accuracy"] == columns["centralAccuracy"][-1]
    for name in NAMES:
        history = client.get_metric_history(tracker.run_id, name)
        assert [metric.step for metric in history] == list(range(len(columns[name])))
        assert [metric.value for metric in history] == columns[name].tolist()
    assert history[-1].timestamp == round(columns["publishedAt"][-1] * 1000)


def test_wandb_reads_the_metrics_back(monkeypatch):
    pytest.importorskip("wandb", reason="wandb is not installed")
    import wandb

    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.setenv("WANDB_ERROR_REPORTING", "false")
    quiet = wandb.Settings(x_disable_stats=True, x_disable_meta=True, disable_git=True, console="off")
    columns = played(pyfedsim.trackers.Wandb("phones", folder="w", settings=quiet))
    rows, config = [], {}
    for record in finished(glob.glob("w/wandb/offline-run-*/run-*.wandb")[0]):
        if record.WhichOneof("record_type") == "history":
            rows.append({(i.key or ".".join(i.nested_key)): float(i.value_json) for i in record.history.item
                         if i.value_json[:1] in "-0123456789"})
        # W&B writes the config with the run, or on its own behind it.
        updates = [*record.run.config.update, *record.config.update]
        config |= {item.key or ".".join(item.nested_key): item.value_json for item in updates}
    assert config["server.trigger.threshold.updates"] == "2"
    assert [row["_step"] for row in rows] == list(range(len(columns["publishedAt"])))
    for name in NAMES:
        assert [row[name] for row in rows] == columns[name].tolist()
    assert "trainingLoss" not in rows[0] and not math.isnan(rows[1]["trainingLoss"])


def finished(path, seconds=60):
    """The records of an offline run, once its end is among them: W&B's process may still write when a run is over."""
    deadline = time.monotonic() + seconds
    while True:
        records = list(wandb_records(path))
        if any(record.WhichOneof("record_type") == "exit" for record in records) or time.monotonic() > deadline:
            return records
        time.sleep(0.2)


def wandb_records(path):
    """The records of an offline run: by W&B's reader where it has one in Python, else by its own record type.

    From 0.22 on, W&B reads these files in its Go program only. The file is a log as LevelDB writes it: a head of 7
    bytes, then blocks of 32 KiB with pieces of checksum (4 bytes), length (2), kind (1: whole, 2: first,
    3: middle, 4: last).
    """
    from wandb.proto.wandb_internal_pb2 import Record

    try:
        from wandb.sdk.internal.datastore import DataStore
    except ImportError:
        with open(path, "rb") as file:
            payloads = list(leveldb(file.read()))
    else:
        store = DataStore()
        store.open_for_scan(path)
        payloads = list(iter(store.scan_data, None))
    for payload in payloads:
        record = Record()
        record.ParseFromString(payload)
        yield record


def leveldb(data):
    at, whole = 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        length, kind = int.from_bytes(data[at + 4:at + 6], "little"), data[at + 6]
        whole += data[at + 7:at + 7 + length]
        at += 7 + length
        if kind in (1, 4):
            yield whole
            whole = b""


def test_a_run_that_fails_ends_its_trackers():
    class Heard:
        def __init__(self):
            self.calls = []

        def begin(self, settings):
            self.calls.append(("begin", settings["server.trigger.threshold.updates"]))

        def version(self, row):
            self.calls.append(("version", row["version"]))
            if row["version"] == 1:
                raise LookupError

        def end(self, summary):
            self.calls.append(("end", summary))

    heard = Heard()
    with pytest.raises(LookupError):
        pyfedsim.run(small(stop={"after": "36500 d"}), callbacks=[heard])
    assert heard.calls == [("begin", 2), ("version", 0), ("version", 1), ("end", None)]


def test_a_tracker_without_its_package_says_what_to_install(monkeypatch):
    import sys

    for name, package in (("TensorBoard", "tensorboard"), ("MLflow", "mlflow"), ("Wandb", "wandb")):
        for module in [module for module in sys.modules if module.split(".")[0] == package]:
            monkeypatch.delitem(sys.modules, module)
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ImportError, match=f"pyfedsim\\[{package}\\]"):
            getattr(pyfedsim.trackers, name)("x")
