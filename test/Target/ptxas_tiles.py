# SPDX-License-Identifier: MIT
"""Contractions through NVIDIA's assembler: ptxas_tiles.py MODEL [tensorcore]. Prints what their
kernels take, for several GPUs and accumulators; fails where one spills or takes
more registers than two blocks have."""
import os
import re
import subprocess
import sys
import tempfile

JOBS = [("sm_75", "f32", "f32"), ("sm_75", "bf16", "same"), ("sm_75", "f16", "same"),
        ("sm_75", "posit16", "quire"), ("sm_80", "f8E4M3FN", "f32"),
        ("sm_80", "bf16", "same"), ("sm_90", "f32", "f32"), ("sm_90", "bf16", "same"),
        ("sm_90", "float<5,7>", "same"), ("sm_90", "posit16", "same"),
        ("sm_90", "posit16", "quire"), ("sm_100", "bf16", "same")]

TENSOR = [("sm_75", "f16"), ("sm_80", "bf16"), ("sm_80", "f8E4M3FN"),
          ("sm_89", "f8E4M3FN"), ("sm_90", "bf16"), ("sm_90a", "f8E5M2"),
          ("sm_90a", "f8E4M3FN"), ("sm_90a", "bf16"), ("sm_90a", "f16"),
          ("sm_100", "f8E4M3FN")]


def main():
    jobs = [(*job, "tensorcore") for job in TENSOR] if sys.argv[2:] else JOBS
    ptx = os.path.join(tempfile.mkdtemp(), "tiles.ptx")
    for gpu, form, sums in jobs:
        subprocess.run(["numera", "compile", sys.argv[1], "--format", form,
                        "--accumulate", sums, "--target", "nvptx", "--gpu",
                        gpu, "-o", ptx], check=True)
        report = subprocess.run(
            ["ptxas", "-v", f"-arch={gpu}", ptx, "-o", os.devnull],
            check=True, capture_output=True, text=True).stderr
        tiles = [part for part in report.split("Compiling entry function")
                 if part.startswith(" 'contraction_")]
        registers = [int(re.search(r"Used (\d+) registers", t)[1]) for t in tiles]
        spilled = sum(int(n) for t in tiles
                      for n in re.findall(r"(\d+) bytes spill", t))
        assert tiles and max(registers) <= 128, (gpu, form, sums, registers)
        print(f"{gpu} {form} {sums}: {len(tiles)} kernels, at most "
              f"{max(registers)} registers, {spilled} bytes spilled", flush=True)


main()
