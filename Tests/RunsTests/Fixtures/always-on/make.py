"""Makes the fixture of `AlwaysOnTests`: FedAvg written in NumPy, in float64, with nothing of FedSim.

20 clients of 60 samples of Fashion-MNIST, an MLP 784-16-10, 5 rounds with every client in each, one
epoch a round, batches of 10, plain SGD at 0.1 on the mean cross-entropy; the server adds the
sample-weighted mean of the differences. Writes initial.npz, partition.npz, orders.npz, final.npz.

    python3 make.py [folder with the IDX files]
"""
import gzip
import sys

import numpy as np

folder = sys.argv[1] if len(sys.argv) > 1 else "/usr/share/datasets/fashion-mnist"
CLIENTS, SAMPLES, ROUNDS, BATCH, RATE, HIDDEN = 20, 60, 5, 10, 0.1, 16


def idx(name, header):
    with gzip.open(f"{folder}/{name}") as file:
        return np.frombuffer(file.read(), np.uint8, offset=header)


images = idx("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)
labels = idx("train-labels-idx1-ubyte.gz", 8)

draw = np.random.RandomState(2025)
sizes = [(784, HIDDEN), (HIDDEN,), (HIDDEN, 10), (10,)]
names = ["dense1.weight", "dense1.bias", "dense2.weight", "dense2.bias"]
weights = [draw.uniform(-0.05, 0.05, size).astype(np.float32) for size in sizes]
# Sizes differ, so that the weights by samples matter.
counts = [SAMPLES - client for client in range(CLIENTS)]
pool = draw.permutation(60000)[: sum(counts)].astype(np.int32)
offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
orders = [[draw.permutation(count) for _ in range(ROUNDS)] for count in counts]

np.savez_compressed("initial.npz", **dict(zip(names, weights)))
np.savez_compressed("partition.npz", samples=pool, offsets=offsets)
flat = np.full((CLIENTS, ROUNDS, max(counts)), -1, np.int32)
for client in range(CLIENTS):
    for epoch in range(ROUNDS):
        flat[client, epoch, : counts[client]] = orders[client][epoch]
np.savez_compressed("orders.npz", orders=flat)


def train(start, x, y):
    w1, b1, w2, b2 = [w.copy() for w in start]
    for first in range(0, len(x), BATCH):
        bx, by = x[first : first + BATCH], y[first : first + BATCH]
        hidden = np.maximum(bx @ w1 + b1, 0)
        logits = hidden @ w2 + b2
        p = np.exp(logits - logits.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        p[np.arange(len(by)), by] -= 1
        p /= len(by)
        dh = (p @ w2.T) * (hidden > 0)
        w2 -= RATE * hidden.T @ p
        b2 -= RATE * p.sum(0)
        w1 -= RATE * bx.T @ dh
        b1 -= RATE * dh.sum(0)
    return [w1, b1, w2, b2]


model = [w.astype(np.float64) for w in weights]
for round in range(ROUNDS):
    total = [np.zeros(size) for size in sizes]
    for client in range(CLIENTS):
        shard = pool[offsets[client] : offsets[client + 1]]
        order = shard[orders[client][round]]
        trained = train(model, images[order] / 255.0, labels[order])
        for sum_, new, old in zip(total, trained, model):
            sum_ += counts[client] / sum(counts) * (new - old)
    model = [old + step for old, step in zip(model, total)]

np.savez_compressed("final.npz", **{n: w.astype(np.float32) for n, w in zip(names, model)})
moved = max(np.abs(new - old).max() for new, old in zip(model, weights))
print(f"largest movement of a weight: {moved:.4f}")
