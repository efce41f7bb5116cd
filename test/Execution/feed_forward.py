# SPDX-License-Identifier: MIT
"""A feed-forward network with scales of the worst case: feed_forward.py FOLDER

Clauses: N9 Z5 Z9 Z10 Z11 Z13.

1024 -> 4096 -> 1024 (less on the emulated GPU) with a bias and relu, in scaled
16-bit integers and scaled f8E4M3FN. What `numera run` says of its tensors (`--stats`) and of its error
(`--compare f32`) against the clauses in NumPy.
"""
import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import IS_MIRRORED

IN, HIDDEN, ROWS = (256, 512, 8) if IS_MIRRORED else (1024, 4096, 8)
f4 = np.float32


def model():
    x, h, y = f"tensor<{ROWS}x{IN}xf32>", f"tensor<{ROWS}x{HIDDEN}xf32>", f"tensor<{ROWS}x{IN}xf32>"
    w1, w2, b = f"tensor<{IN}x{HIDDEN}xf32>", f"tensor<{HIDDEN}x{IN}xf32>", f"tensor<{HIDDEN}xf32>"
    return f"""
#id = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (j)>
func.func @network(%x: {x}, %w1: {w1}, %b: {b}, %w2: {w2}) -> {y} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {h}
  %i = linalg.fill ins(%zero : f32) outs(%e : {h}) -> {h}
  %h = linalg.matmul ins(%x, %w1 : {x}, {w1}) outs(%i : {h}) -> {h}
  %s = linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%h, %b : {h}, {b}) outs(%e : {h}) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %t = arith.addf %p, %q : f32
    linalg.yield %t : f32
  }} -> {h}
  %r = linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}}
      ins(%s : {h}) outs(%e : {h}) {{
  ^bb0(%p: f32, %o: f32):
    %t = arith.maximumf %p, %zero : f32
    linalg.yield %t : f32
  }} -> {h}
  %f = tensor.empty() : {y}
  %j = linalg.fill ins(%zero : f32) outs(%f : {y}) -> {y}
  %y = linalg.matmul ins(%r, %w2 : {h}, {w2}) outs(%j : {y}) -> {y}
  return %y : {y}
}}
"""


class Integers:
    spelling, full, digits = "scaled<i16>", f4(32767), True

    def round(self, x):
        return np.clip(np.rint(x), -32768, 32767).astype(f4)


class Bytes:
    spelling, full, digits = "scaled<f8E4M3FN>", f4(448), False

    def round(self, x):
        exponent = np.floor(np.log2(np.maximum(np.abs(x), 2.0**-6).astype("f8")))
        unit = np.exp2(exponent - 3)
        return np.clip(np.rint(x.astype("f8") / unit) * unit, -448, 448).astype(f4)


class Network:
    """Tensors are pairs of elements and a scale."""

    def __init__(self, form):
        self.form, self.full, self.rows = form, form.full, []

    def seen(self, operation, tensor):
        data, scale = tensor
        largest = float(np.max(np.abs(data)))
        bits = math.inf
        if largest:
            bits = math.log2(float(self.full) / largest)
            if not self.form.digits:
                bits = math.log2(bits) if bits > 1 else 0
        self.rows.append((operation, data.size, float(scale), max(bits, 0)))
        return tensor

    def quantize(self, x):
        scale = np.max(np.abs(x)).astype(f4)
        return self.seen("quantize", (self.form.round((x / scale).astype(f4) * self.full), scale))

    def matmul(self, x, y):
        k = x[0].shape[1]
        down = f4(1 / math.sqrt(k * float(self.full)))
        a, b = self.form.round(x[0] * down), self.form.round(y[0] * down)
        sums = (a.astype("f8") @ b.astype("f8")).astype(f4)
        return self.seen("scaled_matmul", (self.form.round(sums), f4(f4(x[1] * y[1]) * f4(k))))

    def add(self, x, y):
        scale = f4(x[1] + y[1])
        total = (x[0] * f4(x[1] / scale)).astype(f4) + (y[0] * f4(y[1] / scale)).astype(f4)
        return self.seen("scaled_add", (self.form.round(total), scale))

    def relu(self, x):
        return self.seen("scaled_relu", (np.maximum(x[0], 0), x[1]))

    def values(self, x):
        return (x[0] * x[1]).astype(f4) * f4(1 / self.full)

    def run(self, x, w1, b, w2):
        h = self.matmul(self.quantize(x), self.quantize(w1))
        h = self.relu(self.add(h, self.quantize(np.broadcast_to(b, h[0].shape))))
        return self.values(self.matmul(h, self.quantize(w2)))


def check(folder, form, arrays):
    command = ["numera", "run", str(folder / "network.mlir"), "--format", form.spelling, "--stats", "--json",
               "--compare", "f32", "--output-dir", str(folder)]
    for name in arrays:
        command += ["--input", str(folder / f"{name}.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{form.spelling}: {done.stderr.strip()}")
    found = json.loads(done.stdout)
    network = Network(form)
    result = network.run(*arrays.values())
    rows = [(row["operation"], row["count"], row["greatest_scale"],
             math.inf if row["wasted_bits"] is None else row["wasted_bits"]) for row in found["scaled"]]
    if sorted(row[:2] for row in rows) != sorted(row[:2] for row in network.rows):
        sys.exit(f"{form.spelling}: tensors {rows}, expected {network.rows}")
    for got, wanted in zip(sorted(rows), sorted(network.rows)):
        # A sum of 8-bit products in f32 may round the other way, once in thousands.
        if not (np.isclose(got[2], wanted[2], rtol=1e-6) and
                (got[3] == wanted[3] or abs(got[3] - wanted[3]) < 0.05)):
            sys.exit(f"{form.spelling}: {got}, expected {wanted}")
    got = np.load(folder / "output_0.npy")
    if not np.mean(got == result) > 0.99:
        sys.exit(f"{form.spelling}: {np.mean(got != result)} of the outputs differ")
    x, w1, b, w2 = (array.astype("f8") for array in arrays.values())
    exact = np.maximum(x @ w1 + b, 0) @ w2
    sqnr = 10 * math.log10(np.sum(exact**2) / np.sum((exact - result) ** 2))
    if abs(found["outputs"][0]["sqnr_db"] - sqnr) > 0.05:
        sys.exit(f"{form.spelling}: {found['outputs'][0]['sqnr_db']} dB, expected {sqnr}")
    print(f"{form.spelling}: {sqnr:.2f} dB, wasted bits:",
          ", ".join(f"{operation} {bits:.2f}" for operation, _, _, bits in network.rows))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    arrays = {
        "x": random.standard_normal((ROWS, IN)),
        "w1": random.standard_normal((IN, HIDDEN)) / 32,
        "b": random.standard_normal(HIDDEN) * 0.1,
        "w2": random.standard_normal((HIDDEN, IN)) / 64,
    }
    arrays = {name: array.astype(f4) for name, array in arrays.items()}
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    (folder / "network.mlir").write_text(model())
    for form in (Integers(), Bytes()):
        check(folder, form, arrays)


main()
