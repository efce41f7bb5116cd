# SPDX-License-Identifier: MIT
"""Bessel functions of order 0 and 1. Of f64 there are those that have gradients, I.

Those without modification are Chebyshev's series in x² up to 8, beside a logarithm where
they have one; beyond, of P and Q, by which the sine and cosine of x are multiplied.
Source: Abramowitz and Stegun, 9.1.10 to 9.1.13, 9.2.5 to 9.2.10, 9.6.10 to 9.6.13.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from numera import _bessel
from numera._bessel import chebyshev

aten = torch.ops.aten

__all__ = ["TABLE"]

_J0 = (
    *(7.608163577e-08, -1.761946908e-06, 3.246032882e-05, -0.0004606261662),
    *(0.004819180069, -0.03489376941, 0.1580671023, -0.3700949939),
    *(0.2651786132, -0.008723442353, 0.315455943),
)
_J1 = (
    *(3.687133678e-09, -9.521984762e-08, 1.985877405e-06, -3.255554867e-05),
    *(0.0004050337728, -0.003646940601, 0.02221363965, -0.08268049177),
    *(0.1609992624, -0.1489751451, 0.1620896927),
)
_Y0 = (
    *(-1.10499698e-07, 2.429036111e-06, -4.199698315e-05, 0.000549852532),
    *(-0.005161397106, 0.03179907408, -0.1075515528, 0.09825508408),
    *(0.296049999, -0.2783237094, 0.07290939618),
)
_Y1 = (
    *(-5.483524112e-09, 1.350602691e-07, -2.661769513e-06, 4.06940027e-05),
    *(-0.000462725406, 0.003680607688, -0.01852588451, 0.04796745275),
    *(-0.02486770761, -0.08182561413, 0.0766015397),
)
_P0 = (*(-5.17059453e-08, 3.075184787e-06, -0.0005365220468, 1.998920699),)
_Q0 = (
    *(-5.817532735e-09, 1.43779658e-07, -5.931598729e-06, 0.0005470815954),
    *(-0.2488936736,),
)
_P1 = (*(6.17763397e-08, -3.987284301e-06, 0.0008989898331, 2.001806082),)
_Q1 = (
    *(6.583354621e-09, -1.67678251e-07, 7.310892206e-06, -0.0007702178839),
    *(0.7484445932,),
)
_K0_NEAR = (
    *(2.534791079e-07, 2.286212103e-05, 0.001264615411, 0.03597993652),
    *(0.3442898999, -0.5353273932),
)
_K1_NEAR = (
    *(-2.213387634e-08, -2.433406142e-06, -0.0001730288958, -0.00697572386),
    *(-0.1226111808, -0.3531559608, 1.525300227),
)
_K0_FAR = (
    *(-4.660489891e-08, 2.766813639e-07, -1.831755523e-06, 1.394981372e-05),
    *(-0.0001284954958, 0.001569883886, -0.03144810131, 2.440303082),
)
_K1_FAR = (
    *(5.741084126e-08, -3.501960604e-07, 2.406484948e-06, -1.936197974e-05),
    *(0.0001952155185, -0.00285781686, 0.1039237366, 2.72062619),
)


def _float(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


# ---- of the first and second kind -------------------------------------------


def _beyond(x: Tensor, order: int, is_second: bool) -> Tensor:
    """For 8 and more."""
    part = 256 / (x * x) - 2
    p = chebyshev(torch, part, (_P0, _P1)[order])
    q = chebyshev(torch, part, (_Q0, _Q1)[order]) / x
    sum, apart = torch.cos(x) + torch.sin(x), torch.sin(x) - torch.cos(x)
    if order:
        sum, apart = apart, -sum
    found = p * apart + q * sum if is_second else p * sum - q * apart
    return found * torch.rsqrt(math.pi * x)


def _first(x: Tensor, order: int) -> Tensor:
    """J of a number that is not negative."""
    near, far = x.clamp(max=8.0), x.clamp(min=8.0)
    series = chebyshev(torch, near * near / 16 - 2, (_J0, _J1)[order])
    series = near * series if order else series
    return torch.where(x <= 8, series, _beyond(far, order, False))


def _second(x: Tensor, order: int) -> Tensor:
    """Y, which negative numbers have none of."""
    near, far = x.clamp(max=8.0), x.clamp(min=8.0)
    part = near * near / 16 - 2
    series = chebyshev(torch, part, (_Y0, _Y1)[order])
    beside = chebyshev(torch, part, (_J0, _J1)[order])
    series = series + 2 / math.pi * torch.log(near / 2) * beside
    if order:
        series = near * series - 2 / (math.pi * near)
    found = torch.where(x <= 8, series, _beyond(far, order, True))
    return torch.where(x == 0, -math.inf, torch.where(x < 0, math.nan, found))


def _of_f32(function: Callable[[Tensor], Tensor]) -> Any:
    def made(self: Tensor) -> Tensor:
        x = _float(self)
        return NotImplemented if x.dtype == torch.float64 else function(x)

    return made


def _j1(x: Tensor) -> Tensor:
    found = _first(x.abs(), 1)
    return torch.where(x < 0, -found, found)


def spherical_j0(x: Tensor) -> Tensor:
    square = x * x
    series = 1 - square / 6 * (1 - square / 20 * (1 - square / 42))
    safe = torch.where(x == 0, 1.0, x)
    found = torch.where(x.abs() < 0.5, series, torch.sin(safe) / safe)
    return torch.where(x.isinf(), 0.0, found)


# ---- modified ---------------------------------------------------------------


def i0e(self: Tensor) -> Tensor:
    found: Tensor = _bessel.i0e(torch, _float(self))
    return found


def i1e(self: Tensor) -> Tensor:
    found: Tensor = _bessel.i1e(torch, _float(self))
    return found


def i0(self: Tensor) -> Tensor:
    """The power in two parts, which are numbers for as long as the result is one."""
    half = torch.exp(_float(self).abs() / 2)
    return i0e(self) * half * half


def i1(self: Tensor) -> Tensor:
    half = torch.exp(_float(self).abs() / 2)
    return i1e(self) * half * half


def _last(x: Tensor, order: int, is_scaled: bool) -> Tensor:
    """K, perhaps times exp(x)."""
    near, far = x.clamp(max=2.0), x.clamp(min=2.0)
    series = chebyshev(torch, near * near - 2, (_K0_NEAR, _K1_NEAR)[order])
    logarithm = torch.log(near / 2)
    if order:
        series = (series + near * logarithm * i1(near)) / near
    else:
        series = series - logarithm * i0(near)
    late = chebyshev(torch, 8 / far - 2, (_K0_FAR, _K1_FAR)[order])
    late = late * torch.rsqrt(far)
    if is_scaled:
        series = series * torch.exp(near)
    else:
        late = late * torch.exp(-far)
    found = torch.where(x <= 2, series, late)
    return torch.where(x == 0, math.inf, torch.where(x < 0, math.nan, found))


TABLE: dict[Any, Any] = {
    aten.special_bessel_j0.default: _of_f32(lambda x: _first(x.abs(), 0)),
    aten.special_bessel_j1.default: _of_f32(_j1),
    aten.special_bessel_y0.default: _of_f32(lambda x: _second(x, 0)),
    aten.special_bessel_y1.default: _of_f32(lambda x: _second(x, 1)),
    aten.special_spherical_bessel_j0.default: _of_f32(spherical_j0),
    aten.i0.default: i0,
    aten.special_i1.default: i1,
    aten.special_i0e.default: i0e,
    aten.special_i1e.default: i1e,
    aten.special_modified_bessel_i0.default: i0,
    aten.special_modified_bessel_i1.default: i1,
    aten.special_modified_bessel_k0.default: _of_f32(lambda x: _last(x, 0, False)),
    aten.special_modified_bessel_k1.default: _of_f32(lambda x: _last(x, 1, False)),
    aten.special_scaled_modified_bessel_k0.default: _of_f32(
        lambda x: _last(x, 0, True)
    ),
    aten.special_scaled_modified_bessel_k1.default: _of_f32(
        lambda x: _last(x, 1, True)
    ),
}
