#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a library's products of matrices should give, in NumPy:
products.py write DIR | check tree|wide|dot|twelve DIR FUNCTION..."""

import sys
from pathlib import Path

import numpy as np

NAMES = ["product", "row", "transposed", "dynamic", "batch", "convolution", "depthwise"]


def codes(array):
    bits = array.astype("f4").view("u4").astype("u8")
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def numbers(code):
    return (code << 16).astype("u4").view("f4")


def cut(array):
    return numbers(array.astype("f4").view("u4").astype("u8") >> 16)


def product(x, y):
    """Of the last axes; exact in f32."""
    return (numbers(codes(x) & 0xFFF8) * numbers(codes(y))).astype("f4")


def tree(x, y):
    terms = product(x, y)
    total = np.zeros(terms.shape[:-1], "f4")
    for i in range(0, terms.shape[-1], 4):
        four = [terms[..., j] if j < terms.shape[-1] else np.zeros_like(total)
                for j in range(i, i + 4)]
        total = total + ((four[0] + four[1]) + (four[2] + four[3]))
    return total


def descending(x, y):
    terms = product(x, y)
    total = np.zeros(terms.shape[:-1], "f4")
    for i in reversed(range(terms.shape[-1])):
        total = total + terms[..., i]
    return total


def twelve(x, y):
    """Codes of 12 bits are those of bf16 without the last four."""
    def number(array):
        return numbers(codes(array) >> 4 << 4)

    x, y = np.broadcast_arrays(number(x), number(y))
    total = np.zeros(x.shape[:-1], "f4")
    for i in range(x.shape[-1]):
        total = total + x[..., i] * y[..., i]
    return number(total)


RULES = {"tree": lambda x, y: cut(tree(x, y)), "dot": lambda x, y: cut(descending(x, y)),
         # The cast back to the model's format.
         "wide": lambda x, y: numbers(codes(tree(x, y))), "twelve": twelve}


def windows(x, size, stride):
    """[n, row, column, channel * size * size], in the order of the steps."""
    view = np.lib.stride_tricks.sliding_window_view(x, (size, size), (2, 3))
    return view[:, :, ::stride, ::stride].transpose(0, 2, 3, 1, 4, 5)


def expected(name, inputs, rule):
    x, y = inputs
    if name == "convolution":
        rows = windows(x, 3, 2).reshape(2, 5, 5, 1, -1)
        return rule(rows, y.reshape(6, -1)).transpose(0, 3, 1, 2)
    if name == "depthwise":
        rows = windows(x, 3, 1).reshape(2, 9, 9, 4, 9)
        return rule(rows, y.reshape(4, 9)).transpose(0, 3, 1, 2)
    if name != "transposed":
        y = y.swapaxes(-1, -2)
    return rule(x[..., :, None, :], y[..., None, :, :])


def arrays():
    generator = np.random.default_rng(11)

    def draw(*shape):
        scale = np.exp2(generator.integers(-9, 9, shape)).astype("f4")
        return generator.normal(size=shape).astype("f4") * scale

    shapes = {"product": ((9, 65), (65, 21)), "row": ((1, 65), (65, 21)),
              "transposed": ((9, 65), (21, 65)), "dynamic": ((7, 30), (30, 11)),
              "batch": ((3, 5, 17), (3, 17, 6)),
              "convolution": ((2, 4, 11, 11), (6, 4, 3, 3)),
              "depthwise": ((2, 4, 11, 11), (4, 3, 3))}
    return {name: [draw(*shape) for shape in shapes[name]] for name in NAMES}


def main():
    inputs = arrays()
    if sys.argv[1] == "write":
        out = Path(sys.argv[2])
        out.mkdir(parents=True, exist_ok=True)
        for name, pair in inputs.items():
            for letter, array in zip("ab", pair):
                np.save(out / f"{name}-{letter}.npy", array)
        return
    compared, out = 0, Path(sys.argv[3])
    for name in sys.argv[4:]:
        found = np.load(out / name / "output_0.npy")
        wanted = expected(name, inputs[name], RULES[sys.argv[2]])
        if found.shape != wanted.shape:
            sys.exit(f"{name}: shape {found.shape}, not {wanted.shape}")
        if not np.array_equal(found, wanted):
            at = tuple(np.argwhere(found != wanted)[0])
            sys.exit(f"{name}: {found[at]!r} at {at}, not {wanted[at]!r}")
        compared += wanted.size
    print(f"{compared} results equal")


main()
