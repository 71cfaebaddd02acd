"""Plays FedProx's rule on Synthetic(alpha, alpha) in NumPy, without anything of FedSim.

    python3 Tests/Fixtures-scripts/published_fedprox.py SEED...    # adds accuracies to Tests/Published/fedprox.csv
    python3 Tests/Fixtures-scripts/published_fedprox.py > scenarios/published/fedprox-synthetic/published.csv

Seeds are those of the sweep: `fedsim sweep scenarios/published/fedprox-synthetic/sweep.yaml --dry-run` lists them. The
data are those of FedSim's source `synthetic`, drawn by the streams of partition_streams.py for these seeds, so that
both programs learn the same. Initial weights (zeros), cohorts, stragglers and batches are NumPy's own. The rule is that
of the authors' trainers (fedavg.py, fedprox.py): 10 of 30 clients; of 0, 50 or 90 % of them, stragglers, each does
1 … 19 epochs of the 20, or is dropped; the mean is weighted by samples; batches of 10, step 0.01. What varies is played
with the same draws, as columns of one matrix. A seed takes
two minutes.
"""
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from partition_streams import Stream

FEATURES, CLASSES, USERS, ROUNDS, EPOCHS, BATCH, STEP = 60, 10, 30, 100, 20, 10, 0.01
# Share of stragglers, whether they are dropped, mu, and what the row is called.
VARIANTS = [
    (0.0, True, 0, "FedAvg"), (0.0, True, 1, "FedProx mu=1"), (0.5, True, 0, "FedAvg"),
    (0.5, False, 0, "FedProx mu=0"), (0.5, False, 1, "FedProx mu=1"), (0.9, True, 0, "FedAvg"),
    (0.9, False, 0, "FedProx mu=0"), (0.9, False, 1, "FedProx mu=1")]


def blocks(stream, first, count):
    """Philox's blocks of a stream, as make_stream_numbers.py has them, many at once: [count, 4] words."""
    low = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    a = np.arange(first, first + count, dtype=np.uint64)
    b, c, d = (np.full(count, value, np.uint64) for value in
               (stream.slot & 0xFFFFFFFF, stream.slot >> 32, stream.ordinal))
    k, l = (np.uint64(word) for word in stream.key)
    for _ in range(10):
        x, y = np.uint64(0xD2511F53) * a, np.uint64(0xCD9E8D57) * c
        a, b, c, d = y >> shift ^ b ^ k, y & low, x >> shift ^ d ^ l, x & low
        k, l = (k + np.uint64(0x9E3779B9)) & low, (l + np.uint64(0xBB67AE85)) & low
    return np.stack([a, b, c, d], 1)


def normals(stream, count):
    """The first normals of a stream by the polar method: an attempt takes one block, two uniforms."""
    found, first = np.zeros(0), 0
    while len(found) < count:
        words = blocks(stream, first, count + 64)
        first += count + 64
        x, y = (2 * ((words[:, i] | words[:, i + 1] << np.uint64(32)) >> np.uint64(11)) * 2.0**-53 - 1 for i in (0, 2))
        s = x * x + y * y
        good = (s > 0) & (s < 1)
        found = np.append(found, x[good] * np.sqrt(-2 * np.log(s[good]) / s[good]))
    return found[:count]


