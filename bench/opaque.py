# SPDX-License-Identifier: MIT
"""What a registered library in machine code costs beside its own calls.

    python3 bench/opaque.py [--numera build/release/bin/numera]
    python3 bench/opaque.py --formats F.yaml --format my --library my.so --call add=my_add …

A compiled program, proofs off and without tables, against a loop in C that calls the
same symbols of the same loaded library through a pointer, element by element,
over the same arrays: in one process, on one core, in turn. Rows are z = x op y, z = (x op y) op y (two calls), and
a product of matrices with every product and sum rounded against the same
multiplications and additions in a triple loop. Without arguments the libraries
are examples/datatypes/posit16_1.c, whose functions take some tens of nanoseconds,
and examples/fashion/mybf16.c, whose functions take a few, compiled by cc.
`ratio` is the median of the ratios of neighbouring runs; 1.2 is the bar."""

import argparse
import ctypes
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from peers import DTYPES, Tensor, tensor

ROOT = Path(__file__).resolve().parents[1]
BAR = 1.2
LOOPS = """
#include <stddef.h>
#include <stdint.h>
typedef CODE code;
typedef code binary(code, code);
void once(binary *f, const code *x, const code *y, code *z, size_t n) {
  for (size_t i = 0; i < n; ++i)
    z[i] = f(x[i], y[i]);
}
void twice(binary *f, const code *x, const code *y, code *z, size_t n) {
  for (size_t i = 0; i < n; ++i)
    z[i] = f(f(x[i], y[i]), y[i]);
}
void product(binary *add, binary *mul, const code *a, const code *b, code *c, size_t n) {
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j) {
      code sum = 0;
      for (size_t k = 0; k < n; ++k)
        sum = add(sum, mul(a[i * n + k], b[k * n + j]));
      c[i * n + j] = sum;
    }
}
"""
OWN = """
formats:
  my: {family: opaque, bits: 16, identities: {zero: 0}}
libraries:
  my: {path: my.so}
lowerings:
  - {op: add, format: my, target: cpu, call: PREFIX_add}
  - {op: mul, format: my, target: cpu, call: PREFIX_mul}
"""
SOURCES = ("examples/datatypes/posit16_1.c", "examples/fashion/mybf16.c")


class Options(ctypes.Structure):  # numera_options, one thread
    _fields_ = [("size", ctypes.c_uint32), ("threads", ctypes.c_uint32),
                ("rest", ctypes.c_uint64 * 5)]


def module(args, row, size):
    """The row as a program, with codes as its inputs and its result."""
    number = f'!numera.num<opaque<"{args.format}", {args.bits}>>'
    shape = f"{size}x{size}" if row == "product" else str(size)
    tensor_type = f"tensor<{shape}x{number}>"
    if row == "product":
        body = f"""
  %0 = numera.constant code 0x0 : {number}
  %e = tensor.empty() : {tensor_type}
  %i = linalg.fill ins(%0 : {number}) outs(%e : {tensor_type}) -> {tensor_type}
  %r = linalg.generic {{
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]}}
    ins(%x, %y : {tensor_type}, {tensor_type}) outs(%i : {tensor_type}) {{
  ^bb0(%a: {number}, %b: {number}, %c: {number}):
    %p = numera.mul %a, %b : {number}
    %s = numera.add %c, %p : {number}
    linalg.yield %s : {number}
  }} -> {tensor_type}"""
    else:
        name, twice = row.split()[0], row.endswith("twice")
        body = f"\n  %{'q' if twice else 'r'} = numera.{name} %x, %y : {tensor_type}"
        if twice:
            body += f"\n  %r = numera.{name} %q, %y : {tensor_type}"
    return (f"func.func @run(%x: {tensor_type}, %y: {tensor_type}) -> {tensor_type} {{"
            f"{body}\n  return %r : {tensor_type}\n}}\n")


def compiled(args, folder, row, size):
    source = folder / f"{args.library.stem}_{row.replace(' ', '_')}.mlir"
    source.write_text(module(args, row, size))
    output = source.with_suffix(".so")
    subprocess.run([args.numera, "compile", source, "--formats", args.formats, "--format",
                    "f32", "--no-proofs", "-o", output], check=True)
    return ctypes.CDLL(str(output)).run


