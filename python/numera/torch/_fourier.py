# SPDX-License-Identifier: MIT
"""Fourier transforms of pairs: one product with cosines and sines along each dimension
(`numera._fourier`)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from numera import _fourier
from numera.torch._pairs import Pair, Refused, pair

aten = torch.ops.aten

__all__ = ["RULES", "TABLE", "Site"]


class Site(NamedTuple):
    """Where a transform stands in a graph."""

    constant: Callable[[Any, torch.dtype], Tensor]
    """Makes a tensor that the graph holds, of NumPy's numbers."""
    reach: Callable[[int], int]
    """How many numbers along an axis are not known to be zero, from the first one."""
    wanted: Callable[[int], int]
    """How many results along an axis are read."""


def _divisor(size: int, normalization: int) -> float:
    """Its share of what PyTorch divides by: nothing, the root of the number of points,
    or that number."""
    return (1.0, math.sqrt(size), float(size))[normalization]


def _sized(size: int) -> int:
    if size > _fourier.LONGEST:
        raise Refused(
            f"a transform of {size} points, expected {_fourier.LONGEST} at most"
        )
    return size


def _narrowed(x: Pair, axis: int, count: int) -> Pair:
    """The first numbers along an axis."""
    if count == x.real.shape[axis]:
        return x
    return Pair(*(each if each is None else each.narrow(axis, 0, count) for each in x))


def _widened(x: Pair, axis: int, count: int) -> Pair:
    """With zeros behind them, which nothing reads."""
    missing = count - x.real.shape[axis]
    if missing == 0:
        return x
    padding = [0, 0] * (x.real.dim() - axis - 1) + [0, missing]
    return Pair(*(aten.constant_pad_nd(each, padding, 0.0) for each in x.both()))


def _product(
    x: Pair, axis: int, matrix: Callable[..., Any], constant: Callable[..., Tensor]
) -> Tensor:
    """What stands beside each other along an axis, then the last, times a matrix."""
    dtype = x.real.dtype

    def array(numbers: Any) -> Tensor:
        return constant(numbers, dtype)

    made = matrix(is_real=x.imaginary is None, module=torch, array=array)
    if not isinstance(made, Tensor):
        made = array(made)
    moved = [each.movedim(axis, -1) for each in x.parts()]
    beside = torch.cat(moved, -1) if len(moved) > 1 else moved[0]
    *outer, size = beside.shape
    product = torch.mm(beside.reshape(-1, size), made)
    return product.reshape(*outer, made.shape[1])


def _along(
    site: Site, x: Pair, axis: int, size: int, normalization: int, inverse: bool
) -> Pair:
    """What is read of a transform of so many numbers along an axis."""
    count = max(site.wanted(axis), 1)
    matrix = functools.partial(
        _fourier.matrix,
        _sized(size),
        count,
        inverse=inverse,
        divisor=_divisor(size, normalization),
        rows=x.real.shape[axis],
    )
    both = _product(x, axis, matrix, site.constant)
    halves = both[..., :count], both[..., count:]
    return Pair(*(each.movedim(-1, axis) for each in halves))


def _known(site: Site, x: Pair, dim: Sequence[int]) -> Pair:
    """What is not known to be zero."""
    for axis in dim:
        x = _narrowed(x, axis, max(site.reach(axis), 1))
    return x


def c2c(
    site: Site, self: Any, dim: Sequence[int], normalization: int, forward: bool
) -> Pair:
    dim = [axis % pair(self).real.dim() for axis in dim]
    sizes = pair(self).real.shape
    x = _known(site, pair(self), dim)
    for axis in dim:
        x = _along(site, x, axis, sizes[axis], normalization, not forward)
    for axis in dim:
        x = _widened(x, axis, sizes[axis])
    return x


def r2c(
    site: Site,
    self: Tensor,
    dim: Sequence[int],
    normalization: int,
    onesided: bool,
) -> Pair:
    dim = [axis % self.dim() for axis in dim]
    sizes, x = self.shape, Pair(self, None)
    for axis in dim[::-1]:
        x = _along(site, x, axis, sizes[axis], normalization, False)
    for axis in dim:
        half = onesided and axis == dim[-1]
        x = _widened(x, axis, sizes[axis] // 2 + 1 if half else sizes[axis])
    return x


def c2r(
    site: Site,
    self: Any,
    dim: Sequence[int],
    normalization: int,
    last_dim_size: int,
) -> Tensor:
    *rest, last = (axis % pair(self).real.dim() for axis in dim)
    sizes, size = pair(self).real.shape, _sized(last_dim_size)
    x = _narrowed(pair(self), last, size // 2 + 1)
    x = _narrowed(x, last, max(min(site.reach(last), size // 2 + 1), 1))
    x = _known(site, x, rest)
    whole = site._replace(wanted=sizes.__getitem__)  # of these, the next reads all
    for axis in rest:
        x = _along(whole, x, axis, sizes[axis], normalization, True)
    matrix = functools.partial(
        _fourier.real_matrix,
        size,
        divisor=_divisor(size, normalization),
        rows=x.real.shape[last],
    )
    return _product(x, last, matrix, site.constant).movedim(-1, last)


RULES: dict[Any, Callable[..., Any]] = {
    aten._fft_c2c: c2c,
    aten._fft_r2c: r2c,
    aten._fft_c2r: c2r,
}
"""By operator. The first argument says where it stands."""


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
