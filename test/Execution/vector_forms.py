# SPDX-License-Identifier: MIT
"""Writes every operation on codes of a format, as scalars and as vectors.

vector_forms.py SPELLING WIDTH DIRECTORY writes operands x.npy y.npy z.npy and
operations.mlir, whose functions @scalars and @vectors compute the same: a row
of codes for each operation.
"""
import sys
import numpy as np

from operations import of_operands

COUNT, LANES = 1024, 16
PREDICATES = "oeq olt ole une uno ugt".split()


def steps(spelling, code, of):
    """The text of each operation on %a %b %c; `of` gives the type of many."""
    t = of(code)
    attribute = f"#numera.format<{spelling}>"
    own = f"{{format = {attribute}}} : {t}"
    for count, operands in enumerate(["%a", "%a, %b", "%a, %b, %c"], start=1):
        for op, *_ in of_operands(count):
            yield f"%r = numera.{op} {operands} {own}"
    for rounding in ("up", "toward-zero", "to-odd"):
        yield (f'%r = numera.add %a, %b {{format = {attribute}, '
               f'rounding = #numera.rounding<"{rounding}">}} : {t}')
    yield (f"%r = numera.mac %a, %b, %c "
           f"{{format = {attribute}, product = {attribute}}} : {t}")
    for predicate in PREDICATES:
        yield (f"%p = numera.cmp {predicate}, %a, %b {own}\n"
               f"      %r = arith.select %p, %a, %b : {of('i1')}, {t}")
    yield (f"%p = numera.isnan %a {own}\n"
           f"      %r = arith.select %p, %b, %c : {of('i1')}, {t}")
    for other, kind in (("f32", "#numera.format<float<8, 23>>"),
                        ("i8", "#numera.format<float<4, 3, fn>>"),
                        ("i16", "#numera.format<posit<16, 2>>"),
                        ("i32", "i32")):
        there, back = f"{t} to {of(other)}", f"{of(other)} to {t}"
        yield (f"%n = numera.cast %a {{format = {kind}, "
               f"operand_formats = [{attribute}]}} : {there}\n"
               f"      %r = numera.cast %n {{format = {attribute}, "
               f"operand_formats = [{kind}]}} : {back}")


def function(name, spelling, code, lanes):
    of = (lambda each: each) if lanes == 1 else (
        lambda each: f"vector<{lanes}x{each}>")
    bodies = list(steps(spelling, code, of))
    given, made = f"memref<{COUNT}x{code}>", f"memref<{len(bodies)}x{COUNT}x{code}>"
    unit = "memref" if lanes == 1 else "vector"
    tail = "" if lanes == 1 else f", {of(code)}"
    lines = [f"func.func @{name}(%x: {given}, %y: {given}, %z: {given}) -> {made} {{",
             "  %zero = arith.constant 0 : index",
             f"  %end = arith.constant {COUNT} : index",
             f"  %step = arith.constant {lanes} : index",
             f"  %out = memref.alloc() : {made}"]
    for row, body in enumerate(bodies):
        lines += [f"  %row{row} = arith.constant {row} : index",
                  "  scf.for %i = %zero to %end step %step {"]
        lines += [f"      %{to} = {unit}.load %{place}[%i] : {given}{tail}"
                  for to, place in ("ax", "by", "cz")]
        lines += ["      " + body,
                  f"      {unit}.store %r, %out[%row{row}, %i] : {made}{tail}",
                  "  }"]
    return "\n".join(lines + [f"  return %out : {made}", "}", ""])


def main():
    spelling, width, directory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    storage = max(8, 1 << (width - 1).bit_length())
    random = np.random.default_rng(width)
    for name in "xyz":
        codes = random.integers(0, 1 << width, COUNT, dtype=np.uint64)
        # Zeros, ones, the ends, and what lies beside them: all pairs.
        edges = [0, 1, (1 << width - 1) - 1, 1 << width - 1,
                 (1 << width - 1) + 1, (1 << width) - 1, 1 << width - 2]
        codes[::3] = random.choice(edges, len(codes[::3]))
        np.save(f"{directory}/{name}.npy", codes.astype(f"u{storage // 8}"))
    with open(f"{directory}/operations.mlir", "w") as file:
        file.write(function("scalars", spelling, f"i{storage}", 1))
        file.write(function("vectors", spelling, f"i{storage}", LANES))


main()
