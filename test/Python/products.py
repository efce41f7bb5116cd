# SPDX-License-Identifier: MIT
"""Products of matrices, as models in MLIR."""


def product(rows, steps, columns, constant=None):
    """x y, of f32; `constant` is y's elements, in lists, where it is no input."""
    x, y, z = (f"tensor<{shape}xf32>" for shape in (f"{rows}x{steps}", f"{steps}x{columns}", f"{rows}x{columns}"))
    given = f", %y: {y}" if constant is None else ""
    elements = "" if constant is None else f"%y = arith.constant dense<{constant}> : {y}"
    return f"""
func.func @f(%x: {x}{given}) -> {z} {{
  {elements}
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {z}
  %i = linalg.fill ins(%zero : f32) outs(%e : {z}) -> {z}
  %z = linalg.matmul ins(%x, %y : {x}, {y}) outs(%i : {z}) -> {z}
  return %z : {z}
}}"""