def user(k, alpha, seed):
    """A user's samples to train on and to test on: features in single precision, and labels."""
    purpose = "synthetic.user"
    drawn = normals(Stream(purpose, k, 0, seed), 2 + CLASSES * FEATURES + CLASSES + FEATURES)
    u, b = alpha * drawn[0], alpha * drawn[1]
    at = 2 + CLASSES * FEATURES
    weights, offsets = u + drawn[2:at].reshape(CLASSES, FEATURES), u + drawn[at : at + CLASSES]
    centre = b + drawn[at + CLASSES :]
    size = 50 + int(np.exp(4 + 2 * Stream(purpose, k, 1, seed).normal()))
    spread = np.arange(1, FEATURES + 1) ** -0.6
    sets = []
    for slot, count in ((2, size), (3, max(1, size // 9))):
        x = centre + spread * normals(Stream(purpose, k, slot, seed), count * FEATURES).reshape(count, FEATURES)
        sets.append((x.astype(np.float32), (x @ weights.T + offsets).argmax(1)))
    return sets


def with_ones(x):
    return np.hstack([x, np.ones((len(x), 1))])


def local(w, x, y, epochs, mu, order):
    """SGD from w, [features, variants, classes], for `epochs` of each variant; `order(e)` is epoch e's order."""
    start, w = w, w.copy()
    for epoch in range(max(epochs)):
        on = [v for v in range(len(epochs)) if epochs[v] > epoch]
        some = np.ascontiguousarray(w[:, on]).reshape(len(w), -1)
        base = start[:, on].reshape(len(w), -1)
        pull = STEP * np.repeat([float(mu[v]) for v in on], CLASSES)
        kept, pulled = 1 - pull, pull * base
        places = order(epoch)
        xs, ys = x[places], np.eye(CLASSES)[y[places]][:, None]
        for at in range(0, len(y), BATCH):
            batch = xs[at : at + BATCH]
            p = (batch @ some).reshape(len(batch), len(on), CLASSES)
            np.exp(p, out=p)
            p /= p.sum(2, keepdims=True)
            p -= ys[at : at + BATCH]
            step = batch.T @ p.reshape(len(batch), -1)
            step *= STEP / len(batch)
            some *= kept
            some += pulled
            some -= step
        w[:, on] = some.reshape(len(w), len(on), CLASSES)
    return w


def play(users, test, seed):
    """The accuracies of all variants after the last round."""
    rng = np.random.default_rng(seed)
    w = np.zeros((FEATURES + 1, len(VARIANTS), CLASSES))
    mu = [variant[2] for variant in VARIANTS]
    for _ in range(ROUNDS):
        total, sum_ = np.zeros(len(VARIANTS)), np.zeros_like(w)
        for place, k in enumerate(rng.choice(USERS, 10, replace=False)):
            less = int(rng.integers(1, EPOCHS))
            epochs = [EPOCHS if place < round(10 * (1 - share)) else 0 if drop else less
                      for share, drop, _, _ in VARIANTS]
            x, y = users[k]
            trained = local(w, x, y, epochs, mu, lambda epoch: rng.permutation(len(y)))
            weight = len(y) * (np.array(epochs) > 0)
            total, sum_ = total + weight, sum_ + weight[:, None] * trained
        w = sum_ / total[:, None]
    x, y = test
    return [float(((x @ w[:, v]).argmax(1) == y).mean()) for v in range(len(VARIANTS))]


def add(path, seeds, alphas=(0, 0.5, 1)):
    """Plays the seeds and adds a line for each row to the file."""
    for seed in seeds:
        for alpha in alphas:
            sets = [user(k, alpha, seed) for k in range(USERS)]
            users = [(with_ones(x), y) for (x, y), _ in sets]
            test = (with_ones(np.vstack([x for _, (x, _) in sets])), np.concatenate([y for _, (_, y) in sets]))
            with open(path, "a", encoding="utf-8") as file:
                for variant, accuracy in zip(VARIANTS, play(users, test, seed)):
                    names = [str(x).replace(" ", "_") for x in variant]
                    print(alpha, *names, seed, f"{accuracy:.6f}", sep=",", file=file)


def table(path):
    """published.csv: means over the seeds of the file."""
    lines = [line.split(",") for line in path.read_text(encoding="utf-8").split()[1:]]
    print("row,where,metric,published,deviation,source")
    for alpha in (0, 0.5, 1):
        for share, drop, mu, name in VARIANTS:
            key = [str(x).replace(" ", "_") for x in (alpha, share, drop, mu, name)]
            values = [float(line[6]) for line in lines if line[:5] == key]
            where = f"alpha={alpha};beta={alpha};share={share:g};drop={str(drop).lower()};mu={mu}"
            print(f'"Synthetic({alpha},{alpha}), {share * 100:g} % stragglers, {name}",{where},finalAccuracy,'
                  f"{np.mean(values):.4f},{np.std(values, ddof=1):.4f},NumPy program of {len(values)} seeds")


if __name__ == "__main__":
    file = pathlib.Path(__file__).parent.parent / "Published" / "fedprox.csv"
    if sys.argv[1:]:
        add(file, [int(seed) for seed in sys.argv[1:]])
    else:
        table(file)
