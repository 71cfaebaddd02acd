#!/usr/bin/env python3
"""Writes into Benchmarks/data what the workloads' scenarios name: partition, cohorts, batch orders
and initial weights, as NPZ archives. Needs NumPy only; equal NumPy generators give equal files.

partition.npz   samples [60000], offsets [1001]   client c's samples
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
    by_client = [[] for _ in range(workloads.CLIENTS)]
    for number in range(1, workload.rounds + 1):
        members = workloads.cohort(workload, number)
        for client, order in zip(members, workloads.visits(workload, number)):
            by_client[client].append(order)
    epochs = max(map(len, by_client))
    table = np.empty((workloads.CLIENTS, epochs, workloads.SHARD), np.int32)
    table[:] = np.arange(workloads.SHARD)
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


def initial(workload):
    """The tensors of version 0 by their names."""
    drawn = workloads.initial(workload)
    below = [None, None] + drawn  # Weight, bias, weight, bias: the weight below is two places back.
    return {name: stored(*pair) for name, *pair in zip(workload.tensors, drawn, below)}


def main(folder):
    os.makedirs(folder, exist_ok=True)
    np.savez(
        f"{folder}/partition.npz", samples=workloads.permutation(),
        offsets=np.arange(workloads.CLIENTS + 1, dtype=np.int64) * workloads.SHARD)
    for name, workload in workloads.WORKLOADS.items():
        cohorts = [workloads.cohort(workload, n) for n in range(1, workload.rounds + 1)]
        np.savez(f"{folder}/{name}-cohorts.npz", cohorts=np.stack(cohorts))
        np.savez(f"{folder}/{name}-orders.npz", orders=orders(workload))
        np.savez(f"{folder}/{name}-initial.npz", **initial(workload))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "data"))
