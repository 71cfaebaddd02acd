"""Reads result files of FedSim as xarray and pandas objects; writes no file.

    import fedsim

    tree = fedsim.open("night.h5")                       # xarray.DataTree, categories as words
    versions = fedsim.table(["a.h5", "b.h5"], "versions")  # tidy pandas, a row a version and file
    fedsim.ledgers("night.h5")                           # how attempts, updates, transmissions ended
    fedsim.timeline("night.h5")                          # states of devices over time
    fedsim.scenario("night.h5").settings                 # every value in force, by its path
    fedsim.replay_requests("night.jsonl", "http://…")    # sends a run's requests to a server

Times are seconds after the start of the run, unless `times="timedelta"` or `times="civil"` is asked for.
"""
from ._file import NotAResult, NotWhole, attributes, group, groups, is_whole, open_result as open
from ._requests import NotReached, NotRequests, Replayed, Sent, read_requests, replay_requests
from ._scenario import Scenario, differences, scenario
from ._tables import device_paths, ledgers, table, timeline

__all__ = [
    "NotAResult", "NotReached", "NotRequests", "NotWhole", "Replayed", "Scenario", "Sent", "attributes", "device_paths",
    "differences", "group", "groups", "is_whole", "ledgers", "open", "read_requests", "replay_requests", "scenario",
    "table", "timeline",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> object:
    """`fedsim.from_torch` needs PyTorch, so it is imported when it is asked for."""
    if name == "from_torch":
        import importlib

        return importlib.import_module("fedsim.from_torch")
    raise AttributeError(f"module 'fedsim' has no attribute {name!r}")
