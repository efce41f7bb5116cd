# SPDX-License-Identifier: MIT
"""Activations whose steps are read from one table: composed_tables.py FOLDER

A program that returns every step computes each by itself, and has the bits of one
that returns the last: behind a bias that is a constant, in every mode, on several
CPUs, for all numbers of bfloat16 and binary16.
"""

import pathlib
import sys

import numpy as np
from chosen import chosen
from programs import run

# Steps of x, which is a number plus a bias: (result, operation, operands).
ACTIVATIONS = {
    "silu": "n=negf x; e=exp n; d=addf e one; q=divf one d; y=mulf x q",
    "hard swish": "s=addf x three; t=maximumf s zero; u=minimumf t six; m=mulf x u; y=divf m six",
    "leaky": "l=cmpf x zero; m=mulf x tenth; y=select l m x",
    "mish": "e=exp x; d=addf e one; g=log d; t=tanh g; y=mulf x t",
    "scaled": "m=mulf x tenth; s=addf m three; y=subf s six",
}
NUMBERS = {"zero": 0.0, "one": 1.0, "three": 3.0, "six": 6.0, "tenth": 0.1}
FORMATS = ["posit16", "bf16", "f8E4M3FN", "fixed<4,11>", "takum<16>", "posit8", "f16",
           "lns<4,6>", "float<5,7>", "f8E5M2FNUZ", "posit<12,1>", "float<2,3,finite>"]
MODES = [[], ["--rounding", "toward-zero"],
         ["--rounding", "stochastic", "--seed", "5"]]
COLUMNS = 8


def model(steps, returned, rows):
    whole = f"tensor<{rows}x{COLUMNS}xf32>"
    names = [step.split("=")[0] for step in steps if not step.startswith("l=")]
    names = names if returned == "all" else names[-1:]
    bias = ", ".join(str(i / 4 - .5) for i in range(COLUMNS))
    text = "#whole = affine_map<(i, j) -> (i, j)>\n#column = affine_map<(i, j) -> (j)>\n"
    text += f"func.func @f(%a: {whole}) -> ({', '.join([whole] * len(names))}) {{\n"
    for name, number in NUMBERS.items():
        text += f"  %{name} = arith.constant {number} : f32\n"
    text += f"  %bias = arith.constant dense<[{bias}]> : tensor<{COLUMNS}xf32>\n"
    text += f"  %to = tensor.empty() : {whole}\n"
    many = f":{len(names)}" if len(names) > 1 else ""
    text += f"""  %r{many} = linalg.generic {{indexing_maps = [#whole, #column, {", ".join(["#whole"] * len(names))}],
      iterator_types = ["parallel", "parallel"]}} ins(%a, %bias : {whole}, tensor<{COLUMNS}xf32>)
      outs({", ".join(["%to"] * len(names))} : {", ".join([whole] * len(names))}) {{
  ^bb0(%v: f32, %b: f32, {", ".join(f"%o{i}: f32" for i in range(len(names)))}):
    %x = arith.addf %v, %b : f32
"""
    for step in steps:
        result, rest = step.split("=")
        operation, *operands = rest.split()
        dialect = "math" if operation in ("exp", "log", "tanh") else "arith"
        word = " olt," if operation == "cmpf" else ""
        operands = ", ".join("%" + operand for operand in operands)
        text += f"    %{result} = {dialect}.{operation}{word} {operands} : f32\n"
    text += f"    linalg.yield {', '.join('%' + name for name in names)} : {', '.join(['f32'] * len(names))}\n"
    results = [f"%r#{i}" for i in range(len(names))] if many else ["%r"]
    return (text + f"  }} -> ({', '.join([whole] * len(names))})\n"
            f"  return {', '.join(results)} : {', '.join([whole] * len(names))}\n}}\n")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    codes = np.arange(1 << 16, dtype="u2")
    with np.errstate(all="ignore"):
        numbers = np.concatenate([(codes.astype("u4") << 16).view("f4"),
                                  codes.view("f2").astype("f4")])
    array = numbers.reshape(-1, COLUMNS)
    cpus = ["native", "x86-64-v3", "x86-64-v2"]
    count = 0
    cases = [(form, name) for i, form in enumerate(FORMATS)
             for k, name in enumerate(ACTIVATIONS) if (i + k) % 2 == 0]
    for number, (form, name) in chosen(list(enumerate(cases))):
        steps = [step.strip() for step in ACTIVATIONS[name].split(";")]
        options = ["--format", form, "--cpu", cpus[number % 3], "--output-as", "storage"]
        options += MODES[number // 2 % len(MODES)]
        at = folder / name / str(number)
        (whole,) = run(at / "one", model(steps, "last", len(array)), [array], options)
        *_, last = run(at / "all", model(steps, "all", len(array)), [array], options)
        differ = np.count_nonzero(whole != last)
        assert differ == 0, (form, name, options, differ)
        count += whole.size
    print(count, "results")


if __name__ == "__main__":
    main()
