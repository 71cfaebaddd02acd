"""Makes Tests/RunsTests/Fixtures/torch-models: networks of PyTorch as `python -m pyfedsim.from_torch` writes them.

Run from the root of the project, with numpy and torch (2.15 was used):
  python3 Tests/Fixtures-scripts/make_torch_models.py
For each network NAME.yaml is its section `model`; NAME.npz has its weights; NAME-data.npz has samples as FedSim takes
them, and `logits`, what PyTorch makes of them in float64. It also checks that some other networks are refused by name.
"""

import copy
import pathlib
import sys

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "Tests" / "RunsTests" / "Fixtures" / "torch-models"
sys.path.insert(0, str(ROOT / "python"))
from pyfedsim.from_torch import Unsupported, convert  # noqa: E402


class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.pool = nn.Conv2d(1, 6, 5), nn.Conv2d(6, 16, 5), nn.MaxPool2d(2, 2)
        self.fc1, self.fc2, self.fc3 = nn.Linear(16 * 4 * 4, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(F.relu(self.conv2(self.pool(F.relu(self.conv1(x))))))
        x = F.relu(self.fc1(x.view(-1, 16 * 4 * 4)))
        return self.fc3(F.relu(self.fc2(x)))


def vgg11():
    """VGG-11 (Simonyan and Zisserman 2015) with a sixteenth of its filters."""
    layers, channels = [], 3
    for filters in [4, "M", 8, "M", 16, 16, "M", 32, 32, "M", 32, 32, "M"]:
        if filters == "M":
            layers.append(nn.MaxPool2d(2))
        else:
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU(inplace=True)]
            channels = filters
    return nn.Sequential(*layers, nn.Flatten(), nn.Linear(32, 24), nn.ReLU(), nn.Dropout(), nn.Linear(24, 10))


class Block(nn.Module):
    def __init__(self, channels, filters, stride):
        super().__init__()
        self.conv1, self.norm1 = nn.Conv2d(channels, filters, 3, stride, 1, bias=False), nn.GroupNorm(2, filters)
        self.conv2, self.norm2 = nn.Conv2d(filters, filters, 3, 1, 1, bias=False), nn.GroupNorm(2, filters)
        self.shortcut = nn.Sequential()
        if stride != 1 or channels != filters:
            self.shortcut = nn.Sequential(nn.Conv2d(channels, filters, 1, stride, bias=False), nn.GroupNorm(2, filters))

    def forward(self, x):
        y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
        y += self.shortcut(x)
        return F.relu(y)


def resnet20():
    """ResNet-20 (He et al. 2016) with group normalisation and half of its filters."""
    layers, channels = [nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.GroupNorm(2, 8), nn.ReLU()], 8
    for filters in (8, 16, 32):
        for index in range(3):
            layers.append(Block(channels, filters, 2 if filters > 8 and index == 0 else 1))
            channels = filters
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))


class CharLSTM(nn.Module):
    """The network of LEAF's Shakespeare, smaller."""

    def __init__(self):
        super().__init__()
        self.embed, self.lstm = nn.Embedding(40, 8), nn.LSTM(8, 24, num_layers=2, batch_first=True)
        self.out = nn.Linear(24, 10)

    def forward(self, x):
        states, _ = self.lstm(self.embed(x))
        return self.out(states[:, -1, :])


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.positions = nn.Embedding(40, 16), nn.Parameter(torch.randn(1, 12, 16))
        before = nn.TransformerEncoderLayer(16, 4, 32, 0.1, "gelu", batch_first=True, norm_first=True)
        behind = nn.TransformerEncoderLayer(16, 2, 20, 0.0, "relu", batch_first=True)
        self.first, self.second = before, behind
        self.attention, self.norm = nn.MultiheadAttention(16, 4, batch_first=True), nn.LayerNorm(16)
        self.out = nn.Linear(16, 10)

    def forward(self, x):
        x = self.second(self.first(self.embed(x) + self.positions))
        y, _ = self.attention(x, x, x, need_weights=False)
        return self.out(self.norm(x + y).mean(dim=1))


class Inverted(nn.Module):
    """A block of MobileNetV2 (Sandler et al. 2018)."""

    def __init__(self, channels, filters, stride, expansion):
        super().__init__()
        inner = expansion * channels
        wide = [nn.Conv2d(channels, inner, 1, bias=False), nn.BatchNorm2d(inner), nn.ReLU6()] if expansion > 1 else []
        self.isSum = stride == 1 and channels == filters
        self.layers = nn.Sequential(
            *wide, nn.Conv2d(inner, inner, 3, stride, 1, groups=inner, bias=False), nn.BatchNorm2d(inner), nn.ReLU6(),
            nn.Conv2d(inner, filters, 1, bias=False), nn.BatchNorm2d(filters))

    def forward(self, x):
        return x + self.layers(x) if self.isSum else self.layers(x)


