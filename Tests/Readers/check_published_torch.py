"""Holds the published experiment of FedAvgM to a PyTorch program: the same draws, the same weights.

    python Tests/Readers/check_published_torch.py FEDSIM

FedSim plays three rounds of six clients of scenarios/published/fedavgm, without momentum of the server and with it.
published_fedavgm.py trains the same clients from the same initial weights, in the orders of FedSim's streams; network,
batch normalisation, steps and the server are PyTorch's and its own. No weight may differ by more than 1e-4, or by more
than a hundredth of the most that a weight of its tensor has moved: rounding decides which side of a ReLU a value is on.
"""
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import torch

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Fixtures-scripts"))
sys.path.insert(0, str(ROOT / "Tests" / "Readers"))
import published_fedavgm as fedavgm
from check_published import Orders

CLIENTS, SIZE, BATCH, STEP, ROUNDS = 6, 70, 32, 0.003, 3
# Places of PyTorch's layers, and their tensors' names there and here.
PARAMETERS = [("weight", "weight"), ("bias", "bias")]
STATISTICS = [("weight", "scale"), ("bias", "shift"), ("running_mean", "mean"), ("running_var", "variance")]
LAYERS = {0: ("conv1", PARAMETERS), 3: ("norm1", STATISTICS), 4: ("conv2", PARAMETERS), 6: ("norm2", STATISTICS),
          9: ("dense1", PARAMETERS), 11: ("dense2", PARAMETERS), 13: ("dense3", PARAMETERS)}


def ours(place, array):
    """A weight with FedSim's axes: filters are [height][width][in][out], matrices [in][out], images channels last."""
    if array.ndim == 4:
        return array.transpose(2, 3, 1, 0)
    if place == 9 and array.ndim == 2:
        array = array.reshape(-1, 64, 6, 6).transpose(0, 2, 3, 1).reshape(len(array), -1)
    return array.T if array.ndim == 2 else array


def arrays(state):
    return {f"{name}.{here}": ours(place, state[f"{place}.{there}"].numpy())
            for place, (name, tensors) in LAYERS.items() for there, here in tensors}


def compare(momentum, found, expected, start):
    if found.keys() != expected.keys():
        sys.exit(f"FedAvgM: the tensors are {sorted(found)}, expected {sorted(expected)}")
    largest, share = 0.0, 0.0
    for name, values in expected.items():
        difference, moved = (float(np.abs(values - other[name]).max()) for other in (found, start))
        largest, share = max(largest, difference), max(share, difference / moved)
        if not difference <= min(1e-4, moved / 100):
            sys.exit(f"FedAvgM, momentum {momentum}: {name} differs by {difference:.1e}, and moved by {moved:.1e}")
    print(f"FedAvgM, momentum {momentum}: the largest difference is {largest:.1e}, and {100 * share:.2f} % of what moved")


def main(fedsim):
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x, y = fedavgm.tensors("train")
    chosen = np.random.default_rng(1).permutation(len(y))[: CLIENTS * SIZE].reshape(CLIENTS, SIZE)
    model = fedavgm.network()
    start = fedavgm.state(model)
    with tempfile.TemporaryDirectory() as folder:
        np.savez(f"{folder}/clients.npz", samples=chosen.ravel(), offsets=np.arange(CLIENTS + 1) * SIZE)
        np.savez(f"{folder}/start.npz", **arrays(start))
        for momentum in (0, 0.97):
            settings = [
                f"stop.rounds={ROUNDS}", "fleet[0].count=6", f"task.data.partition={{file: {folder}/clients.npz}}",
                "task.data.validationFraction=0", f"task.initialWeights={folder}/start.npz", "record.updates=true",
                f"task.training.batchSize={BATCH}", f"task.training.optimizer.sgd={STEP}",
                "server.selector={uniform: {cohort: 6, minimumWaiting: 6}}",
                f"server.optimizer.momentum.momentum={momentum}"]
            subprocess.run(
                [fedsim, "run", ROOT / "scenarios/published/fedavgm/sweep.yaml", "--output", f"{folder}/result.h5",
                 "--force", "--quiet", *(word for setting in settings for word in ("--set", setting))],
                check=True, stdout=subprocess.DEVNULL)
            with h5py.File(f"{folder}/result.h5") as file:
                found = {name.replace("_", ".", 1): file["model"][name][:] for name in file["model"] if "_axis" not in name}
                held = dict(zip(file["updates/device"][:], file["updates/client"][:]))
            orders, server = Orders(1, "phones"), fedavgm.Server(dict(start), momentum, False)
            for _ in range(ROUNDS):
                server.take([
                    fedavgm.trained(model, server.state, x, y, chosen[held[device]][orders.next(device, SIZE)], BATCH, STEP)
                    for device in range(CLIENTS)])
            compare(momentum, found, arrays(server.state), arrays(start))


if __name__ == "__main__":
    main(sys.argv[1])
