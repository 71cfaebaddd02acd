"""Prints Tests/LearningTests/LocalNumbers.swift: local algorithms in PyTorch, FedNova's lengths in NumPy.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python Tests/Fixtures-scripts/make_local_numbers.py > Tests/LearningTests/LocalNumbers.swift

Gradients are PyTorch's automatic ones of the whole loss, FedProx's term included, in float64. SCAFFOLD is written from
the paper's algorithm 1, option II, and with its correction behind steps of torch.optim as in NIID-Bench's
train_net_scaffold. FedNova's vectors are the paper's, written out coefficient by coefficient.
"""

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
X = torch.tensor([0.5, -1, 2, 1.5, 0.25, -0.75, -0.5, 1, 1, 2, -0.125, 0.5, 0, 0.75, -1.5, 1, 1, 0.25]).reshape(6, 3)
Y = torch.tensor([0, 1, 1, 0, 1, 0])
START = torch.tensor([0.1, -0.2, 0.3, 0.05, -0.15, 0.25, 0.01, -0.02])


def loss(w, rows):
    return torch.nn.functional.cross_entropy(X[rows] @ w[:6].reshape(3, 2) + w[6:], Y[rows])


def fedprox(mu, momentum=0.0, clip=None, adam=None):
    """Three steps of batches of two."""
    w = START.clone().requires_grad_()
    optimizer = torch.optim.Adam([w], lr=adam) if adam else torch.optim.SGD([w], lr=0.5, momentum=momentum)
    for first in (0, 2, 4):
        optimizer.zero_grad()
        (loss(w, [first, first + 1]) + mu / 2 * ((w - START) ** 2).sum()).backward()
        if clip:
            torch.nn.utils.clip_grad_norm_([w], clip)
        optimizer.step()
    return w.detach().numpy()


def scaffold(rounds, rates):
    """Two devices of three samples, batches of two and one; both take part in each round."""
    x, c = START.clone(), torch.zeros(8)
    own = [torch.zeros(8), torch.zeros(8)]
    models, variates = [], []
    for _ in range(rounds):
        moves, changes = [], []
        for device, batches in enumerate([[[0, 1], [2]], [[3, 4], [5]]]):
            y = x.clone()
            for rows, rate in zip(batches, rates):
                leaf = y.clone().requires_grad_()
                loss(leaf, rows).backward()
                y = y - rate * (leaf.grad - own[device] + c)
            new = own[device] - c + (x - y) / sum(rates)
            moves.append(y - x)
            changes.append(new - own[device])
            own[device] = new
        x = x + sum(moves) / 2
        c = c + sum(changes) / 2
        models.append(x)
        variates.append(c)
    return [torch.cat(v).numpy() for v in (models, variates, own)]


def scaffold_behind(rounds, make, rate):
    """The same devices; −η·(c − cᵢ) follows each step of an optimiser that begins anew in each training."""
    x, c = START.clone(), torch.zeros(8)
    own = [torch.zeros(8), torch.zeros(8)]
    models, variates = [], []
    for _ in range(rounds):
        moves, changes = [], []
        for device, batches in enumerate([[[0, 1], [2]], [[3, 4], [5]]]):
            y = x.clone().requires_grad_()
            optimizer = make([y])
            for rows in batches:
                optimizer.zero_grad()
                loss(y, rows).backward()
                optimizer.step()
                with torch.no_grad():
                    y -= rate * (c - own[device])
            y = y.detach()
            new = own[device] - c + (x - y) / (len(batches) * rate)
            moves.append(y - x)
            changes.append(new - own[device])
            own[device] = new
        x = x + sum(moves) / 2
        c = c + sum(changes) / 2
        models.append(x)
        variates.append(c)
    return [torch.cat(v).numpy() for v in (models, variates)]


def vector(steps, momentum=0.0, pull=0.0):
    """What each of the gradients counts in the way gone, in learning rates."""
    if pull:
        return (1 - pull) ** np.arange(steps - 1, -1, -1)
    return np.array([sum(momentum**k for k in range(steps - j)) for j in range(steps)])


def both(steps, momentum, pull):
    """The same by the linear steps themselves: v = ρv + g + α(w − w⁰)/η, w −= ηv, a gradient at a time."""
    total = []
    for j in range(steps):
        v = way = 0.0
        for k in range(steps):
            v = momentum * v + (k == j) - pull * way
            way += v
        total.append(way)
    return np.array(total)


STEPS = [1, 2, 5, 10]
LENGTHS = {
    "plain": [vector(n).sum() for n in STEPS],
    "momentum 0.9": [vector(n, momentum=0.9).sum() for n in STEPS],
    "pull 0.1": [vector(n, pull=0.1).sum() for n in STEPS],
    "momentum 0.5, pull 0.1": [both(n, 0.5, 0.1).sum() for n in STEPS],
}


def numbers(values):
    lines, line = [], "   "
    for value in values:
        text = f" {float(value)!r},"
        if len(line) + len(text) > 98:
            lines.append(line)
            line = "   "
        line += text
    return "\n".join(lines + [line])


def listing(name, text, entries):
    print(f"\n/// {text}\nlet {name}: [(name: String, values: [Double])] = [")
    for key, values in entries.items():
        inner = numbers(values).replace("    ", "      ")
        print(f'  (\n    "{key}",\n    [\n{inner}\n    ]\n  ),')
    print("]")


print("// Printed by Tests/Fixtures-scripts/make_local_numbers.py.")
listing("proximalNumbers", "Where three steps with FedProx's pull lead to.", {
    "mu 0": fedprox(0), "mu 0.3": fedprox(0.3), "mu 1, momentum": fedprox(1, 0.9),
    "mu 0.3, clipped": fedprox(0.3, clip=0.3), "mu 1, Adam": fedprox(1, adam=0.1)})
model, variate, own = scaffold(3, [0.5, 0.5])
halved, halved_variate, _ = scaffold(2, [0.5, 0.25])
with_momentum = scaffold_behind(3, lambda p: torch.optim.SGD(p, lr=0.5, momentum=0.9), 0.5)
with_adam = scaffold_behind(3, lambda p: torch.optim.Adam(p, lr=0.1), 0.1)
listing("scaffoldNumbers", "Models, server variates and the devices' last variates of SCAFFOLD.", {
    "models": model, "variates": variate, "own": own, "models, rate halved": halved,
    "variates, rate halved": halved_variate, "models, momentum": with_momentum[0],
    "variates, momentum": with_momentum[1], "models, Adam": with_adam[0], "variates, Adam": with_adam[1]})
listing("stepSums", "What 1, 2, 5 and 10 steps add up to, in learning rates.", LENGTHS)
