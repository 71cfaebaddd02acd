"""A trainer for any PyTorch module (docs/own-training.md).

    import pyfedsim.torch

    def make():
        return pyfedsim.torch.Trainer(Net, train_set, torch.nn.functional.cross_entropy,
                                      lambda parameters: torch.optim.SGD(parameters, lr=0.1), test=test_set)
"""
from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from ._trainer import Memory, Parameters, Split, Sums
from ._trainer import Trainer as _Trainer

Loss = Callable[[Any, Any], torch.Tensor]
MakeOptimizer = Callable[[Iterable[torch.nn.Parameter]], torch.optim.Optimizer]


class Trainer(_Trainer):
    """Trains a module on a map-style data set, batch by batch.

    `model` makes the module (a class, or a function without arguments); version 0 is what it makes with PyTorch's
    generator seeded by the run's `init` seed. A module instead is version 0 as it is. `loss` takes outputs and
    targets and returns their mean. `optimizer` is made once and begins each training without state; its state
    is the training's memory, and so are buffers that are no floats. Buffers of floats, such as running means, travel with the parameters.

    Before each batch the generators of PyTorch, NumPy and Python are seeded with the batch's key.
    """

    def __init__(
        self, model: torch.nn.Module | Callable[[], torch.nn.Module], dataset: Any, loss: Loss,
        optimizer: MakeOptimizer | None = None, *, test: Any = None,
        labels: Sequence[int] | NDArray[Any] | None = None, owners: Sequence[Any] | NDArray[Any] | None = None,
        test_owners: Sequence[Any] | NDArray[Any] | None = None, collate: Callable[[list[Any]], Any] | None = None,
        correct: Callable[[Any, Any], tuple[int, int]] | None = None, operations_per_sample: int | None = None,
        values_per_sample: int = 0,
    ) -> None:
        torch.set_num_threads(1)
        torch.use_deterministic_algorithms(True)
        self.operations_per_sample = operations_per_sample
        self.values_per_sample = values_per_sample
        self._given = model
        self._module = model if isinstance(model, torch.nn.Module) else model()
        self._loss = loss
        self._optimizer: MakeOptimizer = optimizer or (lambda parameters: torch.optim.SGD(parameters, lr=0.1))
        self._data: dict[str, Any] = {"train": dataset, "test": [] if test is None else test}
        self._collate = collate
        self._made: tuple[torch.optim.Optimizer, list[dict[str, Any]]] | None = None
        self._correct = correct or _right
        self._labels = _labels(dataset) if labels is None else np.asarray(labels)
        self._owners, self._test_owners = owners, test_owners
        self._trained = dict(self._module.named_parameters())
        buffers = dict(self._module.named_buffers())
        self._moved = {name: buffer for name, buffer in buffers.items() if buffer.is_floating_point()}
        self._counted = {name: buffer for name, buffer in buffers.items() if not buffer.is_floating_point()}
        self._fresh = {name: buffer.clone() for name, buffer in self._counted.items()}
        self._tensors: dict[str, torch.Tensor] = {**self._trained, **self._moved}
        for name, tensor in self._tensors.items():
            if tensor.dtype != torch.float32 or tensor.device.type != "cpu":
                raise ValueError(f"{name} is {tensor.dtype} on {tensor.device}, expected float32 on the CPU")
        self._layout = [(name, tuple(tensor.shape) or (1,)) for name, tensor in self._tensors.items()]
        # Such as channels last: what has another order in memory than an array is copied.
        self._strided = [name for name, tensor in self._tensors.items() if not tensor.is_contiguous()]
        self._version0 = {name: _array(tensor).copy() for name, tensor in self._tensors.items()}

    @property
    def layout(self) -> Sequence[tuple[str, Sequence[int]]]:
        return self._layout

    @property
    def statistics(self) -> Sequence[str]:
        return list(self._moved)

    @property
    def training_samples(self) -> int:
        return len(self._data["train"])

    @property
    def test_samples(self) -> int:
        return len(self._data["test"])

    @property
    def labels(self) -> NDArray[Any] | None:
        return self._labels

    @property
    def owners(self) -> Sequence[Any] | NDArray[Any] | None:
        return self._owners

    @property
    def test_owners(self) -> Sequence[Any] | NDArray[Any] | None:
        return self._test_owners

    def initial(self, seed: int) -> Parameters:
        if isinstance(self._given, torch.nn.Module):
            return {name: array.reshape(shape) for (name, shape), array in zip(self._layout, self._version0.values())}
        _seed(seed)
        module = self._given()
        fresh: dict[str, torch.Tensor] = {**dict(module.named_parameters()), **dict(module.named_buffers())}
        return {name: _array(fresh[name]).reshape(shape) for name, shape in self._layout}

    def train(
        self, parameters: Parameters, client: int, batches: range, order: Sequence[NDArray[np.int32]],
        memory: Memory, keys: Sequence[int],
    ) -> tuple[Parameters, float, Memory]:
        self._place(parameters)
        module = self._module
        module.train()
        for name, buffer in self._counted.items():
            kept = memory.get(f"buffer/{name}")
            buffer.copy_(self._fresh[name] if kept is None else torch.from_numpy(kept).reshape(buffer.shape))
        optimizer = self._fresh_optimizer()
        _restore(optimizer, memory)
        loss_sum = 0.0
        for samples, key, read in zip(order, keys, self._batches(order)):
            _seed(key)
            inputs, targets = read()
            optimizer.zero_grad(set_to_none=True)
            loss = self._loss(module(inputs), targets)
            loss.backward()
            optimizer.step()
            loss_sum += loss.item() * len(samples)
        for tensor in self._trained.values():
            tensor.grad = None
        for name in self._strided:
            parameters[name][...] = _array(self._tensors[name])
        left = _saved(optimizer)
        left.update({f"buffer/{name}": _array(buffer).copy() for name, buffer in self._counted.items()})
        return parameters, loss_sum, left

    def evaluate(self, parameters: Parameters, samples: NDArray[np.int32], split: Split) -> Sums:
        # The module may still stand in memory that is not its own any more.
        self._place({name: array.copy() for name, array in parameters.items()})
        self._module.eval()
        _seed(0)
        with torch.no_grad():
            inputs, targets = self._batch(split, samples)
            outputs = self._module(inputs)
            loss = float(self._loss(outputs, targets)) * len(samples)
            correct, answers = self._correct(outputs, targets)
        return Sums(loss=loss, correct=correct, answers=answers)

    def _place(self, parameters: Parameters) -> None:
        """Lets the module's tensors be these arrays, without a copy where that is possible."""
        for name, tensor in self._tensors.items():
            given = torch.from_numpy(parameters[name]).view(tensor.shape)
            if name in self._strided:
                tensor.data.copy_(given)
            else:
                tensor.data = given

    def _fresh_optimizer(self) -> torch.optim.Optimizer:
        """The optimizer as it was made, without state."""
        if self._made is None:
            optimizer = self._optimizer(self._trained.values())
            settings = [{key: value for key, value in group.items() if key != "params"} for group in optimizer.param_groups]
            self._made = optimizer, copy.deepcopy(settings)
        optimizer, settings = self._made
        optimizer.state.clear()
        for group, values in zip(optimizer.param_groups, settings):
            group.update(values)
        return optimizer

    def _batches(self, order: Sequence[NDArray[np.int32]]) -> Iterator[Callable[[], tuple[Any, Any]]]:
        """Reads each batch when it is asked for; tensors are gathered at once, as nothing is drawn for them."""
        if not self._is_gathered("train"):
            yield from (partial(self._batch, "train", samples) for samples in order)
            return
        inputs, targets = self._batch("train", np.concatenate(order))
        end = 0
        for samples in order:
            start, end = end, end + len(samples)
            yield partial(_part, inputs, targets, start, end)

    def _is_gathered(self, split: Split) -> bool:
        return self._collate is None and isinstance(self._data[split], torch.utils.data.TensorDataset)

    def _batch(self, split: Split, samples: NDArray[np.int32]) -> tuple[Any, Any]:
        data = self._data[split]
        if self._is_gathered(split):
            places = torch.from_numpy(samples.astype(np.int64))
            inputs, targets = (tensor[places] for tensor in data.tensors)
            return inputs, targets
        collate: Callable[[list[Any]], Any] = self._collate or torch.utils.data.default_collate
        inputs, targets = collate([data[int(sample)] for sample in samples])
        return inputs, targets


