# SPDX-License-Identifier: MIT
"""Compiles and calls a program of agree.py in Python: call.py FOLDER [options of
`numera run`]."""

import argparse
import pathlib
import sys

import numera
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
for name in ("format", "accumulate", "rounding", "output-as", "formats"):
    parser.add_argument(f"--{name}")
parser.add_argument("--seed", type=int, default=0)
given = parser.parse_args()
options = {name: getattr(given, name) for name in ("format", "accumulate", "rounding", "output_as")
           if getattr(given, name)}
if given.formats:
    options["registry"] = numera.Registry(given.formats)
program = numera.compile((given.folder / "program.mlir").read_text(), seed=given.seed, **options)
function = program.functions["f"]
results = function(*[np.load(given.folder / f"{tensor.name}.npy") for tensor in function.inputs])
(given.folder / "python").mkdir()
for i, result in enumerate(results if isinstance(results, tuple) else (results,)):
    np.save(given.folder / "python" / f"output_{i}.npy", np.asarray(result))
sys.exit(0)
