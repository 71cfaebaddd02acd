"""Makes Tests/DataSetsTests/Fixtures/coreml: Core ML models as coremltools writes them, and what they give.

Run from the root of the project, with numpy and coremltools (9.0 was used):
  python3 Tests/Fixtures-scripts/make_coreml_models.py [--scenario]
For each case NAME.mlmodel is the model; NAME-data.npz has samples in FedSim's order (an image is [height, width,
channels]) and `logits`, what the network gives for them before a softmax at the end, worked out here with NumPy in
float64 in Core ML's order (an image is [channels, height, width]). With --scenario, scenarios/systems/flower-coreml.mlmodel
is made, too.
"""

import pathlib
import sys

import numpy as np
from coremltools.models import datatypes
from coremltools.models.neural_network import AdamParams, NeuralNetworkBuilder, SgdParams
from coremltools.models.utils import save_spec

ROOT = pathlib.Path(__file__).parent.parent.parent
FOLDER = ROOT / "Tests" / "DataSetsTests" / "Fixtures" / "coreml"
random = np.random.default_rng(23)


def weights(*shape):
    return (random.normal(size=shape) * 0.5).astype(np.float32)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


class Model:
    """A builder beside what each of its layers computes for one sample in float64."""

    def __init__(self, shape, classes, mode=None, features=None):
        self.builder = NeuralNetworkBuilder([("x", features or datatypes.Array(*shape))],
                                            [("p", None if mode else datatypes.Array(classes))],
                                            mode=mode)
        self.steps, self.blob, self.count = [], "x", 0

    def names(self, last=False):
        given, self.count = self.blob, self.count + 1
        self.blob = "p" if last else f"b{self.count}"
        return {"input_name": given, "output_name": self.blob}

    def dense(self, name, inputs, outputs):
        w, b = weights(outputs, inputs), weights(outputs)
        self.builder.add_inner_product(name, w, b, inputs, outputs, True, **self.names())
        self.steps.append(lambda x: x @ w.astype(float).T + b)
        return self

    def convolution(self, name, channels, filters, size=3, stride=1, same=False, padding=0, groups=1, bias=True):
        # The builder takes [height][width][kernel channels][filters] and writes [filters][kernel channels][height][width].
        w, b = weights(size, size, channels // groups, filters), weights(filters)
        self.builder.add_convolution(
            name, channels // groups, filters, size, size, stride, stride, "same" if same else "valid", groups, w,
            b if bias else None, bias, padding_top=padding, padding_bottom=padding, padding_left=padding,
            padding_right=padding, **self.names())

        def run(x):
            height, width = x.shape[1:]
            if same:
                edges = []
                for extent in (height, width):
                    total = max(0, (-(-extent // stride) - 1) * stride + size - extent)
                    edges.append((total // 2, total - total // 2))
            else:
                edges = [(padding, padding)] * 2
            x = np.pad(x, [(0, 0)] + edges)
            rows, columns = ((extent - size) // stride + 1 for extent in x.shape[1:])
            out = np.zeros((filters, rows, columns))
            part, many = channels // groups, filters // groups
            for f in range(filters):
                first = f // many * part
                for r in range(rows):
                    for c in range(columns):
                        window = x[first:first + part, r * stride:r * stride + size, c * stride:c * stride + size]
                        out[f, r, c] = (window * w[:, :, :, f].transpose(2, 0, 1)).sum() + (b[f] if bias else 0)
            return out
        self.steps.append(run)
        return self

    def pooling(self, name, size=2, stride=2, kind="MAX", everywhere=False):
        self.builder.add_pooling(name, size, size, stride, stride, kind, "VALID", is_global=everywhere,
                                 **self.names())
        best = np.max if kind == "MAX" else np.mean

        def run(x):
            if everywhere:
                return best(x, axis=(1, 2))
            rows, columns = ((extent - size) // stride + 1 for extent in x.shape[1:])
            return np.array([[[best(plane[r * stride:r * stride + size, c * stride:c * stride + size])
                               for c in range(columns)] for r in range(rows)] for plane in x])
        self.steps.append(run)
        return self

    def batchnorm(self, name, channels):
        gamma, beta, mean = weights(channels), weights(channels), weights(channels)
        variance = np.abs(weights(channels)) + np.float32(0.1)
        self.builder.add_batchnorm(name, channels, gamma, beta, mean, variance, epsilon=1e-3, **self.names())
        self.steps.append(lambda x: (gamma[:, None, None] * (x - mean[:, None, None])
                                     / np.sqrt(variance.astype(float) + np.float32(1e-3))[:, None, None]
                                     + beta[:, None, None]))
        return self

    def activation(self, name, kind, parameters=None):
        self.builder.add_activation(name, kind, params=parameters, **self.names())
        self.steps.append({"RELU": lambda x: np.maximum(x, 0), "TANH": np.tanh, "SIGMOID": sigmoid,
                           "LEAKYRELU": lambda x: np.where(x > 0, x, np.float32((parameters or [0])[0]) * x)}[kind])
        return self

    def flatten(self, name, mode=0):
        self.builder.add_flatten(name, mode, **self.names())
        self.steps.append(lambda x: (x if mode == 0 else x.transpose(1, 2, 0)).reshape(-1))
        return self

    def reshape(self, name, shape):
        self.builder.add_reshape(name, target_shape=shape, mode=0, **self.names())
        self.steps.append(lambda x: x.reshape(shape))
        return self

    def embedding(self, name, count, width):
        w = weights(width, count)
        self.builder.add_embedding(name, w, None, count, width, False, **self.names())
        self.steps.append(lambda x: w.astype(float).T[x.astype(int)])
        return self

    def lstm(self, name, inputs, units, everything=False):
        wx = [weights(units, inputs) for _ in range(4)]  # i, f, o, g as the builder has them
        wh = [weights(units, units) for _ in range(4)]
        b = [weights(units) for _ in range(4)]
        names = self.names()
        self.builder.add_unilstm(name, wh, wx, b, units, inputs, [names["input_name"]], [names["output_name"]],
                                 output_all=everything)

        def run(x):
            h, c, all_h = np.zeros(units), np.zeros(units), []
            for step in x:
                i, f, o, g = (wx[k].astype(float) @ step + wh[k] @ h + b[k] for k in range(4))
                c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
                h = sigmoid(o) * np.tanh(c)
                all_h.append(h)
            return np.array(all_h) if everything else h
        self.steps.append(run)
        return self

    def gru(self, name, inputs, units, everything=False):
        wx = [weights(units, inputs) for _ in range(3)]  # z, r, o
        wh = [weights(units, units) for _ in range(3)]
        b = [weights(units) for _ in range(3)]
        names = self.names()
        self.builder.add_gru(name, wh, wx, b, units, inputs, [names["input_name"]], [names["output_name"]],
                             inner_activation="SIGMOID", output_all=everything)

        def run(x):
            h, all_h = np.zeros(units), []
            for step in x:
                z, r = (sigmoid(wx[k].astype(float) @ step + wh[k] @ h + b[k]) for k in range(2))
                o = np.tanh(wx[2].astype(float) @ step + wh[2] @ (r * h) + b[2])
                h = (1 - z) * o + z * h
                all_h.append(h)
            return np.array(all_h) if everything else h
        self.steps.append(run)
        return self

    def softmax(self, name="softmax"):
        self.builder.add_softmax(name, **self.names(last=True))
        return self

    def logits(self, sample):
        for step in self.steps:
            sample = step(sample)
        return sample


def update(model, names, optimizer, epochs=None, loss="p", squared=False):
    builder = model.builder
    builder.make_updatable(names)
    if squared:
        builder.set_mean_squared_error_loss("loss", (loss, datatypes.Array(4)))
    else:
        builder.set_categorical_cross_entropy_loss("loss", loss)
    if isinstance(optimizer, SgdParams):
        builder.set_sgd_optimizer(optimizer)
    else:
        builder.set_adam_optimizer(optimizer)
    if epochs:
        builder.set_epochs(epochs)
    return model


def perceptron():
    m = Model([6], 4, mode="classifier").dense("hidden", 6, 5).activation("relu", "RELU").dense("out", 5, 4).softmax()
    m.builder.set_class_labels(["a", "b", "c", "d"], predicted_feature_name="label", prediction_blob="p")
    return update(m, ["hidden", "out"], SgdParams(lr=0.05, batch=8, momentum=0.9), 3)


def convolutional():
    m = (Model([2, 8, 7], 4).convolution("conv1", 2, 4, same=True).batchnorm("norm1", 4).activation("relu1", "RELU")
         .pooling("pool1").convolution("conv2", 4, 6, 2).activation("tanh2", "TANH").flatten("flat")
         .activation("leaky", "LEAKYRELU", [0.125]).dense("out", 36, 4).softmax())
    return update(m, ["conv2", "out"], AdamParams(lr=0.002, batch=4, beta1=0.8, beta2=0.99, eps=1e-6), 2)


def strided():
    m = (Model([16 * 3 * 3], 4).reshape("image", (4, 6, 6)).convolution("conv1", 4, 8, stride=2, padding=1, groups=2)
         .activation("sigmoid", "SIGMOID").convolution("conv2", 8, 8, 1, groups=8, bias=False).flatten("flat", 1)
         .dense("middle", 72, 5).activation("relu", "RELU").dense("out", 5, 4))
    m.softmax()
    return update(m, ["conv2", "out"], SgdParams(lr=0.01, batch=5), squared=True)


def pooled():
    m = (Model([1, 6, 6], 4).convolution("conv1", 1, 5).pooling("mean", 2, 1, "AVERAGE").pooling(
        "all", kind="AVERAGE", everywhere=True).flatten("flat").dense("out", 5, 4).softmax())
    return update(m, ["conv1", "out"], SgdParams(lr=0.01, batch=5))


def lstm():
    m = Model([3], 4).dense("each", 3, 4).lstm("memory", 4, 5).dense("out", 5, 4).softmax()
    return update(m, ["out"], AdamParams(lr=0.01, batch=10), 1)


def gated():
    """Its GRU is marked as updatable, which coremltools would not do."""
    m = Model([3], 4).gru("memory", 3, 5).dense("out", 5, 4).softmax()
    update(m, ["out"], AdamParams(lr=0.01, batch=10), 1)
    layer = m.builder.spec.neuralNetwork.layers[0]
    layer.isUpdatable = True
    for field in layer.gru.DESCRIPTOR.fields:
        if field.message_type is not None and field.message_type.name == "WeightParams":
            getattr(layer.gru, field.name).isUpdatable = True
    return m


def words():
    m = (Model([1], 4).embedding("words", 11, 3).lstm("first", 3, 4, everything=True).lstm("second", 4, 3)
         .dense("out", 3, 4).softmax())
    return update(m, ["out"], AdamParams(lr=0.01, batch=10), 1)


def halve(spec):
    """The embedding of `words` with 16-bit floats."""
    w = spec.neuralNetwork.layers[0].embedding.weights
    half = np.array(w.floatValue, dtype=np.float32).astype(np.float16)
    del w.floatValue[:]
    w.float16Value = half.tobytes()
    return half


CASES = {"perceptron": perceptron, "convolutional": convolutional, "strided": strided, "pooled": pooled, "lstm": lstm,
         "words": words, "gated": gated}


def samples(name, count=6):
    if name == "perceptron":
        return random.normal(size=(count, 6)), lambda x: x
    if name == "convolutional":
        return random.normal(size=(count, 8, 7, 2)), lambda x: x.transpose(2, 0, 1)
    if name == "strided":
        return random.normal(size=(count, 6, 6, 4)), lambda x: x.transpose(2, 0, 1).reshape(-1)
    if name == "pooled":
        return random.normal(size=(count, 6, 6)), lambda x: x[None]
    if name in ("lstm", "gated"):
        return random.normal(size=(count, 7, 3)), lambda x: x
    return random.integers(0, 11, size=(count, 5)).astype(float), lambda x: x


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in CASES.items():
        model = make()
        spec = model.builder.spec
        if name == "words":
            half = halve(spec).astype(float).reshape(3, 11)
            model.steps[0] = lambda x: half.T[x.astype(int)]
        given, turned = samples(name)
        given = given.astype(np.float32)
        logits = np.array([model.logits(turned(sample.astype(float))) for sample in given])
        if name == "strided":  # Its loss is not the cross-entropy, so the softmax is a layer.
            logits = np.array([softmax(row) for row in logits])
        save_spec(spec, str(FOLDER / f"{name}.mlmodel"))
        labels = np.arange(len(given)) % 4
        np.savez_compressed(FOLDER / f"{name}-data.npz", x_train=given, y_train=labels, x_test=given, y_test=labels,
                            logits=logits)
        print(name, (FOLDER / f"{name}.mlmodel").stat().st_size, "bytes")
    if "--scenario" in sys.argv:
        scenario()


def scenario():
    """The network of scenarios/systems/flower-coreml.yaml: the iPhone example's kind, small."""
    m = (Model([1, 28, 28], 10, features=datatypes.Array(1, 28, 28))
         .convolution("conv1", 1, 8).activation("relu1", "RELU").pooling("pool1")
         .convolution("conv2", 8, 8).activation("relu2", "RELU").pooling("pool2").flatten("flat")
         .dense("hidden", 200, 32).activation("relu3", "RELU").dense("out", 32, 10).softmax())
    for layer, scale in (("conv1", 1 / 3), ("conv2", 1 / 8.5), ("hidden", 1 / 14), ("out", 1 / 5.7)):
        spec = m.builder.layer_specs[layer]
        part = getattr(spec, spec.WhichOneof("layer"))
        part.weights.floatValue[:] = [np.float32(2 * scale) * v for v in part.weights.floatValue]
        part.bias.floatValue[:] = [0.0] * len(part.bias.floatValue)
    update(m, ["hidden", "out"], AdamParams(lr=0.002, batch=16), 5)
    path = ROOT / "scenarios" / "systems" / "flower-coreml.mlmodel"
    save_spec(m.builder.spec, str(path))
    print(path.name, path.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
