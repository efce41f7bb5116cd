# SPDX-License-Identifier: MIT
"""Every operation of arith and math that a model may have, in one function: a
table of its text and of what NumPy and Python's math say of it.

Usage: arith_math.py write|names FOLDER
       arith_math.py check FOLDER TOLERANCE [--infinities]
"""

import math
import sys

import numpy as np

X = np.array([0.75, -0.5, 0.25, -0.875, 0.0, 1.0])
Y = np.array([2.0, 0.5, -0.25, -3.0, 1.0, 1.5])
Z = np.array([0.5, 4.0, 1.25, 2.5, 0.125, 3.0])
I = np.array([5, -7, 0, 2**31 - 1, -1, 12], "i4")
J = np.array([3, 2, -5, 2, 4, 31], "i4")
P = np.array([0, 1, 2, -2, 3, -1], "i4")
C = I > J
F, N, B = "tensor<?xf32>", "tensor<?xi32>", "tensor<?xi1>"


def apply(function, *arrays):
    return np.array([function(*map(float, row)) for row in zip(*arrays)])


def unsigned(x):
    return x.astype("u4").astype("i8")


def signed(x):
    return np.asarray(x).astype("i8").astype("u4").astype("i4")


def truncated(x, y):
    return np.array([int(a / b) for a, b in zip(x.tolist(), y.tolist())])


def power(base, exponent):
    """Of integers, as math.ipowi: 0 where 1 / base is no integer."""
    if exponent >= 0:
        return base**exponent
    return base ** (exponent % 2) if abs(base) == 1 else 0


