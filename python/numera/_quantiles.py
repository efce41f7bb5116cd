# SPDX-License-Identifier: MIT
"""The inverse of the error function."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

__all__ = ["erf_inv"]

_CENTRAL = (
    *(2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06),
    *(0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
)
_TAIL = (
    *(-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844),
    *(0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)


def erf_inv(m: Any, erf: Callable[[Any], Any], x: Any) -> Any:
    """Giles, Approximating the erfinv function (GPU Computing Gems, 2012), as XLA has
    it for f32; of f64 two steps of Newton's follow.

    m  the module of x, `jax.numpy` or `torch`.
    """
    w = -m.log1p(-(x * x))
    central = w < 5
    w = m.where(central, w - 2.5, m.sqrt(w) - 3)
    p = 0.0
    for near, far in zip(_CENTRAL, _TAIL):
        chosen = m.where(central, m.full_like(x, near), m.full_like(x, far))
        p = chosen if near == _CENTRAL[0] else chosen + p * w
    y = p * x
    if x.dtype.itemsize == 8:
        for _ in range(2):
            y = y - (erf(y) - x) * (0.886226925452758 * m.exp(y * y))
    return m.where(abs(x) == 1, x * math.inf, y)
