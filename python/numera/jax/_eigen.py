# SPDX-License-Identifier: MIT
"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations.

A sweep rotates each pair of rows and columns once, in the order (0, 1), (0, 2), …, so
that what is beside the diagonal becomes zero. There is a fixed number of sweeps.
Source: Golub and Van Loan, Matrix Computations, 8.5 and 8.6.

JAX has rules for CPUs and GPUs, which call libraries, and none for others: these are
what it takes there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.interpreters import mlir

from numera._errors import Error
from numera.jax._matrices import over_batches

__all__ = ["eigh", "register", "svd"]


def register() -> None:
    """Makes the compositions the rules of JAX for platforms that have none."""
    for primitive, function in ((lax.linalg.eigh_p, eigh), (lax.linalg.svd_p, svd)):
        mlir.register_lowering(
            primitive, mlir.lower_fun(function, multiple_results=True)
        )


def _sweeps(size: int, dtype: Any) -> int:
    """Errors are squared by each of the last ones."""
    return size.bit_length() + (6 if dtype == jnp.float64 else 5)


def _rotation(first: Any, second: Any, beside: Any) -> tuple[Any, Any]:
    """Of the angle by which `beside` becomes zero, beside the diagonal numbers of two
    rows: the sine, and the tangent of half of it. It is none where `beside` changes
    neither of the two."""
    none = (first + beside == first) & (second + beside == second)
    tau = (second - first) / jnp.where(none, 1, 2 * beside)
    tangent = 1 / (abs(tau) + jnp.sqrt(1 + tau * tau))
    tangent = jnp.where(none, 0, jnp.where(tau < 0, -tangent, tangent))
    cosine = 1 / jnp.sqrt(1 + tangent * tangent)
    sine = tangent * cosine
    return sine, sine / (1 + cosine)


def _rotated(a: jax.Array, p: Any, q: Any, turn: Any, axis: int) -> jax.Array:
    """Two rows, or columns, turned. With the half angle what is added is small where the
    angle is."""
    sine, half = turn
    x, y = (lax.dynamic_index_in_dim(a, k, axis) for k in (p, q))
    a = lax.dynamic_update_slice_in_dim(a, x - sine * (y + half * x), p, axis)
    return lax.dynamic_update_slice_in_dim(a, y + sine * (x - half * y), q, axis)


def _swept(rotate: Callable[..., Any], size: int, state: Any) -> Any:
    def row(p: Any, state: Any) -> Any:
        return lax.fori_loop(p + 1, size, lambda q, s: rotate(p, q, s), state)

    count = _sweeps(size, state[0].dtype)
    return lax.fori_loop(
        0, count, lambda _, s: lax.fori_loop(0, size - 1, row, s), state
    )


def _check(a: jax.Array) -> None:
    if a.dtype.kind == "c":
        raise Error(f"factors of a matrix of {a.dtype}, expected real numbers")


# ---- symmetric matrices -----------------------------------------------------


def eigh(
    a: jax.Array,
    *,
    lower: bool,
    sort_eigenvalues: bool,
    subset_by_index: tuple[int, int] | None,
    **_: Any,
) -> Any:
    """Eigenvectors, in columns, and eigenvalues."""
    _check(a)
    start, end = subset_by_index or (0, a.shape[-1])

    def one(a: jax.Array) -> Any:
        vectors, values = _eigh(jnp.tril(a) if lower else jnp.triu(a).T)
        if sort_eigenvalues or subset_by_index:
            order = jnp.argsort(values)
            vectors, values = vectors[:, order], values[order]
        return vectors[:, start:end], values[start:end]

    return over_batches(one, a.ndim - 2)(a)


def _eigh(lower: jax.Array) -> tuple[jax.Array, jax.Array]:
    size = lower.shape[0]
    places = jnp.arange(size)
    a = jnp.where(places[:, None] >= places, lower, lower.T)

    def rotate(p: Any, q: Any, state: Any) -> Any:
        a, vectors = state
        turn = _rotation(a[p, p], a[q, q], a[p, q])
        a = _rotated(_rotated(a, p, q, turn, 0), p, q, turn, 1)
        pair = (places == p, places == q)
        gone = (pair[0][:, None] & pair[1]) | (pair[1][:, None] & pair[0])
        return jnp.where(gone, 0, a), _rotated(vectors, p, q, turn, 1)

    a, vectors = _swept(rotate, size, (a, jnp.eye(size, dtype=a.dtype)))
    return vectors, jnp.diagonal(a)


# ---- singular values --------------------------------------------------------


def svd(
    a: jax.Array,
    *,
    full_matrices: bool,
    compute_uv: bool,
    subset_by_index: tuple[int, int] | None,
    **_: Any,
) -> Any:
    """Singular values and, if they are asked for, both matrices of vectors."""
    _check(a)
    rank = min(a.shape[-2:])
    start, end = subset_by_index or (0, rank)

    def one(a: jax.Array) -> Any:
        tall = a.shape[0] >= a.shape[1]
        left, values, right = _svd(a if tall else a.T, full_matrices, compute_uv)
        values = values[start:end]
        if not compute_uv:
            return (values,)
        left, right = (left, right) if tall else (right, left)
        if not full_matrices:
            left, right = left[:, start:end], right[:, start:end]
        return values, left, right.T

    return over_batches(one, a.ndim - 2)(a)


def _svd(
    a: jax.Array, full: bool, vectors: bool
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Of a matrix that is not wider than high: columns are rotated until they are
    perpendicular. Their lengths are the singular values; their directions, and those
    that are perpendicular to all of them, come of Householder's reflections."""
    size = a.shape[1]

    def rotate(p: Any, q: Any, state: Any) -> Any:
        a, right = state
        x, y = a[:, p], a[:, q]
        turn = _rotation((x * x).sum(), (y * y).sum(), (x * y).sum())
        return _rotated(a, p, q, turn, 1), _rotated(right, p, q, turn, 1)

    a, right = _swept(rotate, size, (a, jnp.eye(size, dtype=a.dtype)))
    values = jnp.sqrt((a * a).sum(0))
    order = jnp.argsort(-values)
    values, a, right = values[order], a[:, order], right[:, order]
    if not vectors or not size:
        left = jnp.eye(a.shape[0], a.shape[0] if full else size, dtype=a.dtype)
        return left, values, right
    left, rest = jnp.linalg.qr(a, mode="complete" if full else "reduced")
    signs = jnp.where(jnp.diagonal(rest) < 0, -1, 1).astype(a.dtype)
    more = jnp.ones(left.shape[1] - size, a.dtype)
    return left * jnp.concatenate([signs, more]), values, right
