"""The workloads: their sizes and, from seeded NumPy generators, everything that is drawn in advance.

Fashion-MNIST, 1,000 clients with 60 samples each; a round trains a given cohort, one epoch a client
in batches of 10 by plain SGD, and averages. Initial weights are in PyTorch's layouts, [out][in].
"""

import gzip
import math
import os

import numpy as np

CLIENTS, SHARD, BATCH, RATE = 1000, 60, 10, 0.05
PARTITION_SEED, INITIAL_SEED, COHORT_SEED, ORDER_SEED = 20240, 7, 1000, 5000


class Workload:
    """One workload: a model's parameter shapes, weight then bias, and how many rounds of whom."""

    def __init__(self, name, shapes, tensors, products, cohort, rounds, accuracy):
        self.name, self.shapes, self.tensors = name, shapes, tensors
        self.cohort, self.rounds, self.accuracy = cohort, rounds, accuracy
        # Products of one sample's forward pass. A multiply-add counts 2; forward, weight gradient
        # and, but for the first layer, input gradient; nothing else counts.
        self.flops = 2 * (3 * sum(products) - products[0]) * cohort * SHARD


WORKLOADS = {
    "w1-softmax": Workload(
        "w1-softmax", [(10, 784), (10,)], ["dense1.weight", "dense1.bias"], [784 * 10],
        100, 20, {10: 0.6833, 20: 0.7274}),
    "w2-mlp": Workload(
        "w2-mlp", [(200, 784), (200,), (200, 200), (200,), (10, 200), (10,)],
        ["dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias", "dense3.weight",
         "dense3.bias"],
        [784 * 200, 200 * 200, 200 * 10], 100, 20, {10: 0.6015, 20: 0.6444}),
    "w3-cnn": Workload(
        "w3-cnn",
        [(32, 1, 5, 5), (32,), (64, 32, 5, 5), (64,), (512, 3136), (512,), (10, 512), (10,)],
        ["conv1.weight", "conv1.bias", "conv2.weight", "conv2.bias", "dense1.weight",
         "dense1.bias", "dense2.weight", "dense2.bias"],
        [784 * 25 * 32, 196 * 25 * 32 * 64, 3136 * 512, 512 * 10], 20, 5, {5: 0.425}),
}


def permutation():
    """Client c owns the training samples permutation()[60 c : 60 c + 60]."""
    return np.random.RandomState(PARTITION_SEED).permutation(CLIENTS * SHARD).astype(np.int32)


def cohort(workload, round_number):
    """The clients of a round, counted from 1, without replacement."""
    generator = np.random.RandomState(COHORT_SEED + round_number)
    return generator.choice(CLIENTS, workload.cohort, replace=False).astype(np.int32)


def visits(workload, round_number):
    """For each member of the round's cohort the order in which it visits its samples."""
    generator = np.random.RandomState(ORDER_SEED + round_number)
    return np.argsort(generator.random_sample((workload.cohort, SHARD)), axis=1).astype(np.int32)


def initial(workload):
    """Initial parameters, uniform on ±1/√fan-in, all from one generator, weight then bias."""
    generator = np.random.RandomState(INITIAL_SEED)
    parameters, fan_in = [], 1
    for shape in workload.shapes:
        if len(shape) > 1:
            fan_in = math.prod(shape[1:])
        bound = 1 / math.sqrt(fan_in)
        parameters.append(generator.uniform(-bound, bound, size=shape).astype(np.float32))
    return parameters


def images(folders=None):
    """Training images (client after client) and labels, test images and labels; floats in [0, 1]."""
    places = folders or os.environ.get("FEDSIM_DATA", "").split(":") + [
        "/usr/share/datasets/fashion-mnist"]

    def read(name):
        for folder in filter(None, places):
            for path, opener in ((f"{folder}/{name}", open), (f"{folder}/{name}.gz", gzip.open)):
                if os.path.isfile(path):
                    with opener(path, "rb") as file:
                        raw = file.read()
                    shape = np.frombuffer(raw, ">u4", raw[3], 4).astype(int)
                    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape)
        raise SystemExit(f"{name}: not in {', '.join(filter(None, places))}")

    def floats(name):
        return read(name).reshape(-1, 784).astype(np.float32) / np.float32(255)

    order = permutation()
    return (
        floats("train-images-idx3-ubyte")[order],
        read("train-labels-idx1-ubyte")[order].astype(np.int64),
        floats("t10k-images-idx3-ubyte"),
        read("t10k-labels-idx1-ubyte").astype(np.int64))
