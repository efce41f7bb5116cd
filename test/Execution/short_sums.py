# SPDX-License-Identifier: MIT
"""short_sums.py DIRECTORY [--check]: a program with each sum twice, over its
terms and over these and zeros, and its input; or a look at its results."""

import pathlib
import sys

import numpy as np

COLUMNS = 70
COUNTS = [1, 2, 3, 5, 8, 9, 17, 31, 32]
LONG = 33


def sum_over(value, rows):
    return f"""
  %{value}.sum = linalg.reduce ins(%{value} : tensor<{rows}x{COLUMNS}xf32>)
      outs(%start : tensor<{COLUMNS}xf32>) dimensions = [0]
      (%a: f32, %b: f32) {{
        %c = arith.addf %a, %b : f32
        linalg.yield %c : f32
      }}"""


def program():
    body, results = "", []
    for long in (False, True):
        for count in COUNTS:
            name = f"{'long' if long else 'short'}{count}"
            rows = f"tensor<{count}x{COLUMNS}xf32>"
            terms = name + ".terms" if long else name
            body += f"""
  %{terms} = tensor.extract_slice %x[0, 0] [{count}, {COLUMNS}] [1, 1]
      : tensor<32x{COLUMNS}xf32> to {rows}"""
            if long:
                body += f"""
  %{name} = tensor.pad %{terms} low[0, 0] high[{LONG - count}, 0] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  }} : {rows} to tensor<{LONG}x{COLUMNS}xf32>"""
            body += sum_over(name, LONG if long else count)
            results.append(name)
    types = ", ".join([f"tensor<{COLUMNS}xf32>"] * len(results))
    named = ", ".join(f'tensor<{COLUMNS}xf32> {{numera.name = "{name}"}}'
                      for name in results)
    return f"""
func.func @main(%x: tensor<32x{COLUMNS}xf32>) -> ({named}) {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<{COLUMNS}xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<{COLUMNS}xf32>)
      -> tensor<{COLUMNS}xf32>{body}
  return {", ".join(f"%{name}.sum" for name in results)} : {types}
}}
"""


def data():
    random = np.random.default_rng(5)
    x = random.standard_normal((32, COLUMNS)).astype(np.float32)
    x[:, 1] = -0.0
    x[:, 2] = np.where(random.integers(0, 2, 32), 0.0, -0.0)
    # Sums of zero, in pairs and over all.
    x[1::2, 3] = -x[::2, 3]
    x[:, 4] = np.where(np.arange(32) % 4 < 2, 1.5, -1.5)
    x[5, 5] = np.nan
    x[0, 6], x[30, 7], x[4, 8], x[6, 8] = np.inf, -np.inf, np.inf, -np.inf
    x[:, 9] *= np.float32(2.0) ** random.integers(-140, 120, 32).astype(np.float32)
    x[:, 10] *= np.float32(1e38)
    x[:, 11] *= np.float32(1e-39)
    x[:, 12:40] *= np.float32(2.0) ** random.integers(-12, 12, (32, 28)).astype(np.float32)
    return x


folder = pathlib.Path(sys.argv[1])
if "--check" not in sys.argv:
    (folder / "sums.mlir").write_text(program())
    np.save(folder / "x.npy", data())
    sys.exit()
distinct = set()
for count in COUNTS:
    short, long = (np.load(folder / f"out/{name}{count}.npy") for name in ("short", "long"))
    bits = f"u{short.dtype.itemsize}"
    short, long = short.view(bits), long.view(bits)
    distinct.update(short)
    at = np.flatnonzero(short != long)
    if len(at):
        sys.exit(f"{count} terms: column {at[0]} is {short[at[0]]:#x}, "
                 f"through partial sums {long[at[0]]:#x}")
assert len(distinct) > 100, "sums of all kinds"
