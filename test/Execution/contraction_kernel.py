# SPDX-License-Identifier: MIT
"""Products in many formats: whole, and row by row.

Without --check, writes the programs and their data to a directory; with it,
runs them with `numera` of the PATH and compares all bits.
"""

import argparse
import pathlib
import subprocess
import sys

import numpy as np
from chosen import chosen

ROWS, STEPS, COLUMNS = 40, 300, 45
# Formats that differ in how they are decoded, and those that do not.
NAMES = ["bf16", "f8E4M3FN", "float<6,9>", "posit16", "posit<24,2>", "fixed<4,11>"]
OTHERS = ["f8E5M2", "f16", "float<5,7>", "float<3,4>", "posit8", "posit<12,1>",
          "float<5,7,flush>", "float<4,3,finite>"]
# Those of which sums that overflow end in a number, or in NaN.
BOUNDED = ["f8E5M2FNUZ", "float<8,7,saturate>", "float<5,10,saturate>", "float<8,7,fn>",
           "float<4,3,bias=3>", "float<9,14,saturate>", "float<6,9,saturate>",
           "float<8,23,saturate>", "float<5,7,fn>", "float<6,5,finite>"]
# Those that are computed in binary16 where a CPU has it, to the ends of what that holds.
HALVES = ["float<5,3>", "float<5,3,saturate>", "float<5,1>", "f8E4M3", "f8E4M3FNUZ",
          "float<4,3,bias=21>", "f6E2M3FN"]
CASES = [(name, "same") for name in [*NAMES, *OTHERS, "takum<16>", *BOUNDED, *HALVES]] + [
    (name, "f32") for name in NAMES] + [
    ("f32", "f32"), ("f32", "same"), ("bf16", "f64"),
    ("f8E4M3FN", "float<5,7>"), ("posit8", "posit16")] + [
    (name, "f32") for name in OTHERS]
QUICK = slice(-len(OTHERS))


def product(rows, transposed=False):
    """A program that multiplies `rows` x STEPS and STEPS x COLUMNS; or
    COLUMNS x STEPS, transposed."""
    right = f"""%b: tensor<{STEPS}x{COLUMNS}xf32>"""
    turn = ""
    if transposed:
        right = f"""%t: tensor<{COLUMNS}x{STEPS}xf32>"""
        turn = f"""
  %turned = tensor.empty() : tensor<{STEPS}x{COLUMNS}xf32>
  %b = linalg.transpose ins(%t : tensor<{COLUMNS}x{STEPS}xf32>)
      outs(%turned : tensor<{STEPS}x{COLUMNS}xf32>) permutation = [1, 0]"""
    return f"""
func.func @product(%a: tensor<{rows}x{STEPS}xf32>, {right})
    -> tensor<{rows}x{COLUMNS}xf32> {{{turn}
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{rows}x{COLUMNS}xf32>
  %sums = linalg.fill ins(%zero : f32) outs(%empty : tensor<{rows}x{COLUMNS}xf32>)
      -> tensor<{rows}x{COLUMNS}xf32>
  %c = linalg.matmul ins(%a, %b : tensor<{rows}x{STEPS}xf32>, tensor<{STEPS}x{COLUMNS}xf32>)
      outs(%sums : tensor<{rows}x{COLUMNS}xf32>) -> tensor<{rows}x{COLUMNS}xf32>
  return %c : tensor<{rows}x{COLUMNS}xf32>
}}
"""


def data():
    """Rows 0 to 7 are ordinary; then each has something of its own."""
    random = np.random.default_rng(7)
    a = random.standard_normal((ROWS, STEPS)).astype(np.float32)
    b = random.standard_normal((STEPS, COLUMNS)).astype(np.float32)
    b[5, 40] = -0.0
    a[8, 100] = np.nan
    a[9, 50] = np.inf
    a[10, 50], a[10, 60] = np.inf, -np.inf
    a[11] = -0.0
    a[12] *= np.float32(1e-4)
    a[13] *= np.float32(1e4)
    a[14] *= np.float32(2.0) ** random.integers(-40, 40, STEPS).astype(np.float32)
    a[15] = np.float32(2.0) ** random.integers(-126, 127, STEPS).astype(np.float32)
    a[16, 1:] = 0
    a[17, ::2] = -a[17, 1::2]
    # Sums that grow until their products are too small for them.
    a[18] = 3.5 * np.sign(b[:, 0])
    a[19] = -4.5 * np.sign(b[:, 1])
    # Products from the largest numbers to the least, and below.
    a[20:30] *= np.float32(2.0) ** -(4 * np.arange(10, dtype=np.float32)[:, None])
    # Sums that pass 448, not 512, and come back: in one panel each, in its last
    # steps, and across its first 16.
    for row, first in ((30, STEPS - 3), (33, 14)):
        b[first:first + 3, 44] = [4, 4, -4]
        a[row, first:first + 3] = [64, 56, 52]
    return a, b


def run(directory, program, name, accumulate):
    right = "t.npy" if program.endswith("-t") else "b.npy"
    out = directory / program
    command = ["numera", "run", str(directory / f"{program}.mlir"), "--format",
               name, "--accumulate", accumulate, "--output-as", "storage",
               "--input", str(directory / "a.npy"), "--input",
               str(directory / right), "--output-dir", str(out)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{program}, {name} {accumulate}: {result.stderr.strip()}")
    return np.load(out / "output_0.npy")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("directory", type=pathlib.Path)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    directory = options.directory
    if not options.check:
        a, b = data()
        np.save(directory / "a.npy", a)
        np.save(directory / "b.npy", b)
        np.save(directory / "t.npy", np.ascontiguousarray(b.T))
        (directory / "whole.mlir").write_text(product(ROWS))
        (directory / "row.mlir").write_text(product(1))
        (directory / "whole-t.mlir").write_text(product(ROWS, True))
        (directory / "row-t.mlir").write_text(product(1, True))
        return
    for name, accumulate in chosen(CASES, QUICK, slice(None, None, 5)):
        # The rows are a data set, fed to the program one at a time.
        loops = run(directory, "row", name, accumulate)
        bits = f"u{loops.dtype.itemsize}"
        for program in ("whole", "whole-t", "row-t"):
            packed = run(directory, program, name, accumulate)
            differ = packed.view(bits) != loops.view(bits)
            if differ.any():
                at = tuple(int(i) for i in np.argwhere(differ)[0])
                sys.exit(f"{program}, {name}, accumulate {accumulate}: "
                         f"{differ.sum()} of {differ.size} differ, the first "
                         f"at {at}: {packed.view(bits)[at]:#x}, by loops "
                         f"{loops.view(bits)[at]:#x}")


if __name__ == "__main__":
    main()
