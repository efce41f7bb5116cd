# SPDX-License-Identifier: MIT
"""What is made of the sums of a contraction before they are written: finish.py FOLDER

A program that returns the sums alone, and NumPy, which does the rest in f32, give
the bits of a program that does it all: a bias and a clamp, or a residual, or both,
in a padded buffer or not; one block of steps and several, whole vectors of columns
and parts of some, on several CPUs and with two threads.
"""

import pathlib
import subprocess
import sys

import numpy as np

MAPS = """#image = affine_map<(y, x, f, k) -> (y, x, k)>
#weights = affine_map<(y, x, f, k) -> (k, f)>
#sums = affine_map<(y, x, f, k) -> (y, x, f)>
#same = affine_map<(y, x, f) -> (y, x, f)>
#column = affine_map<(y, x, f) -> (f)>
"""


def program(height, width, steps, filters, finish, padded):
    """`finish` names what is read beside the sums: "bias", "residual", both, or none."""
    whole = f"tensor<{height}x{width}x{filters}xf32>"
    image, weights = f"tensor<{height}x{width}x{steps}xf32>", f"tensor<{steps}x{filters}xf32>"
    bias = f"tensor<{filters}xf32>"
    text = MAPS + f"""
func.func @f(%image: {image}, %weights: {weights}, %bias: {bias}, %residual: {whole})
    -> RESULT {{
  %zero = arith.constant 0.0 : f32
  %most = arith.constant 6.0 : f32
  %0 = tensor.empty() : {whole}
  %1 = linalg.fill ins(%zero : f32) outs(%0 : {whole}) -> {whole}
  %2 = linalg.generic {{indexing_maps = [#image, #weights, #sums],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]}}
      ins(%image, %weights : {image}, {weights}) outs(%1 : {whole}) {{
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %r = numera.mac %a, %b, %sum : f32
    linalg.yield %r : f32
  }} -> {whole}
"""
    last, result = "%2", whole
    if finish:
        types = {"bias": bias, "residual": whole}
        maps = {"bias": "#column", "residual": "#same"}
        body, value = "", "%a"
        for i, name in enumerate(finish):
            body += f"    %s{i} = numera.add {value}, %{name}0 : f32\n"
            value = f"%s{i}"
        text += f"""
  %3 = linalg.generic {{indexing_maps = [#same, {", ".join(maps[name] for name in finish)}, #same],
      iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%2, {", ".join("%" + name for name in finish)} : {whole}, {", ".join(types[name] for name in finish)})
      outs(%0 : {whole}) {{
  ^bb0(%a: f32, {", ".join(f"%{name}0: f32" for name in finish)}, %out: f32):
{body}    %m = numera.max {value}, %zero : f32
    %n = numera.min %m, %most : f32
    linalg.yield %n : f32
  }} -> {whole}
"""
        last = "%3"
    if padded:
        result = f"tensor<{height + 2}x{width + 3}x{filters}xf32>"
        text += f"""
  %4 = tensor.pad {last} low[1, 2, 0] high[1, 1, 0] {{
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %most : f32
  }} : {whole} to {result}
  %5 = tensor.empty() : {result}
  %6 = linalg.generic {{indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]}}
      ins(%4 : {result}) outs(%5 : {result}) {{
  ^bb0(%a: f32, %out: f32):
    %r = numera.neg %a : f32
    linalg.yield %r : f32
  }} -> {result}
"""
        last = "%6"
    return text.replace("RESULT", result) + f"  return {last} : {result}\n}}\n"


def run(folder, text, inputs, *options):
    (folder / "model.mlir").write_text(text)
    subprocess.run(["numera", "run", folder / "model.mlir", *options, *inputs, "--output-dir", folder / "out"],
                   check=True, stdout=subprocess.DEVNULL)
    return np.load(next((folder / "out").glob("*.npy")))


def expected(sums, finish, padded, bias, residual):
    with np.errstate(invalid="ignore"):
        for name in finish:
            sums = sums + {"bias": bias, "residual": residual}[name]
    # The least of a NaN and a number is NaN, and its sign does not count.
    result = np.where(np.isnan(sums), np.float32(np.nan), np.minimum(np.maximum(sums, np.float32(0)), np.float32(6)))
    return -np.pad(result, ((1, 1), (2, 1), (0, 0)), constant_values=6) if padded else result


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir()
    random = np.random.default_rng(7)
    count = 0
    for height, width, steps, filters in [(5, 7, 20, 16), (6, 9, 530, 24), (7, 7, 70, 104), (4, 5, 1100, 160)]:
        shapes = {"image": (height, width, steps), "weights": (steps, filters), "bias": (filters,),
                  "residual": (height, width, filters)}
        arrays = {name: random.standard_normal(shape).astype("f4") for name, shape in shapes.items()}
        arrays["bias"][3], arrays["residual"][1, 2, 5] = np.inf, -np.inf
        inputs = []
        for name, array in arrays.items():
            np.save(folder / f"{name}.npy", array)
            inputs += ["--input", folder / f"{name}.npy"]
        sums = run(folder, program(height, width, steps, filters, [], False), inputs)
        for finish, padded, options in [(["bias"], False, ["--cpu", "x86-64"]), (["bias"], True, []),
                                        (["bias"], True, ["--threads", "2"]),
                                        (["residual"], False, ["--cpu", "x86-64-v3"]),
                                        (["bias", "residual"], False, []), (["bias", "residual"], True, [])]:
            result = run(folder, program(height, width, steps, filters, finish, padded), inputs, *options)
            right = expected(sums, finish, padded, arrays["bias"], arrays["residual"])
            same = (result.view("u4") == right.view("u4")) | (np.isnan(result) & np.isnan(right))
            assert same.all(), (height, width, steps, filters, finish, padded, options)
            count += 1
    print(count, "programs")


main()
