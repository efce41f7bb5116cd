# SPDX-License-Identifier: MIT
"""Operators on complex tensors as functions of pairs of real ones.

    complex, polar, view_as_complex    a pair
    what moves numbers; sums, means    the same of both parts
    products of matrices               four of them, a sum and a difference
    transforms                         `_fourier`

An imaginary part that is None is zero everywhere; so is that of a real tensor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

aten = torch.ops.aten
prims = torch.ops.prims

__all__ = ["HALVES", "MADE", "PART", "RULES", "Pair", "Refused", "halves", "made", "pair"]


class Refused(Exception):
    """Why a node has no counterpart."""


class Pair(NamedTuple):
    """A complex tensor."""

    real: Any
    imaginary: Any

    def parts(self) -> list[Any]:
        """Those that there are."""
        return list(self[: 1 if self.imaginary is None else 2])

    def both(self) -> tuple[Any, Any]:
        a, b = self
        return a, torch.zeros_like(a) if b is None else b


def pair(value: Any) -> Pair:
    """Of a pair, a real tensor or a number."""
    if isinstance(value, Pair):
        return value
    if isinstance(value, complex):
        return Pair(value.real, value.imag or None)
    return Pair(value, None)


# ---- the same of both parts -------------------------------------------------

HALVES = frozenset(
    getattr(aten, name)
    for name in (
        *("view", "_unsafe_view", "reshape", "permute", "transpose", "t", "unsqueeze"),
        *("squeeze", "expand", "slice", "select", "index", "gather", "index_select"),
        *("flip", "roll", "cat", "stack", "repeat", "diagonal", "tril", "triu"),
        *("slice_scatter", "select_scatter", "diagonal_scatter", "scatter_add"),
        *("index_put", "index_add", "split", "split_with_sizes", "unbind", "unfold"),
        *("slice_backward", "select_backward", "unfold_backward", "movedim"),
        *("sum", "mean", "cumsum", "neg", "copy", "trace", "diag_embed"),
        *("reflection_pad1d", "reflection_pad2d", "replication_pad1d"),
    )
) | {prims.squeeze}


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not isinstance(value, Pair):
        return [_map(function, each) for each in value]
    return function(value)


PART = {torch.complex64: torch.float32, torch.complex128: torch.float64}
"""The types of parts."""


def _real(value: Any) -> Any:
    if isinstance(value, Pair):
        return value.real
    return PART.get(value, value) if isinstance(value, torch.dtype) else value


def _imaginary(value: Any) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point():
        return torch.zeros_like(value)
    return value.both()[1] if isinstance(value, Pair) else _real(value)


def _zip(real: Any, imaginary: Any) -> Any:
    if isinstance(real, (list, tuple)):
        return [Pair(*each) for each in zip(real, imaginary)]
    return Pair(real, imaginary)


def halves(operator: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The operator on real, and on imaginary parts."""
    if operator in (aten.view.default, aten._unsafe_view.default):
        operator = torch.reshape  # a part may lie in memory as the whole does not
    found: list[Pair] = []
    _map(lambda each: found.append(each) if isinstance(each, Pair) else None, args)

    def of(part: Callable[[Any], Any]) -> Any:
        named = {key: _map(part, value) for key, value in kwargs.items()}
        return operator(*_map(part, args), **named)

    real = of(_real)
    if all(each.imaginary is None for each in found):
        return _map(lambda each: Pair(each, None), real)
    return _zip(real, of(_imaginary))


# ---- made of numbers --------------------------------------------------------

MADE: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys(
        getattr(aten, name)
        for name in (
            *("zeros", "zeros_like", "new_zeros", "empty", "empty_like", "new_empty"),
            *("empty_strided", "new_empty_strided", "_efficientzerotensor"),
        )
    ),
    **{getattr(aten, name): lambda *_, **__: 1 for name in ("ones", "ones_like")},
    aten.new_ones: lambda *_, **__: 1,
    aten.full: lambda _, fill, **__: fill,
    aten.full_like: lambda _, fill, **__: fill,
    aten.new_full: lambda _, __, fill, **___: fill,
    aten.scalar_tensor: lambda value, **__: value,
}  # type: ignore[arg-type]
"""Operators that fill a tensor, and with what; None: zero."""


