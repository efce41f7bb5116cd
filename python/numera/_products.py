# SPDX-License-Identifier: MIT
"""Products of arrays of codes, of matrices and of each with each, and norms."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numera import _kernels, _sums
from numera._array import Array, operand
from numera._elements import outer
from numera._errors import Error
from numera._functions import (
    axes_of,
    formatted,
    moving,
    nearest,
    present,
    refused,
    rows,
    stored,
    sum,
)
from numera._moves import trace
from numera._operands import truths
from numera._results import recast

__all__ = ["dot", "matmul"]


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


def dot(a: Any, b: Any, out: Any = None, *, accumulate: Any = None) -> Array:
    """As ``np.dot``; for two vectors the sum of their products."""
    formatted("numera.dot", a, b)
    return stored(_dot(a, b, accumulate), out)  # type: ignore[no-any-return]


def _dot(a: Any, b: Any, accumulate: Any) -> Array:
    is_product = not isinstance(a, Array) or not isinstance(b, Array)
    if is_product or a.ndim == 0 or b.ndim == 0:
        product: Any = np.multiply(a, b)
        return product
    if b.ndim <= 2 and a.ndim <= 2:
        return matmul(a, b, accumulate=accumulate)
    if b.ndim == 1:
        return matmul(a, b, accumulate=accumulate)
    # The last axis of a with the last but one of b, and all of the others.
    others = math.prod(b.shape[:-2]) * b.shape[-1]
    columns = np.moveaxis(b._codes, -2, 0).reshape(b.shape[-2], others)
    rows = a._codes.reshape(math.prod(a.shape[:-1]), a.shape[-1])
    flat = matmul(a._with(rows), a._with(columns), accumulate=accumulate)
    return flat.reshape(a.shape[:-1] + b.shape[:-2] + b.shape[-1:])


def _factors(what: str, *factors: Any) -> tuple[Array, ...]:
    fmt = formatted(what, *factors)
    return tuple(operand(x, fmt, "with") for x in factors)


def vecdot(x1: Any, x2: Any, axis: int = -1) -> Array:
    """Sums of products along an axis, which add up as those of :func:`matmul`."""
    x1, x2 = _factors("np.vecdot", x1, x2)
    x1, x2 = (np.moveaxis(x, axis, -1) for x in (x1, x2))
    return matmul(x1[..., None, :], x2[..., None])[..., 0, 0]


def matvec(x1: Any, x2: Any) -> Array:
    """Products of matrices and vectors."""
    x1, x2 = _factors("np.matvec", x1, x2)
    return matmul(x1, x2[..., None])[..., 0]


def vecmat(x1: Any, x2: Any) -> Array:
    """Products of vectors and matrices."""
    x1, x2 = _factors("np.vecmat", x1, x2)
    return matmul(x1[..., None, :], x2)[..., 0, :]


def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """The sums of products over axes of both, as of :func:`matmul`."""
    a, b = _factors("np.tensordot", a, b)
    if np.iterable(axes):
        left, right = (list(x) if np.iterable(x) else [x] for x in axes)
    else:
        left, right = list(range(a.ndim - axes, a.ndim)), list(range(axes))
    for x, its in ((a, left), (b, right)):
        axes_of(its, x.ndim)  # each of them, and once
    left, right = ([d % x.ndim for d in its] for x, its in ((a, left), (b, right)))
    sizes = [a.shape[d] for d in left]
    if sizes != [b.shape[d] for d in right]:
        raise Error(
            f"axes {left} of shape {a.shape} and {right} of {b.shape} differ in size"
        )
    first = [d for d in range(a.ndim) if d not in left]
    last = [d for d in range(b.ndim) if d not in right]
    shape = tuple([a.shape[d] for d in first] + [b.shape[d] for d in last])
    m, k = math.prod(shape[: len(first)]), math.prod(sizes)
    n = math.prod(shape[len(first) :])
    product = matmul(
        a.transpose(first + left).reshape(m, k),
        b.transpose(right + last).reshape(k, n),
    )
    return product.reshape(shape)


def kron(a: Any, b: Any) -> Array:
    """The products of each with each, in blocks."""
    a, b = _factors("np.kron", a, b)
    rank = max(a.ndim, b.ndim)
    one, other = ((1,) * (rank - x.ndim) + x.shape for x in (a, b))
    product: Any = np.multiply(
        a.reshape([size for n in one for size in (n, 1)]),
        b.reshape([size for n in other for size in (1, n)]),
    )
    return product.reshape([m * n for m, n in zip(one, other)])  # type: ignore[no-any-return]


# ---- norms ------------------------------------------------------------------


def _vector_norm(x: Array, axis: Any, ord: Any, keepdims: bool) -> Any:
    """Along the axes together."""
    fmt = x._format
    if _sums.in_f64(fmt):
        return recast(_vector_norm(x.astype("f64"), axis, ord, keepdims), fmt)
    if ord == math.inf:
        return np.max(abs(x), axis, keepdims=keepdims)
    if ord == -math.inf:
        return np.min(abs(x), axis, keepdims=keepdims)
    if ord == 0:
        axes = axes_of(axis, x.ndim)
        return nearest(np.sum(truths(x), axes, keepdims=keepdims), x._format)
    if ord == 1:
        return sum(abs(x), axis, keepdims=keepdims)
    if ord == 2:
        along, axes = rows(x, axis)
        root = np.sqrt(vecdot(along, along))
        return np.expand_dims(root, axes) if keepdims else root
    if isinstance(ord, str):
        raise Error(f"ord is {ord!r}, expected a number for a vector")
    return sum(abs(x) ** ord, axis, keepdims=keepdims) ** (1 / ord)


def _matrix_norm(x: Array, axis: Sequence[int], ord: Any, keepdims: bool) -> Any:
    if ord == "fro":
        return _vector_norm(x, axis, 2, keepdims)
    if ord not in (1, -1, math.inf, -math.inf):
        raise Error(
            f"ord is {ord!r}, expected 'fro', 1, -1, inf or -inf for a matrix of "
            "codes; the others need singular values"
        )
    row, column = (operator.index(d) % x.ndim for d in axis)
    summed, found = (row, column) if abs(ord) == 1 else (column, row)
    sums = sum(abs(x), summed, keepdims=True)
    norms: Any = (np.max if ord > 0 else np.min)(sums, found, keepdims=True)
    return norms if keepdims else norms.squeeze((row, column))


def norm(x: Array, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    """Of vectors or matrices. Squares add up as products of matrices do; other
    powers are rounded before. That of a vector of fixed point is rounded once, from
    the one in f64."""
    formatted("np.linalg.norm", x)
    axes = axes_of(axis, x.ndim)
    if ord is None and (axis is None or len(axes) <= 2):
        return _vector_norm(x, axis, 2, keepdims)
    if len(axes) == 1:
        return _vector_norm(x, axis, 2 if ord is None else ord, keepdims)
    if len(axes) != 2:
        raise Error(f"a norm is of one axis or two, found {len(axes)}")
    return _matrix_norm(x, axes if axis is None else axis, ord, keepdims)


def vector_norm(
    x: Array, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2
) -> Any:
    """As :func:`norm`, of all axes as one vector, or of several."""
    formatted("np.linalg.vector_norm", x)
    return _vector_norm(x, axis, ord, keepdims)


def matrix_norm(x: Array, /, *, keepdims: bool = False, ord: Any = "fro") -> Any:
    """As :func:`norm`, of the last two axes."""
    formatted("np.linalg.matrix_norm", x)
    axes_of((-2, -1), x.ndim)
    return _matrix_norm(x, (-2, -1), ord, keepdims)


def _outer(x1: Any, x2: Any, /) -> Any:
    if np.ndim(x1) != 1 or np.ndim(x2) != 1:
        raise Error(f"np.linalg.outer takes vectors, found {x1.shape} and {x2.shape}")
    return outer(x1, x2)


def _trace(x: Array, /, *, offset: int = 0, dtype: Any = None) -> Any:
    refused(dtype=dtype)
    return trace(x, offset, -2, -1)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.dot: dot,
    np.vdot: lambda a, b: dot(np.ravel(a), np.ravel(b)),
    np.inner: lambda a, b: dot(a, b if np.ndim(b) < 2 else np.swapaxes(b, -1, -2)),
    np.tensordot: tensordot,
    np.kron: kron,
    np.linalg.norm: norm,
    **present(
        np.linalg,
        matmul=lambda x1, x2, /: matmul(x1, x2),
        vecdot=lambda x1, x2, /, *, axis=-1: vecdot(x1, x2, axis),
        tensordot=lambda x1, x2, /, *, axes=2: tensordot(x1, x2, axes),
        outer=_outer,
        trace=_trace,
        vector_norm=vector_norm,
        matrix_norm=matrix_norm,
        matrix_transpose=lambda x, /: x.mT,
        diagonal=lambda x, /, *, offset=0: moving(np.diagonal)(x, offset, -2, -1),
    ),
}
"""Ours, for NumPy's."""