def mobilenet():
    """MobileNetV2 for small images, with a quarter of its filters; torchvision's `width_mult=0.25` has as many."""
    layers, channels = [nn.Conv2d(3, 8, 3, 1, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU6()], 8
    for expansion, filters, blocks, stride in [
            (1, 8, 1, 1), (6, 8, 2, 1), (6, 8, 3, 2), (6, 16, 4, 2), (6, 24, 3, 1), (6, 40, 3, 2), (6, 80, 1, 1)]:
        for index in range(blocks):
            layers.append(Inverted(channels, filters, stride if index == 0 else 1, expansion))
            channels = filters
    return nn.Sequential(*layers, nn.Conv2d(80, 1280, 1, bias=False), nn.BatchNorm2d(1280), nn.ReLU6(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(1280, 10))


def dense_batch():
    return nn.Sequential(nn.Flatten(), nn.Linear(48, 20), nn.BatchNorm1d(20, eps=1e-3, momentum=0.2), nn.ReLU(),
                         nn.Linear(20, 10))


class TimeCNN(nn.Module):
    """Convolutions over a sequence [channels, time], one way flattened and one way averaged."""

    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Conv1d(3, 8, 5, padding=2), nn.BatchNorm1d(8), nn.ReLU(), nn.MaxPool1d(2))
        self.second = nn.Sequential(nn.Conv1d(8, 8, 3, padding="same", groups=2, bias=False), nn.BatchNorm1d(8))
        self.third, self.pool = nn.Conv1d(8, 6, 2, stride=2), nn.AvgPool1d(2, 1)
        self.hidden, self.norm, self.out = nn.Linear(6 * 5, 12), nn.BatchNorm1d(12), nn.Linear(12, 10)

    def forward(self, x):
        x = self.first(x)
        x = self.pool(F.relu(self.third(F.relu(x + self.second(x)))))
        return self.out(F.relu(self.norm(self.hidden(x.flatten(1)))))


def time_mean():
    return nn.Sequential(nn.Conv1d(2, 7, 3), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(7, 10))


NETWORKS = {"lenet": (LeNet, (1, 28, 28)), "vgg11": (vgg11, (3, 32, 32)), "resnet20": (resnet20, (3, 16, 16)),
            "char-lstm": (CharLSTM, (12,)), "transformer": (Transformer, (12,)),
            "mobilenet": (mobilenet, (3, 16, 16)), "dense-batch": (dense_batch, (3, 4, 4)),
            "time-cnn": (TimeCNN, (3, 24)), "time-mean": (time_mean, (2, 9))}


class Lookup(nn.Module):
    """Positions that are looked up in an embedding."""

    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(9, 4), nn.Embedding(5, 4)
        self.register_buffer("places", torch.arange(5))

    def forward(self, x):
        return (self.embed(x) + self.place(self.places)).mean(1)


REFUSED = [(nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, affine=False), nn.Flatten()), (1, 8, 8), "nn.BatchNorm2d", "affine=True"),
           (nn.Sequential(nn.Conv2d(1, 4, 3), nn.InstanceNorm2d(4), nn.Flatten()), (1, 8, 8), "nn.InstanceNorm2d", "nn.GroupNorm"),
           (nn.Sequential(nn.ConvTranspose2d(1, 4, 3), nn.Flatten()), (1, 8, 8), "nn.ConvTranspose2d", "nn.Conv2d"),
           (nn.Sequential(nn.Conv2d(1, 4, (3, 1)), nn.Flatten()), (1, 8, 8), "kernel_size = (3, 1)", "both axes"),
           (nn.Sequential(nn.Conv1d(2, 4, 3), nn.Linear(6, 3), nn.Flatten()), (2, 8), "nn.Linear over time", "flatten"),
           (Lookup(), (5,), "positions that are looked up", "nn.Parameter")]


def main():
    FOLDER.mkdir(exist_ok=True)
    for seed, (name, (make, shape)) in enumerate(NETWORKS.items()):
        torch.manual_seed(seed)
        network = make().eval()
        for parameter in network.parameters():  # Scales and shifts, too.
            parameter.data += 0.1 * torch.randn_like(parameter)
        for buffer_name, values in network.named_buffers():  # Running statistics.
            if buffer_name.endswith(("running_mean", "running_var")):
                values += torch.rand_like(values)
        converted = convert(network, shape)
        draw = np.random.RandomState(seed)
        if len(shape) == 1:
            samples = draw.randint(0, 40, (6, *shape))
            given = torch.tensor(samples)
        else:
            samples = draw.normal(size=(6, *shape)).astype(np.float32)
            given = torch.tensor(samples.astype(np.float64))
            samples = np.ascontiguousarray(samples.transpose((0, 2, 3, 1) if len(shape) == 3 else (0, 2, 1)))
        with torch.no_grad():
            logits = copy.deepcopy(network).double()(given).numpy()
        (FOLDER / f"{name}.yaml").write_text(converted.yaml)
        np.savez_compressed(FOLDER / f"{name}.npz", **converted.tensors)
        labels = np.arange(6) % 10
        np.savez_compressed(FOLDER / f"{name}-data.npz", x_train=samples.astype(np.float32), y_train=labels,
                            x_test=samples.astype(np.float32), y_test=labels, logits=logits)
        print(name, sum(a.size for a in converted.tensors.values()), "parameters")
    for network, shape, what, advice in REFUSED:
        try:
            convert(network, shape)
            sys.exit(f"{what} was not refused")
        except Unsupported as error:
            assert what in str(error) and advice in str(error), error
            print("refused:", error)


main()
