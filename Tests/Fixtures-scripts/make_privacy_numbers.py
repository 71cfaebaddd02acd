"""Prints Tests/FedSimTests/PrivacyNumbers.swift: epsilon by Google's dp-accounting, transforms in NumPy.

    python3 -m venv v && v/bin/pip install dp-accounting==0.6.0 numpy
    v/bin/python Tests/Fixtures-scripts/make_privacy_numbers.py > Tests/FedSimTests/PrivacyNumbers.swift

Epsilons are those of dp_accounting.rdp.RdpAccountant with its own orders; noise multipliers of its bisection.
Int8 and top-k with what is left are written in NumPy from their definitions, in float64; inputs are multiples
of 1/64. The bounds of adaptive clipping are the recursion of Andrew et al. 2021, without noise.
"""

import itertools

import dp_accounting
import numpy as np
from dp_accounting import GaussianDpEvent, PoissonSampledDpEvent, SampledWithoutReplacementDpEvent
from dp_accounting.rdp import RdpAccountant

RELATION = dp_accounting.NeighboringRelation
POPULATION = 10_000


def event(kind, rate, noise):
    gaussian = GaussianDpEvent(noise)
    if kind == "none":
        return gaussian
    if kind == "poisson":
        return PoissonSampledDpEvent(rate, gaussian)
    return SampledWithoutReplacementDpEvent(POPULATION, round(rate * POPULATION), gaussian)


def relation(kind):
    return RELATION.REPLACE_ONE if kind == "fixed" else RELATION.ADD_OR_REMOVE_ONE


def epsilon(kind, rate, noise, versions, delta):
    accountant = RdpAccountant(neighboring_relation=relation(kind))
    accountant.compose(event(kind, rate, noise), versions)
    return accountant.get_epsilon(delta)


def multiplier(kind, rate, target, versions, delta):
    return dp_accounting.calibrate_dp_mechanism(
        lambda: RdpAccountant(neighboring_relation=relation(kind)),
        lambda noise: dp_accounting.SelfComposedDpEvent(event(kind, rate, noise), versions),
        target, delta, bracket_interval=dp_accounting.ExplicitBracketInterval(0.05, 1000), tol=1e-6)


GRID = (
    [("none", 1, n, v, d) for n, (v, d) in itertools.product(
        (0.7, 1.1, 4, 20), ((1, 1e-5), (30, 1e-6), (1000, 1e-9)))]
    + [("none", 1, 60, 400, 1e-5), ("none", 1, 0.3, 3, 1e-3)]
    + [("poisson", q, n, v, d) for q, n, (v, d) in itertools.product(
        (0.001, 0.02, 0.3), (0.6, 1.1, 5), ((1, 1e-5), (1000, 1e-6)))]
    + [("fixed", q, n, v, d) for q, n, (v, d) in itertools.product(
        (0.001, 0.02, 0.3), (0.6, 1.1, 5), ((1, 1e-5), (1000, 1e-6)))])

TARGETS = [
    ("none", 1, 8, 100, 1e-5), ("poisson", 0.02, 2, 500, 1e-6), ("fixed", 0.05, 4, 200, 1e-5),
    ("none", 1, 0.5, 10, 1e-7), ("poisson", 0.2, 10, 1000, 1e-5)]

rng = np.random.default_rng(20_251_124)
SIZE, TURNS = 24, 4
SPLIT = 10  # two tensors, of 10 and 14
UPDATES = rng.integers(-128, 129, (TURNS, SIZE)) / 64


def int8(delta):
    out = np.empty_like(delta)
    for part in (slice(0, SPLIT), slice(SPLIT, SIZE)):
        scale = float(np.float32(np.abs(delta[part]).max() / 127))
        out[part] = np.clip(np.rint(delta[part] / scale), -127, 127) * scale
    return out


def top_k(deltas, k):
    memory = np.zeros(SIZE)
    rows = []
    for delta in deltas:
        value = delta + memory
        # Of equal magnitudes the first.
        chosen = np.argsort(-np.abs(value), kind="stable")[:k]
        sent = np.zeros(SIZE)
        sent[chosen] = value[chosen]
        memory = value - sent
        rows.append(sent)
    return np.array(rows), memory


def bounds(start, rate, quantile, norms):
    rows, bound = [], start
    for row in norms:
        share = np.mean([norm <= bound for norm in row])
        bound *= np.exp(-rate * (share - quantile))
        rows.append(bound)
    return rows


NORMS = rng.uniform(0, 4, (5, 8))


def number(value):
    text = repr(float(value))
    return text[:-2] if text.endswith(".0") else text


def lines(values):
    text, row = [], " "
    for value in values:
        piece = f" {number(value)},"
        if len(row) + len(piece) > 97:
            text.append(row)
            row = " "
        row += piece
    return "\n".join(text + [row])


def show(name, text, values, kind="Double"):
    print(f"\n/// {text}\nlet {name}: [{kind}] = [\n{lines(np.ravel(values))}\n]")


def main():
    print("// Printed by Tests/Fixtures-scripts/make_privacy_numbers.py.")
    print("\n/// A run of versions: what they are drawn from, the noise, how many, δ; and its ε.")
    print("struct PrivacyCase: Sendable {")
    print("  let kind: String\n  let rate: Double\n  let noise: Double\n  let versions: Int")
    print("  let delta: Double\n  let epsilon: Double\n}")
    assert len(GRID) == 50
    print("\n/// ε of 50 runs, by dp-accounting.\nlet privacyCases: [PrivacyCase] = [")
    for kind, rate, noise, versions, delta in GRID:
        print(f'  PrivacyCase(\n    kind: "{kind}", rate: {number(rate)}, noise: {number(noise)},'
              f" versions: {versions}, delta: {number(delta)},")
        print(f"    epsilon: {number(epsilon(kind, rate, noise, versions, delta))}),")
    print("]")
    print("\n/// The noise that keeps an ε, by dp-accounting.\nlet privacyTargets: [PrivacyCase] = [")
    for kind, rate, target, versions, delta in TARGETS:
        noise = multiplier(kind, rate, target, versions, delta)
        print(f'  PrivacyCase(\n    kind: "{kind}", rate: {number(rate)}, noise: {number(noise)},'
              f" versions: {versions}, delta: {number(delta)},")
        print(f"    epsilon: {number(target)}),")
    print("]")
    show("sentUpdates", "Updates of one device, 24 parameters each, in tensors of 10 and 14.",
         UPDATES, "Float")
    show("sentBytes", "The first of them in signed bytes.", int8(UPDATES[0]))
    rows, memory = top_k(UPDATES, 5)
    show("sentLargest", "The five largest of each, with what was left before.", rows)
    show("sentRest", "What is left after the last.", memory)
    show("clipNorms", "Norms of the updates of five versions, eight each.", NORMS)
    show("clipBounds", "The bounds after each: from 1, rate 0.5, for the quantile 0.75.",
         bounds(1, 0.5, 0.75, NORMS))


main()
