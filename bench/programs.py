# SPDX-License-Identifier: MIT
"""The programs that are measured, as MLIR: each has one function, `run`.

Those on codes have tensors of `!numera.num<…>` at their boundary, so that a row
moves and computes what it says and nothing else. Those on f32 are what a model
is: retyped by the options of `numera compile`.
"""

import struct
import subprocess


def num(spelling):
    return f"!numera.num<{spelling}>"


def tensor(shape, element):
    return f"tensor<{'x'.join(map(str, [*shape, element]))}>"


def elementwise(op, spelling, shape):
    """z = x op y on codes."""
    t = tensor(shape, num(spelling))
    return f"""
func.func @run(%x: {t}, %y: {t}) -> {t} {{
  %z = numera.{op} %x, %y : {t}
  return %z : {t}
}}
"""


def identity(shape):
    """On f32; in a format, rounding is all that it does."""
    t = tensor(shape, "f32")
    return f"func.func @run(%x: {t}) -> {t} {{ return %x : {t} }}"


def matmul_f32(m, n, k):
    a, b, c = (tensor(s, "f32") for s in ([m, k], [k, n], [m, n]))
    return f"""
func.func @run(%a: {a}, %b: {b}) -> {c} {{
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
  %c = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %c : {c}
}}
"""


def matmul_weights(m, n, k):
    """The second operand is a constant."""
    a, b, c = (tensor(s, "f32") for s in ([m, k], [k, n], [m, n]))
    state = 1
    words = []
    for _ in range(k * n):  # from -1 to 1
        state = state * 1664525 + 1013904223 & 0xffffffff
        words.append(state / 2.0**31 - 1)
    weights = struct.pack(f"<{k * n}f", *words).hex()
    return f"""
func.func @run(%a: {a}) -> {c} {{
  %b = arith.constant dense<"0x{weights}"> : {b}
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : {c}
  %init = linalg.fill ins(%zero : f32) outs(%empty : {c}) -> {c}
  %c = linalg.matmul ins(%a, %b : {a}, {b}) outs(%init : {c}) -> {c}
  return %c : {c}
}}
"""


def quantize_blocks(shape, element, back=True):
    """To OCP MX and back, or to codes and scales; blocks along the last axis."""
    t = tensor(shape, "f32")
    scaled = (f"tensor<{'x'.join(map(str, shape))}x{num(element)}, "
              f"#numera.scaling<floor, float<8, 0, fnu>, "
              f"axis = {len(shape) - 1}, block = 32>>")
    if not back:
        return f"""
func.func @run(%x: {t}) -> {scaled} {{
  %q = numera.quantize %x : {t} to {scaled}
  return %q : {scaled}
}}
"""
    return f"""
func.func @run(%x: {t}) -> {t} {{
  %q = numera.quantize %x : {t} to {scaled}
  %y = numera.dequantize %q : {scaled} to {t}
  return %y : {t}
}}
"""


def matmul_codes(m, n, k, spelling, accumulate):
    """C = A · B on codes; accumulate: same, f32 or quire."""
    t = num(spelling)
    a, b, c = (tensor(s, t) for s in ([m, k], [k, n], [m, n]))
    acc = {"same": t, "f32": "f32",
           "quire": f"!numera.quire<{spelling}>"}[accumulate]
    sums = tensor([m, n], acc)
    zero = {"same": f"numera.constant 0.0 : {t}",
            "f32": "arith.constant 0.0 : f32",
            "quire": f"numera.quire_zero : {acc}"}[accumulate]
    step = {
        "same": f"numera.mac %x, %y, %s {{product = #numera.format<{spelling}>}}"
                f" : {t}",
        "f32": f"numera.mac %x, %y, %s : ({t}, {t}, f32) -> f32",
        "quire": f"numera.quire_mac %x, %y, %s : {t}, {acc}"}[accumulate]
    result = {"same": "",
              "f32": f"%c = numera.cast %sums : {sums} to {c}",
              "quire": f"%c = numera.quire_round %sums : {sums} to {c}"}
    return f"""
func.func @run(%a: {a}, %b: {b}) -> {c} {{
  %zero = {zero}
  %empty = tensor.empty() : {sums}
  %init = linalg.fill ins(%zero : {acc}) outs(%empty : {sums}) -> {sums}
  %sums = linalg.generic {{
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>,
                       affine_map<(i, j, k) -> (k, j)>,
                       affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]}}
      ins(%a, %b : {a}, {b}) outs(%init : {sums}) {{
  ^bb0(%x: {t}, %y: {t}, %s: {acc}):
    %next = {step}
    linalg.yield %next : {acc}
  }} -> {sums}
  {result[accumulate]}
  return {"%sums" if accumulate == "same" else "%c"} : {c}
}}
"""


