# SPDX-License-Identifier: MIT
"""Unique against numpy.unique and the order of first places: unique.py FOLDER

`wrong.onnx` declares one element more than there are.
"""

import sys
from pathlib import Path

import numpy as np
from node_cases import check, write

# Shape, axis, sorted.
CASES = [
    ((20,), None, 1),
    ((5, 4), None, 0),
    ((8, 2), 0, 1),
    ((2, 9), -1, 0),
    ((2, 8, 1), 1, 1),
]


def unique(x, axis, is_sorted):
    y, places, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not is_sorted:
        order = np.argsort(places)
        y = np.take(y, order, axis=axis or 0)
        places, counts = places[order], counts[order]
        inverse = np.argsort(order)[inverse]
    return [y, places, inverse, counts]


def main(folder):
    generator = np.random.default_rng(6)
    cases = []
    for shape, axis, is_sorted in CASES:
        for kind in "fi":
            x = generator.integers(-2, 2, shape)
            x = x / 2 if kind == "f" else x
            if kind == "f" and axis is None:
                x.flat[[1, 6]] = np.nan
            attributes = {"sorted": is_sorted}
            if axis is not None:
                attributes["axis"] = axis
            result = unique(x, axis, is_sorted)
            cases.append(("Unique", attributes, [x], lambda _, y=result: y))
    check(folder, cases, 11)
    result = unique(np.load(folder / "x0_0.npy"), None, 1)
    result[0] = np.zeros(len(result[0]) + 1)
    write(folder, [("Unique", {}, [np.load(folder / "x0_0.npy")], None)], 11, [result])
    (folder / "model.onnx").rename(folder / "wrong.onnx")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
