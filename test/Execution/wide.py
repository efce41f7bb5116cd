# SPDX-License-Identifier: MIT
"""Inputs of wide.test, and results by fractions: exact sums, rounded once to f32."""

import sys
from fractions import Fraction

import numpy as np

command, folder = sys.argv[1:]


def load(name):
    return np.load(f"{folder}/{name}.npy")


def product(left, right):
    """Exact."""
    return [[sum(Fraction(float(x)) * Fraction(float(y)) for x, y in zip(row, column)) for column in right.T] for row in left]


def rounded(rows):
    """To f64 and then to f32, as libraries of f64 do; both give the same here."""
    return np.array([[float(x) for x in row] for row in rows]).astype(np.float32)


def windows(image, size):
    """The patches of an image as rows."""
    _, height, width = image.shape
    return np.array([image[:, y : y + size, x : x + size].ravel() for y in range(height - size + 1) for x in range(width - size + 1)])


def cancelling(random, rows, steps):
    """Terms that cancel but for the last one, in a sum that begins with them."""
    half = steps // 2
    left = random.standard_normal((rows, steps)).astype(np.float32)
    left[:, :half] *= np.float32(2.0**30)
    left[:, half : 2 * half] = -left[:, :half]
    return left


def write():
    random = np.random.default_rng(1)
    a = cancelling(random, 70, 65)
    b = random.standard_normal((65, 37)).astype(np.float32)
    b[32:64] = b[:32]
    image = random.standard_normal((1, 4, 8, 8)).astype(np.float32)
    image[0, 2:] = -image[0, :2]
    image[0, 1] *= np.float32(2.0**30)
    image[0, 3] = -image[0, 1]
    kernel = random.standard_normal((3, 4, 3, 3)).astype(np.float32)
    kernel[:, 3] = kernel[:, 1]
    for name, array in {"a": a, "b": b, "image": image, "kernel": kernel}.items():
        np.save(f"{folder}/{name}.npy", array)
    sums = np.zeros((70, 37))
    for step in range(65):
        sums += np.outer(a[:, step].astype(np.float64), b[step].astype(np.float64))
    wanted = rounded(product(a, b))
    assert np.mean(sums.astype(np.float32) != wanted) > 0.5, "f64 will do"
    np.save(f"{folder}/wanted.npy", wanted)


if command == "inputs":
    write()
    sys.exit()
found = load("output_0")
if command == "compare":
    wanted = load("wanted")
elif command == "conv":
    image, kernel = load("image")[0], load("kernel")
    wanted = rounded(product(kernel.reshape(3, -1), windows(image, 3).T)).reshape(1, 3, 6, 6)
elif command == "relu":  # ((max(x, 0) + ((x + s) - x)) - max(x, 0): s itself, which f32 would lose
    wanted = np.full(found.shape, np.float32(1e-10))
elif command == "one":
    wanted = (load("a").astype(np.float64) + 1).astype(np.float32)
elif command == "contains":
    # The library gives the upper end, rounded to f32: at or above the sum, and near.
    exact = load("wanted")
    assert (found >= exact).all() and (np.abs(found - exact) < 1e-3).all()
    wanted = found
assert found.dtype == np.float32 and found.tobytes() == wanted.tobytes(), f"{command}: {np.sum(found != wanted)} differ"
