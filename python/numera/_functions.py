# SPDX-License-Identifier: MIT
"""NumPy's functions on arrays of codes, and sums in a chosen accumulator."""

from __future__ import annotations

import functools
import math
import operator
import re
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numera import _kernels, _operands, _sums
from numera._array import Array, array, operand
from numera._errors import Error
from numera._formats import Format
from numera._operands import nearest, truths
from numera._results import recast

__all__ = ["mean", "sum"]


def formatted(what: str, *arrays: Any) -> Format:
    """The format of the first array of codes; an error where there is none."""
    for x in arrays:
        if isinstance(x, Array):
            return x._format
    found = ", ".join(str(getattr(x, "dtype", type(x).__name__)) for x in arrays)
    raise Error(
        f"{what} takes arrays of codes, as numera.array(x, format) makes them; "
        f"found {found}"
    )


def stored(result: Any, out: Any) -> Any:
    """``out`` with the result of a function, or the result where there is none."""
    if out is None:
        return result
    if not isinstance(out, Array):
        kind = getattr(out, "dtype", type(out).__name__)
        raise Error(f"out is an array of {kind}, expected one of codes")
    if out.shape != result.shape:
        raise Error(f"out has shape {out.shape}, expected {result.shape}")
    out._codes[...] = operand(result, out._format, "as result with")._codes
    return out


def listed(x: Any, fmt: Format) -> Array:
    """What joins an array of a format, or a list of numbers, which are rounded."""
    if isinstance(x, (list, tuple)):
        return _operands.listed(x, fmt, "with")
    return operand(x, fmt, "with")


def present(module: Any, **ours: Any) -> dict[Any, Callable[..., Any]]:
    """By NumPy's functions of these names, as far as it has them: from 2.0 on."""
    return {getattr(module, n): f for n, f in ours.items() if hasattr(module, n)}


def refused(**options: Any) -> None:
    """Says which option of NumPy's an array of codes has not."""
    for name, value in options.items():
        if value is not None:
            raise Error(f"{name}= is not for arrays of codes")


# ---- sums -------------------------------------------------------------------


