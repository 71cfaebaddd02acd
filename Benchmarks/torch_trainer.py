"""Workloads W1 to W3 as trainers for FedSim, by pyfedsim.torch; `own_training.py` measures them."""

import os
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "floors")]

import numpy as np
import torch

import pyfedsim.torch
import torch_loop
import workloads


class Workload(pyfedsim.torch.Trainer):
    """A workload's network with its given weights."""

    def __init__(self, name):
        workload = workloads.WORKLOADS[name]
        samples, labels, test_samples, test_labels = workload.samples()
        # The samples as in the files: FedSim's partition names them by these places.
        images, classes = np.empty_like(samples), np.empty_like(labels)
        images[workloads.permutation()], classes[workloads.permutation()] = samples, labels

        def data(images, labels):
            return torch.utils.data.TensorDataset(
                torch.from_numpy(workloads.floats(images)), torch.from_numpy(labels.astype(np.int64)))

        super().__init__(
            torch_loop.network(name), data(images, classes), torch.nn.functional.cross_entropy,
            lambda parameters: torch.optim.SGD(parameters, lr=workload.rate, fused=True),
            test=data(test_samples, test_labels))
        self._start = workloads.initial(workload)

    def initial(self, seed):
        return {name: array for (name, _), array in zip(self.layout, self._start)}


def make(workload):
    return Workload(workload)
