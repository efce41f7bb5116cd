# SPDX-License-Identifier: MIT
"""NonMaxSuppression against the loop that it is: non_max_suppression.py FOLDER

Every operation on coordinates is rounded to the format, so that the same boxes are
kept. `wrong.onnx` declares one box more than there are.
"""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import IS_MIRRORED
from onnx import TensorProto, helper, save
from recurrent import FORMATS

BOXES, LIMITS = 24, np.int64([5])
# Batches, classes, center_point_box, the limit of overlaps, the least score.
CASES = [
    (1, 1, 0, 0.3, 0.25),
    (2, 3, 1, 0.5, 0.375),
    (2, 2, 0, 0.0, None),
    (1, 2, 1, None, None),
    (1, 1, 0, 0.5, 1.0),
]


def corners(box, is_centered, r):
    a, b, c, d = box
    if is_centered:
        w, h = r(c / 2), r(d / 2)
        return r(b - h), r(a - w), r(b + h), r(a + w)
    return min(a, c), min(b, d), max(a, c), max(b, d)


def overlaps(one, other, limit, r):
    def area(y1, x1, y2, x2):
        return r(r(x2 - x1) * r(y2 - y1))

    low = np.maximum(one[:2], other[:2])
    high = np.minimum(one[2:], other[2:])
    if (high <= low).any():
        return False
    common = area(*low, *high)
    areas = area(*one), area(*other)
    union = r(r(areas[0] + areas[1]) - common)
    if min(common, *areas, union) <= 0:
        return False
    return r(common / union) > r(np.float32(limit))


def select(boxes, scores, is_centered, most, limit, least, r):
    """Rows of batch, class and box."""
    rows = []
    for batch, which in itertools.product(*map(range, scores.shape[:2])):
        mine = scores[batch, which]
        kept = []
        for i in sorted(range(len(mine)), key=lambda i: (-mine[i], i)):
            if len(kept) == most or (least is not None and mine[i] <= least):
                break
            box = corners(boxes[batch, i], is_centered, r)
            others = [corners(boxes[batch, j], is_centered, r) for j in kept]
            if not any(overlaps(box, other, limit or 0, r) for other in others):
                kept.append(i)
        rows += [(batch, which, i) for i in kept]
    return np.array(rows, "i8").reshape(-1, 3)


def write(path, cases, counts):
    nodes, inputs, outputs = [], [], []
    kind = TensorProto.FLOAT
    for n, ((batches, classes, is_centered, limit, least), count) in enumerate(
        zip(cases, counts, strict=True)
    ):
        shapes = {"boxes": [batches, BOXES, 4], "scores": [batches, classes, BOXES]}
        shapes |= {"limit": [1] if limit is not None else None}
        shapes |= {"least": [] if least is not None else None}
        for name, shape in shapes.items():
            if shape is not None:
                inputs.append(helper.make_tensor_value_info(f"{name}{n}", kind, shape))
        places = [
            f"{name}{n}" if shape is not None else "" for name, shape in shapes.items()
        ]
        places.insert(2, "most")
        while not places[-1]:
            places.pop()
        nodes.append(
            helper.make_node(
                "NonMaxSuppression",
                places,
                [f"y{n}"],
                f"node{n}",
                center_point_box=is_centered,
            )
        )
        outputs.append(
            helper.make_tensor_value_info(f"y{n}", TensorProto.INT64, [count, 3])
        )
    inputs.append(helper.make_tensor_value_info("most", TensorProto.INT64, [1]))
    graph = helper.make_graph(nodes, "select", inputs, outputs)
    opsets = [helper.make_opsetid("", 11)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=7), path)
    return [info.name for info in inputs]


def main(folder):
    generator = np.random.default_rng(4)
    np.save(folder / "most.npy", LIMITS)
    given = []
    for n, (batches, classes, _, limit, least) in enumerate(CASES):
        # Few scores, so that some are equal; sides that may be turned around.
        boxes = generator.integers(1, 9, (batches, BOXES, 4)) / 2
        scores = generator.integers(1, 9, (batches, classes, BOXES)) / 8
        given.append((boxes, scores))
        np.save(folder / f"boxes{n}.npy", boxes.astype("f4"))
        np.save(folder / f"scores{n}.npy", scores.astype("f4"))
        np.save(folder / f"limit{n}.npy", np.float32([limit or 0]))
        np.save(folder / f"least{n}.npy", np.float32(least or 0))
    for name, r in FORMATS.items():
        if IS_MIRRORED and name != "bf16":
            continue
        expected = [
            select(boxes, scores, is_centered, LIMITS[0], limit, least, r)
            for (boxes, scores), (_, _, is_centered, limit, least) in zip(
                given, CASES, strict=True
            )
        ]
        counts = [len(rows) for rows in expected]
        assert counts[-1] == 0 and min(counts[:-1]) > 2, counts
        names = write(folder / "model.onnx", CASES, counts)
        command = [
            "numera",
            "run",
            folder / "model.onnx",
            "--output-dir",
            folder,
            "--format",
            name,
            "--optimization",
            "0",
        ]
        for each in names:
            command += ["--input", folder / f"{each}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for n, rows in enumerate(expected):
            found = np.load(folder / f"y{n}.npy")
            assert np.array_equal(found, rows), (name, n, found, rows)
        print(f"{name}: {sum(counts)} boxes, the same")
    write(folder / "wrong.onnx", CASES[:1], [counts[0] + 1])


if __name__ == "__main__":
    main(Path(sys.argv[1]))
