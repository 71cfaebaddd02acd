"""Prints Tests/FedSimTests/AttackNumbers.swift: what colluders send, in NumPy and SciPy.

    python3 -m venv v && v/bin/pip install numpy scipy
    v/bin/python Tests/Fixtures-scripts/make_attack_numbers.py > Tests/FedSimTests/AttackNumbers.swift

Min-max and min-sum are Shejwalkar and Houmansadr 2021, algorithm 1: the factor is found by halving steps, down to
1e-13, with all distances anew each time. The attack on Krum is Fang et al. 2020, theorem 1 and the halving of
section 4.2, with Krum of Blanchard et al. 2017 written out. All in float64; inputs are multiples of 1/64.
"""

import numpy as np
from scipy.stats import norm

rng = np.random.default_rng(20_261_126)
SIZE = 13
UPDATES = rng.integers(-96, 97, (11, SIZE)) / 64
UPDATES += rng.integers(-128, 129, SIZE) / 64  # a direction that all share
UPDATES[:, 4] = 0  # a parameter that nobody moves


def greatest(fits):
    """Algorithm 1: the greatest factor that fits."""
    factor, step, found = 50.0, 25.0, 0.0
    while step > 1e-13:
        if fits(factor):
            found = max(found, factor)
            factor += step
        else:
            factor -= step
        step /= 2
    return found


def direction(known, name):
    mean = known.mean(axis=0)
    return {"std": -known.std(axis=0), "unit": -mean / np.linalg.norm(mean), "sign": -np.sign(mean)}[name]


def min_max(known, name):
    mean, p = known.mean(axis=0), direction(known, name)
    bound = max(np.linalg.norm(a - b) for a in known for b in known)
    return mean + greatest(lambda f: max(np.linalg.norm(mean + f * p - x) for x in known) <= bound) * p


def min_sum(known, name):
    mean, p = known.mean(axis=0), direction(known, name)
    bound = max(sum(np.linalg.norm(a - b) ** 2 for b in known) for a in known)
    return mean + greatest(lambda f: sum(np.linalg.norm(mean + f * p - x) ** 2 for x in known) <= bound) * p


def krum(rows, byzantine):
    near = max(1, len(rows) - byzantine - 2)
    scores = []
    for i, row in enumerate(rows):
        others = sorted(np.sum((row - other) ** 2) for j, other in enumerate(rows) if j != i)
        scores.append(sum(others[:near]))
    return scores


def on_krum(honest, forged, signs):
    """The factor and whether Krum chooses a forged update with it."""
    m, c, d = len(honest) + forged, forged, np.sum(signs != 0)
    nearest = [sorted(np.sum((a - b) ** 2) for j, b in enumerate(honest) if j != i)[: max(1, m - c - 2)]
               for i, a in enumerate(honest)]
    factor = np.sqrt(min(map(sum, nearest)) / (max(1, m - 2 * c - 1) * d))
    factor += max(np.linalg.norm(x) for x in honest) / np.sqrt(d)
    while True:
        scores = krum([-factor * signs] * c + list(honest), c)
        if min(scores[:c]) < min(scores[c:]):
            return factor, True
        if factor / 2 <= 1e-5:
            return factor, False
        factor /= 2


def fang(colluders, knows):
    theirs, honest = UPDATES[:colluders], UPDATES[colluders:]
    if knows == "all":
        signs = np.sign(UPDATES.mean(axis=0))
        factor, _ = on_krum(honest, colluders, signs)
    else:
        signs = np.sign(theirs.mean(axis=0))
        for forged in range(1, colluders + 1):
            factor, chosen = on_krum(theirs, forged, signs)
            if chosen:
                break
    return -factor * signs


def flanders(colluders, knows):
    known = UPDATES if knows == "all" else UPDATES[:colluders]
    n, m = len(UPDATES), colluders
    z = norm.cdf((n - m - (np.floor(n / 2 + 1) - m)) / (n - m))
    return known.mean(axis=0) - z * np.sqrt(known.std(axis=0))


def number(value):
    text = repr(float(value) + 0.0)
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


def main():
    print("// Printed by Tests/Fixtures-scripts/make_attack_numbers.py.")
    print("\n/// Eleven differences, 13 parameters each; colluders are the first.\nlet attackUpdates: [Float] = [")
    print(lines(UPDATES.ravel()) + "\n]")
    print("\n/// What some colluders send, by attack, its setting and whose trainings they know.")
    print("typealias AttackCase = (")
    print("  attack: String, setting: String, knows: String, colluders: Int, sent: [Double]\n)")
    print("let attackCases: [AttackCase] = [")
    cases = [(attack, name, knows, 5) for attack in ("min-max", "min-sum") for name in ("std", "unit", "sign")
             for knows in ("colluders", "all")]
    cases += [("fang-krum", "", knows, colluders) for knows in ("colluders", "all") for colluders in (2, 3, 4, 5)]
    cases += [("a-little-is-enough", "flanders", knows, colluders) for knows in ("colluders", "all")
              for colluders in (2, 5)]
    for attack, setting, knows, colluders in cases:
        known = UPDATES if knows == "all" else UPDATES[:colluders]
        sent = {"min-max": lambda: min_max(known, setting), "min-sum": lambda: min_sum(known, setting),
                "fang-krum": lambda: fang(colluders, knows),
                "a-little-is-enough": lambda: flanders(colluders, knows)}[attack]()
        print(f'  (\n    "{attack}", "{setting}", "{knows}", {colluders},\n    [\n{lines(sent, "      ")}\n    ]\n  ),')
    print("]")


main()
