# SPDX-License-Identifier: MIT
"""MaxRoiPool against its definition, bin by bin: max_roi_pool.py FOLDER"""

import sys
from pathlib import Path

import numpy as np
from node_cases import check

# Bins, scale.
CASES = [((2, 3), 1.0), ((3, 2), 0.5), ((1, 1), 0.25), ((4, 4), 1.0)]
REGIONS = [
    (0, 1, 2, 5, 7),
    (1, 0, 0, 7, 3),
    (1, 3, 1, 2, 14),  # partly outside
    (0, 6, 5, 4, 3),  # turned around: one element
    (1, 12, 13, 15, 16),  # outside: empty bins
]


def pool(x, regions, bins, scale, r):
    result = np.zeros((len(regions), x.shape[1], *bins))
    for n, (image, *box) in enumerate(regions):
        x1, y1, x2, y2 = (np.floor(r(r(place * r(scale)) + 0.5)) for place in box)
        ends = []
        for start, end, count, size in (
            (y1, y2, bins[0], x.shape[2]),
            (x1, x2, bins[1], x.shape[3]),
        ):
            length = r(max(r(r(end - start) + 1), 1))
            each = r(length / count)
            ends.append(
                [
                    (
                        int(np.clip(r(np.floor(r(i * each)) + start), 0, size)),
                        int(np.clip(r(np.ceil(r((i + 1) * each)) + start), 0, size)),
                    )
                    for i in range(count)
                ]
            )
        for i, (top, bottom) in enumerate(ends[0]):
            for j, (left, right) in enumerate(ends[1]):
                part = x[int(image), :, top:bottom, left:right]
                if part.size:
                    result[n, :, i, j] = part.max(axis=(1, 2))
    return result


def main(folder):
    generator = np.random.default_rng(5)
    regions = np.array(REGIONS, float)
    cases = []
    for bins, scale in CASES:
        x = generator.integers(-8, 9, (2, 2, 6, 7)) / 8
        cases.append(
            (
                "MaxRoiPool",
                {"pooled_shape": bins, "spatial_scale": scale},
                [x, regions],
                lambda r, x=x, a=(bins, scale): [pool(x, regions, *a, r)],
            )
        )
    check(folder, cases, 22)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
