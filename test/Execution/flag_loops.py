# SPDX-License-Identifier: MIT
"""Counts of `numera run --stats` in loops and branches, by the same model without them: flag_loops.py FOLDER [TARGET]

Clauses: N6 N8 N9.

The model without them has what each iteration does, one behind the other, and its rows are summed up. On a GPU that
would be many kernels: the counts are compared with those of the CPU.
"""
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import numpy as np
from chosen import chosen

TENSOR = "tensor<6x8xf32>"
STEPS, TIMES, BRANCH, REPEATS = 5, 3, 2, 4

# A step of a recurrent network: tanh(exp(v) w / 16).
STEP = """
  %@zero = arith.constant 0.0 : f32
  %@e = math.exp %$v : {t}
  %@i = tensor.empty() : {t}
  %@f = linalg.fill ins(%@zero : f32) outs(%@i : {t}) -> {t}
  %@p = linalg.matmul ins(%@e, %w : {t}, tensor<8x8xf32>) outs(%@f : {t}) -> {t}
  %@c = arith.constant dense<16.0> : {t}
  %@s = arith.divf %@p, %@c : {t}
  %@r = math.tanh %@s : {t}
""".replace("{t}", TENSOR)
# Only in one iteration: divisions by zero.
EXTRA = """
  %@q = arith.divf %$r, %d : {t}
""".replace("{t}", TENSOR)


def step(prefix, value, text=STEP, result="r"):
    """The step on a value, and the name of its result."""
    for name in ("v", "r"):
        text = text.replace(f"%${name}", f"%{value}")
    return text.replace("@", prefix), prefix + result


def function(body, result):
    return f"""func.func @model(%x: {TENSOR}, %w: tensor<8x8xf32>, %d: {TENSOR}) -> {TENSOR} {{
{body}
  return %{result} : {TENSOR}
}}
"""


