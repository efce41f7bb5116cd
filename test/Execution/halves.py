# SPDX-License-Identifier: MIT
"""Run what is made for CPUs that compute in binary16 (AVX512-FP16) on one that does not
(test/Emulation/machines). The bits are those of a CPU without AVX-512."""

import os
import pathlib
import subprocess
import sys

import machines
import numpy as np

MODEL, FOLDER = sys.argv[1], pathlib.Path(sys.argv[2])
CPU = "sapphirerapids"
FORMATS = ["f8E4M3FN", "float<4,3>"]
if os.environ.get("NUMERA_TESTS") == "all":
    FORMATS += ["f8E5M2", "float<4,2>", "float<3,3>"]


def make_inputs(random, special):
    arrays = []
    for name, shape in (("a", (37, 65)), ("b", (65, 70))):
        array = (random.standard_normal(shape) * 2.0 ** random.integers(-6, 7)).astype("f4")
        if special:
            array.flat[random.integers(0, array.size, 30)] = random.choice([np.inf, -np.inf, np.nan, 0, -0.0, 1e-9], 30)
        np.save(FOLDER / f"{name}.npy", array)
        arrays.append(array)
    return arrays


random = np.random.default_rng(3)
for format in FORMATS:
    options = ["--format", format, "--accumulate", "same"]
    subprocess.run(["numera", "compile", MODEL, *options, *machines.target(CPU, FOLDER, "halves")], check=True)
    text = (FOLDER / "halves.ll").read_text(encoding="utf-8")
    assert text.count("x half>") > 100, f"{format} is not computed in binary16"
    symbol = "product"
    for message in (machines.assemble(CPU, FOLDER, "halves"), machines.link(CPU, FOLDER, "halves", symbol)):
        assert not message, message
    for special in (False, True):
        arrays = make_inputs(random, special)
        subprocess.run(
            ["numera", "run", MODEL, *options, "--cpu", "x86-64-v2", "--function", symbol, "--input",
             FOLDER / "a.npy", "--input", FOLDER / "b.npy", "--output-dir", FOLDER / "outputs"],
            check=True, stdout=subprocess.DEVNULL)
        expected = np.load(FOLDER / "outputs/output_0.npy")
        found, = machines.call(CPU, FOLDER, "halves", arrays, 1)
        differ = np.sum(found.view("u4") != expected.view("u4"))
        assert differ == 0, f"{format}: {differ} of {expected.size} differ"
    print(format, expected.size, "sums in binary16")
