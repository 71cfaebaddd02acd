"""Plays Hsu et al. 2019 by Flower's baseline fedavgm in PyTorch, without anything of FedSim.

    python3 Tests/Fixtures-scripts/published_fedavgm.py ALPHA MOMENTUM SEED... [--as-coded]   # adds a line for each seed

Lines are added to Tests/Published/fedavgm.csv: the accuracy on Fashion-MNIST after 1,000 rounds of 5 of 100 clients, one
epoch, batches of 64, client step 0.003. The partition is published_fedbuff.py's with this alpha, the initial weights are
PyTorch's. `--as-coded`: as the baseline's program has it and its page does not say, the server's momentum moves the
running statistics of batch normalisation, too, and the weights of two layers decay by 0.004.

Tests/Readers/check_published_torch.py holds `Server` and `trained` to FedSim, weight by weight.
"""
import csv
import pathlib
import sys

import numpy as np
import torch

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from published_fedbuff import partition
from published_mcmahan_cnn import tensors

CLIENTS, COHORT, ROUNDS, BATCH, STEP, DECAY = 100, 5, 1000, 64, 0.003, 0.004
FILE = pathlib.Path(__file__).parent.parent / "Published" / "fedavgm.csv"


def network():
    layers = torch.nn
    return layers.Sequential(
        layers.Conv2d(1, 64, 5, padding=2), layers.ReLU(), layers.MaxPool2d(3, 2),
        layers.BatchNorm2d(64, eps=0.001, momentum=0.01),
        layers.Conv2d(64, 64, 5, padding=2), layers.ReLU(), layers.BatchNorm2d(64, eps=0.001, momentum=0.01),
        layers.MaxPool2d(3, 2), layers.Flatten(),
        layers.Linear(64 * 6 * 6, 384), layers.ReLU(), layers.Linear(384, 192), layers.ReLU(), layers.Linear(192, 10))


def state(model):
    """Weights and running statistics by name; not how many batches were seen."""
    return {name: part.clone() for name, part in model.state_dict().items() if part.is_floating_point()}


def trained(model, start, x, y, order, batch, step, decay=0.0):
    """The state after an epoch of plain SGD in this order. `decay` is of the weights of the layers of 384 and 192."""
    model.load_state_dict(start, strict=False)
    model.train()
    descent = torch.optim.SGD(model.parameters(), step)
    loss = torch.nn.CrossEntropyLoss()
    for some in np.split(order, range(batch, len(order), batch)):
        descent.zero_grad()
        value = loss(model(x[some]), y[some])
        if decay:
            value = value + decay * sum((model[place].weight**2).sum() for place in (9, 11))
        value.backward()
        descent.step()
    return state(model)


class Server:
    """FedAvgM of clients with equal shares: v = momentum·v + g, and the model moves by g + momentum·v (Nesterov)."""

    def __init__(self, start, momentum, moves_statistics):
        self.state, self.momentum, self.moves_statistics = start, momentum, moves_statistics
        self.velocity = {}

    def take(self, results):
        for name, part in self.state.items():
            mean = sum(result[name].double() for result in results) / len(results)
            if "running" in name and not self.moves_statistics:
                self.state[name] = mean.float()
                continue
            move = mean - part.double()
            self.velocity[name] = self.momentum * self.velocity.get(name, 0) + move
            self.state[name] = (part.double() + move + self.momentum * self.velocity[name]).float()


def accuracy(alpha, momentum, seed, as_coded):
    rng = np.random.default_rng([seed, round(alpha * 1000)])
    torch.manual_seed(seed)
    (x, y), (test, classes) = tensors("train"), tensors("t10k")
    # The last tenth of a client's images is not trained on.
    shards = [rng.permutation(shard)[: len(shard) * 9 // 10]
              for shard in partition(y.numpy(), rng, alpha, CLIENTS, len(y) // CLIENTS)]
    model = network()
    server = Server(state(model), momentum, as_coded)
    for _ in range(ROUNDS):
        server.take([
            trained(model, server.state, x, y, rng.permutation(shards[client]), BATCH, STEP, DECAY if as_coded else 0)
            for client in rng.choice(CLIENTS, COHORT, replace=False)])
    model.load_state_dict(server.state, strict=False)
    model.eval()
    with torch.no_grad():
        return sum(int((model(test[at : at + 500]).argmax(1) == classes[at : at + 500]).sum())
                   for at in range(0, len(test), 500)) / len(test)


def main():
    torch.set_num_threads(1)
    words = [word for word in sys.argv[1:] if word != "--as-coded"]
    alpha, momentum, as_coded = float(words[0]), float(words[1]), "--as-coded" in sys.argv
    for seed in map(int, words[2:]):
        found = accuracy(alpha, momentum, seed, as_coded)
        is_new = not FILE.exists()
        with open(FILE, "a", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if is_new:
                writer.writerow(["alpha", "momentum", "form", "seed", "accuracy"])
            writer.writerow([f"{alpha:g}", f"{momentum:g}", "as coded" if as_coded else "plain", seed, found])
        print(alpha, momentum, seed, found, flush=True)


if __name__ == "__main__":
    main()
