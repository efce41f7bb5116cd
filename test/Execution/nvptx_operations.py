# SPDX-License-Identifier: MIT
"""Prints a function with every elementwise operation, each in a kernel of its
own: nvptx_operations.py [COUNT]"""
import sys

COUNT = sys.argv[1] if len(sys.argv) > 1 else "300"
T = f"tensor<{COUNT}xf32>"
UNARY = """math.absf arith.negf math.sqrt math.rsqrt math.exp math.exp2 math.log
math.log2 math.log1p math.expm1 math.sin math.cos math.tanh math.erf math.floor
math.ceil math.trunc math.round math.roundeven""".split()
BINARY = """arith.addf arith.subf arith.mulf arith.divf arith.remf arith.minimumf
arith.maximumf arith.minnumf arith.maxnumf""".split()
LESS = f"""arith.cmpf olt, %x, %y : {T}
  %chosen = arith.select %less, %x, %y : tensor<{COUNT}xi1>, {T}"""

lines, results = [], []
for i, op in enumerate(UNARY):
    lines.append(f"%u{i} = {op} %x : {T}")
    results.append(f"%u{i}")
for i, op in enumerate(BINARY):
    lines.append(f"%b{i} = {op} %x, %y : {T}")
    results.append(f"%b{i}")
lines.append(f"%p = math.powf %x, %y : {T}")
lines.append(f"%f = math.fma %x, %y, %x : {T}")
lines.append(f"%less = {LESS}")
results += ["%p", "%f", "%chosen"]
types = ", ".join([T] * len(results))
print(f"func.func @operations(%x: {T}, %y: {T}) -> ({types}) {{")
print("  " + "\n  ".join(lines))
print(f"  return {', '.join(results)} : {types}\n}}")
