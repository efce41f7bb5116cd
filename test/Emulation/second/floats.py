# SPDX-License-Identifier: MIT
"""Floats by their definition: codes, the value that each is in f64, and the code
that a value in f64 is rounded to. A NaN that an instruction makes of f16, bf16 or
f32 is 0x7fff or 0x7fffffff (PTX ISA, "Floating Point Instructions")."""
import ctypes

import numpy as np

# Bits of the exponent and of the significand behind the point.
FORMATS = {"f16": (5, 10), "bf16": (8, 7), "e4m3": (4, 3), "e5m2": (5, 2), "f32": (8, 23)}
CODES = {"f16": np.uint16, "bf16": np.uint16, "e4m3": np.uint8, "e5m2": np.uint8,
         "f32": np.uint32}


def value(codes, kind):
    """The value of each code, which f64 has."""
    exponent_bits, digits = FORMATS[kind]
    bias, codes = 2 ** (exponent_bits - 1) - 1, np.asarray(codes).astype(np.int64)
    exponent = codes >> digits & 2 ** exponent_bits - 1
    fraction = codes & 2 ** digits - 1
    x = np.ldexp((fraction + np.where(exponent > 0, 2 ** digits, 0)).astype(float),
                 np.maximum(exponent, 1) - bias - digits)
    if kind == "e4m3":  # no infinities, and one NaN of each sign
        x = np.where(codes & 0x7F == 0x7F, np.nan, x)
    else:
        x = np.where(exponent == 2 ** exponent_bits - 1,
                     np.where(fraction > 0, np.nan, np.inf), x)
    return np.where(codes >> exponent_bits + digits & 1 == 1, -x, x)


def code(x, kind, mode="rn", saturates=False):
    """x in f64, rounded to a format; if it saturates, to no more than the largest."""
    exponent_bits, digits = FORMATS[kind]
    bias = 2 ** (exponent_bits - 1) - 1
    finite = np.isfinite(x)
    magnitude = np.abs(np.where(finite, x, 0.0))
    exponent = np.where(magnitude > 0, np.frexp(magnitude)[1].astype(np.int64) - 1, 1 - bias)
    unit = np.maximum(exponent, 1 - bias) - digits
    steps = np.ldexp(magnitude, -unit)
    away = {"rm": np.signbit(x), "rp": ~np.signbit(x)}
    if mode == "rn":
        steps = np.rint(steps)
    elif mode == "rz":
        steps = np.floor(steps)
    else:
        steps = np.where(away[mode], np.ceil(steps), np.floor(steps))
    # The steps of the lowest binade and above go on without a gap in codes.
    codes = steps.astype(np.int64) + ((unit + digits + bias - 1) << digits)
    infinity = 2 ** exponent_bits - 1 << digits
    most = infinity - 1 if mode == "rz" else infinity
    if mode in away:
        most = np.where(away[mode], infinity, infinity - 1)
    largest = {"e4m3": 0x7E}.get(kind, infinity - 1)
    codes = np.minimum(codes, largest if saturates else most)
    codes = np.where(finite, codes, largest if saturates else infinity)
    codes = codes | np.signbit(x).astype(np.int64) << exponent_bits + digits
    # That of e4m3 and e5m2 is 0x7f.
    return np.where(np.isnan(x), 2 ** (exponent_bits + digits) - 1, codes).astype(CODES[kind])


def exact_sum(x, y):
    """x + y rounded to odd, so that a second rounding to a third of the digits
    rounds the exact sum."""
    s = x + y
    t = s - x
    error = (x - (s - t)) + (y - t)
    bits = np.ascontiguousarray(s).view(np.int64)
    inexact = np.isfinite(s) & np.isfinite(error) & (error != 0) & (bits & 1 == 0)
    step = np.where((error > 0) == (s > 0), 1, -1)
    return np.where(inexact, bits + step, bits).view(np.float64)


def fused(a, b, c, kind, mode="rn"):
    """a · b + c of values that `kind` has: the product is exact in f64."""
    return code(exact_sum(a * b, c), kind, mode)


_fma = ctypes.CDLL("libm.so.6").fma
_fma.restype, _fma.argtypes = ctypes.c_double, [ctypes.c_double] * 3
fused64 = np.vectorize(_fma, otypes=[np.float64])
