# SPDX-License-Identifier: MIT
"""Test vectors by numpy's arithmetic, with flags by exact fractions.

vectors.py write TYPE OPERATION FILE      write vectors of random operands
vectors.py read TYPE OPERATION            hold the vectors on stdin against numpy
"""

import math
import random
import sys
from fractions import Fraction

import numpy as np

TYPES = {
    "f16": (np.float16, np.uint16),
    "f32": (np.float32, np.uint32),
    "f64": (np.float64, np.uint64),
}
OPERANDS = {
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "sqrt": 1,
    "eq": 2,
    "le": 2,
    "lt": 2,
}


def exact(operation, values):
    """The exact result; None for sqrt, and where a value is no number."""
    if operation == "sqrt" or not all(math.isfinite(value) for value in values):
        return None
    x, y = (Fraction(value) for value in values)
    if operation == "div":
        return x / y if y else None
    return {"add": x + y, "sub": x - y, "mul": x * y}[operation]


def flags(operation, kind, values, result):
    """TestFloat's: 1 inexact, 2 underflow, 4 overflow, 8 division by zero, 16 invalid."""
    if any(math.isnan(value) for value in values):
        return 0
    if math.isnan(result):
        return 16
    if operation == "div" and values[1] == 0 and math.isfinite(values[0]):
        return 8
    if operation == "sqrt":
        root = Fraction(result) if math.isfinite(result) else None
        return int(root is not None and root * root != Fraction(values[0]))
    value = exact(operation, values)
    if value is None:
        return 0
    if math.isinf(result):
        return 5
    if value == Fraction(result):
        return 0
    return 3 if abs(value) < Fraction(float(np.finfo(kind).smallest_normal)) else 1


def to_integer(name, value):
    """Toward zero, saturating, NaN to 0; out of range is invalid."""
    bits = int(name.lstrip("ui"))
    low, high = (
        (0, 2**bits - 1)
        if name[0] == "u"
        else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    if not math.isfinite(value):
        return (0 if math.isnan(value) else high if value > 0 else low) % 2**bits, 16
    number = math.trunc(value)
    if not low <= number <= high:
        return max(low, min(high, number)) % 2**bits, 16
    return number % 2**bits, int(number != value)


def compute(operation, kind, codes):
    """The result's code and flags."""
    unsigned = TYPES[kind][1]
    numbers = [np.array([code], unsigned).view(TYPES[kind][0])[0] for code in codes]
    values = [float(number) for number in numbers]
    if operation.startswith("to_"):
        return to_integer(operation.removeprefix("to_"), values[0])
    with np.errstate(all="ignore"):
        if operation in ("eq", "le", "lt"):
            x, y = values
            return int({"eq": x == y, "le": x <= y, "lt": x < y}[operation]), 0
        number = {
            "add": np.add,
            "sub": np.subtract,
            "mul": np.multiply,
            "div": np.divide,
            "sqrt": np.sqrt,
        }[operation](*numbers)
    found = int(np.array([number]).view(unsigned)[0])
    return found, flags(operation, TYPES[kind][0], values, float(number))


def is_nan(kind, code):
    return bool(np.isnan(np.array([code], TYPES[kind][1]).view(TYPES[kind][0])[0]))


def write(kind, operation, path):
    bits = TYPES[kind][1](0).nbytes * 8
    draws = random.Random(f"{kind} {operation}")
    edges = [0, 1, (1 << (bits - 1)) - 1, 1 << (bits - 1)]
    with open(path, "w") as file:
        for _ in range(3000):
            codes = [
                draws.choice(edges) if draws.random() < 0.1 else draws.getrandbits(bits)
                for _ in range(OPERANDS[operation])
            ]
            if draws.random() < 0.5:  # close to each other
                codes[-1] = (codes[0] ^ draws.getrandbits(bits // 2)) % (1 << bits)
            result, flag = compute(operation, kind, codes)
            words = [f"{code:0{bits // 4}X}" for code in codes]
            truth = operation in ("eq", "le", "lt")
            words.append(f"{result:X}" if truth else f"{result:0{bits // 4}X}")
            file.write(" ".join(words) + f" {flag:02X}\n")


def read(kind, operation):
    lines = 0
    for line in sys.stdin:
        lines += 1
        *codes, result, flag = (int(word, 16) for word in line.split())
        expected, flagged = compute(operation, kind, codes)
        nans = (
            operation not in ("eq", "le", "lt")
            and not operation.startswith("to_")
            and is_nan(kind, result)
            and is_nan(kind, expected)
        )
        if (result != expected and not nans) or flag != flagged:
            sys.exit(
                f"line {lines}: {line.strip()}, expected {expected:X} {flagged:02X}"
            )
    if lines < 1000:
        sys.exit(f"{lines} lines")


write(*sys.argv[2:]) if sys.argv[1] == "write" else read(*sys.argv[2:])
