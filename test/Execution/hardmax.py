# SPDX-License-Identifier: MIT
"""Hardmax against its definition: hardmax.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from node_cases import check


def hardmax(x, axis):
    """1 at the first of the largest along the axis."""
    result = np.zeros(x.shape)
    np.put_along_axis(result, np.expand_dims(x.argmax(axis=axis), axis), 1, axis)
    return result


def main(folder):
    # Few numbers, so that several are the largest.
    x = np.random.default_rng(3).integers(-2, 3, (3, 4, 5)) / 2.0
    cases = [
        ("Hardmax", {"axis": axis}, [x], lambda _, axis=axis: [hardmax(x, axis)])
        for axis in (0, 1, 2, -1, -2)
    ]
    # Of nothing along an axis there is nothing.
    nothing = np.zeros((0, 3))
    cases.append(("Hardmax", {"axis": 0}, [nothing], lambda _: [nothing]))
    check(folder, [*cases, ("Hardmax", {}, [x], lambda _: [hardmax(x, -1)])], 13)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
