# SPDX-License-Identifier: MIT
"""Operators whose scales, sizes, pads, axes, starts and ends are computed when the
model runs, against NumPy: computed_values.py FOLDER

The model declares the shapes of the results. `wrong` has for each operator values
that give another shape, and prints what the program says of each.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from node_cases import Known, write

GENERATOR = np.random.default_rng(9)


def numbers(*shape):
    return GENERATOR.integers(-64, 64, shape).astype("f4") / 16


def integers(*values):
    return np.array(values, "i8")


def cubic(d, a=-0.75):
    d = abs(d)
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0


def resized(x, scales, kernel, antialias=False):
    """Along each axis by a matrix of weights, half-pixel, in f64."""
    for axis, scale in enumerate(scales):
        if scale == 1:
            continue
        size = x.shape[axis]
        matrix = np.zeros((int(size * scale), size))
        width = min(scale, 1) if antialias else 1
        for i, row in enumerate(matrix):
            place = (i + 0.5) / scale - 0.5
            for k in range(-4 * size, 5 * size):
                row[np.clip(k, 0, size - 1)] += kernel((k - place) * width)
            if antialias:
                row /= row.sum()
        x = np.moveaxis(np.tensordot(matrix, x, (1, axis)), 0, axis)
    return x


def triangle(d):
    return max(0, 1 - abs(d))


def resize_cases():
    x = numbers(1, 2, 5, 6)
    for scales in (1, 1, 0.6, 1.5), (1, 1, 2.25, 0.5):
        given = np.array(scales, "f4")
        for kernel, mode in (triangle, "linear"), (cubic, "cubic"):
            for antialias in 0, 1:
                attributes = {"mode": mode, "antialias": antialias}
                y = resized(x, [float(s) for s in given], kernel, antialias)
                yield "Resize", attributes, [x, None, given], y
    # The nearest of 6 for 4, downwards: 0.25, 1.75, 3.25 and 4.75.
    y = x[..., [0, 2, 3, 5]]
    yield "Resize", {"axes": [3]}, [x, None, None, integers(4)], y
    # The middles of places, 0.33, 1, 1.67 and so on, downwards.
    middle = {"axes": [3], "coordinate_transformation_mode": "tf_half_pixel_for_nn", "nearest_mode": "floor"}
    for given in integers(9), Known(integers(9)):
        y = x[..., [0, 1, 1, 2, 3, 3, 4, 5, 5]]
        yield "Resize", middle, [x, None, None, given], y
    larger = {"axes": [3, 2], "keep_aspect_ratio_policy": "not_smaller"}
    y = x[:, :, [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]][..., np.repeat(np.arange(6), 2)]
    yield "Resize", larger, [x, None, None, integers(7, 10)], y
    # A region of places 1 to 3 of 5, and the outside.
    region = np.array([0.25, 0.75], "f4")
    crop = {
        "axes": [2],
        "mode": "linear",
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 7.0,
    }
    given = [x, region, None, integers(3)]
    yield "Resize", crop, given, x[:, :, 1:4]
    given = [x, np.array([0.75, 1.25], "f4"), None, integers(3)]
    y = np.concatenate([x[:, :, 3:], np.full((1, 2, 1, 6), 7)], 2)
    yield "Resize", crop, given, y


def cases():
    yield from resize_cases()
    x = numbers(3, 4, 5)
    for axes in (2, 0), (-1, -3):
        y = np.pad(x, ((2, 0), (0, 0), (1, 3)))
        yield "Pad", {}, [x, integers(1, 2, 3, 0), None, integers(*axes)], y
    y = np.pad(x, ((0, 0), (2, 0), (1, 3)), "reflect")
    given = [x, integers(0, 2, 1, 0, 0, 3)]
    yield "Pad", {"mode": "reflect"}, given, y
    y = np.pad(x[:, 1:3], ((1, 0), (0, 0), (0, 2)), constant_values=2.5)
    given = [x, integers(1, -1, 0, 0, -1, 2), np.float32(2.5)]
    yield "Pad", {}, given, y
    for op, function in ("ReduceSum", np.sum), ("ReduceMax", np.max):
        for axes in (0,), (-1, 0), (1, 2):
            kept = function(x, axis=axes, keepdims=True)
            yield op, {}, [x, integers(*axes)], kept
            given = [x, integers(*axes)]
            yield op, {"keepdims": 0}, given, function(x, axis=axes)
    square = numbers(4, 4)
    for axis in 0, 1:
        yield "ReduceSum", {"keepdims": 0}, [square, integers(axis)], square.sum(axis)
    for key in (
        np.s_[1:3, ::2, -2:9],
        np.s_[2:-9:-1, 3:0:-2, :4],
        np.s_[5:9, :, ::-1],
        np.s_[-7:2, 1:1, :],
    ):
        # Indices as ONNX has them: an end below all is far below.
        bounds = [k.indices(n) for k, n in zip(key, x.shape, strict=True)]
        starts = [k.start or b[0] for k, b in zip(key, bounds, strict=True)]
        ends = [b[1] if b[1] >= 0 else -99 for b in bounds]
        steps = [b[2] for b in bounds]
        order = [1, 2, 0]
        lists = [integers(*np.take(each, order)) for each in (starts, ends)]
        lists += [integers(1, -1, 0), integers(*np.take(steps, order))]
        yield "Slice", {}, [x, *lists], x[key]
    yield "Expand", {}, [x[:, :1], integers(2, 3, 4, 1)], np.tile(x[:, :1], (2, 1, 4, 1))
    yield "Tile", {}, [x, integers(1, 2, 3)], np.tile(x, (1, 2, 3))
    yield "Reshape", {}, [x, integers(0, -1, 2)], x.reshape(3, 10, 2)
    yield "Squeeze", {}, [x[:, :1], integers(-2)], x[:, 0]
    yield "Unsqueeze", {}, [x, integers(4, 0)], x[None, ..., None]
    scalars = [np.array(v, "f4") for v in (1.5, -2, -0.75)]
    yield "Range", {}, scalars, np.arange(1.5, -2, -0.75, "f4")
    scalars = [np.array(v, "i8") for v in (3, 17, 4)]
    yield "Range", {}, scalars, np.arange(3, 17, 4)


def open_cases():
    """Results whose sizes nobody declares."""
    x = GENERATOR.integers(-1, 3, (4, 6)).astype("f4")
    yield "NonZero", {}, [x], [np.stack(np.nonzero(x))]
    yield "NonZero", {}, [0 * x], [np.zeros((2, 0), "i8")]
    yield "NonZero", {}, [np.array(1, "f4")], [np.zeros((0, 1), "i8")]
    flags = np.array([True, False, True, True])
    yield "Compress", {"axis": 0}, [x, flags], [x[flags]]
    yield "Compress", {}, [x, np.zeros(5, "?")], [np.zeros(0, "f4")]
    # Flags beyond the dimension do not count.
    yield "Compress", {"axis": 0}, [x, np.array([*flags, False, False])], [x[flags]]
    yield "Compress", {"axis": 0}, [x[:0], np.zeros(1, "?")], [x[:0]]
    for scalars in (1.5, -2, -0.75), (0, 3, 0.5), (2, 1, 1):
        scalars = [np.array(v, "f4") for v in scalars]
        yield "Range", {}, scalars, [np.arange(*scalars, dtype="f4")]
    scalars = [np.array(v, "i8") for v in (9, -4, -3)]
    yield "Range", {}, scalars, [np.arange(9, -4, -3)]
    y, first, inverse, counts = np.unique(x, True, True, True)
    yield "Unique", {}, [x], [y, first, inverse.ravel(), counts]
    order = np.argsort(first)
    places = np.argsort(order)[inverse.ravel()]
    yield "Unique", {"sorted": 0}, [x], [y[order], first[order], places, counts[order]]


# What gives another shape than is declared: the input, its new value, the message.
ANOTHER = "finds another size than the {} that the model declares"
WRONG = {
    "Resize": ([numbers(1, 1, 4, 4), None, np.array([1, 1, 1, 2], "f4")],
               2, np.array([1, 1, 1, 1.5], "f4"), numbers(1, 1, 4, 8), ANOTHER.format(8)),
    "Pad": ([numbers(3), integers(1, 1)], 1, integers(1, 2), numbers(5), ANOTHER.format(5)),
    "ReduceSum": ([numbers(3, 4), integers(0)], 1, integers(1), numbers(1, 4),
                  "takes axes that do not give the size that the model declares"),
    "ReduceMax": ([numbers(3, 3), integers(0)], 1, integers(2), numbers(1, 3),
                  "takes axes that do not give the size that the model declares"),
    "Slice": ([numbers(5), integers(1), integers(3)], 2, integers(9), numbers(2),
              ANOTHER.format(2)),
    "Expand": ([numbers(1), integers(4)], 1, integers(5), numbers(4), ANOTHER.format(4)),
    "Tile": ([numbers(2), integers(2)], 1, integers(3), numbers(4), ANOTHER.format(4)),
    "Reshape": ([numbers(6), integers(2, 3)], 1, integers(3, 2), numbers(2, 3),
                ANOTHER.format(2)),
    "Squeeze": ([numbers(1, 3, 1), integers(0)], 1, integers(2), numbers(3, 1),
                "takes axes that do not give the shape that the model declares"),
    "Range": ([np.array(v, "i8") for v in (0, 4, 1)], 1, np.array(5, "i8"),
              integers(0, 1, 2, 3), ANOTHER.format(4)),
}  # fmt: skip


def run(folder, names):
    command = ["numera", "run", folder / "model.onnx", "--output-dir", folder]
    command += ["--optimization", "0"]
    for each in names:
        command += ["--input", folder / f"{each}.npy"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main(folder):
    folder = folder.resolve()
    several = list(cases())
    results = [[np.asarray(y)] for *_, y in several]
    results = [[y.astype("f4") if y.dtype.kind == "f" else y] for [y] in results]
    names = write(folder, several, 18, results)
    ran = run(folder, names)
    assert ran.returncode == 0, ran.stderr
    for n, [y] in enumerate(results):
        found = np.load(folder / f"y{n}_0.npy")
        exact = several[n][0] != "Resize"
        assert found.shape == y.shape, (n, several[n][:2], found.shape, y.shape)
        close = np.array_equal(found, y) if exact else np.allclose(found, y, 1e-5, 1e-5)
        assert close, (n, several[n], found)
    print(f"{len(results)} results, the same")
    several = list(open_cases())
    results = [case[3] for case in several]
    ran = run(folder, write(folder, several, 18, results, declares=False))
    assert ran.returncode == 0, ran.stderr
    for n, expected in enumerate(results):
        for i, y in enumerate(expected):
            found = np.load(folder / f"y{n}_{i}.npy")
            assert found.shape == y.shape and np.array_equal(found, y), (several[n], i, found, y)
    print(f"{len(results)} results of open sizes, the same")
    given = [np.array(v, "f4") for v in (0, np.inf, 1)]
    names = write(folder, [("Range", {}, given, None)], 18, [[given[0][None]]], declares=False)
    print(run(folder, names).stderr, end="")
    for op, (given, i, value, y, message) in WRONG.items():
        names = write(folder, [(op, {}, given, None)], 18, [[y]])
        assert run(folder, names).returncode == 0, op
        np.save(folder / f"x0_{i}.npy", value)
        ran = run(folder, names)
        expected = f"numera: error: cases: {op} of 'node0' {message}\n"
        assert (ran.returncode, ran.stderr) == (1, expected), (op, ran)
        print(f"{op}: refused")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
