"""Plays attacks against robust aggregation in NumPy, without anything of FedSim.

    python3 Tests/Fixtures-scripts/published_flanders.py SEED...             # adds the grid, a line for each cell
    python3 Tests/Fixtures-scripts/published_flanders.py coded NAMES SEED... # the baseline's differences, in its grid
    python3 Tests/Fixtures-scripts/published_flanders.py                     # prints means and published figures

Lines are added to Tests/Published/flanders.csv: the accuracy after round 50, and the greatest over rounds. `--only
AGGREGATOR,ATTACK` plays one cell; NAMES are some of CODED, joined by `+`.

Written from the papers: Adam (Kingma and Ba 2015, algorithm 1), dropout; a-little-is-enough (Baruch et al. 2019,
algorithm 3), OPT against Krum (Fang et al. 2020, section 4.2 and theorem 1, where d parameters have a sign), min-max
(Shejwalkar and Houmansadr 2021, algorithm 1 with inverse deviations); Krum and Multi-Krum (Blanchard et al. 2017),
median and trimmed mean (Yin et al. 2018), Bulyan (El Mhamdi et al. 2018). Attackers know what all clients trained. What
the baseline's program does otherwise is CODED. All draws are NumPy's own; a cell takes two minutes. Fashion-MNIST is in
$FEDSIM_DATA/fashion-mnist or /usr/share/datasets.
"""
import csv
import pathlib
import sys
from statistics import NormalDist

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from published_fedbuff import images

CLIENTS, ATTACKERS, ROUNDS, BATCH, DROP, SIZES = 100, 20, 50, 32, 0.2, (784, 256, 128, 64, 10)
# What Flower's program does, by name, where its page or the papers say otherwise, or neither says it.
CODED = {
    "drawn": "20 other attackers in each round", "warm-up": "no attack in the first two rounds",
    "opt": "OPT leaves what the first honest client sent in round 1, by the signs of its weights",
    "search": "AGR-MM halves steps from 5 on, among honest distances, and sends 6 deviations where it finds none",
    "480": "480 images a client", "order": "the same batches in each round",
    "pixels": "pixels from -1 to 1 to train on, from 0 to 1 to test on", "step": "step 0.003",
    "sum": "the gradient of a batch's sum, not of its mean"}
FILE = pathlib.Path(__file__).parent.parent / "Published" / "flanders.csv"
FIGURES = pathlib.Path(__file__).parent.parent.parent / "scenarios" / "published" / "flanders" / "published.csv"


def layers(w):
    """Weights, [inputs, outputs], and biases of each layer: views of a vector."""
    found, at = [], 0
    for rows, columns in zip(SIZES, SIZES[1:]):
        end = at + rows * columns
        found.append((w[at:end].reshape(rows, columns), w[end : end + columns]))
        at = end + columns
    return found


def initial(rng):
    """Uniform within one over the root of a layer's inputs, PyTorch's default."""
    bounds = [np.full((rows + 1) * columns, rows**-0.5) for rows, columns in zip(SIZES, SIZES[1:])]
    return (np.concatenate(bounds) * rng.uniform(-1, 1, sum(map(len, bounds)))).astype(np.float32)


def adam(w, g, m, v, t, step, chunk=32768):
    """Step t of Adam, in place and in pieces that fit a cache; the gradient is used up."""
    for at in range(0, len(w), chunk):
        to, of, mean, square = (vector[at : at + chunk] for vector in (w, g, m, v))
        rest = of * of
        rest -= square
        rest *= 0.001
        square += rest
        of -= mean
        of *= 0.1
        mean += of
        np.multiply(square, 1 / (1 - 0.999**t), out=rest)
        np.sqrt(rest, out=rest)
        rest += 1e-8
        np.divide(mean, rest, out=rest)
        rest *= step / (1 - 0.9**t)
        to -= rest


