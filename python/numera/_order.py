# SPDX-License-Identifier: MIT
"""Order among the elements of arrays of codes: sorts, least and greatest, unique."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numera import _casts, _functions
from numera._array import Array, operand
from numera._errors import Error
from numera._formats import Format
from numera._functions import formatted, listed, present, stored


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
    if fmt.family not in _FAMILIES:
        raise Error(
            f"'{fmt}' has values that f64 has not, by which NumPy would order; "
            "cast it with .astype"
        )
    keys = np.array(ranks(x._codes, fmt, has_two_zeros and fmt.family == "float"))
    if not nan_is_least and fmt.family not in ("fixed", "float"):
        keys -= np.uint64(1)  # the greatest is for NaN; none but NaR is 0
    most = np.iinfo(np.uint64).max
    if nan_is_least and fmt.family == "float":
        keys += keys < most  # a format without infinities has a number of rank 0
    keys[np.isnan(x)] = 0 if nan_is_least else most
    return keys


_FAMILIES = ("fixed", "float", "lns", "posit", "takum")
"""Those whose codes tell the order."""


def ranks(
    codes: np.ndarray[Any, Any], fmt: Format, has_two_zeros: bool = False
) -> np.ndarray[Any, Any]:
    """Numbers in the order of the values, without gaps; of NaNs, any."""
    codes = np.array(codes, np.uint64)
    if is_unsigned(fmt):
        return codes
    zero = np.uint64(1 << (fmt.width - 1))
    if fmt.family not in ("float", "lns"):
        return codes ^ zero  # signed integers
    # A sign, and a magnitude; of logarithms, one as a signed integer.
    size = _magnitude(codes & (zero - np.uint64(1)), fmt)
    below = zero - size - np.uint64(has_two_zeros)
    return np.where(codes & zero, below, zero + size)


def codes_of(ranks: np.ndarray[Any, Any], fmt: Format) -> np.ndarray[Any, Any]:
    """The codes with these ranks; of two zeros, the positive one."""
    if is_unsigned(fmt):
        return ranks.astype(fmt.dtype)
    zero = np.uint64(1 << (fmt.width - 1))
    if fmt.family not in ("float", "lns"):
        return (ranks ^ zero).astype(fmt.dtype)
    below = zero | _magnitude(zero - ranks, fmt)
    codes = np.where(ranks < zero, below, _magnitude(ranks - zero, fmt))
    return codes.astype(fmt.dtype)


def is_unsigned(fmt: Format) -> bool:
    """Whether it has no numbers below zero."""
    return not {"unsigned", "fnu"}.isdisjoint(fmt.spelling[:-1].split(","))


def _magnitude(size: np.ndarray[Any, Any], fmt: Format) -> np.ndarray[Any, Any]:
    """Of the bits behind the sign, or back."""
    return size ^ np.uint64(1 << (fmt.width - 2)) if fmt.family == "lns" else size


def _select(x: Array, places: np.ndarray[Any, Any], axis: int) -> Array:
    return x._with(np.take_along_axis(x._codes, places, axis))


def sort(a: Array, axis: int | None = -1, kind: Any = None, order: Any = None) -> Array:
    """In ascending order, NaN and NaR last."""
    if axis is None:
        a, axis = a.ravel(), -1
    return _select(a, np.argsort(_keys(a), axis, kind="stable"), axis)


def partition(a: Array, kth: Any, axis: int | None = -1, kind: Any = None) -> Array:
    """In an order in which places ``kth`` have what they have after a sort."""
    if axis is None:
        a, axis = a.ravel(), -1
    return _select(a, np.argpartition(_keys(a), kth, axis), axis)


def argpartition(
    a: Array, kth: Any, axis: int | None = -1, kind: Any = None
) -> np.ndarray[Any, Any]:
    """Places in the order of :func:`partition`."""
    return np.argpartition(_keys(a), kth, axis)


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Any:
    """Where elements, or numbers, go into an array that is in order."""
    fmt = formatted("np.searchsorted", a, v)
    a, v = (_keys(listed(x, fmt)) for x in (a, v))
    return np.searchsorted(a, v, side, sorter)


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: Any = None,
) -> Any:
    """Whether elements are equal to one of others; NaN is to none."""
    fmt = formatted("np.isin", element, test_elements)
    element = listed(element, fmt)
    found = np.isin(_keys(element), _keys(listed(test_elements, fmt)))
    return (found & ~np.isnan(element)) != invert


def argsort(
    a: Array, axis: int | None = -1, kind: Any = None, order: Any = None
) -> np.ndarray[Any, Any]:
    """Places in ascending order, NaN and NaR last."""
    return np.argsort(_keys(a), axis, kind=kind)


def _extreme(find: Callable[..., Any], greatest: bool) -> Callable[..., Any]:
    what = "np.max" if greatest else "np.min"

    def reduce(
        a: Array,
        axis: Any = None,
        out: Any = None,
        keepdims: Any = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        fmt = formatted(what, a)
        if where is not True:
            if initial is None:
                raise Error(f"{what} with where= begins with a number, its initial=")
            first = operand(initial, fmt, "as initial with")
            a = _functions.where(_functions.taken(a, where), a, first)
        along, axes = _functions.rows(a, axis)
        codes = _functions.with_first(along._codes, along.ndim - 1, initial, fmt)
        keys = _keys(a._with(codes), nan_is_least=not greatest, has_two_zeros=True)
        if keys.shape[-1] == 0:
            raise Error("an array without elements has no least or greatest one")
        places = find(keys, -1)[..., None]
        if keys.dtype.kind == "f":
            # Of zeros the one with the sign that counts: -0 is below +0.
            best = np.take_along_axis(keys, places, -1)
            ties = (keys == best) & (np.signbit(keys) != greatest)
            counts = (best == 0) & ties.any(-1, keepdims=True)
            places = np.where(counts, np.argmax(ties, -1)[..., None], places)
        found = np.take_along_axis(codes, places, -1)[..., 0]
        return stored(a._with(np.expand_dims(found, axes) if keepdims else found), out)

    return reduce


amax = _extreme(np.argmax, greatest=True)
"""The greatest element; NaN if there is one."""
amin = _extreme(np.argmin, greatest=False)
"""The least element; NaN if there is one."""


def _places(out: Any) -> Any:
    """An array for places in another."""
    if isinstance(out, Array):
        raise Error("out is an array of codes, expected one of integers: of places")
    return out


def argmax(a: Array, axis: Any = None, out: Any = None, *, keepdims: Any = False):
    """As NumPy's, on the values."""
    out = _places(out)
    return np.argmax(_keys(a), axis, out, keepdims=bool(keepdims))


