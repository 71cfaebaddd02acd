#!/usr/bin/env python3
"""A multilayer perceptron, client after client, backward pass by hand in NumPy, the cohort split
over processes. Prints a line of JSON."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np

import floor
import workloads

ROWS = np.arange(workloads.Workload.batch)
STEP = np.float32(workloads.Workload.rate / workloads.Workload.batch)


def forward(parameters, x):
    """The activations from the input to the logits."""
    values = [x]
    for layer in range(0, len(parameters), 2):
        x = x @ parameters[layer].T
        x += parameters[layer + 1]
        if layer + 2 < len(parameters):
            np.maximum(x, 0, out=x)
        values.append(x)
    return values


def step(parameters, x, labels):
    """One step of plain SGD, in place."""
    values = forward(parameters, x)
    delta = values.pop()
    delta -= delta.max(-1, keepdims=True)
    np.exp(delta, out=delta)
    delta /= delta.sum(-1, keepdims=True)
    delta[ROWS, labels] -= 1
    delta *= STEP
    for layer in range(len(parameters) - 2, -1, -2):
        x = values.pop()
        below = delta @ parameters[layer] if layer else None
        parameters[layer] -= delta.T @ x
        parameters[layer + 1] -= delta.sum(0)
        if layer:
            delta = below
            delta *= x > 0


def round_of(parameters, images, labels, members, orders):
    sums = [np.zeros_like(p) for p in parameters]
    for client, order in zip(members, orders):
        local = [p.copy() for p in parameters]
        rows = client * workloads.Workload.shard + order
        x, y = images[rows], labels[rows]
        for first in range(0, workloads.Workload.shard, workloads.Workload.batch):
            last = first + workloads.Workload.batch
            step(local, x[first:last], y[first:last])
        for total, part in zip(sums, local):
            total += part
    return sums


if __name__ == "__main__":
    floor.main("w2-mlp", round_of, lambda parameters, x: forward(parameters, x)[-1])
