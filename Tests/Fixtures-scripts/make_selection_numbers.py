"""Prints Tests/FedSimTests/SelectionNumbers.swift: what selectors and REFL's mean come to.

    python3 -m venv v && v/bin/pip install numpy
    v/bin/python Tests/Fixtures-scripts/make_selection_numbers.py > Tests/FedSimTests/SelectionNumbers.swift

Oort's scores are those of its authors' program (`getTopK` and `get_norm` of oort.py), written anew in
NumPy over devices that have all reported. Chances of weighted draws are found by going through all
orders. REFL's mean is written from the paper, with the deviation as it stands there; its updates are
those of make_policy_numbers.py. All in float64.
"""

from itertools import permutations
from math import log, sqrt

import numpy as np

# Oort: twelve devices that have reported.
SAMPLES = [30, 12, 55, 7, 41, 23, 60, 18, 3, 36, 27, 49]
# Losses of two samples each, whose squares have the roots of means 0.5, 2.25, 1, 3.5, …, and other means.
SPREADS = [(0.2, 1.4), (1.0, 1.0), (7 / 13, 17 / 13)]
LOSSES = [
    [size * part for part in SPREADS[place % 3]]
    for place, size in enumerate([0.5, 2.25, 1, 3.5, 0.125, 1.75, 0.0625, 2, 4.5, 0.75, 1.25, 1.5])
]
DURATIONS = [40, 95, 130, 22, 61, 77, 210, 35, 58, 88, 143, 66]
ROUNDS = [1, 6, 3, 2, 5, 4, 1, 6, 2, 3, 5, 4]


def oort(now, clip_bound, preferred, penalty):
    rewards = [sqrt(sum(l**2 for l in losses) / len(losses)) * n for n, losses in zip(SAMPLES, LOSSES)]
    ordered = sorted(rewards)
    clip = ordered[min(int(len(ordered) * clip_bound), len(ordered) - 1)]
    least = min(ordered) * 0.999
    span = max(max(ordered) - least, 1e-4)
    scores = []
    for reward, duration, stamp in zip(rewards, DURATIONS, ROUNDS):
        score = (min(reward, clip) - least) / span + sqrt(0.1 * log(now) / stamp)
        if preferred is not None and duration > preferred:
            score *= (preferred / max(1e-4, duration)) ** penalty
        scores.append(score)
    return scores


def quantile(share):
    ordered = sorted(DURATIONS)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]


# Weighted draws without replacement.
WEIGHTS = [5, 1, 3, 0, 2]


def inclusion(count):
    total = [0.0] * len(WEIGHTS)
    for order in permutations(range(len(WEIGHTS)), count):
        chance, left = 1.0, sum(WEIGHTS)
        for place in order:
            chance *= WEIGHTS[place] / left
            left -= WEIGHTS[place]
            if left == 0:
                break
        for place in order:
            total[place] += chance
    return total


# REFL's mean of the updates of make_policy_numbers.py; the n-th is n versions old.
COUNT, SIZE = 7, 13
rng = np.random.default_rng(20_251_122)
BASES = rng.integers(-128, 129, (COUNT, SIZE)) / 64
UPDATES = rng.integers(-128, 129, (COUNT, SIZE)) / 64
UPDATES[5] += 4


def refl(beta, staleness, values):
    differences = UPDATES - BASES
    fresh = [i for i in range(COUNT) if staleness[i] == 0]
    late = [i for i in range(COUNT) if staleness[i] > 0]
    mean = np.mean(differences[fresh], axis=0)
    n = len(fresh)
    deviation = {
        i: np.linalg.norm((differences[i] + n * mean) / (n + 1) - mean) ** 2 / np.linalg.norm(mean) ** 2
        for i in late
    }
    most = max(deviation.values())
    weights = np.ones(COUNT)
    for i in late:
        weights[i] = (1 - beta) / (staleness[i] + 1) + beta * (1 - np.exp(-deviation[i] / most))
    return (weights / weights.sum()) @ values


def rows(values, digits=12):
    words = [f"{v:.{digits}g}" for v in np.asarray(values, float).ravel()]
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > 98:
            lines.append(line)
            line = "   "
        line += " " + word + ","
    return "\n".join(lines + [line])


def constant(name, kind, values, comment):
    print(f"\n/// {comment}\nlet {name}: [{kind}] = [\n{rows(values)}\n]")


def table(name, comment, entries):
    print(f"\n/// {comment}\nlet {name}: [(name: String, values: [Double])] = [")
    for key, values in entries.items():
        print(f'  (\n    "{key}",\n    [\n  {rows(values)}\n    ]\n  ),')
    print("]")


ages = list(range(COUNT))
# The sixth update, which is far from all others, is fresh here.
MIXED = [1, 0, 2, 0, 3, 0, 4]
print("// Printed by Tests/Fixtures-scripts/make_selection_numbers.py.")
constant("oortSamples", "Int", SAMPLES, "Samples of twelve devices.")
constant("oortLosses", "Double", LOSSES, "The losses of two samples each.")
constant("oortDurations", "Int64", DURATIONS, "How many seconds each took.")
constant("oortRounds", "Int", ROUNDS, "In which round.")
table("oortScores", "Their scores.", {
    "round 7": oort(7, 0.95, None, 2),
    "round 7, cut at the median": oort(7, 0.5, None, 2),
    "round 20, 0.3 of durations": oort(20, 0.95, quantile(0.3), 2),
    "round 20, 0.75 of durations, exponent 0.5": oort(20, 0.95, quantile(0.75), 0.5),
})
constant("drawnWeights", "Double", WEIGHTS, "Weights of places.")
table("drawnChances", "The chance of each to be among the first drawn.", {
    "1": inclusion(1), "2": inclusion(2), "3": inclusion(3)})
constant("reflAges", "Int", MIXED, "How many versions old updates are where three are fresh, one of them far from all.")
table("reflMeans", "REFL's mean of the updates of `PolicyNumbers.swift`, of age n or as in `reflAges`.", {
    "differences 0.35": refl(0.35, ages, UPDATES - BASES),
    "differences 0": refl(0, ages, UPDATES - BASES),
    "differences 1": refl(1, ages, UPDATES - BASES),
    "weights 0.35": refl(0.35, ages, UPDATES),
    "differences 0.35, three fresh": refl(0.35, MIXED, UPDATES - BASES),
})
