"""Writes PartitionNumbers.swift and StragglerNumbers.swift: partitions and stragglers of papers, in plain Python.

    python3 Tests/Fixtures-scripts/make_partition_numbers.py

It uses nothing of FedSim: streams are those of partition_streams.py, and each rule is written from its authors'
program: FedProx's generator of MNIST and its stragglers, NIID-Bench's label, quantity and feature skew.
"""
import pathlib
import sys
from math import exp, floor, sqrt

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from partition_streams import Stream

LABELS = [i * 7 % 10 for i in range(600)]
BY_CLASS = [
    Stream("partition.pool", ordinal=k).shuffled([i for i, label in enumerate(LABELS) if label == k]) for k in range(10)
]


def consecutive(clients, held, first, sigma):
    shards = [[] for _ in range(clients)]
    used = [0] * 10
    for user in range(clients):
        for j in range(held):
            k = (user + j) % 10
            shards[user] += BY_CLASS[k][used[k] : used[k] + first]
            used[k] += first
    weights = []
    for user in range(clients):
        stream = Stream("partition.client", ordinal=user)
        weights.append([exp(sigma * stream.normal()) for _ in range(held)])
    rest = [len(BY_CLASS[k]) - used[k] for k in range(10)]
    for user in range(clients):
        for j in range(held):
            k = (user + j) % 10
            total = sum(w for u in range(clients) for i, w in enumerate(weights[u]) if (u + i) % 10 == k)
            count = int(rest[k] * weights[user][j] / total)
            shards[user] += BY_CLASS[k][used[k] : used[k] + count]
            used[k] += count
    return shards


def label_skew(clients, held):
    contain = []
    for i in range(clients):
        current = [i % 10]
        others = [k for k in range(10) if k != i % 10]
        current += [others[n] for n in Stream("partition.client", ordinal=i).sample(held - 1, 9)]
        contain.append(current)
    shards = [[] for _ in range(clients)]
    for k in range(10):
        holders = [i for i in range(clients) if k in contain[i]]
        n = len(BY_CLASS[k])
        for place, i in enumerate(holders):
            shards[i] += BY_CLASS[k][place * n // len(holders) : (place + 1) * n // len(holders)]
    return shards


def quantity_skew(clients, beta, least):
    order = Stream("partition.pool").shuffled(range(len(LABELS)))
    attempt = 0
    while True:
        attempt += 1
        shares = Stream("partition.pool", slot=attempt).dirichlet(beta, clients)
        if min(shares) * len(order) >= least:
            break
    cuts, reached = [0], 0.0
    for share in shares[:-1]:
        reached += share
        cuts.append(floor(reached * len(order)))
    cuts.append(len(order))
    return [order[a:b] for a, b in zip(cuts, cuts[1:])], attempt


def noise(by_program, level, shards, width):
    """Of features that are all 0: what is added, sample by sample."""
    samples = sum(len(shard) for shard in shards)
    values = [0.0] * (samples * width)
    for i, shard in enumerate(shards):
        n = len(shards)
        deviation = level / (n - 1) * i if by_program else sqrt(level * (i + 1) / n)
        for sample in shard:
            stream = Stream("feature-noise", ordinal=i, slot=sample)
            for place in range(width):
                values[sample * width + place] = deviation * stream.normal() if deviation else 0.0
    return values


def stragglers(members, share, epochs, number):
    """FedProx: round(K·(1 − share)) members are active, the others do 1 … E epochs; 0 here: all of them."""
    stream = Stream("stragglers", slot=number)
    slow = set(stream.sample(members - round(members * (1 - share)), members))
    return [stream.below(epochs) + 1 if place in slow else 0 for place in range(members)]


def listed(name, comment, kind, items):
    lines, line = [], " "
    for item in items:
        text = f" {item},"
        if len(line + text) > 98:
            lines.append(line)
            line = " "
        line += text
    lines.append(line)
    return f"/// {comment}\nlet {name}: [{kind}] = [\n" + "\n".join(lines) + "\n]\n"


def flat(shards):
    return [len(shard) for shard in shards] + [sample for shard in shards for sample in shard]


quantity, attempts = quantity_skew(15, 0.6, 10)
assert 1 < attempts <= 1000, "the rule of the minimum is at work"
shards = [[3, 0], [1, 4], [2]]
head = "// Written by Tests/Fixtures-scripts/make_partition_numbers.py.\n\n"
parts = [
    listed("consecutiveNumbers", "Sizes of 20 clients, then their samples.", "Int32", flat(consecutive(20, 2, 5, 2.0))),
    listed("labelSkewNumbers", "Sizes of 20 clients, then their samples.", "Int32", flat(label_skew(20, 3))),
    listed("quantitySkewNumbers", "Sizes of 15 clients, then their samples.", "Int32", flat(quantity)),
]
for name, by_program in [("noiseByProgram", True), ("noiseByPaper", False)]:
    values = [f"{value:.9g}" for value in noise(by_program, 0.5, shards, 2)]
    parts.append(listed(name, "Noise on five samples of two features.", "Float", values))
(HERE.parent / "LearningTests/PartitionNumbers.swift").write_text(head + "\n".join(parts))
rounds = [stragglers(5, 0.5, 4, number) for number in (1, 2, 3)]
(HERE.parent / "FedSimTests/StragglerNumbers.swift").write_text(
    head + listed("stragglerEpochs", "Epochs of five members in three rounds; 0: all.", "Int", sum(rounds, [])))
