# SPDX-License-Identifier: MIT
"""Elementwise operators as eager mode computes them, in the model's own type."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import guard_or_false

aten = torch.ops.aten

__all__ = ["TABLE"]


def _like(value: Any, like: Tensor) -> Tensor:
    """A number as a tensor of the type that it has beside another."""
    if isinstance(value, Tensor):
        return value
    return like.new_full([], value, dtype=torch.result_type(like, value))


# ---- what kind of number it is ----------------------------------------------


def equal(self: Tensor, other: Any) -> Tensor:
    """NaN equals nothing. In torch-mlir's comparison it does."""
    if not self.is_floating_point() and not (
        isinstance(other, Tensor) and other.is_floating_point()
    ):
        return NotImplemented
    return ~(self != other)


def isnan(self: Tensor) -> Tensor:
    """That of posits and takums is equal to itself, and less than every number."""
    if not self.is_floating_point():
        return torch.zeros_like(self, dtype=torch.bool)
    return (self != self) | ((self - self) < 0)  # noqa: PLR0124


def isfinite(self: Tensor) -> Tensor:
    """x - x is NaN for infinities and NaN. Formats without infinities have no
    constant to compare with."""
    if not self.is_floating_point():
        return torch.ones_like(self, dtype=torch.bool)
    return (self - self) == 0


def isinf(self: Tensor) -> Tensor:
    if not self.is_floating_point():
        return torch.zeros_like(self, dtype=torch.bool)
    return ~(self.isnan() | isfinite(self))


def isposinf(self: Tensor) -> Tensor:
    return isinf(self) & (self > 0)


def isneginf(self: Tensor) -> Tensor:
    return isinf(self) & (self < 0)


# ---- elements that a mask says ----------------------------------------------


def index_put(
    self: Tensor, indices: Any, values: Tensor, accumulate: bool = False
) -> Tensor:
    """Numbers where a mask is true: one, or one for each such element."""
    mask, *rest = indices
    if mask is None or rest or mask.dtype != torch.bool:
        alike = of_one_kind(indices)
        if alike is not None:
            return aten.index_put(self, alike, values, accumulate)
        return _put_apart(self, indices, values, accumulate)
    inner = self.shape[mask.dim() :]
    own = list(values.shape)[-len(inner) :] if inner else []
    values = values.to(self.dtype)
    if guard_or_false(values.numel() == torch.Size(own).numel()):
        values = values.reshape(own)
    else:
        # Which of the numbers it is, behind one that is never taken. With more or
        # fewer of them than elements, no such place is there: an error as it runs.
        count = values.shape[0]
        place = mask.reshape(-1).long().cumsum(0)
        place = place + (count - mask.sum()) * (count + 1)
        rows = aten.cat([values.new_zeros([1, *values.shape[1:]]), values])
        values = rows.index_select(0, place).reshape([*mask.shape, *rows.shape[1:]])
    mask = mask.reshape([*mask.shape, *[1] * len(inner)])
    return torch.where(mask, self + values if accumulate else values, self)


def of_one_kind(indices: Any) -> list[Tensor | None] | None:
    """Indices of several integer types as int64; none where they are of one."""
    kinds = {each.dtype for each in indices if each is not None}
    if len(kinds) < 2 or torch.bool in kinds or torch.uint8 in kinds:
        return None
    return [each if each is None else each.long() for each in indices]


def index(self: Tensor, indices: Any) -> Tensor:
    alike = of_one_kind(indices)
    return NotImplemented if alike is None else aten.index.Tensor(self, alike)


def _put_apart(self: Tensor, indices: Any, values: Tensor, accumulate: bool) -> Tensor:
    """Where a dimension without indices is between others that have some. Values have
    the dimensions of indices first, and then those that have none."""
    named = [axis for axis, each in enumerate(indices) if each is not None]
    given = [indices[axis] for axis in named]
    if named[-1] - named[0] == len(named) - 1 or any(
        each.dtype == torch.bool for each in given
    ):
        return NotImplemented
    free = [axis for axis in range(self.dim()) if axis not in named]
    order = [*named, *free]
    made = aten.index_put(self.permute(order), given, values, accumulate)
    return made.permute([order.index(axis) for axis in range(self.dim())])


def put(
    self: Tensor, index: Tensor, source: Tensor, accumulate: bool = False
) -> Tensor:
    """Indices are those of the tensor laid out in a row."""
    row, places = self.reshape(-1), index.reshape(-1)
    made = aten.index_put(row, [places], source.reshape(-1), accumulate)
    return made.view(self.shape)


def new_empty_strided(
    self: Tensor, size: Any, stride: Any, dtype: Any = None, **_: Any
) -> Tensor:
    """What a slice is assigned to in a backward pass; how it lies says nothing."""
    return self.new_zeros(size, dtype=dtype)


# ---- remainders and quotients -----------------------------------------------


