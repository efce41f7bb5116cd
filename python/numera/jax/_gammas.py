# SPDX-License-Identifier: MIT
"""The logarithm of the gamma function, its derivatives, and zeta.

Numbers are brought to where a series converges by products, or sums, whose terms have
one sign; so little is lost in narrow formats. Sources: Abramowitz and Stegun, 6.1.40,
6.3.18, 6.4.10, 23.2; Cephes (Moshier), lgamf.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jax import lax

__all__ = ["digamma", "lgamma", "polygamma", "zeta"]

_NEAR_TWO = (
    *(6.055172732649237e-4, -1.311620815545743e-3, 2.863437556468661e-3),
    *(-7.366775108654962e-3, 2.058355474821512e-2, -6.735323259371034e-2),
    *(3.224669577325661e-1, 4.227843421859038e-1),
)
"""log(gamma(2 + x)) / x for |x| <= 1/2, the highest power first."""

_NEAR_ONE = (
    *(1.369488127325832e-1, -1.590086327657347e-1, 1.692415923504637e-1),
    *(-2.067882815621965e-1, 2.705806208275915e-1, -4.006931650563372e-1),
    *(8.224670749082976e-1, -5.772156501719101e-1),
)
"""log(gamma(1 + x)) / x for |x| <= 1/4."""

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6)
"""B2, B4, …"""


def _polynomial(x: jax.Array, coefficients: tuple[float, ...]) -> jax.Array:
    result = jnp.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        result = result * x + each
    return result


def _is_double(x: jax.Array) -> bool:
    return bool(x.dtype == jnp.float64)


# ---- log(gamma) -------------------------------------------------------------


def lgamma(x: jax.Array) -> jax.Array:
    """log|gamma(x)|. Of negative numbers, by gamma(x) · gamma(1 - x) = pi / sin(pi x)."""
    reflects = x < 0
    above = jnp.where(reflects, 1 - x, x)
    of_positive = _of_positive(above) if _is_double(x) else _of_positive32(above)
    away = abs(x) - jnp.floor(abs(x))
    sine = abs(jnp.sin(math.pi * jnp.where(away > 0.5, 1 - away, away)))
    reflected = math.log(math.pi) - jnp.log(sine) - of_positive
    found = jnp.where(reflects, reflected, of_positive)
    return jnp.where(abs(x) == jnp.inf, jnp.inf, found)


def _stirling(x: jax.Array, terms: int) -> jax.Array:
    inverse = 1 / x
    series = tuple(
        _BERNOULLI[n] / ((2 * n + 1) * (2 * n + 2)) for n in reversed(range(terms))
    )
    start = (x - 0.5) * jnp.log(x) + (math.log(2 * math.pi) / 2 - x)
    return start + _polynomial(inverse * inverse, series) * inverse


def _of_positive(x: jax.Array) -> jax.Array:
    """Numbers below 10 by products: gamma(x) = gamma(x + n) / (x · … · (x + n - 1))."""
    product, above = jnp.ones_like(x), x
    for _ in range(10):
        low = above < 10
        product = jnp.where(low, product * above, product)
        above = jnp.where(low, above + 1, above)
    return _stirling(above, 7) - jnp.log(product)


def _of_positive32(x: jax.Array) -> jax.Array:
    """Numbers below 6.5 are brought to 1 or 2, where the result is small."""
    is_one = abs(x - 1) <= 0.25
    product, near = jnp.ones_like(x), x
    for _ in range(4):
        high = near > 2.5
        near = jnp.where(high, near - 1, near)
        product = jnp.where(high, product * near, product)
    divisor = jnp.ones_like(x)
    for _ in range(2):
        low = near < 1.5
        divisor = jnp.where(low, divisor * near, divisor)
        near = jnp.where(low, near + 1, near)
    log = jnp.log(jnp.where(near < x, product, divisor))
    away = near - 2
    of_two = away * _polynomial(away, _NEAR_TWO)
    of_two = jnp.where(near < x, of_two + log, of_two - log)
    of_one = (x - 1) * _polynomial(x - 1, _NEAR_ONE)
    small = jnp.where(is_one, of_one, of_two)
    return jnp.where(x < 6.5, small, _stirling(jnp.where(x < 6.5, 6.5, x), 3))


# ---- derivatives ------------------------------------------------------------


def digamma(x: jax.Array) -> jax.Array:
    """psi(x) = psi(x + n) - 1 / x - … - 1 / (x + n - 1), then a series in 1 / x².
    Of negative numbers, by psi(x) = psi(1 - x) - pi / tan(pi x)."""
    least, terms = (10, 7) if _is_double(x) else (6, 4)
    reflects = x < 0.5
    above = jnp.where(reflects, 1 - x, x)
    total = jnp.zeros_like(x)
    for _ in range(least):
        low = above < least
        total = jnp.where(low, total + 1 / above, total)
        above = jnp.where(low, above + 1, above)
    series = tuple(_BERNOULLI[n] / (2 * n + 2) for n in reversed(range(terms)))
    square = 1 / (above * above)
    found = jnp.log(above) - 0.5 / above
    found = found - square * _polynomial(square, series) - total
    away = x + abs(jnp.floor(x + 0.5))
    found = jnp.where(reflects, found - math.pi / jnp.tan(math.pi * away), found)
    return jnp.where((x <= 0) & (x == jnp.floor(x)), jnp.nan, found)


def zeta(x: jax.Array, q: jax.Array) -> jax.Array:
    """The sum of (q + n)^-x: ten terms, and the sum of the rest by Euler and Maclaurin."""
    terms = 7 if _is_double(x) else 4
    total, above = jnp.zeros_like(q), q
    for _ in range(10):
        total = total + jnp.power(above, -x)
        above = above + 1
    power = jnp.power(above, -x)
    rest = above / (x - 1) + 0.5
    inverse = 1 / above
    factor = x * inverse  # x (x + 1) … (x + 2n) / above^(2n + 1)
    for n in range(terms):
        rest = rest + (_BERNOULLI[n] / math.factorial(2 * n + 2)) * factor
        factor = factor * ((x + (2 * n + 1)) * inverse) * ((x + (2 * n + 2)) * inverse)
    found = total + power * rest
    whole, below = q == jnp.floor(q), q <= 0
    undefined = (x < 1) | (below & (x != jnp.floor(x)))
    found = jnp.where(undefined, jnp.nan, found)
    pole = jnp.where(lax.rem(x, jnp.full_like(x, 2)) == 0, jnp.inf, jnp.nan)
    return jnp.where(x == 1, jnp.inf, jnp.where(below & whole, pole, found))


def polygamma(n: jax.Array, x: jax.Array) -> jax.Array:
    """The n-th derivative of digamma: (-1)^(n + 1) · n! · zeta(n + 1, x)."""
    sign = 2 * lax.rem(n, jnp.full_like(n, 2)) - 1
    higher = sign * jnp.exp(lgamma(n + 1)) * zeta(n + 1, x)
    found = jnp.where(n == 0, digamma(x), higher)
    return jnp.where((n < 0) | (n != jnp.floor(n)), jnp.nan, found)
