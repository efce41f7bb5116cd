# SPDX-License-Identifier: MIT
"""Runs a product on the emulated GPU, and once more by the second reading of the
PTX ISA (test/Emulation/second), which has to leave the same bytes in all memory
after each launch.

    second_reading.py FOLDER MODEL FORMAT ACCUMULATE GPU [INSTRUCTION…]
    second_reading.py FOLDER --without TEXT | --with OLD NEW | --assemble

Each of the instructions has to be among those that ran. Of the last run's programs
the second form leaves out the lines with TEXT, or puts NEW for OLD, and shows what
the second reading says: it has to notice. Or NVIDIA's assembler takes them.
"""
import glob
import os
import re
import shutil
import subprocess
import sys

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
    kind, accumulate, gpu = sys.argv[3:6]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    inputs = []
    for name, values in zip("ab", operands(kind, 70, 80, 65)):
        np.save(path := os.path.join(folder, name + ".npy"), values)
        inputs += ["--input", path]
    done = subprocess.run(
        ["numera", "run", model, "--format", kind, "--accumulate", accumulate, "--target",
         "nvptx", "--gpu", gpu, *inputs, "--output-dir", folder], capture_output=True,
        text=True, check=False, env=os.environ | {"NUMERA_EMULATED_RECORD": folder})
    if done.returncode:
        sys.exit(done.stderr)
    done = replay(folder, *(word for each in sys.argv[6:] for word in ("--want", each)))
    print(f"{kind} {accumulate} {gpu}: {(done.stdout + done.stderr).strip()}")
    return done.returncode


sys.exit(main())
