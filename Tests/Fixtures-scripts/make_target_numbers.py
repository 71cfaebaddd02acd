"""Prints Tests/LearningTests/TargetNumbers.swift: trainings on numbers and on tokens in PyTorch.

    python3 -m venv v && v/bin/pip install torch numpy
    v/bin/python Tests/Fixtures-scripts/make_target_numbers.py > Tests/LearningTests/TargetNumbers.swift

Everything is in float64. The losses are nn.MSELoss, and nn.CrossEntropyLoss with `ignore_index`, with their defaults.
Each network trains for 20 steps. After each step ten parameters of all, in FedSim's order, are listed: those a fixed
stride apart, from another place in each step.
"""

import torch
from torch import nn
from torch.nn import functional as F

torch.set_default_dtype(torch.float64)
STEPS, ENTRIES = 20, 10
# Five samples in epochs of batches of two, two and one.
EPOCHS = [[(i * (epoch % 4 + 1) + epoch) % 5 for i in range(5)] for epoch in range(7)]
BATCHES = [rows for epoch in EPOCHS for rows in (epoch[:2], epoch[2:4], epoch[4:])][:STEPS]
# 0 is padding, 1 is out of vocabulary.
TOKENS = torch.tensor([[2, 3, 1, 4, 0], [5, 2, 0, 0, 0], [3, 3, 4, 5, 2], [1, 2, 3, 0, 0], [4, 1, 5, 2, 3]])


def fraction(i):
    """As `targetFraction` in TargetTests."""
    return ((i * 37 + 11) % 101) / 101 - 0.5


class Network(nn.Module):
    """Parameters in the order and with the axes of FedSim's tensors, by their place; and what makes outputs of them."""

    def __init__(self, shapes, outputs):
        super().__init__()
        sizes = [torch.Size(shape).numel() for shape in shapes]
        starts = [sum(sizes[:i]) for i in range(len(sizes))]
        self.parts = nn.ParameterList(
            torch.tensor([fraction(start + i) for i in range(size)]).reshape(shape)
            for start, size, shape in zip(starts, sizes, shapes))
        self.outputs = outputs

    def forward(self, x):
        return self.outputs(x, *self.parts)

    def flat(self):
        return torch.cat([part.data.flatten() for part in self.parts]).tolist()


def coupled(x, w, u, b, narrow=None):
    """States of a memory whose input gate is 1 less its forget gate; gates are forget, cell, output."""
    n = len(b) // 3
    cell, seen, states = x.new_zeros(len(x), n), x.new_zeros(len(x), len(u)), []
    for t in range(x.shape[1]):
        z = x[:, t] @ w + seen @ u + b
        f, o = z[:, :n].sigmoid(), z[:, 2 * n:].sigmoid()
        cell = f * cell + (1 - f) * z[:, n:2 * n].tanh()
        seen = o * cell.tanh()
        if narrow is not None:
            seen = seen @ narrow
        states.append(seen)
    return torch.stack(states, 1)


