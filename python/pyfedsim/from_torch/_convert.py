"""A traced module as a list of layers: chains, and sums of two chains."""
from __future__ import annotations

import operator
from dataclasses import dataclass, field
from typing import Any, Callable

import numpy as np
import torch
from torch import fx, nn
from torch.fx.passes.shape_prop import ShapeProp
from torch.nn import functional as F

from . import _modules as modules
from ._modules import Layers, Unsupported, need


@dataclass
class Converted:
    """A network as FedSim has it."""

    #: What `task.model.layers` lists.
    layers: list[Any]
    #: The weights by FedSim's names. Shapes: FedSim's.
    tensors: dict[str, np.ndarray]
    #: What FedSim does otherwise than the module, a sentence each.
    notes: list[str] = field(default_factory=list)

    @property
    def yaml(self) -> str:
        """The section `model`, as YAML in which each layer is a line of JSON."""
        import json

        lines = "".join(f"    - {json.dumps(layer)}\n" for layer in self.layers)
        return f"model:\n  layers:\n{lines}"


class _Tracer(fx.Tracer):  # type: ignore[misc]
    """Modules of torch.nn are leaves, but for those that only hold others."""

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        return type(m).__module__.startswith("torch.nn") and not isinstance(m, (nn.Sequential, nn.ModuleList))


_FUNCTIONS: dict[Any, str] = {
    torch.relu: "relu", F.relu: "relu", F.relu6: "relu6", torch.tanh: "tanh", F.tanh: "tanh", torch.sigmoid: "sigmoid",
    F.sigmoid: "sigmoid", F.silu: "silu", "relu": "relu", "tanh": "tanh", "sigmoid": "sigmoid"}
_FLATTENING = {torch.flatten, "flatten", "view", "reshape", torch.reshape}
_SUMS = {operator.add, torch.add, operator.iadd, "add", "add_"}
_MEANS = {torch.mean, "mean"}
_SOFTMAXES = {F.softmax, torch.softmax, "softmax", F.log_softmax, torch.log_softmax, "log_softmax"}
_OVER_TIME = (nn.LSTM, nn.GRU, nn.MultiheadAttention, nn.TransformerEncoderLayer)
_PASSED = {"contiguous", "float", "detach", "clone"}


def convert(module: nn.Module, shape: tuple[int, ...], tokens: bool = False) -> Converted:
    """The layers and weights of a module for samples of `shape` (PyTorch's order, without the batch).

    `tokens` says that samples are whole numbers for an nn.Embedding; it is found out for a module that begins with one.
    Raises `Unsupported` for what FedSim has no layer for.
    """
    walk = _Walk(traced(module, shape, tokens))
    layers = walk.chain(walk.input, walk.output)
    if layers and layers[-1] == "softmax":
        layers.pop()  # It is part of the loss.
    return Converted(layers, walk.layers.tensors, walk.layers.notes)


def named_tensors(graph: fx.GraphModule, dtype: type) -> dict[str, np.ndarray]:
    """The tensors that `convert` writes, of the values that a traced module has now."""
    walk = _Walk(graph, dtype)
    walk.chain(walk.input, walk.output)
    return walk.layers.tensors


def traced(module: nn.Module, shape: tuple[int, ...], tokens: bool) -> fx.GraphModule:
    """The module's graph with the shapes of what goes along it; it shares the module's tensors."""
    was_training = module.training
    module.eval()
    try:
        graph = _Tracer().trace(module)
    except Exception as error:
        raise Unsupported(f"{type(module).__name__}, which torch.fx cannot trace ({error}),",
                          "write forward() without conditions on values") from error
    found = fx.GraphModule(module, graph)
    tokens = tokens or any(isinstance(m, nn.Embedding) for m in module.modules())
    example = torch.zeros(2, *shape, dtype=torch.long if tokens else torch.float32)
    kinds = {parameter.dtype for parameter in module.parameters()} - {torch.float32}
    need(not kinds, f"a module of {', '.join(sorted(str(kind) for kind in kinds))}", "call .float() on it")
    try:
        with torch.no_grad():
            ShapeProp(found).propagate(example)
    except Exception as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        raise ValueError(f"--shape {','.join(map(str, shape))} does not fit the module: {reason}") from error
    finally:
        module.train(was_training)
    return found


