"""Makes Tests/RunsTests/Fixtures/torch: rounds of federated learning in PyTorch, in float64.

Run from the root of the project, with numpy and torch (2.15 was used):
  python3 Tests/Fixtures-scripts/make_torch_rounds.py [CASE...]
For each case NAME.yaml is a scenario; NAME.npz has its data, partition, cohorts and batch orders;
NAME-initial.npz the weights that it begins with; NAME-final.npz the weights that PyTorch ends with,
and `trainingLoss`, `centralLoss` and `centralAccuracy` (of numbers `centralRMSE`) of every version. Layers, losses, optimisers
and clipping are PyTorch's own; only shapes are brought from PyTorch's order into that of the files.
"""

import itertools
import json
import math
import pathlib
import sys

import numpy as np
import torch
from torch.nn import functional as F

FOLDER = pathlib.Path(__file__).parent.parent / "RunsTests" / "Fixtures" / "torch"
CLIENTS, ROUNDS, CLASSES, SIZES = 4, 3, 3, [7, 12, 1, 9]
PADDING, RARE = 0, 1  # Of tokens as targets: neither learned nor scored; not scored.
COHORTS = [[0, 1, 2, 3], [1, 3, -1, -1], [0, 2, 3, -1]]
ACTIVATIONS = {
    "identity": lambda x: x, "relu": torch.relu, "leaky-relu": lambda x: F.leaky_relu(x, 0.01),
    "tanh": torch.tanh, "sigmoid": torch.sigmoid, "gelu": F.gelu, "silu": F.silu}
STEMS = {"dense": "dense", "convolution": "conv", "convolution-1d": "conv", "embedding": "embedding", "lstm": "lstm",
         "gru": "gru", "group-normalisation": "norm", "layer-normalisation": "norm",
         "batch-normalisation": "norm", "positions": "positions", "adapter": "lora", "attention": "attention"}


def zeros(extent, layer):
    """Zeros before and behind an axis; of an odd number one more is behind."""
    if layer["padding"] == "valid":
        return 0, 0
    if layer["padding"] != "same":
        return layer["padding"], layer["padding"]
    stride = layer["stride"]
    total = max(0, (math.ceil(extent / stride) - 1) * stride + layer["size"] - extent)
    return total // 2, total - total // 2


