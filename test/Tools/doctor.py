# SPDX-License-Identifier: MIT
"""Hold what `numera doctor --json` says of the CPU against /proc/cpuinfo."""

import json
import re
import sys

findings = {each["name"]: each for each in json.load(sys.stdin)}
with open("/proc/cpuinfo") as file:
    flags = set(re.search(r"^flags\s*: (.*)", file.read(), re.MULTILINE)[1].split())
for name, needed in {
    "AVX2 and FMA": {"avx2", "fma", "f16c"},
    "AVX-512": {"avx512f", "avx512bw", "avx512dq", "avx512vl"},
    "AVX-512 BF16": {"avx512_bf16"},
    "AVX-512 FP16": {"avx512_fp16"},
    "AVX-512 VBMI": {"avx512vbmi"},
}.items():
    state = "ok" if needed <= flags else "missing"
    if findings[name]["state"] != state:
        sys.exit(f"{findings[name]}, expected {state}")
for each in findings.values():
    if each["state"] != "ok" and not each["needed_for"]:
        sys.exit(f"{each} does not say what for")
