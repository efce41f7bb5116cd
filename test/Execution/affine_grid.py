# SPDX-License-Identifier: MIT
"""AffineGrid against its definition: affine_grid.py FOLDER"""

import itertools
import sys
from pathlib import Path

import numpy as np
from node_cases import Known, check


def place(i, size, aligned):
    if aligned:
        return (2 * i + 1 - size) / (size - 1) if size > 1 else 0.0
    return (2 * i + 1 - size) / size


def grid(theta, sizes, aligned, r):
    batch, rows, _ = theta.shape
    result = np.zeros((batch, *sizes, rows))
    for at in itertools.product(*map(range, sizes)):
        point = [place(i, n, aligned) for i, n in zip(at, sizes, strict=True)]
        row = [r(np.float32(x)) for x in [*point[::-1], 1]]
        for n, k in itertools.product(range(batch), range(rows)):
            total = 0.0
            for x, factor in zip(row, theta[n, k], strict=True):
                total = r(total + r(x * factor))
            result[(n, *at, k)] = total
    return result


def main(folder):
    generator = np.random.default_rng(1)
    cases = []
    for n, (sizes, aligned) in enumerate(
        itertools.product([(3, 4), (1, 5), (2, 3, 4)], (0, 1))
    ):
        rank = len(sizes)
        theta = generator.integers(-8, 9, (2, rank, rank + 1)) / 8
        size = np.int64([2, 3, *sizes])
        cases.append(
            (
                "AffineGrid",
                {"align_corners": aligned},
                [theta, size if n % 3 == 0 else Known(size)],
                lambda r, t=theta, s=sizes, a=aligned: [grid(t, s, a, r)],
            )
        )
    check(folder, cases, 20)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
