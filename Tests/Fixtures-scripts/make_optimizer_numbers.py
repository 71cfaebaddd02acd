"""Prints Tests/LearningTests/OptimizerNumbers.swift: three steps of every optimiser in NumPy.

    python3 Tests/Fixtures-scripts/make_optimizer_numbers.py > Tests/LearningTests/OptimizerNumbers.swift

The model is softmax regression in float64 over fixed samples; formulas are written from the papers,
not from the project's sources.
"""

import numpy as np

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [-0.5, 1.0, 1.0],
              [2.0, -0.125, 0.5], [0.0, 0.75, -1.5], [1.0, 1.0, 0.25]])
Y = np.array([0, 1, 1, 0, 1, 0])
W0 = np.array([[0.1, -0.2], [0.3, 0.05], [-0.15, 0.25]])
B0 = np.array([0.01, -0.02])


def gradient(theta, rows):
    w, b = theta[:6].reshape(3, 2), theta[6:]
    logits = X[rows] @ w + b
    p = np.exp(logits - logits.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    p[np.arange(len(rows)), Y[rows]] -= 1
    p /= len(rows)
    return np.concatenate([(X[rows].T @ p).ravel(), p.sum(axis=0)])


def run(rule, rates=(0.5, 0.5, 0.5), decay=0.0, clip=None, momentum=0.0):
    theta = np.concatenate([W0.ravel(), B0])
    m, v = np.zeros(8), np.zeros(8)
    for t, rate in enumerate(rates, start=1):
        g = gradient(theta, [2 * t - 2, 2 * t - 1])
        if clip and clip[0] == "norm":
            g = g * min(1.0, clip[1] / np.linalg.norm(g))
        if clip and clip[0] == "value":
            g = np.clip(g, -clip[1], clip[1])
        g = g + decay * theta
        if rule == "sgd":
            theta = theta - rate * g
        elif rule == "momentum":
            m = momentum * m + g
            theta = theta - rate * m
        elif rule == "nesterov":
            m = momentum * m + g
            theta = theta - rate * (g + momentum * m)
        else:
            m = 0.9 * m + 0.1 * g
            v = 0.999 * v + 0.001 * g * g
            theta = theta - rate * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return theta


half = [0.5 * (1 + np.cos(np.pi * t / 3)) * 0.5 for t in range(3)]
CASES = {
    "plain": run("sgd"),
    "weight decay": run("sgd", decay=0.1),
    "momentum": run("momentum", momentum=0.9, decay=0.01),
    "nesterov": run("nesterov", momentum=0.9),
    "adam": run("adam", rates=(0.1, 0.1, 0.1), decay=0.01),
    "clipped norm": run("sgd", clip=("norm", 0.3)),
    "clipped value": run("sgd", clip=("value", 0.1)),
    "cosine": run("sgd", rates=half),
    "exponential": run("sgd", rates=(0.5, 0.4, 0.32)),
    "step": run("sgd", rates=(0.5, 0.5, 0.05)),
}

print("// Printed by Tests/Fixtures-scripts/make_optimizer_numbers.py.\n")
print("/// Softmax regression's parameters after three steps of two samples each, from NumPy.")
print("let optimizerNumbers: [(name: String, parameters: [Double])] = [")
for name, theta in CASES.items():
    numbers = [f"{x:.12f}" for x in theta]
    print(f'  (\n    "{name}",\n    [')
    for i in range(0, 8, 4):
        print("      " + ", ".join(numbers[i:i + 4]) + ",")
    print("    ]\n  ),")
print("]")