with np.errstate(all="ignore"):
    UNARY = {  # of f32: what is outside its domain is NaN
        "absf": abs, "acos": np.arccos, "acosh": lambda z: np.arccosh(z),
        "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
        "atanh": np.arctanh, "cbrt": np.cbrt, "ceil": np.ceil, "cos": np.cos,
        "cosh": np.cosh, "erf": lambda x: apply(math.erf, x),
        "erfc": lambda x: apply(math.erfc, x), "exp": np.exp, "exp2": np.exp2,
        "expm1": np.expm1, "floor": np.floor, "log": np.log,
        "log10": np.log10, "log1p": np.log1p, "log2": np.log2,
        "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
        "roundeven": np.rint, "rsqrt": lambda x: 1 / np.sqrt(x),
        "sin": np.sin, "sinh": np.sinh, "sqrt": np.sqrt, "tan": np.tan,
        "tanh": np.tanh, "trunc": np.trunc,
    }  # fmt: skip
    POSITIVE = {"acosh", "log", "log10", "log2", "rsqrt", "sqrt"}
    INSIDE = {"atanh", "log1p"}  # of X but its last, which gives an infinity

    ROWS = []  # name, text, type of the result, value

    def row(name, text, kind, value):
        ROWS.append((name, text, kind, value))

    for name, function in UNARY.items():
        operand, value = ("z", Z) if name in POSITIVE else ("x", X)
        if name == "acosh":
            operand, value = "w", Z + 1
        if name in INSIDE:
            operand, value = "h", X / 2
        row(f"math.{name}", f"math.{name} %{operand} : {F}", F, function(value))
    for name, function in {
        "arith.addf": np.add, "arith.subf": np.subtract,
        "arith.mulf": np.multiply, "arith.divf": np.divide,
        "arith.remf": np.fmod, "arith.maximumf": np.maximum,
        "arith.minimumf": np.minimum, "arith.maxnumf": np.fmax,
        "arith.minnumf": np.fmin, "math.atan2": np.arctan2,
        "math.copysign": np.copysign,
    }.items():  # fmt: skip
        row(name, f"{name} %x, %y : {F}", F, function(X, Y))
    row("math.powf", f"math.powf %z, %y : {F}", F, Z**Y)
    row("math.fma", f"math.fma %x, %y, %z : {F}", F, X * Y + Z)
    row("math.fpowi", f"math.fpowi %y, %p : {F}, {N}", F, Y ** P.astype("f8"))
    row("math.clampf", f"math.clampf %y to [%x, %z] : {F}", F, np.minimum(np.maximum(Y, X), Z))
    row("math.sincos", f"math.sincos %x : {F}", F, np.sin(X))
    row("arith.negf", f"arith.negf %x : {F}", F, -X)
    row("arith.select", f"arith.select %c, %x, %y : {B}, {F}", F, np.where(C, X, Y))
    nan = X / X  # 0 / 0
    infinite = np.abs(X) == 0  # 1 / 0, of f32 alone
    row("math.isnan", f"math.isnan %nan : {F}", B, np.isnan(nan))
    row("math.isfinite", f"math.isfinite %nan : {F}", B, np.isfinite(nan))
    row("math.isinf", f"math.isinf %inf : {F}", B, infinite)
    ORDERED = {"eq": np.equal, "gt": np.greater, "ge": np.greater_equal,
               "lt": np.less, "le": np.less_equal, "ne": np.not_equal}  # fmt: skip
    for name, function in ORDERED.items():
        for prefix in "ou":
            text = f"arith.cmpf {prefix}{name}, %x, %y : {F}"
            row(f"arith.cmpf {prefix}{name}", text, B, function(X, Y))
    for name, value in ("false", False), ("ord", True), ("uno", False), ("true", True):
        row(f"arith.cmpf {name}", f"arith.cmpf {name}, %x, %y : {F}", B, np.full(6, value))
    row("arith.sitofp", f"arith.sitofp %j : {N} to {F}", F, J.astype("f8"))
    row("arith.uitofp", f"arith.uitofp %a : {N} to {F}", F, np.abs(J).astype("f8"))
    row("arith.fptosi", f"arith.fptosi %y : {F} to {N}", N, np.trunc(Y))
    row("arith.fptoui", f"arith.fptoui %z : {F} to {N}", N, np.trunc(Z))
    row("arith.extf", f"arith.extf %x : {F} to tensor<?xf64>", "tensor<?xf64>", X)
    row("arith.truncf", f"arith.truncf %x : {F} to tensor<?xf16>", "tensor<?xf16>", X)
    row("arith.bitcast", f"arith.bitcast %x : {F} to {N}", N, X.astype("f4").view("i4"))
    row("arith.bitcast back", f"arith.bitcast %bits : {N} to {F}", F, X)

    for name, value in {
        "absi": np.abs(I), "ctlz": apply(lambda n: 32 - int(n).bit_length(), unsigned(I)),
        "cttz": apply(lambda n: (int(n) & -int(n)).bit_length() - 1 if n else 32, unsigned(I)),
        "ctpop": apply(lambda n: bin(int(n)).count("1"), unsigned(I)),
    }.items():  # fmt: skip
        row(f"math.{name}", f"math.{name} %i : {N}", N, value)
    row("math.ipowi", f"math.ipowi %j, %p : {N}", N, [power(a, b) for a, b in zip(J.tolist(), P.tolist())])
    u, v = unsigned(I), unsigned(J)
    i, j = I.astype("i8"), J.astype("i8")
    by = j & 31
    for name, value in {
        "addi": i + j, "subi": i - j, "muli": i * j, "andi": i & j, "ori": i | j,
        "xori": i ^ j, "divsi": truncated(i, j), "divui": u // v,
        "remsi": i - j * truncated(i, j), "remui": u % v,
        "ceildivsi": -(-i // j), "ceildivui": -(-u // v), "floordivsi": i // j,
        "maxsi": np.maximum(i, j), "maxui": np.maximum(u, v),
        "minsi": np.minimum(i, j), "minui": np.minimum(u, v),
    }.items():  # fmt: skip
        row(f"arith.{name}", f"arith.{name} %i, %j : {N}", N, signed(value))
    for name, value in {"shli": i << by, "shrsi": i >> by, "shrui": u >> by}.items():
        row(f"arith.{name}", f"arith.{name} %i, %s : {N}", N, signed(value))
    row("arith.addui_extended", f"arith.addui_extended %i, %j : {N}, {B}", N, signed(i + j))
    row("arith.mulsi_extended", f"arith.mulsi_extended %i, %j : {N}", N, signed(i * j))
    row("arith.mului_extended", f"arith.mului_extended %i, %j : {N}", N, signed(u * v))
    row("arith.cmpi", f"arith.cmpi slt, %i, %j : {N}", B, I < J)
    L, S = "tensor<?xi64>", "tensor<?xi8>"
    row("arith.extsi", f"arith.extsi %i : {N} to {L}", L, i)
    row("arith.extui", f"arith.extui %i : {N} to {L}", L, u)
    row("arith.trunci", f"arith.trunci %i : {N} to {S}", S, I.astype("i1"))
    row("arith.index_cast", f"arith.index_cast %i : {N} to tensor<?xindex>", "tensor<?xindex>", i)
    row("arith.index_castui", f"arith.index_castui %i : {N} to tensor<?xindex>", "tensor<?xindex>", u)

INPUTS = {"x": (F, X), "y": (F, Y), "z": (F, Z), "w": (F, Z + 1), "h": (F, X / 2),
          "i": (N, I), "j": (N, J), "p": (N, P), "s": (N, J & 31), "a": (N, np.abs(J)),
          "bits": (N, X.astype("f4").view("i4")), "c": (B, C)}  # fmt: skip
PAIRS = ("sincos", "_extended")


def write(folder):
    arguments = ", ".join(f"%{name}: {kind}" for name, (kind, _) in INPUTS.items())
    lines = [f"%nan = arith.divf %x, %x : {F}", f"%one = math.exp %nothing : {F}",
             f"%inf = arith.divf %one, %x : {F}"]  # fmt: skip
    lines.insert(1, f"%nothing = arith.subf %y, %y : {F}")
    for n, (name, text, _, _) in enumerate(ROWS):
        both = f", %other{n}" if name.endswith(PAIRS) else ""
        lines.append(f"%r{n}{both} = {text}")
    results = ", ".join(f"%r{n}" for n in range(len(ROWS)))
    kinds = ", ".join(kind for _, _, kind, _ in ROWS)
    body = "\n  ".join([*lines, f"return {results} : {kinds}"])
    with open(f"{folder}/all.mlir", "w") as file:
        file.write(f"func.func @all({arguments}) -> ({kinds}) {{\n  {body}\n}}\n")
    for name, (kind, array) in INPUTS.items():
        np.save(f"{folder}/{name}.npy", array.astype("f4") if kind == F else array)


def check(folder, tolerance, has_infinities):
    wrong = 0
    for n, (name, _, kind, value) in enumerate(ROWS):
        found = np.load(f"{folder}/output_{n}.npy").astype("f8")
        value = np.asarray(value, "f8")
        if name == "math.isinf" and not has_infinities:
            value = np.zeros(6)
        if "f" in kind[8:]:
            same = np.allclose(found, value, rtol=tolerance, atol=tolerance / 4, equal_nan=True)
        else:
            same = np.array_equal(found, value)
        if not same:
            print(f"{name}: {found} expected {value}")
            wrong += 1
    print(f"{len(ROWS)} operations, {wrong} wrong")


if __name__ == "__main__":
    if sys.argv[1] == "write":
        write(sys.argv[2])
    elif sys.argv[1] == "check":
        check(sys.argv[2], float(sys.argv[3]), "--infinities" in sys.argv)
    else:
        print(*(f"--input {sys.argv[2]}/{name}.npy" for name in INPUTS))
