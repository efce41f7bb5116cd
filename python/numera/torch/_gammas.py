# SPDX-License-Identifier: MIT
"""The gamma function and its kin, and the inverse of the error function, as JAX's are
composed (`numera._gammas`)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from numera import _gammas, _quantiles

aten = torch.ops.aten

__all__ = ["TABLE"]


def _float(x: Tensor) -> Tensor:
    return x if x.is_floating_point() else x.to(torch.get_default_dtype())


def lgamma(self: Tensor) -> Tensor:
    found: Tensor = _gammas.lgamma(torch, _float(self))
    return found


def digamma(self: Tensor) -> Tensor:
    """Of zero, as in eager mode, an infinity of the other sign."""
    x = _float(self)
    found: Tensor = _gammas.digamma(torch, x)
    return torch.where(x == 0, -1 / x, found)


def polygamma(n: int, self: Tensor) -> Tensor:
    x = _float(self)
    if n == 0:
        return digamma(x)
    found: Tensor = _gammas.polygamma(torch, torch.full_like(x, float(n)), x)
    return found


def zeta(self: Any, other: Any) -> Tensor:
    like = self if isinstance(self, Tensor) else other
    kind = torch.result_type(self, other)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    x, q = (
        each.to(kind)
        if isinstance(each, Tensor)
        else torch.full_like(like, float(each), dtype=kind)
        for each in (self, other)
    )
    x, q = torch.broadcast_tensors(x, q)
    found: Tensor = _gammas.zeta(torch, x, q)
    return found


def erfinv(self: Tensor) -> Tensor:
    found: Tensor = _quantiles.erf_inv(torch, torch.erf, _float(self))
    return found


TABLE: dict[Any, Any] = {
    aten.lgamma.default: lgamma,
    aten.digamma.default: digamma,
    aten.polygamma.default: polygamma,
    aten.special_zeta.default: zeta,
    aten.special_zeta.self_scalar: zeta,
    aten.special_zeta.other_scalar: zeta,
    aten.erfinv.default: erfinv,
}