class _Walk:
    """Follows a graph from its output to its input."""

    def __init__(self, graph: fx.GraphModule, dtype: type = np.float32):
        self.modules = dict(graph.named_modules())
        self.traced = graph
        self.layers = Layers(dtype)
        self.layers.channels_first = any(isinstance(m, nn.Conv1d) for m in self.modules.values())
        need(not self.layers.channels_first or not any(isinstance(m, _OVER_TIME) for m in self.modules.values()),
             "nn.Conv1d beside recurrent layers or attention, which order axes differently,", "use one kind of them")
        inputs = [node for node in graph.graph.nodes if node.op == "placeholder"]
        need(len(inputs) == 1, f"a network with {len(inputs)} inputs", "use one")
        self.input = inputs[0]
        (output,) = [node for node in graph.graph.nodes if node.op == "output"]
        need(isinstance(output.args[0], fx.Node), "a network with several outputs", "return one tensor")
        self.output = output.args[0]

    def chain(self, first: fx.Node, last: fx.Node) -> list[Any]:
        """The layers behind `first` up to `last`."""
        steps: list[Callable[[], list[Any]]] = []
        node = last
        while node is not first:
            need(node is not self.input, "a path that leaves a block", "let every path of a sum begin at one place")
            node, step = self.step(node)
            steps.append(step)
        return [layer for step in reversed(steps) for layer in step()]

    def step(self, node: fx.Node) -> tuple[fx.Node, Callable[[], list[Any]]]:
        """The node before this one, and what makes the layers between them: in order of the network, later."""
        if node.target is operator.getitem:
            return self.item(node)
        operands = [a for a in node.args if isinstance(a, fx.Node)]
        if node.op == "call_module":
            module = self.modules[str(node.target)]
            return operands[0], lambda: modules.kept(self.layers, module, self.module(node))
        if node.target in _SUMS and len(operands) == 2:
            return self.sum(node, *operands)
        if not operands:
            raise Unsupported(f"`{node.name}`", "begin with the input")
        return operands[0], lambda: self.function(node, operands[0])

    def module(self, node: fx.Node) -> list[Any]:
        module = self.modules[str(node.target)]
        if isinstance(module, nn.Flatten):
            need(module.start_dim == 1 and module.end_dim == -1, "nn.Flatten of some axes", "flatten all")
            return self.flatten(node.args[0])
        if isinstance(module, (nn.LSTM, nn.GRU)):
            raise Unsupported(f"nn.{type(module).__name__}, whose outputs are not taken apart,", "use `y, _ = rnn(x)`")
        causal = bool(node.kwargs.get("is_causal"))
        if isinstance(module, nn.TransformerEncoderLayer):
            need(module.self_attn.batch_first, "an encoder layer with batch_first=False", "use batch_first=True")
            return modules.encoder_layer(self.layers, module, causal)
        if isinstance(module, nn.TransformerEncoder):
            written = [layer for inner in module.layers for layer in modules.encoder_layer(self.layers, inner, causal)]
            return written + (modules.normalisation(self.layers, module.norm) if module.norm is not None else [])
        return modules.simple(self.layers, module, len(_shape(node.args[0])))

    def item(self, node: fx.Node) -> tuple[fx.Node, Callable[[], list[Any]]]:
        """`y, _ = lstm(x)`, `y[:, -1]`, and the output of an attention."""
        source, index = node.args
        last = index in ((slice(None), -1), (slice(None), -1, slice(None)))
        if last and source.target is operator.getitem:
            outer, place = source.args
            module = self.modules.get(str(outer.target)) if outer.op == "call_module" else None
            if place == 0 and isinstance(module, (nn.LSTM, nn.GRU)):
                return outer.args[0], lambda: modules.kept(
                    self.layers, module, modules.recurrent(self.layers, module, False))
        state = self.last_state(source, index)
        if state is not None:
            return state
        module = self.modules.get(str(source.target)) if source.op == "call_module" else None
        if index == 0 and isinstance(module, (nn.LSTM, nn.GRU)):
            need(len(source.args) == 1, "a recurrent layer with a given state", "begin with zeros")
            return source.args[0], lambda: modules.kept(
                self.layers, module, modules.recurrent(self.layers, module, True))
        if index == 0 and isinstance(module, nn.MultiheadAttention):
            need(len(set(source.args[:3])) == 1, "attention to another sequence", "use self-attention")
            causal = bool(source.kwargs.get("is_causal"))
            need(source.kwargs.get("attn_mask") is None or causal, "an attention mask", "use is_causal=True, or none")
            return source.args[0], lambda: modules.kept(
                self.layers, module, modules.attention(self.layers, module, causal))
        raise Unsupported(f"`{node.name}`, a part of a tensor,",
                          "take the last state of an nn.LSTM or nn.GRU, as `y[:, -1]` or `h[-1]`")

    def last_state(self, source: fx.Node, index: Any) -> tuple[fx.Node, Callable[[], list[Any]]] | None:
        """`h[-1]` of `_, (h, _) = lstm(x)` or of `_, h = gru(x)`; with one layer `h[0]`, too."""
        outer: Any = source
        places: list[Any] = []
        while isinstance(outer, fx.Node) and outer.target is operator.getitem:
            places.insert(0, outer.args[1])
            outer = outer.args[0]
        module = self.modules.get(str(outer.target)) if outer.op == "call_module" else None
        wanted = {nn.LSTM: [1, 0], nn.GRU: [1]}.get(type(module))
        if wanted is None or places != wanted or not (index == -1 or (index == 0 and module and module.num_layers == 1)):
            return None
        need(len(outer.args) == 1, "a recurrent layer with a given state", "begin with zeros")
        return outer.args[0], lambda: modules.kept(
            self.layers, module, modules.recurrent(self.layers, module, False))

    def sum(self, node: fx.Node, a: fx.Node, b: fx.Node) -> tuple[fx.Node, Callable[[], list[Any]]]:
        """A residual block, or learned positions."""
        for value, other in ((b, a), (a, b)):
            if value.op == "get_attr":
                return other, lambda value=value, other=other: self.positions(value, other)
            embedded = self.modules.get(str(value.target)) if value.op == "call_module" else None
            if isinstance(embedded, nn.Embedding) and not _depends(value, self.input):
                raise Unsupported("positions that are looked up", "add an nn.Parameter of [time, width]")
        split = _split(a, b)
        if split is None:
            raise Unsupported("a sum whose paths begin at different places", "let both begin at one place")

        def block() -> list[Any]:
            image = self.layers.image
            # The longer path is that of the layers; tensors are numbered along it first.
            main, short = (a, b) if _length(split, a) >= _length(split, b) else (b, a)
            layers = self.chain(split, main)
            self.layers.image = image
            shortcut = self.chain(split, short)
            need(bool(layers), "x + x", "use a factor in a layer")
            return [{"residual": {"layers": layers, **({"shortcut": shortcut} if shortcut else {})}}]

        return split, block

    def positions(self, value: fx.Node, other: fx.Node) -> list[Any]:
        parameter = self.traced
        for name in str(value.target).split("."):
            parameter = getattr(parameter, name)
        shape = tuple(_shape(other)[1:])
        need(isinstance(parameter, nn.Parameter) and tuple(parameter.shape) in (shape, (1, *shape)) and len(shape) == 2,
             f"the constant `{value.target}`", f"add an nn.Parameter of {list(shape)} for learned positions")
        self.layers.name("positions", weight=parameter.reshape(shape))
        return ["positions"] if parameter.requires_grad else [{"positions": {"isUpdatable": False}}]

    def flatten(self, before: fx.Node) -> list[Any]:
        shape = tuple(_shape(before)[1:])
        if len(shape) == 3 and shape[1] * shape[2] > 1:
            self.layers.image = shape
        elif len(shape) == 2 and self.layers.channels_first and shape[1] > 1:
            self.layers.image = (shape[0], 1, shape[1])
        return ["flatten"] if len(shape) > 1 else []

    def function(self, node: fx.Node, before: fx.Node) -> list[Any]:
        target, shape = node.target, _shape(before)
        name = target if isinstance(target, str) else getattr(target, "__name__", str(target))
        options = dict(node.kwargs)
        if target in _FUNCTIONS:
            return [_FUNCTIONS[target]]
        if target in _PASSED:
            return []
        if target in _FLATTENING:
            need(len(_shape(node)) == 2, f"`{name}` into several axes", "flatten all axes, or none")
            return self.flatten(before)
        if target is F.gelu:
            need(options.get("approximate", "none") == "none", "gelu with approximate", "use the exact form")
            return ["gelu"]
        if target is F.leaky_relu:
            return [{"leaky-relu": options.get("negative_slope", node.args[1] if len(node.args) > 1 else 0.01)}]
        if target is F.dropout:
            rate = options.get("p", node.args[1] if len(node.args) > 1 else 0.5)
            return [{"dropout": rate}] if rate else []
        if target in (F.max_pool2d, F.avg_pool2d):
            kind = nn.MaxPool2d if target is F.max_pool2d else nn.AvgPool2d
            known = {key: value for key, value in options.items() if key not in ("return_indices",) and value is not None}
            return modules.simple(self.layers, kind(*node.args[1:], **known), len(shape))
        if target is F.adaptive_avg_pool2d:
            return modules.simple(self.layers, nn.AdaptiveAvgPool2d(node.args[1]), len(shape))
        if target in _MEANS:
            axes = options.get("dim", node.args[1] if len(node.args) > 1 else None)
            axes = {axis % len(shape) for axis in (axes if isinstance(axes, (tuple, list)) else [axes]) if axis is not None}
            time = {2} if self.layers.channels_first else {1}
            need(axes == ({2, 3} if len(shape) == 4 else time), f"`{name}` over axes {sorted(axes)}",
                 "take the mean over height and width, or over time")
            return ["global-average-pooling"]
        if target in _SOFTMAXES:
            need(len(shape) == 2, f"`{name}` over an inner axis", "use nn.MultiheadAttention")
            return ["softmax"]
        raise Unsupported(f"`{name}`", "use modules of torch.nn, sums of two paths, relu, tanh, sigmoid, gelu, silu, pooling")


def _shape(node: Any) -> torch.Size:
    return node.meta["tensor_meta"].shape


def _before(node: fx.Node) -> list[fx.Node]:
    return [n for n in node.all_input_nodes if n.op != "get_attr"]


def _depends(node: fx.Node, other: fx.Node) -> bool:
    return node is other or any(_depends(before, other) for before in _before(node))


def _ancestors(node: fx.Node) -> list[fx.Node]:
    """The node and all before it, the latest first."""
    found, waiting = {node}, [node]
    while waiting:
        for before in _before(waiting.pop()):
            if before not in found:
                found.add(before)
                waiting.append(before)
    return [n for n in reversed(list(node.graph.nodes)) if n in found]


def _split(a: fx.Node, b: fx.Node) -> fx.Node | None:
    """The latest node that both come from."""
    others = set(_ancestors(b))
    return next((n for n in _ancestors(a) if n in others), None)


def _length(first: fx.Node, last: fx.Node) -> int:
    return len([n for n in _ancestors(last) if n not in set(_ancestors(first))])
