# SPDX-License-Identifier: MIT
"""Operations rounded once to a format, nearest or stochastically, in NumPy and
fractions. Nothing here comes from Numera."""

import functools
import sys
from fractions import Fraction
from pathlib import Path

import ml_dtypes
import numpy as np
import oracle

sys.path.append(str(Path(__file__).parents[1] / "Execution"))

from stochastic_reference import Draws


def to_odd(total, error):
    """A sum in f64 whose error is known, rounded to odd: rounding it again to at
    most 51 bits rounds the exact sum once."""
    even = total.view(np.int64) & 1 == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    return np.where((error != 0) & even, np.nextafter(total, toward), total)


def exact_sum(x, y):
    """x + y, to odd."""
    total = x + y
    part = total - x
    return to_odd(total, (x - (total - part)) + (y - part))


class Floats:
    """float<exponent bits, fraction bits>, of at most 24 bits of precision."""

    def __init__(self, exponent, fraction):
        self.precision = fraction + 1
        self.least = 2 - 2 ** (exponent - 1)  # of normal numbers
        self.largest = (2 - 2.0**-fraction) * 2.0 ** (2 ** (exponent - 1) - 1)

    def step(self, x):
        """The distance between neighbours at a number."""
        exponent = np.maximum(np.frexp(x)[1] - 1, self.least)
        return np.ldexp(1.0, exponent - self.precision + 1)

    def nearest(self, x):
        step = self.step(x)
        y = np.rint(x / step) * step
        return np.where(np.abs(y) > self.largest, np.copysign(np.inf, x), y)

    def around(self, x):
        """The neighbours of a positive number."""
        step = Fraction(float(self.step(np.float64(x))))
        low = Fraction(x) // step * step
        return low, low + step

    def codes(self, x):
        kinds = {8: ml_dtypes.bfloat16, 11: np.float16, 24: np.float32}
        kind = np.dtype(kinds[self.precision])
        # These are values of the format: nothing is rounded.
        return x.astype(np.float32).astype(kind).view(f"u{kind.itemsize}")


class Posits:
    """posit<bits, 2>."""

    def __init__(self, bits):
        self.bits = bits
        self.values = oracle.posit_values(bits)
        self.positive = np.sort(self.values[self.values > 0])

    def nearest(self, x):
        return self.values[oracle.posit_codes(x, self.bits)]

    def around(self, x):
        place = np.searchsorted(self.positive, x, "right")
        low = self.positive[place - 1] if place else 0.0
        return Fraction(low), Fraction(
            self.positive[min(place, len(self.positive) - 1)]
        )

    def codes(self, x):
        return oracle.posit_codes(x, self.bits).astype("u2")


class E4M3(Floats):
    """f8E4M3FN, which saturates."""

    def __init__(self):
        super().__init__(4, 3)
        self.least, self.largest = -6, 448.0

    def nearest(self, x):
        step = self.step(x)
        return np.clip(np.rint(x / step) * step, -self.largest, self.largest)

    def codes(self, x):
        kind = ml_dtypes.float8_e4m3fn
        return x.astype(np.float32).astype(kind).view("u1")


FORMATS = {
    "f32": functools.cache(lambda: Floats(8, 23)),
    "bf16": functools.cache(lambda: Floats(8, 7)),
    "f16": functools.cache(lambda: Floats(5, 10)),
    "f8E4M3FN": functools.cache(E4M3),
    "posit16": functools.cache(lambda: Posits(16)),
}


class Arithmetic:
    """Operations on f64 arrays of a format's numbers, each rounded once."""

    def __init__(self, name):
        self.format = FORMATS[name]()
        self.nearest = self.format.nearest

    def add(self, x, y):
        return self.nearest(exact_sum(x, y))

    def sub(self, x, y):
        return self.add(x, -y)

    def mul(self, x, y):
        return self.nearest(x * y)  # exact in f64

    def fma(self, x, y, z):
        return self.nearest(exact_sum(x * y, z))

    def div(self, x, y):
        return self.nearest(x / y)  # f64 has more than twice the bits

    def sqrt(self, x):
        return self.nearest(np.sqrt(x))


def stochastic(name, x, seed, step, sample, draw, bits=32):
    """D1 of Semantics/Stochastic.md, of an array; ``draw`` is the id."""
    fmt, draws = FORMATS[name](), Draws(seed, step, bits)
    y = np.empty_like(x)
    for index, value in enumerate(x.tolist()):
        low, high = fmt.around(abs(value)) if value else (Fraction(0), Fraction(1))
        part = (Fraction(abs(value)) - low) / (high - low) if high > low else 0
        up = draws(draw, sample, index) < int(part * 2**bits)
        y[index] = np.copysign(float(high if up else low), value)
    return y
