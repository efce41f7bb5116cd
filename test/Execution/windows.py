# SPDX-License-Identifier: MIT
"""Reductions of windows: shapes with whole and partial vectors, strides, distances
within the window, f32 and f64; maxima and minima in formats too. windows.py FOLDER

With a width that is known, results are the lanes of vectors; where it is dynamic,
they are computed one by one. So is what an elementwise operation makes of them. Both
give the same bits, on several CPUs, and for small whole numbers those of NumPy.
"""

import pathlib
import sys

import numpy as np
from chosen import chosen
from programs import run


def model(case, width, batch, step="numera.mac %a, %b,", changed=False):
    """A depthwise convolution, or a pool; `width` and `batch` as types spell them. The
    results may be changed: by a number of the channel's, and by what they began with."""
    channels, height, out, window, stride, apart, dtype = case
    rows = (height - 1) * stride + (window[0] - 1) * apart + 1
    columns = "?" if width == "?" else (out - 1) * stride + (window[1] - 1) * apart + 1
    image = f"tensor<{batch}x{channels}x{rows}x{columns}x{dtype}>"
    filters = f"tensor<{channels}x{window[0]}x{window[1]}x{dtype}>"
    result = f"tensor<{batch}x{channels}x{height}x{width}x{dtype}>"
    text = f"""
#image = affine_map<(n, c, y, x, i, j) -> (n, c, y * {stride} + i * {apart}, x * {stride} + j * {apart})>
#filter = affine_map<(n, c, y, x, i, j) -> (c, i, j)>
#result = affine_map<(n, c, y, x, i, j) -> (n, c, y, x)>
func.func @f(%image: {image}, %filter: {filters}, %start: {result}) -> {result} {{
  %0 = linalg.generic {{indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%image, %filter : {image}, {filters}) outs(%start : {result}) {{
  ^bb0(%a: {dtype}, %b: {dtype}, %sum: {dtype}):
    %1 = {step} %sum : {dtype}
    linalg.yield %1 : {dtype}
  }} -> {result}
"""
    if changed:
        text += f"""
  %2 = linalg.generic {{indexing_maps = [affine_map<(n, c, y, x) -> (n, c, y, x)>,
      affine_map<(n, c, y, x) -> (c, {window[0] - 1}, 0)>, affine_map<(n, c, y, x) -> (n, c, y, x)>,
      affine_map<(n, c, y, x) -> (n, c, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
      ins(%0, %filter, %start : {result}, {filters}, {result}) outs(%0 : {result}) {{
  ^bb0(%a: {dtype}, %b: {dtype}, %c: {dtype}, %out: {dtype}):
    %3 = arith.addf %a, %b : {dtype}
    %4 = arith.mulf %3, %c : {dtype}
    linalg.yield %4 : {dtype}
  }} -> {result}
"""
    return text + f"  return {'%2' if changed else '%0'} : {result}\n}}\n"


def reference(case, image, filters, start):
    channels, height, out, window, stride, apart, dtype = case
    result = start.astype("f8")
    for i in range(window[0]):
        for j in range(window[1]):
            part = image[:, :, i * apart:, j * apart:][:, :, ::stride, ::stride]
            result += part[:, :, :height, :out] * filters[None, :, i, j, None, None]
    return result


# Words of numbers of each kind; NaNs of both signs, with payloads.
EDGES = {"f4": np.array([0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00001, 0xffc00000,
                         0x7f800001, 0xff812345, 1, 0x80000001], "u4"),
         "f8": np.array([0, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48 | 5,
                         0xfff8 << 48, 0x7ff << 52 | 1, 1, 1 << 63 | 1], "u8")}


def extremes(case, image, start, is_maximum):
    """By Python's order of (number, positive zero), with one NaN."""
    channels, height, out, window, stride, apart, dtype = case
    parts = [start] + [image[:, :, i * apart:, j * apart:][:, :, ::stride, ::stride]
                       [:, :, :height, :out]
                       for i in range(window[0]) for j in range(window[1])]
    order = max if is_maximum else min
    result = np.empty_like(start)
    for place in np.ndindex(start.shape):
        numbers = [float(part[place]) for part in parts]
        result[place] = (np.nan if any(np.isnan(numbers)) else
                         order(numbers, key=lambda x: (x, np.copysign(1, x))))
    return result


