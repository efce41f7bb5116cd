# SPDX-License-Identifier: MIT
"""Arithmetic, functions and products of complex tensors that are pairs (`_pairs`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from numera.torch._pairs import Pair, conjugate, pair, where

aten = torch.ops.aten

__all__ = ["RULES"]


# ---- arithmetic -------------------------------------------------------------


def _sum(a: Any, b: Any, sign: int = 1) -> Any:
    if b is None:
        return a
    if a is None:
        return b if sign > 0 else -b
    return a + b if sign > 0 else a - b


def add(self: Any, other: Any, *, alpha: Any = 1) -> Pair:
    (a, b), (c, d) = pair(self), multiply(other, alpha) if alpha != 1 else pair(other)
    return Pair(a + c, _sum(b, d))


def subtract(self: Any, other: Any, *, alpha: Any = 1) -> Pair:
    (a, b), (c, d) = pair(self), multiply(other, alpha) if alpha != 1 else pair(other)
    return Pair(a - c, _sum(b, d, -1))


def _reversed(self: Any, other: Any, *, alpha: Any = 1) -> Pair:
    return subtract(other, self, alpha=alpha)


def _bilinear(product: Callable[[Any, Any], Any], x: Any, y: Any) -> Pair:
    """ac - bd and ad + bc."""

    def of(first: Any, second: Any) -> Any:
        return None if first is None or second is None else product(first, second)

    (a, b), (c, d) = pair(x), pair(y)
    return Pair(_sum(of(a, c), of(b, d), -1), _sum(of(a, d), of(b, c)))


def multiply(self: Any, other: Any) -> Pair:
    return _bilinear(lambda x, y: x * y, self, other)


def divide(self: Any, other: Any) -> Pair:
    """Smith's algorithm, which divides by the larger part first."""
    (a, b), (c, d) = pair(self), pair(other)
    if d is None:
        return Pair(a / c, b if b is None else b / c)
    if not isinstance(c, Tensor):  # a number
        return _divided(Pair(a, b), c, d, abs(c) >= abs(d))
    first = c.abs() >= d.abs()
    large, small = torch.where(first, c, d), torch.where(first, d, c)
    if not isinstance(a, Tensor):
        a = torch.full_like(c, a)
        b = b if b is None else torch.full_like(c, b)
    b = torch.zeros_like(a) if b is None else b
    ratio = small / large
    divisor = large + small * ratio
    near, far = torch.where(first, a, b), torch.where(first, b, a)
    imaginary = far - near * ratio
    return Pair(
        (near + far * ratio) / divisor,
        torch.where(first, imaginary, -imaginary) / divisor,
    )


def _divided(x: Pair, c: float, d: float, first: bool) -> Pair:
    large, small = (c, d) if first else (d, c)
    ratio = small / large
    divisor = large + small * ratio
    near, far = x.both() if first else x.both()[::-1]
    imaginary = far - near * ratio
    return Pair(
        (near + far * ratio) / divisor, (imaginary if first else -imaginary) / divisor
    )


def _product(operator: Any) -> Callable[[Any, Any], Pair]:
    return lambda self, other: _bilinear(operator, self, other)


def _scaled(operator: Any) -> Callable[..., Pair]:
    """A product of matrices beside a sum."""

    def scaled(self: Any, one: Any, two: Any, *, beta: Any = 1, alpha: Any = 1) -> Pair:
        found = _bilinear(operator, one, two)
        if alpha != 1:
            found = multiply(found, alpha)
        if beta == 0:
            return found
        return add(found, self if beta == 1 else multiply(self, beta))

    return scaled


def _dot(self: Any, other: Any) -> Pair:
    a, b = multiply(self, other)
    return Pair(a.sum(), b if b is None else b.sum())


# ---- functions --------------------------------------------------------------


def absolute(self: Any) -> Tensor:
    a, b = pair(self)
    found: Tensor = a.abs() if b is None else torch.hypot(a, b)
    return found


def angle(self: Any) -> Tensor:
    a, b = pair(self).both()
    return torch.atan2(b, a)


def sign(self: Any) -> Pair:
    size = absolute(self)
    return divide(self, torch.where(size == 0, 1.0, size))


def exponential(self: Any) -> Pair:
    a, b = pair(self)
    size = a.exp()
    return Pair(size, None) if b is None else Pair(size * b.cos(), size * b.sin())


def logarithm(self: Any) -> Pair:
    return Pair(absolute(self).log(), angle(self))


def root(self: Any) -> Pair:
    """The part that adds two numbers of one sign, and the other from it."""
    a, b = pair(self).both()
    size = ((absolute(self) + a.abs()) * 0.5).sqrt()
    none = size == 0
    other = torch.where(none, 0.0, b.abs() / (torch.where(none, 1.0, size) * 2))
    first = a >= 0
    imaginary = torch.where(first, other, size)
    return Pair(torch.where(first, size, other), torch.copysign(imaginary, b))


def _power(self: Any, exponent: Any) -> Pair:
    """By the logarithm; 0 to the 0 is 1."""
    (a, b), none = pair(self), absolute(self) == 0
    base = Pair(torch.where(none, 1.0, a), b)
    found = exponential(multiply(logarithm(base), exponent))
    if isinstance(exponent, (Pair, Tensor)):
        return where(none, where(equal(exponent, 0), 1.0, 0.0), found)
    return where(none, 0.0, found)


