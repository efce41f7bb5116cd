# SPDX-License-Identifier: MIT
"""The errors of layers of a small network, against NumPy: layers.py FOLDER

Clauses: M1 M2 M3 M4 M5 M6.

y = (x w) * x, where x w is a sum of three products in f32. The formats here
round nearest-even on a grid in each binade.
"""
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np

ROWS = 200
MODEL = f"""
func.func @net(%x: tensor<{ROWS}x3xf32>, %w: tensor<3x3xf32>) -> tensor<{ROWS}x3xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{ROWS}x3xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<{ROWS}x3xf32>) -> tensor<{ROWS}x3xf32>
  %p = linalg.matmul ins(%x, %w : tensor<{ROWS}x3xf32>, tensor<3x3xf32>) outs(%i : tensor<{ROWS}x3xf32>) -> tensor<{ROWS}x3xf32> loc("product")
  %m = arith.mulf %p, %x : tensor<{ROWS}x3xf32> loc("scale")
  %n = arith.negf %m : tensor<{ROWS}x3xf32> loc("negate")
  return %n : tensor<{ROWS}x3xf32>
}}
"""


class Grid:
    """A format by its precision, the exponents of its least normal and its
    largest number, the largest number, and how many codes it has."""

    def __init__(self, precision, normal, top, largest, codes, even=False, clips=True):
        self.precision, self.normal, self.top = precision, normal, top
        self.largest, self.codes, self.even, self.clips = largest, codes, even, clips
        self.lowest = -largest - (2.0**normal if even else 0)

    def least(self):
        return self.normal if self.even else self.normal - self.precision + 1

    def ulp(self, x):
        exponent = math.frexp(x)[1] - 1 if x else self.normal
        if self.even:
            return 2.0**self.normal
        return 2.0 ** (min(max(exponent, self.normal), self.top) - self.precision + 1)

    def round(self, x):
        unit = np.array([self.ulp(float(each)) for each in x.ravel()]).reshape(x.shape)
        y = np.rint(x.astype("f8") / unit) * unit
        if self.clips:
            y = np.clip(y, self.lowest, self.largest)
        return self.signed(y.astype("f4"))

    def signed(self, y):
        """Fixed point has one zero."""
        return y + np.float32(0) if self.even else y


FORMATS = {
    "bf16": Grid(8, -126, 127, float.fromhex("0x1.fep+127"), 2**16 - 2 * 127, clips=False),
    "fixed<3,4>": Grid(None, -4, 2, 8 - 2.0**-4, 256, even=True),
    "float<4,3,finite>": Grid(4, -6, 8, 480.0, 256),
}


def product(x, w):
    total = np.zeros((ROWS, 3), "f4")
    for k in range(3):
        exact = x[:, k : k + 1].astype("f8") * w[k : k + 1].astype("f8")
        total = (total.astype("f8") + exact).astype("f4")
    return total


def close(found, wanted):
    if wanted is None or found is None:
        return found is wanted
    return math.isclose(found, wanted, rel_tol=1e-9)


def decibels(r, v):
    noise = ((v - r) ** 2).sum()
    return None if noise == 0 else 10 * math.log10((r**2).sum() / noise)


def check(grid, row, reference, value, own):
    r, v, o = (np.asarray(each, "f8").ravel() for each in (reference, value, own))
    ulps = np.array([grid.ulp(x) if x else np.inf for x in r])
    for prefix, y in (("", v), ("own_", o)):
        assert close(row[prefix + "sqnr_db"], decibels(r, y)), row
        assert row[prefix + "max_abs_error"] == np.abs(y - r).max(), row
        assert close(row[prefix + "max_ulp_error"], (np.abs(y - r) / ulps).max()), row
        assert close(row[prefix + "mean_ulp_error"], (np.abs(y - r) / ulps).sum() / (r != 0).sum()), row
    count = r.size
    beyond = (r > grid.largest) | (r < grid.lowest)
    assert row["count"] == count
    assert row["overflow"] == beyond.sum() / count, row
    assert row["saturated"] == (beyond & (v == np.where(r < 0, grid.lowest, grid.largest))).sum() / count, row
    least_normal = 2.0**grid.normal
    assert row["underflow"] == ((r != 0) & (np.abs(r) < least_normal)).sum() / count, row
    assert row["zeros"] == ((r != 0) & (v == 0)).sum() / count, row
    assert row["nan"] == row["lost"] == row["own_lost"] == 0
    binades = {}
    for x in r[r != 0]:
        binade = str(math.frexp(x)[1] - 1)
        binades[binade] = binades.get(binade, 0) + 1
    assert row["exponents"] == binades, row
    assert row["format_exponents"] == [grid.least(), grid.top], row
    wasted = math.log2(grid.largest / np.abs(r).max())
    if not grid.even:
        wasted = math.log2(wasted) if wasted > 1 else 0
    assert math.isclose(row["wasted_bits"], max(wasted, 0), rel_tol=1e-12), row
    assert row["codes"] == grid.codes, row
    assert row["used_codes"] == len(set(np.asarray(value, "f4").view("u4").ravel())), row


