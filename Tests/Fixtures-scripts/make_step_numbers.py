#!/usr/bin/env python3
"""Prints Tests/LearningTests/StepNumbers.swift: one step of plain SGD in each kind of layer, from PyTorch.

    python3 -m venv v && v/bin/pip install torch && v/bin/python Tests/Fixtures-scripts/make_step_numbers.py

Of each tensor some entries: the gradient in float64, and how far a step of PyTorch in float32 is from the step by it,
for five rates. Parameters, inputs and labels are closed formulas, the same as in StepErrorTests.swift; inputs depend on labels. All tensors are
in FedSim's order: dense [in][out] ([out][in] where at most 16 outputs see 32 inputs or more), filters
[y][x][in][out], recurrent weights [in][gates], images [y][x][channel].
"""

import numpy as np
import torch

RATES = [1e-1, 1e-2, 1e-3, 1e-4, 1e-5]
ENTRIES = 24


def numbers(count, salt, scale):
    """`count` floats between -scale and scale, each rounded once."""
    places = np.arange(count, dtype=np.int64)
    return ((((places + 1) * 7919 + salt * 104729) % 20011 - 10005) / 10005 * scale).astype(np.float32)


class Parameters:
    """Tensors in FedSim's order, and the same as PyTorch wants them."""

    def __init__(self, dtype):
        self.dtype, self.named = dtype, []

    def take(self, name, shape, scale=0.1):
        salt = len(self.named)
        data = numbers(int(np.prod(shape)), salt, scale).reshape(shape)
        tensor = torch.tensor(data, dtype=self.dtype, requires_grad=True)
        self.named.append((name, tensor))
        return tensor


def dense(parameters, x, name, inputs, outputs):
    if outputs <= 16 and inputs >= 32:
        weight = parameters.take(f"{name}.weight", (outputs, inputs)).t()
    else:
        weight = parameters.take(f"{name}.weight", (inputs, outputs))
    return x @ weight + parameters.take(f"{name}.bias", (outputs,))


def convolution(parameters, x, name, size, channels, filters):
    """Of [row][y][x][channel], as the result."""
    weight = parameters.take(f"{name}.weight", (size, size, channels, filters))
    bias = parameters.take(f"{name}.bias", (filters,))
    out = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), weight.permute(3, 2, 0, 1), bias)
    return out.permute(0, 2, 3, 1)


def recurrent(parameters, x, kind, features, units):
    gates = {"lstm": 4, "gru": 3}[kind]
    name = f"{kind}1"
    w = parameters.take(f"{name}.inputWeight", (features, gates * units), 0.3)
    u = parameters.take(f"{name}.recurrentWeight", (units, gates * units), 0.3)
    b = parameters.take(f"{name}.bias", (gates * units,)) if kind == "lstm" else None
    if kind == "gru":
        b = parameters.take(f"{name}.inputBias", (gates * units,))
        c = parameters.take(f"{name}.recurrentBias", (gates * units,))
    else:
        c = torch.zeros(gates * units, dtype=parameters.dtype)
    weights = [w.t(), u.t(), b, c]
    zero = torch.zeros(1, len(x), units, dtype=parameters.dtype)
    if kind == "lstm":
        out = torch._VF.lstm(x, (zero, zero), weights, True, 1, 0.0, True, False, True)[0]
    else:
        out = torch._VF.gru(x, zero, weights, True, 1, 0.0, True, False, True)[0]
    return out[:, -1]


def network(name, parameters):
    """Its logits, of `rows` samples that are formulas."""
    dtype = parameters.dtype

    def inputs(rows, *shape):
        data = numbers(rows * int(np.prod(shape)), 99, 1.0).reshape((rows, *shape))
        means = ((np.arange(rows) % 4 - 1.5) / 2).astype(np.float32)
        return torch.tensor(data + means.reshape((rows, *[1] * len(shape))), dtype=dtype)

    if name == "dense":
        hidden = torch.relu(dense(parameters, inputs(10, 20), "dense1", 20, 24))
        return dense(parameters, hidden, "dense2", 24, 4)
    if name == "convolution":
        x = torch.relu(convolution(parameters, inputs(64, 14, 14, 1), "conv1", 5, 1, 6))
        return dense(parameters, x.flatten(1), "dense1", 600, 4)
    if name == "group norm":
        x = convolution(parameters, inputs(20, 10, 10, 2), "conv1", 3, 2, 6)
        scale = parameters.take("norm1.scale", (6,))
        shift = parameters.take("norm1.shift", (6,))
        x = torch.nn.functional.group_norm(x.permute(0, 3, 1, 2), 3, scale, shift, 1e-5)
        x = torch.relu(x.permute(0, 2, 3, 1))
        return dense(parameters, x.flatten(1), "dense1", 384, 4)
    if name == "embedding":
        weight = parameters.take("embedding1.weight", (11, 6))
        tokens = torch.tensor((np.arange(50 * 30) * 7 + np.arange(50 * 30) // 13) % 11).reshape(50, 30)
        return dense(parameters, weight[tokens].flatten(1), "dense1", 180, 4)
    x = inputs(64, 60, 5) if name == "lstm" else inputs(32, 40, 5)
    return dense(parameters, recurrent(parameters, x, name, 5, 16), "dense1", 16, 4)


def gradients(name, dtype):
    parameters = Parameters(dtype)
    logits = network(name, parameters)
    labels = torch.arange(len(logits)) % 4
    torch.nn.functional.cross_entropy(logits, labels).backward()
    return parameters.named


def main():
    torch.set_num_threads(1)
    print("// Printed by Tests/Fixtures-scripts/make_step_numbers.py.\n")
    print("/// Entries of one step: the gradient in float64, and PyTorch's error in float32 by rate, as a")
    print("/// share of the step.")
    print("let stepNumbers: [(network: String, tensor: String, gradient: [Double], errors: [Double])] = [")
    for name in ["dense", "convolution", "group norm", "embedding", "lstm", "gru"]:
        exact, rough = gradients(name, torch.float64), gradients(name, torch.float32)
        for (tensor, a), (_, b) in zip(exact, rough):
            count = a.numel()
            chosen = [i * count // min(ENTRIES, count) for i in range(min(ENTRIES, count))]
            gradient = a.grad.flatten()[chosen].numpy()
            errors = []
            for rate in RATES:
                weight = b.detach().clone().requires_grad_(True)
                weight.grad = b.grad
                torch.optim.SGD([weight], lr=rate).step()
                step = weight.detach().double().flatten() - b.detach().double().flatten()
                wanted = -rate * gradient
                errors.append(np.linalg.norm(step.numpy()[chosen] - wanted) / np.linalg.norm(wanted))
            print(f'  (\n    "{name}", "{tensor}",\n    [')
            for first in range(0, len(gradient), 5):
                print("      " + ", ".join(f"{g:.7e}" for g in gradient[first : first + 5]) + ",")
            print("    ],\n    [" + ", ".join(f"{e:.2e}" for e in errors) + "]\n  ),")
    print("]")


main()
