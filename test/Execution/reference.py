#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Evaluates an ONNX model in a number format, slowly and independently.

    reference.py --self-test
    reference.py MODEL [--input X.npy] [--rows N] --write-input X.npy
    reference.py MODEL --format F --accumulate A --input X.npy [--rows N]
                 [--rule 'PATTERN F A']... [--output Y.npy]
                 [--expect Y.npy [--relative R]]

The first form checks the rounding against exact fractions. The second writes
an input for both sides: rows of another array, or numbers from 0 to 1. The
third computes the model's first output as f32 and, with --expect, exits 1 with
the first element that differs unless all bits are equal; all NaNs are one.
A is `same`, `quire`, f32, f64 or a format. A rule has another format and
accumulator for nodes whose name matches the pattern, or, as `op:softmax`, whose
operator has that name. An array is a .npy or, as the ONNX project
ships its test data, a TensorProto in a .pb.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

import reference_selftest
from reference_formats import parse, parse_accumulator
from reference_operators import Evaluator, F32Array, Rule

SEED = 1


def load(path: Path) -> F32Array:
    """The f32 array in a .npy or .pb file."""
    if path.suffix == ".pb":
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        array = numpy_helper.to_array(tensor)
    else:
        array = np.load(path)
    if array.dtype != np.float32:
        raise ValueError(f"{path}: elements are {array.dtype}; expected float32")
    return np.asarray(array, np.float32)


def synthesise(model: onnx.ModelProto, rows: int) -> F32Array:
    """`rows` rows of numbers from 0 to 1, a third of them zeros as in images."""
    constants = {tensor.name for tensor in model.graph.initializer}
    shape = next(
        [dim.dim_value for dim in item.type.tensor_type.shape.dim]
        for item in model.graph.input
        if item.name not in constants
    )
    random = np.random.default_rng(SEED)
    numbers = random.uniform(-0.5, 1, [rows, *shape[1:]])
    return np.maximum(numbers, 0).astype(np.float32)


def canonical_bits(array: F32Array) -> npt.NDArray[np.uint32]:
    """The codes of an array, with one NaN for all."""
    return np.where(np.isnan(array), np.float32(np.nan), array).view(np.uint32)


def difference(actual: F32Array, expected: F32Array, relative: float | None) -> str | None:
    """Names the first element of `actual` that is not as expected, or none."""
    if actual.shape != expected.shape:
        return f"shape is {actual.shape}, expected {expected.shape}"
    if relative is None:
        differs = canonical_bits(actual) != canonical_bits(expected)
    else:
        # Relative to the largest element: sums that cancel are as wrong as
        # their terms.
        differs = np.abs(actual - expected) > relative * np.abs(expected).max()
    if not differs.any():
        return None
    index = tuple(int(i) for i in np.argwhere(differs)[0])
    place = ", ".join(str(i) for i in index)
    values = f"{float(actual[index]).hex()}, expected {float(expected[index]).hex()}"
    return f"[{place}] is {values} ({differs.sum()} of {differs.size} differ)"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--format", default="f32")
    parser.add_argument("--accumulate", default="same")
    parser.add_argument("--rule", action="append", default=[], type=Rule)
    parser.add_argument("--input", type=Path)
    parser.add_argument("--rows", type=int, help="only the first N rows")
    parser.add_argument("--write-input", type=Path)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--expect", type=Path)
    parser.add_argument("--relative", type=float, help="tolerance instead of equal bits")
    arguments = parser.parse_args()
    if not arguments.self_test and arguments.model is None:
        parser.error("expected MODEL or --self-test")
    if arguments.model and not arguments.write_input and not arguments.input:
        parser.error("expected --input or --write-input")
    return arguments


def run(arguments: argparse.Namespace) -> str | None:
    """What the command line asks for; returns what differs, or none."""
    model = onnx.load(str(arguments.model))
    rows = arguments.rows
    if arguments.input:
        data = load(arguments.input)[:rows]
    else:
        data = synthesise(model, rows or 1)
    if arguments.write_input:
        np.save(arguments.write_input, data)
        return None
    evaluator = Evaluator(
        model,
        parse(arguments.format),
        parse_accumulator(arguments.accumulate),
        arguments.rule,
    )
    result = evaluator.run(data)
    if arguments.output:
        np.save(arguments.output, result)
    if not arguments.expect:
        return None
    # What was computed elsewhere is what is judged.
    found = difference(load(arguments.expect)[:rows], result, arguments.relative)
    how = f"{arguments.format}, accumulate {arguments.accumulate}"
    return found and f"{arguments.expect}: {found} in {how}"


def main() -> int:
    arguments = parse_arguments()
    # Infinities and NaNs are results like any other.
    np.seterr(all="ignore")
    try:
        if arguments.self_test:
            reference_selftest.main()
            return 0
        found = run(arguments)
    except (AssertionError, OSError, ValueError) as error:
        found = str(error)
    if found:
        print(f"reference.py: {found}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
