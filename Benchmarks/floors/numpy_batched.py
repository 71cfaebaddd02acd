#!/usr/bin/env python3
"""Softmax regression as a person would write it for speed in NumPy: all clients of a round in one
batched product, the cohort split over processes that share memory. Prints a line of JSON."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # One thread a process; processes are the threads.

import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np

import floor
import workloads


def train(weight, bias, images, labels):
    """One epoch of every client at once; returns the summed models."""
    clients = len(images)
    weights = np.repeat(weight[None], clients, 0)
    biases = np.repeat(bias[None], clients, 0)
    rows = np.arange(clients)[:, None], np.arange(workloads.Workload.batch)[None]
    step = np.float32(workloads.Workload.rate / workloads.Workload.batch)
    for first in range(0, workloads.Workload.shard, workloads.Workload.batch):
        x = images[:, first:first + workloads.Workload.batch]
        delta = x @ weights.transpose(0, 2, 1) + biases[:, None]
        delta -= delta.max(-1, keepdims=True)
        np.exp(delta, out=delta)
        delta /= delta.sum(-1, keepdims=True)
        delta[(*rows, labels[:, first:first + workloads.Workload.batch])] -= 1
        delta *= step
        weights -= delta.transpose(0, 2, 1) @ x
        biases -= delta.sum(1)
    return [weights.sum(0), biases.sum(0)]


def round_of(parameters, images, labels, members, orders):
    rows = members[:, None] * workloads.Workload.shard + orders
    return train(*parameters, images[rows], labels[rows])


if __name__ == "__main__":
    floor.main("w1-softmax", round_of, lambda parameters, x: x @ parameters[0].T + parameters[1])
