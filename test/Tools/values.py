# SPDX-License-Identifier: MIT
"""Check arrays: values.py EXPRESSION NAME=FILE.npy... is true of them."""

import sys

import numpy as np

arrays = {"np": np}
for argument in sys.argv[2:]:
    name, path = argument.split("=", 1)
    arrays[name] = np.load(path)
if not np.all(eval(sys.argv[1], arrays)):
    sys.exit(f"not true: {sys.argv[1]}\n{arrays}")
