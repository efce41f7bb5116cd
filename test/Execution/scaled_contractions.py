#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Contractions on scaled operands, against NumPy: scaled_contractions.py OUT

A product of matrices and a convolution, both with constant weights, run under
policies with every kind of scale. The reference quantizes as scaled.py does and
adds in f32, one rounding a step, steps ascending (C1, C4); sums of elements are
multiplied by scales afterwards (Z7). Bits have to agree.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from reference_formats import odd_sum, parse
from scaled import E8M0, F32, F32_NAME, Case, dequantized, quantized

ROWS, STEPS, COLUMNS = 5, 70, 6
CHANNELS, FILTERS, SIZE, WINDOW = 34, 4, 6, 3

MODULE = """
func.func @matmul(%x: tensor<{m}x{k}xf32>) -> tensor<{m}x{n}xf32> {{
  %w = arith.constant dense<"0x{matrix}"> : tensor<{k}x{n}xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{m}x{n}xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  %y = linalg.matmul ins(%x, %w : tensor<{m}x{k}xf32>, tensor<{k}x{n}xf32>)
      outs(%i : tensor<{m}x{n}xf32>) -> tensor<{m}x{n}xf32>
  return %y : tensor<{m}x{n}xf32>
}}
func.func @conv(%x: tensor<1x{c}x{s}x{s}xf32>) -> tensor<1x{f}x{r}x{r}xf32> {{
  %w = arith.constant dense<"0x{filters}"> : tensor<{f}x{c}x{d}x{d}xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x{f}x{r}x{r}xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1x{f}x{r}x{r}xf32>) -> tensor<1x{f}x{r}x{r}xf32>
  %y = linalg.conv_2d_nchw_fchw ins(%x, %w : tensor<1x{c}x{s}x{s}xf32>, tensor<{f}x{c}x{d}x{d}xf32>)
      outs(%i : tensor<1x{f}x{r}x{r}xf32>) -> tensor<1x{f}x{r}x{r}xf32>
  return %y : tensor<1x{f}x{r}x{r}xf32>
}}
"""

# A policy, and for each operand (x, w): element, rule, scale, and whether its
# scales lie along the axis of sums (s), of results (r), the last one (l) or
# nowhere; or the format it has without scales. Then the results' format, where
# it is not f32.
POLICIES = {
    "mx": ("default: mxfp8", ("float<4,3,fn>", "floor", E8M0, "s", 32),
           ("float<4,3,fn>", "floor", E8M0, "s", 32)),
    "mixed": ("default: f32, weights: mxfp4, activations: mxfp6",
              ("float<2,3,finite>", "floor", E8M0, "s", 32),
              ("float<2,1,finite>", "floor", E8M0, "s", 32)),
    "int8": ("default: 'fixed<7,0>', accumulate: f32, "
             "scale: {weights: per-channel, activations: per-tensor}",
             ("fixed<7,0>", "absmax", F32_NAME, "", 0),
             ("fixed<7,0>", "absmax", F32_NAME, "r", 0)),
    "powers": ("default: f8E5M2, scale: per-tensor, scale-format: power-of-two",
               ("float<5,2>", "round-up-ceil", E8M0, "", 0),
               ("float<5,2>", "round-up-ceil", E8M0, "", 0)),
    "channels": ("default: f8E4M3FN, scale: per-channel",
                 ("float<4,3,fn>", "absmax", F32_NAME, "s", 0),
                 ("float<4,3,fn>", "absmax", F32_NAME, "r", 0)),
    "blocks": ("default: f8E4M3FN, scale: block(16)",
               ("float<4,3,fn>", "floor", E8M0, "s", 16),
               ("float<4,3,fn>", "floor", E8M0, "s", 16)),
    "other axes": ("default: mxfp8, axis: {weights: channel, activations: 0}",
                   ("float<4,3,fn>", "floor", E8M0, "r", 32),
                   ("float<4,3,fn>", "floor", E8M0, "r", 32)),
    "last axes": ("weights: mxfp4, activations: f8E5M2, axis: last, "
                  "scale: {activations: block(4)}",
                  ("float<5,2>", "floor", E8M0, "l", 4),
                  ("float<2,1,finite>", "floor", E8M0, "l", 32)),
    "weights alone": ("default: bf16, weights: mxfp4", "bf16",
                      ("float<2,1,finite>", "floor", E8M0, "s", 32), "bf16"),
}


