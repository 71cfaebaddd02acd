"""Prints Tests/FedSimTests/PolicyNumbers.swift: aggregators and server optimizers by others' programs.

    python3 -m venv v && v/bin/pip install flwr==1.41.0 numpy scipy
    v/bin/python Tests/Fixtures-scripts/make_policy_numbers.py > Tests/FedSimTests/PolicyNumbers.swift

Median, trimmed mean, Krum, multi-Krum, Bulyan and all server optimizers are Flower's own; the geometric
median is the minimum that SciPy finds, and RFA's steps written in NumPy from the paper; q-FedAvg and the
norm bound are NumPy from their papers. All in float64. Inputs are multiples of 1/64, exact in any format.
"""

import numpy as np
from flwr.common import Code, FitRes, Status, ndarrays_to_parameters, parameters_to_ndarrays
from flwr.server.strategy import FedAdagrad, FedAdam, FedAvgM, FedYogi
from flwr.server.strategy.aggregate import (
    aggregate_bulyan, aggregate_krum, aggregate_median, aggregate_trimmed_avg)
from scipy.optimize import minimize

COUNT, SIZE = 7, 13
rng = np.random.default_rng(20_251_122)


def drawn(*shape):
    return rng.integers(-128, 129, shape) / 64


BASES = drawn(COUNT, SIZE)
UPDATES = drawn(COUNT, SIZE)
UPDATES[5] += 4  # one that lies
SAMPLES = np.array([3, 10, 1, 7, 4, 9, 6])
LOSSES = np.array([0.5, 2.25, 1.0, 0.125, 3.5, 0.75, 1.5])
STEPS = drawn(3, SIZE) / 4  # differences of three versions
START = drawn(SIZE)


def results(values):
    return [([value], 1) for value in values]


def trimmed(values, share):
    return aggregate_trimmed_avg(results(values), share)[0]


def krum(values, f, keep=0):
    return aggregate_krum(results(values), f, keep)[0]


def bulyan(values, f):
    return aggregate_bulyan(results(values), f, aggregate_krum, to_keep=0)[0]


def distances(point, values):
    return np.linalg.norm(values - point, axis=1)


def geometric(values, weights):
    a = weights / weights.sum()
    found = minimize(
        lambda v: a @ distances(v, values), a @ values, method="BFGS",
        jac=lambda v: (a / distances(v, values)) @ (v - values), options={"gtol": 1e-12})
    return found.x


def weiszfeld(values, weights, steps, nu=1e-6):
    a = weights / weights.sum()
    v = a @ values
    for _ in range(steps):
        b = a / np.maximum(nu, distances(v, values))
        v = (b / b.sum()) @ values
    return v


def bounded(bound):
    """The mean model where devices send differences from their own bases."""
    delta = UPDATES - BASES
    scale = np.maximum(1, np.linalg.norm(delta, axis=1) / bound)
    return (delta / scale[:, None]).mean(axis=0)


def fair(q, lipschitz):
    gradient = lipschitz * (BASES - UPDATES)
    loss = LOSSES + 1e-10
    steps = loss[:, None] ** q * gradient
    h = q * loss ** (q - 1) * (gradient**2).sum(axis=1) + lipschitz * loss**q
    return -steps.sum(axis=0) / h.sum()


def played(strategy, eta_of=None):
    """Three rounds of a strategy; every round's mean is the model before plus one of STEPS."""
    models, model = [], START
    for number, step in enumerate(STEPS, start=1):
        if eta_of:
            strategy.eta = eta_of(number)
        fit = FitRes(Status(Code.OK, ""), ndarrays_to_parameters([model + step]), 1, {})
        new, _ = strategy.aggregate_fit(number, [(None, fit)], [])
        model = parameters_to_ndarrays(new)[0]
        models.append(model)
    return np.concatenate(models)


def uncorrected(number):
    """Flower corrects Adam for the first rounds, which the paper does not: this takes it back."""
    return 0.1 / (np.sqrt(1 - 0.99 ** (number + 1.0)) / (1 - 0.9 ** (number + 1.0)))


first = ndarrays_to_parameters([START])
OPTIMIZERS = {
    "momentum": played(FedAvgM(
        initial_parameters=first, server_learning_rate=0.5, server_momentum=0.9)),
    "adagrad": played(FedAdagrad(initial_parameters=first, eta=0.1, tau=1e-3)),
    "adam": played(
        FedAdam(initial_parameters=first, eta=0.1, beta_1=0.9, beta_2=0.99, tau=1e-3), uncorrected),
    "yogi": played(FedYogi(initial_parameters=first, eta=0.1, beta_1=0.9, beta_2=0.99, tau=1e-3)),
}
six = UPDATES[:6]
AGGREGATES = {
    "median of seven": aggregate_median(results(UPDATES))[0],
    "median of six": aggregate_median(results(six))[0],
    "trimmed 0.2 of seven": trimmed(UPDATES, 0.2),
    "trimmed 0.4 of seven": trimmed(UPDATES, 0.4),
    "trimmed 0.34 of six": trimmed(six, 0.34),
    "krum 0": krum(UPDATES, 0),
    "krum 1": krum(UPDATES, 1),
    "krum 2": krum(UPDATES, 2),
    "multi-krum 1 keep 3": krum(UPDATES, 1, 3),
    "multi-krum 2 keep 5": krum(UPDATES, 2, 5),
    "bulyan 0": bulyan(UPDATES, 0),
    "bulyan 1": bulyan(UPDATES, 1),
    "geometric median": geometric(UPDATES, np.ones(COUNT)),
    "geometric median by samples": geometric(UPDATES, SAMPLES),
    "rfa 3 by samples": weiszfeld(UPDATES, SAMPLES, 3),
    "bounded 2": bounded(2),
    "bounded 1000": bounded(1000),
    "median of differences": np.median(UPDATES - BASES, axis=0),
    "krum 1 of differences": krum(UPDATES - BASES, 1),
    "q-ffl 0": fair(0, 10),
    "q-ffl 1": fair(1, 10),
    "q-ffl 2.5": fair(2.5, 4),
}


def rows(values, digits):
    words = [f"{v:.{digits}g}" for v in np.asarray(values, float).ravel()]
    lines, line = [], "   "
    for word in words:
        if len(line) + len(word) + 2 > 98:
            lines.append(line)
            line = "   "
        line += " " + word + ","
    return "\n".join(lines + [line])


def constant(name, kind, values, digits, comment):
    print(f"\n/// {comment}\nlet {name}: [{kind}] = [\n{rows(values, digits)}\n]")


def table(name, comment, entries):
    print(f"\n/// {comment}\nlet {name}: [(name: String, values: [Double])] = [")
    for key, values in entries.items():
        print(f'  ("{key}", [\n{rows(values, 12)}\n  ]),')
    print("]")


print("// Printed by Tests/Fixtures-scripts/make_policy_numbers.py.")
constant("policyBases", "Float", BASES, 12, "What seven trainings began with, 13 parameters each.")
constant("policyUpdates", "Float", UPDATES, 12, "What they came to; the sixth lies.")
constant("policySamples", "Int", SAMPLES, 12, "Samples of each.")
constant("policyLosses", "Double", LOSSES, 12, "The loss of each base on its device's samples.")
constant("policyStart", "Float", START, 12, "A model.")
constant("policySteps", "Float", STEPS, 12, "Three differences, each to be applied to the version before.")
table("aggregateNumbers", "What aggregators make of the updates.", AGGREGATES)
table("optimizerSteps", "The three versions that server optimizers make of the differences.", OPTIMIZERS)
