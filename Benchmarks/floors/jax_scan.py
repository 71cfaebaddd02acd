#!/usr/bin/env python3
"""A workload as a person would write it in JAX: one compiled call a round that scans over
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
parser.add_argument("workload")
parser.add_argument("--processes", type=int, default=2, help="devices of the host")
options = parser.parse_args()
os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={options.processes}"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

import workloads

WORKLOAD = workloads.WORKLOADS[options.workload]


def dense(parameters, x):
    weight, bias = parameters
    return x @ weight.T + bias


def perceptron(parameters, x):
    for layer in range(0, len(parameters) - 2, 2):
        x = jax.nn.relu(dense(parameters[layer:layer + 2], x))
    return dense(parameters[-2:], x)


def convolve(x, weight, stride=1, padding="VALID"):
    return jax.lax.conv_general_dilated(
        x, weight, (stride, stride), padding, dimension_numbers=("NHWC", "OIHW", "NHWC"))


def lenet(parameters, x):
    x = x.reshape(-1, 28, 28, 1)
    for layer in (0, 2):
        x = convolve(x, parameters[layer]) + parameters[layer + 1]
        x = jax.lax.reduce_window(
            x, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
        x = jax.nn.relu(x)
    return perceptron(parameters[4:], x.transpose(0, 3, 1, 2).reshape(len(x), -1))


def normalise(x, scale, shift, groups, axes):
    parts = x.reshape(*x.shape[:-1], groups, -1)
    mean = parts.mean(axes, keepdims=True)
    variance = ((parts - mean) ** 2).mean(axes, keepdims=True)
    return ((parts - mean) / jnp.sqrt(variance + 1e-5)).reshape(x.shape) * scale + shift


def resnet(parameters, x):
    left = iter(parameters)

    def convolution(x, stride=1, padding=((1, 1), (1, 1))):
        x = convolve(x, next(left), stride, padding)
        return normalise(x, next(left), next(left), 2, (1, 2, 4))

    x = jax.nn.relu(convolution(x))
    for outputs in (16, 16, 16, 32, 32, 32, 64, 64, 64):
        stride = 1 if x.shape[-1] == outputs else 2
        main = convolution(jax.nn.relu(convolution(x, stride)))
        x = jax.nn.relu(main + (x if stride == 1 else convolution(x, 2, "VALID")))
    return dense(list(left), x.mean((1, 2)))


def memory(parameters, x):
    """The states of an LSTM over [batch][time][features]."""
    weight, recurrent, bias = parameters
    sums = (x @ weight.T + bias).transpose(1, 0, 2)

    def step(state, sums):
        hidden, cell = state
        i, f, g, o = jnp.split(sums + hidden @ recurrent.T, 4, -1)
        cell = jax.nn.sigmoid(f) * cell + jax.nn.sigmoid(i) * jnp.tanh(g)
        hidden = jax.nn.sigmoid(o) * jnp.tanh(cell)
        return (hidden, cell), hidden

    start = jnp.zeros((len(x), recurrent.shape[1]))
    return jax.lax.scan(step, (start, start), sums)[1].transpose(1, 0, 2)


def characters(parameters, x):
    x = memory(parameters[4:7], memory(parameters[1:4], parameters[0][x]))
    return dense(parameters[7:], x[:, -1])


def transformer(parameters, tokens):
    x = parameters[0][tokens] + parameters[1]
    heads, time = 8, x.shape[1]
    mask = jnp.where(jnp.tril(jnp.ones((time, time), bool)), 0, -jnp.inf)
    for first in range(2, len(parameters), 12):
        block = parameters[first:first + 12]
        parts = dense(block[:2], x).reshape(len(x), time, 3, heads, -1)
        q, k, v = parts.transpose(2, 0, 3, 1, 4)
        shares = jax.nn.softmax(q @ k.swapaxes(-1, -2) / q.shape[-1] ** 0.5 + mask)
        mixed = (shares @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        x = normalise(x + dense(block[2:4], mixed), block[4], block[5], 1, (-1,))
        inner = dense(block[8:10], jax.nn.relu(dense(block[6:8], x)))
        x = normalise(x + inner, block[10], block[11], 1, (-1,))
    return x @ parameters[0].T


logits = {
    "w5-lenet5": lenet, "w6-resnet20": resnet, "w7-transformer": transformer,
    "w8-lstm": characters}.get(options.workload, perceptron)


def loss(parameters, x, labels):
    shares = jax.nn.log_softmax(logits(parameters, x))
    return -jnp.mean(jnp.take_along_axis(shares, labels[..., None], -1))


def client(parameters, x, labels):
    """One epoch; a last batch that is not full is a step of its own."""

    def step(state, batch):
        parameters, speeds = state
        slopes = jax.grad(loss)(parameters, *batch)
        speeds = [WORKLOAD.momentum * v + g for v, g in zip(speeds, slopes)]
        return ([w - WORKLOAD.rate * v for w, v in zip(parameters, speeds)], speeds), None

    state = parameters, [jnp.zeros_like(w) for w in parameters]
    whole = len(x) // WORKLOAD.batch * WORKLOAD.batch
    batches = [
        a[:whole].reshape(-1, WORKLOAD.batch, *a.shape[1:]) for a in (x, labels)]
    state = jax.lax.scan(step, state, tuple(batches))[0]
    if whole < len(x):
        state = step(state, (x[whole:], labels[whole:]))[0]
    return state[0]


def part(parameters, x, labels):
    """The mean of all devices' clients, each device's summed one after the other."""

    def add(sums, shard):
        return [s + w for s, w in zip(sums, client(parameters, *shard))], None

    sums = jax.lax.scan(add, [jnp.zeros_like(w) for w in parameters], (x, labels))[0]
    clients = len(x) * options.processes
    return [jax.lax.psum(s, "devices") / clients for s in sums]


def main():
    samples, labels, test_samples, test_labels = WORKLOAD.samples()
    samples, test_samples = workloads.floats(samples), workloads.floats(test_samples)
    devices = options.processes
    train = jax.pmap(part, axis_name="devices")
    parameters = [jnp.stack([p] * devices) for p in workloads.initial(WORKLOAD)]
    seconds = []
    for number in range(1, WORKLOAD.rounds + 1):
        began = time.perf_counter()
        members = workloads.cohort(WORKLOAD, number)
        rows = members[:, None] * WORKLOAD.shard + workloads.visits(WORKLOAD, number)
        rows = rows.reshape(devices, -1, WORKLOAD.shard)
        parameters = train(parameters, samples[rows], labels[rows].astype(np.int32))
        jax.block_until_ready(parameters)
        seconds.append(time.perf_counter() - began)
    last = [p[0] for p in parameters]
    right = [
        logits(last, test_samples[n:n + 100]).argmax(-1) == test_labels[n:n + 100]
        for n in range(0, len(test_samples), 100)]
    print(json.dumps({
        "workload": WORKLOAD.name, "secondsPerRound": statistics.median(seconds[1:]),
        "accuracy": float(np.concatenate(right).mean()), "processes": devices,
        "jax": jax.__version__}))


main()
