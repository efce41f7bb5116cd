# SPDX-License-Identifier: MIT
"""Elementary functions of complex numbers, by functions of their parts.

Branch cuts, and their sides by the sign of zero, are those of C99. Source: Kahan, Branch cuts for complex
elementary functions (1987), without its care for numbers that overflow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["TABLE"]

_join = lax.complex


def _parts(z: jax.Array) -> tuple[jax.Array, jax.Array]:
    return lax.real(z), lax.imag(z)


def sqrt(z: jax.Array) -> jax.Array:
    """The larger part is a root of a sum, the other one a quotient by it."""
    a, b = _parts(z)
    large = jnp.sqrt((abs(a) + jnp.hypot(a, b)) / 2)
    none = large == 0
    small = jnp.where(none, 0, abs(b) / jnp.where(none, 1, 2 * large))
    right = a >= 0
    return _join(
        jnp.where(right, large, small),
        jnp.copysign(jnp.where(right, small, large), b),
    )


def rsqrt(z: jax.Array) -> jax.Array:
    return 1 / sqrt(z)


def expm1(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    half = jnp.sin(b / 2)
    return _join(jnp.expm1(a) * jnp.cos(b) - 2 * half * half, jnp.exp(a) * jnp.sin(b))


def log1p(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    return _join(jnp.log1p(a * (2 + a) + b * b) / 2, jnp.arctan2(b, 1 + a))


def power(z: jax.Array, exponent: jax.Array) -> jax.Array:
    none = z == 0
    found = jnp.exp(exponent * jnp.log(jnp.where(none, 1, z)))
    return jnp.where(none, jnp.where(exponent == 0, 1, 0).astype(z.dtype), found)


def sign(z: jax.Array) -> jax.Array:
    size = abs(z)
    return jnp.where(size == 0, z, z / jnp.where(size == 0, 1, size))


def sinh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    return _join(jnp.sinh(a) * jnp.cos(b), jnp.cosh(a) * jnp.sin(b))


def cosh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    return _join(jnp.cosh(a) * jnp.cos(b), jnp.sinh(a) * jnp.sin(b))


def tanh(z: jax.Array) -> jax.Array:
    """(t + i u) / (1 + i t u), of the parts' tangents."""
    a, b = _parts(z)
    t, u = jnp.tanh(a), jnp.tan(b)
    return _join(t, u) / _join(jnp.ones_like(t), t * u)


def tan(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    t, u = jnp.tan(a), jnp.tanh(b)
    return _join(t, u) / _join(jnp.ones_like(t), -t * u)


def _beside(z: jax.Array) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """The roots of 1 + z and 1 - z."""
    a, b = _parts(z)
    return _parts(sqrt(_join(1 + a, b))), _parts(sqrt(_join(1 - a, -b)))


def asin(z: jax.Array) -> jax.Array:
    (a, b), (c, d) = _beside(z)
    return _join(jnp.arctan2(lax.real(z), a * c - b * d), jnp.arcsinh(c * b - d * a))


def acos(z: jax.Array) -> jax.Array:
    (a, b), (c, d) = _beside(z)
    return _join(2 * jnp.arctan2(c, a), jnp.arcsinh(a * d - b * c))


def acosh(z: jax.Array) -> jax.Array:
    (a, b), (c, d) = _parts(sqrt(z + 1)), _parts(sqrt(z - 1))
    return _join(jnp.arcsinh(a * c + b * d), 2 * jnp.arctan2(d, a))


def asinh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    c, d = _parts(asin(_join(b, -a)))
    return _join(-d, c)


def atanh(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    real = jnp.log1p(4 * a / ((1 - a) * (1 - a) + b * b)) / 4
    return _join(real, jnp.arctan2(2 * b, (1 - a) * (1 + a) - b * b) / 2)


def atan(z: jax.Array) -> jax.Array:
    a, b = _parts(z)
    c, d = _parts(atanh(_join(-b, a)))
    return _join(d, -c)


TABLE: dict[str, Callable[..., Any]] = {
    "stablehlo.sqrt": sqrt,
    "stablehlo.rsqrt": rsqrt,
    "stablehlo.exponential_minus_one": expm1,
    "stablehlo.log_plus_one": log1p,
    "stablehlo.power": power,
    "stablehlo.sign": sign,
    "stablehlo.tanh": tanh,
    "stablehlo.tan": tan,
    "tan": tan,
    "sinh": sinh,
    "cosh": cosh,
    "asin": asin,
    "acos": acos,
    "atan": atan,
    "asinh": asinh,
    "acosh": acosh,
    "atanh": atanh,
    "square": lambda z: z * z,
}
"""By name; of chlo without that."""
