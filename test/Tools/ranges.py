# SPDX-License-Identifier: MIT
"""Hold `numera formats f16 f32 f64 --range --json` against numpy.finfo."""

import json
import sys

import numpy as np

types = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
for facts in json.load(sys.stdin):
    info = np.finfo(types.pop(facts["name"]))
    expected = {
        "largest": info.max,
        "lowest": info.min,
        "smallest": info.smallest_subnormal,
        "smallest_normal": info.smallest_normal,
        "epsilon": info.eps,
    }
    for key, value in expected.items():
        if float.fromhex(facts[key]) != float(value):
            sys.exit(f"{facts['name']}: {key} is {facts[key]}, expected {value}")
    if facts["precision"] != info.nmant + 1 or facts["subnormal_codes"] != 2 * (
        2**info.nmant - 1
    ):
        sys.exit(f"{facts['name']}: {facts}")
if types:
    sys.exit(f"missing: {list(types)}")