class Model:
    """A list of layers (kind, settings) over channels-last samples."""

    training = False  # Whether batch normalisation takes the batch's statistics, and moves its own.

    def __init__(self, shape, layers, loss):
        if loss == "cross-entropy" and layers[-1][0] == "softmax":
            layers = layers[:-1]  # It is part of the loss.
        self.loss, self.shapes, self.frozen, self.numbers = loss, {}, set(), {}
        self.layers, _ = self.place(layers, torch.zeros(2, *shape, dtype=torch.float64))

    def place(self, layers, x):
        """Layers with the names of their tensors, or with their paths; and what they make of x."""
        placed = []
        for kind, settings in layers:
            if kind == "residual":
                main, y = self.place(settings["layers"], x)
                shortcut, _ = self.place(settings["shortcut"], x)
                placed.append((kind, (main, shortcut), []))
                x = y
                continue
            if kind == "lora":
                # A frozen dense layer, and two matrices beside it.
                base = {"units": settings["units"], "eachPlace": settings["eachPlace"],
                        "isUpdatable": False}
                main, y = self.place([("dense", base)], x)
                shortcut, _ = self.place([("adapter", settings)], x)
                activation, x = self.place([(settings["activation"], {})], y)
                placed += [("residual", (main, shortcut), [])] + activation
                continue
            if kind == "tied-embedding":
                table, y = self.place([("embedding", settings)], x)
                inner, _ = self.place(settings["layers"], y)
                placed.append((kind, (table, inner), table[0][2]))
                x = torch.zeros(*y.shape[:2], settings["count"], dtype=torch.float64)
                continue
            names, stem = [], STEMS.get(kind)
            if stem:
                self.numbers[stem] = self.numbers.get(stem, 0) + 1
                for name, extents in self.tensors(kind, settings, x.shape[1:]):
                    names.append(f"{stem}{self.numbers[stem]}.{name}")
                    self.shapes[names[-1]] = extents
                    if settings.get("isUpdatable") is False or name in ("mean", "variance"):
                        self.frozen.add(names[-1])
            placed.append((kind, settings, names))
            zero = [torch.zeros(self.shapes[n], dtype=torch.float64) for n in names]
            x = self.layer(kind, settings, zero, x)
        return placed, x

    @staticmethod
    def tensors(kind, s, shape):
        if kind == "dense":
            inputs = shape[-1] if s.get("eachPlace") else math.prod(shape)
            return [("weight", (inputs, s["units"])), ("bias", (s["units"],))]
        if kind == "adapter":
            inputs = shape[-1] if s["eachPlace"] else math.prod(shape)
            return [("down", (inputs, s["rank"])), ("up", (s["rank"], s["units"]))]
        if kind == "positions":
            return [("weight", tuple(shape))]
        if kind == "attention":
            width = shape[-1]
            return [("inputWeight", (width, 3 * width)), ("inputBias", (3 * width,)),
                    ("outputWeight", (width, width)), ("outputBias", (width,))]
        if kind == "convolution":
            size, channels = s["size"], (shape[2] if len(shape) > 2 else 1) // s["groups"]
            bias = [("bias", (s["filters"],))] if s.get("bias", True) else []
            return [("weight", (size, size, channels, s["filters"]))] + bias
        if kind == "convolution-1d":
            return [("weight", (s["size"], shape[-1] // s["groups"], s["filters"])), ("bias", (s["filters"],))]
        if kind == "embedding":
            return [("weight", (s["count"], s["width"]))]
        if kind in ("group-normalisation", "layer-normalisation"):
            return [("scale", (shape[-1],)), ("shift", (shape[-1],))]
        if kind == "batch-normalisation":
            return [(name, (shape[-1],)) for name in ("scale", "shift", "mean", "variance")]
        gates = (4 if kind == "lstm" and not s.get("cifg") else 3) * s["units"]
        features, narrow = shape[1] if len(shape) > 1 else 1, s.get("projection")
        weights = [("inputWeight", (features, gates)), ("recurrentWeight", (narrow or s["units"], gates))]
        if narrow:
            return weights + [("bias", (gates,)), ("projection", (s["units"], narrow))]
        biases = ["bias"] if kind == "lstm" else ["inputBias", "recurrentBias"]
        return weights + [(bias, (gates,)) for bias in biases]

    @staticmethod
    def coupled(s, p, x):
        """A memory whose input gate is 1 less its forget gate, as Greff et al. write it; seen through a projection."""
        n, outputs = s["units"], []
        seen, cell = x.new_zeros(len(x), s["projection"]), x.new_zeros(len(x), n)
        for t in range(x.shape[1]):
            z = x[:, t] @ p[0] + seen @ p[1] + p[2]
            forget = z[:, :n].sigmoid()
            cell = forget * cell + (1 - forget) * z[:, n:2 * n].tanh()
            seen = z[:, 2 * n:].sigmoid() * cell.tanh() @ p[3]
            outputs.append(seen)
        return torch.stack(outputs, 1) if s["returnsSequence"] else seen

    @staticmethod
    def layer(kind, s, p, x):
        if s.get("cifg"):
            return Model.coupled(s, p, x)
        if kind == "dense":
            x = x if s.get("eachPlace") else x.flatten(1)
            return ACTIVATIONS[s.get("activation", "identity")](F.linear(x, p[0].T, p[1]))
        if kind == "global-average-pooling":
            return x.flatten(1, -2).mean(1)
        if kind == "layer-normalisation":
            return F.layer_norm(x, x.shape[-1:], p[0], p[1], 1e-5)
        if kind == "adapter":
            x = x if s["eachPlace"] else x.flatten(1)
            return s["alpha"] / s["rank"] * (x @ p[0] @ p[1])
        if kind == "positions":
            return x + p[0]
        if kind == "attention":
            mask = torch.full((x.shape[1],) * 2, -math.inf, dtype=x.dtype).triu(1)
            return F.multi_head_attention_forward(
                *[x.transpose(0, 1)] * 3, x.shape[2], s["heads"], p[0].T, p[1], None, None, False,
                0.0, p[2].T, p[3], need_weights=False,
                attn_mask=mask if s["causal"] else None)[0].transpose(0, 1)
        if kind == "convolution":
            x = x.unsqueeze(3) if x.ndim == 3 else x
            x = F.pad(x.permute(0, 3, 1, 2), (*zeros(x.shape[2], s), *zeros(x.shape[1], s)))
            x = F.conv2d(x.contiguous(), p[0].permute(3, 2, 0, 1).contiguous(),
                         p[1] if len(p) > 1 else None,
                         stride=s["stride"], groups=s["groups"])
            return ACTIVATIONS[s.get("activation", "identity")](x.permute(0, 2, 3, 1))
        if kind == "convolution-1d":
            x = F.pad(x.transpose(1, 2), zeros(x.shape[1], s))
            x = F.conv1d(x, p[0].permute(2, 1, 0).contiguous(), p[1], stride=s["stride"], groups=s["groups"])
            return ACTIVATIONS[s["activation"]](x.transpose(1, 2))
        if kind in ("max-pooling", "average-pooling") and x.ndim == 3:
            pool = F.max_pool1d if kind == "max-pooling" else F.avg_pool1d
            return pool(x.transpose(1, 2), s["size"], s["stride"]).transpose(1, 2)
        if kind in ("max-pooling", "average-pooling"):
            pool = F.max_pool2d if kind == "max-pooling" else F.avg_pool2d
            return pool(x.permute(0, 3, 1, 2), s["size"], s["stride"]).permute(0, 2, 3, 1)
        if kind == "embedding":
            return F.embedding(x.long(), p[0])
        if kind == "group-normalisation":
            return F.group_norm(x.movedim(-1, 1), s["groups"], p[0], p[1], 1e-5).movedim(1, -1)
        if kind == "batch-normalisation":
            training = Model.training and s["isUpdatable"]
            if training and x.numel() == x.shape[-1]:
                return 0 * x * p[0] + p[1]  # PyTorch refuses a batch of one place.
            return F.batch_norm(x.movedim(-1, 1), p[2], p[3], p[0], p[1], training, s["momentum"],
                                s["epsilon"]).movedim(1, -1)
        if kind in ("lstm", "gru"):
            x = x.unsqueeze(2) if x.ndim == 2 else x
            h = x.new_zeros(1, len(x), s["units"])
            weights = [p[0].T.contiguous(), p[1].T.contiguous()]
            rest = (True, 1, 0.0, True, False, True)
            if kind == "lstm":  # PyTorch has two biases, which are added.
                weights += [p[2], torch.zeros_like(p[2])]
                states, last, _ = torch._VF.lstm(x, (h, h), weights, *rest)
            else:
                states, last = torch._VF.gru(x, h, weights + p[2:], *rest)
            return states if s.get("returnsSequence") else last[0]
        if kind == "softmax":
            return torch.softmax(x, 1)
        if kind == "leaky-relu":
            return F.leaky_relu(x, s["slope"])
        return x.flatten(1) if kind == "flatten" else ACTIVATIONS[kind](x)

    def __call__(self, parameters, x, layers=None):
        for kind, settings, names in self.layers if layers is None else layers:
            if kind == "residual":
                main, shortcut = settings
                x = self(parameters, x, main) + self(parameters, x, shortcut)
            elif kind == "tied-embedding":
                table, inner = settings
                x = self(parameters, self(parameters, x, table), inner) @ parameters[names[0]].T
            else:
                x = self.layer(kind, settings, [parameters[n] for n in names], x)
        return x

    def losses(self, outputs, labels):
        """The loss of each sample, or of each position that has a label."""
        if labels.ndim == 2 and self.loss == "cross-entropy":
            losses = F.cross_entropy(outputs.flatten(0, 1), labels.flatten(), ignore_index=PADDING,
                                     reduction="none")
            return losses[labels.flatten() != PADDING]
        if labels.ndim == 2:
            return ((outputs - labels) ** 2).mean(1)
        if self.loss == "cross-entropy":
            return F.cross_entropy(outputs, labels, reduction="none")
        return ((outputs - F.one_hot(labels, CLASSES)) ** 2).mean(1)


def factor(schedule, step, count):
    for kind, value in schedule.items():
        if kind == "step":
            return value["factor"] ** (step // value["every"])
        if kind == "exponential":
            return value**step
        return value + (1 - value) * (1 + math.cos(math.pi * step / count)) / 2
    return 1


def train(model, start, x, y, shard, orders, training, first_epoch):
    """A device's training: its parameters, sum of losses, samples processed, epochs begun."""
    parameters = {n: p.clone().requires_grad_(n not in model.frozen) for n, p in start.items()}
    trained = [p for p in parameters.values() if p.requires_grad]
    (rule, s), = training["optimizer"].items()
    if rule == "sgd":
        optimizer = torch.optim.SGD(
            trained, s["learningRate"], s.get("momentum", 0), weight_decay=s.get("weightDecay", 0),
            nesterov=s.get("nesterov", False))
    else:
        optimizer = torch.optim.Adam(
            trained, s["learningRate"], (s["beta1"], s["beta2"]), s["epsilon"],
            s.get("weightDecay", 0))
    size = training["batchSize"]
    batches = math.ceil(len(shard) / size)
    count = training.get("steps") or training["epochs"] * batches
    total, processed = 0.0, 0
    for step in range(count):
        order = orders[(first_epoch + step // batches) % len(orders)]
        rows = shard[order[step % batches * size:][:size]]
        optimizer.param_groups[0]["lr"] = (
            s["learningRate"] * factor(training.get("schedule", {}), step, count))
        optimizer.zero_grad()
        Model.training = True
        losses = model.losses(model(parameters, x[rows]), y[rows])
        Model.training = False
        losses.mean().backward()
        batch = losses.sum() if y.ndim == 1 else losses.mean() * len(rows)
        total, processed = total + batch.item(), processed + len(rows)
        if "clipNorm" in training:
            norm = torch.sqrt(sum((p.grad**2).sum() for p in trained))
            for p in trained:
                p.grad *= min(1.0, training["clipNorm"] / norm)
        if "clipValue" in training:
            torch.nn.utils.clip_grad_value_(trained, training["clipValue"])
        optimizer.step()
    seen = min(len(shard), count * size)
    ends = {n: p.detach() for n, p in parameters.items()}
    return ends, total, processed, math.ceil(count / batches), seen


def case(name, seed, shape, layers, training, payload="weights", aggregator="sample-weighted-mean",
         tokens=None, isBytes=False, targets=None):
    if len(sys.argv) > 1 and name not in sys.argv[1:]:
        return
    draw = np.random.RandomState(seed)
    model = Model(shape, layers, training.get("loss", "cross-entropy"))

    def samples(count):
        if tokens:
            return draw.randint(0, tokens, (count, *shape)).astype(np.float32)
        if isBytes:
            return draw.randint(0, 256, (count, *shape)).astype(np.uint8)
        return (np.round(4 * draw.normal(size=(count, *shape))) / 4).astype(np.float32)

    def answers(count):
        if targets == "values":
            return draw.normal(size=(count, layers[-1][1]["units"])).astype(np.float32)
        if targets:
            labels = draw.randint(1, tokens, (count, *shape))
            labels[np.arange(shape[0]) >= draw.randint(1, shape[0] + 1, (count, 1))] = PADDING
            return labels
        return draw.randint(0, CLASSES, count)

    arrays = {"x_train": samples(30), "y_train": answers(30),
              "x_test": samples(20), "y_test": answers(20),
              "samples": draw.permutation(30)[:sum(SIZES)].astype(np.int32),
              "offsets": np.concatenate([[0], np.cumsum(SIZES)]).astype(np.int32),
              "cohorts": np.array(COHORTS, np.int32)}
    orders = np.full((CLIENTS, 4, max(SIZES)), -1, np.int32)
    for client, epoch in itertools.product(range(CLIENTS), range(4)):
        orders[client, epoch, :SIZES[client]] = draw.permutation(SIZES[client])
    np.savez_compressed(FOLDER / f"{name}.npz", orders=orders, **arrays)
    initial = {}
    for tensor, extents in model.shapes.items():
        spread = 1 / math.sqrt(math.prod(extents[:-1]) if len(extents) > 1 else 4)
        values = draw.normal(size=extents) * spread + (1 if tensor.endswith("scale") else 0)
        if tensor.endswith("variance"):
            values = 0.5 + np.abs(values)
        initial[tensor] = values.astype(np.float32)
    np.savez_compressed(FOLDER / f"{name}-initial.npz", **initial)

    def tensor(array):
        array = array / 255 if array.dtype == np.uint8 else array
        return torch.tensor(np.asarray(array, np.float64))

    x, y = tensor(arrays["x_train"]), torch.tensor(arrays["y_train"])
    tests, wanted = tensor(arrays["x_test"]), torch.tensor(arrays["y_test"])
    current = {n: torch.tensor(v.astype(np.float64)) for n, v in initial.items()}
    shards = np.split(arrays["samples"].astype(np.int64), np.cumsum(SIZES)[:-1])
    epochs, losses, central = [0] * CLIENTS, [math.nan], []

    def evaluate():
        with torch.no_grad():
            outputs = model(current, tests)
        loss = model.losses(outputs, wanted).mean().item()
        if targets == "values":
            central.append((loss, math.sqrt(loss)))
            return
        best = outputs.topk(2).values
        assert (best[..., 0] - best[..., 1]).min() > 1e-4, f"{name}: an answer hangs on a rounding"
        isScored = wanted > RARE if targets else wanted >= 0
        central.append((loss, (outputs.argmax(-1) == wanted)[isScored].double().mean().item()))

    evaluate()
    for cohort in COHORTS:
        ends, weights, total, processed = [], [], 0.0, 0
        for client in sorted(c for c in cohort if c >= 0):
            lists = orders[client, :, :SIZES[client]].astype(np.int64)
            end, loss, count, begun, seen = train(
                model, current, x, y, shards[client], lists, training, epochs[client])
            epochs[client] += begun
            ends.append(end)
            weights.append(seen if aggregator == "sample-weighted-mean" else 1)
            total, processed = total + loss, processed + count
        current = {n: sum(w * end[n] for w, end in zip(weights, ends)) / sum(weights)
                   for n in current}
        losses.append(total / processed)
        evaluate()
    np.savez_compressed(
        FOLDER / f"{name}-final.npz", trainingLoss=np.array(losses),
        centralLoss=np.array([loss for loss, _ in central]),
        **{"centralRMSE" if targets == "values" else "centralAccuracy": np.array(
            [score for _, score in central])},
        **{n: p.numpy() for n, p in current.items()})
    def written(layers):
        nested = lambda s: {key: written(value) if isinstance(value, list) else value
                            for key, value in s.items()}
        return [{kind: nested(settings)} if settings else kind for kind, settings in layers]

    source = {"path": f"{name}.npz", **({} if targets == "values" else {"classes": tokens if targets else CLASSES}),
              **({"targets": targets} if targets else {})}
    (FOLDER / f"{name}.yaml").write_text(f"""\
# Written by Tests/Fixtures-scripts/make_torch_rounds.py.
seed: 1
stop: {{rounds: {ROUNDS}, after: 1 d}}
task:
  data:
    source: {{npz: {written_source(source)}}}
    partition: {{file: {name}.npz}}
  model:
    layers:
""" + "".join(f"      - {json.dumps(layer)}\n" for layer in written(layers)) + f"""\
  initialWeights: {name}-initial.npz
  training: {json.dumps({**training, "orders": f"{name}.npz"})}
fleet:
  - name: clients
    count: {CLIENTS}
    background: {{windows: {{fixed: open}}}}
    participation: {{repeats: true, pause: 1 s}}
    compute: {{perBatch: 100 ms}}
server:
  payload: {payload}
  aggregator: {aggregator}
  selector: {{scripted: {name}.npz}}
  trigger: {{cohort-complete: {{}}}}
record:
  evaluateEvery: {{versions: 1}}
""")


def written_source(settings):
    """Settings in YAML's short form."""
    parts = (f"{key}: {written_source(value) if isinstance(value, dict) else value}"
             for key, value in settings.items())
    return "{" + ", ".join(parts) + "}"


def sgd(rate, **more):
    return {"sgd": {"learningRate": rate, **more}}


def adam(rate, **more):
    return {"adam": {"learningRate": rate, "beta1": 0.8, "beta2": 0.95, "epsilon": 1e-4, **more}}


def dense(units, activation="identity", **more):
    return ("dense", {"units": units, "activation": activation, **more})


def convolution(filters, size, stride=1, padding="valid", groups=1, activation="identity", **more):
    return ("convolution", {"filters": filters, "size": size, "stride": stride, "padding": padding,
                            "groups": groups, "activation": activation, **more})


def over_time(*arguments, **settings):
    return ("convolution-1d", convolution(*arguments, **settings)[1])


def recurrent(kind, units, returns=False, **more):
    return (kind, {"units": units, "returnsSequence": returns, **more})


def residual(layers, shortcut=()):
    return ("residual", {"layers": list(layers), "shortcut": list(shortcut)})


def normalised(groups):
    return ("group-normalisation", {"groups": groups})


def batch_normalised(epsilon=1e-5, momentum=0.1, **more):
    return ("batch-normalisation", {"epsilon": epsilon, "momentum": momentum, "isUpdatable": True, **more})


def transformer(width, heads, hidden, causal):
    """A block with the normalisation before attention and dense layers (Xiong et al. 2020)."""
    return [residual([("layer-normalisation", {}),
                      ("attention", {"heads": heads, "causal": causal})]),
            residual([("layer-normalisation", {}), dense(hidden, "gelu", eachPlace=True),
                      dense(width, eachPlace=True)])]


def pooling(kind, size, stride):
    return (f"{kind}-pooling", {"size": size, "stride": stride})


def main():
    FOLDER.mkdir(exist_ok=True)
    mse = "mean-squared-error"
    case("dense", 1, [5, 3], [
        dense(9, "tanh"), dense(20, "leaky-relu"), ("group-normalisation", {"groups": 4}),
        dense(17, "sigmoid"), dense(CLASSES)],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.2, momentum=0.9, nesterov=True)})
    case("narrow", 2, [40], [dense(33, "relu"), dense(16, "relu"), dense(CLASSES)],
         {"epochs": 3, "batchSize": 5, "optimizer": sgd(0.3)}, isBytes=True)
    case("frozen", 3, [12], [
        dense(10, "relu", isUpdatable=False), dense(8, "tanh"), dense(6, isUpdatable=False),
        ("leaky-relu", {"slope": 0.3}), dense(CLASSES), ("softmax", {})],
        {"steps": 5, "batchSize": 2, "optimizer": sgd(0.3, momentum=0.5, weightDecay=0.05),
         "schedule": {"step": {"every": 2, "factor": 0.5}}}, "delta", "uniform-mean")
    case("convolution", 4, [9, 8, 4], [
        convolution(6, 3, 2, 1, 2, "leaky-relu"), convolution(4, 2, 1, "same"),
        pooling("max", 2, 2), ("relu", {}), ("flatten", {}), dense(CLASSES)],
        {"epochs": 2, "batchSize": 3, "optimizer": sgd(0.2, weightDecay=0.01), "clipNorm": 0.5})
    case("image", 5, [7, 6], [
        convolution(6, 4, 3, "same", activation="tanh"), pooling("average", 2, 1),
        ("group-normalisation", {"groups": 3}), dense(CLASSES), ("softmax", {})],
        {"epochs": 2, "batchSize": 4, "loss": mse, "optimizer": adam(0.02, weightDecay=0.02)},
        isBytes=True)
    case("minimal", 6, [8, 7, 16], [
        convolution(16, 3, padding="same", activation="tanh"), pooling("max", 2, 2),
        dense(CLASSES)], {"epochs": 1, "batchSize": 4, "optimizer": sgd(0.1)})
    case("lstm", 7, [6, 3], [
        recurrent("lstm", 7, True), ("group-normalisation", {"groups": 7}), recurrent("gru", 5),
        dense(CLASSES)],
        {"epochs": 2, "batchSize": 4, "optimizer": adam(0.02), "clipValue": 0.02,
         "schedule": {"cosine": 0.1}}, "delta")
    case("gru", 8, [5], [
        recurrent("gru", 6, True), recurrent("lstm", 9, isUpdatable=False), ("tanh", {}),
        dense(CLASSES, "sigmoid")],
        {"steps": 7, "batchSize": 3, "loss": mse, "optimizer": sgd(0.5, momentum=0.8),
         "schedule": {"exponential": 0.9}})
    case("text", 9, [6], [
        ("embedding", {"count": 11, "width": 5}), recurrent("lstm", 8), dense(CLASSES)],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.4), "schedule": {"cosine": 0.2}},
        tokens=11)
    case("residual", 10, [8, 8, 3], [
        convolution(4, 3, padding=1, bias=False), normalised(2), ("relu", {}),
        residual([convolution(4, 3, padding=1), normalised(2), ("relu", {}),
                  convolution(4, 3, padding=1), normalised(2)]), ("relu", {}),
        residual([convolution(8, 3, 2, 1), normalised(4), ("silu", {}),
                  convolution(8, 3, padding=1), normalised(4)],
                 [convolution(8, 1, 2), normalised(4)]), ("relu", {}),
        ("global-average-pooling", {}), dense(CLASSES)],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.1, momentum=0.9, weightDecay=0.001)})
    case("time", 13, [12, 4], [
        over_time(6, 3, padding="same", activation="relu"), pooling("max", 2, 2),
        over_time(4, 2, 2, 1, 2), pooling("average", 2, 1), dense(CLASSES)],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.2, momentum=0.5)})
    lora = {"rank": 2, "alpha": 3.0, "eachPlace": False, "activation": "identity"}
    case("lora", 12, [5, 4], [
        dense(6, "tanh", eachPlace=True, isUpdatable=False),
        ("lora", {**lora, "units": 7, "eachPlace": True, "activation": "relu"}),
        ("lora", {**lora, "units": CLASSES})],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.2, momentum=0.5)}, "delta")
    case("transformer", 11, [6], [
        ("embedding", {"count": 11, "width": 8}), ("positions", {}),
        *transformer(8, 2, 13, True), *transformer(8, 4, 13, False), ("layer-normalisation", {}),
        ("global-average-pooling", {}), dense(CLASSES)],
        {"epochs": 2, "batchSize": 4, "optimizer": adam(0.01)}, tokens=11)
    batch = batch_normalised()
    case("batch", 14, [8, 8, 3], [
        convolution(4, 3, padding=1, bias=False), batch, ("relu", {}),
        residual([convolution(4, 3, padding=1, bias=False), batch, ("relu", {}),
                  convolution(4, 3, padding=1, bias=False), batch]), ("relu", {}),
        residual([convolution(8, 3, 2, 1, bias=False), batch_normalised(1e-3, 0.3), ("silu", {}),
                  convolution(8, 3, padding=1), batch],
                 [convolution(8, 1, 2), batch_normalised(isUpdatable=False)]), ("relu", {}),
        ("global-average-pooling", {}), dense(CLASSES)],
        {"steps": 20, "batchSize": 4, "optimizer": sgd(0.02, momentum=0.9, weightDecay=0.001),
         "clipNorm": 0.5})
    case("batch-plain", 14, [5, 4], [
        batch, dense(6, "tanh", eachPlace=True), batch_normalised(momentum=0.5), ("silu", {}), dense(12, "tanh"),
        batch_normalised(0.1), dense(CLASSES)],
        {"steps": 20, "batchSize": 4, "optimizer": sgd(0.05)}, "delta", "uniform-mean")
    learned = {"kind": "tokens", "padding": PADDING, "outOfVocabulary": RARE}
    case("language", 14, [6], [
        ("tied-embedding", {"count": 11, "width": 8, "layers": [
            ("positions", {}), residual([("attention", {"heads": 2, "causal": True})]),
            ("layer-normalisation", {}),
            residual([dense(13, "relu", eachPlace=True), dense(8, eachPlace=True)]),
            ("layer-normalisation", {})]})],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.2, momentum=0.5)}, tokens=11,
        targets=learned)
    case("keyboard", 15, [5], [
        ("tied-embedding", {"count": 9, "width": 5, "layers": [
            recurrent("lstm", 12, True, cifg=True, projection=5)]})],
        {"epochs": 2, "batchSize": 4, "optimizer": sgd(0.4, momentum=0.5), "clipNorm": 1}, "delta",
        tokens=9, targets=learned)
    case("regression", 16, [7], [dense(9, "tanh"), dense(2)],
         {"epochs": 2, "batchSize": 4, "loss": mse, "optimizer": adam(0.02), "schedule": {"cosine": 0.2}},
         targets="values")


main()
