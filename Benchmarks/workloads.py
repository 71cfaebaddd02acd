"""The workloads: their sizes and, from seeded NumPy generators, everything that is drawn in advance.

A round trains a given cohort, one epoch a client in batches by SGD, and averages. W1 to W3 and W5 use
Fashion-MNIST, W6 and W8 made-up samples. Initial weights are in PyTorch's layouts, [out][in].
"""

import gzip
import math
import os

import numpy as np

PARTITION_SEED, INITIAL_SEED, COHORT_SEED, ORDER_SEED, SAMPLE_SEED = 20240, 7, 1000, 5000, 31


class Workload:
    """One workload: a model's parameters, who trains in how many rounds, and how."""

    clients, shard, batch, rate, momentum = 1000, 60, 10, 0.05, 0.0

    def __init__(self, name, tensors, products, cohort, rounds, accuracy, samples=None, **others):
        self.name, self.cohort, self.rounds, self.accuracy = name, cohort, rounds, accuracy
        self.tensors, self.shapes = zip(*tensors)
        self.samples = samples or images
        self.isMadeUp = samples is not None
        self.__dict__.update(others)
        # Products of one sample's forward pass. A multiply-add counts 2; forward, weight gradient
        # and, but for the first layer, input gradient; nothing else counts.
        self.flops = 2 * (3 * sum(products) - products[0]) * cohort * self.shard


def pairs(kind, *shapes):
    """Tensors of layers of one kind: a weight and a bias of as many values as the weight's first axis."""
    return [
        tensor for number, shape in enumerate(shapes, 1) for tensor in (
            (f"{kind}{number}.weight", shape), (f"{kind}{number}.bias", shape[:1]))]


def resnet20():
    """Tensors and products of ResNet-20: convolutions without bias, each with a normalisation."""
    tensors, products = [], []

    def convolution(outputs, inputs, size, places):
        number = len(products) + 1
        tensors.extend([
            (f"conv{number}.weight", (outputs, inputs, size, size)),
            (f"norm{number}.scale", (outputs,)), (f"norm{number}.shift", (outputs,))])
        products.append(places * outputs * inputs * size * size)

    convolution(16, 3, 3, 1024)
    inputs = 16
    for outputs, places in ((16, 1024), (32, 256), (64, 64)):
        for _ in range(3):
            convolution(outputs, inputs, 3, places)
            convolution(outputs, outputs, 3, places)
            if inputs != outputs:
                convolution(outputs, inputs, 1, places)
            inputs = outputs
    return tensors + pairs("dense", (10, 64)), products + [64 * 10]


def lstm(number, inputs, units):
    return [
        (f"lstm{number}.inputWeight", (4 * units, inputs)),
        (f"lstm{number}.recurrentWeight", (4 * units, units)), (f"lstm{number}.bias", (4 * units,))]


def transformer(width=96, inner=1536, tokens=10000, positions=20, blocks=3):
    """Tensors and products of a transformer that scores tokens by its embedding's own vectors."""
    tensors = [("embedding1.weight", (tokens, width)), ("positions1.weight", (positions, width))]
    for block in range(blocks):
        first, second = 2 * block + 1, 2 * block + 2
        tensors += [
            (f"attention{block + 1}.inputWeight", (3 * width, width)),
            (f"attention{block + 1}.inputBias", (3 * width,)),
            (f"attention{block + 1}.outputWeight", (width, width)),
            (f"attention{block + 1}.outputBias", (width,)),
            (f"norm{first}.scale", (width,)), (f"norm{first}.shift", (width,)),
            (f"dense{first}.weight", (inner, width)), (f"dense{first}.bias", (inner,)),
            (f"dense{second}.weight", (width, inner)), (f"dense{second}.bias", (width,)),
            (f"norm{second}.scale", (width,)), (f"norm{second}.shift", (width,))]
    block = positions * width * (4 * width + 2 * positions + 2 * inner)
    return tensors, [0] + blocks * [block] + [positions * width * tokens]


def made_images():
    """Images of ten patterns under noise: training samples, client after client, and test samples."""
    generator = np.random.RandomState(SAMPLE_SEED)
    patterns = generator.randint(0, 160, (10, 2, 2, 3)).repeat(16, 1).repeat(16, 2)
    labels = generator.randint(0, 10, 40 * 100 + 500)
    noise = generator.randint(0, 96, (len(labels), 32, 32, 3))
    samples = (patterns[labels] + noise).astype(np.uint8)
    return samples[:-500], labels[:-500], samples[-500:], labels[-500:]


