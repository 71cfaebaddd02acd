"""One PyTorch module as layers of FedSim."""
from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn


class Unsupported(ValueError):
    """A module or function that no layer of FedSim does."""

    def __init__(self, what: str, advice: str):
        super().__init__(f"{what} has no layer in FedSim: {advice}")


class Layers:
    """Layers as they are written, and their tensors, in the order of the network."""

    def __init__(self, dtype: type = np.float32) -> None:
        self.tensors: dict[str, np.ndarray] = {}
        self._dtype = dtype
        self._numbers: dict[str, int] = {}
        #: Channels, height and width of the image that was flattened last; None: nothing to turn.
        self.image: tuple[int, int, int] | None = None
        #: Whether sequences are [batch, channels, time], as nn.Conv1d has them.
        self.channels_first = False
        #: What FedSim does otherwise than the module, a sentence each.
        self.notes: list[str] = []

    def name(self, stem: str, **tensors: torch.Tensor | np.ndarray | None) -> None:
        """Numbers a layer with parameters, and keeps them."""
        self._numbers[stem] = self._numbers.get(stem, 0) + 1
        for name, values in tensors.items():
            if values is not None:
                array = values.detach().cpu().numpy() if isinstance(values, torch.Tensor) else values
                self.tensors[f"{stem}{self._numbers[stem]}.{name}"] = np.ascontiguousarray(array, self._dtype)

    def turned(self, weight: torch.Tensor) -> torch.Tensor:
        """A weight [out][in] behind a flattened image, for inputs in the order [height][width][channels]."""
        if self.image is None:
            return weight
        turned = weight.reshape(len(weight), *self.image).permute(0, 2, 3, 1).reshape(len(weight), -1)
        self.image = None
        return turned


def number(value: Any, what: str) -> int:
    """A setting that is the same along both axes of an image."""
    values = set(value) if isinstance(value, (tuple, list)) else {value}
    if len(values) != 1:
        raise Unsupported(f"{what} = {tuple(value)}", "use the same number along both axes")
    return int(values.pop())


def need(condition: bool, what: str, advice: str) -> None:
    if not condition:
        raise Unsupported(what, advice)


ACTIVATIONS = {nn.ReLU: "relu", nn.ReLU6: "relu6", nn.Tanh: "tanh", nn.Sigmoid: "sigmoid", nn.SiLU: "silu"}
#: What to use instead of modules that are met often.
ADVICE = {
    "BatchNorm3d": "samples have at most three axes; use nn.BatchNorm2d",
    "ConvTranspose2d": "there are no generative models; use nn.Conv2d",
    "Conv3d": "samples have at most three axes; use nn.Conv2d",
    "InstanceNorm2d": "use nn.GroupNorm with as many groups as channels",
    "PReLU": "use nn.LeakyReLU", "ELU": "use nn.SiLU", "Hardswish": "use nn.SiLU", "Mish": "use nn.SiLU",
    "RNN": "use nn.LSTM or nn.GRU", "Bilinear": "use nn.Linear", "Upsample": "use strides instead",
    "AdaptiveMaxPool2d": "use nn.MaxPool2d or nn.AdaptiveAvgPool2d(1)",
    "LogSoftmax": "leave it out: the loss `cross-entropy` contains it",
}


#: Layers with parameters, and what a bare value of them means.
_PARAMETRIC = {"dense": "units", "convolution": "filters", "convolution-1d": "filters", "group-normalisation": "groups",
               "layer-normalisation": None, "batch-normalisation": None, "embedding": None, "positions": None,
               "attention": "heads", "lstm": "units", "gru": "units"}


def kept(layers: Layers, module: nn.Module, written: list[Any]) -> list[Any]:
    """The layers of a module; frozen, where none of its parameters is trained."""
    trained = [parameter.requires_grad for parameter in module.parameters()]
    if not trained or all(trained):
        return written
    need(not any(trained), f"an nn.{type(module).__name__} of which some parameters are trained and others are not",
         "freeze all of them, or none")
    return [_frozen(layer) for layer in written]


def _frozen(layer: Any) -> Any:
    """A layer that is not trained, with those inside it."""
    name, settings = (layer, None) if isinstance(layer, str) else next(iter(layer.items()))
    if name == "residual" and settings:
        return {name: {key: [_frozen(inner) for inner in inners] for key, inners in settings.items()}}
    if name not in _PARAMETRIC:
        return layer
    if not isinstance(settings, dict):
        shorthand = _PARAMETRIC[name]
        settings = {} if settings is None or shorthand is None else {shorthand: settings}
    return {name: {**settings, "isUpdatable": False}}


def linear(layers: Layers, module: nn.Linear, dimensions: int) -> list[Any]:
    if module.bias is None:
        layers.notes.append("an nn.Linear without a bias gets one, which begins with zeros and is trained; "
                            "`state_dict` cannot bring it back")
    bias = module.bias if module.bias is not None else torch.zeros(module.out_features)
    layers.name("dense", weight=layers.turned(module.weight).T, bias=bias)
    settings: dict[str, Any] = {"units": module.out_features}
    if dimensions > 2:
        settings["eachPlace"] = True
    return [{"dense": settings}]


