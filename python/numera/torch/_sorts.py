# SPDX-License-Identifier: MIT
"""Operators that need an order, as sorts, and counts of what lies between bounds."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE"]


def _part(ordered: Tensor, dim: int, start: int, count: int) -> Tensor:
    """Some of what is in order, in memory of its own."""
    return ordered.narrow(dim, start, count).contiguous()


def sort(self: Tensor, dim: int = -1, descending: bool = False) -> Any:
    """A sort leaves equal elements in their order."""
    if self.dim() == 0 or self.numel() <= 1:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    if self.dtype == torch.bool:  # whose true is -1 in one bit
        values, places = aten.sort.default(self.int(), dim, descending)
        return values != 0, places
    return NotImplemented


def sort_stable(
    self: Tensor, *, stable: bool | None = None, dim: int = -1, descending: bool = False
) -> Any:
    return aten.sort.default(self, dim, descending)


def topk(
    self: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> Any:
    if self.dim() == 0:
        shape = self.view(1)
        values, places = topk(shape, k, 0)
        return (values[0], places[0]) if k else (values, places)
    values, places = aten.sort.default(self, dim, largest)
    return _part(values, dim, 0, k), _part(places, dim, 0, k)


def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    values, places = aten.sort.default(self, dim)
    found = _part(values, dim, k - 1, 1), _part(places, dim, k - 1, 1)
    return found if keepdim else tuple(each.squeeze(dim) for each in found)


def median_dim(self: Tensor, dim: int, keepdim: bool = False) -> Any:
    """The lower one of two; NaN, if there is one, which is the last in order."""
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    count = self.shape[dim]
    values, places = aten.sort.default(self, dim)
    middle = (count - 1) // 2
    value, place = _part(values, dim, middle, 1), _part(places, dim, middle, 1)
    if self.is_floating_point():
        absent = values.isnan()
        first = (~absent).long().sum(dim, keepdim=True).clamp(max=count - 1)
        has = absent.narrow(dim, count - 1, 1)
        value = torch.where(has, values.narrow(dim, count - 1, 1), value)
        place = torch.where(has, places.gather(dim, first), place)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def median(self: Tensor) -> Tensor:
    value: Tensor = median_dim(self.reshape(-1), 0)[0]
    return value


def nanmedian_dim(self: Tensor, dim: int, keepdim: bool = False) -> Any:
    """The lower one of two, of those that are numbers, which come first in order."""
    if self.dim() == 0 or not self.is_floating_point():
        return median_dim(self, dim, keepdim)
    values, places = aten.sort.default(self, dim)
    count = (~values.isnan()).long().sum(dim, keepdim=True)
    middle = (count.clamp(min=1) - 1) >> 1
    value, place = values.gather(dim, middle), places.gather(dim, middle)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def nanmedian(self: Tensor) -> Tensor:
    value: Tensor = nanmedian_dim(self.reshape(-1), 0)[0]
    return value


def histc(self: Tensor, bins: int = 100, min: Any = 0, max: Any = 0) -> Tensor:
    """How many elements each part of the range has; the last one has its end, too.
    Without a range, it is that of the elements."""
    if not self.is_floating_point() or not self.numel():
        return NotImplemented
    x = self.reshape(-1)
    if min == max:
        min, max = x.amin(), x.amax()
        same = (min == max).to(x.dtype)
        min, max = min - same, max + same
    inside = (x >= min) & (x <= max)
    safe = torch.where(inside, x, min)
    place = ((safe - min) * bins / (max - min)).floor().long().clamp(0, bins - 1)
    zeros = self.new_zeros([bins])
    counts = torch.where(inside, torch.ones_like(x), 0.0)
    return aten.index_put(zeros, [place], counts, True)


TABLE: dict[Any, Any] = {
    aten.histc.default: histc,
    aten.sort.default: sort,
    aten.sort.stable: sort_stable,
    aten.topk.default: topk,
    aten.kthvalue.default: kthvalue,
    aten.nanmedian.dim: nanmedian_dim,
    aten.nanmedian.default: nanmedian,
    aten.median.dim: median_dim,
    aten.median.default: median,
}
