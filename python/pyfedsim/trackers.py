"""Trackers: a run's versions in TensorBoard, MLflow or Weights & Biases, while it goes on.

    pyfedsim.run("night.yaml", callbacks=[pyfedsim.trackers.TensorBoard("logs/night")])

Each is an extra: `pip install "pyfedsim[tensorboard]"`, `[mlflow]`, `[wandb]`. A metric is a column of the table
`versions` under its own name (`centralAccuracy`, shares from 0 to 1; times in s; bytes); numbers that are not known
(NaN) are left out. The step is the number of the version. One object follows one run.
"""
from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from ._callbacks import Row
from ._file import Path

__all__ = ["MLflow", "TensorBoard", "Wandb"]


def _needs(package: str, extra: str) -> ImportError:
    return ImportError(f'the tracker needs {package}: pip install "pyfedsim[{extra}]"')


def _metrics(row: Row) -> dict[str, float]:
    """The numbers of a version, without its number."""
    return {
        name: float(value) for name, value in row.items()
        if name != "version" and isinstance(value, (int, float)) and math.isfinite(value)
    }


def _final(summary: Mapping[str, Any]) -> dict[str, float]:
    """The single numbers of a summary."""
    return {
        name: float(value) for name, value in summary.items()
        if name not in ("seed", "wallSeconds") and isinstance(value, (int, float)) and not isinstance(value, bool)
    }


class TensorBoard:
    """Writes event files: a scalar for each column and version, and the settings as a text.

    Units: an event's wall time is the virtual time of the version in s, so that "relative" in TensorBoard is virtual.
    """

    def __init__(self, folder: Path) -> None:
        """Events go into this folder, which is made. Errors: `ImportError` without tensorboard."""
        try:
            from tensorboard.compat.proto.event_pb2 import Event
            from tensorboard.compat.proto.summary_pb2 import Summary
            from tensorboard.plugins.text.summary_v2 import text_pb
            from tensorboard.summary.writer.event_file_writer import EventFileWriter
        except ImportError:
            raise _needs("tensorboard", "tensorboard") from None
        self._event, self._summary, self._text, self._make = Event, Summary, text_pb, EventFileWriter
        self._folder = os.fspath(folder)
        self._writer: Any = None

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Opens the event file. Errors: `OSError`."""
        self._writer = self._make(self._folder)
        if settings:
            lines = "\n".join(f"    {path}: {value}" for path, value in settings.items())
            self._writer.add_event(self._event(wall_time=0.0, step=0, summary=self._text("settings", lines)))

    def version(self, row: Row) -> None:
        """Writes a scalar for each number. Errors: `OSError`."""
        values = [self._summary.Value(tag=name, simple_value=value) for name, value in _metrics(row).items()]
        self._writer.add_event(
            self._event(wall_time=row["publishedAt"], step=row["version"], summary=self._summary(value=values))
        )

    def end(self, summary: Mapping[str, Any] | None) -> None:
        """Closes the event file. Errors: `OSError`."""
        self._writer.close()


class MLflow:
    """Writes a run of MLflow: the settings as parameters, a metric for each column, the summary as metrics `final.…`.

    Units: a metric's timestamp is the virtual time of the version in ms after 1970.
    """

    def __init__(self, experiment: str = "fedsim", *, uri: str | None = None, name: str | None = None) -> None:
        """A run in an experiment, which is made if it is not there; `uri` as in MLflow, by default MLflow's own.

        Errors: `ImportError` without mlflow or mlflow-skinny; MLflow's for a store that it does not take.
        """
        try:
            from mlflow import MlflowClient
            from mlflow.entities import Metric, Param
        except ImportError:
            raise _needs("mlflow", "mlflow") from None
        self._metric, self._param = Metric, Param
        self._client: Any = MlflowClient(tracking_uri=uri)
        self._experiment, self._name = experiment, name
        self.run_id = ""
        """The id of MLflow's run, once it has begun."""

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Makes the run, with the settings as parameters of at most 500 characters. Errors: `MlflowException`."""
        found = self._client.get_experiment_by_name(self._experiment)
        id = found.experiment_id if found else self._client.create_experiment(self._experiment)
        self.run_id = self._client.create_run(id, run_name=self._name).info.run_id
        params = [self._param(_key(path), str(value)[:500]) for path, value in settings.items()]
        for start in range(0, len(params), 100):  # As many as MLflow takes at once.
            self._client.log_batch(self.run_id, params=params[start:start + 100])

    def version(self, row: Row) -> None:
        """Logs a metric for each number. Errors: `MlflowException`."""
        time = round(row["publishedAt"] * 1000)
        metrics = [self._metric(_key(name), value, time, row["version"]) for name, value in _metrics(row).items()]
        self._client.log_batch(self.run_id, metrics=metrics)

    def end(self, summary: Mapping[str, Any] | None) -> None:
        """Ends the run as FINISHED, or as FAILED without a summary. Errors: `MlflowException`."""
        if summary is not None:
            time, step = round(summary["simulatedSeconds"] * 1000), summary["version"]
            metrics = [self._metric(f"final.{name}", value, time, step) for name, value in _final(summary).items()]
            self._client.log_batch(self.run_id, metrics=metrics)
        self._client.set_terminated(self.run_id, "FINISHED" if summary is not None else "FAILED")


def _key(name: str) -> str:
    """A name without what MLflow refuses in names."""
    return "".join(letter if letter.isalnum() or letter in "_-. /" else "_" for letter in name)


class Wandb:
    """Writes a run of Weights & Biases: the settings as its config, a row of its history for each version.

    Units: `publishedAt` is the virtual time in s, and the x axis of the others; W&B's own time is that of the host.
    """

    def __init__(
        self, project: str = "fedsim", *, mode: str = "offline", folder: Path | None = None, **options: Any,
    ) -> None:
        """A run of a project; "offline" writes files under `folder` only, and `wandb sync` sends them later.

        `options` go to `wandb.init`. Errors: `ImportError` without wandb.
        """
        try:
            import wandb
        except ImportError:
            raise _needs("wandb", "wandb") from None
        self._init: Any = wandb.init
        self._options = {"project": project, "mode": mode, **options}
        if folder is not None:
            os.makedirs(folder, exist_ok=True)
            self._options["dir"] = os.path.abspath(folder)
        self.run: Any = None
        """The run of W&B, once it has begun."""

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Begins the run. Errors: those of `wandb.init`."""
        self.run = self._init(config=dict(settings), **self._options)
        self.run.define_metric("publishedAt")
        self.run.define_metric("*", step_metric="publishedAt")

    def version(self, row: Row) -> None:
        """Logs the numbers with the version as the step. Errors: those of W&B."""
        self.run.log(_metrics(row), step=row["version"])

    def end(self, summary: Mapping[str, Any] | None) -> None:
        """Ends the run, with exit code 1 without a summary. Errors: those of W&B."""
        if summary is not None:
            self.run.summary.update({f"final.{name}": value for name, value in _final(summary).items()})
        self.run.finish(exit_code=0 if summary is not None else 1)
