"""What the floors share: processes with shared memory, the rounds, the clock, the report."""

import argparse
import json
import multiprocessing
import statistics
import time

import numpy as np

import workloads


def views(flat, shapes):
    """The tensors that lie one behind the other in a flat array."""
    tensors, start = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        tensors.append(flat[start:start + size].reshape(shape))
        start += size
    return tensors


class Crew:
    """Forked processes; each sums its part of the cohort into a row of shared memory."""

    def __init__(self, processes, shapes, work):
        context = multiprocessing.get_context("fork")
        size = sum(int(np.prod(shape)) for shape in shapes)
        shared = context.RawArray("f", size * (processes + 1))
        self.rows = np.frombuffer(shared, np.float32).reshape(processes + 1, size)
        self.pipes = []
        for place in range(processes):
            here, there = context.Pipe()
            arguments = (there, views(self.rows[0], shapes), views(self.rows[place + 1], shapes))
            context.Process(target=self.serve, args=(work, *arguments), daemon=True).start()
            self.pipes.append(here)

    @staticmethod
    def serve(work, pipe, model, sums):
        while True:
            for target, part in zip(sums, work(model, *pipe.recv())):
                target[...] = part
            pipe.send(None)

    def round(self, members, orders):
        """Replaces the model by the mean of what its members make of it."""
        count = len(self.pipes)
        for place, pipe in enumerate(self.pipes):
            pipe.send((members[place::count], orders[place::count]))
        for pipe in self.pipes:
            pipe.recv()
        self.rows[0] = self.rows[1:].sum(0) / np.float32(len(members))


def main(name, round_of, logits, versions=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--model", help="an NPZ archive to be written: the last model")
    options = parser.parse_args()
    processes = options.processes
    workload = workloads.WORKLOADS[name]
    samples, labels, test_samples, test_labels = workload.samples()
    samples, test_samples = workloads.floats(samples), workloads.floats(test_samples)
    labels = labels.astype(np.int64)

    def work(model, members, orders):
        return round_of(model, samples, labels, members, orders)

    crew = Crew(processes, workload.shapes, work)
    model = views(crew.rows[0], workload.shapes)
    for target, start in zip(model, workloads.initial(workload)):
        target[...] = start
    seconds = []
    for number in range(1, workload.rounds + 1):
        began = time.perf_counter()
        members = workloads.cohort(workload, number)
        crew.round(members, workloads.visits(workload, number))
        seconds.append(time.perf_counter() - began)
    if options.model:
        np.savez(options.model, **dict(zip(workload.tensors, model)))
    accuracy = float((logits(model, test_samples).argmax(-1) == test_labels).mean())
    print(json.dumps({
        "workload": name, "secondsPerRound": statistics.median(seconds[1:]),
        "accuracy": accuracy, "processes": processes, "numpy": np.__version__,
        **(versions or {})}))
