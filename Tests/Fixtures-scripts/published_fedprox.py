"""Plays FedProx's rule on Synthetic(alpha, alpha) in NumPy, without anything of FedSim; prints published.csv.

    python3 Tests/Fixtures-scripts/published_fedprox.py > scenarios/published/fedprox-synthetic/published.csv

The data are those of FedSim's source `synthetic`, drawn by the streams of make_partition_numbers.py's program for the
three seeds of the sweep, so that both programs learn the same. Cohorts, stragglers and batches are NumPy's own. The
rule is that of the authors' trainers (fedavg.py, fedprox.py): 10 of 30 clients, 1 of them active, the other 9 do
1 … 19 epochs of the 20, or are dropped; the mean is weighted by samples; batches of 10, step 0.01, from zeros.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from partition_streams import Stream

SEEDS = [int(seed) for seed in sys.argv[1:]] or [1]
FEATURES, CLASSES, USERS, ROUNDS, EPOCHS, BATCH, STEP = 60, 10, 30, 100, 20, 10, 0.01


def user(k, alpha, seed):
    purpose = "synthetic.user"
    model = Stream(purpose, k, 0, seed)
    u, b = alpha * model.normal(), alpha * model.normal()
    weights = np.array([[u + model.normal() for _ in range(FEATURES)] for _ in range(CLASSES)])
    offsets = np.array([u + model.normal() for _ in range(CLASSES)])
    centre = np.array([b + model.normal() for _ in range(FEATURES)])
    size = 50 + int(np.exp(4 + 2 * Stream(purpose, k, 1, seed).normal()))
    spread = np.arange(1, FEATURES + 1) ** -0.6
    sets = []
    for slot, count in ((2, size), (3, max(1, size // 9))):
        stream = Stream(purpose, k, slot, seed)
        x = centre + spread * np.array([[stream.normal() for _ in range(FEATURES)] for _ in range(count)])
        sets.append((x, (x @ weights.T + offsets).argmax(1)))
    return sets


def local(w, x, y, epochs, mu, rng):
    start, w = w, w.copy()
    for _ in range(epochs):
        order = rng.permutation(len(y))
        for at in range(0, len(y), BATCH):
            some = order[at : at + BATCH]
            scores = x[some] @ w
            p = np.exp(scores - scores.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            p[np.arange(len(some)), y[some]] -= 1
            w -= STEP * (x[some].T @ p / len(some) + mu * (w - start))
    return w


def play(users, test, drop, mu, seed):
    rng = np.random.default_rng(seed)
    w = np.zeros((FEATURES + 1, CLASSES))
    for _ in range(ROUNDS):
        cohort = rng.choice(USERS, 10, replace=False)
        total, sum_ = 0, 0
        for place, k in enumerate(cohort):
            if drop and place > 0:
                continue
            epochs = EPOCHS if place == 0 else rng.integers(1, EPOCHS)
            x, y = users[k]
            sum_ = sum_ + len(y) * local(w, x, y, epochs, mu, rng)
            total += len(y)
        w = sum_ / total
    return float(((test[0] @ w).argmax(1) == test[1]).mean())


def with_ones(x):
    return np.hstack([x, np.ones((len(x), 1))])


print("row,where,metric,published,deviation,source")
for alpha in (1, 0):
    found = {}
    for seed in SEEDS:
        sets = [user(k, alpha, seed) for k in range(USERS)]
        users = [(with_ones(x), y) for (x, y), _ in sets]
        test = (with_ones(np.vstack([x for _, (x, _) in sets])), np.concatenate([y for _, (_, y) in sets]))
        for drop, mu in ((True, 0), (False, 0), (False, 1)):
            found.setdefault((drop, mu), []).append(play(users, test, drop, mu, 1))
            print(alpha, seed, drop, mu, found[drop, mu][-1], file=sys.stderr, flush=True)
    for (drop, mu), values in found.items():
        name = "FedAvg" if drop else f"FedProx mu={mu}"
        where = f"alpha={alpha};beta={alpha};drop={str(drop).lower()};mu={mu}"
        print(f'"Synthetic({alpha},{alpha}), 90 % stragglers, {name}",{where},finalAccuracy,'
              f"{np.mean(values):.4f},{np.std(values, ddof=1):.4f},NumPy program")
