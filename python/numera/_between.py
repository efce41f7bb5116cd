# SPDX-License-Identifier: MIT
"""Numbers between two of a format, and means of fixed point, rounded once."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from numera import _casts, _functions, _order
from numera._array import Array
from numera._kernels import is_stochastic
from numera._results import rounded

__all__ = ["between", "means"]

_ODD_BITS = 51
"""Bits that f64 has two more than, so that what it rounds to odd may be rounded again."""


def between(low: Any, high: Any, way: np.ndarray[Any, Any]) -> Any:
    """low + (high - low) way, of arrays of one shape that ``way``, 0 to 1, goes with.

    Rounded once where f64 has all numbers of the format, and of fixed point; of more
    than 51 significant bits, what is rounded is the nearest number of f64. Of others
    each step is, and the result is not beyond the two, but for opaque formats.
    """
    fmt, shape = low._format, low.shape
    way = np.atleast_1d(np.broadcast_to(way, shape))
    low, high = (x.reshape(way.shape) for x in (low, high))
    # Wide formats that draw do so in each step.
    if fmt.family != "opaque" and _casts.carrier(fmt):
        found = _near(low, high, way)
    elif fmt.family == "fixed" and not is_stochastic(fmt):
        found = _whole(low, high, way)
    else:
        found = _stepped(low, high, way)
    codes = np.where(way == 1, high._codes, found._codes)
    is_low = (way == 0) | (low._codes == high._codes)
    return low._with(np.where(is_low, low._codes, codes).reshape(shape))


# ---- in f64 -----------------------------------------------------------------


def _near(low: Array, high: Array, way: np.ndarray[Any, Any]) -> Any:
    fmt = low._format
    a, b = (x.values(np.float64) for x in (low, high))
    with np.errstate(all="ignore"):
        scale = np.frexp(np.maximum(abs(a), abs(b)))[1]
        a, b = np.ldexp(a, -scale), np.ldexp(b, -scale)
        step, lost = _sum(b, -a)
        part, rest = _product(step, way)
        total, more = _sum(a, part)
        rest, last = _sum(rest, more)
        total, rest = _sum(total, rest)
        rest = np.where(rest == 0, last, rest)
        odd = fmt._facts.get("precision", 0) <= _ODD_BITS
        if odd:
            total = _to_odd(total, rest)
        total = np.ldexp(total, scale)
    for i in zip(*np.nonzero((lost != 0) & np.isfinite(total))):
        first, second = (Fraction(x[i].item()) for x in (a, b))
        exact = first + (second - first) * Fraction(way[i].item())
        total[i] = math.ldexp(_float(exact, odd), int(scale[i]))
    is_finite = np.isfinite(a) & np.isfinite(b)
    total = np.where(is_finite, total, a + b)
    return rounded(total, fmt)


def _sum(a: Any, b: Any) -> tuple[Any, Any]:
    """What f64 has of a sum, and the rest, exactly (Knuth's two-sum)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _product(a: Any, b: Any) -> tuple[Any, Any]:
    """What f64 has of a product, and the rest, exactly (Dekker's)."""
    product = a * b
    (a, c), (b, d) = _halves(a), _halves(b)
    return product, ((a * b - product) + a * d + c * b) + c * d


def _halves(a: Any) -> tuple[Any, Any]:
    """Two numbers of 26 bits whose sum it is (Veltkamp's)."""
    high = a * 134217729.0
    high = high - (high - a)
    return high, a - high


def _to_odd(total: Any, rest: Any) -> Any:
    """With an odd last bit, if there is a rest: between two numbers, the odd one."""
    total = np.atleast_1d(total)
    is_even = total.view(np.uint64) & np.uint64(1) == 0
    moved = np.nextafter(total, np.where(rest > 0, np.inf, -np.inf))
    return np.where(is_even & (rest != 0), moved, total).reshape(np.shape(rest))


def _float(exact: Fraction, odd: bool) -> float:
    nearest = float(exact)
    if not odd or exact == Fraction(nearest):
        return nearest
    toward = math.inf if exact > Fraction(nearest) else -math.inf
    is_even = np.float64(nearest).view(np.uint64) & np.uint64(1) == 0
    return float(np.nextafter(nearest, toward)) if is_even else nearest


# ---- fixed point ------------------------------------------------------------


def _integers(x: Array) -> np.ndarray[Any, Any]:
    """The codes of fixed point as integers with their sign."""
    width, codes = x._format.width, x._codes
    if _order.is_unsigned(x._format):
        return codes
    bits = 8 * codes.itemsize
    shift = bits - width
    return (codes << codes.dtype.type(shift)).view(f"i{bits // 8}") >> shift


def _of_integers(values: np.ndarray[Any, Any], like: Array) -> Array:
    """Codes of fixed point, of integers of Python in the format's range."""
    mask = (1 << like._format.width) - 1
    codes = np.array([v & mask for v in values.flat], like._format.dtype)
    return like._with(codes.reshape(values.shape))


def _whole(low: Array, high: Array, way: np.ndarray[Any, Any]) -> Any:
    mode = low._format.rounding
    a, b = _integers(low).astype(object), _integers(high).astype(object)
    found = np.empty(low.shape, object)
    for i in np.ndindex(low.shape):
        part, of = way[i].item().as_integer_ratio()
        found[i] = _quotient(a[i] * of + (b[i] - a[i]) * part, of, mode)
    return _of_integers(found, low)


def _quotient(a: int, b: int, mode: str) -> int:
    """a / b, of b > 0, rounded to an integer."""
    whole, rest = divmod(a, b)
    if mode in ("nearest-even", "nearest-away", "nearest-zero"):
        ties = {
            "nearest-even": whole & 1,
            "nearest-away": a > 0,
            "nearest-zero": a < 0,
        }
        goes_up = 2 * rest > b or 2 * rest == b and bool(ties[mode])
    elif mode == "to-odd":
        goes_up = rest > 0 and not whole & 1
    else:
        goes_up = rest > 0 and (mode == "up" or mode == "toward-zero" and a < 0)
    return whole + goes_up


def means(x: Array, counts: np.ndarray[Any, Any]) -> Array:
    """Sums along the last axis of fixed point, as integers without limits, divided by
    numbers of elements; 0 for none."""
    values = _integers(x)
    values = values.astype(f"{values.dtype.kind}8")
    shift, mask = values.dtype.type(32), values.dtype.type(0xFFFFFFFF)
    high, low = (
        np.atleast_1d(np.sum(part, -1, np.int64)).astype(object)
        for part in (values >> shift, values & mask)
    )
    sums = (high << 32) + low
    mode = x._format.rounding
    every = zip(sums.flat, np.broadcast_to(counts, sums.shape).flat)
    found = np.empty(sums.size, object)
    found[:] = [_quotient(s, max(int(n), 1), mode) for s, n in every]
    return _of_integers(found.reshape(values.shape[:-1]), x)


# ---- each step rounded ------------------------------------------------------


def _stepped(low: Array, high: Array, way: np.ndarray[Any, Any]) -> Any:
    fmt = low._format
    up, down = (_functions.nearest(part, fmt) for part in (way, 1 - way))
    step: Any = high - low
    found: Any = np.where(way < 0.5, low + step * up, high - step * down)
    if fmt.family == "opaque":  # whose library may know no order
        return found
    # A difference of numbers of two signs may be beyond the format.
    apart = (low < 0) & (high > 0)
    found = np.where(apart, low * down + high * up, found)
    return np.minimum(np.maximum(found, low), high)
