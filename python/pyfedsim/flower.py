"""Flower programs, unmodified, on FedSim's virtual clock (docs/flower.md).

    import pyfedsim.flower
    from my_app.client_app import app as client_app
    from my_app.server_app import app as server_app

    played = pyfedsim.flower.run(server_app, client_app, "phones.yaml")
    played.flower            # Flower's own Result, or History
    played.result.rounds     # FedSim's result: what happened, and when

FedSim plays devices, network and clock. Flower's strategy chooses among the nodes that are online, and what a client
computes is computed by the ClientApp.
"""
from __future__ import annotations

import os
import tempfile
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ._callbacks import Callback
from ._command import words_of
from ._faults import RunError, ScenarioWarning
from ._file import Path
from ._given import Given, Values, words
from ._progress import Shown
from ._result import Result
from ._run import _play

try:
    from ._flower_clients import Clients, seeded
    from ._flower_grid import FORMAT, ClientError, Link, RunOver, Stopped, VirtualGrid, computed_by, node_of
    from ._flower_patches import virtual
    from ._flower_worker import RUN, SERVER, identify
except ModuleNotFoundError as error:
    if (error.name or "").partition(".")[0] != "flwr":
        raise
    raise ModuleNotFoundError(
        "Flower is not installed: pip install 'pyfedsim[flower]' (flwr 1.42)", name=error.name) from None

if TYPE_CHECKING:
    from flwr.clientapp import ClientApp
    from flwr.serverapp import ServerApp

__all__ = ["ClientError", "Played", "run"]

Counts = int | Sequence[int] | Callable[[int], int]
"""A number for all clients, a list, or a function of the partition's number."""


@dataclass(frozen=True)
class Played:
    """A Flower program that was played."""

    result: Result
    """FedSim's result: events, rounds, ledgers, traffic, in virtual time."""
    flower: Any
    """What Flower's strategy returned: a `flwr.serverapp.strategy.Result`, or a `History` of a legacy server. None
    where the ServerApp ran no strategy, or did not come to its end."""
    is_finished: bool
    """Whether the ServerApp came to its end before the run did (`stop.after`)."""


def run(
    server_app: ServerApp, client_app: ClientApp, scenario: Given, *, samples: Counts | None = None,
    evaluation_samples: Counts | None = None, batch_size: int | None = None, epochs: int | None = None,
    partitions: int | None = None, run_config: Mapping[str, Any] | None = None,
    node_config: Mapping[str, Any] | Callable[[int], Mapping[str, Any]] | None = None,
    begin_at: float = 0.0, on_error: Literal["raise", "reply"] = "raise", workers: int | None = None, set: Values | None = None,
    seed: int | None = None, output: Path | None = None, progress: Shown = "auto", force: bool = False,
    callbacks: Sequence[Callback] = (),
) -> Played:
    """Runs a Flower program in a scenario, a file or a dictionary.

    `samples`, `evaluation_samples`, `batch_size` and `epochs` take the place of the scenario's `task.flower`: numbers, a
    list by client, or a function of the partition's number (with `partitions`, how many there are). Durations follow
    from them: batches × the time of a batch on the device.

    `run_config` is the context's `run_config` on both sides, `node_config` is added to that of each node, which has
    `partition-id` and `num-partitions`. The ServerApp begins after `begin_at` virtual seconds; at 0 nobody is connected
    yet, and a strategy waits. A client that raises ends the run; with `on_error="reply"` it is answered for
    with Flower's error, as in a deployment. `workers` processes compute clients (by default one a processor; 0: this
    process, also where the ClientApp is in no module that can be imported). It changes no result.

    `set`, `seed`, `output`, `progress`, `force`, `callbacks`: as of `pyfedsim.run`. Flower's timeouts and sleeps are
    seconds of virtual time; the generators of Python, NumPy and PyTorch are seeded from the scenario's seed.

    Warnings: `ScenarioWarning`, also for a reply whose number of examples is not what `task.flower` says.
    Errors: `ClientError` with node, round and traceback; what the ServerApp raises; as `pyfedsim.run`.
    """
    over = dict(set or {})
    for key, counts in (("samples", samples), ("evaluationSamples", evaluation_samples)):
        if counts is not None:
            over[f"task.flower.{key}"] = _counts(key, counts, partitions)
    for key, number in (("batchSize", batch_size), ("epochs", epochs)):
        if number is not None:
            over[f"task.flower.{key}"] = number
    over.setdefault("server.policy", "flower-app")
    what, given = words(scenario, over, seed)
    folder: str | None = None
    if output is None and isinstance(scenario, Mapping):
        folder = tempfile.mkdtemp(prefix="fedsim-")
        output = os.path.join(folder, "result.h5")
    options = words_of({"output": output, "force": force, "restart": True, "checkpoint-every": 0})
    program = _Program(server_app, client_app, run_config or {}, node_config, on_error == "raise", workers, begin_at)
    try:
        result = _play(["run", *options], what, given, progress, callbacks, folder, program.start())
    except RunError:
        program.join()
        if program.error is not None:
            raise program.error from None
        raise
    finally:
        program.join()
    if program.error is not None:
        raise program.error
    if not program.is_finished:
        program.warn("the run ended (`stop.after`) before the ServerApp did")
    result.warnings += program.warnings
    for text in program.warnings:
        warnings.warn(text, ScenarioWarning, stacklevel=2)
    return Played(result, program.flower, program.is_finished)


