"""Reads result files of FedSim as xarray and pandas objects; writes no file.

    import pyfedsim

    tree = pyfedsim.open("night.h5")                       # xarray.DataTree, categories as words
    versions = pyfedsim.table(["a.h5", "b.h5"], "versions")  # tidy pandas, a row a version and file
    pyfedsim.ledgers("night.h5")                           # how attempts, updates, transmissions ended
    pyfedsim.timeline("night.h5")                          # states of devices over time
    pyfedsim.scenario("night.h5").settings                 # every value in force, by its path
    pyfedsim.replay_requests("night.jsonl", "http://…")    # sends a run's requests to a server

Times are seconds after the start of the run, unless `times="timedelta"` or `times="civil"` is asked for.
"""
from ._file import NotAResult, NotWhole, attributes, group, groups, is_whole, open_result as open
from ._requests import NotReached, NotRequests, Replayed, Sent, read_requests, replay_requests
from ._scenario import Scenario, differences, scenario
from ._tables import device_paths, ledgers, table, timeline
from ._trainer import Memory, Parameters, Split, Sums, Trainer

__all__ = [
    "NotAResult", "NotReached", "NotRequests", "NotWhole", "Replayed", "Scenario", "Sent", "attributes", "device_paths",
    "differences", "group", "groups", "is_whole", "ledgers", "open", "read_requests", "replay_requests", "scenario",
    "table", "timeline", "Memory", "Parameters", "Split", "Sums", "Trainer",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`from_torch` and `torch` need PyTorch, so they are imported when they are asked for; `testing` with them."""
    if name in ("from_torch", "testing", "torch"):
        import importlib

        return importlib.import_module(f"pyfedsim.{name}")
    raise AttributeError(f"module 'pyfedsim' has no attribute {name!r}")
