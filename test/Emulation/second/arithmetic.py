# SPDX-License-Identifier: MIT
"""Floats in a thread: arithmetic, comparisons and conversions (PTX ISA, "Floating
Point Instructions", "Half Precision Floating Point Instructions", "cvt")."""
import numpy as np

import floats
from instructions import apply, decodes, integers, is_integer
from machine import DTYPES
from program import SIZES

ROUNDINGS = ("rn", "rz", "rm", "rp")
NAN = {np.dtype(np.float32): np.uint32(0x7FFFFFFF), np.dtype(np.float64): np.uint64(0x7FFFFFFFFFFFFFFF)}


def canonical(x):
    """With the NaN that instructions make."""
    bits = x.view(NAN[x.dtype].dtype)
    return np.where(np.isnan(x), NAN[x.dtype], bits).view(x.dtype)


def extreme(name, a, b, nan=False):
    """A number before a NaN, or with `.NaN` the NaN; -0 is less than +0."""
    less = np.where(a == b, np.signbit(a) & ~np.signbit(b), a < b)
    chosen = np.where(less == (name == "min"), a, b)
    if nan:
        return np.where(np.isnan(a) | np.isnan(b), np.nan, chosen)
    return np.where(np.isnan(a), b, np.where(np.isnan(b), a, chosen))


def wide(name, kind, nan=False):
    """Of f32 and f64, to nearest."""
    plain = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
             "div": lambda a, b: a / b, "sqrt": np.sqrt, "rcp": lambda a: a.dtype.type(1) / a}
    if name in plain:
        return lambda *v: canonical(plain[name](*v))
    if name in ("min", "max"):
        return lambda a, b: canonical(extreme(name, a, b, nan).astype(a.dtype))
    if name == "fma" and kind == "f64":
        return lambda a, b, c: canonical(floats.fused64(a, b, c))
    if name == "fma":
        return lambda a, b, c: floats.fused(*(x.astype(np.float64) for x in (a, b, c)), "f32")
    sign = DTYPES["u" + kind[1:]](1 << int(kind[1:]) - 1)
    if name == "abs":
        return lambda a: canonical((a.view(sign.dtype) & ~sign).view(a.dtype))
    if name == "neg":
        return lambda a: canonical((a.view(sign.dtype) ^ sign).view(a.dtype))
    return None


def half(name, kind, relu, nan):
    """Of f16 and bf16, on codes. Products, and sums of two, are f64's."""
    sums = {"add": lambda a, b: floats.exact_sum(a, b), "sub": lambda a, b: floats.exact_sum(a, -b),
            "mul": lambda a, b: a * b, "fma": lambda a, b, c: floats.exact_sum(a * b, c),
            "min": lambda a, b: extreme("min", a, b, nan),
            "max": lambda a, b: extreme("max", a, b, nan)}
    if name in ("abs", "neg"):
        change = (lambda c: c & np.uint16(0x7FFF)) if name == "abs" else lambda c: c ^ np.uint16(0x8000)
        return lambda c: np.where(np.isnan(floats.value(c, kind)), np.uint16(0x7FFF), change(c))
    if name not in sums:
        return None

    def compute(*codes):
        x = sums[name](*(floats.value(c, kind) for c in codes))
        if relu:
            x = np.where(x < 0, 0.0, np.where(x == 0, 0.0, x))
        return floats.code(x, kind)
    return compute


