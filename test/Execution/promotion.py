#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Carried programs against uncarried ones, bit for bit: carry.py OUT"""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import chosen
from entries import call

# Format, bits. f32, f64 and sums rounded to odd as carriers; every mode.
FORMATS = [
    ("float<8,7>", 16),
    ('float<8,7,"toward-zero">', 16),
    ("float<8,7,saturate>", 16),
    ("float<5,10>", 16),
    ("float<5,7,up>", 13),
    ("float<5,7,down>", 13),
    ("float<4,3,fn>", 8),
    ('float<4,3,fn,"to-odd">', 8),
    ('float<5,2,fnuz,"nearest-away">', 8),
    ("float<6,9,finite>", 16),
    ('float<3,4,p3109,"nearest-zero">', 8),
    ("posit<16,2>", 16),
    ('posit<16,2,"toward-zero">', 16),
    ("posit<12,1,down>", 12),
    ("posit<32,2>", 32),
    ("fixed<4,11>", 16),
    ("fixed<3,4,wrap>", 8),
]
COUNT = 20000

# Name, operands, result: of codes (n), of booleans (b) and of f32 (f).
OPERATIONS = {
    "mul": ("nn", "n", "numera.mul %0, %1 : !t"),
    "add": ("nn", "n", "numera.add %0, %1 : !t"),
    "sub": ("nn", "n", "numera.sub %0, %1 : !t"),
    "div": ("nn", "n", "numera.div %0, %1 : !t"),
    "sqrt": ("n", "n", "numera.sqrt %0 : !t"),
    "fma": ("nnn", "n", "numera.fma %0, %1, %2 : !t"),
    "neg": ("n", "n", "numera.neg %0 : !t"),
    "abs": ("n", "n", "numera.abs %0 : !t"),
    "min": ("nn", "n", "numera.min %0, %1 : !t"),
    "max": ("nn", "n", "numera.max %0, %1 : !t"),
    "lt": ("nn", "b", "numera.cmp olt, %0, %1 : !t"),
    "ule": ("nn", "b", "numera.cmp ule, %0, %1 : !t"),
    "isnan": ("n", "b", "numera.isnan %0 : !t"),
    "select": ("bnn", "n", "arith.select %0, %1, %2 : !t"),
    "from": ("f", "n", "numera.cast %0 : f32 to !t"),
    "to": ("n", "f", "numera.cast %0 : !t to f32"),
}
TYPES = {"n": "!t", "b": "i1", "f": "f32"}

# Chains of steps: (result, operation, operands); x, y, z are arguments.
CHAINS = {
    "sums": "p=mul x y; s=add p z; d=sub s x; e=add d d",
    "quotients": "s=add x y; d=div s z; a=abs d; r=sqrt a; e=mul r x",
    "fused": "f=fma x y z; n=neg f; e=fma n y f",
    "choices": "s=add x y; n=neg s; a=abs n; i=min a z; m=max i n; c=lt m s;"
    "t=select c m s; u=ule t z; v=select u t n; e=mul v x",
    "nans": "d=div x y; n=isnan d; m=mul d z; e=select n m d",
    "poles": "s=sub x x; n=neg s; d=div y n; e=add d z",
}


def operate(name, operands, apart):
    takes, gives, text = OPERATIONS[name]
    if apart:
        types = ", ".join(TYPES[t] for t in takes)
        return f"func.call @op_{name}({', '.join(operands)}) : ({types}) -> {TYPES[gives]}"
    for i, operand in enumerate(operands):
        text = text.replace(f"%{i}", operand)
    return text


def body(chain, apart):
    """The last value is the result, as a code; x comes from f32 and back."""
    lines = []
    for step in chain.split(";"):
        result, call = step.strip().split("=")
        name, *operands = call.split()
        operands = [f"%{operand}" for operand in operands]
        lines.append(f"%{result} = {operate(name, operands, apart)}")
    return lines


