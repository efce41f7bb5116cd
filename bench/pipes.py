# SPDX-License-Identifier: MIT
"""Which pipes of the vector unit take which instructions of 512 bits.

    python3 bench/pipes.py [INSTRUCTION…]

prints how many cycles an instruction takes, alone and beside a multiplication,
an addition, a permutation and a logical operation. What shares pipes with one
of those takes the sum, what does not takes the longer of the two. The tables
of bounds.py are what this printed on Zen 4 (AMD family 19h), Ice Lake and Emerald
Rapids (Intel family 6, models 106 and 207)."""

import pathlib
import subprocess
import sys
import tempfile

BINARY = "%zmm30, %zmm{d}, %zmm{d}"
FORMS = {
    **{name: f"{name} {BINARY}" for name in """
        vaddps vmulps vmaxps vpaddd vpandd vpmaxsd vpmaxub vpaddusb vpsllvd vpermps
        vpermb vpermw vpermt2ps vpermt2b vpmulld vpmulhuw vpackusdw vpunpcklwd vpshufb
        vpshldvw vfmadd231ps vpmultishiftqb vcvtne2ps2bf16 vdivps""".split()},
    **{name: f"{name} $3, %zmm{{d}}, %zmm{{d}}" for name in
       "vpslld vpsrlw vpsraw vprold vpshufd vgetmantps vrndscaleps".split()},
    **{name: f"{name} %zmm{{d}}, %zmm{{d}}" for name in
       "vplzcntd vpabsd vcvtdq2ps vcvtps2dq vgetexpps".split()},
    **{name: f"{name} %zmm{{d}}, %zmm30, %k2" for name in
       "vcmpunordps vpcmpgtd vptestmd vpcmpgtb".split()},
    **{name: f"{name} $3, {BINARY}" for name in
       "vpternlogd vfixupimmps vrangeps valignd vshufps vgf2p8affineqb".split()},
    "vfpclassps": "vfpclassps $3, %zmm{d}, %k2",
    "vblendmps": "vblendmps " + BINARY + " {{%k1}}",
    "vpmovzxwd": "vpmovzxwd %ymm{d}, %zmm{d}",
    "vpmovdw": "vpmovdw %zmm{d}, %ymm{d}",
    "vextracti64x4": "vextracti64x4 $1, %zmm{d}, %ymm{d}",
    "vcvtps2ph": "vcvtps2ph $4, %zmm{d}, %ymm{d}",
    "vcvtph2ps": "vcvtph2ps %ymm{d}, %zmm{d}",
}
BESIDE = {"alone": "", "multiply": "vmulps", "add": "vaddps", "permute": "vpermps",
          "and": "vpandd"}
REGISTERS, CALLS, ITERATIONS = 12, 40, 1000

C_SOURCE = """
#include <stdio.h>
#include <time.h>
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1e9 + t.tv_nsec;
}
static double best(void (*f)(long), long n) {
  double least = 1e18;
  for (int i = 0; i < CALLS; ++i) {
    double t = now();
    f(n);
    t = now() - t;
    least = t < least ? t : least;
  }
  return least;
}
DECLARATIONS
int main(void) {
  double cycle = best(chain, ITERATIONS) / (12.0 * ITERATIONS);
PRINTS
}
"""


def function(name, lines):
    setup = ["vpxord %zmm{0}, %zmm{0}, %zmm{0}".format(i) for i in range(32)]
    return "\n".join([f".globl {name}", f"{name}:", "kxnorw %k1, %k1, %k1", *setup,
                      "1:", *lines, "dec %rdi", "jnz 1b", "vzeroupper", "ret"])


def main():
    flags = pathlib.Path("/proc/cpuinfo").read_text()
    chosen = sys.argv[1:] or [name for name in FORMS
                              if "bf16" not in name or "avx512_bf16" in flags]
    # A chain of multiplications of 3 cycles each says how long a cycle is, beside
    # vectors, which may slow the clock.
    functions = [function("chain", ["imul $3, %rax, %rax",
                                    "vmulps %zmm30, %zmm1, %zmm1"] * 4)]
    declarations, prints = ["void chain(long);"], []
    for i, name in enumerate(chosen):
        prints.append(f'  printf("%-16s", "{name}");')
        for j, (title, other) in enumerate(BESIDE.items()):
            lines = []
            for d in range(REGISTERS):
                lines.append(FORMS[name].format(d=d))
                if other:
                    e = d + REGISTERS
                    lines.append(f"{other} %zmm{e}, %zmm30, %zmm{e}")
            functions.append(function(f"f{i}_{j}", lines))
            declarations.append(f"void f{i}_{j}(long);")
            prints.append(f'  printf("  {title} %.2f", best(f{i}_{j}, ITERATIONS) / '
                          f'({REGISTERS}.0 * ITERATIONS * cycle));')
        prints.append('  puts("");')
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        assembly = "\n".join([".text", *functions,
                              '.section .note.GNU-stack,"",@progbits', ""])
        (folder / "f.s").write_text(assembly)
        source = (C_SOURCE.replace("DECLARATIONS", "\n".join(declarations))
                  .replace("PRINTS", "\n".join(prints)))
        (folder / "main.c").write_text(source)
        subprocess.run(["cc", "-O1", f"-DCALLS={CALLS}", f"-DITERATIONS={ITERATIONS}",
                        "main.c", "f.s", "-o", "pipes"], cwd=folder, check=True)
        subprocess.run([folder / "pipes"], check=True)


if __name__ == "__main__":
    main()
