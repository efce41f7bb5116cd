#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Programs that read from tables against the runtime's scalar functions, on all
codes and all pairs of codes: tables.py LIBRARY OUT"""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import chosen
from entries import call

# Spelling, bits, family, parameters of the entry.
FORMATS = [
    ("posit<8,2>", 8, "posit", (8, 2)),
    ("posit<7,1>", 7, "posit", (7, 1)),
    ("takum<8>", 8, "takum", (8,)),
    ("fixed<3,4>", 8, "fixed", (3, 4, 1, 1)),
    ("float<4,3,fn>", 8, "float", (4, 3, 7, 1, 1, 1, 1)),
    ("float<5,2>", 8, "float", (5, 2, 15, 0, 1, 1, 0)),
    ("float<3,4>", 8, "float", (3, 4, 3, 0, 1, 1, 0)),
    ("float<2,1,finite>", 4, "float", (2, 1, 1, 3, 1, 1, 1)),
    ("lns<2,3>", 7, "lns", (2, 3)),
]
UNARY = ["sqrt", "exp", "tanh", "floor", "rsqrt", "log2"]
BINARY = ["add", "sub", "mul", "div", "rem", "pow"]
SIZE = 13  # of a product


class Runtime:
    """The scalar functions of one format."""

    def __init__(self, library, family, bits, parameters):
        self.library, self.family, self.bits = ctypes.CDLL(library), family, bits
        self.parameters = [ctypes.c_int32(p) for p in parameters]

    def table(self, operation, operands):
        function = getattr(self.library, f"numera_{self.family}_{operation}_8")
        function.restype = ctypes.c_uint8
        rest = [*self.parameters, ctypes.c_int32(0), ctypes.c_uint32(0)]
        codes = range(1 << self.bits)
        if operands == 1:
            return np.array([function(x, *rest) for x in codes], np.uint8)
        return np.array([[function(x, y, *rest) for y in codes] for x in codes], np.uint8)


def program(spelling):
    """Every operation, and a product with each multiply and add rounded."""
    t = f"!numera.num<{spelling}>"
    lines = [f"!t = {t}"]
    for name in UNARY:
        lines.append(f"func.func @{name}_(%x: tensor<?x!t>) -> tensor<?x!t> {{\n"
                     f"  %r = numera.{name} %x : tensor<?x!t>\n  return %r : tensor<?x!t>\n}}")
    for name in BINARY:
        lines.append(f"func.func @{name}_(%x: tensor<?x!t>, %y: tensor<?x!t>) -> tensor<?x!t> {{\n"
                     f"  %r = numera.{name} %x, %y : tensor<?x!t>\n  return %r : tensor<?x!t>\n}}")
    square = f"tensor<{SIZE}x{SIZE}x!t>"
    lines.append(f"""
func.func @product(%a: {square}, %b: {square}) -> {square} {{
  %zero = numera.constant 0.0 : !t
  %empty = tensor.empty() : {square}
  %init = linalg.fill ins(%zero : !t) outs(%empty : {square}) -> {square}
  %c = linalg.generic {{
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : {square}, {square}) outs(%init : {square}) {{
  ^bb0(%x: !t, %y: !t, %s: !t):
    %next = numera.mac %x, %y, %s {{product = #numera.format<{spelling}>}} : !t
    linalg.yield %next : !t
  }} -> {square}
  return %c : {square}
}}""")
    return "\n".join(lines)


def check(spelling, bits, family, parameters, library, folder):
    runtime = Runtime(library, family, bits, parameters)
    path = folder / f"{family}{'-'.join(map(str, parameters))}.mlir"
    path.write_text(program(spelling))
    subprocess.run(["numera", "compile", path, "-o", path.with_suffix(".so")], check=True)
    compiled = ctypes.CDLL(str(path.with_suffix(".so")))

    def run(function, *arrays):
        result = np.empty_like(arrays[0])
        call(getattr(compiled, function), arrays, [result])
        return result

    codes = np.arange(1 << bits, dtype=np.uint8)
    x, y = (a.ravel() for a in np.meshgrid(codes, codes, indexing="ij"))
    for name in UNARY:
        assert np.array_equal(run(f"{name}_", codes), runtime.table(name, 1)), (spelling, name)
    tables = {name: runtime.table(name, 2) for name in BINARY}
    for name, table in tables.items():
        got = run(f"{name}_", x, y)
        wrong = np.flatnonzero(got != table.ravel())
        assert not len(wrong), (spelling, name, len(wrong), x[wrong[0]], y[wrong[0]])

    a, b = np.random.default_rng(4).choice(codes, (2, SIZE, SIZE))
    sums = np.zeros((SIZE, SIZE), np.uint8)
    if family == "lns":  # whose zero is not code 0
        sums[:] = tables["sub"][1, 1]
    for k in range(SIZE):
        sums = tables["add"][sums, tables["mul"][a[:, k, None], b[None, k, :]]]
    assert np.array_equal(run("product", a, b), sums), (spelling, "product")


def main(library, folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    # takum<8>, a float and lns.
    some = slice(2, None, 3)
    for form in chosen(FORMATS, mirrored=some, quick=some):
        check(*form, library, folder)


main(*sys.argv[1:])
