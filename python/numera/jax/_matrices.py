# SPDX-License-Identifier: MIT
"""Factors of matrices and solutions of triangular systems, a column or row at a time.

Matrices are the last two dimensions. A sum of products is one contraction; it is
subtracted afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["cholesky", "over_batches", "qr", "reflections", "triangular_solve"]


def over_batches(function: Callable[..., Any], batches: int) -> Callable[..., Any]:
    """A function of matrices, for each of those behind the first dimensions."""
    for _ in range(batches):
        function = jax.vmap(function)
    return function


def _is(options: dict[str, str], name: str) -> bool:
    return options.get(name, "").startswith("true")


def cholesky(options: dict[str, str], a: jax.ShapeDtypeStruct) -> Callable[..., Any]:
    lower = _is(options, "lower")

    def one(a: jax.Array) -> Any:
        found = _cholesky(a if lower else a.T)
        return found if lower else found.T

    return over_batches(one, a.ndim - 2)


def _cholesky(a: jax.Array) -> Any:
    """Column j: (a[i, j] - the sum of l[i, k] · l[j, k], k < j) / l[j, j]."""
    size = a.shape[0]
    rows = jnp.arange(size)

    def column(j: Any, l: jax.Array) -> jax.Array:
        rest = a[:, j] - l @ l[j]  # of l the columns before j are known, others zero
        root = jnp.sqrt(rest[j])
        found = jnp.where(rows > j, rest / root, jnp.where(rows == j, root, 0))
        return l.at[:, j].set(found)

    return lax.fori_loop(0, size, column, jnp.zeros_like(a))


def triangular_solve(
    options: dict[str, str], a: jax.ShapeDtypeStruct, b: jax.ShapeDtypeStruct
) -> Callable[..., Any]:
    left, lower = _is(options, "left_side"), _is(options, "lower")
    unit = _is(options, "unit_diagonal")
    transposed = "NO_TRANSPOSE" not in options["transpose_a"]

    def one(a: jax.Array, b: jax.Array) -> Any:
        # x · a = b is a' · x' = b'.
        if transposed == left:
            a = a.T
        x = _solve(a, b if left else b.T, lower != (transposed == left), unit)
        return x if left else x.T

    return over_batches(one, a.ndim - 2)


def _solve(a: jax.Array, b: jax.Array, lower: bool, unit: bool) -> Any:
    """Row i, from the first (of an upper matrix the last) on:
    (b[i] - the sum of a[i, k] · x[k]) / a[i, i]."""
    size = a.shape[0]
    strict = jnp.tril(a, -1) if lower else jnp.triu(a, 1)

    def row(n: Any, x: jax.Array) -> jax.Array:
        i = n if lower else size - 1 - n
        rest = b[i] - strict[i] @ x  # of x the rows that are not known are zero
        return x.at[i].set(rest if unit else rest / a[i, i])

    return lax.fori_loop(0, size, row, jnp.zeros_like(b))


# ---- orthogonal factors -----------------------------------------------------


def qr(a: jax.Array) -> tuple[jax.Array, jax.Array]:
    """R, and below its diagonal the vectors v of the reflections 1 - tau · v · v',
    whose first element is 1; and each tau."""

    def one(a: jax.Array) -> Any:
        rows, columns = (jnp.arange(size) for size in a.shape)
        count = min(a.shape)

        def reflect(j: Any, state: Any) -> Any:
            a, taus = state
            column = jnp.where(rows > j, a[:, j], 0)
            first = a[j, j]
            below = (column * column).sum()
            norm = jnp.sqrt(first * first + below)
            beta = jnp.where(first > 0, -norm, norm)
            none = below == 0  # nothing to remove
            tau = jnp.where(none, 0, (beta - first) / beta)
            v = column / jnp.where(none, 1, first - beta)
            v = jnp.where(rows == j, 1, v)
            later = a - (tau * v)[:, None] * (v @ a)
            later = jnp.where((columns > j)[None, :], later, a)
            done = jnp.where(rows > j, v, a[:, j])
            done = jnp.where(rows == j, jnp.where(none, first, beta), done)
            return later.at[:, j].set(done), taus.at[j].set(tau)

        return lax.fori_loop(0, count, reflect, (a, jnp.zeros(count, a.dtype)))

    found: tuple[jax.Array, jax.Array] = over_batches(one, a.ndim - 2)(a)
    return found


def reflections(a: jax.Array, taus: jax.Array) -> jax.Array:
    """The first columns of the product of the reflections that `qr` gives."""

    def one(a: jax.Array, taus: jax.Array) -> Any:
        rows, count = jnp.arange(a.shape[0]), taus.shape[0]
        identity = jnp.eye(a.shape[0], a.shape[1], dtype=a.dtype)

        def reflect(n: Any, q: jax.Array) -> jax.Array:
            j = count - 1 - n
            v = jnp.where(rows == j, 1, jnp.where(rows > j, a[:, j], 0))
            return q - (taus[j] * v)[:, None] * (v @ q)

        return lax.fori_loop(0, count, reflect, identity)

    found: jax.Array = over_batches(one, a.ndim - 2)(a, taus)
    return found