def _counts(key: str, counts: Counts, partitions: int | None) -> int | list[int]:
    if callable(counts):
        if partitions is None:
            raise TypeError(f"{key} is a function of the partition: give `partitions`, how many there are")
        return [int(counts(partition)) for partition in range(partitions)]
    return counts if isinstance(counts, int) else [int(count) for count in counts]


class _Program:
    """A ServerApp in a separate thread, which waits while virtual time passes."""

    def __init__(
        self, server_app: Any, client_app: Any, run_config: Mapping[str, Any], node_config: Any, raises: bool,
        workers: int | None, begin_at: float,
    ) -> None:
        self._server_app, self._client_app = server_app, client_app
        self._run_config, self._node_config = run_config, node_config
        self._raises, self._count, self._begin_at = raises, workers, begin_at
        self._thread: threading.Thread | None = None
        self._link: Link | None = None
        self.flower: Any = None
        self.error: BaseException | None = None
        self.warnings: list[str] = []
        self.is_finished = False

    def start(self) -> tuple[int, int]:
        """Starts the thread; the command's ends of the pipes."""
        reading, theirs = os.pipe()
        own, writing = os.pipe()
        self._link = Link(reading, writing)
        self._thread = threading.Thread(target=self._main, args=(self._link,), name="ServerApp", daemon=True)
        self._thread.start()
        return theirs, own

    def join(self) -> None:
        """Waits for the thread."""
        if self._thread is not None:
            self._thread.join()

    def warn(self, text: str) -> None:
        """Something to warn of, once the run is over."""
        self.warnings.append(text)

    def _main(self, link: Link) -> None:
        clients: Clients | None = None
        grid: VirtualGrid | None = None
        try:
            begin = link.receive()
            if begin["format"] != FORMAT:
                raise RuntimeError("the command fedsim is of another version than the package pyfedsim")
            clients = Clients(
                self._client_app, begin["seed"], self._configs(begin["clients"]), self._run_config, self._count)
            link.send({"computedBy": computed_by(self._server_app, self._client_app)})
            with seeded(begin["seed"]):
                grid = VirtualGrid(link, begin, clients, self._raises, self.warn)
                self._serve(grid)
            self.is_finished = True
            grid.end()
        except RunOver:
            pass
        except BaseException as error:
            self.error = grid.error if isinstance(error, Stopped) and grid else error
            try:
                link.send({"fault": f"the Flower program: {self.error}"})
            except RunOver:
                pass
        finally:
            if clients is not None:
                clients.end()
            link.close()

    def _serve(self, grid: VirtualGrid) -> None:
        from flwr.app import Context, RecordDict

        identify()
        context = Context(
            run_id=RUN, node_id=SERVER, node_config={}, state=RecordDict(), run_config=dict(self._run_config))

        def keep(result: Any) -> None:
            self.flower = result

        grid.sleep(self._begin_at)
        with virtual(grid, keep):
            self._server_app(grid, context)

    def _configs(self, clients: Sequence[int]) -> dict[int, dict[str, Any]]:
        count = max(clients) + 1
        configs: dict[int, dict[str, Any]] = {}
        for device, client in enumerate(clients):
            more = self._node_config(client) if callable(self._node_config) else self._node_config
            configs[node_of(device)] = {"partition-id": client, "num-partitions": count, **(more or {})}
        return configs
