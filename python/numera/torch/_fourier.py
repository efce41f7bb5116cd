# SPDX-License-Identifier: MIT
"""Fourier transforms of pairs: one product with cosines and sines along each dimension
(`numera._fourier`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from numera import _fourier
from numera.torch._pairs import Pair, Refused, pair

aten = torch.ops.aten

__all__ = ["RULES", "TABLE"]

Constant = Callable[[Any, torch.dtype], Tensor]
"""Makes a tensor that the graph holds, of NumPy's numbers."""


def _divisor(size: int, normalization: int) -> float:
    """Its share of what PyTorch divides by: nothing, the root of the number of points,
    or that number."""
    return (1.0, math.sqrt(size), float(size))[normalization]


def _product(
    parts: Sequence[Tensor],
    axis: int,
    matrix: Callable[..., Any],
    constant: Constant,
) -> Tensor:
    """What stands beside each other along an axis, then the last, times a matrix."""
    dtype = parts[0].dtype

    def array(numbers: Any) -> Tensor:
        return constant(numbers, dtype)

    made = matrix(is_real=len(parts) == 1, module=torch, array=array)
    if not isinstance(made, Tensor):
        made = array(made)
    moved = [each.movedim(axis, -1) for each in parts]
    beside = torch.cat(moved, -1) if len(moved) > 1 else moved[0]
    *outer, size = beside.shape
    product = torch.mm(beside.reshape(-1, size), made)
    return product.reshape(*outer, made.shape[1])


def _sized(size: int) -> int:
    if size > _fourier.LONGEST:
        raise Refused(
            f"a transform of {size} points, expected {_fourier.LONGEST} at most"
        )
    return size


def _along(
    x: Pair,
    axis: int,
    normalization: int,
    constant: Constant,
    inverse: bool,
    count: int | None = None,
) -> Pair:
    """The transform along a dimension; all its results, or so many."""
    size = _sized(x.real.shape[axis])
    count = size if count is None else count
    matrix = functools.partial(
        _fourier.matrix,
        size,
        count,
        inverse=inverse,
        divisor=_divisor(size, normalization),
    )
    both = _product(x.parts(), axis, matrix, constant)
    halves = both[..., :count], both[..., count:]
    return Pair(*(each.movedim(-1, axis) for each in halves))


def c2c(
    constant: Constant, self: Any, dim: Sequence[int], normalization: int, forward: bool
) -> Pair:
    x = pair(self)
    for axis in dim:
        x = _along(x, axis, normalization, constant, not forward)
    return x


def r2c(
    constant: Constant,
    self: Tensor,
    dim: Sequence[int],
    normalization: int,
    onesided: bool,
) -> Pair:
    *rest, last = dim
    size = self.shape[last]
    count = size // 2 + 1 if onesided else size
    x = _along(Pair(self, None), last, normalization, constant, False, count)
    return c2c(constant, x, rest, normalization, True)


def c2r(
    constant: Constant,
    self: Any,
    dim: Sequence[int],
    normalization: int,
    last_dim_size: int,
) -> Tensor:
    *rest, last = dim
    size = _sized(last_dim_size)
    x = c2c(constant, self, rest, normalization, False)
    matrix = functools.partial(
        _fourier.real_matrix, size, divisor=_divisor(size, normalization)
    )
    half = [each.narrow(last, 0, size // 2 + 1) for each in x.parts()]
    return _product(half, last, matrix, constant).movedim(-1, last)


RULES: dict[Any, Callable[..., Any]] = {
    aten._fft_c2c: c2c,
    aten._fft_r2c: r2c,
    aten._fft_c2r: c2r,
}
"""By operator. The first argument makes constants."""


# ---- frequencies ------------------------------------------------------------


def fftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    options.pop("layout", None)
    places = torch.arange(n, **options)
    return torch.where(places < (n + 1) // 2, places, places - n) / (n * d)


def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Tensor:
    options.pop("layout", None)
    return torch.arange(n // 2 + 1, **options) / (n * d)


TABLE: dict[Any, Any] = {
    aten.fft_fftfreq.default: fftfreq,
    aten.fft_rfftfreq.default: rfftfreq,
}
