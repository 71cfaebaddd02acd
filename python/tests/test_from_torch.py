"""Networks of PyTorch that FedSim trains, and what comes back of them."""
import subprocess

import numpy as np
import pytest

import pyfedsim
from conftest import COMMAND, ROOT

torch = pytest.importorskip("torch")
from torch import nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402

from pyfedsim import from_torch  # noqa: E402


class Block(nn.Module):
    """Two paths of convolutions with batch normalisation."""

    def __init__(self):
        super().__init__()
        self.main = nn.Sequential(nn.Conv2d(4, 6, 3, 2, 1, bias=False), nn.BatchNorm2d(6), nn.ReLU6(),
                                  nn.Conv2d(6, 6, 3, padding=1, groups=6), nn.BatchNorm2d(6))
        self.short = nn.Sequential(nn.Conv2d(4, 6, 1, 2), nn.GroupNorm(2, 6))

    def forward(self, x):
        return F.relu(self.main(x) + self.short(x))


def image_network():
    return nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4, momentum=0.3), nn.ReLU(), nn.MaxPool2d(2), Block(), nn.Flatten(),
                         nn.Linear(6 * 4 * 4, 8), nn.BatchNorm1d(8), nn.Tanh(), nn.Linear(8, 10))


class Sequences(nn.Module):
    """Layers over time, with tensors that FedSim sums, leaves out or turns."""

    def __init__(self):
        super().__init__()
        self.embed, self.places = nn.Embedding(20, 8), nn.Parameter(torch.randn(6, 8))
        self.mix = nn.TransformerEncoderLayer(8, 2, 12, dropout=0, batch_first=True)
        self.lstm, self.gru = nn.LSTM(8, 5, batch_first=True), nn.GRU(5, 7, batch_first=True)
        self.out = nn.Linear(7, 10, bias=False)

    def forward(self, x):
        y, _ = self.lstm(self.mix(self.embed(x) + self.places))
        y, _ = self.gru(y)
        return self.out(y[:, -1])


def stirred(network, seed):
    """The network with other parameters and running statistics, for evaluation."""
    torch.manual_seed(seed)
    with torch.no_grad():
        for values in network.state_dict().values():
            if values.is_floating_point():
                values += 0.3 * torch.rand_like(values)
    return network.eval()


@pytest.mark.parametrize("make, shape", [(image_network, (1, 16, 16)), (Sequences, (6,))])
def test_weights_come_back_into_another_module_with_equal_logits(make, shape):
    sent, other = stirred(make(), 1), stirred(make(), 2)
    tensors = from_torch.convert(sent, shape).tensors
    before = {name: values.clone() for name, values in other.state_dict().items()}
    state = from_torch.state_dict(other, tensors, shape)
    assert all(torch.equal(values, before[name]) for name, values in other.state_dict().items())
    other.load_state_dict(state)
    samples = torch.randn(5, *shape) if make is image_network else torch.randint(0, 20, (5, *shape))
    with torch.no_grad():
        assert (sent(samples) - other(samples)).abs().max() < 1e-5
    again = from_torch.convert(other, shape).tensors
    assert all(np.array_equal(tensors[name], again[name]) for name in tensors)


def test_an_lstm_gets_its_one_bias_whole_and_what_has_no_tensor_stays():
    network = Sequences()
    tensors = from_torch.convert(network, (6,)).tensors
    state = from_torch.state_dict(network, tensors, (6,))
    assert np.array_equal(state["lstm.bias_ih_l0"], tensors["lstm1.bias"])
    assert not state["lstm.bias_hh_l0"].any()
    counted = image_network()
    counted[1].num_batches_tracked += 7
    state = from_torch.state_dict(counted, from_torch.convert(counted, (1, 16, 16)).tensors, (1, 16, 16))
    assert state["1.num_batches_tracked"] == 7


