# SPDX-License-Identifier: MIT
"""NumPy's functions that move elements of arrays of codes, and write or show them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from numera._array import Array, operand
from numera._errors import Error
from numera._functions import (
    formatted,
    full_like,
    joining,
    moving,
    present,
    same_format,
    sum,
    where,
)
from numera._operands import truths


def _codes(x: Any) -> Any:
    return x._codes if isinstance(x, Array) else x


def _each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Of several arrays, those of codes by their codes."""

    def move(*arrays: Any, **options: Any) -> Any:
        moved = function(*map(_codes, arrays), **options)
        if not isinstance(moved, (list, tuple)):
            return arrays[0]._with(moved)
        return type(moved)(
            x._with(part) if isinstance(x, Array) else part
            for x, part in zip(arrays, moved)
        )

    return move


def _triangle(function: Callable[..., Any]) -> Callable[..., Any]:
    def cut(m: Array, k: int = 0) -> Any:
        formatted(f"np.{function.__name__}", m)
        return where(function(np.ones(m.shape, bool), k), m, 0)

    return cut


def diag(v: Array, k: int = 0) -> Any:
    """The diagonal of a matrix, or a matrix with a diagonal and zeros."""
    formatted("np.diag", v)
    if v.ndim != 1:
        return v._with(np.diag(v._codes, k))
    rows = np.arange(v.size)
    made = full_like(v, 0, (v.size + abs(k),) * 2)
    made[rows + max(-k, 0), rows + max(k, 0)] = v
    return made


def trace(a: Array, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The sum of the diagonal, as of :func:`numera.sum`."""
    formatted("np.trace", a)
    return sum(a._with(np.diagonal(a._codes, offset, axis1, axis2)), -1)


def resize(a: Array, new_shape: Any) -> Any:
    """Elements in turn, as many as there is place for; zeros, where there are none."""
    formatted("np.resize", a)
    return (
        a._with(np.resize(a._codes, new_shape))
        if a.size
        else full_like(a, 0, new_shape)
    )


def append(arr: Array, values: Any, axis: int | None = None) -> Any:
    """With elements at the end, or numbers, which are rounded to the format."""
    formatted("np.append", arr)
    more = operand(values, arr._format, "with")
    return arr._with(np.append(arr._codes, more._codes, axis))


def insert(arr: Array, obj: Any, values: Any, axis: int | None = None) -> Any:
    """With elements before others, or numbers, which are rounded to the format."""
    formatted("np.insert", arr)
    more = operand(values, arr._format, "with")
    return arr._with(np.insert(arr._codes, obj, more._codes, axis))


def copyto(dst: Any, src: Any, *, where: Any = True) -> None:
    """To an array of codes, from one of its format or a number."""
    where = truths(where)
    if not isinstance(dst, Array) and not isinstance(src, Array):
        np.copyto(dst, src, where=where)
        return
    if not isinstance(dst, Array):
        kind = getattr(dst, "dtype", type(dst).__name__)
        raise Error(f"dst is an array of {kind}, expected one of codes")
    np.copyto(dst._codes, operand(src, dst._format, "to")._codes, where=where)


def block(arrays: Any) -> Array:
    """Of blocks in nested lists, and numbers, which are rounded to the format."""

    def leaves(part: Any) -> Iterator[Any]:
        if isinstance(part, list):
            for each in part:
                yield from leaves(each)
        else:
            yield part

    fmt, codes = same_format("np.block", list(leaves(arrays)))
    following = iter(codes)

    def nested(part: Any) -> Any:
        return list(map(nested, part)) if isinstance(part, list) else next(following)

    return Array(np.block(nested(arrays)), fmt)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Array:
    """Elements of the first array whose condition holds; a number for the rest."""
    fmt, (*codes, rest) = same_format("np.select", [*choicelist, default])
    return Array(np.select(list(map(truths, condlist)), codes, rest), fmt)


def _within(function: Callable[..., Any]) -> Callable[..., Any]:
    """Those whose array is the second argument."""

    def move(condition: Any, a: Array, *args: Any, **options: Any) -> Any:
        formatted(f"np.{function.__name__}", a)
        return a._with(function(truths(condition), a._codes, *args, **options))

    return move


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.append: append,
    np.insert: insert,
    np.block: block,
    np.resize: resize,
    np.select: select,
    np.copyto: copyto,
    np.diag: diag,
    np.trace: trace,
    np.array2string: lambda a, *args, **options: np.array2string(
        a._numbers(), *args, **options
    ),
    np.shares_memory: lambda a, b, *args: np.shares_memory(_codes(a), _codes(b), *args),
    np.may_share_memory: lambda a, b, *args: np.may_share_memory(
        _codes(a), _codes(b), *args
    ),
    **{f: _triangle(f) for f in (np.tril, np.triu)},
    **{f: _within(f) for f in (np.compress, np.extract)},
    **{f: joining(f) for f in (np.dstack, np.column_stack)},
    **{
        f: _each(f)
        for f in (
            np.atleast_1d, np.atleast_2d, np.atleast_3d, np.broadcast_arrays,
            np.meshgrid,
        )
    },
    **{
        f: moving(f)
        for f in (
            np.delete, np.dsplit, np.fliplr, np.flipud, np.hsplit, np.rollaxis,
            np.rot90, np.vsplit,
        )
    },
    **present(
        np,
        astype=lambda x, dtype, /, *, copy=True: x.astype(dtype, copy=copy),
        matrix_transpose=lambda x, /: x.mT,
        unstack=lambda x, /, *, axis=0: tuple(np.moveaxis(x, axis, 0)),
    ),
}  # fmt: skip
"""Ours, for NumPy's."""
