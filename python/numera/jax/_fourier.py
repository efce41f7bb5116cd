# SPDX-License-Identifier: MIT
"""Functions of complex numbers, as pairs of real and imaginary parts.

A part that is None is zero everywhere. A Fourier transform is one product of matrices
along each dimension (`numera._fourier`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from numera import _fourier

__all__ = ["FUNCTIONS", "Pair", "equal", "total", "transform"]

Pair = tuple[jax.Array, jax.Array | None]


# ---- arithmetic -------------------------------------------------------------


def multiply(x: Pair, y: Pair) -> Pair:
    (a, b), (c, d) = x, y
    if b is None:
        return a * c, None if d is None else a * d
    if d is None:
        return a * c, b * c
    return a * c - b * d, a * d + b * c


def divide(x: Pair, y: Pair) -> Pair:
    """Smith's algorithm, which divides by the larger part first."""
    (a, b), (c, d) = x, y
    if d is None:
        return a / c, None if b is None else b / c
    b = jnp.zeros_like(a) if b is None else b
    first = abs(c) >= abs(d)
    large, small = jnp.where(first, c, d), jnp.where(first, d, c)
    ratio = small / large
    divisor = large + small * ratio
    near, far = jnp.where(first, a, b), jnp.where(first, b, a)
    imaginary = far - near * ratio
    return (
        (near + far * ratio) / divisor,
        jnp.where(first, imaginary, -imaginary) / divisor,
    )


def absolute(x: Pair) -> jax.Array:
    a, b = x
    return abs(a) if b is None else jnp.hypot(a, b)


def exponential(x: Pair) -> Pair:
    a, b = x
    if b is None:
        return jnp.exp(a), None
    return jnp.exp(a) * jnp.cos(b), jnp.exp(a) * jnp.sin(b)


def logarithm(x: Pair) -> Pair:
    a, b = x
    return jnp.log(absolute(x)), jnp.arctan2(jnp.zeros_like(a) if b is None else b, a)


def equal(x: Pair, y: Pair) -> jax.Array:
    (a, b), (c, d) = x, y
    if b is None and d is None:
        return a == c
    return (a == c) & ((0 if b is None else b) == (0 if d is None else d))


def total(options: dict[str, str]) -> Callable[[Pair, Pair], Pair]:
    """The sum over dimensions, from a start on."""
    dimensions = numbers(options["dimensions"])

    def summed(x: Pair, start: Pair) -> Pair:
        (a, b), (c, d) = x, start
        real = lax.reduce(a, c, lax.add, dimensions)
        if b is None:
            return real, None
        zero = jnp.zeros_like(c) if d is None else d
        return real, lax.reduce(b, zero, lax.add, dimensions)

    return summed


def numbers(text: str) -> list[int]:
    """Those of an attribute such as `array<i64: 1, 2>`."""
    return [int(each) for each in re.findall(r"\d+", text.partition(":")[2])]


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "stablehlo.multiply": multiply,
    "stablehlo.divide": divide,
    "stablehlo.abs": absolute,
    "stablehlo.exponential": exponential,
    "stablehlo.log": logarithm,
}


# ---- transforms -------------------------------------------------------------


def transform(options: dict[str, str]) -> Callable[[Pair], Any]:
    """What `stablehlo.fft` does."""
    kind = re.search(r"\b(I?R?FFT)\b", options["fft_type"])
    lengths = numbers(options["fft_length"])
    assert kind is not None

    def transformed(x: Pair) -> Any:
        rank = x[0].ndim
        along = [(rank - len(lengths) + n, size) for n, size in enumerate(lengths)]
        inverse = kind[1].startswith("I")
        if kind[1] == "RFFT":
            along.reverse()
            (axis, size), *along = along
            x = _along(x, axis, size, size // 2 + 1, False)
        last = along.pop() if kind[1] == "IRFFT" else None
        for axis, size in along:
            x = _along(x, axis, size, size, inverse)
        if last is None:
            return x if x[1] is not None else (x[0], jnp.zeros_like(x[0]))
        return _real(x, *last)

    return transformed


def _product(x: jax.Array, axis: int, matrix: Any) -> jax.Array:
    moved = jnp.moveaxis(x, axis, -1)
    return jnp.moveaxis(moved @ jnp.asarray(matrix, x.dtype), -1, axis)


def _along(x: Pair, axis: int, size: int, count: int, inverse: bool) -> Pair:
    """`count` results of the transform along a dimension."""
    a, b = x
    matrix = _fourier.matrix(
        size,
        count,
        inverse=inverse,
        divisor=size if inverse else 1,
        is_real=b is None,
        module=jnp,
        array=jnp.asarray,
    )
    both = a if b is None else jnp.concatenate([a, b], axis)
    real, imaginary = jnp.split(_product(both, axis, matrix), 2, axis)
    return real, imaginary


def _real(x: Pair, axis: int, size: int) -> jax.Array:
    """The inverse of which the other half is the mirror image of this one."""
    matrix = _fourier.real_matrix(
        size,
        divisor=size,
        is_real=x[1] is None,
        module=jnp,
        array=jnp.asarray,
    )
    half = size // 2 + 1
    parts = [
        lax.slice_in_dim(each, 0, half, axis=axis) for each in x if each is not None
    ]
    return _product(jnp.concatenate(parts, axis), axis, matrix)