def _power_of_number(self: Any, exponent: Any) -> Pair:
    like = pair(exponent).real
    parts = (
        each if each is None else torch.full_like(like, each) for each in pair(self)
    )
    return _power(Pair(*parts), exponent)


def power(self: Any, exponent: Any) -> Pair:
    """A product for each bit of a whole exponent, or a root."""
    if exponent == 0.5:
        return root(self)
    if isinstance(exponent, complex) or exponent % 1 or abs(exponent) > 64:
        return _power(self, exponent)
    if exponent < 0:
        return divide(1.0, power(self, -exponent))
    square, rest = pair(self), int(exponent)
    found = Pair(torch.ones_like(square.real), None)
    is_one = True
    while rest:
        if rest & 1:
            found, is_one = square if is_one else multiply(found, square), False
        rest >>= 1
        if rest:
            square = multiply(square, square)
    return found


def sine(self: Any) -> Pair:
    a, b = pair(self).both()
    return Pair(a.sin() * b.cosh(), a.cos() * b.sinh())


def cosine(self: Any) -> Pair:
    a, b = pair(self).both()
    return Pair(a.cos() * b.cosh(), -(a.sin() * b.sinh()))


def hyperbolic_sine(self: Any) -> Pair:
    a, b = pair(self).both()
    return Pair(a.sinh() * b.cos(), a.cosh() * b.sin())


def hyperbolic_cosine(self: Any) -> Pair:
    a, b = pair(self).both()
    return Pair(a.cosh() * b.cos(), a.sinh() * b.sin())


def hyperbolic_tangent(self: Any) -> Pair:
    """By that of the real part, which overflows nowhere."""
    a, b = pair(self).both()
    size, cosine = a.tanh(), b.cos()
    rest = 1 - size * size
    divisor = size * size + cosine * cosine * rest
    return Pair(size / divisor, b.sin() * cosine * rest / divisor)


def tangent(self: Any) -> Pair:
    """-i tanh(iz)."""
    a, b = pair(self).both()
    c, d = hyperbolic_tangent(Pair(-b, a))
    return Pair(d, -c)


def sigmoid(self: Any) -> Pair:
    return add(multiply(hyperbolic_tangent(multiply(self, 0.5)), 0.5), 0.5)


def equal(self: Any, other: Any) -> Tensor:
    (a, b), (c, d) = pair(self), pair(other)
    found: Tensor = a == c
    if b is None and d is None:
        return found
    return found & ((0 if b is None else b) == (0 if d is None else d))


def _any(function: Callable[[Tensor], Tensor]) -> Callable[[Pair], Tensor]:
    def found(self: Any) -> Tensor:
        a, b = pair(self)
        return function(a) if b is None else function(a) | function(b)

    return found


def _variance(self: Any, *args: Any, **kwargs: Any) -> Tensor:
    a, b = pair(self)
    found = torch.var(a, *args, **kwargs)
    return found if b is None else found + torch.var(b, *args, **kwargs)


def _norm(operator: Any) -> Callable[..., Tensor]:
    def norm(self: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        found: Tensor = operator(absolute(self), *args, **kwargs)
        return found

    return norm


RULES: dict[Any, Callable[..., Any]] = {
    aten.add: add,
    aten.sub: subtract,
    aten.rsub: _reversed,
    aten.mul: multiply,
    aten.div: divide,
    aten.reciprocal: lambda self: divide(1.0, self),
    aten.mm: _product(aten.mm.default),
    aten.bmm: _product(aten.bmm.default),
    aten.mv: _product(aten.mv.default),
    aten.dot: _dot,
    aten.vdot: lambda self, other: _dot(conjugate(self), other),
    aten.addmm: _scaled(aten.mm.default),
    aten.baddbmm: _scaled(aten.bmm.default),
    aten.addmv: _scaled(aten.mv.default),
    aten.abs: absolute,
    aten.angle: angle,
    aten.sgn: sign,
    aten.exp: exponential,
    aten.log: logarithm,
    aten.log2: lambda self: divide(logarithm(self), math.log(2)),
    aten.log10: lambda self: divide(logarithm(self), math.log(10)),
    aten.sqrt: root,
    aten.rsqrt: lambda self: divide(1.0, root(self)),
    aten.pow.Tensor_Scalar: power,
    aten.pow.Tensor_Tensor: _power,
    aten.pow.Scalar: _power_of_number,
    aten.sin: sine,
    aten.cos: cosine,
    aten.tan: tangent,
    aten.sinh: hyperbolic_sine,
    aten.cosh: hyperbolic_cosine,
    aten.tanh: hyperbolic_tangent,
    aten.sigmoid: sigmoid,
    aten.eq: equal,
    aten.ne: lambda self, other: ~equal(self, other),
    aten.isnan: _any(torch.isnan),
    aten.isinf: _any(torch.isinf),
    aten.isfinite: lambda self: ~_any(lambda x: ~torch.isfinite(x))(self),
    aten.var: _variance,
    aten.std: lambda *args, **kwargs: _variance(*args, **kwargs).sqrt(),
    aten.linalg_vector_norm: _norm(aten.linalg_vector_norm.default),
}
"""By operator, or overload."""
