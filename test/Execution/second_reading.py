# SPDX-License-Identifier: MIT
"""Runs programs on the emulated GPU, and once more by the second reading of the
PTX ISA (test/Emulation/second), which has to leave the same bytes in all memory
after each launch.

    second_reading.py FOLDER MODEL[:FUNCTION] FORMAT ACCUMULATE GPU [INSTRUCTION…]
    second_reading.py FOLDER --record COMMAND…
    second_reading.py FOLDER --without TEXT | --with OLD NEW | --assemble

The model is a product of 70x80 and 80x65, or a function whose operands are drawn.
Each of the instructions has to be among those that ran. Of the last run's programs
the third form leaves out the lines with TEXT, or puts NEW for OLD, and shows what
the second reading says: it has to notice. Or NVIDIA's assembler takes them.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

import nvptx
import numpy as np

REPLAY = os.path.join(os.path.dirname(__file__), os.pardir, "Emulation", "second", "replay.py")
# The least and the largest value of a format.
ENDS = {"f16": (2.0 ** -24, 65504), "bf16": (2.0 ** -133, 3e38), "f8E4M3FN": (2.0 ** -9, 448),
        "f8E5M2": (2.0 ** -16, 57344)}


def operands(kind, m, k, n):
    """f32 has every sum of products, whatever the order. Codes of all kinds: both
    zeros, subnormal values, products out of range, infinities and NaN."""
    least, most = ENDS.get(kind, (0.0, 1.0))
    random = np.random.default_rng(8)
    a, b = (random.integers(-3, 4, shape).astype("f4") for shape in ((m, k), (k, n)))
    half = k // 2
    a[1, half:] = b[:half, 1] = 0
    a[1, :half] *= least
    b[half:, 1] *= least
    a[2] = np.where(random.random(k) < 0.1, np.nan, a[2])
    a[3, 5] = b[7, 3] = np.inf
    a[4, 6] = b[8, 4] = -np.inf
    for row in (5, 6, 7, 8):
        a[row] = b[:, row] = -0.0 if row == 6 else 0.0
    a[7, 1] = b[1, 7] = most
    a[8, k - 1] = b[k - 1, 8] = -most
    return a, b


def drawn(model, kind, accumulate, folder):
    """For a function of several products: whole numbers if a machine sums."""
    model, function = model.split(":")
    program, random = os.path.join(folder, "cpu.so"), np.random.default_rng(5)
    nvptx.run("numera", "compile", model, "--format", kind, "--function", function, "--emit", "so", "-o", program)
    for entry in nvptx.signature(program, function):
        values = nvptx.draw(random, entry)
        if accumulate == "tensorcore" and entry["dtype"] == "f32":
            values = random.integers(-3, 4, values.shape).astype("f4")
        yield values


def replay(folder, *options):
    return subprocess.run([sys.executable, "-B", REPLAY, folder, *options],
                          capture_output=True, text=True, check=False)


def changed(folder, change):
    other = folder + ".changed"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(folder, other)
    differs = False
    for path in glob.glob(os.path.join(other, "*.ptx")):
        with open(path, encoding="utf-8") as file:
            lines = file.read().split("\n")
        kept = [each for line in lines if (each := change(line)) is not None]
        differs |= kept != lines
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(kept))
    done = replay(other)
    last = (done.stdout + done.stderr).strip().split("\n")[-1]
    print(last if differs else "nothing was changed", "" if done.returncode else "UNNOTICED")


def record(folder, command, wanted=()):
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env=os.environ | {"NUMERA_EMULATED_RECORD": folder})
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    done = replay(folder, *(word for each in wanted for word in ("--want", each)))
    print((done.stdout + done.stderr).strip())
    return done.returncode


def assemble(folder):
    texts = {}  # each launch has its module's
    for path in glob.glob(os.path.join(folder, "*.ptx")):
        with open(path, encoding="utf-8") as file:
            texts[file.read()] = path
    for text, path in texts.items():
        target = re.search(r"\.target (\w+)", text)[1]
        subprocess.run(["ptxas", f"-arch={target}", path, "-o", path + ".cubin"], check=True)
        print(f"assembled for {target}")


def main():
    folder, model = sys.argv[1:3]
    if model == "--assemble":
        return assemble(folder)
    if model == "--without":
        return changed(folder, lambda line: None if sys.argv[3] in line else line)
    if model == "--with":
        return changed(folder, lambda line: line.replace(*sys.argv[3:5]))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    if model == "--record":
        return record(folder, sys.argv[3:])
    kind, accumulate, gpu = sys.argv[3:6]
    inputs = []
    given = drawn(model, kind, accumulate, folder) if ":" in model else operands(kind, 70, 80, 65)
    for i, values in enumerate(given):
        np.save(path := os.path.join(folder, f"in{i}.npy"), values)
        inputs += ["--input", path]
    model, _, function = model.partition(":")
    return record(folder, ["numera", "run", model, "--format", kind, "--accumulate", accumulate,
                           "--target", "nvptx", "--gpu", gpu, *inputs, "--output-dir", folder,
                           *(["--function", function] if function else [])], sys.argv[6:])


sys.exit(main())
