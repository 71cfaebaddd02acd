"""The files that the tracing of each reader starts from."""

import glob
import os

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
DATA = "Tests/DataSetsTests/Fixtures"
TRACES = "Tests/RunsTests/Fixtures/traces"

READERS = {
    "idx": [f"{DATA}/*.idx"],
    "csv": ["Tests/*/Fixtures/**/*.csv"],
    "npy": [f"{DATA}/*.npy"],
    "npz": [f"{DATA}/*.npz"],
    "safetensors": [f"{DATA}/*.safetensors"],
    "leaf": [f"{DATA}/readers/leaf/*/*.json"],
    "flash": [f"{TRACES}/flash*.json"],
    "availability": [f"{TRACES}/availability-*.pickle"],
    "capacity": [f"{TRACES}/capacity-*.pickle"],
    "coreml": [f"{DATA}/coreml/*.mlmodel"],
    "scenario": ["scenarios/**/*.yaml"],
}


def of(reader):
    """Pairs of a name and a file."""
    for pattern in READERS[reader]:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            yield os.path.relpath(path, ROOT).replace(os.sep, "-"), path
