# SPDX-License-Identifier: MIT
"""The modified Bessel function of order 1, times exp(-|x|).

In f32 Chebyshev's series of Cephes (Moshier, i1f), up to 8 and beyond. In f64 up to 30
the series of powers, whose terms have one sign, and beyond the one for large numbers.
Source: Abramowitz and Stegun, 9.6.10 and 9.7.1.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

__all__ = ["i1e"]

_NEAR = (
    *(9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7),
    *(-8.56872026469545474066e-7, 3.47025130813767847674e-6),
    *(-1.32731636560394358279e-5, 4.78156510755005422638e-5),
    *(-1.61760815825896745588e-4, 5.12285956168575772895e-4),
    *(-1.51357245063125314899e-3, 4.15642294431288815669e-3),
    *(-1.05640848946261981558e-2, 2.47264490306265168283e-2),
    *(-5.29459812080949914269e-2, 1.02643658689847095384e-1),
    *(-1.76416518357834055153e-1, 2.52587186443633654823e-1),
)
_FAR = (
    *(-3.83538038596423702205e-9, -2.63146884688951950684e-8),
    *(-2.51223623787020892529e-7, -3.88256480887769039346e-6),
    *(-1.10588938762623716291e-4, -9.76109749136146840777e-3),
    7.78576235018280120474e-1,
)
_EDGE = 30
"""Where the second series in f64 begins."""


def i1e(x: jax.Array) -> jax.Array:
    size = abs(x)
    found = _of_f64(size) if x.dtype == jnp.float64 else _of_f32(size)
    return jnp.where(x < 0, -found, found)


def _chebyshev(x: jax.Array, coefficients: tuple[float, ...]) -> jax.Array:
    """Clenshaw's recurrence, of half the first coefficient."""
    now, before, last = jnp.zeros_like(x), jnp.zeros_like(x), jnp.zeros_like(x)
    for each in coefficients:
        now, before, last = x * now - before + each, now, before
    return 0.5 * (now - last)


def _of_f32(x: jax.Array) -> jax.Array:
    near = jnp.where(x <= 8, x, 8)
    far = jnp.where(x <= 8, 8, x)
    return jnp.where(
        x <= 8,
        near * _chebyshev(near / 2 - 2, _NEAR),
        _chebyshev(32 / far - 2, _FAR) / jnp.sqrt(far),
    )


def _of_f64(x: jax.Array) -> jax.Array:
    near = jnp.where(x <= _EDGE, x, _EDGE)
    far = jnp.where(x <= _EDGE, _EDGE, x)
    quarter = near * near / 4
    series = jnp.ones_like(x)
    for k in range(75, 0, -1):
        series = 1 + series * quarter / (k * (k + 1))
    late = jnp.ones_like(x)
    for k in range(24, 0, -1):
        late = 1 - late * (4 - (2 * k - 1) ** 2) / (8 * k * far)
    return jnp.where(
        x <= _EDGE,
        jnp.exp(-near) * (near / 2) * series,
        late / jnp.sqrt(2 * math.pi * far),
    )
