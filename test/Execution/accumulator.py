#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A library's accumulator against sums of fractions: accumulator.py write|check DIR"""

import sys
from fractions import Fraction
from pathlib import Path

import numpy as np


def rounded(code):
    """A bf16 number, nearest-even, of an array of f32."""
    bits = code.astype("f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16 << 16).astype("u4").view("f4")


def nearest(value):
    """The bf16 nearest to a fraction, ties to even."""
    if value == 0:
        return 0.0
    magnitude = abs(value)
    exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
    if Fraction(2) ** exponent > magnitude:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 7)
    result = round(magnitude / unit) * unit  # Python's round is to even
    result = np.inf if result >= Fraction(2) ** 128 else float(result)
    return -result if value < 0 else result


def arrays():
    generator = np.random.default_rng(3)

    def numbers(*shape):
        scale = np.exp2(generator.integers(-60, 60, shape)).astype("f4")
        return rounded(generator.normal(size=shape).astype("f4") * scale)

    a, b, c = numbers(9, 65), numbers(65, 21), numbers(9, 21)
    # Sums that cancel but for the last product, and one of the least products.
    a[0], b[:, 0] = 1, 0
    b[:4, 0], c[0, 0] = [2.0**100, 2.0**-100, -(2.0**100), 0], 0
    a[1, 1:], b[0, 1] = 0, 2.0**-120
    a[1, 0] = 2.0**-12
    return {"a": a, "b": b, "c": c, "x": numbers(1, 4, 11, 11), "w": numbers(6, 4, 3, 3)}


def exact(array):
    return np.vectorize(Fraction, otypes=[object])(array.astype("f8"))


def expected(inputs):
    a, b, c, x, w = (exact(inputs[name]) for name in "abcxw")
    y = np.empty((1, 6, 9, 9), object)
    for f in range(6):
        for i in range(9):
            for j in range(9):
                y[0, f, i, j] = (x[0, :, i : i + 3, j : j + 3] * w[f]).sum()
    return {"product": a.dot(b) + c, "convolution": y, "sum": a.sum(axis=1)}


def main():
    action, out = sys.argv[1], Path(sys.argv[2])
    inputs = arrays()
    if action == "write":
        out.mkdir(parents=True, exist_ok=True)
        for name, array in inputs.items():
            np.save(out / f"{name}.npy", array)
        return
    for name, sums in expected(inputs).items():
        found = np.load(out / name / "output_0.npy")
        wanted = np.vectorize(nearest, otypes=["f4"])(sums)
        if not np.array_equal(found, wanted):
            at = np.argwhere(found != wanted)[0]
            sys.exit(f"{name}: {found[tuple(at)]} at {at}, not {wanted[tuple(at)]}")


main()
