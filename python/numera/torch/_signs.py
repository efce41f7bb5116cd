# SPDX-License-Identifier: MIT
"""Signs, truths and sizes of elements, by operators that torch-mlir has."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE"]


def signbit(self: Tensor) -> Tensor:
    """Of floats by the angle to a negative number: -0 has one of -π."""
    if not self.is_floating_point():
        return self < 0 if self.dtype != torch.bool else torch.zeros_like(self)
    return torch.atan2(self, torch.full_like(self, -1.0)) < 0


def neg(self: Tensor) -> Tensor:
    """Of integers by a product: torch-mlir has floats alone."""
    if self.is_floating_point() or self.is_complex():
        return NotImplemented
    return self * -1


def copysign(self: Tensor, other: Any) -> Tensor:
    kind = torch.result_type(self, other)
    kind = kind if kind.is_floating_point else torch.get_default_dtype()
    if not isinstance(other, Tensor):
        size = self.to(kind).abs()
        return -size if math.copysign(1, other) < 0 else size
    size, other = self.to(kind).abs(), other.to(kind)
    return torch.where(signbit(other), -size, size)


def angle(self: Tensor) -> Tensor:
    if self.is_complex():
        return NotImplemented
    if not self.is_floating_point():
        self = self.to(torch.get_default_dtype())
    turned = torch.where(self < 0, math.pi, 0.0).to(self.dtype)
    return torch.where(self.isnan(), self, turned)


def _truth(value: Tensor) -> Tensor:
    return value if value.dtype == torch.bool else value != 0


def logical_not(self: Tensor) -> Tensor:
    return NotImplemented if self.dtype == torch.bool else self == 0


def logical_and(self: Tensor, other: Tensor) -> Tensor:
    return _truth(self) & _truth(other)


def logical_or(self: Tensor, other: Tensor) -> Tensor:
    return _truth(self) | _truth(other)


def logical_xor(self: Tensor, other: Tensor) -> Tensor:
    return _truth(self) ^ _truth(other)


def _with_number(operator: Any) -> Any:
    def made(self: Tensor, other: Any) -> Tensor:
        kind = torch.result_type(self, other)
        return operator(self.to(kind), torch.full_like(self, other, dtype=kind))

    return made


def zeros(size: Any, **options: Any) -> Tensor:
    options.pop("layout", None)
    return torch.zeros(size, **options)


def fill(self: Tensor, value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.to(self.dtype).expand(self.shape).clone()
    return torch.full_like(self, value)


TABLE: dict[Any, Any] = {
    aten.neg.default: neg,
    aten.signbit.default: signbit,
    aten.copysign.Tensor: copysign,
    aten.copysign.Scalar: copysign,
    aten.angle.default: angle,
    aten.logical_not.default: logical_not,
    aten.logical_and.default: logical_and,
    aten.logical_or.default: logical_or,
    aten.logical_xor.default: logical_xor,
    aten.bitwise_and.Scalar: _with_number(torch.bitwise_and),
    aten.bitwise_or.Scalar: _with_number(torch.bitwise_or),
    aten.bitwise_xor.Scalar: _with_number(torch.bitwise_xor),
    aten.__lshift__.Scalar: _with_number(torch.bitwise_left_shift),
    aten.__rshift__.Scalar: _with_number(torch.bitwise_right_shift),
    aten.__lshift__.Tensor: torch.bitwise_left_shift,
    aten.__rshift__.Tensor: torch.bitwise_right_shift,
    aten._efficientzerotensor.default: zeros,
    aten.fill.Scalar: fill,
    aten.fill.Tensor: fill,
}
