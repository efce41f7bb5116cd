# SPDX-License-Identifier: MIT
"""NumPy's statistics of arrays of codes: spread, averages, order, and without NaNs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from numera._array import Array
from numera._between import between
from numera._errors import Error
from numera._functions import (
    axes_of,
    counted,
    formatted,
    full_like,
    listed,
    mean,
    nearest,
    reduction,
    refused,
    rows,
    stored,
    sum,
    taken,
)
from numera._operands import truths
from numera._order import is_unsigned
from numera._results import recast
from numera._sums import in_f64


def var(
    a: Array,
    axis: Any = None,
    *,
    ddof: int = 0,
    keepdims: bool = False,
    accumulate: Any = None,
    where: Any = True,
) -> Array:
    """The mean of the squares of what is off the mean, each operation rounded; of fixed
    point, the one in f64.

    Where ``ddof`` leaves nothing to divide by, a warning and x / 0, as of NumPy.
    """
    if in_f64(a._format, accumulate):
        wide = a.astype("f64")
        found = var(wide, axis, ddof=ddof, keepdims=keepdims, where=where)
        return recast(found, a._format)
    sums = {"accumulate": accumulate, "where": where}
    middle = mean(a, axis, keepdims=True, **sums)
    if is_unsigned(a._format):
        away: Any = np.maximum(a, middle) - np.minimum(a, middle)
    else:
        away = a - middle
    squares = away * away
    if ddof == 0:
        return mean(squares, axis, keepdims=keepdims, **sums)
    count = np.maximum(counted(a, axis, keepdims, where) - ddof, 0)
    if not count.all():  # NumPy's words, and its quotient by 0 as the format has it
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    total = sum(squares, axis, keepdims=keepdims, **sums)
    quotient: Array = total / nearest(count, a._format)
    return quotient


def std(a: Array, axis: Any = None, **options: Any) -> Array:
    """The square root of :func:`var`."""
    if in_f64(a._format, options.get("accumulate")):
        options.pop("accumulate", None)
        return recast(std(a.astype("f64"), axis, **options), a._format)
    root: Any = np.sqrt(var(a, axis, **options))
    return root  # an Array, as every ufunc of one


def average(
    a: Array,
    axis: Any = None,
    weights: Any = None,
    returned: bool = False,
    *,
    keepdims: bool = False,
) -> Any:
    """The sum of elements times weights, divided by that of the weights, each
    operation rounded; of fixed point, the one in f64. Without weights the mean."""
    fmt = formatted("np.average", a)
    if weights is None:
        found: Any = mean(a, axis, keepdims=keepdims)
        scale = full_like(found, counted(a, axis, keepdims, True))
        return (found, scale) if returned else found
    weights = listed(weights, fmt)
    if weights.shape != a.shape:
        axes = axes_of(axis, a.ndim)
        if np.iterable(axis) and weights.ndim == len(axes):
            weights = weights.transpose(np.argsort([d % a.ndim for d in axis]))
        if axis is None or weights.shape != tuple(a.shape[d] for d in axes):
            raise Error(
                f"weights have shape {weights.shape}, expected {a.shape}, "
                "or that of the axes"
            )
        weights = weights.reshape(
            [n if d in axes else 1 for d, n in enumerate(a.shape)]
        )
        weights = np.broadcast_to(weights, a.shape)
    if in_f64(fmt):
        a, weights = a.astype("f64"), weights.astype("f64")
    scale = sum(weights, axis, keepdims=keepdims)
    if not np.all(truths(scale)):
        raise Error("weights have the sum 0, by which no average is divided")
    found = sum(a * weights, axis, keepdims=keepdims) / scale
    found, scale = recast(found, fmt), recast(scale, fmt)
    return (found, scale) if returned else found


# ---- by order ---------------------------------------------------------------


def _in_order(a: Array, axis: Any) -> tuple[Any, tuple[int, ...], Any]:
    """Elements in order along the last axis, and the greatest, which may be NaN."""
    along, axes = rows(a, axis)
    if not along.shape[-1]:
        raise Error("an array without elements has none in the middle")
    ordered: Any = np.sort(along)
    return ordered, axes, ordered[..., -1]


def median(
    a: Array,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Any:
    """The element in the middle, or half way between the two there, as
    :func:`quantile`; NaN if there is one."""
    fmt = formatted("np.median", a)
    ordered, axes, last = _in_order(a, axis)
    n = ordered.shape[-1]
    found: Any = ordered[..., n // 2]
    if n % 2 == 0:
        if fmt.family == "opaque":  # a library has sums and quotients
            found = mean(ordered[..., n // 2 - 1 : n // 2 + 1], -1)
        else:
            found = between(ordered[..., n // 2 - 1], found, np.array(0.5))
    found = np.where(np.isnan(last), last, found)
    return stored(np.expand_dims(found, axes) if keepdims else found, out)


_METHODS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda part: part,
    "lower": lambda part: 0 * part,
    "higher": np.ceil,
    "midpoint": lambda part: np.ceil(part) / 2,
}
"""How far behind the element below, by the part of the way to the next."""


def quantile(
    a: Array,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: None = None,
) -> Any:
    """Elements at parts of the order, NaN if there is one. Between two of them it is
    a + (b - a) t, computed exactly and rounded once, where f64 has all numbers of the
    format, and in fixed point. In others each step is rounded."""
    formatted("np.quantile", a)
    refused(weights=weights)
    if method not in _METHODS:
        known = ", ".join(_METHODS)
        raise Error(f"method is '{method}', expected one for codes: {known}")
    q = np.asarray(q, np.float64)
    if not np.all((q >= 0) & (q <= 1)):
        raise Error("q has numbers that are not from 0 to 1")
    ordered, axes, last = _in_order(a, axis)
    place = q.ravel() * (ordered.shape[-1] - 1)
    below = np.floor(place).astype(np.intp)
    way = _METHODS[method](place - below)
    low, high = (
        np.moveaxis(ordered[..., np.minimum(at, ordered.shape[-1] - 1)], -1, 0)
        for at in (below, below + 1)
    )
    way = way.reshape(-1, *(1,) * (low.ndim - 1))
    found: Any = between(low, high, way)
    found = np.where(np.isnan(last), last, found)
    found = found.reshape(q.shape + found.shape[1:])
    if keepdims:
        found = np.expand_dims(found, tuple(q.ndim + d for d in axes))
    return stored(found, out)


def percentile(a: Array, q: Any, *args: Any, **options: Any) -> Any:
    """As :func:`quantile`, in hundredths."""
    return quantile(a, np.asarray(q, np.float64) / 100, *args, **options)


# ---- without NaNs -----------------------------------------------------------


def _of_numbers(reduce: Any) -> Callable[..., Any]:
    """A reduction of what is no NaN."""

    def call(a: Array, *args: Any, where: Any = True, **options: Any) -> Any:
        return reduce(a, *args, where=~np.isnan(a) & taken(a, where), **options)

    return call


def _extreme(reduce: Any, opposite: Any) -> Callable[..., Any]:
    def call(
        a: Array,
        axis: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """The greatest or least number; NaN, and a warning, where there is none."""
        formatted(f"np.nan{reduce.__name__}", a)
        nans = np.isnan(a)
        if initial is not None or where is not True:
            where = ~nans & taken(a, where)
            return reduce(a, axis, out, keepdims, initial, where)
        if nans.all() or not nans.any():
            found = reduce(a, axis, keepdims=keepdims)
        else:
            # NaN is as far away as a number can be.
            filled = np.where(nans, opposite(a[~nans]), a)
            found = reduce(filled, axis, keepdims=keepdims)
        empty = nans.all(axes_of(axis, a.ndim), keepdims=keepdims)
        if empty.any():
            warnings.warn("All-NaN slice encountered", RuntimeWarning, stacklevel=4)
            found = np.where(empty, a[nans][0], found)
        return stored(found, out)

    return call


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.var: reduction(var, "ddof", "keepdims"),
    np.std: reduction(std, "ddof", "keepdims"),
    np.average: average,
    np.median: median,
    np.quantile: quantile,
    np.percentile: percentile,
    np.nanmax: _extreme(np.max, np.min),
    np.nanmin: _extreme(np.min, np.max),
    np.nansum: _of_numbers(np.sum),
    np.nanprod: _of_numbers(np.prod),
    np.nanmean: _of_numbers(np.mean),
    np.nanvar: _of_numbers(np.var),
    np.nanstd: _of_numbers(np.std),
}
"""Ours, for NumPy's."""
