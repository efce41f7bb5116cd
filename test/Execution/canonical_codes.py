# SPDX-License-Identifier: MIT
"""canonical_codes.py FOLDER: casts of a format to itself, and operations that are
exact, on the codes that are not what operations give. Results are held against the
definitions of the codes. Prints how many were compared.
"""
import pathlib
import subprocess
import sys

import numpy as np

# Spelling, exponent bits, significand bits.
FORMATS = [
    ("float<8, 7>", 8, 7),
    ("float<5, 2>", 5, 2),
    ("float<5, 7, saturate>", 5, 7),
    ("float<6, 5, flush>", 6, 5),
    ("float<8, 10>", 8, 10),
    ("float<4, 3, fn>", 4, 3),
]

# Operations on %x and %z, zeros, with the result %0. `T` is the type, `F` one of f64
# in its shape, `B` one of bits.
IDENTITIES = {
    "cast": "%0 = numera.cast %x : T to T",
    "there_and_back": "%1 = numera.cast %x : T to F\n%0 = numera.cast %1 : F to T",
    "select": "%1 = numera.cast %x : T to T\n%c = numera.cmp oeq, %1, %z : T\n"
              "%0 = arith.select %c, %1, %1 : B, T",
    "add": "%1 = numera.cast %x : T to F\n%2 = numera.cast %1 : F to T\n"
           "%3 = numera.cast %z : T to T\n%4 = numera.max %2, %2 : T\n"
           "%5 = numera.mul %3, %3 : T\n%6 = numera.cmp une, %5, %4 : T\n"
           "%0 = arith.select %6, %4, %4 : B, T",
}
# The magnitude of what they hand on, which is no result of arithmetic.
EXACT = {
    "neg": "%0 = numera.neg %x : T",
    "negneg": "%1 = numera.neg %x : T\n%0 = numera.neg %1 : T",
    "abs": "%0 = numera.abs %x : T",
    "max": "%0 = numera.max %x, %x : T",
    "minnum": "%0 = numera.minnum %x, %x : T",
    "carried": "%1 = numera.mul %z, %z : T\n%2 = numera.abs %x : T\n"
               "%0 = numera.max %2, %1 : T",
}


class Codes:
    def __init__(self, spelling, e, t):
        self.saturates, self.flushes = "saturate" in spelling, "flush" in spelling
        self.t, self.sign = t, 1 << e + t
        self.infinity = (1 << e) - 1 << t
        self.isFn = "fn" in spelling
        self.storage = next(b for b in (8, 16, 32) if b >= e + t + 1)
        random = np.random.default_rng(e)
        top = self.infinity
        edges = [top, top - 1, top + 1, top | (1 << t) - 1, top | 1 << t - 1, 0, 1,
                 (1 << t) - 1, 1 << t]
        edges += [self.sign | code for code in edges]
        self.list = edges + random.integers(0, 2 * self.sign, 46).tolist()

    def is_nan(self, code):
        magnitude = code & self.sign - 1
        return magnitude == self.sign - 1 if self.isFn else magnitude > self.infinity

    def canonical(self, code, isCast):
        magnitude = code & self.sign - 1
        if self.is_nan(code):
            return self.sign - 1 if self.isFn else self.infinity | 1 << self.t - 1
        if self.flushes and magnitude < 1 << self.t:
            return code & self.sign
        if isCast and self.saturates and magnitude == self.infinity:
            return code - 1
        return code

    def expected(self, name, code):
        canonical = self.canonical(code, name in IDENTITIES)
        if self.is_nan(code):
            return canonical
        if name == "neg":
            return canonical ^ self.sign
        return canonical & ~self.sign if name in ("abs", "carried") else canonical


def typed(line, number, shape):
    """`line` on a tensor of `shape`, or on numbers where that is empty."""
    form = (lambda type: f"tensor<{shape}x{type}>") if shape else (lambda type: type)
    words = {"T": form(number), "F": form("f64"), "B": form("i1")}
    return " ".join(words.get(word.rstrip(","), word) + "," * word.endswith(",")
                    if word.rstrip(",") in words else word
                    for line in [line] for word in line.split(" "))


def function(name, kind, text, number, codes):
    count = len(codes.list)
    tensor = f"tensor<{count}x{number}>"
    lines = [typed(line, number, "" if kind == "single" else count)
             for line in text.split("\n")]
    of_codes = f": tensor<{count}xi{codes.storage}> as {tensor}"
    zeros = f"%z = numera.constant codes dense<0> {of_codes}"
    if kind == "folded":
        head = [f"func.func @{name}_folded() -> {tensor} {{",
                f"%x = numera.constant codes dense<{codes.list}> {of_codes}", zeros]
        return head + lines + [f"return %0 : {tensor}", "}"]
    head = [f"func.func @{name}_{kind}(%t: {tensor}) -> {tensor} {{"]
    if kind == "vectors":
        return head + [line.replace("%x", "%t") for line in [zeros] + lines] + [
            f"return %0 : {tensor}", "}"]
    return head + [
        "%first = arith.constant 0 : index", "%step = arith.constant 1 : index",
        f"%end = arith.constant {count} : index", f"%z = numera.constant 0.0 : {number}",
        f"%r = scf.for %i = %first to %end step %step iter_args(%a = %t) -> ({tensor}) {{",
        f"%x = tensor.extract %t[%i] : {tensor}", *lines,
        f"%b = tensor.insert %0 into %a[%i] : {tensor}", f"scf.yield %b : {tensor}", "}",
        f"return %r : {tensor}", "}"]


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    compared = 0
    for spelling, e, t in FORMATS:
        codes = Codes(spelling, e, t)
        np.save(folder / "x.npy", np.array(codes.list, f"u{codes.storage // 8}"))
        kinds = ["folded", "vectors", "single"]
        for kind in kinds:
            texts, calls = [], []
            for name, text in {**IDENTITIES, **EXACT}.items():
                texts += function(name, kind, text, f"!numera.num<{spelling}>", codes)
                calls.append(name)
            # One public function that calls them all.
            tensor = f"tensor<{len(codes.list)}x!numera.num<{spelling}>>"
            argument = "" if kind == "folded" else "%t"
            types = "" if kind == "folded" else tensor
            body = [f"%{name} = call @{name}_{kind}({argument}) : ({types}) -> {tensor}"
                    for name in calls]
            results = ", ".join([tensor] * len(calls))
            parameter = f"{argument}: {tensor}" if argument else ""
            texts = [line.replace("func.func @", "func.func private @") for line in texts]
            texts += [f"func.func @main({parameter}) -> ({results}) {{", *body,
                      f"return {', '.join('%' + name for name in calls)} : {results}", "}"]
            (folder / "program.mlir").write_text("\n".join(texts) + "\n")
            inputs = ["--input", folder / "x.npy"] if argument else []
            subprocess.run(["numera", "run", folder / "program.mlir", *inputs,
                            "--output-dir", folder / "out"], check=True,
                           stdout=subprocess.DEVNULL)
            for i, name in enumerate(calls):
                got = np.load(folder / "out" / f"output_{i}.npy").tolist()
                for code, result in zip(codes.list, got):
                    expected = codes.expected(name, code)
                    if result != expected:
                        sys.exit(f"{spelling}: {name} of {code:#x}, {kind}, is "
                                 f"{result:#x}; expected {expected:#x}")
                compared += len(got)
    print(f"{len(FORMATS)} formats, {compared} results")


main()