def compare_extremes(folder, random, number, case):
    size = "f4" if case[-1] == "f32" else "f8"
    channels, height, out, window, stride, apart, dtype = case
    shape = (2, channels, (height - 1) * stride + (window[0] - 1) * apart + 1,
             (out - 1) * stride + (window[1] - 1) * apart + 1)
    image = random.standard_normal(shape).astype(size)
    start = random.standard_normal((2, channels, height, out)).astype(size) - 1
    # Where windows are of zeros and negative numbers alone, signs of zeros count.
    image[:, :, ::2] = -abs(image[:, :, ::2])
    image[0] = np.where(random.random(shape[1:]) < .8, -abs(image[0]) * 0, image[0])
    edges = EDGES[size].view(size)
    for array in (image, start):
        places = random.choice(array.size, max(4, array.size // 20), replace=False)
        array.flat[places] = random.choice(edges, places.size)
    arrays = [image, np.zeros((channels, *window), size), start]
    cpu = ["x86-64-v2", "x86-64-v3", "native"][number % 3]
    for op in ("max", "min"):
        step = f"numera.{op} %a,"
        fixed = model(case, out, "?" if number % 2 else 2, step)
        (vectors,) = run(folder, fixed, arrays, ["--cpu", cpu])
        expected = extremes(case, image, start, op == "max")
        assert vectors.tobytes() == expected.tobytes(), (case, op, cpu)
        # Every format once.
        forms = chosen(FORMATS) if number == 4 else [FORMATS[number % len(FORMATS)]]
        for form in forms if dtype == "f32" else []:
            (vectors,) = run(folder, fixed, arrays, ["--cpu", cpu, "--format", form])
            (alone,) = run(folder, model(case, "?", "?", step), arrays, ["--format", form])
            assert vectors.tobytes() == alone.tobytes(), (case, op, cpu, form)


FORMATS = ["bf16", "posit16", "f8E4M3FN", "f8E5M2FNUZ", "fixed<4,11>", "posit8",
           "takum<16>", "float<5,7>", "lns<4,11>", "posit32",
           "f16", "f8E5M2", "float<4,3,finite>", "float<5,10,p3109>"]
CASES = [  # channels, height, width, window, stride, distance, type
    (3, 4, 14, (3, 3), 1, 1, "f32"), (2, 3, 7, (5, 5), 2, 1, "f32"),
    (2, 2, 16, (3, 3), 2, 1, "f32"), (1, 2, 33, (1, 7), 1, 2, "f32"),
    (2, 3, 56, (3, 3), 1, 1, "f32"), (1, 3, 25, (2, 4), 2, 3, "f32"),
    (2, 2, 4, (7, 7), 1, 1, "f32"), (3, 2, 8, (3, 3), 2, 1, "f32"),
    (2, 2, 9, (3, 3), 2, 1, "f64"), (2, 3, 20, (3, 3), 1, 1, "f64"),
    (2, 2, 12, (3, 3), 3, 1, "f32"), (1, 1, 3, (3, 3), 1, 1, "f32"),
    (2, 6, 20, (3, 3), 1, 1, "f32"), (1, 9, 5, (5, 3), 2, 1, "f64"),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(3)
    cases = chosen(list(enumerate(CASES)))
    for number, case in cases:
        channels, height, out, window, stride, apart, dtype = case
        size = "f4" if dtype == "f32" else "f8"
        shape = (2, channels, (height - 1) * stride + (window[0] - 1) * apart + 1,
                 (out - 1) * stride + (window[1] - 1) * apart + 1)
        shapes = [shape, (channels, *window), (2, channels, height, out)]
        whole = [random.integers(-9, 10, each).astype(size) for each in shapes]
        drawn = [random.standard_normal(each).astype(size) for each in shapes]
        drawn[0].flat[::37], drawn[0].flat[5] = np.inf, np.nan
        for arrays, changed in ((whole, number % 2 == 0), (drawn, number % 2 == 1)):
            cpu = ["x86-64-v2", "x86-64-v3", "native"][number % 3]
            batch = 2 if changed or number % 4 else "?"
            (vectors,) = run(folder, model(case, out, batch, changed=changed), arrays,
                             ["--cpu", cpu])
            (alone,) = run(folder, model(case, "?", "?", changed=changed), arrays, [])
            assert vectors.tobytes() == alone.tobytes(), (case, cpu)
            if arrays is whole:
                expected = reference(case, *arrays)
                if changed:
                    expected = (expected + arrays[1][None, :, -1, :1, None]) * arrays[2]
                assert np.array_equal(vectors, expected), case
        compare_extremes(folder, random, number, case)
    print(len(cases), "windows")


main()