def argmin(a: Array, axis: Any = None, out: Any = None, *, keepdims: Any = False):
    """As NumPy's, on the values."""
    out = _places(out)
    return np.argmin(_keys(a, nan_is_least=True), axis, out, keepdims=bool(keepdims))


def unique(
    ar: Array,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Elements without those that are there before, in order; as NumPy's."""
    _functions.refused(axis=axis)
    find: Callable[..., Any] = np.unique
    keys = _keys(ar)
    if keys.dtype.kind == "u" and not equal_nan:
        keys = find(keys, return_inverse=True)[1].reshape(ar.shape).astype(np.float64)
        keys[np.isnan(ar)] = np.nan
    _, places, *more = find(
        keys, True, return_inverse, return_counts, equal_nan=equal_nan
    )
    elements = ar.ravel()[places]
    given = [elements, *([places] if return_index else []), *more]
    return tuple(given) if len(given) > 1 else elements


def _unique_as(function: Any) -> Callable[..., Any]:
    """Those of the array API: each NaN is another element."""

    def find(x: Array, /) -> Any:
        values, indices, inverse, counts = unique(x, True, True, True, equal_nan=False)
        every = {
            "values": values,
            "indices": indices,
            "inverse_indices": inverse.reshape(x.shape),
            "counts": counts,
        }
        like = function(np.zeros(0))
        return like._replace(**{name: every[name] for name in like._fields})

    return find


def nextafter(x: Array, y: Array) -> Any:
    """The neighbour of x toward y; x itself where the format has none."""
    fmt = x._format
    if fmt.family not in _FAMILIES or "flush" in fmt.spelling:
        raise Error(f"np.nextafter is not for '{fmt}', whose codes are no neighbours")
    is_up, is_down = y > x, y < x
    most = np.uint64((1 << fmt.width) - 1)
    place = ranks(x._codes, fmt) + is_up.astype(np.uint64) - is_down.astype(np.uint64)
    found: Any = x._with(codes_of(place & most, fmt))
    if fmt.family == "float" and not is_unsigned(fmt):
        # From below, zero is the negative one, where there is one.
        zero = x._with(np.array(1 << (fmt.width - 1), fmt.dtype))
        if not np.isnan(zero):
            found = np.where((found == 0) & (x < 0), zero, found)
    is_there = ((is_up & (found > x)) | (is_down & (found < x))) & ~np.isnan(found)
    found = np.where(is_there, found, np.where(x == y, y, x))
    found = np.where(np.isnan(y), y, np.where(np.isnan(x), x, found))
    return found


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
    np.partition: partition,
    np.argpartition: argpartition,
    np.searchsorted: searchsorted,
    np.isin: isin,
    **present(
        np,
        unique_values=lambda x, /: unique(x, equal_nan=False),
        **{
            name: _unique_as(getattr(np, name, None))
            for name in ("unique_all", "unique_counts", "unique_inverse")
        },
    ),
}
"""Ours, for NumPy's."""
