#!/usr/bin/env python3
"""Writes into Benchmarks/data what the workloads' scenarios name: partition, cohorts, batch orders
and initial weights, as NPZ archives. Needs NumPy only; equal NumPy generators give equal files.

partition.npz   samples [60000], offsets [1001]   client c's samples
NAME-cohorts    cohorts [round][member]           devices of each round; device n has client n
NAME-orders     orders [client][visit][position]  the order of a client's n-th visit, counted over
                                                  the rounds; the identity beyond its last
NAME-initial    an array a tensor                 weights as PyTorch stores them
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


def main(folder):
    os.makedirs(folder, exist_ok=True)
    np.savez(
        f"{folder}/partition.npz", samples=workloads.permutation(),
        offsets=np.arange(workloads.CLIENTS + 1, dtype=np.int64) * workloads.SHARD)
    for name, workload in workloads.WORKLOADS.items():
        cohorts = [workloads.cohort(workload, n) for n in range(1, workload.rounds + 1)]
        np.savez(f"{folder}/{name}-cohorts.npz", cohorts=np.stack(cohorts))
        np.savez(f"{folder}/{name}-orders.npz", orders=orders(workload))
        tensors = dict(zip(workload.tensors, workloads.initial(workload)))
        np.savez(f"{folder}/{name}-initial.npz", **tensors)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "data"))