def test_weights_that_are_not_the_modules_are_refused_by_name():
    network = Sequences()
    tensors = from_torch.convert(network, (6,)).tensors
    changed = tensors | {"dense3.bias": np.full(10, 0.5, np.float32)}
    with pytest.raises(ValueError, match="`dense3.bias`: the module has no parameter"):
        from_torch.state_dict(network, changed, (6,))
    with pytest.raises(ValueError, match="`lstm1.bias` is"):
        from_torch.state_dict(network, tensors | {"lstm1.bias": np.zeros(3, np.float32)}, (6,))
    less = {name: values for name, values in tensors.items() if name != "lstm1.bias"}
    with pytest.raises(ValueError, match="lstm1.bias only in the module"):
        from_torch.state_dict(network, less, (6,))
    shared = nn.Linear(4, 4)
    twice = nn.Sequential(shared, nn.ReLU(), shared)
    tensors = from_torch.convert(twice, (4,)).tensors
    assert set(from_torch.state_dict(twice, tensors, (4,))) == set(twice.state_dict())
    tensors["dense2.bias"] = tensors["dense2.bias"] + 1
    with pytest.raises(ValueError, match="or one for two of them"):
        from_torch.state_dict(twice, tensors, (4,))


class Lookup(nn.Module):
    """Positions that are looked up in an embedding."""

    def __init__(self):
        super().__init__()
        self.embed, self.place = nn.Embedding(9, 4), nn.Embedding(5, 4)
        self.register_buffer("places", torch.arange(5))

    def forward(self, x):
        return (self.embed(x) + self.place(self.places)).mean(1)


@pytest.mark.parametrize("network, shape, words", [
    (nn.Sequential(nn.ConvTranspose2d(1, 4, 3), nn.Flatten()), (1, 8, 8), "nn.ConvTranspose2d has no layer in FedSim: .*nn.Conv2d"),
    (nn.Sequential(nn.InstanceNorm2d(1), nn.Flatten()), (1, 8, 8), "nn.InstanceNorm2d has no layer in FedSim: use nn.GroupNorm"),
    (nn.Sequential(nn.BatchNorm2d(1, affine=False), nn.Flatten()), (1, 8, 8), "nn.BatchNorm2d with affine=False .*use affine=True"),
    (nn.Sequential(nn.Conv2d(1, 4, (3, 1)), nn.Flatten()), (1, 8, 8), r"kernel_size = \(3, 1\) .*both axes"),
    (nn.Sequential(nn.Conv1d(2, 4, 3), nn.Linear(6, 3), nn.Flatten()), (2, 8), "nn.Linear over time .*flatten"),
    (Lookup(), (5,), "positions that are looked up .*nn.Parameter"),
])
def test_what_has_no_layer_is_refused_by_name_with_advice(network, shape, words):
    with pytest.raises(from_torch.Unsupported, match=words):
        from_torch.convert(network, shape)


@pytest.mark.parametrize("ending", ["safetensors", "npz"])
def test_what_a_run_ends_with_has_its_losses_in_pytorch(tmp_path, ending):
    network = stirred(image_network(), 3)
    converted = from_torch.convert(network, (1, 16, 16))
    draw = np.random.RandomState(1)
    samples, labels = draw.normal(size=(30, 16, 16, 1)).astype(np.float32), draw.randint(0, 10, 30)
    np.savez(tmp_path / "data.npz", x_train=samples[:24], y_train=labels[:24], x_test=samples[24:], y_test=labels[24:])
    np.savez(tmp_path / "start.npz", **converted.tensors)
    text = (ROOT / "scenarios" / "smoke" / "resnet20-bn.yaml").read_text()
    head, tail = text.split("task:\n")
    training, fleet = tail[tail.index("  training:"):].split("fleet:\n")
    model = "".join(f"  {line}\n" for line in converted.yaml.splitlines())
    (tmp_path / "run.yaml").write_text(
        f"{head}task:\n  data:\n    source: {{npz: {{path: data.npz, classes: 10}}}}\n    partition: {{iid: {{clients: 4}}}}\n"
        f"{model}  initialWeights: start.npz\n{training}fleet:\n{fleet}")
    result, export = tmp_path / "run.h5", tmp_path / f"model.{ending}"
    subprocess.run([COMMAND, "run", tmp_path / "run.yaml", "--quiet", "--output", result], check=True)
    subprocess.run([COMMAND, "export", result, "--to", export], check=True, stdout=subprocess.DEVNULL)
    state = from_torch.state_dict(network, export, (1, 16, 16))
    assert (state["1.running_mean"] - network[1].running_mean).abs().max() > 1e-3
    network.load_state_dict(state)
    with torch.no_grad():
        logits = network.double()(torch.tensor(samples[24:].transpose(0, 3, 1, 2)).double())
        loss = F.cross_entropy(logits, torch.tensor(labels[24:])).item()
    assert abs(pyfedsim.open(result).versions.centralLoss.values[-1] - loss) < 1e-5


