# SPDX-License-Identifier: MIT
"""RoiAlign against its definition, sample by sample: roi_align.py FOLDER"""

import itertools
import sys
from pathlib import Path

import numpy as np
from node_cases import check

# Mode, place, bins, samples, scale; opset 10 has no place.
CASES = [
    ("avg", "half_pixel", (2, 3), 2, 1.0),
    ("avg", "output_half_pixel", (3, 2), 1, 0.5),
    ("max", "half_pixel", (2, 2), 3, 0.25),
    ("max", "output_half_pixel", (1, 3), 2, 1.0),
    ("avg", None, (2, 2), 3, 0.5),
]
BOXES = [
    (1, 2, 5, 7),
    (0, 0, 7.5, 3),
    (-3, 0.5, 2, 14),  # partly outside
    (6, 5, 4, 3),  # turned around
    (2, 2, 2, 2),
    (12, 13, 15, 16),
]


def around(place, size, r):
    """Elements and weights, or nothing outside."""
    if place < -1 or place > size:
        return None
    place = max(place, 0.0)
    low = int(np.floor(place))
    if low >= size - 1:
        return [(size - 1, 1.0), (size - 1, 0.0)]
    rest = r(place - low)
    return [(low, r(1 - rest)), (low + 1, rest)]


def places(first, last, bins, samples, scale, half, r):
    start, end = r(first * r(scale)), r(last * r(scale))
    if half:
        start, end = r(start - 0.5), r(end - 0.5)
    length = r(end - start)
    if not half:
        length = max(length, 1.0)
    size = r(length / bins)
    return [
        [
            r(r(start + r(size * p)) + r(r(size * r(i + 0.5)) / samples))
            for i in range(samples)
        ]
        for p in range(bins)
    ]


def align(x, boxes, images, mode, place, bins, samples, scale, r):
    half = place == "half_pixel"
    result = np.zeros((len(boxes), x.shape[1], *bins))
    for n, (box, image) in enumerate(zip(boxes, images, strict=True)):
        ys = places(box[1], box[3], bins[0], samples, scale, half, r)
        xs = places(box[0], box[2], bins[1], samples, scale, half, r)
        for c, i, j in itertools.product(*map(range, result.shape[1:])):
            reads = []
            for y, column in itertools.product(ys[i], xs[j]):
                rows = around(y, x.shape[2], r)
                columns = around(column, x.shape[3], r)
                if rows is None or columns is None:
                    reads.append(0.0)
                    continue
                terms = [
                    r(r(p * q) * x[image, c, u, v])
                    for (u, p), (v, q) in itertools.product(rows, columns)
                ]
                total = terms[0]
                for term in terms[1:]:
                    total = r(total + term)
                reads.append(total if mode == "avg" else max(terms))
            total = 0.0
            for read in reads:
                total = r(total + read)
            result[n, c, i, j] = r(total / len(reads)) if mode == "avg" else max(reads)
    return result


def main(folder):
    generator = np.random.default_rng(5)
    boxes = np.array(BOXES)
    images = generator.integers(0, 2, len(BOXES))
    for opset in (10, 22):
        cases = []
        for mode, place, bins, samples, scale in CASES:
            if (place is None) != (opset == 10):
                continue
            x = generator.integers(-8, 9, (2, 2, 6, 7)) / 8
            attributes = {
                "mode": mode,
                "output_height": bins[0],
                "output_width": bins[1],
            }
            attributes |= {"sampling_ratio": samples, "spatial_scale": scale}
            if place:
                attributes["coordinate_transformation_mode"] = place
            settings = (mode, place, bins, samples, scale)
            cases.append(
                (
                    "RoiAlign",
                    attributes,
                    [x, boxes, images],
                    lambda r, x=x, a=settings: [align(x, boxes, images, *a, r)],
                )
            )
        check(folder, cases, opset)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
