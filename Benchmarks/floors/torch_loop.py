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


def network(name):
    if name == "w3-cnn":
        layers = [
            nn.Unflatten(1, (1, 28, 28)),
            nn.Conv2d(1, 32, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(),
            nn.Conv2d(32, 64, 5, padding=2), nn.MaxPool2d(2), nn.ReLU(), nn.Flatten(),
            nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10)]
        return nn.Sequential(*layers).to(memory_format=torch.channels_last)
    widths = [784, 10] if name == "w1-softmax" else [784, 200, 200, 10]
    layers = [nn.Linear(*pair) for pair in zip(widths, widths[1:])]
    return nn.Sequential(*[part for layer in layers for part in (layer, nn.ReLU())][:-1])


class Trainer:
    """A network with its optimiser, made once in each process."""

    def __init__(self, name):
        torch.set_num_threads(1)
        self.network = network(name)
        self.parameters = list(self.network.parameters())
        self.optimizer = torch.optim.SGD(self.parameters, lr=workloads.RATE, fused=True)

    def load(self, model):
        with torch.no_grad():
            for parameter, value in zip(self.parameters, model):
                parameter.copy_(torch.from_numpy(value))

    def step(self, x, y):
        self.optimizer.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(self.network(x), y).backward()
        self.optimizer.step()

    def round_of(self, model, images, labels, members, orders):
        sums = [torch.zeros_like(parameter) for parameter in self.parameters]
        for client, order in zip(members, orders):
            self.load(model)
            rows = client * workloads.SHARD + order
            x, y = torch.from_numpy(images[rows]), torch.from_numpy(labels[rows])
            for first in range(0, workloads.SHARD, workloads.BATCH):
                last = first + workloads.BATCH
                self.step(x[first:last], y[first:last])
            with torch.no_grad():
                torch._foreach_add_(sums, self.parameters)
        return [total.numpy() for total in sums]

    def logits(self, model, images):
        self.load(model)
        with torch.no_grad():
            chunks = torch.from_numpy(images).split(1000)
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
