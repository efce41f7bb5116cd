# SPDX-License-Identifier: MIT
"""e^x and erf of f32 on three kinds of CPUs: single.py FOLDER

Without fused multiply-adds there is no phase in f32 (SingleExponential.h and
SingleErrorFunction.h), so one program holds the others to its bits: tables in
memory, and in registers."""

import ctypes
import subprocess
import sys
from pathlib import Path

import entries
import numpy as np

PROGRAM = """
func.func @single(%x: tensor<{n}xf32>) -> (tensor<{n}xf32>, tensor<{n}xf32>) {{
  %y = math.exp %x : tensor<{n}xf32>
  %z = math.erf %x : tensor<{n}xf32>
  return %y, %z : tensor<{n}xf32>, tensor<{n}xf32>
}}
"""


def arguments():
    """Any bits, ordinary scores, and both sides of every bound."""
    random = np.random.default_rng(1)
    any_bits = random.integers(0, 2**32, 100_000, dtype=np.uint32).view(np.float32)
    ordinary = random.uniform(-110, 90, 200_000).astype(np.float32)
    small = random.uniform(-4, 4, 200_000).astype(np.float32)
    bounds = np.float32([0, 87, 88.72284, -87, -87.33655, -103.97208, -104, -700, 3.9375, 2.0**-60, np.inf, np.nan])
    near = np.concatenate([bounds, np.nextafter(bounds, np.float32(9e9)), np.nextafter(bounds, np.float32(-9e9))])
    return np.concatenate([any_bits, ordinary, small, near, -near])


def main(folder):
    x = arguments()
    model = folder / "single.mlir"
    model.write_text(PROGRAM.format(n=len(x)))
    results = []
    for cpu in ("x86-64-v2", "x86-64-v3", "x86-64-v4"):
        library = folder / f"{cpu}.so"
        subprocess.run(["numera", "compile", model, "--format", "f32", "--cpu", cpu, "-o", library], check=True)
        result = np.empty((2, len(x)), np.float32)
        call = ctypes.CDLL(str(library))[entries.names(library)[0]]
        try:
            entries.call(call, [x], list(result), entries.options(threads=1))
        except RuntimeError as error:
            assert "this one has no" in str(error), error
            continue
        results.append(result)
    for result in results[1:]:
        for name, found, expected in zip(("exp", "erf"), result, results[0], strict=True):
            wrong = np.flatnonzero(entries.bits(found) != entries.bits(expected))
            for at in wrong[:1]:
                sys.exit(f"{name}({x[at]!r}): {found[at]!r}, expected {expected[at]!r}")
    print(f"{len(x)} results of {len(results)} programs, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