def trained(start, x, y, kept, step=0.001, sums=False):
    """Adam over the batches of x, y in order; `kept(t, layer, shape)`: which units of batch t stay, 1 or 0."""
    w, g = start.copy(), np.empty_like(start)
    m, v = np.zeros_like(start), np.zeros_like(start)
    net, slopes = layers(w), layers(g)
    factor = start.dtype.type(1 / (1 - DROP))
    for t, at in enumerate(range(0, len(x), BATCH)):
        values, labels = [x[at : at + BATCH]], y[at : at + BATCH]
        for place, (matrix, bias) in enumerate(net):
            z = values[-1] @ matrix + bias
            if place < len(net) - 1:
                z = np.maximum(z, 0) * (kept(t, place, z.shape) * factor)
            values.append(z)
        p = np.exp(z - z.max(1, keepdims=True))
        delta = p / p.sum(1, keepdims=True)
        delta[np.arange(len(labels)), labels] -= 1
        if not sums:
            delta /= len(labels)
        for place in reversed(range(len(net))):
            np.matmul(values[place].T, delta, out=slopes[place][0])
            delta.sum(0, out=slopes[place][1])
            if place:
                delta = (delta @ net[place][0].T) * ((values[place] > 0) * factor)
        adam(w, g, m, v, t + 1, step)
    return w


def accuracy(w, x, y):
    for matrix, bias in layers(w)[:-1]:
        x = np.maximum(x @ matrix + bias, 0)
    matrix, bias = layers(w)[-1]
    return float(((x @ matrix + bias).argmax(1) == y).mean())


def squares(rows):
    return np.array([np.dot(row, row) for row in rows], float)


def distances(rows):
    """Squared distances of rows from each other."""
    of = squares(rows)
    found = of[:, None] + of - 2 * (rows @ rows.T).astype(float)
    found = np.maximum((found + found.T) / 2, 0)
    np.fill_diagonal(found, 0)
    return found


def krum(apart, byzantine):
    """Krum's scores by squared distances: sums over the n - f - 2 nearest others."""
    near = max(1, len(apart) - byzantine - 2)
    others = apart + np.diag(np.full(len(apart), np.inf))
    return np.sort(others, axis=1)[:, :near].sum(axis=1)


class Ray:
    """Squared distances of rows from places origin + factor * direction."""

    def __init__(self, rows, origin, direction):
        self.origin, self.direction = origin, direction
        there = rows - origin
        self.start, self.along = squares(there), (there @ direction).astype(float)
        self.length = float(np.dot(direction, direction))

    def squared(self, factor):
        return self.start - 2 * factor * self.along + factor**2 * self.length

    def at(self, factor):
        return self.origin + self.origin.dtype.type(factor) * self.direction


# Attacks: what an attacker sends, by what all trained and who attacks; all are differences from the received model.


def chosen_by_krum(ray, apart, attackers, factor):
    """Whether Krum chooses an attacker's row where all of these are at a place of a ray."""
    apart = apart.copy()
    apart[attackers] = ray.squared(factor)
    apart[:, attackers] = apart[attackers].T
    apart[np.ix_(attackers, attackers)] = 0
    return bool(attackers[krum(apart, attackers.sum()).argmin()])


def against_krum(rows, attackers):
    n, c = len(rows), int(attackers.sum())
    signs = np.sign(rows.mean(axis=0))
    ray, apart = Ray(rows, np.zeros_like(signs), -signs), distances(rows)
    honest = np.sort(apart[np.ix_(~attackers, ~attackers)], axis=1)[:, 1 : n - c - 1]
    factor = np.sqrt(honest.sum(1).min() / (max(1, n - 2 * c - 1) * ray.length))
    factor += np.sqrt(ray.start[~attackers].max() / ray.length)
    while not chosen_by_krum(ray, apart, attackers, factor) and factor / 2 > 1e-5:
        factor /= 2
    return ray.at(factor)


def against_krum_as_coded(rows, attackers, received, first):
    n, c, count = len(rows), int(attackers.sum()), 2 * (len(SIZES) - 1)
    apart = distances(rows)
    factor = krum(apart, c)[~attackers].min() / ((n - 2) * (c - 1) * count**0.5)
    norms = [sum(float(np.linalg.norm(part)) for layer in layers(row + received - first) for part in layer)
             for row in rows[~attackers]]
    factor = min(factor + max(norms) ** 2 / count**0.5, 999)
    ray = Ray(rows, first - received, -np.sign(first))
    while not chosen_by_krum(ray, apart, attackers, factor) and factor > 1e-5:
        factor /= 2
    return ray.at(factor)