def made(operator: Any, args: Any, kwargs: dict[str, Any], like: Tensor) -> Pair:
    """A tensor that is filled."""
    number = MADE[operator]
    a, b = pair(number(*args, **kwargs) if number else 0)
    dtype = PART[like.dtype]
    real = torch.full(like.shape, a, dtype=dtype)
    return Pair(real, b and torch.full(like.shape, b, dtype=dtype))


def _fill(self: Pair, value: Any) -> Pair:
    return Pair(
        *(
            each if each is None else torch.zeros_like(self.real) + each
            for each in pair(value)
        )
    )


def _pad(self: Pair, padding: Any, value: Any = 0) -> Pair:
    parts = [*pair(self)]
    numbers = pair(value)
    if numbers.imaginary is not None:
        parts = [*self.both()]
    return Pair(
        *(
            each if each is None else aten.constant_pad_nd(each, padding, number or 0.0)
            for each, number in zip(parts, numbers)
        )
    )


# ---- parts, and pairs of them -----------------------------------------------


def _conjugate(self: Any) -> Any:
    if isinstance(self, complex):
        return self.conjugate()
    a, b = pair(self)
    return Pair(a, b if b is None else -b)


def _same(self: Any, **_: Any) -> Any:
    return self


def _negative(self: Any) -> Any:
    if not isinstance(self, Pair):
        return -self
    return Pair(*(each if each is None else -each for each in self))


def _from_real(self: Tensor) -> Pair:
    return Pair(self.select(-1, 0), self.select(-1, 1))


def _to_real(self: Any) -> Tensor:
    return torch.stack(pair(self).both(), -1)


def _view_dtype(self: Any, dtype: torch.dtype) -> Any:
    """As bits of another type: two numbers for each, or one for two."""
    if isinstance(self, Pair):
        if dtype == self.real.dtype:
            return _to_real(self).flatten(-2)
    elif PART.get(dtype) == self.dtype:
        return _from_real(self.unflatten(-1, (-1, 2)))
    raise Refused("the bits of its numbers are taken for others")


def _converted(self: Any, dtype: torch.dtype | None = None, **_: Any) -> Any:
    a, b = pair(self)
    if dtype is None:
        return self
    if dtype in PART:
        return Pair(*(each if each is None else each.to(PART[dtype]) for each in (a, b)))
    if dtype == torch.bool and b is not None:
        return (a != 0) | (b != 0)
    return a.to(dtype)


def _polar(abs: Tensor, angle: Tensor) -> Pair:
    return Pair(abs * angle.cos(), abs * angle.sin())


def _where(condition: Tensor, self: Any, other: Any) -> Pair:
    (a, b), (c, d) = pair(self), pair(other)

    def chosen(first: Any, second: Any) -> Tensor:
        return torch.where(condition, first, second)

    if b is None and d is None:
        return Pair(chosen(a, c), None)
    return Pair(chosen(a, c), chosen(0.0 if b is None else b, 0.0 if d is None else d))


def _masked_fill(self: Any, mask: Tensor, value: Any) -> Pair:
    return _where(mask, value, self)


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
    a, b = self.both()
    return torch.atan2(b, a)


def sign(self: Any) -> Pair:
    size = absolute(self)
    none = size == 0
    safe = torch.where(none, 1.0, size)
    return Pair(*(each if each is None else each / safe for each in self))


def exponential(self: Pair) -> Pair:
    a, b = self
    size = a.exp()
    return Pair(size, None) if b is None else Pair(size * b.cos(), size * b.sin())


def logarithm(self: Pair) -> Pair:
    return Pair(absolute(self).log(), angle(self))


def root(self: Pair) -> Pair:
    """The part that adds two numbers of one sign, and the other from it."""
    a, b = self.both()
    size = ((absolute(self) + a.abs()) * 0.5).sqrt()
    none = size == 0
    other = torch.where(none, 0.0, b.abs() / (torch.where(none, 1.0, size) * 2))
    first = a >= 0
    imaginary = torch.where(first, other, size)
    return Pair(
        torch.where(first, size, other), torch.copysign(imaginary, b)
    )