def function(name, inputs, output, lines):
    """An elementwise function on tensors."""
    sizes = {"n": f"tensor<{COUNT}x!t>", "f": f"tensor<{COUNT}xf32>"}
    arguments = [f"%m{i}: {sizes[kind]}" for i, kind in enumerate(inputs)]
    identity = ", ".join(["affine_map<(i) -> (i)>"] * (len(inputs) + 1))
    values = ", ".join(f"%{'xyz'[i]}: {TYPES[kind]}" for i, kind in enumerate(inputs))
    return f"""func.func @{name}({', '.join(arguments)}) -> {sizes[output]} {{
  %init = tensor.empty() : {sizes[output]}
  %r = linalg.generic {{indexing_maps = [{identity}], iterator_types = ["parallel"]}}
    ins({', '.join(f'%m{i}' for i in range(len(inputs)))} : {', '.join(sizes[k] for k in inputs)})
    outs(%init : {sizes[output]}) {{
  ^bb0({values}, %old: {TYPES[output]}):
    {(chr(10) + '    ').join(lines)}
    linalg.yield %e : {TYPES[output]}
  }} -> {sizes[output]}
  return %r : {sizes[output]}
}}"""


def program(spelling):
    functions = [f"!t = !numera.num<{spelling}>"]
    for name, (takes, gives, text) in OPERATIONS.items():
        arguments = ", ".join(f"%a{i}: {TYPES[t]}" for i, t in enumerate(takes))
        for i in range(len(takes)):
            text = text.replace(f"%{i}", f"%a{i}")
        functions.append(
            f"func.func private @op_{name}({arguments}) -> {TYPES[gives]} {{\n"
            f"  %r = {text}\n  return %r : {TYPES[gives]}\n}}"
        )
    for name, chain in CHAINS.items():
        for apart in (False, True):
            suffix = "_apart" if apart else ""
            functions.append(function(name + suffix, "nnn", "n", body(chain, apart)))
    for apart in (False, True):
        suffix = "_apart" if apart else ""
        lines = body("q=from x; w=from y; s=add q w; n=neg s; e=to n", apart)
        functions.append(function("visible" + suffix, "ff", "f", lines))
        lines = body("q=from x; e=to q", apart)
        functions.append(function("quantize" + suffix, "f", "f", lines))
    return "\n".join(functions) + "\n"


def codes(bits, seed):
    generator = np.random.default_rng(seed)
    storage = np.dtype(f"u{1 if bits <= 8 else 2 if bits <= 16 else 4}")
    values = generator.integers(0, 1 << bits, COUNT, np.uint64)
    # Ends and middles of the range, in both signs; few significant bits.
    ends = np.array([0, 1, 2, (1 << bits - 1) - 1, 1 << bits - 1, (1 << bits) - 1])
    values[: COUNT // 8] = generator.choice(ends, COUNT // 8)
    low = generator.integers(0, bits, COUNT // 4, np.uint64)
    values[-(COUNT // 4) :] = values[-(COUNT // 4) :] >> low << low
    return generator.permutation(values).astype(storage)


def machine_numbers(seed):
    bits = codes(32, seed)
    bits[::2] = np.random.default_rng(seed).normal(size=COUNT // 2).astype("f4").view("u4")
    return bits.view("f4")


def run(library, name, arrays):
    result = np.zeros(COUNT, arrays[0].dtype)
    call(library[name], arrays, [result])
    return result.view(f"u{result.itemsize}")


def compare(what, arrays, found, expected):
    at = np.flatnonzero(found != expected)
    if len(at):
        operands = [hex(array.view(f"u{array.itemsize}")[at[0]]) for array in arrays]
        sys.exit(
            f"{what}: {len(at)} results differ; at {operands} {found[at[0]]:#x}, not {expected[at[0]]:#x}"
        )


def check(model, spelling, inputs, *flags):
    """Compares all chains of a format; returns the results of the carried."""
    path = str(model.with_suffix(".so"))
    model.write_text(program(spelling))
    subprocess.run(["numera", "compile", model, "-o", path, *flags], check=True)
    library = ctypes.CDLL(path)
    numbers = [machine_numbers(seed) for seed in (4, 5)]
    cases = {name: inputs for name in CHAINS}
    cases |= {"visible": numbers, "quantize": numbers[:1]}
    results = {}
    for name, arrays in cases.items():
        results[name] = run(library, name, arrays)
        compare(f"{spelling} {name}", arrays, results[name], run(library, name + "_apart", arrays))
    return results


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    for number, (spelling, bits) in enumerate(chosen(FORMATS, mirrored=slice(1, None, 4))):
        inputs = [codes(bits, seed) for seed in (1, 2, 3)]
        check(out / f"{number}.mlir", spelling, inputs)


if __name__ == "__main__":
    main()
