"""Plays McMahan et al. 2017, the convolutional network with IID clients, in PyTorch, without anything of FedSim.

    python3 Tests/Fixtures-scripts/published_mcmahan_cnn.py CELL SEED...   # adds a line for each seed
    python3 Tests/Fixtures-scripts/published_mcmahan_cnn.py                # prints rows for .../mcmahan-cnn/published.csv

Lines are added to Tests/Published/mcmahan-cnn.csv: rounds until 0.85 on Fashion-MNIST; an empty number says that 300
were too few. Cells are those of scenarios/published/mcmahan-cnn/sweep.yaml, from 0. Ten of 100 clients a round, step
0.1, PyTorch's initial weights; the rest is as in published_mcmahan.py. On one thread 1,000 images of training take
two seconds.
"""
import csv
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from published_fedbuff import images
from published_mcmahan import CLIENTS, TARGET, partition

# Epochs and batch.
CELLS = [(1, 50), (1, 10), (5, 50), (5, 10)]
QUOTIENTS = [(0, 1), (2, 1), (3, 1)]
COHORT, STEP, MOST = 10, 0.1, 300
FILE = pathlib.Path(__file__).parent.parent / "Published" / "mcmahan-cnn.csv"


def network():
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(1, 32, 5, padding=2), layers.ReLU(), layers.MaxPool2d(2),
        layers.Conv2d(32, 64, 5, padding=2), layers.ReLU(), layers.MaxPool2d(2),
        layers.Flatten(), layers.Linear(64 * 7 * 7, 512), layers.ReLU(), layers.Linear(512, 10))


def tensors(name):
    x, y = images(name)
    return torch.from_numpy(x[:, :-1].copy()).reshape(-1, 1, 28, 28), torch.from_numpy(y)


def rounds(epochs, batch, seed):
    """Rounds until the target; None: the most were too few."""
    rng = np.random.default_rng([seed, epochs, batch])
    torch.manual_seed(seed)
    (x, y), (test, classes) = tensors("train"), tensors("t10k")
    clients = partition(y.numpy(), "IID", rng)
    model = network()
    loss = torch.nn.CrossEntropyLoss()
    start = {name: part.clone() for name, part in model.state_dict().items()}
    for number in range(1, MOST + 1):
        sums = {name: torch.zeros_like(part, dtype=torch.float64) for name, part in start.items()}
        for client in rng.choice(CLIENTS, COHORT, replace=False):
            model.load_state_dict(start)
            descent = torch.optim.SGD(model.parameters(), STEP)
            for _ in range(epochs):
                for some in np.split(own := rng.permutation(clients[client]), range(batch, len(own), batch)):
                    descent.zero_grad()
                    loss(model(x[some]), y[some]).backward()
                    descent.step()
            for name, part in model.state_dict().items():
                sums[name] += part
        start = {name: (total / COHORT).float() for name, total in sums.items()}
        model.load_state_dict(start)
        with torch.no_grad():
            right = sum(int((model(test[at : at + 1000]).argmax(1) == classes[at : at + 1000]).sum())
                        for at in range(0, len(test), 1000))
        if right / len(test) >= TARGET:
            return number
    return None


def main():
    torch.set_num_threads(1)
    if len(sys.argv) == 1:
        found = {}
        with open(FILE, encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                found.setdefault(int(line["cell"]), {})[int(line["seed"])] = int(line["rounds"] or MOST)
        rows = [(f"rounds of {name(cell)}", f"variant={cell}", list(of.values())) for cell, of in sorted(found.items())]
        for over, under in QUOTIENTS:
            both = sorted(found.get(over, {}).keys() & found.get(under, {}).keys())
            rows.append((f"{name(over)} over {name(under)}", f"variant={over} over variant={under}",
                         [found[over][seed] / found[under][seed] for seed in both]))
        for title, where, values in rows:
            if len(values) > 1:
                print(f'"{title} (PyTorch)",{where},versions,{np.mean(values):.6g},{np.std(values, ddof=1):.4g},'
                      f"PyTorch program of {len(values)} seeds")
        return
    cell, *seeds = map(int, sys.argv[1:])
    for seed in seeds:
        number = rounds(*CELLS[cell], seed)
        with open(FILE, "a", encoding="utf-8") as file:
            file.write(f"{cell},{seed},{'' if number is None else number}\n")
        print(cell, seed, number, flush=True)


def name(cell):
    return "E={}, B={}".format(*CELLS[cell])


if __name__ == "__main__":
    main()
