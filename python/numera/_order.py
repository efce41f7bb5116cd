# SPDX-License-Identifier: MIT
"""Order among the elements of arrays of codes: sorts, least and greatest, unique."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from numera import _casts, _functions
from numera._array import Array
from numera._errors import Error
from numera._functions import axes_of, formatted, stored


def _keys(
    x: Array, nan_is_least: bool = False, has_two_zeros: bool = False
) -> np.ndarray[Any, Any]:
    """Numbers in the order of the values, NaNs last, as NumPy sorts them.

    ``nan_is_least``: first, where that is not left to NumPy, which finds them when
    it looks for the least number as well. ``has_two_zeros``: -0 may be below +0.
    """
    fmt = x._format
    if _casts.carrier(fmt):
        return x.values()
    if fmt.spelling.startswith(("posit<", "takum<")):
        # Codes as signed integers have the order of their values, and NaR is the
        # lowest of them: one less, as unsigned ones, it is the last.
        codes = x._codes.astype(np.uint64) << np.uint64(64 - fmt.width)
        return (codes ^ np.uint64(1 << 63)) - np.uint64(not nan_is_least)
    if fmt.family not in ("fixed", "float", "lns"):
        raise Error(
            f"'{fmt}' has values that f64 has not, by which NumPy would order; "
            "cast it with .astype"
        )
    codes = x._codes.astype(np.uint64)
    if {"unsigned", "fnu"} & set(fmt.spelling[:-1].split(",")):
        return codes
    if fmt.family == "fixed":
        return (codes << np.uint64(64 - fmt.width)) ^ _ZERO
    # A sign, and a magnitude; of logarithms, one as a signed integer.
    sign = np.uint64(1 << (fmt.width - 1))
    size = codes & (sign - np.uint64(1))
    if fmt.family == "lns":
        size ^= sign >> np.uint64(1)
    below = _ZERO - size - np.uint64(has_two_zeros)
    keys = np.where(codes & sign, below, _ZERO + size)
    keys[np.isnan(x)] = 0 if nan_is_least else np.iinfo(np.uint64).max
    return keys


_ZERO = np.uint64(1 << 63)
"""The key of zero among unsigned ones."""


def _select(x: Array, places: np.ndarray[Any, Any], axis: int) -> Array:
    return x._with(np.take_along_axis(x._codes, places, axis))


def sort(a: Array, axis: int | None = -1, kind: Any = None, order: Any = None) -> Array:
    """In ascending order, NaN and NaR last."""
    if axis is None:
        a, axis = a.ravel(), -1
    return _select(a, np.argsort(_keys(a), axis, kind="stable"), axis)


def argsort(
    a: Array, axis: int | None = -1, kind: Any = None, order: Any = None
) -> np.ndarray[Any, Any]:
    """Places in ascending order, NaN and NaR last."""
    return np.argsort(_keys(a), axis, kind=kind)


def _extreme(
    find: Callable[..., Any], x: Array, axis: Any, keepdims: bool, greatest: bool
) -> Array:
    formatted("np.max" if greatest else "np.min", x)
    axes = axes_of(axis, x.ndim)
    rest = [d for d in range(x.ndim) if d not in axes]
    moved = x._with(x._codes.transpose(*rest, *axes)) if x.ndim else x
    kept = [x.shape[d] for d in rest]
    rows = moved.reshape(*kept, math.prod(x.shape[d] for d in axes))
    keys = _keys(rows, nan_is_least=not greatest, has_two_zeros=True)
    if keys.shape[-1] == 0:
        raise Error("an array without elements has no least or greatest one")
    places = find(keys, -1)[..., None]
    if keys.dtype.kind == "f":
        # Of zeros the one with the sign that counts: -0 is below +0.
        best = np.take_along_axis(keys, places, -1)
        ties = (keys == best) & (np.signbit(keys) != greatest)
        counts = (best == 0) & ties.any(-1, keepdims=True)
        places = np.where(counts, np.argmax(ties, -1)[..., None], places)
    if keepdims:
        kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    return x._with(np.take_along_axis(rows._codes, places, -1).reshape(kept))


def amax(a: Array, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The greatest element; NaN if there is one."""
    return stored(_extreme(np.argmax, a, axis, bool(keepdims), greatest=True), out)


def amin(a: Array, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """The least element; NaN if there is one."""
    return stored(_extreme(np.argmin, a, axis, bool(keepdims), greatest=False), out)


def argmax(a: Array, axis: Any = None, out: Any = None, *, keepdims: Any = False):
    """As NumPy's, on the values."""
    return np.argmax(_keys(a), axis, out, keepdims=bool(keepdims))


def argmin(a: Array, axis: Any = None, out: Any = None, *, keepdims: Any = False):
    """As NumPy's, on the values."""
    return np.argmin(_keys(a, nan_is_least=True), axis, out, keepdims=bool(keepdims))


def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: None = None,
    *,
    equal_nan: bool = True,
) -> Any:
    """Elements without those that are there before, in order; as NumPy's."""
    _functions.refused(axis=axis)
    find: Callable[..., Any] = np.unique
    _, places, *more = find(
        _keys(ar), True, return_inverse, return_counts, equal_nan=equal_nan
    )
    elements = ar.ravel()[places]
    given = [elements, *([places] if return_index else []), *more]
    return tuple(given) if len(given) > 1 else elements


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sort: sort,
    np.argsort: argsort,
    np.argmax: argmax,
    np.argmin: argmin,
    np.max: amax,
    np.min: amin,
    np.amax: amax,
    np.amin: amin,
    np.unique: unique,
}
"""Ours, for NumPy's."""