def axes_of(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    try:
        axes = tuple(map(operator.index, axis if np.iterable(axis) else (axis,)))
    except TypeError:
        raise Error(f"axis is {axis!r}, expected an integer or several") from None
    if rank == 0 and axes in ((0,), (-1,)) and not np.iterable(axis):
        return ()  # as NumPy has it
    for one in axes:
        if not -rank <= one < rank:
            raise Error(f"axis is {one}, expected one of {rank} dimensions")
    normal = sorted({one % rank for one in axes})
    if len(normal) != len(axes):
        raise Error(f"axis is {axis}, which names a dimension twice")
    return tuple(normal)


def rows(x: Array, axis: Any) -> tuple[Array, tuple[int, ...]]:
    """With the axes that a function reduces as one, the last; and which they are."""
    axes = axes_of(axis, x.ndim)
    rest = [d for d in range(x.ndim) if d not in axes]
    moved = x._codes.transpose(*rest, *axes) if x.ndim else x._codes
    count = math.prod(x.shape[d] for d in axes)
    return x._with(moved.reshape(*(x.shape[d] for d in rest), count)), axes


def with_first(codes: Any, axis: int, initial: Any, fmt: Format) -> Any:
    """With one more element along an axis, before the others, where there is one."""
    if initial is None:
        return codes
    shape = (*codes.shape[:axis], 1, *codes.shape[axis + 1 :])
    first = np.full(shape, operand(initial, fmt, "as initial with")._codes)
    return np.concatenate([first, codes], axis)


def taken(x: Array, where: Any) -> np.ndarray[Any, Any]:
    """Which elements a reduction takes."""
    where = np.asarray(truths(where), bool)
    try:
        return np.broadcast_to(where, x.shape)
    except ValueError:
        raise Error(
            f"where has shape {where.shape}, expected one that goes with {x.shape}"
        ) from None


def _chosen(x: Array, where: Any, rest: int) -> Array:
    """With a number that changes no result in place of what ``where`` leaves out."""
    if where is True:
        return x
    where = taken(x, where)
    if where.all():
        return x
    if operand(rest, x._format, "with").item() != rest:
        raise Error(
            f"where= puts {rest} for what it leaves out, which '{x._format}' has not"
        )
    chosen: Any = np.where(where, x, rest)
    return chosen  # an Array, as of every function here


def counted(x: Array, axis: Any, keepdims: bool, where: Any) -> Any:
    """The number of elements that a reduction takes; of each, with ``where``."""
    axes = axes_of(axis, x.ndim)
    if where is True:
        return math.prod(x.shape[d] for d in axes)
    return np.sum(taken(x, where), axes, np.int64, keepdims=keepdims)


def _total(
    x: Array,
    axis: Any,
    keepdims: bool,
    accumulate: Any,
    is_mean: bool,
    operation: str = "add",
    initial: Any = None,
    where: Any = True,
) -> Array:
    x = _chosen(x, where, 0 if operation == "add" else 1)
    fmt, codes = x._format, x._codes
    axes = axes_of(axis, codes.ndim)
    rest = [d for d in range(codes.ndim) if d not in axes]
    kept = [codes.shape[d] for d in rest]
    count = math.prod(codes.shape[d] for d in axes)
    accumulator = _sums.accumulator(fmt, accumulate)
    kernel = _kernels.find(
        (operation, fmt, accumulator.key, is_mean),
        lambda: _sums.total(accumulator, is_mean, operation),
    )
    if len(axes) == 1:
        folded = (math.prod(kept[: axes[0]]), count, math.prod(kept[axes[0] :]))
    else:
        codes = codes.transpose(*rest, *axes)
        folded = (math.prod(kept), count, 1)
    result = np.empty((folded[0], folded[2]), fmt.dtype)
    inputs = [with_first(np.ascontiguousarray(codes).reshape(folded), 1, initial, fmt)]
    if is_mean:
        if not accumulator.check_count(count) and not _kernels.is_stochastic(fmt):
            return _fixed_mean(x, axes, keepdims, count)
        inputs.append(np.array(count, np.int64))
    if result.size:
        kernel.run(inputs, [result], inputs[0].size)
    if keepdims:
        kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    return x._with(result.reshape(kept))


def _fixed_mean(x: Array, axes: Any, keepdims: bool, counts: Any) -> Array:
    """Of more bits than fixed point of 64 has for the sum."""
    from numera import _between

    along, _ = rows(x, axes)
    if np.ndim(counts):
        counts = np.reshape(counts, along.shape[:-1])
    found: Any = _between.means(along, counts)
    return np.expand_dims(found, axes) if keepdims else found


def sum(
    x: Array,
    axis: Any = None,
    *,
    keepdims: bool = False,
    accumulate: Any = None,
    initial: Any = None,
    where: Any = True,
    out: Any = None,
) -> Array:
    """The sum, in row-major order of the axes, rounded to the format at the end.

    accumulate  what it adds up in: a format, ``same`` (x's own, each step rounded),
                ``quire`` (exactly); None: what programs take, mostly f32.
    initial     a number that the sum begins with.
    where       truth values: which elements it takes.
    out         an array of codes to write to.

    >>> import numera
    >>> x = numera.array([1.0] * 3000, "bf16")
    >>> x.sum().item(), x.sum(accumulate="same").item()
    (3008.0, 256.0)
    """
    formatted("numera.sum", x)
    found = _total(x, axis, keepdims, accumulate, False, "add", initial, where)
    return stored(found, out)  # type: ignore[no-any-return]


def mean(
    x: Array,
    axis: Any = None,
    *,
    keepdims: bool = False,
    accumulate: Any = None,
    where: Any = True,
    out: Any = None,
) -> Array:
    """The sum, divided by the number of elements in the accumulator, rounded.

    Of fixed point, and with ``quire``, the exact sum is divided: of fixed point by an
    integer, in one rounding, of others in f64 where that has all of the numbers. A
    wider format rounds the sum before.
    """
    fmt = formatted("numera.mean", x)
    if _sums.wraps(fmt, accumulate):
        same = Array(x._codes, _sums.saturating(fmt))
        found = mean(same, axis, keepdims=keepdims, where=where)
        return stored(x._with(found._codes), out)  # type: ignore[no-any-return]
    if where is True:
        found = _total(x, axis, keepdims, accumulate, is_mean=True)
        return stored(found, out)  # type: ignore[no-any-return]
    # As many divisors as results.
    counts = counted(x, axis, keepdims, where)
    if not counts.all():
        warnings.warn("Mean of empty slice", RuntimeWarning, stacklevel=3)
    accumulator = _sums.accumulator(fmt, accumulate)
    fits = accumulator.check_count(int(counts.max(initial=0)))
    if not fits and not _kernels.is_stochastic(fmt):
        x, axes = _chosen(x, where, 0), axes_of(axis, x.ndim)
        return stored(_fixed_mean(x, axes, keepdims, counts), out)  # type: ignore[no-any-return]
    middle = accumulator.quotient
    own = "quire" if accumulator.is_exact else "same"
    wide = x.astype(middle, copy=False)
    total = sum(wide, axis, keepdims=keepdims, accumulate=own, where=where)
    quotient = recast(total / nearest(counts, middle), fmt)
    return stored(quotient, out)  # type: ignore[no-any-return]


def prod(
    a: Array,
    axis: Any = None,
    *,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """The product, in row-major order of the axes, each step rounded."""
    formatted("np.prod", a)
    return _total(a, axis, keepdims, "same", False, "mul", initial, where)


# ---- what moves elements ----------------------------------------------------


def same_format(what: str, arrays: Sequence[Any]) -> tuple[Format, list[Any]]:
    fmt = formatted(what, *arrays)
    return fmt, [operand(x, fmt, "with")._codes for x in arrays]


def joining(function: Callable[..., Any]) -> Callable[..., Any]:
    def join(
        arrays: Sequence[Any],
        *args: Any,
        out: Any = None,
        dtype: Any = None,
        **options: Any,
    ) -> Any:
        if len(args) > 1:  # an axis, and where NumPy has it too
            *args, out = args  # type: ignore[assignment]
        refused(dtype=dtype)
        fmt, codes = same_format(f"np.{function.__name__}", arrays)
        return stored(Array(function(codes, *args, **options), fmt), out)

    return join


def moving(function: Callable[..., Any]) -> Callable[..., Any]:
    def move(x: Array, *args: Any, **options: Any) -> Any:
        formatted(f"np.{function.__name__}", x)
        moved = function(x._codes, *args, **options)
        if isinstance(moved, (list, tuple)):
            return type(moved)(x._with(part) for part in moved)
        return x._with(moved)

    return move


def take(
    a: Array, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise"
) -> Any:
    """Elements in places."""
    formatted("np.take", a)
    return stored(a._with(np.take(a._codes, indices, axis, mode=mode)), out)


def where(condition: Any, *choices: Any) -> Any:
    """Elements of one array or of the other."""
    condition = truths(condition)
    if not choices:
        return np.where(condition)
    fmt, codes = same_format("np.where", choices)
    return Array(np.where(condition, *codes), fmt)


def clip(
    a: Array,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,
    max: Any = None,
) -> Any:
    """Between two numbers of the format, or what is rounded to it."""
    low, high = min if a_min is None else a_min, max if a_max is None else a_max
    clipped: Any = a
    if low is not None:
        clipped = np.maximum(clipped, low)
    if high is not None:
        clipped = np.minimum(clipped, high)
    return stored(a.copy() if clipped is a else clipped, out)


def full_like(a: Array, fill_value: Any, shape: Any = None) -> Array:
    """An array of one number, rounded to the format."""
    value = operand(fill_value, a._format, "with")._codes
    return a._with(np.full(a.shape if shape is None else shape, value))


def array_equal(a: Any, b: Any) -> bool:
    """Whether shapes and all values are equal."""
    fmt, _ = same_format("np.array_equal", [a, b])
    a, b = (x if isinstance(x, Array) else array(x, fmt) for x in (a, b))
    return a.shape == b.shape and bool((a == b).all())


def reduction(reduce: Callable[..., Array], *names: str) -> Callable[..., Any]:
    """With NumPy's arguments, of which ``names`` may follow ``out`` in this order."""

    def call(
        a: Array,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        *args: Any,
        **options: Any,
    ) -> Any:
        if dtype is not None:
            raise Error("dtype= is not for arrays of codes; cast them with .astype")
        if len(args) > len(names):
            raise TypeError(f"takes {4 + len(names)} positional arguments at most")
        return stored(reduce(a, axis, **dict(zip(names, args)), **options), out)

    return call


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: reduction(sum, "keepdims", "initial", "where"),
    np.mean: reduction(mean, "keepdims"),
    np.prod: reduction(prod, "keepdims", "initial", "where"),
    np.where: where,
    np.take: take,
    np.clip: clip,
    np.full_like: full_like,
    np.zeros_like: lambda a: full_like(a, 0),
    np.ones_like: lambda a: full_like(a, 1),
    np.array_equal: array_equal,
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: lambda a, axis=None: np.size(a._codes, axis),
    np.array_repr: repr,
    np.array_str: str,
    **{f: joining(f) for f in (np.concatenate, np.stack, np.vstack, np.hstack)},
    **{
        f: moving(f)
        for f in (
            np.array_split, np.broadcast_to, np.copy, np.diagonal, np.empty_like,
            np.expand_dims, np.flip, np.moveaxis, np.ravel, np.repeat, np.reshape,
            np.roll, np.split, np.squeeze, np.swapaxes, np.take_along_axis, np.tile,
            np.transpose,
        )
    },
}  # fmt: skip


@functools.cache
def _every() -> dict[Any, Callable[..., Any]]:
    """Those of the other modules, too, which need this one."""
    from numera import _elements, _moves, _order, _products, _scans, _statistics

    others = _elements, _moves, _order, _products, _scans, _statistics
    tables = _FUNCTIONS, *(each.FUNCTIONS for each in others)
    return {function: ours for table in tables for function, ours in table.items()}


def call(function: Any, args: Any, options: Any) -> Any:
    """What ``Array.__array_function__`` does."""
    found = _every().get(function)
    if found is None:
        module = str(function.__module__).replace("numpy", "np", 1)
        raise Error(
            f"{module}.{function.__name__} is not for arrays of codes; it takes their "
            ".values(), and does not round to the format"
        )
    try:
        return found(*args, **options)
    except TypeError as error:
        text = _CALLED.sub("", str(error))
        if unknown := _UNKNOWN.search(text):
            text = f"{unknown[1]}= is not for arrays of codes"
        raise Error(f"np.{function.__name__} of codes: {text}") from None


_CALLED = re.compile(r"^\S+\(\) ")
"""The name of the function of ours that was called."""
_UNKNOWN = re.compile(r"unexpected keyword argument '(\w+)'")
