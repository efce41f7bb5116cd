# SPDX-License-Identifier: MIT
"""Rows of padding whose inside is computed while they are written. padded.py FOLDER

Every width from 1 to 70, of sums with a bias for each channel and one for each column,
clamped: in vectors, whole and partial, or in loops. NumPy gives the same bits.
"""

import pathlib
import subprocess
import sys

import numpy as np

CLAMP = """
    %s = numera.add %x, %c : f32
    %t = numera.add %s, %d : f32
    %u = numera.max %t, %low : f32
    %y = numera.min %u, %high : f32"""
ROOT = "    %y = numera.sqrt %x : f32"


def model(width, low, high, body):
    end = low + width + high
    return f"""
#rows = affine_map<(c, y, x) -> (c, y, x)>
#channels = affine_map<(c, y, x) -> (c)>
#columns = affine_map<(c, y, x) -> (x)>
func.func @f(%image: tensor<2x3x{width}xf32>, %bias: tensor<2xf32>, %more: tensor<{width}xf32>)
    -> tensor<2x5x{end}xf32> {{
  %low = arith.constant -1.0 : f32
  %high = arith.constant 1.5 : f32
  %e = tensor.empty() : tensor<2x3x{width}xf32>
  %inside = linalg.generic {{indexing_maps = [#rows, #channels, #columns, #rows],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%image, %bias, %more : tensor<2x3x{width}xf32>, tensor<2xf32>, tensor<{width}xf32>)
      outs(%e : tensor<2x3x{width}xf32>) {{
  ^bb0(%x: f32, %c: f32, %d: f32, %out: f32):
{body}
    linalg.yield %y : f32
  }} -> tensor<2x3x{width}xf32>
  %padded = tensor.pad %inside low[0, 1, {low}] high[0, 1, {high}] {{
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %high : f32
  }} : tensor<2x3x{width}xf32> to tensor<2x5x{end}xf32>
  return %padded : tensor<2x5x{end}xf32>
}}
"""


def pad_array(folder, array, spelling):
    """What is padded is an argument."""
    width = array.shape[-1]
    value = "true" if spelling == "i1" else "7.0" if spelling.startswith("f") else "7"
    (folder / "model.mlir").write_text(f"""
func.func @f(%x: tensor<3x{width}x{spelling}>) -> tensor<4x{width + 3}x{spelling}> {{
  %c = arith.constant {value}{"" if spelling == "i1" else " : " + spelling}
  %y = tensor.pad %x low[0, 2] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %c : {spelling}
  }} : tensor<3x{width}x{spelling}> to tensor<4x{width + 3}x{spelling}>
  return %y : tensor<4x{width + 3}x{spelling}>
}}
""")
    np.save(folder / "x.npy", array)
    subprocess.run(["numera", "run", folder / "model.mlir", "--input", folder / "x.npy",
                    "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
    expected = np.pad(array, ((0, 1), (2, 1)), constant_values=array.dtype.type(7))
    got = np.load(folder / "output_0.npy")
    assert got.dtype == array.dtype and np.array_equal(got, expected), (spelling, width)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(7)
    for width in range(1, 71):
        arrays = [random.standard_normal(shape).astype("f4")
                  for shape in ((2, 3, width), (2,), (width,))]
        arrays[0].flat[::11], arrays[0].flat[3 % width] = np.nan, -np.inf
        image, bias, more = arrays
        low, high = width % 3, width % 2
        body = ROOT if width % 7 == 0 else CLAMP
        (folder / "model.mlir").write_text(model(width, low, high, body))
        inputs = []
        for i, array in enumerate(arrays):
            np.save(folder / f"{i}.npy", array)
            inputs += ["--input", folder / f"{i}.npy"]
        subprocess.run(["numera", "run", folder / "model.mlir", *inputs, "--output-dir", folder],
                       check=True, stdout=subprocess.DEVNULL)
        got = np.load(folder / "output_0.npy")
        with np.errstate(invalid="ignore"):
            inside = (np.sqrt(image) if body is ROOT else
                      np.minimum(np.maximum(image + bias[:, None, None] + more, np.float32(-1)),
                                 np.float32(1.5)))
        inside[np.isnan(inside)] = np.nan
        expected = np.pad(inside, ((0, 0), (1, 1), (low, high)), constant_values=1.5)
        assert got.tobytes() == expected.tobytes(), (width, got, expected)
    for spelling, dtype in (("i1", "?"), ("i8", "i1"), ("i16", "i2"), ("i32", "i4"),
                            ("i64", "i8"), ("f64", "f8"), ("f16", "f2")):
        for width in (7, 14, 32, 33):
            pad_array(folder, random.integers(0, 2, (3, width)).astype(dtype), spelling)
    print("70 widths")


main()