def projected(x, w, u, b, narrow):
    """PyTorch's own LSTM with `proj_size`; of its two biases one is 0."""
    start = x.new_zeros(1, len(x), len(u)), x.new_zeros(1, len(x), len(b) // 4)
    weights = [w.T, u.T, b, torch.zeros_like(b), narrow.T]
    return torch._VF.lstm(x, start, [part.contiguous() for part in weights], True, 1, 0.0, True, False, True)[0]


def block(x, positions, w, b, out, bias, scale, shift, up, upBias, down, downBias, scale2, shift2):
    """A block of the preset `transformer-lm` with two heads."""
    x = x + positions
    mask = torch.full((x.shape[1],) * 2, -torch.inf).triu(1)
    mixed = F.multi_head_attention_forward(
        *[x.transpose(0, 1)] * 3, x.shape[2], 2, w.T, b, None, None, False, 0.0, out.T, bias, need_weights=False,
        attn_mask=mask)[0].transpose(0, 1)
    x = F.layer_norm(x + mixed, x.shape[-1:], scale, shift)
    return F.layer_norm(x + torch.relu(x @ up + upBias) @ down + downBias, x.shape[-1:], scale2, shift2)


NETWORKS = {
    "tokens": Network(
        [(6, 3), (3, 5), (5,), (5, 6), (6,)],
        lambda x, e, w, b, v, c: torch.tanh(e[x] @ w + b) @ v + c),
    "coupled": Network(
        [(6, 3), (3, 12), (4, 12), (12,), (4, 6), (6,)],
        lambda x, e, w, u, b, v, c: coupled(e[x], w, u, b) @ v + c),
    "projected": Network(
        [(6, 3), (3, 20), (2, 20), (20,), (5, 2), (2, 6), (6,)],
        lambda x, e, w, u, b, p, v, c: projected(e[x], w, u, b, p) @ v + c),
    "cifg-lm": Network(
        [(6, 3), (3, 15), (3, 15), (15,), (5, 3)],
        lambda x, e, w, u, b, p: coupled(e[x], w, u, b, p) @ e.T),
    "transformer-lm": Network(
        [(6, 4), (4, 4), (4, 12), (12,), (4, 4), (4,), (4,), (4,), (4, 8), (8,), (8, 4), (4,), (4,), (4,)],
        lambda x, e, *parts: block(e[x], *parts) @ e.T),
}


def train(module, loss, inputs, targets, rate):
    """The loss before each step, and some parameters behind it."""
    optimizer = torch.optim.SGD(module.parameters(), lr=rate, momentum=0.9)
    losses, chosen = [], []
    for rows in BATCHES:
        optimizer.zero_grad()
        value = loss(module(inputs[rows]), targets[rows])
        value.backward()
        optimizer.step()
        losses.append(value.item())
        values = module.flat()
        stride = len(values) // ENTRIES
        chosen += values[len(losses) % stride::stride][:ENTRIES]
    return losses, chosen


def lines(values):
    for first in range(0, len(values), 7):
        print("      " + ", ".join(f"{value:.8f}" for value in values[first:first + 7]) + ",")


def show(name, losses, chosen):
    print(f'  (\n    "{name}",\n    [')
    lines(losses)
    print("    ],\n    [")
    lines(chosen)
    print("    ]\n  ),")


def transformer_size(tokens, positions, width=96):
    block = nn.TransformerEncoderLayer(width, 8, 1536, batch_first=True)
    parts = [nn.Embedding(tokens, width), nn.TransformerEncoder(block, 3)]
    return positions * width + sum(p.numel() for part in parts for p in part.parameters())


def memory_size(tokens, width=96, units=670):
    """PyTorch's LSTM has a gate and a bias too many."""
    memory = dict(nn.LSTM(width, units, proj_size=width).named_parameters())
    gates = sum(memory[f"{name}_l0"].numel() for name in ("weight_ih", "weight_hh", "bias_ih"))
    return tokens * width + gates * 3 // 4 + memory["weight_hr_l0"].numel()


def main():
    print("// Printed by Tests/Fixtures-scripts/make_target_numbers.py.\n")
    print("/// Batches of samples, epoch by epoch.")
    print("let targetOrders: [[Int32]] = [\n" + "".join(f"  {epoch},\n" for epoch in EPOCHS) + "]\n")
    print("/// By network: the loss before each step, and ten parameters behind it.")
    print("let targetNumbers: [(network: String, losses: [Double], entries: [Double])] = [")
    numbers = Network([(3, 4), (4,), (4, 2), (2,)], lambda x, w, b, v, c: torch.tanh(x @ w + b) @ v + c)
    inputs = torch.tensor([fraction(i) * 2 for i in range(15)]).reshape(5, 3)
    targets = torch.tensor([fraction(3 * i + 1) * 4 for i in range(10)]).reshape(5, 2)
    show("numbers", *train(numbers, nn.MSELoss(), inputs, targets, 0.125))
    entropy = nn.CrossEntropyLoss(ignore_index=0)

    def loss(logits, labels):
        return entropy(logits.flatten(0, 1), labels.flatten())

    for name, network in NETWORKS.items():
        show(name, *train(network, loss, TOKENS[:, :-1], TOKENS[:, 1:], 0.25))
    print("]\n")
    error = nn.MSELoss()(numbers(inputs), targets)
    print("/// Of all five samples in the end: of `numbers` the mean squared error and its root.")
    print(f"let numberErrors = (mean: {error.item():.9e}, root: {error.sqrt().item():.9e})\n")
    logits, labels = NETWORKS["tokens"](TOKENS[:, :-1]), TOKENS[:, 1:]
    scored = labels > 1
    right = (logits.argmax(-1) == labels) & scored
    print("/// Of `tokens` the loss, and what is learned, scored and right.")
    print(f"let tokenLoss = {loss(logits, labels).item():.9e}")
    print(f"let tokenCounts = (learned: {(labels != 0).sum()}, scored: {scored.sum()}, right: {right.sum()})\n")
    print("// Parameters, which TextModelTests has: transformer-lm of 10,004 tokens and 20 positions",
          f"{transformer_size(10004, 20)},\n// cifg-lm of 10,000 tokens {memory_size(10000)}.")


main()
