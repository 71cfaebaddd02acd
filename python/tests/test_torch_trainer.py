"""Trainers of PyTorch: any module, cut anywhere, and the weights of FedSim's own networks."""
from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
from torch import nn  # noqa: E402

import pyfedsim.testing  # noqa: E402
import pyfedsim.torch  # noqa: E402
from conftest import COMMAND  # noqa: E402
from test_training import EXAMPLE, command, model, native, run  # noqa: E402

BENCHMARKS = Path(__file__).resolve().parents[2] / "Benchmarks"


def points(count: int = 60, seed: int = 3) -> Any:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 6, generator=generator)
    return torch.utils.data.TensorDataset(inputs, (inputs[:, 0] > 0).long() + (inputs[:, 1] > 0).long())


def network() -> nn.Module:
    return nn.Sequential(nn.Linear(6, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Dropout(0.5), nn.Linear(12, 3))


OPTIMIZERS = {
    "sgd": lambda parameters: torch.optim.SGD(parameters, lr=0.1),
    "momentum": lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9, nesterov=True),
    "adamw": lambda parameters: torch.optim.AdamW(parameters, lr=0.01, amsgrad=True),
    "rmsprop": lambda parameters: torch.optim.RMSprop(parameters, lr=0.01, momentum=0.5),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_training_may_be_cut_anywhere_with_dropout_and_batch_normalisation(optimizer: str) -> None:
    pyfedsim.testing.check(
        pyfedsim.torch.Trainer(network, points(), nn.functional.cross_entropy, OPTIMIZERS[optimizer]),
    )


def test_images_with_channels_last_and_tied_and_frozen_parameters() -> None:
    class Tied(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3)
            self.one = nn.Linear(12, 12)
            self.two = nn.Linear(12, 12)
            self.two.weight = self.one.weight
            self.scale = nn.Parameter(torch.tensor(1.0))
            self.one.bias.requires_grad_(False)

        def forward(self, x: Any) -> Any:
            return self.scale * self.two(self.one(self.conv(x).flatten(1)))

    generator = torch.Generator().manual_seed(1)
    data = torch.utils.data.TensorDataset(torch.randn(30, 2, 4, 4, generator=generator), torch.arange(30) % 12)
    trainer = pyfedsim.torch.Trainer(
        lambda: Tied().to(memory_format=torch.channels_last), data, nn.functional.cross_entropy,
    )
    assert dict(trainer.layout) == {
        "scale": (1,), "conv.weight": (3, 2, 3, 3), "conv.bias": (3,), "one.weight": (12, 12), "one.bias": (12,),
        "two.bias": (12,),
    }
    pyfedsim.testing.check(trainer)


def test_a_data_set_that_draws_is_seeded_by_the_batch() -> None:
    class Noisy(torch.utils.data.Dataset):  # type: ignore[type-arg]
        targets = [sample % 3 for sample in range(40)]

        def __len__(self) -> int:
            return 40

        def __getitem__(self, place: int) -> Any:
            noise = torch.randn(6) + torch.from_numpy(np.random.rand(6).astype(np.float32))
            return noise, self.targets[place]

    pyfedsim.testing.check(pyfedsim.torch.Trainer(network, Noisy(), nn.functional.cross_entropy))


def test_an_unseeded_module_is_found() -> None:
    class Unseeded(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.dense = nn.Linear(6, 3)

        def forward(self, x: Any) -> Any:
            return self.dense(x + float(np.random.default_rng().random()))

    with pytest.raises(pyfedsim.testing.Broken, match="a training computed twice"):
        pyfedsim.testing.check(pyfedsim.torch.Trainer(Unseeded, points(), nn.functional.cross_entropy))


def test_version_0_is_drawn_from_the_seed() -> None:
    trainer = pyfedsim.torch.Trainer(network, points(), nn.functional.cross_entropy)
    one, same, two = trainer.initial(1), trainer.initial(1), trainer.initial(2)
    np.testing.assert_array_equal(one["0.weight"], same["0.weight"])
    assert (one["0.weight"] != two["0.weight"]).any()
    with pytest.raises(ValueError, match="float64"):
        pyfedsim.torch.Trainer(network().double(), points(), nn.functional.cross_entropy)


MODULE = """
import softmax, torch, pyfedsim.torch
from torch import nn

def make():
    def data(count, seed):
        features, labels = softmax.clouds(count, seed)
        return torch.utils.data.TensorDataset(torch.from_numpy(features), torch.from_numpy(labels).long())
    dense = nn.Linear(8, 4)
    nn.init.zeros_(dense.weight), nn.init.zeros_(dense.bias)
    return pyfedsim.torch.Trainer(dense, data(600, 2), nn.functional.cross_entropy,
                                  lambda p: torch.optim.SGD(p, lr=0.1), test=data(400, 3))
"""


@pytest.mark.parametrize("expiry", ["checkpoint", "submitPartial"])
def test_a_module_has_the_events_and_weights_of_a_native_network(expiry: str, tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text((EXAMPLE / "softmax.py").read_text())
    (tmp_path / "modules.py").write_text(MODULE)
    text = (EXAMPLE / "scenario.yaml").read_text()
    text = text.replace('"softmax:make", settings: {samples: 600, rate: 0.1}', '"modules:make"')
    (tmp_path / "scenario.yaml").write_text(text)
    words = ("--set", f"fleet.phones.interruption.onExpiry={expiry}")
    own = run(tmp_path / "scenario.yaml", tmp_path / "own.h5", *words, "--threads", 2)
    eager = run(tmp_path / "scenario.yaml", tmp_path / "eager.h5", *words, "--compute", "eager")
    other = run(native(tmp_path), tmp_path / "native.h5", *words)
    assert own["eventDigest"] == other["eventDigest"]
    assert own["contentDigest"] == eager["contentDigest"]
    weights, expected = model(tmp_path / "own.h5"), model(tmp_path / "native.h5")
    np.testing.assert_allclose(weights["weight"].T, expected["dense1_weight"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(weights["bias"], expected["dense1_bias"], rtol=0, atol=1e-4)


def test_momentum_is_kept_over_an_interruption_as_by_a_native_network(tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text((EXAMPLE / "softmax.py").read_text())
    (tmp_path / "modules.py").write_text(MODULE.replace("lr=0.1)", "lr=0.1, momentum=0.9)"))
    text = (EXAMPLE / "scenario.yaml").read_text()
    text = text.replace('"softmax:make", settings: {samples: 600, rate: 0.1}', '"modules:make"')
    (tmp_path / "scenario.yaml").write_text(text)
    own = run(tmp_path / "scenario.yaml", tmp_path / "own.h5")
    momentum = ("--set", "task.training.optimizer={sgd: {learningRate: 0.1, momentum: 0.9}}")
    other = run(native(tmp_path), tmp_path / "native.h5", *momentum)
    assert own["eventDigest"] == other["eventDigest"]
    assert sum(tally["count"] for tally in own["tallies"] if tally["name"] == "resumed") > 0
    weights, expected = model(tmp_path / "own.h5"), model(tmp_path / "native.h5")
    np.testing.assert_allclose(weights["weight"].T, expected["dense1_weight"], rtol=0, atol=1e-4)
    np.testing.assert_allclose(weights["bias"], expected["dense1_bias"], rtol=0, atol=1e-4)


def test_threads_workers_and_the_moment_of_computing_change_nothing(tmp_path: Path) -> None:
    # Momentum, dropout and batch normalisation, in trainings that are cut and continued.
    scenario, words = EXAMPLE / "network.yaml", ("--set", "stop.rounds=4")
    first = run(scenario, tmp_path / "first.h5", *words, "--threads", 1)
    for name, other in [("threads", ("--threads", 3)), ("eager", ("--threads", 2, "--compute", "eager"))]:
        run(scenario, tmp_path / f"{name}.h5", *words, *other)
        assert (tmp_path / f"{name}.h5").read_bytes() == (tmp_path / "first.h5").read_bytes(), name
    for workers in (1, 2, 3):
        result = tmp_path / f"{workers}.h5"
        again = run(scenario, result, *words, "--set", f"task.python.workers={workers}")
        assert again["eventDigest"] == first["eventDigest"]
        for name, array in model(result).items():
            np.testing.assert_array_equal(array, model(tmp_path / "first.h5")[name])
    other = run(scenario, tmp_path / "seed.h5", *words, "--seed", 2)
    assert other["eventDigest"] != first["eventDigest"]


def test_a_run_that_is_killed_is_resumed_with_the_same_bytes(tmp_path: Path) -> None:
    scenario, words = EXAMPLE / "network.yaml", ("--set", "stop.rounds=200", "--set", "stop.after=100 d")
    run(scenario, tmp_path / "whole.h5", *words)
    result = tmp_path / "killed.h5"
    environment = {**os.environ, "FEDSIM_PYTHON": sys.executable}
    environment["PYTHONPATH"] = str(Path(pyfedsim.__file__).parent.parent)
    process = subprocess.Popen(
        [COMMAND, "run", str(scenario), "--output", str(result), "--quiet", "--checkpoint-every", "5 rounds", *words],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    checkpoint = tmp_path / "killed.h5.run" / "checkpoint"
    while not checkpoint.exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert process.returncode == -signal.SIGKILL, "the run ended before it was killed"
    ended = command("resume", result, "--quiet")
    assert ended.returncode == 0 and "resumes at" in ended.stderr, ended.stderr
    assert result.read_bytes() == (tmp_path / "whole.h5").read_bytes()


def test_a_module_that_draws_without_a_seed_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "softmax.py").write_text((EXAMPLE / "softmax.py").read_text())
    # NumPy's new generators take entropy from the system unless they are given a seed.
    draws = "class Drawing(nn.Linear):\n    def forward(self, x):\n        return super().forward(x) * float(" \
        "np.random.default_rng().uniform(0.5, 1))\n\ndef make():"
    text = MODULE.replace("import softmax", "import numpy as np, softmax").replace("def make():", draws)
    (tmp_path / "modules.py").write_text(text.replace("nn.Linear(8, 4)", "Drawing(8, 4)"))
    text = (EXAMPLE / "scenario.yaml").read_text()
    text = text.replace('"softmax:make", settings: {samples: 600, rate: 0.1}', '"modules:make", checkEvery: 1')
    (tmp_path / "scenario.yaml").write_text(text)
    warnings = run(tmp_path / "scenario.yaml", tmp_path / "r.h5")["warnings"]
    assert any("computed twice" in line and "client" in line for line in warnings), warnings


@pytest.mark.parametrize("name", ["w1-softmax", "w2-mlp", "w3-cnn"])
def test_the_benchmarks_networks_have_native_weights_after_three_rounds(name: str, tmp_path: Path) -> None:
    sys.path.insert(0, str(BENCHMARKS))
    import make_workloads
    import own_training

    if not (BENCHMARKS / "data" / f"{name}-initial.npz").exists():
        make_workloads.main(str(BENCHMARKS / "data"))
    assert own_training.apart(name, str(tmp_path), own_training.scenario(name, str(tmp_path))) <= own_training.ALLOWED[name]