def least_enough(rows, attackers, form):
    n, c = len(rows), int(attackers.sum())
    share = (n - c - (n // 2 + 1 - c)) / (n - c)
    mean, deviation = rows.mean(axis=0), rows.std(axis=0)
    if form == "flanders":
        return mean - rows.dtype.type(NormalDist().cdf(share)) * np.sqrt(deviation)
    return mean - rows.dtype.type(max(0, NormalDist().inv_cdf(share))) * deviation


def min_max(rows, attackers):
    """The greatest factor with which the mean less deviations is within the greatest distance of two rows."""
    ray, bound = Ray(rows, rows.mean(axis=0), -rows.std(axis=0)), distances(rows).max()
    factor, step, found = 10.0, 5.0, 0.0
    while step > 1e-9:
        if ray.squared(factor).max() <= bound:
            found, factor = factor, factor + step
        else:
            factor -= step
        step /= 2
    return ray.at(found)


def min_max_as_coded(rows, attackers):
    ray = Ray(rows, rows.mean(axis=0), -rows.std(axis=0))
    bound = distances(rows[~attackers]).max()
    factor, step, found = 5.0, 2.5, 6.0
    while abs(found - factor) > 1e-5 and step > 1e-5:
        if ray.squared(factor)[~attackers].max() < bound:
            found, factor = factor, factor + step / 2
        else:
            factor -= step / 2
        step /= 2
    return ray.at(found)


ATTACKS = {
    "GAUSS": lambda rows, attackers, rng: rows[attackers] + rng.normal(0, 10, (attackers.sum(), rows.shape[1])),
    "ALIE (as coded)": lambda rows, attackers, rng: least_enough(rows, attackers, "flanders"),
    "ALIE (as in Baruch et al.)": lambda rows, attackers, rng: least_enough(rows, attackers, "baruch"),
    "OPT": lambda rows, attackers, rng: against_krum(rows, attackers),
    "AGR-MM": lambda rows, attackers, rng: min_max(rows, attackers)}


# Aggregators, of rows of which `byzantine` may be attackers'.


def trimmed(rows, byzantine, share=0.2):
    cut = int(share * len(rows))
    return np.sort(rows.T, axis=1)[:, cut : len(rows) - cut].mean(axis=1)


def multi_krum(rows, byzantine):
    best = np.argsort(krum(distances(rows), byzantine), kind="stable")[: len(rows) - byzantine]
    return rows[best].mean(axis=0)


def bulyan(rows, byzantine):
    apart, left, chosen = distances(rows), list(range(len(rows))), []
    while len(chosen) < len(rows) - 2 * byzantine:
        place = int(krum(apart[np.ix_(left, left)], byzantine).argmin())
        chosen.append(left.pop(place))
    values = np.sort(rows[chosen].T, axis=1)
    # The values nearest to the median are neighbours in their order; of those equally near, the lower ones.
    count = len(chosen) - 2 * byzantine
    middle = values[:, [(len(chosen) - 1) // 2, len(chosen) // 2]].mean(axis=1, dtype=float)
    far = np.cumsum(np.abs(values - middle[:, None]), axis=1)
    far[:, count:] -= far[:, :-count].copy()
    far = far[:, count - 1 :]
    first = (far <= far.min(axis=1, keepdims=True) * (1 + 1e-12)).argmax(axis=1)
    return np.take_along_axis(values, first[:, None] + np.arange(count), axis=1).mean(axis=1)


AGGREGATORS = {
    "FedAvg": lambda rows, byzantine: rows.mean(axis=0),
    "median": lambda rows, byzantine: np.median(np.ascontiguousarray(rows.T), axis=1),
    "trimmed mean": trimmed, "Multi-Krum": multi_krum, "Bulyan": bulyan}


def partition(labels, samples, rng):
    """Equal sizes, each client's mix of classes from Dirichlet(0.5), without replacement."""
    left = [list(rng.permutation(np.flatnonzero(labels == c))) for c in range(10)]
    shards = []
    for _ in range(CLIENTS):
        mix, shard = rng.dirichlet(np.full(10, 0.5)), []
        while len(shard) < samples:
            shares = np.where([len(of) > 0 for of in left], mix + 1e-12, 0)
            shard.append(left[rng.choice(10, p=shares / shares.sum())].pop())
        shards.append(rng.permutation(shard))
    return shards


def play(aggregator, attack, coded, seed):
    """The accuracies after each round."""
    rng = np.random.default_rng(seed)
    (x, y), (test, labels) = images("train"), images("t10k")
    x, test = np.ascontiguousarray(x[:, :-1]), np.ascontiguousarray(test[:, :-1])
    if "pixels" in coded:
        x = 2 * x - 1
    shards = partition(y, 480 if "480" in coded else 300, rng)
    w, first, found = initial(rng), None, []
    fixed = rng.permutation(CLIENTS) < ATTACKERS
    for number in range(1, ROUNDS + 1):
        attackers = rng.permutation(CLIENTS) < ATTACKERS if "drawn" in coded else fixed
        rows = np.empty((CLIENTS, len(w)), np.float32)
        for client, shard in enumerate(shards):
            order = shard if "order" in coded else rng.permutation(shard)
            rows[client] = trained(
                w, x[order], y[order], lambda t, layer, shape: rng.random(shape, np.float32) >= DROP,
                0.003 if "step" in coded else 0.001, "sum" in coded) - w
        if first is None:
            first = w + rows[0 if "warm-up" in coded else np.flatnonzero(~attackers)[0]]
        if not ("warm-up" in coded and number <= 2):
            if attack == "OPT" and "opt" in coded:
                rows[attackers] = against_krum_as_coded(rows, attackers, w, first)
            elif attack == "AGR-MM" and "search" in coded:
                rows[attackers] = min_max_as_coded(rows, attackers)
            else:
                rows[attackers] = ATTACKS[attack](rows, attackers, rng)
        w = w + AGGREGATORS[aggregator](rows, ATTACKERS).astype(np.float32)
        found.append(accuracy(w, test, labels))
    return found


def add(coded, seeds, only):
    """Plays a grid for each seed and adds a line for each cell to the file."""
    unknown = set(coded) - set(CODED)
    assert not unknown, f"{unknown} is not in CODED"
    for seed in seeds:
        for aggregator in AGGREGATORS:
            for attack in ATTACKS:
                if only and only != f"{aggregator},{attack}" or coded and "Baruch" in attack:
                    continue
                found = play(aggregator, attack, coded, seed)
                with open(FILE, "a", encoding="utf-8") as file:
                    print(aggregator, attack, "+".join(coded), seed, f"{found[-1]:.4f},{max(found):.4f}", sep=",",
                          file=file)


def table():
    """Means over seeds, after the published figures."""
    with open(FILE, encoding="utf-8") as file:
        lines = list(csv.DictReader(file))
    with open(FIGURES, encoding="utf-8") as file:
        published = {row["row"]: row["published"] for row in csv.DictReader(file)}
    for coded in dict.fromkeys(line["coded"] for line in lines):
        for name, figure in published.items():
            cells = [line for line in lines if line["coded"] == coded
                     and f"{line['aggregator']}, {line['attack']}" == name]
            if cells:
                means = [np.mean([float(cell[of]) for cell in cells]) for of in ("last", "most")]
                print(f"{coded:40} {name:45} {figure:5} {means[0]:.4f} {means[1]:.4f} {len(cells)}")


if __name__ == "__main__":
    words, only = sys.argv[1:], None
    if "--only" in words:
        place = words.index("--only")
        only, words = words[place + 1], words[:place] + words[place + 2 :]
    if words[:1] == ["coded"]:
        add(words[1].split("+"), [int(seed) for seed in words[2:]], only)
    elif words:
        add([], [int(seed) for seed in words], only)
    else:
        table()
