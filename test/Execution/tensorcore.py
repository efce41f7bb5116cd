# SPDX-License-Identifier: MIT
"""Contractions by matrix instructions against products in NumPy's f64:

    tensorcore.py FOLDER FORMAT GPU…

Their bits are the machine's (docs/Semantics/Contractions.md, C10), so that an
error is bounded here: of a sum of n products by (n + 1) 2^-23 of the sum of their
magnitudes, and a rounding to the format. Inputs are values of the format.
"""
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
# Significand bits, the least exponent, and the largest value.
FORMATS = {"bf16": (8, -126, 3.38953139e38), "f16": (11, -14, 65504.0),
           "f8E4M3FN": (4, -6, 448.0), "f8E5M2": (3, -14, 57344.0),
           "float<5,7>": (8, -14, 65280.0), "f6E2M3FN": (4, 0, 7.5),
           "f4E2M1FN": (2, 0, 6.0), "posit8": (4, -8, 2.0 ** 24)}
LARGE = ("bf16", "f8E4M3FN")  # with tiles of 128 x 128
SHAPES = {"tiles": [(70, 37), (37, 65), (3, 5, 40), (3, 40, 33), (2, 3, 11, 9),
                    (6, 3, 3, 3), (1, 2, 3, 9, 10), (2, 5, 3, 3, 2), (160, 48),
                    (48, 144), (4, 0), (0, 5), (23, 16)],
          "large": [(108, 100, 9), (108, 9, 120), (1, 2, 98, 97), (5, 2, 3, 3)]}


def conv(image, filters, stride=(1, 1), dilation=(1, 1)):
    """nchw by fchw."""
    rows, columns = filters.shape[2:]
    high = (image.shape[2] - (rows - 1) * dilation[0] - 1) // stride[0] + 1
    wide = (image.shape[3] - (columns - 1) * dilation[1] - 1) // stride[1] + 1
    out = 0
    for i in range(rows):
        for j in range(columns):
            part = image[:, :, i * dilation[0]:, j * dilation[1]:]
            part = part[:, :, :high * stride[0]:stride[0], :wide * stride[1]:stride[1]]
            out = out + np.einsum("ncyx,fc->nfyx", part, filters[:, :, i, j])
    return out


def products(function, inputs, results):
    """Each result without its rounding, what it starts with, and its terms."""
    if function == "large":
        a, b, image, filters = inputs
        return [(a @ b, 0, 9), (conv(image, filters), 0, 18)]
    a, b, p, q, image, filters, grouped, groups, r, s, none, less, any_ = inputs
    dilated = np.stack([conv(grouped[:, g], groups[g], (2, 1), (1, 3))
                        for g in range(2)], axis=1)
    return [(a @ b, 0, 37), ((a @ b).T, 1.5, 37), (p @ q, 0, 40),
            (conv(image, filters, (2, 2)), 0, 27), (dilated, 0, 18),
            (r @ s, 0, 48), (s.T @ s, 0, 48), (none @ less, 1.5, 0),
            (a @ b, results[0], 37), (any_ @ any_.T, 0, 16)]


def values(random, shape, name):
    digits, least, most = FORMATS[name]
    exponent = random.integers(max(least, -6), min(int(np.log2(most)), 3) + 1, shape)
    fraction = random.integers(0, 1 << (digits - 1), shape) / (1 << (digits - 1))
    if name == "posit8":  # fewer digits far from 1
        exponent, fraction = exponent.clip(-2, 1), fraction // .25 * .25
    x = (1 + fraction) * np.exp2(exponent) * random.choice([-1, 1], shape)
    return x.clip(-most, most).astype("f4")


