#!/usr/bin/env python3
"""A perceptron workload as a person would write it in JAX: one compiled call a round that scans over
the clients, half of the cohort on each device of the host. Prints a line of JSON.

    jax_scan.py w2-mlp [--processes 2]
"""

import argparse
import json
import os
import statistics
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("workload", choices=["w1-softmax", "w2-mlp"])
parser.add_argument("--processes", type=int, default=2, help="devices of the host")
options = parser.parse_args()
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.processes}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

import workloads

BATCHES = workloads.SHARD // workloads.BATCH


def logits(parameters, x):
    for layer in range(0, len(parameters), 2):
        x = x @ parameters[layer] + parameters[layer + 1]
        if layer + 2 < len(parameters):
            x = jax.nn.relu(x)
    return x


def loss(parameters, x, labels):
    shares = jax.nn.log_softmax(logits(parameters, x))
    return -jnp.mean(jnp.take_along_axis(shares, labels[:, None], 1))


def client(parameters, x, labels):
    """One epoch."""

    def step(parameters, batch):
        slopes = jax.grad(loss)(parameters, *batch)
        return [w - workloads.RATE * g for w, g in zip(parameters, slopes)], None

    batches = x.reshape(BATCHES, workloads.BATCH, 784), labels.reshape(BATCHES, workloads.BATCH)
    return jax.lax.scan(step, parameters, batches)[0]


def part(parameters, x, labels):
    """The mean of all devices' clients, each device's summed one after the other."""

    def add(sums, shard):
        return [s + w for s, w in zip(sums, client(parameters, *shard))], None

    sums = jax.lax.scan(add, [jnp.zeros_like(w) for w in parameters], (x, labels))[0]
    clients = len(x) * options.processes
    return [jax.lax.psum(s, "devices") / clients for s in sums]


def main():
    workload = workloads.WORKLOADS[options.workload]
    images, labels, test_images, test_labels = workloads.images()
    devices = options.processes
    train = jax.pmap(part, axis_name="devices")
    parameters = [
        jnp.stack([p.T if p.ndim == 2 else p] * devices) for p in workloads.initial(workload)]
    seconds = []
    for number in range(1, workload.rounds + 1):
        began = time.perf_counter()
        members = workloads.cohort(workload, number)
        rows = members[:, None] * workloads.SHARD + workloads.visits(workload, number)
        rows = rows.reshape(devices, -1, workloads.SHARD)
        parameters = train(parameters, images[rows], labels[rows].astype(np.int32))
        jax.block_until_ready(parameters)
        seconds.append(time.perf_counter() - began)
    right = logits([p[0] for p in parameters], test_images).argmax(1) == test_labels
    print(json.dumps({
        "workload": workload.name, "secondsPerRound": statistics.median(seconds[1:]),
        "accuracy": float(right.mean()), "processes": devices, "jax": jax.__version__}))


main()
