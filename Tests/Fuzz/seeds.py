"""The files that the tracing of each reader starts from, and its limits."""

import glob
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
DATA = "Tests/DataSetsTests/Fixtures"
TRACES = "Tests/RunsTests/Fixtures/traces"

READERS = {
    "idx": [f"{DATA}/*.idx"],
    "cifar": [f"{DATA}/readers/cifar-*/*.bin"],
    "csv": ["Tests/*/Fixtures/**/*.csv", "Tests/Fuzz/Seeds/csv/*"],
    "npy": [f"{DATA}/*.npy"],
    "npz": [f"{DATA}/*.npz"],
    "safetensors": [f"{DATA}/*.safetensors"],
    "leaf": [f"{DATA}/readers/leaf/*/*.json"],
    "flash": [f"{TRACES}/flash*.json", "Tests/Fuzz/Seeds/flash/*"],
    "availability": [f"{TRACES}/availability-*.pickle"],
    "capacity": [f"{TRACES}/capacity-*.pickle"],
    "tff": [f"{DATA}/readers/*.h5"],
    "coreml": [f"{DATA}/coreml/*.mlmodel"],
    "scenario": ["scenarios/**/*.yaml", "Tests/Fuzz/Seeds/scenario/*"],
    # Not those that take the reader's whole time: each change of them does so, too.
    "result": ["Tests/ResultsTests/Fixtures/deep.h5"],
    "journal": [],
    "checkpoint": [],
}
# An input takes at most 10 s, and no memory over 1 GB; a file of a reader that needs no more is at most 64 KiB long.
LIMITS = ["-timeout=10", "-rss_limit_mb=1024", "-max_len=65536"]
# Swift's own account of a crash takes seconds, and libFuzzer keeps the input.
ENVIRONMENT = {"SWIFT_BACKTRACE": "enable=no"}
WORDS = {
    "csv": ["device", "from", "to", "label", ",", "\\x22", "#"],
    "leaf": ["users", "num_samples", "user_data", "\\x22x\\x22", "\\x22y\\x22", "\\\\u", "1e308", "-", "[", "]"],
    "flash": ["messages", "\\\\t", "\\\\n", "100%", "wifi", "4g", "battery_charged_on", "2020-01-28 03:00:00"],
    "npy": ["descr", "fortran_order", "shape", "True", "False", "(", ",)", "<f4", "<i8", "|b1"],
    "safetensors": ["dtype", "shape", "data_offsets", "__metadata__", "F32", "F16", "F64", "-"],
    "scenario": ["x-", "!!int ", "!!str ", "&a ", "*a", "<<", "base", "stop", "task", "fleet", "server", "name", "{", "[",
                 "- ", ": ", "\\x0a"],
}


def of(reader):
    """Pairs of a name and a file."""
    for pattern in READERS[reader]:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern), recursive=True)):
            yield os.path.relpath(path, ROOT).replace(os.sep, "-"), path


def place(program, reader, folder):
    """Copies a reader's first inputs into a folder; some are written by the program."""
    for name, data in of(reader):
        if os.path.getsize(data) <= 65536:
            shutil.copyfile(data, os.path.join(folder, name))
    with tempfile.TemporaryDirectory() as written:
        subprocess.run([program, "seeds", written], check=True)
        own = os.path.join(written, reader)
        for name in sorted(os.listdir(own)) if os.path.isdir(own) else []:
            shutil.copyfile(os.path.join(own, name), os.path.join(folder, name))


def dictionary(reader):
    """libFuzzer's option for the words of a reader's format, if it has any."""
    if reader not in WORDS:
        return []
    path = os.path.join(ROOT, ".fuzz", f"{reader}.words")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.writelines(f'"{word}"\n' for word in WORDS[reader])
    return [f"-dict={path}"]
