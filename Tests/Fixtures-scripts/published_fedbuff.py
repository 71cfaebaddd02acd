"""Plays FedBuff, FedAsync and synchronous rounds with over-selection in NumPy, without anything of FedSim.

    python3 Tests/Fixtures-scripts/published_fedbuff.py grid SEED...    # adds the grid of steps, a line for each run
    python3 Tests/Fixtures-scripts/published_fedbuff.py chosen SEED...  # adds the steps that the grid chose
    python3 Tests/Fixtures-scripts/published_fedbuff.py > scenarios/published/fedbuff/published.csv

The lines are added to Tests/Published/fedbuff.csv, where an empty number of updates says that the most were too few.

Written from the papers: Nguyen et al. 2022 (algorithm 1), Xie et al. 2020 (algorithm 1), Bonawitz et al. 2019 (rounds
that select 1.3 times their goal and end with it). 1,500 clients with 40 images of Fashion-MNIST each, mixes of classes
by Dirichlet(1); softmax regression from zeros; one epoch, batches of 8; 1,000 clients train at once. A training takes a
half-normal time, of its client (`device`), or drawn for each training (`training`) as in the authors' program FLSim.
Who is idle is asked at random. Counted are updates that were aggregated until an evaluation, one per 100 of them (per
round), has the target. All draws are NumPy's own. Fashion-MNIST is in $FEDSIM_DATA/fashion-mnist or
/usr/share/datasets.
"""
import gzip
import heapq
import os
import pathlib
import sys

import numpy as np

CLIENTS, SAMPLES, BATCH, AT_ONCE, BUFFER, OVER = 1500, 40, 8, 1000, 10, 1.3
# A client's step and the server's: those that the grid chose.
CHOSEN = {"fedbuff": (0.08, 3.0), "fedasync": (0.32, 0.6), "synchronous": (0.32, 1.0)}
GRID = {
    "fedbuff": [(c, s) for c in (0.32, 0.08, 0.02, 0.005) for s in (1.0, 3.0, 10.0)],
    "fedasync": [(c, s) for c in (1.28, 0.32, 0.08) for s in (0.2, 0.6, 1.0)],
    "synchronous": [(c, s) for c in (1.28, 0.32, 0.08) for s in (1.0, 3.0)]}
MOST = {"fedbuff": 40_000, "fedasync": 100_000, "synchronous": 150_000}
FILE = pathlib.Path(__file__).parent.parent / "Published" / "fedbuff.csv"
# A row of published.csv: its name, the variant of the sweep, the method, and over which other it is.
ROWS = [
    ("updates, FedBuff", 0, "fedbuff", None), ("updates, FedAsync", 1, "fedasync", None),
    ("updates, synchronous", 2, "synchronous", None), ("synchronous over FedBuff", 2, "synchronous", "fedbuff"),
    ("FedAsync over FedBuff", 1, "fedasync", "fedbuff")]


def images(name):
    folders = [os.environ.get("FEDSIM_DATA", "") + "/fashion-mnist", "/usr/share/datasets/fashion-mnist"]
    folder = next(pathlib.Path(f) for f in folders if pathlib.Path(f).is_dir())
    x = np.frombuffer(gzip.open(folder / f"{name}-images-idx3-ubyte.gz").read(), np.uint8, offset=16)
    y = np.frombuffer(gzip.open(folder / f"{name}-labels-idx1-ubyte.gz").read(), np.uint8, offset=8)
    x = x.reshape(len(y), -1).astype(np.float32) / 255
    return np.hstack([x, np.ones((len(y), 1), np.float32)]), y.astype(int)


def partition(labels, rng, alpha=1, clients=CLIENTS, samples=SAMPLES):
    """Equal sizes, each client's mix of classes from Dirichlet(alpha), without replacement."""
    left = [list(rng.permutation(np.flatnonzero(labels == c))) for c in range(10)]
    shards = []
    for _ in range(clients):
        mix = rng.dirichlet(np.full(10, float(alpha)))
        shard = []
        while len(shard) < samples:
            there = np.array([len(of) > 0 for of in left])
            shares = np.where(there, mix + 1e-12, 0)
            label = rng.choice(10, p=shares / shares.sum())
            shard.append(left[label].pop())
        shards.append(np.array(shard))
    return shards