def _part(inputs: Any, targets: Any, start: int, end: int) -> tuple[Any, Any]:
    return inputs[start:end], targets[start:end]


def _array(tensor: torch.Tensor) -> NDArray[Any]:
    array: NDArray[Any] = tensor.detach().cpu().numpy()
    return array


def _seed(key: int) -> None:
    torch.default_generator.manual_seed(key & 0x7FFF_FFFF_FFFF_FFFF)
    np.random.seed(key & 0xFFFF_FFFF)
    random.seed(key)


def _labels(dataset: Any) -> NDArray[Any] | None:
    """The class of each sample, where the data set has them in one place."""
    targets: Any = getattr(dataset, "targets", None)
    if targets is None and isinstance(dataset, torch.utils.data.TensorDataset):
        targets = dataset.tensors[-1]
    if targets is None:
        return None
    labels = _array(targets) if isinstance(targets, torch.Tensor) else np.asarray(targets)
    return labels if labels.ndim == 1 and np.issubdtype(labels.dtype, np.integer) else None


def _right(outputs: Any, targets: Any) -> tuple[int, int]:
    """How many answers are right, of how many: those of classes."""
    if outputs.ndim != targets.ndim + 1 or targets.is_floating_point():
        return 0, 0
    return int((outputs.argmax(1) == targets).sum()), targets.numel()


def _saved(optimizer: torch.optim.Optimizer) -> Memory:
    """An optimizer's state as arrays; a number is told from a tensor by its name."""
    memory: Memory = {}
    for place, entries in optimizer.state_dict()["state"].items():
        for name, value in entries.items():
            if isinstance(value, torch.Tensor):
                memory[f"tensor/{place}/{name}"] = _array(value).copy()
            elif value is not None:
                memory[f"number/{place}/{name}"] = np.array(value)
    return memory


def _restore(optimizer: torch.optim.Optimizer, memory: Mapping[str, NDArray[Any]]) -> None:
    state: dict[int, dict[str, Any]] = {}
    for key, array in memory.items():
        kind, _, rest = key.partition("/")
        if kind == "buffer":
            continue
        place, _, name = rest.partition("/")
        state.setdefault(int(place), {})[name] = torch.from_numpy(array) if kind == "tensor" else array.item()
    if state:
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
