"""Holds published experiments to independent programs: the same draws, the same weights to 1e-4.

    python Tests/Readers/check_published.py FEDSIM

FedSim plays a short form of FedProx with stragglers, and of FedBuff and FedAsync, and records its updates: who trained
from which version, for how many epochs, and for which version. The NumPy programs of Tests/Fixtures-scripts train the
same clients in the same order, with the batch orders of FedSim's streams, by the rules as the papers have them. What
was drawn is handed over; arithmetic, weights and staleness are theirs.
"""
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "Tests" / "Fixtures-scripts"))
import published_fedbuff as fedbuff
import published_fedprox as fedprox
from partition_streams import Stream


def played(fedsim, folder, scenario, settings):
    """A result's columns of `updates` by name, and its final weights with the bias as the last row."""
    words = [word for setting in settings for word in ("--set", setting)]
    output = f"{folder}/result.h5"
    subprocess.run(
        [fedsim, "run", ROOT / scenario, "--output", output, "--force", "--quiet", "--set", "record.updates=true",
         *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with h5py.File(output) as file:
        updates = {name: file["updates"][name][:] for name in file["updates"]}
        weights = np.vstack([file["model/dense1_weight"][:], file["model/dense1_bias"][:]])
    return updates, weights


class Orders:
    """The batch orders of devices: a data epoch after the other."""

    def __init__(self, seed, group):
        self.seed, self.group, self.epochs = seed, group, {}

    def next(self, device, count):
        epoch = self.epochs.get(device, 0)
        self.epochs[device] = epoch + 1
        return np.array(Stream("batches", device, epoch, self.seed, self.group).shuffled(range(count)))


def check(name, ours, theirs):
    distance = float(np.abs(ours - theirs).max())
    moved = float(np.abs(ours).max())
    print(f"{name}: the largest weight is {moved:.3f}, the largest difference {distance:.1e}")
    if not distance <= 1e-4 or moved < 0.01:
        sys.exit(f"{name}: the programs differ by more than 1e-4")


def check_fedprox(fedsim, folder):
    """Rounds of ten clients, of which nine or five do some of their epochs, with a pull towards the start or none."""
    users = [fedprox.user(k, 1, 1)[0] for k in range(fedprox.USERS)]
    users = [(fedprox.with_ones(x), y) for x, y in users]
    for share, mu in ((0.9, 1), (0.5, 0)):
        updates, ours = played(fedsim, folder, "scenarios/published/fedprox-synthetic/sweep.yaml", [
            "stop.rounds=4", f"task.initialWeights={folder}/zeros.npz", f"server.stragglers.share={share}",
            f"task.training.algorithm.fedprox.mu={mu}"])
        orders = Orders(1, "phones")
        w = np.zeros((fedprox.FEATURES + 1, 1, fedprox.CLASSES))
        lengths = set()
        for version in range(1, 5):
            total, sum_ = 0, 0
            for row in np.flatnonzero(updates["version"] == version):
                device, (x, y) = int(updates["device"][row]), users[updates["client"][row]]
                epochs = int(updates["samplesProcessed"][row] // len(y))
                lengths.add(epochs)
                new = fedprox.local(w, x, y, [epochs], [mu], lambda _, d=device, n=len(y): orders.next(d, n))
                total, sum_ = total + len(y), sum_ + len(y) * new
            w = sum_ / total
        assert len(lengths) > 5, "stragglers do different numbers of epochs"
        check(f"FedProx, {share * 100:g} % stragglers, mu {mu}", ours, w[:, 0])


def check_asynchronous(fedsim, folder):
    """100 of 150 devices at once; each difference has weight (1 + staleness)^-1/2."""
    world = fedbuff.World(1, "device")
    shards = world.shards[:150]
    np.savez(f"{folder}/shards.npz", samples=np.concatenate(shards), offsets=np.arange(151) * fedbuff.SAMPLES)
    base = [f"task.data.partition={{file: {folder}/shards.npz}}", "stop.accuracy=null", "fleet=["
            "{name: phones, count: 150, background: {windows: {fixed: open}}, outbox: {capacity: 0},"
            " participation: {repeats: true, pause: 1 s}, compute: {perBatch: 1 s, spread: 1}}]",
            f"task.initialWeights={folder}/images.npz", "task.training.optimizer.sgd.learningRate=0.02"]
    for name, step, versions, settings in (
            ("fedbuff", 2, 60, ["server={policy: fedbuff, selector: {concurrent: 100}, trigger: {buffer: 10}, "
                                "optimizer: {sgd: 2}}"]),
            ("fedasync", 0.6, 400, ["server={policy: fedasync, selector: {concurrent: 100}, "
                                    "optimizer: {mixing: 0.6}}"])):
        updates, ours = played(fedsim, folder, "scenarios/published/fedbuff/sweep.yaml", [
            *base, *settings, f"stop.versions={versions}", f"record.evaluateEvery.versions={versions}"])
        orders = Orders(1, "phones")
        models = [np.zeros((785, 10))]
        rows = np.flatnonzero(updates["version"] > 0)
        news = {}
        for row in np.argsort(updates["createdAt"], kind="stable"):  # A device's trainings, in turn.
            device = int(updates["device"][row])
            news[row] = orders.next(device, fedbuff.SAMPLES)
        stale = 0
        for version in range(1, versions + 1):
            w = models[-1]
            for row in rows[updates["version"][rows] == version]:
                start = models[updates["base"][row]]
                new = world.trained(start, int(updates["client"][row]), 0.02, news[row])
                staleness = version - 1 - updates["base"][row]
                stale = max(stale, int(staleness))
                weight = (1 + staleness) ** -0.5
                change = (new - start) / fedbuff.BUFFER if name == "fedbuff" else new - models[-1]
                w = w + step * weight * change
            models.append(w)
        assert stale > 5, "updates are stale"
        check(f"{name}, staleness up to {stale}", ours, models[-1])


def main(fedsim):
    with tempfile.TemporaryDirectory() as folder:
        for name, features in (("zeros", fedprox.FEATURES), ("images", 784)):
            np.savez(f"{folder}/{name}.npz", **{
                "dense1.weight": np.zeros((features, 10), np.float32), "dense1.bias": np.zeros(10, np.float32)})
        check_fedprox(fedsim, folder)
        check_asynchronous(fedsim, folder)


if __name__ == "__main__":
    main(sys.argv[1])
