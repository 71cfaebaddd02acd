"""Makes Tests/SweepsTests/Fixtures/points.csv: points of Sobol's and Halton's sequences.

    python make_sampling_points.py > ../SweepsTests/Fixtures/points.csv     (scipy 1.17.1)

Sobol: an implementation of its own, from the tables of Bratley and Fox, "Algorithm 659: Implementing Sobol's
quasirandom sequence generator" (ACM TOMS 14, 1988), for 40 dimensions; the first two are compared with SciPy's,
which has other tables from the third on. Halton: SciPy's, unscrambled, the first and the last ten of 1,229 dimensions.
Both without the sequence's first point, the origin. A line is: plan, axis, then its coordinates in points 1, 2, ….
"""
import sys

import numpy as np
from scipy.stats import qmc

POINTS = 40
POLYNOMIALS = [
    1, 3, 7, 11, 13, 19, 25, 37, 59, 47, 61, 55, 41, 67, 97, 91, 109, 103, 115, 131, 193, 137, 145, 143, 241, 157, 185,
    167, 229, 171, 213, 191, 253, 203, 211, 239, 247, 285, 369, 299,
]
ROWS = [
    (0, [0] + [1] * 39),
    (2, [1, 3, 1, 3, 1, 3, 3, 1, 3, 1, 3, 1, 3, 1, 1, 3, 1, 3, 1, 3, 1, 3, 3, 1, 3, 1, 3, 1, 3, 1, 1, 3, 1, 3, 1, 3,
         1, 3]),
    (3, [7, 5, 1, 3, 3, 7, 5, 5, 7, 7, 1, 3, 3, 7, 5, 1, 1, 5, 3, 3, 1, 7, 5, 1, 3, 3, 7, 5, 1, 1, 5, 7, 7, 5, 1, 3,
         3]),
    (5, [1, 7, 9, 13, 11, 1, 3, 7, 9, 5, 13, 13, 11, 3, 15, 5, 3, 15, 7, 9, 13, 9, 1, 11, 7, 5, 15, 1, 15, 11, 5, 3,
         1, 7, 9]),
    (7, [9, 3, 27, 15, 29, 21, 23, 19, 11, 25, 7, 13, 17, 1, 25, 29, 3, 31, 11, 5, 23, 27, 19, 21, 5, 1, 17, 13, 7, 15,
         9, 31, 9]),
    (13, [37, 33, 7, 5, 11, 39, 63, 27, 17, 15, 23, 29, 3, 21, 13, 31, 25, 9, 49, 33, 19, 29, 11, 19, 27, 15, 25]),
    (19, [13, 33, 115, 41, 79, 17, 29, 119, 75, 73, 105, 7, 59, 65, 21, 3, 113, 61, 89, 45, 107]),
    (37, [7, 23, 39]),
]
BITS = 30


def directions(axis):
    """Direction numbers v_1 … v_BITS of an axis, as integers below 2^BITS."""
    if axis == 0:
        return [1 << (BITS - j) for j in range(1, BITS + 1)]
    polynomial = POLYNOMIALS[axis]
    degree = polynomial.bit_length() - 1
    m = [row[axis - first] for first, row in ROWS if axis >= first][:degree]
    assert len(m) == degree, (axis, m)
    for j in range(degree, BITS):
        new = m[j - degree] ^ (m[j - degree] << degree)
        for k in range(1, degree):
            if polynomial >> (degree - k) & 1:
                new ^= m[j - k] << k
        m.append(new)
    return [m[j] << (BITS - 1 - j) for j in range(BITS)]


def sobol(axis):
    v, x, points = directions(axis), 0, []
    for n in range(POINTS):
        zero = (~n & n + 1).bit_length() - 1
        x ^= v[zero]
        points.append(x / 2**BITS)
    return points


def line(plan, axis, points):
    print(plan, axis, *[repr(float(p)) for p in points], sep=",")


def main():
    reference = qmc.Sobol(2, scramble=False).random(POINTS + 1)[1:]
    for axis in range(40):
        points = sobol(axis)
        if axis < 2:
            assert np.array_equal(points, reference[:, axis]), axis
        line("sobol", axis, points)
    halton = qmc.Halton(1229, scramble=False).random(POINTS + 1)[1:]
    for axis in [*range(10), *range(1219, 1229)]:
        line("halton", axis, halton[:, axis])


if __name__ == "__main__":
    sys.exit(main())
