"""Prints Tests/FedSimTests/RobustNumbers.swift: colluders, signs and mixtures of domains, in NumPy and SciPy.

    python3 -m venv v && v/bin/pip install numpy scipy
    v/bin/python Tests/Fixtures-scripts/make_robust_numbers.py > Tests/FedSimTests/RobustNumbers.swift

A little is enough is Baruch et al. 2019, algorithm 3, with SciPy's quantile of the normal distribution and
NumPy's mean and deviation; signs with feedback are Karimireddy et al. 2019, algorithm 1, for each tensor.
Points of the simplex are found by SciPy's roots of sum(max(v - t, 0)) = mass, not by sorting. Agnostic
learning is Mohri et al. 2019 with these. All in float64; inputs are multiples of 1/64.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.stats import norm

rng = np.random.default_rng(20_251_126)


def drawn(*shape):
    return rng.integers(-128, 129, shape) / 64


# Colluders.

WORKERS = [(50, 24), (51, 24), (51, 12), (10, 2), (10, 3), (20, 5), (100, 49), (1000, 499), (3, 1), (7, 3)]


def deviations(n, m):
    s = np.floor(n / 2 + 1) - m
    return norm.ppf((n - m - s) / (n - m))


COLLUDERS, SIZE = 5, 13
BASES = drawn(COLLUDERS, SIZE)
TRAINED = drawn(COLLUDERS, SIZE)


def agreement(z, chosen):
    delta = (TRAINED - BASES)[chosen]
    return np.mean(delta, axis=0) - z * np.std(delta, axis=0)


# Signs.

TURNS, WIDTH, SPLIT = 4, 24, 10
UPDATES = drawn(TURNS, WIDTH)
UPDATES[0, 3] = 0


def signs(deltas, feedback):
    rest = np.zeros(WIDTH)
    rows = []
    for delta in deltas:
        value = delta + rest
        sent = np.empty(WIDTH)
        for part in (slice(0, SPLIT), slice(SPLIT, WIDTH)):
            sent[part] = np.linalg.norm(value[part], 1) / len(value[part]) * np.where(value[part] < 0, -1, 1)
        if feedback:
            rest = value - sent
        rows.append(sent)
    return np.array(rows), rest


# Domains.

POINTS = [
    ([0.25, 0.25, 0.25, 0.25], 1), ([0.9, 0.4, 0.1], 1), ([3.0, 1.0, 2.5, -4.0, 2.75], 1),
    ([0.2, 0.1], 0.3), ([5.0, 5.0, 1.0], 0.25), ([-7.0, -7.5, -8.25, -7.125], 1), ([1e6, 1e6 - 0.5], 1)]


def projection(point, mass):
    point = np.asarray(point)
    excess = lambda t: np.maximum(point - t, 0).sum() - mass
    root = brentq(excess, point.min() - mass - 1, point.max(), xtol=1e-14, rtol=1e-14)
    return np.maximum(point - root, 0)


SIZES = [3, 2, 4]  # nine devices in three groups
SAMPLES = np.array([3, 10, 1, 7, 4, 9, 6, 2, 5])
VERSIONS = [[0, 1, 3, 4, 6, 8], [0, 2, 5, 7], [1, 3, 4], [0, 3, 4, 5, 8]]  # the third without the last group
MODELS = drawn(len(VERSIONS), len(SAMPLES), SIZE)
ORIGINS = drawn(len(VERSIONS), len(SAMPLES), SIZE)
LOSSES = rng.integers(8, 200, (len(VERSIONS), len(SAMPLES))) / 64


def agnostic(rate, domains):
    """λ after each version, and the mean difference of each."""
    domain = np.repeat(np.arange(len(SIZES)), SIZES) if domains == "groups" else np.arange(len(SAMPLES))
    count = domain.max() + 1
    mixture = np.full(count, 1 / count)
    rows, steps = [], []
    for version, devices in enumerate(VERSIONS):
        devices = np.array(devices)
        there = np.unique(domain[devices])
        step, losses = np.zeros(SIZE), []
        for k in there:
            own = devices[domain[devices] == k]
            share = SAMPLES[own] / SAMPLES[own].sum()
            step += mixture[k] * (share @ (MODELS - ORIGINS)[version, own])
            losses.append(share @ LOSSES[version, own])
        mass = mixture[there].sum()
        steps.append(step / mass)
        mixture[there] = projection(mixture[there] + rate * np.array(losses), mass)
        rows.append(mixture.copy())
    return np.array(rows), np.array(steps)


def number(value):
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def lines(values, indent="  "):
    text, row = [], indent[:-1]
    for value in values:
        piece = f" {number(value)},"
        if len(row) + len(piece) > 97:
            text.append(row)
            row = indent[:-1]
        row += piece
    return "\n".join(text + [row])


def show(name, text, values, kind="Double"):
    print(f"\n/// {text}\nlet {name}: [{kind}] = [\n{lines(np.ravel(values))}\n]")


def main():
    print("// Printed by Tests/Fixtures-scripts/make_robust_numbers.py.")
    print("\n/// Updates, those of colluders among them, and how many deviations these go.")
    print("let littleDeviations: [(updates: Int, colluders: Int, z: Double)] = [")
    for n, m in WORKERS:
        print(f"  ({n}, {m}, {number(deviations(n, m))}),")
    print("]")
    show("colluderBases", "What five colluders began with, 13 parameters each.", BASES, "Float")
    show("colluderTrained", "What they trained.", TRAINED, "Float")
    show("agreedOfFive", "What all five send as a difference, 1.5 deviations off.",
         agreement(1.5, range(5)))
    show("agreedOfTwo", "What the first and the third send, by what seven updates of a version let pass.",
         agreement(max(0, deviations(7, 2)), [0, 2]))
    show("signUpdates", "Updates of one device, 24 parameters each, in tensors of 10 and 14.",
         UPDATES, "Float")
    rows, rest = signs(UPDATES, True)
    show("signSent", "What is sent of each, with what was left before.", rows)
    show("signRest", "What is left after the last.", rest)
    show("signAlone", "What is sent of each without that.", signs(UPDATES, False)[0])
    print("\n/// Points, the sum of the coordinates of what is nearest to them, and that.")
    print("let simplexPoints: [(point: [Double], mass: Double, nearest: [Double])] = [")
    for point, mass in POINTS:
        words = ", ".join(map(number, point)), number(mass), ", ".join(map(number, projection(point, mass)))
        print(f"  (\n    [{words[0]}], {words[1]},\n    [{words[2]}]\n  ),")
    print("]")
    show("domainSamples", "Samples of nine devices, in groups of 3, 2 and 4.", SAMPLES, "Int")
    print("\n/// Whose updates four versions are made of.\nlet domainVersions = [")
    for version in VERSIONS:
        print(f"  [{', '.join(map(str, version))}],")
    print("]")
    show("domainModels", "What each device trained for each version, 13 parameters.", MODELS, "Float")
    show("domainBases", "What each began with.", ORIGINS, "Float")
    show("domainLosses", "What that loses on each device, by version.", LOSSES)
    print("\n/// The weights of domains after each version, and the mean difference of each.")
    print("let domainCases: [(domains: String, rate: Double, mixtures: [Double], steps: [Double])] = [")
    for domains, rate in [("groups", 0), ("groups", 0.125), ("groups", 2), ("devices", 0.0625)]:
        mixtures, steps = agnostic(rate, domains)
        print(f'  (\n    "{domains}", {number(rate)},\n    [\n{lines(np.ravel(mixtures), "      ")}\n    ],')
        print(f"    [\n{lines(np.ravel(steps), '      ')}\n    ]\n  ),")
    print("]")


main()
