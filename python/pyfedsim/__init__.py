"""Runs FedSim, and reads its results as xarray and pandas objects.

    import pyfedsim

    result = pyfedsim.run("night.yaml", seed=4)            # plays a scenario, a file or a dictionary
    result.versions.centralAccuracy                        # a group of the result as an xarray.Dataset
    pyfedsim.sweep("threshold.yaml").table()               # the trials of a sweep, a row each
    tree = pyfedsim.open("night.h5")                       # xarray.DataTree, categories as words
    versions = pyfedsim.table(["a.h5", "b.h5"], "versions")  # tidy pandas, a row a version and file
    pyfedsim.ledgers("night.h5")                           # how attempts, updates, transmissions ended
    pyfedsim.timeline("night.h5")                          # states of devices over time
    pyfedsim.scenario("night.h5").settings                 # every value in force, by its path
    pyfedsim.replay_requests("night.jsonl", "http://…")    # sends a run's requests to a server

Times are seconds after the start of the run, unless `times="timedelta"` or `times="civil"` is asked for.
"""
from . import trackers
from ._ask import Comparison, Explanation, Validation, check, compare, explain, validate
from ._callbacks import Callback, Tracker
from ._command import CommandNotFound
from ._faults import Fault, InputError, RunError, ScenarioError, ScenarioWarning
from ._file import Changed, NotAResult, NotWhole, attributes, group, groups, is_whole, open_result as open
from ._requests import NotReached, NotRequests, Replayed, Sent, read_requests, replay_requests
from ._result import Result
from ._run import resume, run
from ._scenario import Scenario, differences, scenario
from ._sweep import Sweep, open_sweep, sweep
from ._tables import device_paths, ledgers, table, timeline
from ._trainer import Memory, Parameters, Split, Sums, Trainer

__all__ = [
    "Callback", "Changed", "CommandNotFound", "Comparison", "Explanation", "Fault", "InputError", "NotAResult",
    "NotReached", "NotRequests", "NotWhole", "Replayed", "Result", "RunError", "Scenario", "ScenarioError",
    "ScenarioWarning", "Sent", "Sweep", "Tracker", "Validation", "attributes", "check", "compare", "device_paths",
    "differences", "explain", "group", "groups", "is_whole", "ledgers", "open", "open_sweep", "read_requests",
    "replay_requests", "resume", "run", "scenario", "sweep", "table", "timeline", "trackers", "validate",
    "Memory", "Parameters", "Split", "Sums", "Trainer",
]
__version__ = "0.2.0"


def __getattr__(name: str) -> object:
    """`from_torch` and `torch` need PyTorch and `flower` Flower: imported when they are asked for; `testing` with them."""
    if name in ("flower", "from_torch", "testing", "torch"):
        import importlib

        return importlib.import_module(f"pyfedsim.{name}")
    raise AttributeError(f"module 'pyfedsim' has no attribute {name!r}")
