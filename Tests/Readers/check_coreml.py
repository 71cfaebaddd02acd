"""Trains Core ML models for two weeks of phones, exports them, and reads the exports with coremltools.

    python check_coreml.py FEDSIM

FEDSIM is the command; run from the root of the project. Each case is scenarios/systems/flower-coreml.yaml, as it is or
with another model and data. The export's specification has to equal the first file's but for the weights of updatable
layers, which have to be the result's, bit for bit, in Core ML's order. Prints a line a case, with exit code 1 at the first
difference.
"""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import safetensors.numpy
from coremltools.models import datatypes
from coremltools.models.neural_network import NeuralNetworkBuilder
from coremltools.models.utils import load_spec

SCENARIO = "scenarios/systems/flower-coreml.yaml"
FIXTURES = pathlib.Path("Tests/DataSetsTests/Fixtures/coreml").absolute()
# Name: shape of a sample; the tensors of each updatable layer; how the file has its weight. An image that was flattened
# with its channels first is [channels, height, width].
CASES = {
    "flower-coreml": (None, {"hidden": "dense1", "out": "dense2"}, {"hidden": (8, 5, 5)}),
    "perceptron": ((6,), {"hidden": "dense1", "out": "dense2"}, {}),
    # The normalisation between the convolutions is conv2 of the result.
    "convolutional": ((8, 7, 2), {"conv2": "conv3", "out": "dense1"}, {"out": (6, 3, 2)}),
    "lstm": ((7, 3), {"out": "dense2"}, {}),
}
BIG = """stop: 1 h
task:
  data: {source: {blobs: {classes: 4, features: 5000, train: 4, test: 4}}, partition: {iid: {clients: 1}}}
  model: {coreml: big.mlmodel}
fleet: [{name: a, count: 1}]
"""


def fedsim(command, *words):
    done = subprocess.run([command, *map(str, words)], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"fedsim {' '.join(map(str, words))}: {done.stderr}")


def network(spec):
    return getattr(spec, spec.WhichOneof("Type"))


def parameters(spec, name):
    """The weights and the biases of a layer."""
    layer = next(layer for layer in network(spec).layers if layer.name == name)
    part = getattr(layer, layer.WhichOneof("layer"))
    return part.weights, part.bias


def turned(weight, image):
    """A weight of FedSim in Core ML's order."""
    if weight.ndim == 4:  # [height][width][in][out] to [out][in][height][width]
        return weight.transpose(3, 2, 0, 1)
    if image:  # inputs are [height][width][channels], and become [channels][height][width]
        channels, height, width = image
        return weight.reshape(height, width, channels, -1).transpose(3, 2, 0, 1)
    return weight.T


