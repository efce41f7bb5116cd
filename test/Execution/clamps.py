# SPDX-License-Identifier: MIT
"""Minima and maxima of f32 and f64 with constants, bit for bit: clamps.py FOLDER

Each function clamps what it is given between two constants, once as it is and
once after an addition, whose NaNs are the canonical one already. Two take the
larger and the smaller of two numbers that are given. The expected
bits follow clause K4: NaN if either is, else the smaller or the larger number,
where -0 is below +0."""

import ctypes
import itertools
import subprocess
import sys
from pathlib import Path

import entries
import numpy as np

BOUNDS = ["0.0", "-0.0", "6.0", "-1.0", "1.0e-40"]

FUNCTION = """
func.func @{name}(%x: tensor<{n}x{type}>, %y: tensor<{n}x{type}>) -> tensor<{n}x{type}> {{
  %low = arith.constant {low} : {type}
  %high = arith.constant {high} : {type}
  %empty = tensor.empty() : tensor<{n}x{type}>
  %result = linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
      ins(%x, %y : tensor<{n}x{type}>, tensor<{n}x{type}>) outs(%empty : tensor<{n}x{type}>) {{
  ^bb0(%a: {type}, %b: {type}, %out: {type}):
    %sum = arith.addf %a, %b : {type}
    %more = arith.maximumf {value}, %low : {type}
    %less = arith.minimumf %high, %more : {type}
    linalg.yield %less : {type}
  }} -> tensor<{n}x{type}>
  return %result : tensor<{n}x{type}>
}}
"""


PAIRS = """
func.func @pairs(%x: tensor<{n}x{type}>, %y: tensor<{n}x{type}>) -> (tensor<{n}x{type}>, tensor<{n}x{type}>) {{
  %more = arith.maximumf %x, %y : tensor<{n}x{type}>
  %less = arith.minimumf %x, %y : tensor<{n}x{type}>
  return %more, %less : tensor<{n}x{type}>, tensor<{n}x{type}>
}}
"""


def choose(x, y, larger):
    first = x > y if larger else x < y
    first |= (x == y) & (np.signbit(y) == larger)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where(first, x, y)).astype(x.dtype)


def values(dtype):
    """Numbers around the bounds, and NaNs of every kind."""
    info = np.finfo(dtype)
    numbers = np.array(
        [0, 1e-40, 2e-40, 0.5, 1, 5.5, 6, 6.5, info.tiny, info.max, np.inf, np.nextafter(dtype(6), dtype(9))], dtype
    )
    integer = np.dtype(f"u{dtype().itemsize}")
    exponent = integer.type(np.array(np.inf, dtype).view(integer))
    nans = (exponent | np.array([1, 3, 1 << 20, (1 << info.nmant) - 1], integer)).view(dtype)
    some = np.concatenate([numbers, -numbers, nans, -nans])
    return np.resize(some, 4 * len(some) + 3)  # whole vectors, and some more


def check(folder, dtype):
    """Returns how many functions there are."""
    x = values(dtype)
    kind, bits = f"f{x.itemsize * 8}", np.dtype(f"u{x.itemsize}")
    cases = list(itertools.product(BOUNDS, BOUNDS, ("%a", "%sum")))
    text = "#id = affine_map<(i) -> (i)>\n" + "".join(
        FUNCTION.format(name=f"clamp{i}", n=len(x), type=kind, low=low, high=high, value=value)
        for i, (low, high, value) in enumerate(cases)
    )
    text += PAIRS.format(n=len(x), type=kind)
    model, library = folder / f"{kind}.mlir", folder / f"{kind}.so"
    model.write_text(text)
    subprocess.run(["numera", "compile", model, "--format", kind, "-o", library], check=True)
    functions = ctypes.CDLL(str(library))
    *clamps, pairs = entries.names(library)

    def run(name, inputs, expected, what):
        results = [np.zeros_like(x) for _ in expected]
        entries.call(functions[name], inputs, results, entries.options(threads=1))
        for result, wanted in zip(results, expected, strict=True):
            wanted[np.isnan(wanted)] = np.array(np.nan, dtype)
            for at in np.flatnonzero(result.view(bits) != wanted.view(bits))[:1]:
                sys.exit(f"{what}, element {at}: {result[at]!r}, expected {wanted[at]!r}")

    y = np.roll(x, 1)
    for name, (low, high, value) in zip(clamps, cases, strict=True):
        with np.errstate(all="ignore"):
            given = x + y if value == "%sum" else x
        expected = choose(choose(given, dtype(low), True), dtype(high), False)
        run(name, [x, y], [expected], f"{value} from {low} to {high}")
    for distance in range(len(x)):
        y = np.roll(x, distance)
        run(pairs, [x, y], [choose(x, y, True), choose(x, y, False)], f"pairs {distance} apart")
    return len(cases) + 1


def main(folder):
    print(f"{sum(check(folder, dtype) for dtype in (np.float32, np.float64))} functions, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
