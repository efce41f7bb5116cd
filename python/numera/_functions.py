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

from numera import _kernels, _sums
from numera._array import Array, array, operand
from numera._errors import Error
from numera._formats import Format

__all__ = ["dot", "matmul", "mean", "sum"]


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


def _total(
    x: Array,
    axis: Any,
    keepdims: bool,
    accumulate: Any,
    is_mean: bool,
    operation: str = "add",
) -> Array:
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
    inputs = [np.ascontiguousarray(codes).reshape(folded)]
    if is_mean:
        accumulator.check_count(count)
        inputs.append(np.array(count, np.int64))
    if result.size:
        kernel.run(inputs, [result], codes.size)
    if keepdims:
        kept = [1 if d in axes else n for d, n in enumerate(x.shape)]
    return x._with(result.reshape(kept))


def sum(
    x: Array, axis: Any = None, *, keepdims: bool = False, accumulate: Any = None
) -> Array:
    """The sum, in row-major order of the axes, rounded to the format at the end.

    accumulate  what it adds up in: a format, ``same`` (x's own, each step rounded),
                ``quire`` (exactly); None: what programs take, mostly f32.

    >>> import numera
    >>> x = numera.array([1.0] * 3000, "bf16")
    >>> x.sum().item(), x.sum(accumulate="same").item()
    (3008.0, 256.0)
    """
    formatted("numera.sum", x)
    return _total(x, axis, keepdims, accumulate, is_mean=False)


def mean(
    x: Array, axis: Any = None, *, keepdims: bool = False, accumulate: Any = None
) -> Array:
    """The sum, divided by the number of elements in the accumulator, rounded.

    With ``quire`` the sum is rounded to the format before it is divided.
    """
    formatted("numera.mean", x)
    return _total(x, axis, keepdims, accumulate, is_mean=True)


def prod(a: Array, axis: Any = None, *, keepdims: bool = False) -> Array:
    """The product, in row-major order of the axes, each step rounded."""
    formatted("np.prod", a)
    return _total(a, axis, keepdims, "same", is_mean=False, operation="mul")


def var(
    a: Array,
    axis: Any = None,
    *,
    ddof: int = 0,
    keepdims: bool = False,
    accumulate: Any = None,
) -> Array:
    """The mean of the squares of what is off the mean, each operation rounded.

    Where ``ddof`` leaves nothing to divide by, a warning and x / 0, as of NumPy.
    """
    away = a - mean(a, axis, keepdims=True, accumulate=accumulate)
    squares = away * away
    if ddof == 0:
        return mean(squares, axis, keepdims=keepdims, accumulate=accumulate)
    count = max(math.prod(a.shape[d] for d in axes_of(axis, a.ndim)) - ddof, 0)
    if count == 0:  # NumPy's words, and its quotient by 0 as the format has it
        warnings.warn("Degrees of freedom <= 0 for slice", RuntimeWarning, stacklevel=3)
    total = sum(squares, axis, keepdims=keepdims, accumulate=accumulate)
    quotient: Array = total / count
    return quotient


def std(a: Array, axis: Any = None, **options: Any) -> Array:
    """The square root of :func:`var`."""
    root: Any = np.sqrt(var(a, axis, **options))
    return root  # an Array, as every ufunc of one


def matmul(a: Any, b: Any, *, accumulate: Any = None, out: Any = None) -> Array:
    """The product of matrices, or stacks of them, as ``a @ b``.

    accumulate  what sums of products add up in, as in :func:`numera.sum`. With
                ``same`` products are rounded as well; any other takes them as they
                are.

    >>> import numera
    >>> x = numera.array([[1.0, 1e4], [1e4, 1.0]], "posit16")
    >>> numera.matmul(x, x, accumulate="quire").tolist()[0][1]
    19968.0
    """
    fmt = formatted("numera.matmul", a, b)
    a, b = (operand(x, fmt, "with") for x in (a, b))
    if a.ndim == 0 or b.ndim == 0:
        raise Error("a factor of a matrix product is a number; expected arrays")
    left = a._codes[None, :] if a.ndim == 1 else a._codes
    right = b._codes[:, None] if b.ndim == 1 else b._codes
    if left.shape[-1] != right.shape[-2]:
        raise Error(
            f"factors of shapes {a.shape} and {b.shape} do not go together: "
            f"{left.shape[-1]} columns, {right.shape[-2]} rows"
        )
    try:
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    except ValueError as error:
        raise Error(str(error)) from None
    m, k, n = left.shape[-2], left.shape[-1], right.shape[-1]
    count = math.prod(batch)
    factors = [
        np.ascontiguousarray(np.broadcast_to(x, batch + x.shape[-2:])).reshape(
            count, *x.shape[-2:]
        )
        for x in (left, right)
    ]
    accumulator = _sums.accumulator(fmt, accumulate)
    kernel = _kernels.find(
        ("matmul", fmt, accumulator.key), lambda: _sums.contraction(accumulator)
    )
    result = np.empty((count, m, n), fmt.dtype)
    if result.size:
        kernel.run(factors, [result], result.size * k)
    shape = batch + (m, n)
    if b.ndim == 1:
        shape = shape[:-1]
    if a.ndim == 1:
        shape = shape[: len(batch)] + shape[len(batch) + 1 :]
    made = a._with(result.reshape(shape))
    if out is None:
        return made
    operand(out, fmt, "as out with")._codes[...] = made._codes
    return out


