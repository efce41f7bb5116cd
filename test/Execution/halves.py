# SPDX-License-Identifier: MIT
"""Run what is made for CPUs that compute in binary16 (AVX512-FP16) on one that does
not: LLVM's code for the same IR widens each operation to f32, which is exact for the
formats that take this path. The bits are those of a CPU without it."""

import os
import re
import subprocess
import sys

import numpy as np

MODEL, FOLDER = sys.argv[1:]
FORMATS = ["f8E4M3FN", "float<4,3>"]
if os.environ.get("NUMERA_TESTS") == "all":
    FORMATS += ["f8E5M2", "float<4,2>", "float<3,3>"]


def run(*program):
    subprocess.run(
        ["numera", "run", *program, "--function", "product", "--input", "a.npy", "--input", "b.npy",
         "--output-dir", "outputs"], cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
    return np.load(f"{FOLDER}/outputs/output_0.npy")


def widen(text):
    """The IR for a CPU without binary16, and for a check at a call that knows none."""
    text, checks = re.subn(r"(@versions = private constant .*?\{ ptr @[\w.]+, i64 )-?\d+", r"\g<1>0", text)
    assert checks == 1, checks
    return text.replace('"target-cpu"="sapphirerapids"', '"target-cpu"="x86-64-v4"')


def make_inputs(random, special):
    for name, shape in (("a", (37, 65)), ("b", (65, 70))):
        array = (random.standard_normal(shape) * 2.0 ** random.integers(-6, 7)).astype("f4")
        if special:
            array.flat[random.integers(0, array.size, 30)] = random.choice([np.inf, -np.inf, np.nan, 0, -0.0, 1e-9], 30)
        np.save(f"{FOLDER}/{name}.npy", array)


random = np.random.default_rng(3)
for format in FORMATS:
    options = ["--format", format, "--accumulate", "same"]
    subprocess.run(["numera", "compile", MODEL, *options, "--cpu", "sapphirerapids", "-o", "halves.ll"],
                   cwd=FOLDER, check=True)
    with open(f"{FOLDER}/halves.ll", encoding="utf-8") as file:
        text = file.read()
    assert text.count("x half>") > 100, f"{format} is not computed in binary16"
    with open(f"{FOLDER}/halves.ll", "w", encoding="utf-8") as file:
        file.write(widen(text))
    subprocess.run("llc -O2 -mcpu=x86-64-v4 -filetype=obj -relocation-model=pic halves.ll -o halves.o && "
                   "clang -shared halves.o -o halves.so -lm", shell=True, cwd=FOLDER, check=True)
    for special in (False, True):
        make_inputs(random, special)
        expected = run(MODEL, *options, "--cpu", "x86-64-v2")
        differ = np.sum(run("halves.so").view("u4") != expected.view("u4"))
        assert differ == 0, f"{format}: {differ} of {expected.size} differ"
    print(format, expected.size, "sums in binary16")