def looped():
    """A branch in a loop, whose bounds are constants, behind which a loop with a condition is in a loop."""
    inside, made = step("a", "v")
    extra, chosen = step("b", made, EXTRA, "q")
    condition, seen = step("c", "u")
    after, last = step("d", "t")
    return function(f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %steps = arith.constant {STEPS} : index
  %times = arith.constant {TIMES} : index
  %branch = arith.constant {BRANCH} : index
  %repeats = arith.constant {REPEATS} : index
  %no = arith.constant false
  %one = scf.for %i = %c0 to %steps step %c1 iter_args(%v = %x) -> ({TENSOR}) {{
    {inside}
    %is = arith.cmpi eq, %i, %branch : index
    %o = scf.if %is -> ({TENSOR}) {{
      {extra}
      scf.yield %{chosen} : {TENSOR}
    }} else {{
      scf.yield %{made} : {TENSOR}
    }}
    scf.yield %o : {TENSOR}
  }}
  %never = scf.if %no -> ({TENSOR}) {{
    %s = math.sqrt %one : {TENSOR}
    scf.yield %s : {TENSOR}
  }} else {{
    scf.yield %one : {TENSOR}
  }}
  %two = scf.for %i = %c0 to %times step %c1 iter_args(%v = %never) -> ({TENSOR}) {{
    %n, %m = scf.while (%k = %c0, %u = %v) : (index, {TENSOR}) -> (index, {TENSOR}) {{
      {condition}
      %more = arith.cmpi ult, %k, %repeats : index
      scf.condition(%more) %k, %{seen} : index, {TENSOR}
    }} do {{
    ^bb0(%k: index, %t: {TENSOR}):
      {after}
      %next = arith.addi %k, %c1 : index
      scf.yield %next, %{last} : index, {TENSOR}
    }}
    scf.yield %m : {TENSOR}
  }}""", "two")


def unrolled():
    """The same, with a prefix for each part that is that of the part in loops."""
    body, value, count = [], "x", 0

    def add(letter, text=STEP, result="r"):
        nonlocal value, count
        count += 1
        made, value = step(f"{letter}{count}", value, text, result)
        body.append(made)

    for i in range(STEPS):
        add("a")
        if i == BRANCH:
            add("b", EXTRA, "q")
    for _ in range(TIMES):
        add("c")
        for _ in range(REPEATS):
            add("d")
            add("c")
    return function("\n".join(body), value)


def called(in_a_loop):
    """A function is called twice. What it may count later is known when it returns."""
    call = f"func.call @step(%$v, %w) : ({TENSOR}, tensor<8x8xf32>) -> {TENSOR}"
    body = f"""
  %one = {call.replace("$v", "x")}
  %two = {call.replace("$v", "one")}"""
    if in_a_loop:
        body = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %two = scf.for %i = %c0 to %c2 step %c1 iter_args(%v = %x) -> ({TENSOR}) {{
    %y = {call.replace("$v", "v")}
    scf.yield %y : {TENSOR}
  }}"""
    own, made = step("a", "x")
    own = f"""func.func private @step(%x: {TENSOR}, %w: tensor<8x8xf32>) -> {TENSOR} {{
{own}
  return %{made} : {TENSOR}
}}
"""
    return own + function(body, "two")


def run(folder, name, text, options):
    path = folder / name
    path.mkdir(parents=True, exist_ok=True)
    (path / "model.mlir").write_text(text)
    command = ["numera", "run", str(path / "model.mlir"), "--stats", "--json", "--output-dir", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{name}, {options}: {done.stderr.strip()}")
    return json.loads(done.stdout), np.load(path / "output_0.npy")


KEYS = ("count", "overflow", "underflow", "invalid", "division_by_zero")


def summed(rows):
    """By operation and format: names tell the iterations apart."""
    sums = defaultdict(lambda: [0] * len(KEYS))
    for row in rows:
        for i, key in enumerate(KEYS):
            sums[row["operation"], row["format"]][i] += row[key] or 0
    return {key: found for key, found in sums.items() if found[0]}


def tensors(rows):
    """Of all quantized tensors together."""
    # Infinite, or NaN, is null.
    greatest = [row["greatest_scale"] for row in rows]
    return (sum(row["count"] for row in rows), sum(row["zeros"] for row in rows), sum(row["saturated"] for row in rows),
            min(row["least_scale"] for row in rows), None if None in greatest else max(greatest))


def main():
    folder, target = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cpu"
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    arrays = {"x": random.normal(size=(6, 8)) * 4, "w": np.exp2(random.integers(-12, 2, (8, 8))) * random.choice([-1, 1], (8, 8)),
              "d": random.integers(0, 4, (6, 8))}
    np.save(folder / "large.npy", arrays["x"].astype("f4") * 30)
    options = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array.astype("f4"))
        options += ["--input", str(folder / f"{name}.npy")]
    cases = [["--format", "f8E4M3FN"], ["--format", "posit8"], ["--format", "fixed<3,4>"],
             ["--format", "bf16", "--accumulate", "f32"], ["--format", "f8E4M3FN", "--accumulate", "same"], ["--format", "mxfp8e4m3"], ["--format", "f8E4M3FN", "--layers"]]
    cases = chosen(cases, quick=slice(0, 6, 5)) if target == "cpu" else cases[:1]
    for number, case in enumerate(cases):
        loops, got = run(folder, f"{number}loops", looped(), options + case + ["--target", target])
        model = unrolled() if target == "cpu" else looped()
        steps, wanted = run(folder, f"{number}steps", model, options + case + ["--target", "cpu"])
        if not np.array_equal(got, wanted, equal_nan=True):
            sys.exit(f"{case}: results {got}, expected {wanted}")
        found, expected = summed(loops["stats"]), summed(steps["stats"])
        if found != expected:
            sys.exit(f"{case}: counts {found}, expected {expected}")
        never = [row["count"] for row in loops["stats"] if row["operation"] == "sqrt"]
        if never != [0] or (target == "cpu" and len(loops["stats"]) >= len(steps["stats"])):
            sys.exit(f"{case}: rows {loops['stats']}, expected those of loops and of a branch that is never taken")
        if "scaled" in steps and tensors(loops["scaled"]) != tensors(steps["scaled"]):
            sys.exit(f"{case}: tensors {tensors(loops['scaled'])}, expected {tensors(steps['scaled'])}")
        if target == "cpu":
            # Numbers that each step has to be asked for.
            large = [word.replace("x.npy", "large.npy") for word in options]
            loops, steps = (run(folder, f"{number}{kind}", called(kind == "calls"), large + case)[0]["stats"]
                            for kind in ("calls", "twice"))
            if summed(loops) != summed(steps):
                sys.exit(f"{case}: counts of calls {summed(loops)}, expected {summed(steps)}")
        print(" ".join(case) + ": counts as expected, " + str([sum(row[i] for row in found.values()) for i in range(5)]))


main()
