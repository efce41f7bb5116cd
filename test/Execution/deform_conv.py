# SPDX-License-Identifier: MIT
"""DeformConv against its definition, place by place: deform_conv.py FOLDER"""

import itertools
import sys
from pathlib import Path

import numpy as np
from node_cases import check

# Image, weights, group, offset_group, strides, dilations, pads, mask, bias.
CASES = [
    ((2, 2, 4, 5), (3, 2, 2, 3), 1, 1, None, None, None, True, True),
    ((1, 4, 5, 4), (4, 2, 2, 2), 2, 2, (2, 1), (1, 2), (1, 0, 1, 1), True, False),
    ((1, 4, 3, 3), (2, 4, 2, 2), 1, 4, None, None, (1, 1, 1, 1), False, True),
    ((1, 2, 6), (2, 1, 3), 2, 1, (2,), None, (1, 1), True, True),
    ((1, 1, 3, 2, 3), (2, 1, 2, 1, 2), 1, 1, None, None, None, False, False),
]


def between(image, position, r):
    """The value of an image at a position."""
    total = None
    low = [np.floor(p) for p in position]
    rest = [r(p - f) for p, f in zip(position, low, strict=True)]
    for corner in itertools.product((0, 1), repeat=len(low)):
        weight = None
        for side, part in zip(corner, rest, strict=True):
            factor = part if side else r(1 - part)
            weight = factor if weight is None else r(weight * factor)
        at = tuple(int(f) + side for f, side in zip(low, corner, strict=True))
        inside = all(0 <= p < n for p, n in zip(at, image.shape, strict=True))
        term = r(weight * image[at]) if inside else 0.0
        total = term if total is None else r(total + term)
    return total


def convolve(x, w, offset, bias, mask, groups, parts, strides, dilations, pads, r):
    rank, kernel = w.ndim - 2, w.shape[2:]
    result = np.zeros((x.shape[0], w.shape[0], *offset.shape[2:]))
    taps = list(itertools.product(*map(range, kernel)))
    group, part = w.shape[0] // groups, x.shape[1] // parts
    for n, f, *at in itertools.product(*map(range, result.shape)):
        total = 0.0
        for c, (k, tap) in itertools.product(range(w.shape[1]), enumerate(taps)):
            channel = f // group * w.shape[1] + c
            which = channel // part * len(taps) + k
            position = [
                r(
                    r(at[i] * strides[i] - pads[i] + tap[i] * dilations[i])
                    + offset[(n, which * rank + i, *at)]
                )
                for i in range(rank)
            ]
            read = between(x[n, channel], position, r)
            if mask is not None:
                read = r(read * mask[(n, which, *at)])
            total = r(total + r(read * w[(f, c, *tap)]))
        result[(n, f, *at)] = total if bias is None else r(total + bias[f])
    return result


def main(folder):
    generator = np.random.default_rng(4)
    cases = []
    for shape, of, groups, parts, strides, dilations, pads, masked, biased in CASES:
        rank = len(shape) - 2
        step, reach = strides or (1,) * rank, dilations or (1,) * rank
        pad = pads or (0,) * (2 * rank)
        places = [
            (shape[i + 2] + pad[i] + pad[rank + i] - (of[i + 2] - 1) * reach[i] - 1)
            // step[i]
            + 1
            for i in range(rank)
        ]
        taps = parts * np.prod(of[2:])

        def numbers(shape, most=8):
            return generator.integers(-most, most + 1, shape) / 8

        x, w = numbers(shape), numbers(of)
        offset = numbers((shape[0], taps * rank, *places), 15)
        bias = numbers(of[:1]) if biased else None
        mask = numbers((shape[0], taps, *places)) if masked else None
        given = {"strides": strides, "dilations": dilations, "pads": pads}
        attributes = {name: list(value) for name, value in given.items() if value}
        cases.append(
            (
                "DeformConv",
                attributes | {"group": groups, "offset_group": parts},
                [x, w, offset, bias, mask],
                lambda r, a=(x, w, offset, bias, mask, groups, parts, step, reach, pad): [
                    convolve(*a, r)
                ],
            )
        )
    check(folder, cases, 22)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
