# SPDX-License-Identifier: MIT
"""Sums over windows: shapes with whole and partial vectors, strides, distances
within the window, f32 and f64. windows.py FOLDER

With a width that is known, results are the lanes of vectors; where it is dynamic,
they are computed one by one. Both give the same bits, on several CPUs, and for
small whole numbers those of NumPy.
"""

import pathlib
import subprocess
import sys

import numpy as np


def model(case, width, batch):
    """A depthwise convolution; `width` and `batch` as types spell them."""
    channels, height, out, window, stride, apart, dtype = case
    rows = (height - 1) * stride + (window[0] - 1) * apart + 1
    columns = "?" if width == "?" else (out - 1) * stride + (window[1] - 1) * apart + 1
    image = f"tensor<{batch}x{channels}x{rows}x{columns}x{dtype}>"
    filters = f"tensor<{channels}x{window[0]}x{window[1]}x{dtype}>"
    result = f"tensor<{batch}x{channels}x{height}x{width}x{dtype}>"
    return f"""
#image = affine_map<(n, c, y, x, i, j) -> (n, c, y * {stride} + i * {apart}, x * {stride} + j * {apart})>
#filter = affine_map<(n, c, y, x, i, j) -> (c, i, j)>
#result = affine_map<(n, c, y, x, i, j) -> (n, c, y, x)>
func.func @f(%image: {image}, %filter: {filters}, %start: {result}) -> {result} {{
  %0 = linalg.generic {{indexing_maps = [#image, #filter, #result],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}}
      ins(%image, %filter : {image}, {filters}) outs(%start : {result}) {{
  ^bb0(%a: {dtype}, %b: {dtype}, %sum: {dtype}):
    %1 = numera.mac %a, %b, %sum : {dtype}
    linalg.yield %1 : {dtype}
  }} -> {result}
  return %0 : {result}
}}
"""


def run(folder, text, arrays, options):
    (folder / "model.mlir").write_text(text)
    inputs = []
    for i, array in enumerate(arrays):
        np.save(folder / f"{i}.npy", array)
        inputs += ["--input", str(folder / f"{i}.npy")]
    subprocess.run(["numera", "run", folder / "model.mlir", *options, *inputs,
                    "--output-dir", folder / "out"], check=True, stdout=subprocess.DEVNULL)
    return np.load(next((folder / "out").glob("*.npy")))


def reference(case, image, filters, start):
    channels, height, out, window, stride, apart, dtype = case
    result = start.astype("f8")
    for i in range(window[0]):
        for j in range(window[1]):
            part = image[:, :, i * apart:, j * apart:][:, :, ::stride, ::stride]
            result += part[:, :, :height, :out] * filters[None, :, i, j, None, None]
    return result


CASES = [  # channels, height, width, window, stride, distance, type
    (3, 4, 14, (3, 3), 1, 1, "f32"), (2, 3, 7, (5, 5), 2, 1, "f32"),
    (2, 2, 16, (3, 3), 2, 1, "f32"), (1, 2, 33, (1, 7), 1, 2, "f32"),
    (2, 3, 56, (3, 3), 1, 1, "f32"), (1, 3, 25, (2, 4), 2, 3, "f32"),
    (2, 2, 4, (7, 7), 1, 1, "f32"), (3, 2, 8, (3, 3), 2, 1, "f32"),
    (2, 2, 9, (3, 3), 2, 1, "f64"), (2, 3, 20, (3, 3), 1, 1, "f64"),
    (2, 2, 12, (3, 3), 3, 1, "f32"), (1, 1, 3, (3, 3), 1, 1, "f32"),
]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(3)
    for number, case in enumerate(CASES):
        channels, height, out, window, stride, apart, dtype = case
        size = "f4" if dtype == "f32" else "f8"
        shape = (2, channels, (height - 1) * stride + (window[0] - 1) * apart + 1,
                 (out - 1) * stride + (window[1] - 1) * apart + 1)
        shapes = [shape, (channels, *window), (2, channels, height, out)]
        whole = [random.integers(-9, 10, each).astype(size) for each in shapes]
        drawn = [random.standard_normal(each).astype(size) for each in shapes]
        drawn[0].flat[::37], drawn[0].flat[5] = np.inf, np.nan
        for arrays in (whole, drawn):
            cpu = ["x86-64-v2", "x86-64-v3", "native"][number % 3]
            vectors = run(folder, model(case, out, 2 if number % 2 else "?"), arrays,
                          ["--cpu", cpu])
            alone = run(folder, model(case, "?", "?"), arrays, [])
            assert vectors.tobytes() == alone.tobytes(), (case, cpu)
            if arrays is whole:
                assert np.array_equal(vectors, reference(case, *arrays)), case
    print(len(CASES), "windows")


main()
