# SPDX-License-Identifier: MIT
"""The normal distribution, orthogonal polynomials, and parts of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from numera._bessel import chebyshev

aten = torch.ops.aten

__all__ = ["TABLE"]


def _float(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


# ---- the normal distribution ------------------------------------------------

_ERFCX = (
    *(8.234608873e-08, -1.429760825e-07, -1.515466555e-06, 5.442441645e-06),
    *(3.278031574e-05, -0.0001607582992, -0.001112844743, 0.003671142396),
    *(0.06509515883, 0.3554369213, 1.154067477),
)
"""Chebyshev's series of erfc(x) · exp(x²) / t, where t = 2 / (2 + x), in f32."""

_QUANTILE = (
    (
        *(-5.99633501014107895267e1, 9.80010754185999661536e1),
        *(-5.66762857469070293439e1, 1.39312609387279679503e1),
        -1.23916583867381258016e0,
    ),
    (
        *(1.0, 1.95448858338141759834e0, 4.67627912898881538453e0),
        *(8.63602421390890590575e1, -2.25462687854119370527e2),
        *(2.00260212380060660359e2, -8.20372256168333339912e1),
        *(1.59056225126211695515e1, -1.18331621121330003142e0),
    ),
)
_BEFORE = (
    (
        *(4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1),
        *(4.40805073893200834700e1, 1.46849561928858024014e1, 2.18663306850790267539e0),
        *(-1.40256079171354495875e-1, -3.50424626827848203418e-2),
        -8.57456785154685413611e-4,
    ),
    (
        *(1.0, 1.57799883256466749731e1, 4.53907635128879210584e1),
        *(4.13172038254672030440e1, 1.50425385692907503408e1, 2.50464946208309415979e0),
        *(-1.42182922854787788574e-1, -3.80806407691578277194e-2),
        -9.33259480895457427372e-4,
    ),
)
_TAIL = (
    (
        *(3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0),
        *(1.33303460815807542389e0, 2.01485389549179081538e-1),
        *(1.23716634817820021358e-2, 3.01581553508235416007e-4),
        *(2.65806974686737550832e-6, 6.23974539184983651783e-9),
    ),
    (
        *(1.0, 6.02427039364742014255e0, 3.67983563856160859403e0),
        *(1.37702099489081330271e0, 2.16236993594496635890e-1),
        *(1.34204006088543189037e-2, 3.28014464682127739104e-4),
        *(2.89247864745380683936e-6, 6.79019408009981274425e-9),
    ),
)
"""Quotients of polynomials, the highest power first, of Cephes (Moshier, ndtri): in the
middle, and before and behind 8."""


def _quotient(x: Tensor, parts: tuple[tuple[float, ...], ...]) -> Tensor:
    values = []
    for coefficients in parts:
        value = torch.full_like(x, coefficients[0])
        for each in coefficients[1:]:
            value = value * x + each
        values.append(value)
    return values[0] / values[1]


def ndtri(self: Tensor) -> Tensor:
    """Where the normal distribution has a share of itself before it."""
    p = _float(self)
    edge = math.exp(-2)
    isabove = p > 1 - edge
    low = torch.where(isabove, 1 - p, p)
    iscentral = low > edge
    half = torch.where(iscentral, low - 0.5, 0.0)
    square = half * half
    middle = half + half * (square * _quotient(square, _QUANTILE))
    root = torch.sqrt(-2 * torch.log(torch.where(iscentral | (low <= 0), 0.1, low)))
    inverse = 1 / root
    rest = torch.where(root < 8, _quotient(inverse, _BEFORE), _quotient(inverse, _TAIL))
    tail = root - torch.log(root) / root - inverse * rest
    tail = torch.where(isabove, tail, -tail)
    found = torch.where(iscentral, middle * math.sqrt(2 * math.pi), tail)
    found = torch.where(p == 0, -math.inf, torch.where(p == 1, math.inf, found))
    return torch.where((p >= 0) & (p <= 1), found, math.nan)


def erfcx(self: Tensor) -> Tensor:
    """erfc(x) · exp(x²)."""
    x = _float(self)
    if x.dtype == torch.float64:
        return NotImplemented
    size = x.abs()
    t = 2 / (2 + size)
    found = t * chebyshev(torch, 4 * t - 2, _ERFCX)
    return torch.where(x < 0, 2 * torch.exp(x * x) - found, found)


