# SPDX-License-Identifier: MIT
"""The logarithm of the gamma function, its derivatives, and zeta.

Numbers are brought to where a series converges by products, or sums, whose terms have
one sign; so little is lost in narrow formats. Sources: Abramowitz and Stegun, 6.1.40,
6.3.18, 6.4.10, 23.2; Cephes (Moshier), lgamf.

Each function takes the module of its arrays or tensors, `jax.numpy` or `torch`.
"""

from __future__ import annotations

import math
from typing import Any

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


def _polynomial(m: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    result = m.full_like(x, coefficients[0])
    for each in coefficients[1:]:
        result = result * x + each
    return result


def _is_double(x: Any) -> bool:
    return bool(x.dtype.itemsize == 8)


# ---- log(gamma) -------------------------------------------------------------


def lgamma(m: Any, x: Any) -> Any:
    """log|gamma(x)|. Of negative numbers, by gamma(x) · gamma(1 - x) = pi / sin(pi x)."""
    reflects = x < 0
    above = m.where(reflects, 1 - x, x)
    of_positive = _of_positive(m, above) if _is_double(x) else _of_positive32(m, above)
    away = abs(x) - m.floor(abs(x))
    sine = abs(m.sin(math.pi * m.where(away > 0.5, 1 - away, away)))
    reflected = math.log(math.pi) - m.log(sine) - of_positive
    found = m.where(reflects, reflected, of_positive)
    return m.where(abs(x) == math.inf, math.inf, found)


def _stirling(m: Any, x: Any, terms: int) -> Any:
    inverse = 1 / x
    series = tuple(
        _BERNOULLI[n] / ((2 * n + 1) * (2 * n + 2)) for n in reversed(range(terms))
    )
    start = (x - 0.5) * m.log(x) + (math.log(2 * math.pi) / 2 - x)
    return start + _polynomial(m, inverse * inverse, series) * inverse


def _of_positive(m: Any, x: Any) -> Any:
    """Numbers below 10 by products: gamma(x) = gamma(x + n) / (x · … · (x + n - 1))."""
    product, above = m.ones_like(x), x
    for _ in range(10):
        low = above < 10
        product = m.where(low, product * above, product)
        above = m.where(low, above + 1, above)
    return _stirling(m, above, 7) - m.log(product)


def _of_positive32(m: Any, x: Any) -> Any:
    """Numbers below 6.5 are brought to 1 or 2, where the result is small."""
    is_one = abs(x - 1) <= 0.25
    product, near = m.ones_like(x), x
    for _ in range(4):
        high = near > 2.5
        near = m.where(high, near - 1, near)
        product = m.where(high, product * near, product)
    divisor = m.ones_like(x)
    for _ in range(2):
        low = near < 1.5
        divisor = m.where(low, divisor * near, divisor)
        near = m.where(low, near + 1, near)
    log = m.log(m.where(near < x, product, divisor))
    away = near - 2
    of_two = away * _polynomial(m, away, _NEAR_TWO)
    of_two = m.where(near < x, of_two + log, of_two - log)
    of_one = (x - 1) * _polynomial(m, x - 1, _NEAR_ONE)
    small = m.where(is_one, of_one, of_two)
    return m.where(x < 6.5, small, _stirling(m, m.where(x < 6.5, 6.5, x), 3))


# ---- derivatives ------------------------------------------------------------


def digamma(m: Any, x: Any) -> Any:
    """psi(x) = psi(x + n) - 1 / x - … - 1 / (x + n - 1), then a series in 1 / x².
    Of negative numbers, by psi(x) = psi(1 - x) - pi / tan(pi x)."""
    least, terms = (10, 7) if _is_double(x) else (6, 4)
    reflects = x < 0.5
    above = m.where(reflects, 1 - x, x)
    total = m.zeros_like(x)
    for _ in range(least):
        low = above < least
        total = m.where(low, total + 1 / above, total)
        above = m.where(low, above + 1, above)
    series = tuple(_BERNOULLI[n] / (2 * n + 2) for n in reversed(range(terms)))
    square = 1 / (above * above)
    found = m.log(above) - 0.5 / above
    found = found - square * _polynomial(m, square, series) - total
    away = x + abs(m.floor(x + 0.5))
    found = m.where(reflects, found - math.pi / m.tan(math.pi * away), found)
    return m.where((x <= 0) & (x == m.floor(x)), math.nan, found)


def zeta(m: Any, x: Any, q: Any) -> Any:
    """The sum of (q + n)^-x: ten terms, and the sum of the rest by Euler and Maclaurin."""
    terms = 7 if _is_double(x) else 4
    total, above = m.zeros_like(q), q
    for _ in range(10):
        total = total + above ** (-x)
        above = above + 1
    power = above ** (-x)
    rest = above / (x - 1) + 0.5
    inverse = 1 / above
    factor = x * inverse  # x (x + 1) … (x + 2n) / above^(2n + 1)
    for n in range(terms):
        rest = rest + (_BERNOULLI[n] / math.factorial(2 * n + 2)) * factor
        factor = factor * ((x + (2 * n + 1)) * inverse) * ((x + (2 * n + 2)) * inverse)
    found = total + power * rest
    whole, below = q == m.floor(q), q <= 0
    undefined = (x < 1) | (below & (x != m.floor(x)))
    found = m.where(undefined, math.nan, found)
    pole = m.where(m.fmod(x, m.full_like(x, 2)) == 0, math.inf, math.nan)
    return m.where(x == 1, math.inf, m.where(below & whole, pole, found))


def polygamma(m: Any, n: Any, x: Any) -> Any:
    """The n-th derivative of digamma: (-1)^(n + 1) · n! · zeta(n + 1, x)."""
    sign = 2 * m.fmod(n, m.full_like(n, 2)) - 1
    higher = sign * m.exp(lgamma(m, n + 1)) * zeta(m, n + 1, x)
    found = m.where(n == 0, digamma(m, x), higher)
    return m.where((n < 0) | (n != m.floor(n)), math.nan, found)
