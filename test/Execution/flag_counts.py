# SPDX-License-Identifier: MIT
"""The counts of `numera run --stats` of a small network, step by step with
fractions: flag_counts.py FOLDER [TARGET]

Clauses: N6 N8.

y = relu(x w) / d, in formats that saturate. Every operation is done exactly and
judged (status_flags.py), then rounded.
"""
import json
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
from status_flags import F, Fixed, Float, floor_log2, judge, rounded

ROWS, STEPS, COLUMNS = 7, 9, 5
MODEL = f"""
func.func @model(%x: tensor<{ROWS}x{STEPS}xf32>, %w: tensor<{STEPS}x{COLUMNS}xf32>, %d: tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32> {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<{ROWS}x{COLUMNS}xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32>
  %p = linalg.matmul ins(%x, %w : tensor<{ROWS}x{STEPS}xf32>, tensor<{STEPS}x{COLUMNS}xf32>) outs(%i : tensor<{ROWS}x{COLUMNS}xf32>) -> tensor<{ROWS}x{COLUMNS}xf32>
  %z = arith.constant dense<0.0> : tensor<{ROWS}x{COLUMNS}xf32>
  %r = arith.maximumf %p, %z : tensor<{ROWS}x{COLUMNS}xf32>
  %q = arith.divf %r, %d : tensor<{ROWS}x{COLUMNS}xf32>
  return %q : tensor<{ROWS}x{COLUMNS}xf32>
}}
"""
FLOAT32 = F(8, 23)


def round_to(form, x):
    """A finite value of the format, which saturates."""
    if x == 0:
        return x
    if isinstance(form, Fixed):
        unit, top = Fraction(1, 2**form.f), Fraction(2) ** form.i - Fraction(1, 2**form.f)
        low = -(Fraction(2) ** form.i)
    else:
        unit = form.unit * Fraction(2) ** max(floor_log2(abs(x) / form.normal), 0)
        top = form.magnitude(form.top)
        low = -top
    kept = rounded(abs(x) / unit, form.mode, 0, x < 0) * unit
    return min(max(-kept if x < 0 else kept, low), top)


class Run:
    """Counts of operations, in the order in which they first come."""

    def __init__(self):
        self.counts = {}

    def do(self, row, form, operation, *operands):
        found = judge(form, operation, operands)
        self.counts.setdefault(row, Counter())["count"] += 1
        self.counts[row][found] += 1
        if found == 4:
            return float("nan") if form.has_nan else Fraction(0)
        if found == 8:  # saturates as the largest, of the dividend's sign
            top = form.magnitude(form.top) if isinstance(form, Float) else Fraction(2) ** form.i - Fraction(1, 2**form.f)
            return top
        x, y = (list(operands) + [None])[:2]
        exact = {"add": lambda: x + y, "mul": lambda: x * y, "div": lambda: x / y if y else Fraction(0),
                 "cast": lambda: x}[operation]()
        return round_to(form, exact)

    def step(self, row, form, accumulator, same, x, w, total):
        """One operation, with the status flags of either rounding (N6)."""
        own = self.counts.setdefault(row, Counter())
        own["count"] += 1
        product = x * w
        found = set()
        if same:
            found.add(judge(form, "cast", [product]))
            product = round_to(form, product)
        found.add(judge(accumulator, "add", [total, product]))
        for kind in found - {0}:
            own[kind] += 1
        return round_to(accumulator, total + product)


def expected(form, accumulate, arrays):
    run = Run()
    x, w, d = (
        [[run.do(f"cast {name}", form, "cast", Fraction(float(v))) for v in row] for row in array]
        for name, array in arrays.items()
    )
    results = []
    for i in range(ROWS):
        for j in range(COLUMNS):
            total = Fraction(0)
            for k in range(STEPS):
                if accumulate == "quire":
                    run.counts.setdefault("term", Counter())["count"] += 1
                    total += x[i][k] * w[k][j]
                else:
                    accumulator = form if accumulate == "same" else FLOAT32
                    total = run.step("mac", form, accumulator, accumulate == "same", x[i][k], w[k][j], total)
            if accumulate == "quire":
                total = run.do("round", form, "cast", total)
            elif accumulate == "f32":
                total = run.do("narrow", form, "cast", total)
            results.append(run.do("div", form, "div", max(total, Fraction(0)), d[i][j]))
    return list(run.counts.values()), results


def check(folder, target, number, form, accumulate, powers=(0, 0)):
    folder = folder / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.mlir").write_text(MODEL)
    random = np.random.default_rng(number)
    scale = 4.0 if isinstance(form, Fixed) else 30.0
    arrays = {
        "x": random.normal(size=(ROWS, STEPS)) * scale,
        "w": random.normal(size=(STEPS, COLUMNS)) * np.exp2(random.integers(-9, 3, (STEPS, COLUMNS))),
        "d": random.integers(-2, 3, (ROWS, COLUMNS)) * 0.25,
    }
    arrays["x"] = np.ldexp(arrays["x"], powers[0])
    arrays["w"] = np.ldexp(arrays["w"], powers[1])
    arrays = {name: array.astype("f4") for name, array in arrays.items()}
    command = ["numera", "run", str(folder / "model.mlir"), "--format", form.spelling.replace('"', ""), "--accumulate", accumulate,
               "--target", target, "--stats", "--json", "--output-dir", str(folder)]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        command += ["--input", str(folder / f"{name}.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{form.spelling}, {accumulate}: {done.stderr.strip()}")
    wanted, results = expected(form, accumulate, arrays)
    got = np.load(folder / "output_0.npy").ravel()
    if not np.array_equal(got, np.array(results, dtype="f8"), equal_nan=True):
        sys.exit(f"{form.spelling}, {accumulate}: results {got}, expected {[float(r) for r in results]}")
    keys = {"overflow": 1, "underflow": 2, "invalid": 4, "division_by_zero": 8}
    rows = json.loads(done.stdout)["stats"]
    found = [(row["count"], *(row[key] for key in keys)) for row in rows]
    expects = [(row["count"], *(row[bit] for bit in keys.values())) for row in wanted]
    if sorted(found) != sorted(expects):
        sys.exit(f"{form.spelling}, {accumulate}: counts {rows}, expected {expects}")
    print(f"{form.spelling}, {accumulate}: {len(found)} operations as expected, flags: "
          f"{[sum(row[i] for row in found) for i in range(1, 5)]}")


def main():
    folder, target = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cpu"
    cases = [(F(4, 3, "fn"), "same"), (F(4, 3, "fn"), "f32"), (F(3, 2, "finite"), "same"),
             (F(4, 3, "fn", mode="toward-zero"), "f32"), (Fixed(3, 4), "quire"), (F(5, 2, saturate=True), "quire"),
             (Fixed(3, 4, mode="down"), "same")]
    # Around the ranges in which nothing is counted, and far from them.
    wide = F(8, 7, saturate=True)
    cases += [(wide, "same", powers) for powers in
              [(0, 0), (60, 64), (-56, -62), (-58, -63), (100, -80)]]
    cases += [(wide, "f32", powers) for powers in [(-50, -57), (-60, -66), (-110, 30)]]
    if target != "cpu":
        cases = [cases[0], cases[3], cases[4], cases[7], cases[13]]
    for number, case in enumerate(cases):
        check(folder, target, number, *case)


main()
