"""Processes that the benchmarks of this folder time."""

import os
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILT = os.path.join(ROOT, ".build", "release")


class Ended(NamedTuple):
    """What a process leaves: standard output, seconds by the wall and on processors, and its peak of memory in MB."""
    out: str
    seconds: float
    processor: float
    memory: float


def start(command, folder=ROOT):
    """Runs a command to its end; if that is no success, says why and exits."""
    began = time.perf_counter()
    with tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=errors, text=True)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            errors.seek(0)
            sys.exit(f"{errors.read()}{' '.join(command)}: exit code {process.returncode}")
    return Ended(out, time.perf_counter() - began, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)
