# SPDX-License-Identifier: MIT
"""Writes programs on codes of 16 bits and their operands, or compares what two
CPUs made of them."""

import sys

import numpy as np

FORMATS = {"posit16": "posit<16, 2>", "posit12": "posit<12, 1>",
           # Products in f64: what is narrowed is words of 64 bits.
           "posit16_1": "posit<16, 1>", "posit16_0": "posit<16, 0>",
           "float69": "float<6, 9>", "float57": "float<5, 7>",
           "bf16": "float<8, 7>", "fixed": "fixed<4, 11>"}
COUNT = 200_003
WHAT = ("sum", "product", "chain", "larger")


def outputs():
    return [f"{name}_{what}" for name in FORMATS for what in WHAT]


def model():
    arguments, code, results, types = [], [], [], []
    for name, spelling in FORMATS.items():
        t = f"tensor<{COUNT}x!numera.num<{spelling}>>"
        x, y = f"%x_{name}", f"%y_{name}"
        arguments += [f"{x}: {t}", f"{y}: {t}"]
        code += [f"%s_{name} = numera.add {x}, {y} : {t}",
                 f"%p_{name} = numera.mul {x}, {y} : {t}",
                 f"%n_{name} = numera.neg {y} : {t}",
                 f"%c_{name} = numera.sub %p_{name}, %n_{name} : {t}",
                 f"%l_{name} = numera.max {x}, {y} : {t}"]
        for value, what in zip("spcl", WHAT):
            results.append(f"%{value}_{name}")
            types.append(f'{t} {{numera.name = "{name}_{what}"}}')
    plain = [kind.split(" {")[0] for kind in types]
    return "\n".join([
        f"func.func @main({', '.join(arguments)})",
        f"    -> ({', '.join(types)}) {{", *code,
        f"  return {', '.join(results)} : {', '.join(plain)}", "}"])


def posit():
    t = "tensor<65536x!numera.num<posit<16, 2>>>"
    return f"""func.func @main(%x: {t}, %y: {t}) -> {t} {{
  %z = numera.add %x, %y : {t}
  return %z : {t}
}}
"""


def write(folder):
    random = np.random.default_rng(7)
    operands = random.integers(0, 65536, (2, COUNT), dtype=np.uint16)
    special = [0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x4000, 0xc000]
    operands[0, :64] = np.repeat(special, 8)
    operands[1, :64] = np.tile(special, 8)
    operands[1, 64:4096] = -operands[0, 64:4096]  # sums that cancel
    for name, codes in zip("xy", operands):
        np.save(f"{folder}/{name}.npy", codes)
    for name, text in (("model", model()), ("posit", posit())):
        with open(f"{folder}/{name}.mlir", "w") as file:
            file.write(text)


def compare(folder, first, second):
    for name in outputs():
        a, b = (np.load(f"{folder}/{cpu}/{name}.npy") for cpu in (first, second))
        assert len(np.unique(a)) > 1000, (name, a.dtype)
        assert (a == b).all(), (name, np.flatnonzero(a != b)[:5])


write(sys.argv[1]) if len(sys.argv) == 2 else compare(*sys.argv[1:])
