# SPDX-License-Identifier: MIT
"""Chains of layers that tests of reports share."""

import json

import numpy as np

RANDOM = np.random.default_rng(7)
SIZE = 8
X = RANDOM.normal(size=(32, SIZE)).astype("f4")
NAMES = ("first", "second", "third")


def dense(values):
    rows = ("[" + ", ".join(f"{v:.6e}" for v in row) + "]" for row in values)
    return f"dense<[{', '.join(rows)}]> : tensor<{SIZE}x{SIZE}xf32>"


def chain(names, activation="math.tanh", scale=1.0, random=RANDOM):
    """Products with a matrix, each with an activation behind it."""
    lines = ["%zero = arith.constant 0.0 : f32", f"%e = tensor.empty() : {T}"]
    lines.append(f"%i = linalg.fill ins(%zero : f32) outs(%e : {T}) -> {T}")
    value = "%x"
    for k, name in enumerate(names):
        weights = random.normal(size=(SIZE, SIZE)) * scale
        lines.append(f"%w{k} = arith.constant {dense(weights)}")
        lines.append(
            f"%p{k} = linalg.matmul ins({value}, %w{k} : {T}, tensor<{SIZE}x{SIZE}xf32>)"
            f" outs(%i : {T}) -> {T} loc({json.dumps(name)})"
        )
        lines.append(
            f"%a{k} = {activation} %p{k} : {T} loc({json.dumps(name + '.act')})"
        )
        value = f"%a{k}"
    body = "\n  ".join(lines)
    return f"func.func @net(%x: {T}) -> {T} {{\n  {body}\n  return {value} : {T}\n}}"


T = f"tensor<{len(X)}x{SIZE}xf32>"