@decodes("add", "sub", "mul", "div", "min", "max", "abs", "neg", "fma", "sqrt", "rcp")
def arithmetic(machine, parts, operands):
    name, kind, modes = parts[0], parts[-1], parts[1:-1]
    if is_integer(kind):
        return integers(machine, parts, operands)
    count = len(operands) - 1
    if modes not in ([], ["rn"], ["rn", "relu"], ["relu"], ["NaN"]) and not (
            name == "fma" and kind == "f32" and modes[0] in ROUNDINGS and len(modes) == 1):
        return None
    if name in ("add", "sub", "mul", "fma", "div", "sqrt", "rcp") and not modes:
        return None  # may be contracted
    if kind in ("f16", "bf16"):
        function = half(name, kind, "relu" in modes, "NaN" in modes)
        return function and apply(machine, operands, [kind] * count, function)
    if kind in ("f16x2", "bf16x2"):
        one = half(name, kind[:-2], "relu" in modes, "NaN" in modes)

        def both(*words):
            low = one(*(w.astype(np.uint16) for w in words))
            upper = one(*((w >> np.uint32(16)).astype(np.uint16) for w in words))
            return low.astype(np.uint32) | upper.astype(np.uint32) << np.uint32(16)
        return one and apply(machine, operands, [kind] * count, both)
    if kind == "f32x2":
        one32 = wide(name, "f32")

        def pairs(*words):
            halves = [np.ascontiguousarray(w).view(np.float32).reshape(-1, 2) for w in words]
            lower = one32(*(h[:, 0].copy() for h in halves)).view(np.uint32).astype(np.uint64)
            upper = one32(*(h[:, 1].copy() for h in halves)).view(np.uint32).astype(np.uint64)
            return lower | upper << np.uint64(32)
        return one32 and apply(machine, operands, [kind] * count, pairs)
    if kind == "f32" and name == "fma":
        return apply(machine, operands, [kind] * 3, lambda a, b, c: floats.fused(
            *(x.astype(np.float64) for x in (a, b, c)), "f32", modes[0]))
    function = wide(name, kind, "NaN" in modes)
    return function and apply(machine, operands, [kind] * count, function)


@decodes("copysign")
def copy_sign(machine, parts, operands):
    # copysign d, a, b: the sign is a's, the magnitude b's.
    kind = parts[-1]
    return apply(machine, operands, [kind, kind], lambda a, b: np.copysign(b, a))


def compare_both(machine, parts, operands):
    """p|q: of two halves, or of one comparison and its opposite."""
    kind, (first, second) = parts[-1], operands[0][1]
    if kind in ("f16x2", "bf16x2"):
        machine.kernel.registers |= {"%half0": "b16", "%half1": "b16"}
        halves = [("register", f"%half{i}") for i in range(2)]
        steps = [(shift, compare(machine, [*parts[:-1], kind[:-2]], [target, *halves]))
                 for shift, target in ((0, first), (16, second)) if target[0] != "sink"]

        def both(rows):
            for shift, step in steps:
                for half, each in zip(halves, operands[1:]):
                    word = machine.get(each, rows, np.uint32) >> np.uint32(shift)
                    machine.set(half, rows, word.astype(np.uint16))
                step(rows)
        return both
    plain = compare(machine, parts, [first, *operands[1:]])

    def opposite(rows):
        plain(rows)
        machine.set(second, rows, ~machine.get(first, rows, np.bool_))
    return opposite


@decodes("set")
def compare_to_mask(machine, parts, operands):
    kind, target = parts[-1], parts[-2]
    if target != "u32" or kind not in ("f16x2", "bf16x2"):
        return None
    machine.kernel.registers |= {"%low": "pred", "%high": "pred"}
    pair = ("register", "%low"), ("register", "%high")
    step = compare(machine, ["setp", parts[1], kind], [("vector", pair), *operands[1:]])

    def mask(rows):
        step(rows)
        low, high = (machine.get(each, rows, np.bool_) for each in pair)
        machine.set(operands[0], rows, np.where(low, np.uint32(0xFFFF), np.uint32(0))
                    | np.where(high, np.uint32(0xFFFF0000), np.uint32(0)))
    return mask


@decodes("setp")
def compare(machine, parts, operands):
    kind, how = parts[-1], parts[1]
    combine = parts[2:-1]
    narrow = kind in ("f16", "bf16")
    signs = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
    unordered = how.endswith("u") and how not in ("num",) and not is_integer(kind)
    if operands[0][0] == "vector":
        return compare_both(machine, parts, operands)
    basic = signs.get(how, how[:-1] if unordered else how)
    tests = {"eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
             "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
             "num": lambda a, b: True, "nan": lambda a, b: False}
    if basic not in tests or combine not in ([], ["and"], ["or"], ["xor"]):
        return None

    def function(a, b, *rest):
        if narrow:
            a, b = floats.value(a, kind), floats.value(b, kind)
        result = tests[basic](a, b)
        if not is_integer(kind):
            nan = np.isnan(a) | np.isnan(b)
            result = np.where(nan, unordered or how == "nan", result)
        if combine:
            result = {"and": np.logical_and, "or": np.logical_or,
                      "xor": np.logical_xor}[combine[0]](result, rest[0])
        return np.asarray(result)
    return apply(machine, operands, [kind, kind, "pred"][:len(operands) - 1], function)


