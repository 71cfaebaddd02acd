"""Compares a recurrent with a feed-forward model on data drawn by the equations of `sensors`.

Independent of the simulator: generator, models, gradients and Adam are NumPy's alone, all devices' data
in one place. Gives the figures in Sources/DataSets/Sensors.swift. Run: python compare_sensor_models.py [SEED]
"""

import itertools
import sys

import numpy as np

DEVICES, TRAIN, TEST, STEPS, CHANNELS, KINDS, DRIFT, NOISE = 100, 60, 20, 40, 3, 3, 0.4, 0.25
ORDERS = list(itertools.permutations(range(KINDS)))
PATTERNS = np.array(
    [[np.cos(2 * np.pi * (e / KINDS + i / CHANNELS)) for i in range(CHANNELS)] for e in range(KINDS)]
)
rng = np.random.default_rng(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


def recordings(count, gain, offset, phase, frequency):
    samples = np.zeros((count, STEPS, CHANNELS), np.float32)
    labels = rng.integers(0, len(ORDERS), count)
    for sample, label in zip(samples, labels):
        time = 1 + rng.integers(0, STEPS - 2 - 7 * (KINDS - 1))
        for turn, kind in enumerate(ORDERS[label]):
            time += rng.integers(2, 8) if turn else 0
            sample[time - 1 : time + 2] += np.outer([0.5, 1, 0.5], PATTERNS[kind])
    angle = 2 * np.pi * frequency * np.arange(STEPS)[:, None] / STEPS
    noise = NOISE * rng.standard_normal(samples.shape)
    return (gain * samples + offset + DRIFT / 2 * np.sin(angle + phase) + noise).astype("f4"), labels


def device():
    traits = (np.exp(DRIFT / 2 * rng.standard_normal(CHANNELS)), DRIFT * rng.standard_normal(CHANNELS),
              2 * np.pi * rng.random(CHANNELS), 1 + rng.random())
    return recordings(TRAIN, *traits), recordings(TEST, *traits)


def weights(*shape):
    return (rng.standard_normal(shape) / np.sqrt(shape[0])).astype("f4")


def zeros(size):
    return np.zeros(size, "f4")


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


class Perceptron:
    def __init__(self, units):
        inputs = STEPS * CHANNELS
        self.parameters = [weights(inputs, units), zeros(units), weights(units, 6), zeros(6)]

    def forward(self, x):
        w, b, v, c = self.parameters
        hidden = np.maximum(0, x.reshape(len(x), -1) @ w + b)
        return hidden @ v + c, hidden

    def gradients(self, x, hidden, d):
        dh = d @ self.parameters[2].T * (hidden > 0)
        return [x.reshape(len(x), -1).T @ dh, dh.sum(0), hidden.T @ d, d.sum(0)]


class GatedRecurrent:
    def __init__(self, units):
        self.units = units
        self.parameters = [weights(CHANNELS, 3 * units), weights(units, 3 * units), zeros(3 * units),
                           weights(units, 6), zeros(6)]

    def forward(self, x):
        w, u, b, v, c = self.parameters
        n = self.units
        h, states = np.zeros((len(x), n), "f4"), []
        for step in range(STEPS):
            a, r = x[:, step] @ w + b, h @ u
            gates = sigmoid(a[:, : 2 * n] + r[:, : 2 * n])
            update, reset = gates[:, :n], gates[:, n:]
            new = np.tanh(a[:, 2 * n :] + reset * r[:, 2 * n :])
            states.append((h, update, reset, new, r[:, 2 * n :]))
            h = (1 - update) * new + update * h
        return h @ v + c, (h, states)

    def gradients(self, x, memory, d):
        h, states = memory
        g = [np.zeros_like(p) for p in self.parameters]
        g[3], g[4], dh = h.T @ d, d.sum(0), d @ self.parameters[3].T
        for step in reversed(range(STEPS)):
            before, update, reset, new, inner = states[step]
            dn = dh * (1 - update) * (1 - new * new)
            dz = dh * (before - new) * update * (1 - update)
            dr = dn * inner * reset * (1 - reset)
            da, du = np.concatenate([dz, dr, dn], 1), np.concatenate([dz, dr, dn * reset], 1)
            g[0] += x[:, step].T @ da
            g[1] += before.T @ du
            g[2] += da.sum(0)
            dh = dh * update + du @ self.parameters[1].T
        return g


def train(model, rate, epochs, train_set, test_set):
    samples, labels = train_set
    means, squares = ([np.zeros_like(p) for p in model.parameters] for _ in range(2))
    turn = 0
    for _ in range(epochs):
        for batch in np.array_split(rng.permutation(len(samples)), len(samples) // 50):
            scores, memory = model.forward(samples[batch])
            d = np.exp(scores - scores.max(1, keepdims=True))
            d /= d.sum(1, keepdims=True)
            d[np.arange(len(batch)), labels[batch]] -= 1
            gradients = model.gradients(samples[batch], memory, d / len(batch))
            norm = np.sqrt(sum((g**2).sum() for g in gradients))
            turn += 1
            for p, g, m, s in zip(model.parameters, gradients, means, squares):
                g = g * min(1, 5 / norm)
                m += 0.1 * (g - m)
                s += 0.001 * (g * g - s)
                p -= rate * (m / (1 - 0.9**turn)) / (np.sqrt(s / (1 - 0.999**turn)) + 1e-8)
    return (model.forward(test_set[0])[0].argmax(1) == test_set[1]).mean()


parts = [device() for _ in range(DEVICES)]
train_set, test_set = (
    tuple(np.concatenate([part[k][i] for part in parts]) for i in range(2)) for k in range(2)
)
for name, model, rate, epochs in [("perceptron, 64 units", Perceptron(64), 2e-3, 15),
                                  ("perceptron, 256 units", Perceptron(256), 2e-3, 15),
                                  ("GRU, 24 units", GatedRecurrent(24), 5e-3, 14)]:
    count = sum(p.size for p in model.parameters)
    print(f"{name}, {count} parameters: {train(model, rate, epochs, train_set, test_set):.3f}", flush=True)
