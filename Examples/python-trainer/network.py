"""A PyTorch module as a trainer for FedSim, on the samples of softmax.py; needs PyTorch."""
from __future__ import annotations

import torch
from torch import nn

import pyfedsim.torch
import softmax


def samples(count: int, seed: int) -> torch.utils.data.TensorDataset:
    features, labels = softmax.clouds(count, seed)
    return torch.utils.data.TensorDataset(torch.from_numpy(features), torch.from_numpy(labels).long())


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(8, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 4))


def make(rate: float = 0.05) -> pyfedsim.torch.Trainer:
    """The trainer of `network.yaml`."""
    return pyfedsim.torch.Trainer(
        network, samples(600, 2), nn.functional.cross_entropy,
        lambda parameters: torch.optim.SGD(parameters, lr=rate, momentum=0.9), test=samples(400, 3),
    )
