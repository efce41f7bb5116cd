# SPDX-License-Identifier: MIT
"""Every elementwise operation in every format, through NVIDIA's assembler.

usage: ptx_formats.py OPERATIONS.mlir GPU FOLDER [FORMAT…]

Without formats: those of the list below. Prints for each the kernels, the most
registers one has, and the bytes that are spilled; fails where PTX does not
assemble, or flushes, approximates, or leaves a rounding open, or has an instruction
that the emulated GPU does not know.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "Emulation"))
from ptx2c import Translator  # noqa: E402

FORBIDDEN = re.compile(r"\.ftz|\.approx|\b(?:add|sub|mul|fma|div|sqrt)\.f(?:32|64)\b")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True)


# Every format with NUMERA_SLOW_TESTS, else one of each form: the machine's, floats
# with every kind of special values, with tables and without, posits, scales.
QUICK = ["f32", "f64", "bf16", "f8E4M3FN", "f8E5M2FNUZ", "f8E8M0FNU", "f4E2M1FN", "posit32"]


def names():
    known = [row["name"] for row in json.loads(run("numera", "formats", "--json").stdout)]
    assert set(QUICK) <= set(known), known
    return known if "NUMERA_SLOW_TESTS" in os.environ else QUICK


def main():
    operations, gpu, folder, *formats = sys.argv[1:]
    for name in formats or names():
        ptx = Path(folder) / "operations.ptx"
        run("numera", "compile", operations, "--format", name, "--target", "nvptx",
            "--gpu", gpu, "-o", str(ptx))
        text = ptx.read_text(encoding="utf-8")
        found = FORBIDDEN.search(text)
        assert not found, f"{name}: {found.group()} in PTX"
        Translator(text.rstrip("\0"))
        report = run("ptxas", "-v", f"-arch={gpu}", str(ptx), "-o", "/dev/null").stderr
        registers = [int(n) for n in re.findall(r"Used (\d+) registers", report)]
        spilled = sum(int(n) for n in re.findall(r"(\d+) bytes spill", report))
        kernels = text.count(".entry")
        assert kernels >= 31, f"{name}: {kernels} kernels"
        print(f"{name}: {kernels} kernels, at most {max(registers)} registers, "
              f"{spilled} bytes spilled", flush=True)


main()