def convolution(layers: Layers, module: nn.Conv1d | nn.Conv2d) -> list[Any]:
    name = type(module).__name__
    need(number(module.dilation, "dilation") == 1, f"a dilated nn.{name}", "use a larger filter or a stride")
    need(module.padding_mode == "zeros", f"padding_mode = {module.padding_mode!r}", "use zeros")
    size, stride = number(module.kernel_size, "kernel_size"), number(module.stride, "stride")
    padding: Any = module.padding
    if not isinstance(padding, str):
        padding = number(padding, "padding")
        need(padding < size, f"padding {padding} of filters of {size}", "use a padding below the filter's size")
    settings: dict[str, Any] = {"filters": module.out_channels, "size": size, "stride": stride, "padding": padding}
    if module.groups != 1:
        settings["groups"] = module.groups
    if module.bias is None:
        settings["bias"] = False
    axes = (2, 1, 0) if isinstance(module, nn.Conv1d) else (2, 3, 1, 0)
    layers.name("conv", weight=module.weight.permute(axes), bias=module.bias)
    return [{"convolution-1d" if isinstance(module, nn.Conv1d) else "convolution": settings}]


def pooling(kind: str, module: Any) -> list[Any]:
    name = type(module).__name__
    need(number(module.padding, "padding") == 0, f"{name} with padding", "use none, or a stride of a convolution")
    need(not module.ceil_mode, f"{name} with ceil_mode", "use ceil_mode=False")
    need(number(getattr(module, "dilation", 1), "dilation") == 1, f"a dilated {name}", "use dilation=1")
    size = number(module.kernel_size, "kernel_size")
    stride = number(module.stride if module.stride is not None else size, "stride")
    return [{f"{kind}-pooling": {"size": size, "stride": stride}}]


def normalisation(layers: Layers, module: nn.GroupNorm | nn.LayerNorm) -> list[Any]:
    name = f"nn.{type(module).__name__}"
    need(math.isclose(module.eps, 1e-5), f"{name} with eps = {module.eps}", "use eps=1e-5")
    need(layers.image is None, f"{name} behind a flattened image", "put it in front of the flattening")
    if isinstance(module, nn.LayerNorm):
        need(len(module.normalized_shape) == 1, f"{name}({tuple(module.normalized_shape)})", "normalise the last axis alone")
        width = module.normalized_shape[0]
        layer: Any = "layer-normalisation"
    else:
        width = module.num_channels
        layer = {"group-normalisation": module.num_groups}
    scale = module.weight if module.weight is not None else torch.ones(width)
    shift = module.bias if module.bias is not None else torch.zeros(width)
    layers.name("norm", scale=scale, shift=shift)
    return [layer]


def batch_normalisation(layers: Layers, module: nn.BatchNorm1d | nn.BatchNorm2d, dimensions: int) -> list[Any]:
    name = f"nn.{type(module).__name__}"
    need(dimensions != 3 or layers.channels_first, f"{name} without an nn.Conv1d before it",
         "use nn.LayerNorm, or nn.BatchNorm1d of [batch, features]")
    need(layers.image is None, f"{name} behind a flattened image", "put it in front of the flattening")
    need(module.affine, f"{name} with affine=False", "use affine=True")
    need(module.track_running_stats, f"{name} with track_running_stats=False", "use running statistics")
    need(module.momentum is not None, f"{name} with momentum=None", "use a number")
    layers.name("norm", scale=module.weight, shift=module.bias, mean=module.running_mean, variance=module.running_var)
    return [{"batch-normalisation": {"epsilon": module.eps, "momentum": module.momentum}}]


def recurrent(layers: Layers, module: nn.LSTM | nn.GRU, returns_sequence: bool) -> list[Any]:
    kind = type(module).__name__.lower()
    need(module.batch_first, f"nn.{kind.upper()} with batch_first=False", "use batch_first=True")
    need(not module.bidirectional, f"a bidirectional nn.{kind.upper()}", "use one direction")
    need(getattr(module, "proj_size", 0) == 0, "proj_size", "use an nn.Linear behind it")
    written: list[Any] = []
    for index in range(module.num_layers):
        zeros = torch.zeros(module.weight_hh_l0.shape[0])
        inner = getattr(module, f"bias_ih_l{index}") if module.bias else zeros
        other = getattr(module, f"bias_hh_l{index}") if module.bias else zeros
        weights = {"inputWeight": getattr(module, f"weight_ih_l{index}").T,
                   "recurrentWeight": getattr(module, f"weight_hh_l{index}").T}
        biases = {"bias": inner + other} if kind == "lstm" else {"inputBias": inner, "recurrentBias": other}
        layers.name(kind, **weights, **biases)
        is_last = index == module.num_layers - 1
        written.append({kind: {"units": module.hidden_size, "returnsSequence": returns_sequence or not is_last}})
        if module.dropout and not is_last:
            written.append({"dropout": module.dropout})
    return written


