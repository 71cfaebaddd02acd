"""Weights of FedSim back in a PyTorch module: the other way of `convert`."""
from __future__ import annotations

import copy
import json
import os
from typing import Any, Mapping

import numpy as np
import torch
from torch import nn

from ._convert import named_tensors, traced


def state_dict(module: nn.Module, weights: str | os.PathLike[str] | Mapping[str, np.ndarray], shape: tuple[int, ...],
               tokens: bool = False) -> dict[str, torch.Tensor]:
    """What `module.load_state_dict` takes, from a model that `convert(module, shape, tokens)` began.

    `weights` are a file that `fedsim export` wrote, safetensors or NPZ, or arrays by FedSim's names. What FedSim has no
    tensor for stays as in the module. The one bias of an LSTM becomes `bias_ih`, and `bias_hh` 0.
    Raises `ValueError` where names or shapes are not the module's, where a number other than 0 (or 1, of a scale) would
    have no parameter, and where a parameter that is used twice would have two values.
    """
    given = dict(weights) if isinstance(weights, Mapping) else _read(os.fspath(weights))
    numbered = copy.deepcopy(module)
    graph = traced(numbered, shape, tokens)
    state = {name: values.detach().cpu().numpy().copy() for name, values in module.state_dict().items()}
    # Each element of the module holds its own number; 0 and 1 are what `convert` puts where there is no parameter.
    starts: dict[str, int] = {}
    first = 2
    numbered.double()
    with torch.no_grad():
        for name, values in numbered.state_dict(keep_vars=True).items():
            if name.rpartition(".")[2].startswith("bias_hh_l") and name in _summed(numbered):
                values.zero_()
                state[name][...] = 0
            elif values.is_floating_point():
                values.copy_(torch.arange(first, first + values.numel(), dtype=values.dtype).reshape(values.shape))
                starts[name] = first
                first += values.numel()
    places = named_tensors(graph, np.float64)
    _check(given, places)
    flat = np.full(first, np.nan)
    flat[:2] = (0, 1)
    sources = [(name, places[name].astype(np.int64).ravel(), np.asarray(given[name]).ravel()) for name in places]
    for _, at, values in sources:
        flat[at[at > 1]] = values[at > 1]
    for name, at, values in sources:
        if not np.array_equal(flat[at], values):
            raise ValueError(f"`{name}`: the module has no parameter for some of its numbers, or one for two of them")
    for name, start in starts.items():
        values = flat[start:start + state[name].size].reshape(state[name].shape)
        state[name] = np.where(np.isnan(values), state[name], values).astype(state[name].dtype)
    return {name: torch.from_numpy(np.asarray(values)) for name, values in state.items()}


def _summed(module: nn.Module) -> set[str]:
    """Biases that are added to others before FedSim has them."""
    return {f"{name}.{key}" if name else key for name, inner in module.named_modules() if isinstance(inner, nn.LSTM)
            for key, _ in inner.named_parameters(recurse=False) if key.startswith("bias_hh_l")}


def _check(given: dict[str, Any], places: dict[str, np.ndarray]) -> None:
    if set(given) != set(places):
        parts = [f"{', '.join(sorted(names))} only in the {where}" for names, where in
                 ((set(given) - set(places), "weights"), (set(places) - set(given), "module")) if names]
        raise ValueError(f"the weights are not the module's: {'; '.join(parts)}")
    for name, wanted in places.items():
        if np.shape(given[name]) != wanted.shape:
            raise ValueError(f"`{name}` is {np.shape(given[name])}, and {wanted.shape} in the module")


def _read(path: str) -> dict[str, np.ndarray]:
    """The tensors of the last model in an export, or of any NPZ or safetensors file with FedSim's names."""
    if path.endswith(".npz"):
        with np.load(path) as archive:
            names = [name for name in archive.files if name.startswith("model/")] or archive.files
            return {name.removeprefix("model/").replace("_", ".", 1): archive[name] for name in names}
    with open(path, "rb") as file:
        begin = file.read(8)
        if begin == b"\x89HDF\r\n\x1a\n":
            raise ValueError(f"{path} is a result: export its model first, with `fedsim export {path} --to model.safetensors`")
        size = int.from_bytes(begin, "little")
        if size > os.path.getsize(path) - 8:
            raise ValueError(f"{path} is no safetensors file")
        header = json.loads(file.read(size))
        data = file.read()
    header.pop("__metadata__", None)
    tensors = {}
    for name, entry in header.items():
        if entry["dtype"] != "F32":
            raise ValueError(f"{path}: `{name}` is {entry['dtype']}; `fedsim export` writes F32")
        begin, end = entry["data_offsets"]
        tensors[name] = np.frombuffer(data[begin:end], "<f4").reshape(entry["shape"])
    return tensors