def text(clients, shard, length, tokens):
    """Made-up text of clients, and of a test set: half of all tokens follow from the one before."""
    generator = np.random.RandomState(SAMPLE_SEED)
    successor, shares = generator.permutation(tokens), 1 / np.arange(1, tokens + 1)
    count = clients * shard
    text = generator.choice(tokens, (count + count // 4, length), p=shares / shares.sum())
    follows = generator.random_sample(text.shape) < 0.5
    for place in range(1, length):
        text[:, place] = np.where(
            follows[:, place], successor[text[:, place - 1]], text[:, place])
    return text[:count].astype(np.int32), text[count:].astype(np.int32)


def characters():
    """80 characters, and the one behind them."""
    train, test = text(40, 40, 81, 80)
    return train[:, :-1], train[:, -1], test[:, :-1], test[:, -1]


def sentences():
    """20 tokens, and the one behind each."""
    train, test = text(40, 64, 21, 10000)
    return train[:, :-1], train[:, 1:], test[:, :-1], test[:, 1:]


def floats(samples):
    """Samples as a network takes them: bytes from 0 to 1, whole numbers as they are."""
    return samples.astype(np.float32) / np.float32(255) if samples.dtype == np.uint8 else samples


def visits(workload, round_number):
    """For each member of the round's cohort the order in which it visits its samples."""
    generator = np.random.RandomState(ORDER_SEED + round_number)
    values = generator.random_sample((workload.cohort, workload.shard))
    return np.argsort(values, axis=1).astype(np.int32)


def permutation():
    """Client c owns the training samples permutation()[shard c : shard (c + 1)] of Fashion-MNIST."""
    return np.random.RandomState(PARTITION_SEED).permutation(60000).astype(np.int32)


def cohort(workload, round_number):
    """The clients of a round, counted from 1, without replacement."""
    generator = np.random.RandomState(COHORT_SEED + round_number)
    return generator.choice(workload.clients, workload.cohort, replace=False).astype(np.int32)


def initial(workload):
    """Initial parameters, all from one generator: scales 1, shifts 0, others uniform on ±1/√fan-in."""
    generator = np.random.RandomState(INITIAL_SEED)
    parameters, fan_in = [], 1
    for name, shape in zip(workload.tensors, workload.shapes):
        if name.endswith((".scale", ".shift")):
            parameters.append(np.full(shape, name.endswith(".scale"), np.float32))
            continue
        if len(shape) > 1:
            fan_in = math.prod(shape[1:])
        bound = 1 / math.sqrt(fan_in)
        parameters.append(generator.uniform(-bound, bound, size=shape).astype(np.float32))
    return parameters


def images(folders=None):
    """Fashion-MNIST's training images (client after client) and labels, test images and labels."""
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

    order = permutation()
    return (
        read("train-images-idx3-ubyte").reshape(-1, 784)[order],
        read("train-labels-idx1-ubyte")[order].astype(np.int64),
        read("t10k-images-idx3-ubyte").reshape(-1, 784),
        read("t10k-labels-idx1-ubyte").astype(np.int64))


W2_TENSORS = pairs("dense", (200, 784), (200, 200), (10, 200))
CNN_TENSORS = pairs("conv", (32, 1, 5, 5), (64, 32, 5, 5)) + pairs("dense", (512, 3136), (10, 512))
LENET_TENSORS = pairs("conv", (6, 1, 5, 5), (16, 6, 5, 5)) + pairs(
    "dense", (120, 256), (84, 120), (10, 84))
RESNET_TENSORS, RESNET_PRODUCTS = resnet20()
TRANSFORMER_TENSORS, TRANSFORMER_PRODUCTS = transformer()
LSTM_TENSORS = [
    ("embedding1.weight", (80, 8)), *lstm(1, 8, 256), *lstm(2, 256, 256),
    *pairs("dense", (80, 256))]

WORKLOADS = {workload.name: workload for workload in [
    Workload(
        "w1-softmax", pairs("dense", (10, 784)), [784 * 10], 100, 20, {10: 0.6833, 20: 0.7274}),
    Workload(
        "w2-mlp", W2_TENSORS, [784 * 200, 200 * 200, 200 * 10], 100, 20, {10: 0.6015, 20: 0.6444}),
    Workload(
        "w3-cnn", CNN_TENSORS, [784 * 25 * 32, 196 * 25 * 32 * 64, 3136 * 512, 512 * 10], 20, 5,
        {5: 0.425}),
    Workload(
        "w5-lenet5", LENET_TENSORS,
        [576 * 25 * 6, 64 * 25 * 6 * 16, 256 * 120, 120 * 84, 84 * 10], 10, 4, {4: 0.6996},
        clients=10, shard=6000, batch=64, rate=0.01, momentum=0.9),
    Workload(
        "w6-resnet20", RESNET_TENSORS, RESNET_PRODUCTS, 4, 4, {4: 0.128}, made_images,
        clients=40, shard=100, batch=20, rate=0.03),
    Workload(
        "w7-transformer", TRANSFORMER_TENSORS, TRANSFORMER_PRODUCTS, 4, 4, {4: 0.0490}, sentences,
        clients=40, shard=64, batch=16, rate=0.3),
    Workload(
        "w8-lstm", LSTM_TENSORS,
        [0, 80 * 1024 * 8, 80 * 1024 * 256, 80 * 1024 * 512, 256 * 80], 4, 4, {4: 0.0825}, characters,
        clients=40, shard=40, batch=10, rate=1.0)]}
