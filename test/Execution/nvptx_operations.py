# SPDX-License-Identifier: MIT
"""Prints a function with every elementwise operation, each in a kernel of its
own: nvptx_operations.py [COUNT]"""
import sys

from operations import of_operands

COUNT = sys.argv[1] if len(sys.argv) > 1 else "300"
T = f"tensor<{COUNT}xf32>"
LESS = f"""arith.cmpf olt, %x, %y : {T}
  %chosen = arith.select %less, %x, %y : tensor<{COUNT}xi1>, {T}"""

lines, results = [], []
for count, operands in enumerate(["%x", "%x, %y", "%x, %y, %x"], start=1):
    for operation in of_operands(count):
        for op in operation.mlir:
            lines.append(f"%{operation.name} = {op} {operands} : {T}")
            results.append(f"%{operation.name}")
lines.append(f"%less = {LESS}")
results.append("%chosen")
types = ", ".join([T] * len(results))
print(f"func.func @operations(%x: {T}, %y: {T}) -> ({types}) {{")
print("  " + "\n  ".join(lines))
print(f"  return {', '.join(results)} : {types}\n}}")
