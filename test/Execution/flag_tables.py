# SPDX-License-Identifier: MIT
"""Status flags of operations on one code are read from tables. The same operations
with constants that are inputs are computed: they have the same counts.
flag_tables.py FOLDER FORMAT..."""
import json
import subprocess
import sys
from pathlib import Path

import numpy as np

CONSTANTS = {"a": 1.4142135, "b": 0.5, "c": 1.0, "d": 3.0e4}
STEPS = """
  %q = arith.divf %x, %a : TENSOR
  %e = math.erf %q : TENSOR
  %h = arith.mulf %b, %x : TENSOR
  %s = arith.addf %c, %e : TENSOR
  %g = arith.mulf %h, %s : TENSOR
  %l = math.log %g : TENSOR
  %r = math.sqrt %g : TENSOR
  %m = arith.mulf %g, %d : TENSOR
  %n = arith.divf %c, %g : TENSOR
  %u = arith.subf %m, %n : TENSOR
  %v = math.exp %g : TENSOR
  %w = math.rsqrt %x : TENSOR
  return %l, %r, %u, %v, %w : TENSOR, TENSOR, TENSOR, TENSOR, TENSOR
}
"""


def write(path, n, are_inputs):
    more = "".join(f", %{name}: TENSOR" for name in CONSTANTS) if are_inputs else ""
    text = f"func.func @f(%x: TENSOR{more}) -> (TENSOR, TENSOR, TENSOR, TENSOR, TENSOR) {{\n"
    if not are_inputs:
        text += "".join(f"  %{name} = arith.constant dense<{value:e}> : TENSOR\n" for name, value in CONSTANTS.items())
    path.write_text((text + STEPS).replace("TENSOR", f"tensor<{n}xf32>"))


def main(folder, *formats):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # Of all magnitudes, with infinities and NaN, and some near 1.
    x = np.concatenate([(np.arange(1 << 16, dtype="u4") << 16).view("f4"),
                        np.linspace(-4, 4, 1 << 14, dtype="f4")])
    np.save(folder / "x.npy", x)
    inputs = ["--input", folder / "x.npy"]
    for name, value in CONSTANTS.items():
        np.save(folder / f"{name}.npy", np.full(len(x), value, "f4"))
        inputs += ["--input", folder / f"{name}.npy"]
    for are_inputs in (False, True):
        write(folder / f"{are_inputs}.mlir", len(x), are_inputs)
    for form in formats:
        found = []
        for are_inputs in (False, True):
            given = inputs if are_inputs else inputs[:2]
            output = subprocess.run(["numera", "run", folder / f"{are_inputs}.mlir", "--format", form, "--stats", "--json", *given],
                                    check=True, capture_output=True, text=True).stdout
            found.append([row for row in json.loads(output)["stats"] if row["operation"] != "cast"])
        if found[0] != found[1]:
            for one, other in zip(*found, strict=True):
                print(form, one, other, sep="\n")
        raised = sum(row[kind] for row in found[0] for kind in ("overflow", "underflow", "invalid", "division_by_zero"))
        print(f"{form}: {'same' if found[0] == found[1] else 'different'}, {raised} flags")


main(*sys.argv[1:])
