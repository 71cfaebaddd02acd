"""Sweeps of small cells, for what a sweep costs."""

import resource
import subprocess
import sys
import time

SCENARIO = """
seed: 1
stop: {{after: {after}}}
task:
  data:
    source: {{blobs: {{classes: 10, features: 32, train: 4000, test: 1000, spread: 1.5}}}}
    partition: {{iid: {{clients: 100}}}}
  model: {{mlp: {{hidden: [32]}}}}
  training: {{epochs: 2, batchSize: 10, optimizer: {{sgd: 0.05}}}}
fleet:
  - name: phones
    count: 100
    power: {{diurnal: [{{from: "22:00", to: "06:30", probability: 0.9, spread: 45 min}}]}}
    background: {{processing: {{requiresExternalPower: true, earliestBegin: 2 h}}}}
    compute: {{perBatch: 100 ms, spread: 0.5}}
server: {{payload: delta, trigger: {{threshold: 5}}}}
sweep: {{replicas: {cells}}}
"""
# What makes each cell use the data of the one before; otherwise each makes its own.
SHARED_DATA = "seeds: {data: 1}\n"


def fedsim(program, root, *arguments):
    """Wall seconds of a command."""
    began = time.monotonic()
    done = subprocess.run([str(program), *arguments], cwd=root, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{done.args} ended with {done.returncode}\n{done.stderr}")
    return time.monotonic() - began


def processor():
    """Processor time of all processes that have ended so far."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def plan(program, root, name, after, cells, more=""):
    """Plans a sweep of cells of a length; their names."""
    (root / f"{name}.yaml").write_text(SCENARIO.format(after=after, cells=cells) + more)
    fedsim(program, root, "sweep", f"{name}.yaml", "--output", name, "--plan")
    return (root / name / "cells.txt").read_text().split()


def empty_cell(program, root, jobs, more):
    """Wall and processor milliseconds of a worker for a cell that does next to nothing: 200 more of them."""
    times = []
    counts = [len(plan(program, root, name, "1 min", cells, more)) for name, cells in (("few", 20), ("many", 220))]
    for name in ("few", "many"):
        before = processor()
        wall = fedsim(
            program, root, "sweep", f"{name}.yaml", "--output", name, "--jobs", str(jobs), "--threads", "1", "-q")
        times.append((wall * jobs, processor() - before))
    return tuple((many - few) / (counts[1] - counts[0]) * 1000 for few, many in zip(*times))
