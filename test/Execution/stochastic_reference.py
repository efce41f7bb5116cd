#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Stochastic rounding against a slow reference: stochastic_reference.py MODEL.mlir OUT

Runs the functions of the model through `numera run` and computes them here with fractions and a second transcription of Philox4x32-10. All bits
have to be equal. Nothing here comes from Numera.
"""

import bisect
import subprocess
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
from chosen import chosen

WORD = (1 << 32) - 1


def philox(key, counter):
    """Ten rounds; key and counter are tuples of 32-bit words."""
    (k0, k1), (c0, c1, c2, c3) = key, counter
    for _ in range(10):
        a, b = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (b >> 32) ^ c1 ^ k0, b & WORD, (a >> 32) ^ c3 ^ k1, a & WORD
        k0, k1 = (k0 + 0x9E3779B9) & WORD, (k1 + 0xBB67AE85) & WORD
    return c0, c1, c2, c3


assert philox((0, 0), (0, 0, 0, 0)) == (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)


def split(number):
    return number & WORD, number >> 32 & WORD


@dataclass
class Draws:
    """The draws of one run."""

    seed: int
    step: int
    bits: int

    def __call__(self, op, sample, index):
        key = philox(split(self.seed), (*split(self.step), 0, 0))[:2]
        width = next(w for w in (8, 16, 32) if w >= self.bits)
        lanes = 16 * (128 // width)
        group, place = divmod(index, lanes)
        field, lane = divmod(place, 16)
        words = philox(key, (*split(16 * group + lane), op, sample & WORD))
        block = sum(word << 32 * i for i, word in enumerate(words))
        return block >> width * field & (1 << self.bits) - 1


def posit_values(bits, es):
    """The positive numbers of a posit format, ascending, zero first."""
    values = [Fraction(0)]
    for code in range(1, 1 << (bits - 1)):
        text = format(code, f"0{bits - 1}b")
        run = len(text) - len(text.lstrip(text[0]))
        regime = run - 1 if text[0] == "1" else -run
        rest = text[run + 1 :]
        exponent = int(rest[:es].ljust(es, "0") or "0", 2)
        fraction = rest[es:]
        significand = 1 + Fraction(int(fraction or "0", 2), 1 << len(fraction))
        values.append(significand * Fraction(2) ** ((regime << es) + exponent))
    return values


def float_values(exponent, mantissa):
    """The magnitudes of an IEEE format, ascending."""
    bias, values = (1 << (exponent - 1)) - 1, []
    for code in range(((1 << exponent) - 1) << mantissa):
        field, trailing = code >> mantissa, code & (1 << mantissa) - 1
        if field:
            trailing += 1 << mantissa
        values.append(trailing * Fraction(2) ** (max(field, 1) - bias - mantissa))
    return values


def round_up_below(values, x, bits, draw):
    """x to one of its neighbours; the largest value where there is none above."""
    magnitude, sign = abs(x), -1 if x < 0 else 1
    place = bisect.bisect_right(values, magnitude) - 1
    low = values[place]
    if place + 1 == len(values) or low == magnitude:
        return sign * low
    part = (magnitude - low) / (values[place + 1] - low)
    goes_up = draw < part * 2**bits // 1
    return sign * values[place + goes_up]


def elementwise(x, y, rounded):
    """(x * y + x) / y, row by row."""
    result = np.zeros(x.shape, np.float32)
    for sample, row in enumerate(x):
        for i, _ in enumerate(row):
            a = rounded(1, sample, i, Fraction(float(x[sample, i])))
            b = rounded(2, sample, i, Fraction(float(y[sample, i])))
            product = rounded(3, sample, i, a * b)
            total = rounded(4, sample, i, product + a)
            result[sample, i] = float(rounded(5, sample, i, total / b))
    return result


def matmul(x, w, rounded, same):
    """x w, in the format or in f32; the weights are no samples."""
    rows, depth = x.shape
    columns = w.shape[1]
    weights = [
        [rounded(2, 0, k * columns + j, Fraction(float(w[k, j]))) for j in range(columns)]
        for k in range(depth)
    ]
    result = np.zeros((rows, columns), np.float32)
    for n in range(rows):
        a = [rounded(1, n, k, Fraction(float(x[n, k]))) for k in range(depth)]
        for j in range(columns):
            total = Fraction(0)
            for k in range(depth):
                index = j * depth + k
                product = a[k] * weights[k][j]
                if same:
                    product = rounded(3, n, index, product)
                    total = rounded(4, n, index, total + product)
                else:
                    total = Fraction(float(np.float32(float(total + product))))
            result[n, j] = float(total if same else rounded(3, n, j, total))
    return result


def steps(x, rounded):
    """Squares; a sample is several steps."""
    result = np.zeros(x.shape, np.float32)
    for place in np.ndindex(x.shape):
        sample, index = place[0], place[1] * x.shape[2] + place[2]
        a = rounded(1, sample, index, Fraction(float(x[place])))
        result[place] = float(rounded(2, sample, index, a * a))
    return result


def turns(x, rounded, count=3):
    """x and `count` times x more, by a loop that ends by a condition."""
    result = np.zeros(x.shape, np.float32)
    for sample, i in np.ndindex(x.shape):
        a = total = rounded(1, sample, i, Fraction(float(x[sample, i])))
        for turn in range(count):
            total = rounded(2, sample, turn * x.shape[1] + i, total + a)
        result[sample, i] = float(total)
    return result


def run(model, function, inputs, out, flags):
    command = ["numera", "run", model, "--function", function, "--output-dir", out, *flags]
    for name, array in inputs.items():
        np.save(f"{out}/{name}.npy", array)
        command += ["--input", f"{name}={out}/{name}.npy"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return np.load(f"{out}/output_0.npy")


def expect(what, actual, expected):
    if actual.shape != expected.shape:
        sys.exit(f"{what}: shape {actual.shape}, expected {expected.shape}")
    places = np.argwhere(actual.view(np.uint32) != expected.view(np.uint32))
    if len(places):
        i = tuple(places[0])
        sys.exit(
            f"{what}: {len(places)} of {actual.size} differ, {i} is {actual[i]}, "
            f"expected {expected[i]}"
        )


def main():
    model, out = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(5)
    # More rows than `numera run` feeds at once, so that samples have a base.
    rows = 70
    x, y = random.normal(size=(2, rows, 5)).astype(np.float32)
    w = random.normal(size=(5, 3)).astype(np.float32)
    formats = {
        "posit<8,0>": (posit_values(8, 0), 32),
        "posit16": (posit_values(16, 2), 16),
        "bf16": (float_values(8, 7), 5),
    }
    for name, (values, bits) in chosen(list(formats.items()), quick=slice(1, 2)):
        seed, step = 0xFEDCBA9876543210, 3
        flags = ["--format", name, "--rounding", "stochastic", "--random-bits", str(bits)]
        flags += ["--seed", str(seed), "--step", str(step)]
        draws = Draws(seed, step, bits)

        def rounded(op, sample, index, value, values=values, bits=bits, draws=draws):
            return round_up_below(values, value, bits, draws(op, sample, index))

        actual = run(model, "elementwise", {"x": x, "y": y}, out, flags)
        expect(f"elementwise in {name}", actual, elementwise(x, y, rounded))
        pairs = x.reshape(rows // 2, 2, 5)
        actual = run(model, "steps", {"x": pairs}, out, flags)
        expect(f"steps in {name}", actual, steps(pairs, rounded))
        few = x[:9]
        actual = run(model, "turns", {"x": few}, out, flags)
        expect(f"turns in {name}", actual, turns(few, rounded))
        for same in True, False:
            more = [*flags, "--accumulate", "same" if same else "f32"]
            actual = run(model, "matmul", {"x": x, "w": w}, out, more)
            expect(f"matmul in {name}, same {same}", actual, matmul(x, w, rounded, same))


if __name__ == "__main__":
    main()