def run(folder, model, function, name, gpu, arrays):
    paths = []
    for i, array in enumerate(arrays):
        paths += ["--input", f"{folder}/in_{i}.npy"]
        np.save(paths[-1], array)
    done = subprocess.run(
        ["numera", "run", model, "--function", function, "--target", "nvptx", "--gpu",
         gpu, "--format", name, "--accumulate", "tensorcore", "--output-dir", folder,
         *paths], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def check(folder, function, name, gpu):
    random = np.random.default_rng(len(name) + int(gpu[3:5]))
    arrays = [values(random, shape, name) for shape in SHAPES[function]]
    report = run(folder, HERE + "/Inputs/tiles.mlir", function, name, gpu, arrays)
    assert "tensorcore: not bit-exact" in report, report
    count = len(products(function, [x.astype("f8") for x in arrays], [0]))
    results = [np.load(f"{folder}/output_{i}.npy").astype("f8") for i in range(count)]
    digits, least, most = FORMATS[name]
    exact = products(function, [x.astype("f8") for x in arrays], results)
    sizes = products(function, [np.abs(x).astype("f8") for x in arrays],
                     [np.abs(x) for x in results])
    total = 0
    for i, ((product, start, terms), (size, begin, _)) in enumerate(zip(exact, sizes)):
        wanted, got = product + start, results[i]
        ulp = np.exp2(np.floor(np.log2(np.maximum(np.abs(wanted), 2.0 ** least))))
        if name == "posit8":  # a regime of one bit more, a digit less
            regime = np.floor(np.log2(np.maximum(np.abs(wanted), 2.0 ** -8)) / 4)
            ulp *= np.exp2(np.where(regime < 0, -1 - regime, regime))
        bound = (terms + 1) * 2.0 ** -23 * (size + begin) + ulp * 2.0 ** -digits
        inside = np.abs(wanted) + bound < most
        bad = (np.abs(got - wanted) > bound) & inside
        if got.shape != wanted.shape or bad.any():
            at = np.argwhere(bad)[:3].tolist()
            sys.exit(f"{name} {gpu} {function} output {i}: {bad.sum()} of {bad.size} "
                     f"are off at {at}: {got[bad][:3]}, expected {wanted[bad][:3]}")
        total += int(inside.sum())
    return total


def special(folder, gpu):
    """Factors that are no numbers, or tiny: what any order of additions gives."""
    a, b = np.zeros((8, 20), "f4"), np.ones((20, 8), "f4")
    a[0, 3], a[1, 5], a[2, 7] = np.nan, np.inf, -np.inf
    a[3, 0], a[3, 17] = np.inf, -np.inf
    a[4], a[5, 2], a[6] = -0.0, 2.0 ** -16, 2.0 ** 14
    a[7, 1], b[1, 7] = np.inf, 0
    run(folder, f"{folder}/product.mlir", "product", "f8E5M2", gpu, [a, b])
    got = np.load(f"{folder}/output_0.npy")
    with np.errstate(invalid="ignore"):
        wanted = (a.astype("f8") @ b.astype("f8")).astype("f4")
    wanted[4] = 0.0  # sums start at +0
    wanted[6, :] = np.inf  # 20 x 2^14 and 19 x 2^14 are beyond f8E5M2
    nan = np.isnan(wanted)
    assert (np.isnan(got) == nan).all(), (got, wanted)
    assert (got.view("u4")[nan] == 0x7fc00000).all(), got
    assert (got.view("u4")[~nan] == wanted.view("u4")[~nan]).all(), (got, wanted)


def main():
    folder, name, *gpus = sys.argv[1:]
    functions = SHAPES if name in LARGE else ["tiles"]
    os.makedirs(folder, exist_ok=True)
    for gpu in gpus:
        total = sum(check(folder, function, name, gpu) for function in functions)
        print(f"{name} {gpu}: {total} results within their bounds")
    if name == "f8E5M2":
        with open(f"{folder}/product.mlir", "w", encoding="utf-8") as file:
            file.write(PRODUCT)
        for gpu in gpus:
            special(folder, gpu)
        print("special values as expected")


PRODUCT = """
func.func @product(%a: tensor<8x20xf32>, %b: tensor<20x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x20xf32>, tensor<20x8xf32>)
      outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %p : tensor<8x8xf32>
}
"""

main()