def run(folder, form, accumulate="f32"):
    command = ["numera", "run", "net.mlir", "--format", form, "--accumulate", accumulate]
    command += ["--input", "x.npy", "--input", "w.npy", "--json", "--output-dir"]
    subprocess.run([*command, "plain"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    done = subprocess.run([*command, "shown", "--layers"], cwd=folder, check=True, stdout=subprocess.PIPE)
    plain, shown = ((folder / each / "output_0.npy").read_bytes() for each in ("plain", "shown"))
    assert plain == shown, f"{form}: --layers gives other results"
    return json.loads(done.stdout)["layers"]


def check_given_scales(folder, w):
    """A scale that is given is the layer's own as well: here one that is far too
    small, so that all of (x x) w saturates at 448 scales."""
    x = np.linspace(1, 2, ROWS * 3, dtype="f4").reshape(ROWS, 3)
    np.save(folder / "x.npy", x)
    square = "%s = arith.mulf %x, %x : tensor<200x3xf32> loc(\"square\")\n"
    model = MODEL.replace("  %zero", f"  {square}  %zero", 1).replace("ins(%x,", "ins(%s,")
    (folder / "net.mlir").write_text(model)
    (folder / "scales.yaml").write_text("""policy:
  default: f32
  activations: f8E4M3FN
  scale: {activations: per-tensor}
  scales: {product.lhs: 0.00001}
""")
    command = ["numera", "run", "net.mlir", "--formats", "scales.yaml", "--layers", "--json"]
    command += ["--input", "x.npy", "--input", "w.npy"]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE)
    row = next(r for r in json.loads(done.stdout)["layers"] if r["name"] == "product")
    wrong = (448e-5 * np.ones((ROWS, 3))) @ w - (x.astype("f8") ** 2) @ w
    assert math.isclose(row["own_max_abs_error"], np.abs(wrong).max(), rel_tol=1e-5), row
    print("given scales: as expected")


def measured(folder, operation, form, x):
    """The row of `operation` of x and itself."""
    (folder / "one.mlir").write_text(f"""func.func @one(%x: tensor<{len(x)}xf32>) -> tensor<{len(x)}xf32> {{
  %r = arith.{operation} %x, %x : tensor<{len(x)}xf32>
  return %r : tensor<{len(x)}xf32>
}}""")
    np.save(folder / "one.npy", np.array(x, "f4"))
    command = ["numera", "run", "one.mlir", "--format", form, "--layers", "--json", "--input", "one.npy"]
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["layers"][0]


def check_ends(folder):
    """Numbers beyond either end become that end; the last number of a side is not
    beyond it, and a negative one is beyond that of an unsigned format."""
    ends = {
        "fixed<3,4>": ([-7, -4, 3, 7], 2, 2),
        "fixed<3,4,wrap>": ([-7, -4, 3, 7], 2, 0),
        "float<4,3,finite>": ([-300, -240, 1, 240], 1, 1),
        "fixed<4,4,unsigned>": ([-2, -1, 4, 9], 3, 3),
    }
    for form, (x, overflow, saturated) in ends.items():
        # Blocks of finite f32 are counted in another way than those with NaN.
        for rest in ([], [np.nan]):
            row, count = measured(folder, "addf", form, x + rest), len(x + rest)
            assert row["overflow"] == overflow / count, (form, rest, row)
            assert row["saturated"] == saturated / count, (form, rest, row)
    print("ends of ranges: as expected")


def check_ulps(folder):
    """posit8 has 2^-24 and 2^-20 and none between them: their distance is the ulp.
    A reference of zero has none."""
    x = [2.0**-11, -(2.0**-11), 0]
    for rest in ([], [np.nan]):
        row = measured(folder, "mulf", "posit8", x + rest)
        assert row["own_max_abs_error"] in (3 * 2.0**-24, 12 * 2.0**-24), row
        ulps = row["own_max_abs_error"] / (15 * 2.0**-24)
        assert close(row["own_max_ulp_error"], ulps) and close(row["own_mean_ulp_error"], ulps), row
    row = measured(folder, "mulf", "posit8", [0, 0])
    assert row["max_ulp_error"] is None and row["mean_ulp_error"] is None, row
    print("ulps of posits: as expected")


def main(folder):
    random = np.random.default_rng(5)
    x = (random.standard_normal((ROWS, 3)) * 2.0 ** random.integers(-6, 3, (ROWS, 3))).astype("f4")
    x[0] = 0
    w = random.standard_normal((3, 3)).astype("f4")
    np.save(folder / "x.npy", x)
    np.save(folder / "w.npy", w)
    (folder / "net.mlir").write_text(MODEL)
    for form, grid in FORMATS.items():
        rows = run(folder, form)
        assert [row["name"] for row in rows] == ["product", "scale", "negate"]
        assert [row["operation"] for row in rows] == ["matmul", "mulf", "negf"]
        assert [row["inputs"] for row in rows] == [[], [0], [1]]
        assert [row["format"] for row in rows] == [form] * 3
        xq, wq = grid.round(x), grid.round(w)
        p = product(x, w)
        references = [p, p * x, -(p * x)]
        first = grid.round(product(xq, wq))
        exact = lambda a, b: grid.round(a.astype("f8") * b.astype("f8"))
        second = exact(first, xq)
        # The most negative number of fixed point has no opposite.
        negated = lambda a: grid.signed(np.minimum(-a, np.float32(grid.largest)))
        values = [first, second, negated(second)]
        owns = [first, exact(grid.round(p), xq), negated(grid.round(p * x))]
        for row, reference, value, own in zip(rows, references, values, owns):
            check(grid, row, reference, value, own)
        assert rows[0]["input_sqnr_db"] is None
        for i in (1, 2):
            assert rows[i]["input_sqnr_db"] == rows[i - 1]["sqnr_db"]
        print(f"{form}: {len(rows)} layers as expected")
    run(folder, "float<4,3,stochastic>", "same")
    # f32 has fewer bits than posit32 near one, so that it would be the error.
    rows = run(folder, "posit32", "f64")
    assert all(row["sqnr_db"] > 155 for row in rows) and rows[0]["codes"] is None, rows
    print("posit32: the reference is in f64")
    check_given_scales(folder, w)
    check_ends(folder)
    check_ulps(folder)


main(Path(sys.argv[1]))
