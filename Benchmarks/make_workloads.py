#!/usr/bin/env python3
"""Writes into Benchmarks/data what the workloads' scenarios name: partition, cohorts, batch orders
and initial weights, as NPZ archives. Needs NumPy only; equal NumPy generators give equal files.

NAME-samples    x_train, y_train, x_test, y_test   where they are made up
NAME-partition  samples [all], offsets [clients + 1]   client c's samples
NAME-cohorts    cohorts [round][member]           devices of each round; device n has client n
NAME-orders     orders [client][visit][position]  the order of a client's n-th visit, counted over
                                                  the rounds; the identity beyond its last
NAME-initial    an array a tensor                 weights as FedSim stores them (see `stored`)
"""

import os
import sys

import numpy as np

import workloads


def orders(workload):
    """The rounds' visits, sorted by client: a client's n-th visit is its n-th data epoch."""
    by_client = [[] for _ in range(workload.clients)]
    for number in range(1, workload.rounds + 1):
        members = workloads.cohort(workload, number)
        for client, order in zip(members, workloads.visits(workload, number)):
            by_client[client].append(order)
    epochs = max(map(len, by_client))
    table = np.empty((workload.clients, epochs, workload.shard), np.int32)
    table[:] = np.arange(workload.shard)
    for client, lists in enumerate(by_client):
        for epoch, order in enumerate(lists):
            table[client, epoch] = order
    return table


def stored(parameter, before):
    """A parameter drawn in PyTorch's layout, as FedSim stores it; `before` is the weight below it.

    Linear [out][in] becomes [in][out], Conv2d [out][in][ky][kx] becomes [ky][kx][in][out]. PyTorch
    flattens an image channel by channel, FedSim pixel by pixel: the rows of the first dense layer
    behind a convolution move from [channel][pixel] to [pixel][channel].
    """
    if parameter.ndim == 4:
        parameter = parameter.transpose(2, 3, 1, 0)
    elif parameter.ndim == 2:
        if before is not None and before.ndim == 4:
            outputs, channels = len(parameter), len(before)
            parameter = parameter.reshape(outputs, channels, -1).transpose(0, 2, 1)
            parameter = parameter.reshape(outputs, -1)
        parameter = parameter.T
    return np.ascontiguousarray(parameter)


def in_layout(workload, parameters):
    """Parameters in PyTorch's layouts as tensors of FedSim, by their names."""
    below, tensors = None, {}
    for name, parameter in zip(workload.tensors, parameters):
        is_table = name.startswith(("embedding", "positions"))
        tensors[name] = parameter if is_table else stored(parameter, below)
        if parameter.ndim > 1:
            below = parameter
    return tensors


def initial(workload):
    """The tensors of version 0 by their names."""
    return in_layout(workload, workloads.initial(workload))


def arrays(workload):
    """Samples and labels; where there is one at each position, one token more in place of labels."""
    train, labels, test, test_labels = workload.samples()
    if labels.ndim == 1:
        return {"x_train": train, "y_train": labels, "x_test": test, "y_test": test_labels}
    return {
        "x_train": np.concatenate([train, labels[:, -1:]], 1),
        "x_test": np.concatenate([test, test_labels[:, -1:]], 1)}


def partition(workload):
    """Client c's samples; made-up ones lie client after client."""
    count = workload.clients * workload.shard
    samples = np.arange(count, dtype=np.int32) if workload.isMadeUp else workloads.permutation()
    offsets = np.arange(workload.clients + 1, dtype=np.int64) * workload.shard
    return {"samples": samples, "offsets": offsets}


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for name, workload in workloads.WORKLOADS.items():
        cohorts = [workloads.cohort(workload, n) for n in range(1, workload.rounds + 1)]
        if workload.isMadeUp:
            np.savez(f"{folder}/{name}-samples.npz", **arrays(workload))
        np.savez(f"{folder}/{name}-partition.npz", **partition(workload))
        np.savez(f"{folder}/{name}-cohorts.npz", cohorts=np.stack(cohorts))
        np.savez(f"{folder}/{name}-orders.npz", orders=orders(workload))
        np.savez(f"{folder}/{name}-initial.npz", **initial(workload))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "data"))