def rounded(spelling: str, x: F32) -> F32:
    return parse(spelling).round(x.astype(np.float64)).astype(np.float32)


def operand(spec, x: F32, sums: int, results: int):
    """The numbers a step reads, and the scales a sum is multiplied by."""
    if isinstance(spec, str):
        return rounded(spec, x), np.float32(1), False
    element, rule, scale, axis, block = spec
    along = {"s": sums, "r": results, "l": x.ndim - 1, "": -1}[axis]
    case = Case(element, rule, scale, along, block)
    data, divisor = quantized(case, x)
    if axis == "s" or block:
        return dequantized(case, data, divisor), np.float32(1), False
    kept = [0] * x.ndim
    if along >= 0:
        kept[along] = slice(None)
    return data, divisor[tuple(kept)].astype(np.float32), True


def add_up(terms) -> F32:
    f32 = parse("f32")
    total = None
    for term in terms:
        total = term * 0 if total is None else total
        total = f32.round(odd_sum(total, term))
    return total.astype(np.float32)


def scaled_sum(sums: F32, left, right, spread) -> F32:
    factors = [scale for _, scale, outside in (left, right) if outside]
    if not factors:
        return sums
    factor = factors[0] if len(factors) == 1 else factors[0] * spread(factors[1])
    if len(factors) == 1 and right[2]:
        factor = spread(factors[0])
    return sums * factor


def matmul(policy, x: F32, w: F32) -> F32:
    left = operand(policy[1], x, 1, 0)
    right = operand(policy[2], w, 0, 1)
    a, b = left[0].astype(np.float64), right[0].astype(np.float64)
    sums = add_up(a[:, k, None] * b[k, None, :] for k in range(STEPS))
    return scaled_sum(sums, left, right, lambda scale: scale)


def conv(policy, x: F32, w: F32) -> F32:
    left = operand(policy[1], x, 1, 0)
    right = operand(policy[2], w, 1, 0)
    a, b = left[0].astype(np.float64), right[0].astype(np.float64)
    out = SIZE - WINDOW + 1
    sums = add_up(
        a[:, None, c, i:i + out, j:j + out] * b[None, :, c, i, j, None, None]
        for c in range(CHANNELS) for i in range(WINDOW) for j in range(WINDOW))
    return scaled_sum(sums, left, right,
                      lambda scale: np.reshape(scale, (1, -1, 1, 1)))


def main(out: Path) -> int:
    rng = np.random.default_rng(11)

    def array(*shape: int) -> F32:
        return (rng.standard_normal(shape) *
                np.exp2(rng.integers(-4, 4, shape))).astype(np.float32)

    inputs = {"matmul": (array(ROWS, STEPS), array(STEPS, COLUMNS)),
              "conv": (array(1, CHANNELS, SIZE, SIZE),
                       array(FILTERS, CHANNELS, WINDOW, WINDOW))}
    model = out / "model.mlir"
    model.write_text(MODULE.format(
        m=ROWS, k=STEPS, n=COLUMNS, c=CHANNELS, f=FILTERS, s=SIZE, d=WINDOW,
        r=SIZE - WINDOW + 1, matrix=inputs["matmul"][1].tobytes().hex(),
        filters=inputs["conv"][1].tobytes().hex()))
    compared = wrong = 0
    for name, policy in POLICIES.items():
        formats = out / f"{name}.yaml"
        formats.write_text(f"policy: {{{policy[0]}}}\n")
        for function, (x, w) in inputs.items():
            np.save(out / "x.npy", x)
            subprocess.run(["numera", "run", model, "--function", function,
                            "--formats", formats, "--input", out / "x.npy",
                            "--output-dir", out / "results"],
                           check=True, stdout=subprocess.DEVNULL)
            got = np.load(out / "results" / "output_0.npy")
            want = (matmul if function == "matmul" else conv)(policy, x, w)
            if len(policy) > 3:
                want = rounded(policy[3], want)
            differ = int((got.view(np.int32) != want.view(np.int32)).sum())
            compared += got.size
            wrong += differ
            if differ:
                print(f"{name} {function}: {differ} of {got.size} differ, "
                      f"{got.ravel()[:3]}, expected {want.ravel()[:3]}")
    print(f"{compared} values compared; {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
