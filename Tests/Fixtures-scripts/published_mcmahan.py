"""Plays McMahan et al. 2017, the perceptron, in NumPy, without anything of FedSim.

    python3 Tests/Fixtures-scripts/published_mcmahan.py SEED...   # adds a line for each cell
    python3 Tests/Fixtures-scripts/published_mcmahan.py           # prints rows for scenarios/published/mcmahan/published.csv

Lines are added to Tests/Published/mcmahan.csv: rounds until 0.85 on Fashion-MNIST; an empty number says that 2,000
were too few. `--only CELL` plays one cell, from 0.

Written from the paper (algorithm 1, section 3): 100 clients of 600 images each, shuffled, or of two of 200 shards of the
images sorted by class; max(C K, 1) clients a round, drawn without replacement; their means weighted by their images. The
perceptron has two hidden layers of 200 (ReLU), softmax, and weights that are uniform within one over the root of a
layer's inputs. Each cell has the client step of the scenario. All draws are NumPy's own. Fashion-MNIST is in
$FEDSIM_DATA/fashion-mnist or /usr/share/datasets.
"""
import csv
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from published_fedbuff import images

CLIENTS, SIZES, TARGET, MOST = 100, (784, 200, 200, 10), 0.85, 2000
# Data, clients a round, epochs, batch, step: the cells of scenarios/published/mcmahan/sweep.yaml, in their order.
CELLS = [
    ("IID", 1, 1, 10, 0.1), ("IID", 10, 1, 10, 0.1), ("IID", 20, 1, 10, 0.1), ("IID", 10, 5, 10, 0.1),
    ("IID", 10, 1, 50, 0.316), ("IID", 10, 5, 50, 0.316), ("shards", 1, 1, 10, 0.0316), ("shards", 10, 1, 10, 0.1),
    ("shards", 20, 1, 10, 0.1), ("shards", 10, 5, 10, 0.0316), ("shards", 10, 1, 50, 0.1), ("shards", 10, 5, 50, 0.1)]
NAMES = ["C=0", "C=0.1", "C=0.2", "C=0.1 and E=5", "C=0.1 and B=50", "C=0.1, E=5 and B=50"]
# A quotient of two cells.
QUOTIENTS = [
    ("IID, C=0 over C=0.1", 0, 1), ("IID, C=0.2 over C=0.1", 2, 1), ("shards, C=0.2 over C=0.1", 8, 7),
    ("shards over IID, C=0.1", 7, 1)]
FILE = pathlib.Path(__file__).parent.parent / "Published" / "mcmahan.csv"


def partition(labels, kind, rng):
    """Each client's images."""
    if kind == "IID":
        return rng.permutation(len(labels)).reshape(CLIENTS, -1)
    shards = np.argsort(labels, kind="stable").reshape(2 * CLIENTS, -1)
    return shards[rng.permutation(2 * CLIENTS)].reshape(CLIENTS, -1)


def initial(rng):
    """Weights, [inputs, outputs], and biases of each layer in turn."""
    found = []
    for rows, columns in zip(SIZES, SIZES[1:]):
        for shape in ((rows, columns), (columns,)):
            found.append(rng.uniform(-(rows**-0.5), rows**-0.5, shape).astype(np.float32))
    return found


def outputs(w, x):
    """What each layer hands on; the last one's are not yet probabilities."""
    first = np.maximum(x @ w[0] + w[1], 0)
    second = np.maximum(first @ w[2] + w[3], 0)
    return first, second, second @ w[4] + w[5]


def trained(start, x, y, epochs, batch, step, rng):
    """SGD over a client's images, which are shuffled in each epoch."""
    w = [part.copy() for part in start]
    for _ in range(epochs):
        order = rng.permutation(len(x))
        for at in range(0, len(x), batch):
            some = order[at : at + batch]
            images, (first, second, out) = x[some], outputs(w, x[some])
            p = np.exp(out - out.max(1, keepdims=True))
            third = (p / p.sum(1, keepdims=True) - y[some]) * np.float32(step / len(some))
            into_second = (third @ w[4].T) * (second > 0)
            into_first = (into_second @ w[2].T) * (first > 0)
            for place, (before, delta) in enumerate([(images, into_first), (first, into_second), (second, third)]):
                w[2 * place] -= before.T @ delta
                w[2 * place + 1] -= delta.sum(0)
    return w


def rounds(cell, seed):
    """Rounds until the target; None: the most were too few."""
    kind, cohort, epochs, batch, step = cell
    rng = np.random.default_rng([seed, *map(ord, kind), cohort, epochs, batch])
    (x, labels), (test, classes) = ((part[:, :-1].copy(), of) for part, of in (images("train"), images("t10k")))
    y, clients = np.eye(10, dtype=np.float32)[labels], partition(labels, kind, rng)
    model = initial(rng)
    for number in range(1, MOST + 1):
        members = rng.choice(CLIENTS, cohort, replace=False)
        sums = [np.zeros_like(part, dtype=np.float64) for part in model]
        for client in members:
            own = clients[client]
            for total, part in zip(sums, trained(model, x[own], y[own], epochs, batch, step, rng)):
                total += part
        model = [(total / cohort).astype(np.float32) for total in sums]
        if np.mean(outputs(model, test)[2].argmax(1) == classes) >= TARGET:
            return number
    return None


def rows():
    """Rows of published.csv: name, variants, mean and deviation over the seeds."""
    found = {}
    with open(FILE, encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            found.setdefault(int(line["cell"]), {})[int(line["seed"])] = int(line["rounds"] or MOST)
    for cell, of in sorted(found.items()):
        yield f"{CELLS[cell][0]}, rounds of {NAMES[cell % 6]}", f"variant={cell}", list(of.values())
    for name, over, under in QUOTIENTS:
        both = sorted(found[over].keys() & found[under].keys())
        yield name, f"variant={over} over variant={under}", [found[over][s] / found[under][s] for s in both]


def main():
    words = sys.argv[1:]
    cells = range(len(CELLS))
    if "--only" in words:
        at = words.index("--only")
        cells = [int(words[at + 1])]
        del words[at : at + 2]
    if not words:
        for name, where, values in rows():
            print(f'"{name} (NumPy)",{where},versions,{np.mean(values):.6g},{np.std(values, ddof=1):.4g},'
                  f"NumPy program of {len(values)} seeds")
        return
    for seed in map(int, words):
        for cell in cells:
            number = rounds(CELLS[cell], seed)
            with open(FILE, "a", encoding="utf-8") as file:
                file.write(f"{cell},{seed},{'' if number is None else number}\n")
            print(cell, seed, number, flush=True)


if __name__ == "__main__":
    main()