def to_integer(x, kind, mode):
    """Saturated; a NaN becomes 0."""
    rounded = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}[mode](x)
    limits = np.iinfo(DTYPES[kind])
    rounded = np.where(np.isnan(x), 0, rounded)
    low, above = rounded < limits.min, rounded >= float(limits.max) + 1
    inside = np.where(low | above, 0, rounded)
    result = inside.astype(np.int64 if limits.min else np.uint64).astype(DTYPES[kind])
    return np.where(low, limits.min, np.where(above, limits.max, result)).astype(DTYPES[kind])


def as_value(x, kind):
    return floats.value(x, kind) if kind in floats.FORMATS and kind != "f32" else x.astype(np.float64)


def from_value(x, kind, mode):
    if kind == "f64":
        return canonical(x)
    return floats.code(x, kind, mode)


def convert_bytes(machine, target, source, modes, operands):
    """Two of 8 bits from or to two of 16, or from two f32, of which the first is
    the upper one."""
    if source in ("e4m3x2", "e5m2x2"):
        if modes != ["rn"] or target != "f16x2":
            return None

        def widen(word):
            low, upper = (floats.code(floats.value(each, source[:-2]), "f16").astype(np.uint32)
                          for each in (word & np.uint16(255), word >> np.uint16(8)))
            return low | upper << np.uint32(16)
        return apply(machine, operands, ["b16"], widen)
    if modes != ["rn", "satfinite"] or source not in ("f32", "f16x2"):
        return None

    def narrow(*operands):
        if source == "f32":
            upper, low = (x.astype(np.float64) for x in operands)
        else:
            low, upper = (floats.value((operands[0] >> np.uint32(at)).astype(np.uint16), "f16")
                          for at in (0, 16))
        low, upper = (floats.code(x, target[:-2], saturates=True).astype(np.uint16) for x in (low, upper))
        return low | upper << np.uint16(8)
    return apply(machine, operands, [source] * (len(operands) - 1), narrow)


@decodes("cvt")
def convert(machine, parts, operands):
    target, source, modes = parts[-2], parts[-1], parts[1:-2]
    if is_integer(target) and is_integer(source):
        # The source is its type's bits; then modulo the target's.
        def change(a):
            extended = a.astype(np.int64 if a.dtype.kind == "i" else np.uint64).view(np.uint64)
            return extended.astype(DTYPES["u" + target[1:]]).view(DTYPES[target])
        return None if modes else apply(machine, operands, [source], change)
    if is_integer(target):
        if len(modes) != 1 or modes[0] not in ("rni", "rzi", "rmi", "rpi"):
            return None
        return apply(machine, operands, [source],
                     lambda a: to_integer(as_value(a, source), target, modes[0]))
    if is_integer(source):
        if modes != ["rn"] or target not in ("f32", "f64"):
            return None
        return apply(machine, operands, [source], lambda a: a.astype(DTYPES[target]))
    if {target, source} & {"e4m3x2", "e5m2x2"}:
        return convert_bytes(machine, target, source, modes, operands)
    mode = modes[0] if modes and modes[0] in ROUNDINGS else "rn"
    if [m for m in modes if m not in ROUNDINGS and m != "relu"]:
        return None
    if not modes and not wider(target, source):
        return None

    def number(a):
        x = as_value(a, source)
        if "relu" in modes:
            x = np.where(x <= 0, 0.0, x)
        return x
    if target in ("f16x2", "bf16x2") and source == "f32":
        # d, a, b: a is the upper half.
        def pack(a, b):
            upper, low = (floats.code(number(x), target[:-2], mode) for x in (a, b))
            return upper.astype(np.uint32) << np.uint32(16) | low.astype(np.uint32)
        return apply(machine, operands, [source, source], pack)
    if target not in ("f16", "bf16", "f32", "f64") or source not in ("f16", "bf16", "f32", "f64"):
        return None
    return apply(machine, operands, [source], lambda a: from_value(number(a), target, mode))


def wider(target, source):
    return SIZES.get(target, 2) > SIZES.get(source, 2)