class LastState(nn.Module):
    """The last state of a recurrent layer, as most programs take it."""

    def __init__(self, kind, layers):
        super().__init__()
        self.memory, self.out = kind(3, 5, num_layers=layers, batch_first=True), nn.Linear(5, 2)

    def forward(self, x):
        _, state = self.memory(x)
        return self.out((state[0] if isinstance(self.memory, nn.LSTM) else state)[-1])


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
@pytest.mark.parametrize("layers", [1, 2])
def test_the_last_state_is_what_the_layer_gives_alone(kind, layers):
    layers_ = from_torch.convert(LastState(kind, layers), (4, 3)).layers
    name = kind.__name__.lower()
    assert [layer[name]["returnsSequence"] for layer in layers_[:-1]] == [True] * (layers - 1) + [False]


def test_what_is_not_trained_in_the_module_is_not_updatable():
    network = nn.Sequential(nn.Conv2d(1, 4, 3), nn.GroupNorm(2, 4), nn.ReLU(), nn.Flatten(), nn.Linear(16, 2))
    network[0].requires_grad_(False)
    network[1].requires_grad_(False)
    layers = from_torch.convert(network, (1, 4, 4)).layers
    assert layers[0]["convolution"]["isUpdatable"] is False
    assert layers[1] == {"group-normalisation": {"groups": 2, "isUpdatable": False}}
    assert layers[-1] == {"dense": {"units": 2}}
    network[4].bias.requires_grad_(False)
    with pytest.raises(from_torch.Unsupported, match="some parameters are trained and others are not"):
        from_torch.convert(network, (1, 4, 4))
    inner = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True).requires_grad_(False)
    block = from_torch.convert(nn.Sequential(inner, nn.Flatten(), nn.Linear(32, 2)), (4, 8)).layers
    assert block[0]["residual"]["layers"][0]["attention"]["isUpdatable"] is False
    assert block[1] == {"layer-normalisation": {"isUpdatable": False}}


def test_what_fedsim_does_otherwise_is_noted():
    notes = from_torch.convert(nn.Sequential(nn.Linear(4, 2, bias=False)), (4,)).notes
    assert len(notes) == 1 and "without a bias gets one" in notes[0]
    notes = from_torch.convert(nn.Sequential(nn.Embedding(5, 3, padding_idx=0), nn.Flatten(), nn.Linear(6, 2)), (2,)).notes
    assert "row 0" in notes[0]


def test_shapes_types_and_files_that_do_not_fit_are_named(tmp_path):
    with pytest.raises(ValueError, match="--shape 3,28,28 does not fit the module"):
        from_torch.convert(nn.Sequential(nn.Conv2d(1, 2, 3)), (3, 28, 28))
    with pytest.raises(from_torch.Unsupported, match="call .float"):
        from_torch.convert(nn.Linear(4, 2).double(), (4,))
    (tmp_path / "r.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    with pytest.raises(ValueError, match="is a result: export its model first"):
        from_torch.state_dict(nn.Linear(4, 2), tmp_path / "r.h5", (4,))
    assert pyfedsim.from_torch is from_torch