def fmod(self: Tensor, other: Any) -> Tensor:
    return aten.fmod.Tensor(self, _like(other, self))


def remainder(self: Tensor, other: Any) -> Tensor:
    """What is left over, with the divisor's sign."""
    other = _like(other, self)
    if not (self.is_floating_point() and other.is_floating_point()):
        return NotImplemented
    rest = torch.fmod(self, other)
    turned = (rest != 0) & ((other < 0) != (rest < 0))
    return torch.where(turned, rest + other, rest)


def remainder_of_number(self: Any, other: Tensor) -> Tensor:
    return aten.remainder.Tensor(_like(self, other), other)


def floor_divide(self: Any, other: Any) -> Tensor:
    """What the remainder leaves, divided, which is a whole number but for rounding."""
    if not isinstance(self, Tensor):
        self = _like(self, other)
    other = _like(other, self)
    if not (self.is_floating_point() or other.is_floating_point()):
        left = self - torch.remainder(self, other)
        return aten.div.Tensor_mode(left, other, rounding_mode="trunc")
    self = self.to(torch.result_type(self, other))
    rest = torch.fmod(self, other)
    quotient = (self - rest) / other
    below = (rest != 0) & ((other < 0) != (rest < 0))
    quotient = torch.where(below, quotient - 1, quotient)
    floor = torch.floor(quotient)
    floor = torch.where(quotient - floor > 0.5, floor + 1, floor)
    return torch.where(other == 0, self / other, floor)


def div_mode(self: Any, other: Any, rounding_mode: str | None = None) -> Tensor:
    return floor_divide(self, other) if rounding_mode == "floor" else NotImplemented


# ---- numbers beside tensors -------------------------------------------------


def xlogy_of_number(self: Any, other: Tensor) -> Tensor:
    return aten.xlogy.Tensor(_like(self, other), other)


def shifted_left(self: Tensor, other: Any) -> Tensor:
    return aten.bitwise_left_shift.Tensor(self, _like(other, self))


def shifted_right(self: Tensor, other: Any) -> Tensor:
    return aten.bitwise_right_shift.Tensor(self, _like(other, self))


# ---- lengths ----------------------------------------------------------------


def hypot(self: Tensor, other: Tensor) -> Tensor:
    """The larger one times the root of 1 + (smaller / larger)², which overflows
    where the result does."""
    one, two = self.abs(), other.abs()
    high, low = torch.maximum(one, two), torch.minimum(one, two)
    share = torch.where(high == 0, 0.0, low / high)
    share = torch.where(high == low, (high != 0).to(high.dtype), share)
    length = high * torch.sqrt(1 + share * share)
    return torch.where(isinf(one), one, torch.where(isinf(two), two, length))


# ---- logarithms of sums -----------------------------------------------------


def _log_add(
    left: Tensor,
    right: Tensor,
    exp: Callable[..., Tensor],
    log1p: Callable[..., Tensor],
) -> Tensor:
    """max + log(1 + exp(min - max)), where equal infinities stay."""
    high, low = torch.maximum(left, right), torch.minimum(left, right)
    apart = torch.where(high == low, 0.0, low - high)
    return high + log1p(exp(apart))


def logaddexp(self: Tensor, other: Tensor) -> Tensor:
    return _log_add(self, other, torch.exp, torch.log1p)


def logcumsumexp(self: Tensor, dim: int) -> Tensor:
    return NotImplemented if self.dim() else self.clone()


def logaddexp2(self: Tensor, other: Tensor) -> Tensor:
    return _log_add(
        self, other, torch.exp2, lambda x: torch.log1p(x) * (1 / math.log(2))
    )


# ---- powers -----------------------------------------------------------------


def pow_scalar(base: Tensor, exponent: Any) -> Tensor:
    """The powers that are products and roots, as eager mode computes them. A number
    that a call decides makes a graph of its own."""
    if isinstance(exponent, torch.SymInt):
        exponent = int(exponent)
    elif isinstance(exponent, torch.SymFloat):
        exponent = float(exponent)
    kind = torch.result_type(base, exponent)
    if kind != base.dtype:
        return aten.pow.Tensor_Scalar(base.to(kind), exponent)
    if not base.is_floating_point():
        return _whole_power(base, exponent)
    if exponent in _POWERS:
        return _POWERS[exponent](base)
    if not float(exponent).is_integer():
        return NotImplemented
    return aten.pow.Tensor_Tensor(base, base.new_full([], float(exponent)))


def _whole_power(base: Tensor, exponent: int) -> Tensor:
    """A product for each bit of the exponent. (Eager mode refuses negative ones.)"""
    result, square = torch.ones_like(base), base
    while exponent > 0:
        if exponent & 1:
            result = result * square
        exponent >>= 1
        if exponent:
            square = square * square
    return result