class World:
    def __init__(self, seed, times):
        self.rng = np.random.default_rng(seed)
        (self.x, self.y), self.test = images("train"), images("t10k")
        self.shards = partition(self.y, self.rng)
        self.one_hot = np.eye(10, dtype=np.float32)
        self.speeds = np.abs(self.rng.normal(size=CLIENTS))
        self.times = times

    def duration(self, client):
        return self.speeds[client] if self.times == "device" else abs(self.rng.normal())

    def trained(self, start, client, step, order=None):
        """SGD over a client's samples; `order`: of their places, absent: drawn."""
        w = start.copy()
        order = self.rng.permutation(SAMPLES) if order is None else order
        shard = self.shards[client][order]
        x, y = self.x[shard], self.one_hot[self.y[shard]]
        for at in range(0, SAMPLES, BATCH):
            p = x[at : at + BATCH] @ w
            p = np.exp(p - p.max(1, keepdims=True))
            p /= p.sum(1, keepdims=True)
            w -= step / BATCH * (x[at : at + BATCH].T @ (p - y[at : at + BATCH]))
        return w

    def accuracy(self, w):
        x, y = self.test
        return float(((x @ w).argmax(1) == y).mean())


def asynchronous(world, method, client_step, server_step, target, most):
    """Updates until the target; `fedbuff` applies a buffer of differences, `fedasync` mixes each model in."""
    w = np.zeros((785, 10), np.float32)
    rng, version, count, buffer = world.rng, 0, 0, []
    idle = list(rng.permutation(CLIENTS))
    running = []
    for _ in range(AT_ONCE):
        client = idle.pop()
        heapq.heappush(running, (world.duration(client), client, version, w))
    while count < most:
        now, client, base, start = heapq.heappop(running)
        new = world.trained(start, client, client_step)
        weight = np.float32((1 + version - base) ** -0.5)
        if method == "fedbuff":
            buffer.append(weight * (new - start))
            if len(buffer) == BUFFER:
                w = w + np.float32(server_step / BUFFER) * sum(buffer)
                version, buffer = version + 1, []
        else:
            w = w + np.float32(server_step) * weight * (new - w)
            version += 1
        count += 1
        place = rng.integers(len(idle))
        idle[place], client = client, idle[place]
        heapq.heappush(running, (now + world.duration(client), client, version, w))
        if count % 100 == 0 and world.accuracy(w) >= target:
            return count
    return None


def synchronous(world, client_step, server_step, target, most):
    """Rounds of 1,000 of 1,300 that were asked; the last ones of a round train to their end, in vain."""
    w = np.zeros((785, 10), np.float32)
    free, now, count = np.zeros(CLIENTS), 0.0, 0
    asked = round(AT_ONCE * OVER)
    while count < most:
        now = max(now, np.sort(free)[asked - 1])
        cohort = world.rng.permutation(np.flatnonzero(free <= now))[:asked]
        ends = now + np.array([world.duration(client) for client in cohort])
        free[cohort] = ends
        first = np.argsort(ends, kind="stable")[:AT_ONCE]
        now = ends[first[-1]]
        w = w + np.float32(server_step / AT_ONCE) * sum(world.trained(w, client, client_step) - w
                                                       for client in cohort[first])
        count += AT_ONCE
        if world.accuracy(w) >= target:
            return count
    return None


def play(world, method, steps, target, most):
    if method == "synchronous":
        return synchronous(world, *steps, target, most)
    return asynchronous(world, method, *steps, target, most)


def add(mode, seeds, target=0.8):
    """Plays the seeds and adds a line for each run to the file."""
    steps = GRID if mode == "grid" else {method: [pair] for method, pair in CHOSEN.items()}
    for times in ("device", "training") if mode == "chosen" else ("device",):
        for seed in seeds:
            for method, pairs in steps.items():
                for pair in pairs:
                    found = play(World(seed, times), method, pair, target, MOST[method])
                    with open(FILE, "a", encoding="utf-8") as file:
                        print(mode, times, method, *pair, target, seed, found or "", sep=",", file=file)


def table():
    """published.csv: this program's means over seeds, and the paper's two ratios."""
    updates = {}
    for line in FILE.read_text(encoding="utf-8").splitlines()[1:]:
        mode, times, method, _, _, _, seed, found = line.split(",")
        if (mode, times) == ("chosen", "device"):
            updates[method, seed] = float(found)
    seeds = sorted({seed for _, seed in updates})
    print("row,where,metric,published,deviation,source")
    for name, variant, method, over in ROWS:
        values = [updates[method, seed] / (updates[over, seed] if over else 1) for seed in seeds]
        where = f"variant={variant} over variant=0" if over else f"variant={variant}"
        print(f'"{name} (NumPy)",{where},aggregatedUpdates,{np.mean(values):.6g},{np.std(values, ddof=1):.4g},'
              f"NumPy program of {len(seeds)} seeds")
    for name, variant, ratio in (("synchronous over FedBuff (paper)", 2, 3.3), ("FedAsync over FedBuff (paper)", 1, 2.5)):
        print(f'"{name}",variant={variant} over variant=0,aggregatedUpdates,{ratio},,abstract')


if __name__ == "__main__":
    if sys.argv[2:]:
        add(sys.argv[1], [int(seed) for seed in sys.argv[2:]])
    else:
        table()
