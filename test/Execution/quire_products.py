# SPDX-License-Identifier: MIT
"""Matrix products in quires against exact integer sums.

    quire_products.py write DIRECTORY
    quire_products.py check DIRECTORY FORMAT

The first writes a model of several products, model.mlir, and its inputs; the
second compares the outputs in DIRECTORY/out with the reference, bit by bit; all
NaNs are one.

Rows and columns come in groups, as tiles do: such that windows of f64 hold
their sums, alone or in pieces; that span all of a format's range; with zeros;
whose sums cancel; with infinities and NaN.
"""

import sys
from pathlib import Path

import numpy as np

from reference_formats import Exact, Format, parse
from reference_operators import Arithmetic, F32Array

# Rows, columns, steps. A block has 512 steps.
SIZES = [(45, 83, 70), (9, 33, 1), (16, 18, 515), (6, 5, 1030)]


def groups(rng: np.random.Generator, lines: int, steps: int) -> F32Array:
    """Lines of factors, in groups of 8."""
    x = rng.normal(0, 1, (lines, steps))
    for first in range(0, lines, 8):
        group = x[first : first + 8]
        match first // 8 % 6:
            case 1:  # few bits
                group[:] = rng.integers(-3, 4, group.shape)
            case 2:  # many bits
                group *= 2.0 ** rng.integers(-12, 4, group.shape)
            case 3:  # everything; the largest cancel, the smallest stay
                group *= 2.0 ** rng.integers(-60, 60, group.shape)
                half = steps // 2
                group[::2, half : 2 * half] = -group[::2, :half]
            case 4:
                group *= rng.random(group.shape) < 0.1
                group[0] = 0
            case 5:
                group[1 % len(group), 0] = np.nan
                group[-1, -1] = np.inf
                group[-1, 0] = -np.inf
    return x.astype("f4")


def inputs() -> list[F32Array]:
    rng = np.random.default_rng(5)
    arrays = []
    for rows, columns, steps in SIZES:
        arrays.append(groups(rng, rows, steps))
        right = groups(rng, columns, steps)
        # Where the left factors agree, the sums of these cancel.
        right[: columns // 4, steps // 2 : 2 * (steps // 2)] *= -1
        arrays.append(np.ascontiguousarray(right.T))
    return arrays


def write(directory: Path) -> None:
    arrays = inputs()
    for i, array in enumerate(arrays):
        np.save(directory / f"{i}.npy", array)

    def tensor(*shape: int) -> str:
        return f"tensor<{'x'.join(map(str, shape))}xf32>"

    types = [tensor(*array.shape) for array in arrays]
    results = [tensor(rows, columns) for rows, columns, _ in SIZES]
    text = f"""func.func @products({", ".join(f"%a{i}: {t}" for i, t in enumerate(types))})
    -> ({", ".join(results)}) {{
  %zero = arith.constant 0.0 : f32
"""
    for i, result in enumerate(results):
        text += f"""  %e{i} = tensor.empty() : {result}
  %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : {result}) -> {result}
  %r{i} = linalg.matmul ins(%a{2 * i}, %a{2 * i + 1} : {types[2 * i]}, {types[2 * i + 1]})
    outs(%z{i} : {result}) -> {result}
"""
    names = ", ".join(f"%r{i}" for i in range(len(SIZES)))
    text += f"  return {names} : {', '.join(results)}\n}}\n"
    (directory / "model.mlir").write_text(text)


def product(target: Format, left: F32Array, right: F32Array) -> F32Array:
    with np.errstate(all="ignore"):
        a = target.round(left.astype("f8"))
        b = target.round(right.astype("f8"))
        arithmetic = Arithmetic(target, Exact())
        sums = arithmetic.start((a.shape[0], b.shape[1]))
        for k in range(a.shape[1]):
            sums = arithmetic.mac(sums, a[:, k : k + 1], b[k])
        return arithmetic.finish(sums).astype("f4")


def check(directory: Path, target: Format) -> None:
    arrays = inputs()
    for i in range(len(SIZES)):
        expected = product(target, arrays[2 * i], arrays[2 * i + 1])
        actual = np.load(directory / f"out/output_{i}.npy")
        same = actual.view("u4") == expected.view("u4")
        same |= np.isnan(actual) & np.isnan(expected)
        if not same.all():
            at = tuple(np.argwhere(~same)[0])
            sys.exit(
                f"{target.name}: product {i}, {(~same).sum()} differ, the first at "
                f"{at}: {actual[at]!r}, expected {expected[at]!r}"
            )


def main() -> None:
    command, directory, *rest = sys.argv[1:]
    if command == "write":
        write(Path(directory))
    else:
        check(Path(directory), parse(*rest))


main()
