# SPDX-License-Identifier: MIT
"""Complex tensors as pairs of real ones: what makes, moves and adds them.

    complex, polar, view_as_complex    a pair
    what moves numbers; sums, means    the same of both parts
    arithmetic, functions, products    `_complex_functions`
    transforms                         `_fourier`

An imaginary part that is None is zero everywhere; so is that of a real tensor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor

aten = torch.ops.aten
prims = torch.ops.prims

__all__ = [
    "HALVES",
    "MADE",
    "RULES",
    "Pair",
    "Refused",
    "conjugate",
    "halves",
    "in_memory",
    "made",
    "pair",
    "part_type",
    "where",
]


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
) | {prims.squeeze, aten.scatter.src}
"""Operators, or overloads, that are the same of both parts."""


_OF_VALUES = frozenset(
    getattr(aten, name)
    for name in (
        *("cat", "stack", "copy", "slice_scatter", "select_scatter"),
        "diagonal_scatter",
    )
)
"""Those whose tensors are all taken for elements, whole numbers too."""


def _map(function: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (list, tuple)) and not isinstance(value, Pair):
        return [_map(function, each) for each in value]
    return function(value)


_PARTS = {torch.complex64: torch.float32, torch.complex128: torch.float64}
"""The types of parts."""


def part_type(dtype: torch.dtype) -> torch.dtype:
    if dtype not in _PARTS:
        raise Refused(f"it has numbers of {dtype}, which no program has")
    return _PARTS[dtype]


def _real(value: Any) -> Any:
    if isinstance(value, Pair):
        return value.real
    return _PARTS.get(value, value) if isinstance(value, torch.dtype) else value


def _imaginary(value: Any) -> Any:
    if isinstance(value, Tensor) and value.is_floating_point():
        return torch.zeros_like(value)
    return value.both()[1] if isinstance(value, Pair) else _real(value)


def _imaginary_value(value: Any) -> Any:
    return torch.zeros_like(value) if isinstance(value, Tensor) else _imaginary(value)


def _zip(real: Any, imaginary: Any) -> Any:
    if isinstance(real, (list, tuple)):
        return [Pair(*each) for each in zip(real, imaginary)]
    return Pair(real, imaginary)


def in_memory(self: Pair) -> Pair:
    """Both parts as a whole lies in memory that has no gaps."""
    return Pair(*(each if each is None else each.contiguous() for each in self))


def halves(operator: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """The operator on real, and on imaginary parts."""
    are_values = operator.overloadpacket in _OF_VALUES
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
    return _zip(real, of(_imaginary_value if are_values else _imaginary))


# ---- made of numbers --------------------------------------------------------


def _zero(*_: Any, **__: Any) -> float:
    return 0.0


def _one(*_: Any, **__: Any) -> float:
    return 1.0


MADE: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys(
        (
            *(aten.zeros, aten.zeros_like, aten.new_zeros, aten.zero, aten.empty),
            *(aten.empty_like, aten.new_empty, aten.empty_strided, aten.empty_permuted),
            *(aten.new_empty_strided, aten._efficientzerotensor),
        ),
        _zero,
    ),
    **dict.fromkeys((aten.ones, aten.ones_like, aten.new_ones), _one),
    aten.full: lambda _, fill, **__: fill,
    aten.full_like: lambda _, fill, **__: fill,
    aten.new_full: lambda _, __, fill, **___: fill,
    aten.scalar_tensor: lambda value, **__: value,
}
"""Operators that fill a tensor, and with what."""


def made(operator: Any, args: Any, kwargs: dict[str, Any], like: Tensor) -> Pair:
    """A tensor that is filled."""
    a, b = pair(MADE[operator](*args, **kwargs))
    dtype = part_type(like.dtype)
    real = torch.full(like.shape, a, dtype=dtype)
    return Pair(real, b if b is None else torch.full(like.shape, b, dtype=dtype))


def _fill(self: Any, value: Any) -> Pair:
    like = pair(self).real
    return Pair(
        *(
            each if each is None else torch.zeros_like(like) + each
            for each in pair(value)
        )
    )


def _pad(self: Any, padding: Any, value: Any = 0) -> Pair:
    parts = [*pair(self)]
    numbers = pair(value)
    if numbers.imaginary is not None:
        parts = [*pair(self).both()]
    return Pair(
        *(
            each if each is None else aten.constant_pad_nd(each, padding, number or 0.0)
            for each, number in zip(parts, numbers)
        )
    )


def _scatter(self: Any, dim: int, index: Tensor, value: Any) -> Pair:
    parts, numbers = pair(self).both(), (value.real, value.imag)
    return Pair(
        *(
            aten.scatter.value(each, dim, index, number)
            for each, number in zip(parts, numbers)
        )
    )


# ---- parts, and pairs of them -----------------------------------------------


def conjugate(self: Any) -> Any:
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
    elif _PARTS.get(dtype) == self.dtype:
        return _from_real(self.unflatten(-1, (-1, 2)))
    raise Refused("the bits of its numbers are taken for others")


def _converted(self: Any, dtype: torch.dtype | None = None, **_: Any) -> Any:
    a, b = pair(self)
    if dtype is None:
        return self
    if dtype in _PARTS:
        return Pair(
            *(each if each is None else each.to(_PARTS[dtype]) for each in (a, b))
        )
    if dtype == torch.bool and b is not None:
        return (a != 0) | (b != 0)
    return a.to(dtype)


def _polar(abs: Tensor, angle: Tensor) -> Pair:
    return Pair(abs * angle.cos(), abs * angle.sin())


def where(condition: Tensor, self: Any, other: Any) -> Pair:
    (a, b), (c, d) = pair(self), pair(other)

    def chosen(first: Any, second: Any) -> Tensor:
        return torch.where(condition, first, second)

    if b is None and d is None:
        return Pair(chosen(a, c), None)
    return Pair(chosen(a, c), chosen(0.0 if b is None else b, 0.0 if d is None else d))


def _masked_fill(self: Any, mask: Tensor, value: Any) -> Pair:
    return where(mask, value, self)


RULES: dict[Any, Callable[..., Any]] = {
    aten.complex: Pair,
    aten.polar: _polar,
    aten.view_as_complex: _from_real,
    aten.view_as_real: _to_real,
    aten.view.dtype: _view_dtype,
    aten._conj: conjugate,
    aten._conj_physical: conjugate,
    aten.conj_physical: conjugate,
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
    aten.scatter.value: _scatter,
    aten.where: where,
    aten.masked_fill: _masked_fill,
}
"""By operator, or overload."""
