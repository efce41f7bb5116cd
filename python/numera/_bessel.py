# SPDX-License-Identifier: MIT
"""The modified Bessel functions of order 0 and 1, times exp(-|x|).

In f32 Chebyshev's series, those of order 1 from Cephes (Moshier, i1f), up to 8 and
beyond. In f64 up to 30 the series of powers, whose terms have one sign, and beyond the
one for large numbers. Source: Abramowitz and Stegun, 9.6.10 and 9.7.1.

Each function takes the module of its arrays or tensors, `jax.numpy` or `torch`.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["chebyshev", "i0e", "i1e"]

_I0_NEAR = (
    *(-1.300025021e-08, 6.046994994e-08, -2.670793851e-07, 1.117387539e-06),
    *(-4.416738359e-06, 1.644844807e-05, -5.75419501e-05, 0.0001885028851),
    *(-0.0005763755745, 0.001639475617, -0.004324309995, 0.01054646039),
    *(-0.02373741481, 0.04930528424, -0.09490109705, 0.1716209015),
    *(-0.3046826723, 0.6767952744),
)
_I0_FAR = (
    *(2.266668989e-08, 2.048918589e-07, 2.891370521e-06, 6.889758347e-05),
    *(0.003369116478, 0.804490411),
)
_I1_NEAR = (
    *(9.38153738649577178388e-9, -4.44505912879632808065e-8, 2.00329475355213526229e-7),
    *(-8.56872026469545474066e-7, 3.47025130813767847674e-6),
    *(-1.32731636560394358279e-5, 4.78156510755005422638e-5),
    *(-1.61760815825896745588e-4, 5.12285956168575772895e-4),
    *(-1.51357245063125314899e-3, 4.15642294431288815669e-3),
    *(-1.05640848946261981558e-2, 2.47264490306265168283e-2),
    *(-5.29459812080949914269e-2, 1.02643658689847095384e-1),
    *(-1.76416518357834055153e-1, 2.52587186443633654823e-1),
)
_I1_FAR = (
    *(-3.83538038596423702205e-9, -2.63146884688951950684e-8),
    *(-2.51223623787020892529e-7, -3.88256480887769039346e-6),
    *(-1.10588938762623716291e-4, -9.76109749136146840777e-3),
    7.78576235018280120474e-1,
)
_EDGE = 30
"""Where the second series in f64 begins."""


def i0e(m: Any, x: Any) -> Any:
    size = abs(x)
    if x.dtype.itemsize == 8:
        return _of_f64(m, size, 0)
    near = m.where(size <= 8, size, 8.0)
    far = m.where(size <= 8, 8.0, size)
    return m.where(
        size <= 8,
        chebyshev(m, near / 2 - 2, _I0_NEAR),
        chebyshev(m, 32 / far - 2, _I0_FAR) / m.sqrt(far),
    )


def i1e(m: Any, x: Any) -> Any:
    size = abs(x)
    found = _of_f64(m, size, 1) if x.dtype.itemsize == 8 else _i1_of_f32(m, size)
    return m.where(x < 0, -found, found)


def chebyshev(m: Any, x: Any, coefficients: tuple[float, ...]) -> Any:
    """Clenshaw's recurrence of twice the argument, of half the first coefficient,
    which comes last."""
    now, before, last = m.zeros_like(x), m.zeros_like(x), m.zeros_like(x)
    for each in coefficients:
        now, before, last = x * now - before + each, now, before
    return 0.5 * (now - last)


def _i1_of_f32(m: Any, x: Any) -> Any:
    near = m.where(x <= 8, x, 8.0)
    far = m.where(x <= 8, 8.0, x)
    return m.where(
        x <= 8,
        near * chebyshev(m, near / 2 - 2, _I1_NEAR),
        chebyshev(m, 32 / far - 2, _I1_FAR) / m.sqrt(far),
    )


def _of_f64(m: Any, x: Any, order: int) -> Any:
    near = m.where(x <= _EDGE, x, float(_EDGE))
    far = m.where(x <= _EDGE, float(_EDGE), x)
    quarter = near * near / 4
    series = m.ones_like(x)
    for k in range(75, 0, -1):
        series = 1 + series * quarter / (k * (k + order))
    if order:
        series = series * (near / 2)
    late = m.ones_like(x)
    for k in range(24, 0, -1):
        late = 1 - late * (4 * order - (2 * k - 1) ** 2) / (8 * k * far)
    return m.where(
        x <= _EDGE,
        m.exp(-near) * series,
        late / m.sqrt(2 * math.pi * far),
    )
