# SPDX-License-Identifier: MIT
"""Additions in order: what scatter-add with repeated indices is, step by step.

Usage: loops.py write FOLDER ; loops.py check FOLDER RESULTS FORMAT
"""

import math
import sys
from fractions import Fraction

import numpy as np

SIZE, TERMS, ROWS, WIDTH = 50, 400, 7, 6


def write(folder):
    generator = np.random.default_rng(3)
    for name, array in {
        "x": generator.standard_normal(SIZE).astype("f4"),
        "i": generator.integers(0, SIZE // 5, TERMS),
        "v": generator.standard_normal(TERMS).astype("f4"),
        "rows": generator.standard_normal((ROWS, WIDTH)).astype("f4"),
        "at": generator.integers(0, ROWS, 40),
        "w": generator.standard_normal((40, WIDTH)).astype("f4"),
        "two": np.float32(2),
        "big": np.zeros(1 << 22, "f4"),
        "many": np.arange(20000) % 7,
        "ones": np.ones(20000, "f4"),
    }.items():
        np.save(f"{folder}/{name}.npy", array)


def nearest_even(q):
    """A fraction as the nearest integer."""
    return round(q)


def in_float(bits, exponents):
    """Rounds to `bits` significant bits, with the exponents of an IEEE format."""

    def rounded(x):
        if x == 0:
            return Fraction(0)
        exponent = math.frexp(float(abs(x)))[1] - 1
        unit = Fraction(2) ** (max(exponent, exponents) - bits + 1)
        return nearest_even(x / unit) * unit

    return rounded


def in_fixed(fraction, bits):
    def rounded(x):
        units = nearest_even(x * 2**fraction)
        return Fraction(max(-(2 ** (bits - 1)), min(2 ** (bits - 1) - 1, units)), 2**fraction)

    return rounded


FORMATS = {
    "f32": in_float(24, -126),
    "bf16": in_float(8, -126),
    "float<5,3>": in_float(4, -14),
    "fixed<3,6>": in_fixed(6, 10),
}


def check(folder, results, name):
    rounded = FORMATS[name]

    def load(file):
        array = np.load(f"{folder}/{file}.npy")
        return [rounded(Fraction(float(x))) for x in array.flat]

    x, v, rows, w = map(load, ("x", "v", "rows", "w"))
    for place, value in zip(np.load(f"{folder}/i.npy"), v):
        x[place] = rounded(x[place] + value)
    for step, place in enumerate(np.load(f"{folder}/at.npy")):
        for column in range(WIDTH):
            at = place * WIDTH + column
            rows[at] = rounded(rows[at] + w[step * WIDTH + column])
    for n, expected in enumerate((x, rows)):
        found = np.load(f"{results}/{n}/output_0.npy")
        assert [Fraction(float(y)) for y in found.flat] == expected, (name, n)
    print(f"{name}: same")


if __name__ == "__main__":
    write(sys.argv[2]) if sys.argv[1] == "write" else check(*sys.argv[2:])