def scalar(spelling):
    """A format's operations as functions on scalars, for an opaque library."""
    t = num(spelling)
    functions = [f"""
func.func @{op}(%x: {t}, %y: {t}) -> {t} {{
  %z = numera.{op} %x, %y : {t}
  return %z : {t}
}}""" for op in ("add", "mul", "div")]
    return "\n".join(functions) + f"""
func.func @encode(%x: f32) -> {t} {{
  %y = numera.cast %x : f32 to {t}
  return %y : {t}
}}
func.func @decode(%x: {t}) -> f32 {{
  %y = numera.cast %x : {t} to f32
  return %y : f32
}}
"""


def apfloat(op, element):
    """The same loop as `elementwise`, in upstream's dialects."""
    m = f"memref<?x{element}>"
    return f"""
func.func @run(%x: {m}, %y: {m}, %z: {m}) attributes {{llvm.emit_c_interface}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = memref.dim %x, %c0 : {m}
  scf.for %i = %c0 to %n step %c1 {{
    %a = memref.load %x[%i] : {m}
    %b = memref.load %y[%i] : {m}
    %c = arith.{op}f %a, %b : {element}
    memref.store %c, %z[%i] : {m}
  }}
  return
}}
"""


class Builder:
    """Makes shared objects in a folder, each once."""

    def __init__(self, build, folder, llvm):
        self.build, self.folder, self.llvm = build, folder, llvm
        folder.mkdir(parents=True, exist_ok=True)
        self.made = {}

    def _run(self, *command, **options):
        result = subprocess.run([str(word) for word in command], text=True,
                                capture_output=True, **options)
        if result.returncode:
            lines = result.stderr.strip().splitlines() or ["failed"]
            raise RuntimeError(f"{command[0]}: {lines[0]}")
        return result.stdout

    def _make(self, stem, text, how):
        key = (stem, text)
        if key not in self.made:
            path = self.folder / f"{stem}.so"
            source = path.with_suffix(".mlir")
            source.write_text(text)
            how(source, path)
            self.made[key] = path
        return self.made[key]

    def program(self, stem, text, flags=()):
        """What a user gets: `numera compile`."""
        return self._make(stem, text, lambda source, path: self._run(
            self.build / "bin/numera", "compile", source, *flags, "-o", path))

    def policy(self, stem, text):
        """A configuration that is a policy alone."""
        path = self.folder / f"{stem}.yaml"
        path.write_text(f"policy: {text}\n")
        return path

    def model(self, stem, source, flags=()):
        """The same for a file."""
        if stem not in self.made:
            path = self.folder / f"{stem}.so"
            self._run(self.build / "bin/numera", "compile", source, *flags,
                      "-o", path)
            self.made[stem] = path
        return self.made[stem]

    def onnx(self, stem, net):
        path = self.folder / f"{stem}-batch-{net.inputs[0]}.onnx"
        if path not in self.made:
            self.made[path] = net.save(path)
        return path

    def opaque(self, stem, spelling):
        """The runtime's entries, specialised on the format, one call each."""
        return self._make(stem, scalar(spelling), self._opaque)

    def apfloat(self, stem, op, element):
        return self._make(stem, apfloat(op, element), self._apfloat)

    def _to_llvm(self, tool, source, passes):
        lowered = self._run(tool, source, *passes)
        return self._run(self.llvm / "mlir-translate", "--mlir-to-llvmir",
                         input=lowered)

    def _opaque(self, source, path):
        ir = path.with_suffix(".ll")
        ir.write_text(self._to_llvm(
            self.build / "bin/numera-opt", source,
            ["--numera-lower=target=cpu", "--convert-to-llvm",
             "--reconcile-unrealized-casts"]))
        whole = path.with_suffix(".bc")
        self._run(self.llvm / "llvm-link", "--only-needed", "--internalize", ir,
                  self.build / "lib/numera/numera-x86_64.bc", "-o", whole)
        self._run(self.llvm / "clang", "-O2", "-fno-slp-vectorize",
                  "-march=native", "-Wno-override-module", "-fPIC", "-shared",
                  whole, "-o", path)

    def _apfloat(self, source, path):
        ir = path.with_suffix(".ll")
        ir.write_text(self._to_llvm(
            self.llvm / "mlir-opt", source,
            ["--convert-arith-to-apfloat", "--convert-scf-to-cf",
             "--convert-to-llvm", "--reconcile-unrealized-casts"]))
        library = self.llvm.parent / "lib"
        self._run(self.llvm / "clang", "-O3", "-march=native", "-fPIC",
                  "-Wno-override-module", "-shared", ir, f"-L{library}",
                  "-lmlir_apfloat_wrappers", f"-Wl,-rpath,{library}", "-o", path)