def check(command, folder, name):
    shape, layers, images = CASES[name]
    model = pathlib.Path("scenarios/systems/flower-coreml.mlmodel").absolute()
    settings = ["expect=[]"]
    if shape:
        model = folder / f"{name}.mlmodel"
        # A field that nobody knows, at the end.
        model.write_bytes((FIXTURES / f"{name}.mlmodel").read_bytes() + b"\xfa\xff\x03\x05hello")
        random = np.random.default_rng(1)
        labels = np.arange(400) % 4
        samples = (random.normal(size=(400, *shape)) + labels.reshape(-1, *[1] * len(shape))).astype(np.float32)
        np.savez(folder / f"{name}.npz", x_train=samples, y_train=labels, x_test=samples[:40], y_test=labels[:40])
        settings += [f"task.model.coreml.file={model}", "task.data.partition={iid: {clients: 10}}",
                     f"task.data.source={{npz: {{path: {folder / name}.npz, classes: 4}}}}"]
    result = folder / f"{name}.h5"
    fedsim(command, "run", SCENARIO, "-q", "-o", result, *[word for text in settings for word in ("--set", text)])
    fedsim(command, "export", result, "--to", folder / "out.mlmodel", "--force", "--format", "coreml")
    fedsim(command, "export", result, "--to", folder / "out.safetensors", "--force")
    tensors = safetensors.numpy.load_file(folder / "out.safetensors")
    first, last = load_spec(str(model)), load_spec(str(folder / "out.mlmodel"))
    for layer, tensor in layers.items():
        for before, after, wanted in zip(
                parameters(first, layer), parameters(last, layer),
                (turned(tensors[f"{tensor}.weight"], images.get(layer)), tensors[f"{tensor}.bias"])):
            found = np.array(after.floatValue, dtype=np.float32)
            if not np.array_equal(found, wanted.ravel()):
                sys.exit(f"{name}: {layer} has other weights than the result")
            if np.array_equal(found, np.array(before.floatValue, dtype=np.float32)):
                sys.exit(f"{name}: {layer} was not trained")
            after.floatValue[:] = before.floatValue
    if first != last or first.SerializeToString() != last.SerializeToString():
        sys.exit(f"{name}: the specification differs in more than trained weights")
    if shape and not (folder / "out.mlmodel").read_bytes().endswith(b"\xfa\xff\x03\x05hello"):
        sys.exit(f"{name}: an unknown field is gone")
    print(f"{name}: trained, exported, and equal for coremltools")


# Started from a small process: a child's most memory begins with that of the process that it was forked from.
MEASURE = """import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
print(done.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024, done.stderr)
"""


def needed(command, folder):
    """The most memory of a command that only reads a file, in bytes, and what it says."""
    done = subprocess.run([sys.executable, "-c", MEASURE, command, "validate", "big.yaml"], cwd=folder,
                          capture_output=True, text=True, check=True)
    code, most, said = done.stdout.split(" ", 2)
    if code != "2":
        sys.exit(f"big.mlmodel: exit code {code}, {said}")
    return int(most), said


def memory(command, folder):
    """Damaged files of 80 MB need at most three times their size and 64 MiB."""
    builder = NeuralNetworkBuilder([("x", datatypes.Array(5000))], [("p", datatypes.Array(4))])
    builder.add_inner_product("wide", np.ones((4000, 5000), np.float32), np.zeros(4000, np.float32), 5000, 4000, True,
                              "x", "h")
    builder.add_inner_product("out", np.ones((4, 4000), np.float32), np.zeros(4, np.float32), 4000, 4, True, "h", "p")
    builder.make_updatable(["wide", "out"])
    whole = builder.spec.SerializeToString()
    builder.nn_spec.layers[1].innerProduct.outputChannels = 100_000
    wide = builder.spec.SerializeToString()
    builder.nn_spec.layers[1].innerProduct.outputChannels = 4
    builder.nn_spec.layers[1].innerProduct.weights.quantization.numberOfBits = 8
    quantised = builder.spec.SerializeToString()
    builder.nn_spec.layers[1].tanh.MergeFromString(b"")
    unknown = builder.spec.SerializeToString()
    (folder / "big.yaml").write_text(BIG)
    for data, word in ((whole[:-9], "at most the"), (wide, "16000 weights, expected"), (quantised, "quantised to 8 bits"),
                       (unknown, "layer 2 (out)")):
        (folder / "big.mlmodel").write_bytes(data)
        most, said = needed(command, folder)
        if word not in said:
            sys.exit(f"big.mlmodel: {word} is not said, but {said}")
        if most > 3 * len(data) + (64 << 20):
            sys.exit(f"big.mlmodel of {len(data)} bytes ({word}): {most} bytes are needed")
        print(f"big.mlmodel, {word}: {most >> 20} MiB for a file of {len(data) >> 20} MiB")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for name in CASES:
            check(sys.argv[1], pathlib.Path(folder), name)
        memory(str(pathlib.Path(sys.argv[1]).absolute()), pathlib.Path(folder))


if __name__ == "__main__":
    main()
