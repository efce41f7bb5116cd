# SPDX-License-Identifier: MIT
"""MaxUnpool against the loop of its definition: max_unpool.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from node_cases import Known, check

# Shape, kernel, strides, pads, output_shape.
CASES = [
    ((2, 2, 2, 3), (2, 2), (2, 2), None, None),
    ((1, 2, 3, 3), (3, 2), (2, 1), (1, 0, 0, 1), None),
    ((1, 1, 2, 2), (2, 2), (2, 2), None, (1, 1, 5, 6)),
    ((1, 2, 4), (3,), None, None, (2, 2, 7)),
    ((1, 1, 2, 1, 2), (1, 2, 2), None, None, None),
]


def main(folder):
    generator = np.random.default_rng(3)
    cases = []
    for shape, kernel, strides, pads, wanted in CASES:
        rank = len(kernel)
        step, pad = strides or (1,) * rank, pads or (0,) * (2 * rank)
        pooled = [*shape[:2]] + [
            (shape[i + 2] - 1) * step[i] + kernel[i] - pad[i] - pad[rank + i]
            for i in range(rank)
        ]
        x = generator.integers(-8, 9, shape) / 8
        # Some places more than once: the last element stays.
        where = generator.integers(0, np.prod(pooled), shape)
        flat = np.zeros(np.prod(pooled))
        for place, number in zip(where.flat, x.flat, strict=True):
            flat[place] = number
        result = np.zeros(wanted or pooled)
        result[tuple(map(slice, pooled))] = flat.reshape(pooled)
        given = {"kernel_shape": kernel, "strides": strides, "pads": pads}
        inputs = [x, where] + ([Known(np.int64(wanted))] if wanted else [])
        cases.append(
            (
                "MaxUnpool",
                {name: list(value) for name, value in given.items() if value},
                inputs,
                lambda _, y=result: [y],
            )
        )
    check(folder, cases, 22)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
