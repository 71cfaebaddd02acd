"""Prints Tests/LearningTests/TargetNumbers.swift: trainings on numbers and on tokens in PyTorch.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python Tests/Fixtures-scripts/make_target_numbers.py > Tests/LearningTests/TargetNumbers.swift

Everything is in float64. The losses are nn.MSELoss, and nn.CrossEntropyLoss with `ignore_index`, with their defaults.
"""

import torch
from torch import nn

torch.set_default_dtype(torch.float64)


def fraction(i):
    """As `targetFraction` in TargetTests."""
    return ((i * 37 + 11) % 101) / 101 - 0.5


def fill(module):
    """Parameters by their place, weights as [in][out]."""
    place = 0
    for layer in module.modules():
        if not isinstance(layer, (nn.Linear, nn.Embedding)):
            continue
        weight = layer.weight.data.T if isinstance(layer, nn.Linear) else layer.weight.data
        values = torch.tensor([fraction(place + i) for i in range(weight.numel())]).reshape(weight.shape)
        layer.weight.data = values.T.contiguous() if isinstance(layer, nn.Linear) else values
        place += weight.numel()
        if isinstance(layer, nn.Linear):
            layer.bias.data = torch.tensor([fraction(place + i) for i in range(layer.bias.numel())])
            place += layer.bias.numel()


def flat(module):
    parts = []
    for layer in module.modules():
        if isinstance(layer, nn.Linear):
            parts += [layer.weight.data.T.flatten(), layer.bias.data]
        elif isinstance(layer, nn.Embedding):
            parts.append(layer.weight.data.flatten())
    return torch.cat(parts).tolist() if parts else []


def train(module, loss, inputs, targets, batches, rate=0.5):
    """The mean of the batches' losses, weighted by their samples, and the parameters."""
    optimizer = torch.optim.SGD(module.parameters(), lr=rate, momentum=0.9)
    total = 0.0
    for rows in batches:
        optimizer.zero_grad()
        value = loss(module(inputs[rows]), targets[rows])
        value.backward()
        optimizer.step()
        total += value.item() * len(rows)
    return total / sum(len(rows) for rows in batches), flat(module)


def show(name, values):
    print(f"let {name}: [Double] = [")
    for first in range(0, len(values), 6):
        print("  " + ", ".join(f"{value:.9e}" for value in values[first:first + 6]) + ",")
    print("]\n")


class Coupled(nn.Module):
    """An embedding, a memory whose input gate is 1 less its forget gate, and a layer to the tokens; parameters in the
    order of FedSim's tensors, gates forget, cell, output."""

    def __init__(self, tokens, width, units):
        super().__init__()
        sizes = [tokens * width, width * 3 * units, units * 3 * units, 3 * units, units * tokens, tokens]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        self.parts = nn.ParameterList(
            torch.tensor([fraction(start + i) for i in range(size)]) for start, size in zip(starts, sizes))
        self.tokens, self.width, self.units = tokens, width, units

    def forward(self, tokens):
        n = self.units
        table, w, u, b, out, bias = self.parts
        hidden = cell = torch.zeros(len(tokens), n)
        logits = []
        for t in range(tokens.shape[1]):
            x = table.reshape(self.tokens, self.width)[tokens[:, t]]
            z = x @ w.reshape(self.width, 3 * n) + hidden @ u.reshape(n, 3 * n) + b
            f, o = z[:, :n].sigmoid(), z[:, 2 * n:].sigmoid()
            cell = f * cell + (1 - f) * z[:, n:2 * n].tanh()
            hidden = o * cell.tanh()
            logits.append(hidden @ out.reshape(n, self.tokens) + bias)
        return torch.stack(logits, 1)


def preset_sizes(tokens=10000, positions=20, width=96):
    """How many parameters `transformer-lm` and `cifg-lm` have; PyTorch's LSTM has four gates and a bias too many."""
    block = nn.TransformerEncoderLayer(width, 8, 1536, batch_first=True)
    transformer = [nn.Embedding(tokens, width), nn.TransformerEncoder(block, 3), nn.Linear(width, tokens)]
    size = sum(p.numel() for part in transformer for p in part.parameters()) + positions * width
    memory = sum(p.numel() for name, p in nn.LSTM(width, 670).named_parameters() if "bias_hh" not in name)
    others = [nn.Embedding(tokens, width), nn.Linear(670, width), nn.Linear(width, tokens)]
    return size, memory * 3 // 4 + sum(p.numel() for part in others for p in part.parameters())


def main():
    batches = [[0, 1], [2, 3], [4], [1, 3], [0, 4], [2]]
    print("// Printed by Tests/Fixtures-scripts/make_target_numbers.py.\n")

    net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    fill(net)
    inputs = torch.tensor([fraction(i) * 2 for i in range(15)]).reshape(5, 3)
    targets = torch.tensor([fraction(3 * i + 1) * 4 for i in range(10)]).reshape(5, 2)
    mean, parameters = train(net, nn.MSELoss(), inputs, targets, batches, 0.125)
    show("regressionParameters", parameters)
    error = nn.MSELoss()(net(inputs), targets)
    show("regressionErrors", [mean, error.item(), error.sqrt().item()])

    # 0 is padding, 1 is out of vocabulary.
    net = nn.Sequential(nn.Embedding(6, 3), nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 6))
    fill(net)
    tokens = torch.tensor([[2, 3, 1, 4, 0], [5, 2, 0, 0, 0], [3, 3, 4, 5, 2], [1, 2, 3, 0, 0], [4, 1, 5, 2, 3]])
    entropy = nn.CrossEntropyLoss(ignore_index=0)

    def loss(logits, labels):
        return entropy(logits.flatten(0, 1), labels.flatten())

    mean, parameters = train(net, loss, tokens[:, :-1], tokens[:, 1:], batches)
    show("tokenParameters", parameters)
    logits, labels = net(tokens[:, :-1]), tokens[:, 1:]
    counts, scored = labels != 0, labels > 1
    right = (logits.argmax(-1) == labels) & scored
    show("tokenLosses", [mean, loss(logits, labels).item()])
    print(f"let tokenCounts = (learned: {counts.sum()}, scored: {scored.sum()}, right: {right.sum()})\n")

    net = Coupled(6, 3, 4)
    mean, _ = train(net, loss, tokens[:, :-1], tokens[:, 1:], batches)
    show("coupledParameters", torch.cat([part.data for part in net.parts]).tolist())
    print(f"let coupledLoss = {mean:.9e}\n")
    print("// transformer-lm and cifg-lm of 10,000 tokens have", *preset_sizes(), "parameters: TextModelTests.")


main()