_POWERS: dict[Any, Callable[[Tensor], Tensor]] = {
    0: torch.ones_like,
    0.5: torch.sqrt,
    -0.5: torch.rsqrt,
    1: lambda x: x.clone(),
    2: lambda x: x * x,
    3: lambda x: x * x * x,
    -1: torch.reciprocal,
    -2: lambda x: torch.reciprocal(x * x),
}


def pow_tensor(base: Tensor, exponent: Tensor) -> Tensor:
    """Of the result's type both, which whole numbers are for torch-mlir in f64."""
    kind = torch.result_type(base, exponent)
    if not kind.is_floating_point:
        return _whole_powers(base.to(kind), exponent.to(kind))
    if base.dtype == exponent.dtype:
        return NotImplemented
    return aten.pow.Tensor_Tensor(base.to(kind), exponent.to(kind))


def pow_of_number(base: Any, exponent: Tensor) -> Tensor:
    kind = torch.result_type(base, exponent)
    if kind.is_floating_point:
        return NotImplemented
    exponent = exponent.to(kind)
    if base == 2:  # a bit, where there is one
        bits = torch.iinfo(kind).bits
        inside = (exponent >= 0) & (exponent < bits)
        places = torch.where(inside, exponent, 0).to(kind)
        shifted = torch.bitwise_left_shift(torch.ones_like(exponent), places)
        return torch.where(inside, shifted, 0).to(kind)
    return _whole_powers(exponent.new_full([], base), exponent)


def _whole_powers(base: Tensor, exponent: Tensor) -> Tensor:
    """A product for each bit of the exponents, modulo the type's 2^n."""
    result, square = torch.ones_like(exponent), base
    for bit in range(torch.iinfo(exponent.dtype).bits - 1):
        taken = ((exponent >> bit) & 1) != 0
        result = torch.where(taken, result * square, result)
        square = square * square
    odd = (exponent & 1) != 0
    ones = torch.where((base == -1) & odd, -1, 1)
    inverse = torch.where((base == 1) | (base == -1), ones, 0)
    return torch.where(exponent < 0, inverse.to(result.dtype), result)


# ---- activations ------------------------------------------------------------


def gelu(self: Tensor, approximate: str = "none") -> Tensor:
    if approximate == "tanh":
        inner = math.sqrt(2 / math.pi) * (self + 0.044715 * (self * self * self))
        return 0.5 * self * (1 + torch.tanh(inner))
    return 0.5 * self * (1 + torch.erf(self * math.sqrt(0.5)))


def rrelu_with_noise_functional(
    self: Tensor,
    noise: Tensor,
    lower: float = 1 / 8,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """In training, how many numbers are drawn depends on the elements."""
    if training:
        noise = torch.ops.numera.slopes.default(self, lower, upper)
        return self * noise, noise
    return torch.where(self > 0, self, self * ((lower + upper) / 2)), noise


def rrelu_with_noise_backward(
    grad: Tensor,
    self: Tensor,
    noise: Tensor,
    lower: float,
    upper: float,
    training: bool,
    self_is_result: bool,
) -> Tensor:
    if training:
        return grad * noise
    return torch.where(self > 0, grad, grad * ((lower + upper) / 2))


TABLE: dict[Any, Any] = {
    aten.eq.Tensor: equal,
    aten.eq.Scalar: equal,
    aten.index.Tensor: index,
    aten.index_put.default: index_put,
    aten.new_empty_strided.default: new_empty_strided,
    aten.put.default: put,
    aten.isnan.default: isnan,
    aten.isfinite.default: isfinite,
    aten.isinf.default: isinf,
    aten.isposinf.default: isposinf,
    aten.isneginf.default: isneginf,
    aten.fmod.Scalar: fmod,
    aten.remainder.Tensor: remainder,
    aten.remainder.Scalar: remainder,
    aten.remainder.Scalar_Tensor: remainder_of_number,
    aten.xlogy.Scalar_Self: xlogy_of_number,
    aten.bitwise_left_shift.Tensor_Scalar: shifted_left,
    aten.bitwise_right_shift.Tensor_Scalar: shifted_right,
    aten.hypot.default: hypot,
    aten.floor_divide.default: floor_divide,
    aten.floor_divide.Scalar: floor_divide,
    aten.div.Tensor_mode: div_mode,
    aten.div.Scalar_mode: div_mode,
    aten.logaddexp.default: logaddexp,
    aten.logcumsumexp.default: logcumsumexp,
    aten.logaddexp2.default: logaddexp2,
    aten.pow.Tensor_Scalar: pow_scalar,
    aten.pow.Tensor_Tensor: pow_tensor,
    aten.pow.Scalar: pow_of_number,
    aten.gelu.default: gelu,
    aten.rrelu_with_noise_functional.default: rrelu_with_noise_functional,
    aten.rrelu_with_noise_backward.default: rrelu_with_noise_backward,
}