def log_ndtr(self: Tensor) -> Tensor:
    x = _float(self)
    if x.dtype == torch.float64:
        return NotImplemented
    root = math.sqrt(0.5)
    below = torch.where(x < -1, x, -1.0)
    tail = torch.log(erfcx(-below * root) / 2) - below * below / 2
    near = torch.where(x < -1, -1.0, x)
    return torch.where(x < -1, tail, torch.log1p(-torch.erfc(near * root) / 2))


def normal(mean: Any, std: Any = 1.0, generator: Any = None) -> Tensor:
    """Numbers that PyTorch draws, by their mean and deviation."""
    if generator is not None:
        return NotImplemented
    like = mean if isinstance(mean, Tensor) else std
    if isinstance(mean, Tensor) and isinstance(std, Tensor):
        like = torch.broadcast_tensors(mean, std)[0]
    return torch.randn_like(like) * std + mean


# ---- polynomials ------------------------------------------------------------

_MOST = 64
"""A graph has each step."""

Step = Callable[[int, Tensor, Tensor, Tensor], Tensor]
"""The next polynomial, of a number, by its own, x, and the two before."""


def _polynomial(first: Callable[[Tensor], Tensor], step: Step) -> Any:
    def made(x: Tensor, n: Any) -> Tensor:
        x = _float(x)
        if isinstance(n, Tensor) or n > _MOST:
            return NotImplemented
        if n < 0:
            return torch.zeros_like(x)
        before, now = torch.ones_like(x), first(x)
        for k in range(2, int(n) + 1):
            before, now = now, step(k, x, now, before)
        return now if int(n) else before

    return made


def _twice(k: int, x: Tensor, now: Tensor, before: Tensor) -> Tensor:
    return 2 * x * now - before


_POLYNOMIALS: dict[str, tuple[Callable[[Tensor], Tensor], Step]] = {
    "chebyshev_polynomial_t": (lambda x: x.clone(), _twice),
    "chebyshev_polynomial_u": (lambda x: 2 * x, _twice),
    "chebyshev_polynomial_v": (lambda x: 2 * x - 1, _twice),
    "chebyshev_polynomial_w": (lambda x: 2 * x + 1, _twice),
    "hermite_polynomial_h": (
        lambda x: 2 * x,
        lambda k, x, now, before: 2 * (x * now - (k - 1) * before),
    ),
    "hermite_polynomial_he": (
        lambda x: x.clone(),
        lambda k, x, now, before: x * now - (k - 1) * before,
    ),
    "laguerre_polynomial_l": (
        lambda x: 1 - x,
        lambda k, x, now, before: ((2 * k - 1 - x) * now - (k - 1) * before) / k,
    ),
    "legendre_polynomial_p": (
        lambda x: x.clone(),
        lambda k, x, now, before: ((2 * k - 1) * x * now - (k - 1) * before) / k,
    ),
}


# ---- parts of numbers -------------------------------------------------------


def frexp(self: Tensor) -> Any:
    """By a logarithm, which may be next to the exponent."""
    none = (self == 0) | ~self.isfinite()
    safe = torch.where(none, 1.0, self)
    exponent = torch.floor(torch.log2(safe.abs())) + 1
    half = torch.floor(exponent / 2)  # no power that is not a number
    part = safe * torch.exp2(-half) * torch.exp2(half - exponent)
    large, small = part.abs() >= 1, part.abs() < 0.5
    part = torch.where(large, part * 0.5, torch.where(small, part * 2, part))
    more = large.to(torch.int32) - small.to(torch.int32)
    exponent = torch.where(none, 0, exponent.to(torch.int32) + more)
    return torch.where(none, self, part), exponent.to(torch.int32)


TABLE: dict[Any, Any] = {
    aten.special_ndtri.default: ndtri,
    aten.special_erfcx.default: erfcx,
    aten.special_log_ndtr.default: log_ndtr,
    aten.frexp.Tensor: frexp,
    aten.normal.Tensor_float: normal,
    aten.normal.float_Tensor: normal,
    aten.normal.Tensor_Tensor: normal,
    **{
        getattr(aten, f"special_{name}").n_scalar: _polynomial(*parts)
        for name, parts in _POLYNOMIALS.items()
    },
}