def power(self: Pair, exponent: Any) -> Pair:
    """A product for each bit of a whole exponent; those of roots; of others by the
    logarithm."""
    if exponent == 0.5:
        return root(self)
    if isinstance(exponent, complex) or exponent != int(exponent) or exponent > 64:
        (a, b), none = self, absolute(self) == 0
        one = Pair(torch.where(none, 1.0, a), b)
        found = exponential(multiply(logarithm(one), exponent))
        return _where(none, 0.0, found)
    if exponent < 0:
        return divide(1.0, power(self, -exponent))
    found, square, rest = None, self, int(exponent)
    while rest:
        if rest & 1:
            found = square if found is None else multiply(found, square)
        rest >>= 1
        if rest:
            square = multiply(square, square)
    return Pair(torch.ones_like(self.real), None) if found is None else found


def sine(self: Pair) -> Pair:
    a, b = self.both()
    return Pair(a.sin() * b.cosh(), a.cos() * b.sinh())


def cosine(self: Pair) -> Pair:
    a, b = self.both()
    return Pair(a.cos() * b.cosh(), -(a.sin() * b.sinh()))


def equal(self: Any, other: Any) -> Tensor:
    (a, b), (c, d) = pair(self), pair(other)
    found: Tensor = a == c
    if b is None and d is None:
        return found
    return found & ((0 if b is None else b) == (0 if d is None else d))


def _any(function: Callable[[Tensor], Tensor]) -> Callable[[Pair], Tensor]:
    def found(self: Pair) -> Tensor:
        a, b = self
        return function(a) if b is None else function(a) | function(b)

    return found


def _norm(operator: Any) -> Callable[..., Tensor]:
    def norm(self: Any, *args: Any, dtype: Any = None, **kwargs: Any) -> Tensor:
        found: Tensor = operator(absolute(self), *args, **kwargs)
        return found

    return norm


RULES: dict[Any, Callable[..., Any]] = {
    aten.complex: Pair,
    aten.polar: _polar,
    aten.view_as_complex: _from_real,
    aten.view_as_real: _to_real,
    aten.view.dtype: _view_dtype,
    aten._conj: _conjugate,
    aten._conj_physical: _conjugate,
    aten.conj_physical: _conjugate,
    aten._neg_view: _negative,
    **dict.fromkeys(
        (
            *(aten.resolve_conj, aten.resolve_neg, aten.alias, aten.detach, aten.clone),
            *(aten.lift_fresh, aten.lift_fresh_copy, aten.contiguous),
        ),
        _same,
    ),
    prims.convert_element_type: _converted,
    aten._to_copy: _converted,
    aten.fill: _fill,
    aten.constant_pad_nd: _pad,
    aten.where: _where,
    aten.masked_fill: _masked_fill,
    aten.add: add,
    aten.sub: subtract,
    aten.rsub: _reversed,
    aten.mul: multiply,
    aten.div: divide,
    aten.mm: _product(aten.mm.default),
    aten.bmm: _product(aten.bmm.default),
    aten.mv: _product(aten.mv.default),
    aten.dot: _dot,
    aten.vdot: lambda self, other: _dot(_conjugate(self), other),
    aten.addmm: _scaled(aten.mm.default),
    aten.baddbmm: _scaled(aten.bmm.default),
    aten.addmv: _scaled(aten.mv.default),
    aten.abs: absolute,
    aten.angle: angle,
    aten.sgn: sign,
    aten.reciprocal: lambda self: divide(1.0, self),
    aten.exp: exponential,
    aten.log: logarithm,
    aten.sqrt: root,
    aten.rsqrt: lambda self: divide(1.0, root(self)),
    aten.pow.Tensor_Scalar: power,
    aten.sin: sine,
    aten.cos: cosine,
    aten.eq: equal,
    aten.ne: lambda self, other: ~equal(self, other),
    aten.isnan: _any(torch.isnan),
    aten.isinf: _any(torch.isinf),
    aten.isfinite: lambda self: ~_any(lambda x: ~torch.isfinite(x))(self),
    aten.linalg_vector_norm: _norm(aten.linalg_vector_norm.default),
}
"""By operator, or overload."""
