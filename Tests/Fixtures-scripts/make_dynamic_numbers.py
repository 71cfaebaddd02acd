"""Prints Tests/FedSimTests/DynamicNumbers.swift: three rounds of FedDyn and of Ditto in PyTorch.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python Tests/Fixtures-scripts/make_dynamic_numbers.py > Tests/FedSimTests/DynamicNumbers.swift

Written from algorithm 1 of either paper, FedDyn's h as it stands there; gradients are PyTorch's automatic ones of the
whole loss, the terms that devices add included, in float64. The least loss is found by L-BFGS on all samples together.
"""

import torch

torch.set_default_dtype(torch.float64)
X = torch.tensor([0.5, -1, 2, 1.5, 0.25, -0.75, -0.5, 1, 1, 2, -0.125, 0.5, 0, 0.75, -1.5, 1, 1, 0.25]).reshape(6, 3)
Y = torch.tensor([0, 1, 1, 0, 1, 0])
START = torch.tensor([0.1, -0.2, 0.3, 0.05, -0.15, 0.25, 0.01, -0.02])

# Who takes part in three rounds, and the batches of each.
TURNS, BATCHES = [[0, 1], [0], [0, 1]], [[[0, 1], [2]], [[3, 4], [5]]]


def loss(w, rows, labels=Y):
    return torch.nn.functional.cross_entropy(X[rows] @ w[:6].reshape(3, 2) + w[6:], labels[rows])


def trained(start, batches, added, rate, momentum=0.0, clip=None):
    """SGD on the loss of each batch and what is added to it."""
    w = start.clone().requires_grad_()
    optimizer = torch.optim.SGD([w], lr=rate, momentum=momentum)
    for rows in batches:
        optimizer.zero_grad()
        (loss(w, rows) + added(w)).backward()
        if clip:
            # torch.nn.utils.clip_grad_norm_ adds 1e-6 to the norm.
            w.grad *= min(1.0, clip / w.grad.norm().item())
        optimizer.step()
    return w.detach()


def feddyn(alpha, **plan):
    """Two devices; the second is absent from the second round."""
    x, h, terms = START.clone(), torch.zeros(8), [torch.zeros(8), torch.zeros(8)]
    models, servers = [], []
    for turn in TURNS:
        ends = []
        for device in turn:
            term = terms[device]
            end = trained(
                x, BATCHES[device], lambda w: alpha / 2 * ((w - x) ** 2).sum() - (term * w).sum(), 0.5, **plan)
            terms[device] = term - alpha * (end - x)
            ends.append(end)
        h = h - alpha * sum(end - x for end in ends) / 2
        x = sum(ends) / len(ends) - h / alpha
        models.append(x)
        servers.append(h)
    return [torch.cat(v).numpy() for v in (models, servers, terms)]


def ditto(pull, rate, **plan):
    """The same devices; a device's own model begins with the first that it is sent."""
    x, own = START.clone(), [START.clone(), START.clone()]
    models, owns = [], []
    for turn in TURNS:
        ends = [trained(x, BATCHES[device], lambda w: 0, 0.5, **plan) for device in turn]
        for device in turn:
            own[device] = trained(
                own[device], BATCHES[device], lambda v: pull / 2 * ((v - x) ** 2).sum(), rate, **plan)
        x = sum(ends) / len(ends)
        models.append(x)
        owns += own
    return [torch.cat(v).numpy() for v in (models, owns)]


def least():
    """The mean loss of two devices that disagree, at first and at its least."""
    w, labels = START.clone().requires_grad_(), torch.tensor([0, 1, 1, 0, 0, 0])
    optimizer = torch.optim.LBFGS([w], max_iter=2000, tolerance_grad=1e-13, tolerance_change=0)

    def closure():
        optimizer.zero_grad()
        found = loss(w, range(6), labels)
        found.backward()
        return found

    first = optimizer.step(closure)
    return [first.item(), closure().item()]


def numbers(values):
    lines, line = [], "     "
    for value in values:
        text = f" {float(value)!r},"
        if len(line) + len(text) > 98:
            lines.append(line)
            line = "     "
        line += text
    return "\n".join(lines + [line])


dynamic, clipped = feddyn(0.3), feddyn(0.3, momentum=0.5, clip=0.3)
shared, own = ditto(0.6, 0.25)
_, moved = ditto(0.6, 0.5, momentum=0.5, clip=0.3)
print("// Printed by Tests/Fixtures-scripts/make_dynamic_numbers.py.\n")
print("/// Models, h and the devices' last terms of FedDyn; shared models of Ditto and the devices' own.")
print("let dynamicNumbers: [(name: String, values: [Double])] = [")
for name, values in {
    "models": dynamic[0], "server": dynamic[1], "terms": dynamic[2], "models, clipped": clipped[0],
    "terms, clipped": clipped[2], "losses": least(), "shared": shared, "own": own, "own, clipped": moved,
}.items():
    print(f'  (\n    "{name}",\n    [\n{numbers(values)}\n    ]\n  ),')
print("]")
