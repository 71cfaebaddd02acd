#!/usr/bin/env python3
"""A workload as a person would write it in PyTorch: client after client, fused SGD, images channels
last, the cohort split over processes of one thread each. Prints a line of JSON.

    torch_loop.py w3-cnn [--processes 2]
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # Processes are the threads.

import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np
import torch
from torch import nn

import floor
import workloads


class Block(nn.Module):
    """A residual block of two convolutions; the shortcut projects where the size changes."""

    def __init__(self, inputs, outputs):
        super().__init__()
        stride = 1 if inputs == outputs else 2
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.GroupNorm(2, outputs),
            nn.ReLU(inplace=True), nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.GroupNorm(2, outputs))
        self.shortcut = nn.Identity() if stride == 1 else nn.Sequential(
            nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.GroupNorm(2, outputs))

    def forward(self, x):
        return nn.functional.relu(self.layers(x) + self.shortcut(x), inplace=True)


class Characters(nn.Module):
    """LSTMs over characters, of which the last state counts."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(80, 8)
        self.memory = nn.LSTM(8, 256, 2, batch_first=True)
        self.dense = nn.Linear(256, 80)
        for layer in range(2):  # One bias is enough.
            nn.init.zeros_(getattr(self.memory, f"bias_hh_l{layer}")).requires_grad_(False)

    def forward(self, x):
        return self.dense(self.memory(self.embedding(x))[0][:, -1])


class Attention(nn.Module):
    """A place's sum over the places before it, by eight heads."""

    def __init__(self, width):
        super().__init__()
        self.project, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.project(x).unflatten(-1, (3, 8, -1)).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.merge(mixed.transpose(1, 2).flatten(2))


class Transformer(nn.Module):
    """Three blocks, each sum normalised; scores of the next token by the embedding's own vectors."""

    def __init__(self, width=96, inner=1536):
        super().__init__()
        self.embedding = nn.Embedding(10000, width)
        self.positions = nn.Parameter(torch.zeros(20, width))
        self.blocks = nn.ModuleList([
            nn.ModuleList([
                Attention(width), nn.LayerNorm(width),
                nn.Sequential(
                    nn.Linear(width, inner), nn.ReLU(inplace=True), nn.Linear(inner, width)),
                nn.LayerNorm(width)])
            for _ in range(3)])

    def forward(self, x):
        x = self.embedding(x) + self.positions
        for attention, first, dense, second in self.blocks:
            x = first(x + attention(x))
            x = second(x + dense(x))
        return x @ self.embedding.weight.T

    def parameters(self):
        """The embedding first, as the workload lists them."""
        return [self.embedding.weight, self.positions, *self.blocks.parameters()]


def network(name):
    if name == "w7-transformer":
        return Transformer()
    if name == "w8-lstm":
        return Characters()
    if name == "w6-resnet20":
        widths = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
        layers = [
            nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.GroupNorm(2, 16), nn.ReLU(inplace=True),
            *[Block(*pair) for pair in zip(widths, widths[1:])],
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)]
    elif name == "w5-lenet5":
        layers = [
            nn.Unflatten(1, (1, 28, 28)),
            nn.Conv2d(1, 6, 5), nn.MaxPool2d(2), nn.ReLU(), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2),
            nn.ReLU(), nn.Flatten(), nn.Linear(256, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
            nn.Linear(84, 10)]
    elif name == "w3-cnn":
        layers = [
            nn.Unflatten(1, (1, 28, 28)),
            nn.Conv2d(1, 32, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(32, 64, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(),
            nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10)]
    else:
        widths = [784, 10] if name == "w1-softmax" else [784, 200, 200, 10]
        layers = [nn.Linear(*pair) for pair in zip(widths, widths[1:])]
        layers = [part for layer in layers for part in (layer, nn.ReLU())][:-1]
    return nn.Sequential(*layers).to(memory_format=torch.channels_last)


class Trainer:
    """A network with its optimiser, made once in each process."""

    def __init__(self, name):
        torch.set_num_threads(1)
        self.workload = workloads.WORKLOADS[name]
        self.network = network(name)
        self.parameters = [p for p in self.network.parameters() if p.requires_grad]
        self.optimizer = torch.optim.SGD(
            self.parameters, lr=self.workload.rate, momentum=self.workload.momentum, fused=True)

    def load(self, model):
        with torch.no_grad():
            for parameter, value in zip(self.parameters, model):
                parameter.copy_(torch.from_numpy(value))

    def tensor(self, samples):
        """Samples in PyTorch's order of axes; images stay channels last in memory."""
        samples = torch.from_numpy(samples)
        return samples.permute(0, 3, 1, 2) if samples.ndim == 4 else samples

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.network(x)
        nn.functional.cross_entropy(logits.flatten(0, -2), y.flatten()).backward()
        self.optimizer.step()

    def round_of(self, model, images, labels, members, orders):
        sums = [torch.zeros_like(parameter) for parameter in self.parameters]
        shard, batch = self.workload.shard, self.workload.batch
        for client, order in zip(members, orders):
            self.load(model)
            self.optimizer.state.clear()
            rows = client * shard + order
            x, y = self.tensor(images[rows]), torch.from_numpy(labels[rows])
            for first in range(0, shard, batch):
                self.step(x[first:first + batch], y[first:first + batch])
            with torch.no_grad():
                torch._foreach_add_(sums, self.parameters)
        return [total.numpy() for total in sums]

    def logits(self, model, images):
        self.load(model)
        with torch.no_grad():
            chunks = self.tensor(images).split(100)
            return torch.cat([self.network(chunk) for chunk in chunks]).numpy()


if __name__ == "__main__":
    name = sys.argv.pop(1)
    trainers = []

    def trainer():
        if not trainers:
            trainers.append(Trainer(name))
        return trainers[0]

    floor.main(
        name, lambda *arguments: trainer().round_of(*arguments),
        lambda model, images: trainer().logits(model, images), {"torch": torch.__version__})
