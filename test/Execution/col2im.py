# SPDX-License-Identifier: MIT
"""Col2Im against its definition, block by block: col2im.py FOLDER"""

import itertools
import sys
from pathlib import Path

import numpy as np
from node_cases import Known, check

# Image, block, strides, dilations, pads.
CASES = [
    ((5, 5), (1, 5), None, None, None),
    ((5, 4), (2, 2), None, None, (0, 1, 1, 1)),
    ((5, 6), (3, 2), (2, 1), (1, 2), (1, 0, 1, 2)),
    ((7,), (3,), (2,), (2,), None),
    ((3, 4, 2), (2, 2, 1), None, None, None),
]


def counts(image, block, strides, dilations, pads):
    rank = len(image)
    return [
        (image[i] + pads[i] + pads[rank + i] - (block[i] - 1) * dilations[i] - 1)
        // strides[i]
        + 1
        for i in range(rank)
    ]


def assemble(x, image, block, strides, dilations, pads, r):
    blocks = list(
        itertools.product(*map(range, counts(image, block, strides, dilations, pads)))
    )
    taps = list(itertools.product(*map(range, block)))
    channels = x.shape[1] // len(taps)
    result = np.zeros((x.shape[0], channels, *image))
    for (k, tap), (which, start) in itertools.product(
        enumerate(taps), enumerate(blocks)
    ):
        at = tuple(
            start[i] * strides[i] + tap[i] * dilations[i] - pads[i]
            for i in range(len(image))
        )
        if any(p < 0 or p >= n for p, n in zip(at, image, strict=True)):
            continue
        for c in range(channels):
            place = (slice(None), c, *at)
            result[place] = r(result[place] + x[:, c * len(taps) + k, which])
    return result


def main(folder):
    generator = np.random.default_rng(2)
    cases = []
    for image, block, strides, dilations, pads in CASES:
        rank = len(image)
        given = {"strides": strides, "dilations": dilations, "pads": pads}
        filled = (strides or (1,) * rank, dilations or (1,) * rank)
        filled += (pads or (0,) * (2 * rank),)
        taps, places = np.prod(block), np.prod(counts(image, block, *filled))
        x = generator.integers(-8, 9, (2, 2 * taps, places)) / 8
        cases.append(
            (
                "Col2Im",
                {name: list(value) for name, value in given.items() if value},
                [x, Known(np.int64(image)), Known(np.int64(block))],
                lambda r, x=x, a=(image, block, *filled): [assemble(x, *a, r)],
            )
        )
    check(folder, cases, 18)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