def entry_call(entry, x, y, z):
    arguments = (Tensor * 2)(tensor(x), tensor(y))
    result, options = tensor(z), Options(ctypes.sizeof(Options), 1)
    message = ctypes.create_string_buffer(256)

    def run():
        if entry(arguments, ctypes.c_size_t(2), ctypes.byref(result), ctypes.c_size_t(1),
                 ctypes.byref(options), message, ctypes.c_size_t(256)):
            raise RuntimeError(message.value.decode())
    return run


def seconds(run):
    begin = time.thread_time()
    run()
    return time.thread_time() - begin


def contest(args, folder, library, loops, row):
    size = args.matrix if row == "product" else args.elements
    random = np.random.default_rng(1)
    shape = (size, size) if row == "product" else size
    dtype = f"u{args.bits // 8}"
    x, y = (random.integers(0, 1 << args.bits, shape, dtype) for _ in range(2))
    z, w = np.zeros_like(x), np.zeros_like(x)
    ours = entry_call(compiled(args, folder, row, size), x, y, z)
    pointers = [ctypes.c_void_p(v.ctypes.data) for v in (x, y, w)]
    function = lambda op: ctypes.cast(getattr(library, args.calls[op]), ctypes.c_void_p)
    if row == "product":
        calls = [function("add"), function("mul")]
        loop = loops.product
    else:
        calls = [function(row.split()[0])]
        loop = loops.twice if row.endswith("twice") else loops.once
    peer = lambda: loop(*calls, *pointers, ctypes.c_size_t(size))
    ours(), peer()
    if not np.array_equal(z, w):
        raise RuntimeError(f"{row}: {np.count_nonzero(z != w)} of {z.size} results differ")
    pairs = [(seconds(ours), seconds(peer)) for _ in range(args.repeat)]
    count = size**3 if row == "product" else size
    least = [min(times) / count * 1e9 for times in zip(*pairs)]
    ratio = statistics.median(ours / peer for ours, peer in pairs)
    print(f"{row:<12}{least[0]:>8.2f}{least[1]:>12.2f}{ratio:>8.3f}"
          f"{'' if ratio <= BAR else '  above the bar'}", flush=True)
    return ratio


def run_library(args, folder, loops):
    library = ctypes.CDLL(str(args.library.resolve()))
    rows = [f"{op}{kind}" for op in args.calls for kind in ("", " twice")]
    if {"add", "mul"} <= args.calls.keys():
        rows.append("product")
    print(f"{args.library.name:<12}{'ours ns':>8}{'C loop ns':>12}{'ratio':>8}")
    return [contest(args, folder, library, loops, row) for row in rows]


def run_own(args, folder, loops):
    """Libraries of the examples, in machine code."""
    ratios = []
    for source in SOURCES:
        name = Path(source).stem
        args.library = folder / f"{name}.so"
        args.formats = folder / f"{name}.yaml"
        args.calls = {op: f"{name}_{op}" for op in ("add", "mul")}
        args.formats.write_text(OWN.replace("PREFIX", name).replace("my.so", f"{name}.so"))
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-ffp-contract=off", ROOT / source,
                        "-o", args.library], check=True)
        ratios += run_library(args, folder, loops)
    return ratios


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--numera", default=ROOT / "build/release/bin/numera")
    parser.add_argument("--formats", type=Path)
    parser.add_argument("--format", default="my")
    parser.add_argument("--bits", type=int, default=16)
    parser.add_argument("--library", type=Path)
    parser.add_argument("--call", action="append", metavar="OP=SYMBOL", default=[])
    parser.add_argument("--elements", type=int, default=1 << 18)
    parser.add_argument("--matrix", type=int, default=64)
    parser.add_argument("--repeat", type=int, default=101)
    args = parser.parse_args()
    args.calls = dict(call.split("=") for call in args.call)
    os.sched_setaffinity(0, [sorted(os.sched_getaffinity(0))[-1]])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "loops.c").write_text(LOOPS.replace("CODE", f"uint{args.bits}_t"))
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", folder / "loops.c", "-o",
                        folder / "loops.so"], check=True)
        loops = ctypes.CDLL(str(folder / "loops.so"))
        ratios = (run_library if args.formats else run_own)(args, folder, loops)
    return 0 if max(ratios) <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
