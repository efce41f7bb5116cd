#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Scaled tensors whose elements are f32: scaled_machine.py OUT

Operands are small integers of which the largest is a power of two, and the full
scale is 1: scales are powers of two, no operation rounds, and every accumulator
has the product of integers.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np

MODEL = """
func.func @f(%x: tensor<5x24xf32>, %w: tensor<24x7xf32> {numera.weight}) -> tensor<5x7xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x7xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<5x7xf32>) -> tensor<5x7xf32>
  %y = linalg.matmul ins(%x, %w : tensor<5x24xf32>, tensor<24x7xf32>)
      outs(%i : tensor<5x7xf32>) -> tensor<5x7xf32>
  return %y : tensor<5x7xf32>
}
"""
SCALED = "'scaled<f32,full-scale=1>'"
POLICIES = [
    f"weights: {SCALED}, accumulate: f64",
    f"activations: {SCALED}, accumulate: f32",
    f"weights: {SCALED}, activations: {SCALED}, accumulate: f32",
    f"weights: {SCALED}, activations: {SCALED}, accumulate: f64",
    f"weights: {SCALED}, activations: {SCALED}, accumulate: quire",
    "weights: 'block<f32,8,full-scale=1>', accumulate: f64",
]

out = Path(sys.argv[1])
(out / "m.mlir").write_text(MODEL)
draw = np.random.default_rng(0)
x, w = draw.integers(-63, 64, (5, 24)), draw.integers(-31, 32, (24, 7))
x[2, 3], w[1, 4] = 64, -32
np.save(out / "x.npy", x.astype("f4"))
np.save(out / "w.npy", w.astype("f4"))
for policy in POLICIES:
    (out / "p.yaml").write_text("policy: {default: f32, " + policy + "}\n")
    subprocess.run(
        ["numera", "run", out / "m.mlir", "--formats", out / "p.yaml",
         "--input", out / "x.npy", "--input", out / "w.npy",
         "--output-dir", out / "y"],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    (result,) = (out / "y").glob("*.npy")
    if not np.array_equal(np.load(result), x @ w):
        sys.exit(f"{policy}: wrong products")
print(len(POLICIES), "policies")
