"""Holds published experiments to independent programs: the same draws, the same weights to 1e-4.

    python Tests/Readers/check_published.py FEDSIM

FedSim plays a short form of FedProx with stragglers, and of FedBuff and FedAsync, and records its updates: who trained
from which version, for how many epochs, and for which version. The NumPy programs of Tests/Fixtures-scripts train the
same clients in the same order, with the batch orders of FedSim's streams, by the rules as the papers have them. What
was drawn is handed over; arithmetic, weights and staleness are theirs. Of the attacks against robust aggregation, who
attacks, the noise and what dropout leaves out are handed over too.
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
import published_flanders as flanders
from partition_streams import Stream

# Attacks and aggregators of twelve clients, as FedSim's settings have them; dropout's places among the layers.
AGGREGATORS = {
    "FedAvg": "sample-weighted-mean", "median": "median", "trimmed mean": "{trimmed-mean: 0.2}",
    "Multi-Krum": "{multi-krum: {byzantine: 2, keep: 10}}", "Bulyan": "{bulyan: 2}"}
ATTACKS = {
    "GAUSS": "{gaussian: {deviation: 10, adds: true}}",
    "ALIE (as coded)": "{a-little-is-enough: {form: flanders, knows: all}}",
    "ALIE (as in Baruch et al.)": "{a-little-is-enough: {form: baruch, knows: all}}",
    "OPT": "{fang-krum: {knows: all}}", "AGR-MM": "{min-max: {knows: all}}"}
PAIRS = [
    ("FedAvg", "AGR-MM"), ("FedAvg", "ALIE (as in Baruch et al.)"), ("median", "ALIE (as coded)"),
    ("trimmed mean", "GAUSS"), ("Multi-Krum", "OPT"), ("Bulyan", "AGR-MM")]
DROPOUTS = [2, 5, 8]


def played(fedsim, folder, scenario, settings):
    """A result's columns of `updates` by name, and each layer's final weights with the bias as the last row."""
    words = [word for setting in settings for word in ("--set", setting)]
    output = f"{folder}/result.h5"
    subprocess.run(
        [fedsim, "run", ROOT / scenario, "--output", output, "--force", "--quiet", "--set", "record.updates=true",
         *words], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with h5py.File(output) as file:
        updates = {name: file["updates"][name][:] for name in file["updates"]}
        names = sorted(name.removesuffix("_weight") for name in file["model"] if name.endswith("_weight"))
        weights = [np.vstack([file[f"model/{name}_weight"][:], file[f"model/{name}_bias"][:]]) for name in names]
    return updates, weights


class Orders:
    """The batch orders of devices: a data epoch after the other."""

    def __init__(self, seed, group):
        self.seed, self.group, self.epochs = seed, group, {}

    def next(self, device, count):
        epoch = self.epochs.get(device, 0)
        self.epochs[device] = epoch + 1
        return np.array(Stream("batches", device, epoch, self.seed, self.group).shuffled(range(count)))


def check(name, ours, theirs, few=0):
    """Compares weights; `few` of them may differ by more."""
    differences = np.sort(np.abs(ours - theirs).ravel())
    distance = float(differences[len(differences) - 1 - few])
    moved = float(np.abs(ours).max())
    rest = f" but for {few} of {len(differences)}" if few else ""
    print(f"{name}: the largest weight is {moved:.3f}, the largest difference {distance:.1e}{rest}")
    if not distance <= 1e-4 or moved < 0.01:
        sys.exit(f"{name}: the programs differ by more than 1e-4")


def check_fedprox(fedsim, folder):
    """Rounds of ten clients, of which nine or five do some of their epochs, with a pull towards the start or none."""
    users = [fedprox.user(k, 1, 1)[0] for k in range(fedprox.USERS)]
    users = [(fedprox.with_ones(x), y) for x, y in users]
    for share, mu in ((0.9, 1), (0.5, 0)):
        updates, [ours] = played(fedsim, folder, "scenarios/published/fedprox-synthetic/sweep.yaml", [
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
        updates, [ours] = played(fedsim, folder, "scenarios/published/fedbuff/sweep.yaml", [
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


def kept(device, epoch):
    """What dropout leaves of a batch's units: words of the layer's stream that are above its share."""
    def mask(t, layer, shape):
        slot = 1 << 63 | DROPOUTS[layer] << 55 | epoch << 24 | t
        words = fedprox.blocks(Stream("batches", device, slot, 1, "phones"), 0, -(-shape[0] * shape[1] // 4)).ravel()
        return words[: shape[0] * shape[1]].reshape(shape) >= int(flanders.DROP * 2**32)
    return mask


class Noise:
    """Normal numbers of FedSim's streams, for attackers in turn; there the last layer's weights are by outputs."""

    def __init__(self, attackers, epoch):
        self.devices, self.epoch = np.flatnonzero(attackers), epoch

    def normal(self, mean, deviation, shape):
        streams = [Stream("attack", device, self.epoch, 1, "phones") for device in self.devices]
        rows = np.array([fedprox.normals(stream, shape[1]) for stream in streams])
        for row in rows:
            weights = flanders.layers(row)[-1][0]
            weights[:] = weights.ravel().reshape(weights.T.shape).T.copy()
        return mean + deviation * rows


def check_attacks(fedsim, folder, clients=12, attackers=2, rounds=2):
    """Rounds of all clients, of which some attack: pairs in which each attack and each aggregator is."""
    x, y = fedbuff.images("train")
    rng = np.random.default_rng(1)
    shards = flanders.partition(y, 70, rng)[:clients]
    start = flanders.initial(rng)
    np.savez(f"{folder}/clients.npz", samples=np.concatenate(shards), offsets=np.arange(clients + 1) * 70)
    np.savez(f"{folder}/perceptron.npz", **{
        f"dense{place + 1}.{name}": value for place, layer in enumerate(flanders.layers(start))
        for name, value in zip(("weight", "bias"), layer)})
    draws = [Stream("adversary", device, 0, 1, "phones").uniform() for device in range(clients)]
    attack = np.argsort(np.argsort(draws)) < attackers
    for aggregator, name in PAIRS:
        updates, ours = played(fedsim, folder, "scenarios/published/flanders/sweep.yaml", [
            f"stop.rounds={rounds}", f"fleet[0].count={clients}", f"fleet[0].adversary.share={attackers / clients}",
            f"task.data.partition={{file: {folder}/clients.npz}}", f"task.initialWeights={folder}/perceptron.npz",
            f"server.selector={{uniform: {{cohort: {clients}, minimumWaiting: {clients}}}}}",
            f"server.aggregator={AGGREGATORS[aggregator]}", f"fleet[0].adversary.attack={ATTACKS[name]}"])
        orders, w = Orders(1, "phones"), start.astype(float)
        held = dict(zip(updates["device"], updates["client"]))
        for epoch in range(rounds):
            rows = []
            for device in range(clients):
                shard = shards[held[device]][orders.next(device, 70)]
                rows.append(flanders.trained(w, x[shard, :-1].astype(float), y[shard], kept(device, epoch)) - w)
            rows = np.array(rows)
            rows[attack] = flanders.ATTACKS[name](rows, attack, Noise(attack, epoch))
            w = w + flanders.AGGREGATORS[aggregator](rows, attackers)
        # Rounding decides signs of means that are nearly 0, and which of nearly equal distances is less.
        few = 50 if name == "OPT" or aggregator == "Bulyan" else 0
        check(f"{aggregator}, {name}", np.concatenate([layer.ravel() for layer in ours]), w, few)


def main(fedsim):
    with tempfile.TemporaryDirectory() as folder:
        for name, features in (("zeros", fedprox.FEATURES), ("images", 784)):
            np.savez(f"{folder}/{name}.npz", **{
                "dense1.weight": np.zeros((features, 10), np.float32), "dense1.bias": np.zeros(10, np.float32)})
        check_fedprox(fedsim, folder)
        check_asynchronous(fedsim, folder)
        check_attacks(fedsim, folder)


if __name__ == "__main__":
    main(sys.argv[1])
