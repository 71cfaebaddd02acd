"""Turns PyTorch modules into models of scenarios.

    python -m pyfedsim.from_torch my_models:net --shape 1,28,28 -o net

writes `net.yaml`, the section `model` with its layers, and `net.npz`, the weights for `task.initialWeights`. In Python:

    converted = pyfedsim.from_torch.convert(net, (1, 28, 28))
    converted.layers      # the list for task.model.layers
    converted.tensors     # NumPy arrays under FedSim's names, in FedSim's order of axes

    net.load_state_dict(pyfedsim.from_torch.state_dict(net, "result.safetensors", (1, 28, 28)))

brings the model of a result back, as `fedsim export` wrote it.

The module is traced by torch.fx. What has no layer in FedSim is refused by name (`Unsupported`), with what to use instead.
Images are [channels, height, width] in PyTorch and [height, width, channels] in FedSim: filters, and the weights of the
first dense layer behind an image, are brought into that order. The module is converted as it is for training, in
evaluation mode: dropout becomes a dropout layer.
"""
from ._convert import Converted, convert
from ._modules import Unsupported
from ._state import state_dict

__all__ = ["Converted", "Unsupported", "convert", "state_dict"]