def dot(a: Any, b: Any, *, accumulate: Any = None) -> Array:
    """As ``np.dot``; for two vectors the sum of their products."""
    formatted("numera.dot", a, b)
    is_product = not isinstance(a, Array) or not isinstance(b, Array)
    if is_product or a.ndim == 0 or b.ndim == 0:
        product: Any = np.multiply(a, b)
        return product
    if b.ndim <= 2 and a.ndim <= 2:
        return matmul(a, b, accumulate=accumulate)
    if b.ndim == 1:
        return matmul(a, b, accumulate=accumulate)
    # The last axis of a with the last but one of b, and all of the others.
    columns = np.moveaxis(b._codes, -2, 0).reshape(b.shape[-2], -1)
    rows = a._codes.reshape(-1, a.shape[-1])
    flat = matmul(a._with(rows), a._with(columns), accumulate=accumulate)
    return flat.reshape(a.shape[:-1] + b.shape[:-2] + b.shape[-1:])


# ---- what moves elements ----------------------------------------------------


def same_format(what: str, arrays: Sequence[Any]) -> tuple[Format, list[Any]]:
    fmt = formatted(what, *arrays)
    return fmt, [operand(x, fmt, "with")._codes for x in arrays]


def joining(function: Callable[..., Any]) -> Callable[..., Any]:
    def join(arrays: Sequence[Any], *args: Any, **options: Any) -> Array:
        fmt, codes = same_format(f"np.{function.__name__}", arrays)
        return Array(function(codes, *args, **options), fmt)

    return join


def moving(function: Callable[..., Any]) -> Callable[..., Any]:
    def move(x: Array, *args: Any, **options: Any) -> Any:
        formatted(f"np.{function.__name__}", x)
        moved = function(x._codes, *args, **options)
        if isinstance(moved, (list, tuple)):
            return type(moved)(x._with(part) for part in moved)
        return x._with(moved)

    return move


def where(condition: Any, *choices: Any) -> Any:
    """Elements of one array or of the other."""
    if not choices:
        return np.where(np.asarray(condition))
    fmt, codes = same_format("np.where", choices)
    return Array(np.where(np.asarray(condition), *codes), fmt)


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
    return stored(clipped, out)


def full_like(a: Array, fill_value: Any, shape: Any = None) -> Array:
    """An array of one number, rounded to the format."""
    value = operand(fill_value, a._format, "with")._codes
    return a._with(np.full(a.shape if shape is None else shape, value))


def array_equal(a: Any, b: Any) -> bool:
    """Whether shapes and all values are equal."""
    fmt, _ = same_format("np.array_equal", [a, b])
    a, b = (x if isinstance(x, Array) else array(x, fmt) for x in (a, b))
    return a.shape == b.shape and bool((a == b).all())


def _reduction(reduce: Callable[..., Array]) -> Callable[..., Any]:
    def call(
        a: Array,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
    ) -> Any:
        refused(dtype=dtype)
        return stored(reduce(a, axis, keepdims=bool(keepdims)), out)

    return call


def _spread(reduce: Callable[..., Array]) -> Callable[..., Any]:
    def call(
        a: Array,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        ddof: int = 0,
        keepdims: Any = False,
    ) -> Any:
        refused(dtype=dtype)
        return stored(reduce(a, axis, ddof=ddof, keepdims=bool(keepdims)), out)

    return call


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction(sum),
    np.mean: _reduction(mean),
    np.prod: _reduction(prod),
    np.var: _spread(var),
    np.std: _spread(std),
    np.dot: dot,
    np.vdot: lambda a, b: dot(np.ravel(a), np.ravel(b)),
    np.inner: lambda a, b: dot(a, b if np.ndim(b) < 2 else np.swapaxes(b, -1, -2)),
    np.where: where,
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
            np.roll, np.split, np.squeeze, np.swapaxes, np.take, np.take_along_axis,
            np.tile, np.transpose,
        )
    },
}  # fmt: skip


@functools.cache
def _every() -> dict[Any, Callable[..., Any]]:
    """Those of the other modules, too, which need this one."""
    from numera import _elements, _moves, _order, _scans

    others = (each.FUNCTIONS for each in (_elements, _moves, _order, _scans))
    tables = _FUNCTIONS, *others
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
