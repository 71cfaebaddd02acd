"""Makes Tests/RunsTests/Fixtures/torch-steps: twenty steps of a network with batch normalisation, by PyTorch.

Run from the root of the project, with numpy and torch (2.15 was used):
  python3 Tests/Fixtures-scripts/make_torch_steps.py
steps.yaml is the section `model` as `python -m pyfedsim.from_torch` writes it, steps-0.npz has the first weights, and
steps-data.npz has samples as FedSim takes them. NAME.npz has, for each optimiser, `loss` (the sum over each batch, in
training mode), `scores` (of all samples in evaluation mode, behind the last step) and, behind each of the steps, every
tensor, all in float64. A batch is the next nine samples; the last of a data epoch has four. No bias is in front of a
normalisation: its gradient is 0, and Adam makes whole steps of what rounding leaves of it.
"""

import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "Tests" / "RunsTests" / "Fixtures" / "torch-steps"
sys.path.insert(0, str(ROOT / "python"))
from pyfedsim.from_torch import convert  # noqa: E402
from pyfedsim.from_torch._convert import named_tensors, traced  # noqa: E402

SHAPE, SAMPLES, BATCH, STEPS = (2, 8, 8), 40, 9, 20


class Block(nn.Module):
    """Two paths with batch normalisation, one of them depthwise."""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(4, 8, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6(),
                                  nn.Conv2d(8, 8, 3, 2, 1, groups=8, bias=False), nn.BatchNorm2d(8, eps=1e-3, momentum=0.3))
        self.short = nn.Sequential(nn.Conv2d(4, 8, 1, 2, bias=False), nn.BatchNorm2d(8))

    def forward(self, x):
        return torch.relu(self.main(x) + self.short(x))


def network():
    torch.manual_seed(5)
    net = nn.Sequential(nn.BatchNorm2d(2), nn.Conv2d(2, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4), nn.ReLU(), Block(),
                        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 12), nn.Tanh(), nn.BatchNorm1d(12),
                        nn.Linear(12, 5))
    with torch.no_grad():
        for values in net.state_dict().values():
            if values.is_floating_point():
                values += 0.2 * torch.rand_like(values)
    return net


def main():
    FOLDER.mkdir(exist_ok=True)
    draw = np.random.RandomState(3)
    labels = np.arange(SAMPLES) * 3 % 5
    samples = (draw.normal(size=(SAMPLES, *SHAPE)) + labels.reshape(-1, 1, 1, 1) / 2).astype(np.float32)
    given = np.ascontiguousarray(samples.transpose(0, 2, 3, 1))
    converted = convert(network(), SHAPE)
    (FOLDER / "steps.yaml").write_text(converted.yaml)
    np.savez_compressed(FOLDER / "steps-0.npz", **converted.tensors)
    np.savez_compressed(FOLDER / "steps-data.npz", x_train=given, y_train=labels, x_test=given, y_test=labels)
    x, y = torch.tensor(samples.astype(np.float64)), torch.tensor(labels)
    for name, make in {
        "sgd": lambda p: torch.optim.SGD(p, lr=0.05),
        "momentum": lambda p: torch.optim.SGD(p, lr=0.01, momentum=0.9, weight_decay=0.01),
        "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    }.items():
        net = network()
        graph = traced(net, SHAPE, False)
        net.double().train()
        optimizer = make(net.parameters())
        losses, steps = [], {tensor: [] for tensor in converted.tensors}
        for step in range(STEPS):
            first = step % -(-SAMPLES // BATCH) * BATCH
            optimizer.zero_grad()
            loss = F.cross_entropy(net(x[first:first + BATCH]), y[first:first + BATCH])
            loss.backward()
            optimizer.step()
            losses.append(loss.item() * len(y[first:first + BATCH]))
            for tensor, values in named_tensors(graph, np.float64).items():
                steps[tensor].append(values.copy())
        with torch.no_grad():
            scores = net.eval()(x).numpy()
        np.savez_compressed(FOLDER / f"{name}.npz", loss=np.array(losses), scores=scores,
                            **{tensor: np.array(values) for tensor, values in steps.items()})
        print(name, losses[0], losses[-1])


main()