def attention(layers: Layers, module: nn.MultiheadAttention, causal: bool) -> list[Any]:
    need(module.batch_first, "nn.MultiheadAttention with batch_first=False", "use batch_first=True")
    need(module._qkv_same_embed_dim and module.bias_k is None and not module.add_zero_attn,
         "nn.MultiheadAttention with kdim, vdim, bias_kv or add_zero_attn", "use the defaults")
    need(module.dropout == 0, "nn.MultiheadAttention with dropout", "use nn.Dropout behind it")
    width = module.embed_dim
    bias = module.in_proj_bias if module.in_proj_bias is not None else torch.zeros(3 * width)
    out = module.out_proj.bias if module.out_proj.bias is not None else torch.zeros(width)
    layers.name("attention", inputWeight=module.in_proj_weight.T, inputBias=bias,
                outputWeight=module.out_proj.weight.T, outputBias=out)
    return [{"attention": {"heads": module.num_heads, "causal": causal}}]


def encoder_layer(layers: Layers, module: nn.TransformerEncoderLayer, causal: bool) -> list[Any]:
    """Two residual blocks, the normalisation before or behind them."""
    activation = getattr(module.activation, "__name__", type(module.activation).__name__).lower()
    need(activation in ("relu", "gelu"), f"an encoder layer with {activation}", "use relu or gelu")
    rate = module.dropout1.p
    need(module.self_attn.dropout == rate, "an encoder layer with two rates of dropout", "use one")
    dropout = [{"dropout": rate}] if rate else []
    kept, module.self_attn.dropout = module.self_attn.dropout, 0.0
    try:
        def mix() -> list[Any]:
            return attention(layers, module.self_attn, causal) + dropout

        def feed() -> list[Any]:
            return (linear(layers, module.linear1, 3) + [activation] + dropout
                    + linear(layers, module.linear2, 3) + dropout)

        written: list[Any] = []
        for inner, norm in ((mix, module.norm1), (feed, module.norm2)):
            if module.norm_first:
                written.append({"residual": {"layers": normalisation(layers, norm) + inner()}})
            else:
                written.append({"residual": {"layers": inner()}})
                written += normalisation(layers, norm)
        return written
    finally:
        module.self_attn.dropout = kept


def simple(layers: Layers, module: nn.Module, dimensions: int) -> list[Any]:
    """A module that takes one tensor and gives one; `dimensions` counts the axes of its input, the batch's included."""
    kind = type(module)
    if kind in ACTIVATIONS:
        return [ACTIVATIONS[kind]]
    if layers.channels_first and dimensions == 3:
        need(not isinstance(module, (nn.Linear, nn.LayerNorm, nn.Embedding, nn.Softmax)),
             f"nn.{kind.__name__} over time in a network with nn.Conv1d", "flatten, or take the mean over time, before it")
    match module:
        case nn.Identity():
            return []
        case nn.Linear():
            return linear(layers, module, dimensions)
        case nn.Conv1d() | nn.Conv2d():
            return convolution(layers, module)
        case nn.MaxPool1d() | nn.MaxPool2d():
            return pooling("max", module)
        case nn.AvgPool1d() | nn.AvgPool2d():
            return pooling("average", module)
        case nn.AdaptiveAvgPool1d() | nn.AdaptiveAvgPool2d():
            need(number(module.output_size, "output_size") == 1, f"nn.{kind.__name__} of more than 1",
                 "use an nn.AvgPool, or 1")
            return ["global-average-pooling"]
        case nn.LeakyReLU():
            return [{"leaky-relu": module.negative_slope}]
        case nn.GELU():
            need(module.approximate == "none", "nn.GELU with approximate", "use approximate='none'")
            return ["gelu"]
        case nn.Dropout():
            return [{"dropout": module.p}] if module.p else []
        case nn.GroupNorm() | nn.LayerNorm():
            return normalisation(layers, module)
        case nn.BatchNorm1d() | nn.BatchNorm2d():
            return batch_normalisation(layers, module, dimensions)
        case nn.Embedding():
            need(module.max_norm is None, "nn.Embedding with max_norm", "use none")
            if module.padding_idx is not None:
                layers.notes.append(f"row {module.padding_idx} of the nn.Embedding, its padding_idx, is trained as all others")
            layers.name("embedding", weight=module.weight)
            return [{"embedding": {"count": module.num_embeddings, "width": module.embedding_dim}}]
        case nn.Softmax():
            need(dimensions == 2, "nn.Softmax over an inner axis", "use nn.MultiheadAttention")
            return ["softmax"]
    name = kind.__name__
    raise Unsupported(f"nn.{name}" if kind.__module__.startswith("torch.nn") else name,
                      ADVICE.get(name, "write it with nn.Linear, nn.Conv2d, nn.BatchNorm2d, nn.GroupNorm, nn.LSTM or nn.MultiheadAttention"))
