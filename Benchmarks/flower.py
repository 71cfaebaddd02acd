#!/usr/bin/env python3
"""W1 to W3 as a Flower program on FedSim's clock: the time of a round against a bare loop in PyTorch with as many
processes, and against the same Flower program called directly, which no runtime can be faster than; in turns.

    Benchmarks/flower.py [--processes 2] [--turns 3] [--rounds 10] [w1-softmax w2-mlp w3-cnn]

FEDSIM names the command; `Benchmarks/make_workloads.py` has made the data. Needs flwr and torch.
"""

import argparse
import json
import logging
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from flwr.app import ArrayRecord
from flwr.serverapp import ServerApp
from flwr.serverapp.strategy import FedAvg

import flower_client
import pyfedsim.flower
import torch_loop
import workloads


def play(name, options):
    """The median seconds from an aggregation to the next, the first ones left out, in which processes start."""
    workload = workloads.WORKLOADS[name]
    moments = []

    class Timed(FedAvg):
        def aggregate_train(self, *arguments):
            result = super().aggregate_train(*arguments)
            moments.append(time.perf_counter())
            return result

    server_app = ServerApp()

    @server_app.main()
    def main(grid, context):
        strategy = Timed(
            fraction_train=workload.cohort / workload.clients, fraction_evaluate=0.0,
            min_available_nodes=workload.clients)
        arrays = ArrayRecord(torch_loop.network(name).state_dict())
        strategy.start(grid=grid, initial_arrays=arrays, num_rounds=options.rounds)

    fleet = {
        "name": "nodes", "count": workload.clients, "profile": "flower-node", "compute": {"perBatch": "1 s"},
        "background": {"windows": {"fixed": "open"}},
    }
    pyfedsim.flower.run(
        server_app, flower_client.app, {"name": name, "seed": 1, "stop": {"after": "30 d"}, "fleet": [fleet]},
        samples=workload.shard, batch_size=workload.batch, epochs=1, run_config={"workload": name},
        begin_at=60, workers=options.processes, progress=False)
    return statistics.median(b - a for a, b in zip(moments[1:], moments[2:]))


def seconds(program, name, options):
    """A round's seconds by a program in floors/."""
    out = subprocess.run(
        [sys.executable, f"{HERE}/floors/{program}", name, "--processes", str(options.processes)],
        check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(out.stdout.splitlines()[-1])["secondsPerRound"]


def measure(name, options):
    own, bare, calls = [], [], []
    for _ in range(options.turns):
        own.append(play(name, options))
        bare.append(seconds("torch_loop.py", name, options))
        calls.append(seconds("flower_calls.py", name, options))
    times = " ".join(
        f"{what} {1000 * statistics.median(found):.1f} ms" for what, found in (("a round", own), ("; a bare loop", bare),
        ("; the program's own calls", calls))).replace(" ;", ";")
    loop, floor = (statistics.median(a / b for a, b in zip(own, other)) for other in (bare, calls))
    print(f"{name}: {times}: {loop:.2f} times the loop, {floor:.2f} times the calls", flush=True)
    return loop <= 1.5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("workloads", nargs="*", default=["w1-softmax", "w2-mlp", "w3-cnn"])
    options = parser.parse_args()
    logging.getLogger("flwr").setLevel(logging.WARNING)
    sys.exit(0 if all([measure(name, options) for name in options.workloads]) else 1)


if __name__ == "__main__":
    main()
