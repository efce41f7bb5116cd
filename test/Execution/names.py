# SPDX-License-Identifier: MIT
"""What the functions of Inputs/names compute, in NumPy, and what was found.

    names.py write DIR        x.npy, y.npy
    names.py check DIR        DIR/{machine,own,inner}/output_0.npy
"""
import pathlib
import sys

import numpy as np


def codes(x):
    """The cast to the format of 16 bits, and its two operations, wrap."""
    return (x * 2).astype(np.int32).astype(np.uint16)


folder = pathlib.Path(sys.argv[2])
x = np.arange(-4, 5, dtype=np.float32)
y = np.arange(9, dtype=np.float32)[::-1] * 3
if sys.argv[1] == "write":
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", np.ascontiguousarray(y))
    sys.exit()
expected = {
    "machine": ((x + 1) * 3 - y) ** 2 + 2 - 4,
    "own": ((codes(x) + codes(y)) ^ codes(x)).astype(np.float32) / 4,
    "inner": (x + 100) * 2 * 2,
}
for name, result in expected.items():
    found = np.load(folder / name / "output_0.npy")
    assert found.tobytes() == result.astype(np.float32).tobytes(), (name, found, result)
print("as written")
