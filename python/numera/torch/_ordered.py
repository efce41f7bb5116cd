# SPDX-License-Identifier: MIT
"""Places in what is in order, and what occurs most often. Values are moved, never
computed, so they are those of any format."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE"]


def searchsorted(
    sorted_sequence: Tensor,
    self: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Halves an interval as PyTorch does, so that NaN and what is out of order leads
    to the same place."""
    count = sorted_sequence.shape[-1]
    right = right or side == "right"
    whole = sorted_sequence.dim() == 1
    shape = self.shape
    # Rows of values, one for each sorted row.
    rows = 1 if whole else math.prod(shape[:-1])
    row = self.reshape(1, -1) if whole else self.reshape(rows, shape[-1])
    known = sorted_sequence.reshape(rows, count)
    order = None if sorter is None else sorter.reshape(known.shape).long()
    start = torch.zeros_like(row, dtype=torch.int64)
    end = torch.full_like(start, count)
    for _ in range(count.bit_length() if row.numel() else 0):
        middle = start + torch.div(end - start, 2, rounding_mode="floor")
        place = middle.clamp(max=count - 1)
        value = known.gather(1, place if order is None else order.gather(1, place))
        stays = value > row if right else value >= row
        isopen = start < end
        end = torch.where(isopen & stays, middle, end)
        start = torch.where(isopen & ~stays, middle + 1, start)
    found = start.reshape(shape)
    return found.to(torch.int32) if out_int32 else found


def searchsorted_number(sorted_sequence: Tensor, self: Any, **options: Any) -> Tensor:
    like = sorted_sequence.reshape(-1)[:1]
    value = torch.full_like(like, self) if like.numel() else like.new_full([1], self)
    return searchsorted(sorted_sequence, value, **options).reshape(())


def bucketize_number(
    self: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False
) -> Tensor:
    return searchsorted_number(boundaries, self, out_int32=out_int32, right=right)


def mode(self: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """The least one of those that occur most often, and the place of its last one.
    A NaN equals none; where PyTorch sorts it to is not defined."""
    if self.dim() == 0:
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    count = self.shape[dim]
    if not self.numel():
        return NotImplemented
    values, places = aten.sort.default(self, dim)
    before = values.narrow(dim, 0, count - 1)
    same = values.narrow(dim, 1, count - 1) == before
    length = torch.ones_like(places)
    step = 1
    # Of each element how many equal ones end with it: those of the elements before
    # it are added up, twice as many in each turn.
    first = torch.zeros_like(values.narrow(dim, 0, 1), dtype=torch.bool)
    run = torch.cat([first, same], dim) if count > 1 else first
    while step < count:
        rest = count - step
        earlier, later = length.narrow(dim, 0, rest), length.narrow(dim, step, rest)
        joined = run.narrow(dim, step, rest)
        length = torch.cat(
            [length.narrow(dim, 0, step), torch.where(joined, later + earlier, later)],
            dim,
        )
        run = torch.cat(
            [
                torch.zeros_like(run.narrow(dim, 0, step)),
                joined & run.narrow(dim, 0, rest),
            ],
            dim,
        )
        step *= 2
    best = length.argmax(dim, keepdim=True)
    value, place = values.gather(dim, best), places.gather(dim, best)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


# ---- what is largest so far -------------------------------------------------


def _so_far(self: Tensor, dim: int, isnext: Any) -> Any:
    """In each turn, twice as many elements before each are compared with it. The
    later of equal ones is told; NaN stays, and is told anew where there is another."""
    if self.dtype == torch.bool:
        values, places = _so_far(self.int(), dim, isnext)
        return values != 0, places
    if self.dim() == 0 or not self.numel():
        return self.clone(), torch.zeros_like(self, dtype=torch.int64)
    dim %= self.dim()
    count = self.shape[dim]
    shape = [count if axis == dim else 1 for axis in range(self.dim())]
    values, places = self, torch.arange(count).view(shape).expand(self.shape)
    step = 1
    while step < count:
        rest = count - step
        both = [(each.narrow(dim, 0, rest), each) for each in (values, places)]
        (before, value), (earlier, place) = both
        value, place = value.narrow(dim, step, rest), place.narrow(dim, step, rest)
        stays = isnext(value, before)
        if self.is_floating_point():
            stays = stays | value.isnan()
        found = torch.where(stays, value, before), torch.where(stays, place, earlier)
        values, places = (
            torch.cat([each.narrow(dim, 0, step), later], dim)
            for each, later in zip((values, places), found)
        )
        step *= 2
    return values.clone(), places.clone()


def cummax(self: Tensor, dim: int) -> Any:
    return _so_far(self, dim, torch.ge)


def cummin(self: Tensor, dim: int) -> Any:
    return _so_far(self, dim, torch.le)


# ---- divisors ---------------------------------------------------------------

_STEPS = {torch.uint8: 13, torch.int8: 11, torch.int16: 23, torch.int32: 46}
"""Divisions of Euclid's algorithm at most: by Lamé, n of them need numbers from the
Fibonacci number n + 1 on."""


def gcd(self: Tensor, other: Tensor) -> Tensor:
    """Euclid's algorithm, for as long as the largest numbers take."""
    kind = torch.result_type(self, other)
    self, other = torch.broadcast_tensors(self.to(kind).abs(), other.to(kind).abs())
    for _ in range(_STEPS.get(kind, 92)):
        isleft = other != 0
        divisor = torch.where(isleft, other, 1)
        rest = torch.fmod(self, divisor)
        self, other = torch.where(isleft, other, self), torch.where(isleft, rest, 0)
    return self


def lcm(self: Tensor, other: Tensor) -> Tensor:
    common = gcd(self, other)
    safe = torch.where(common == 0, 1, common)
    part = torch.div(self, safe, rounding_mode="trunc").to(common.dtype)
    found = part.abs() * other.abs()
    if common.dtype in (torch.int32, torch.int64):  # C++ computes others in int
        found = found.abs()
    return torch.where(common == 0, 0, found)


# ---- pools ------------------------------------------------------------------


def _starts(draws: Tensor, size: int, kernel: int, count: int) -> Tensor:
    """Where the windows of a dimension begin, of each image and channel."""
    last = torch.full_like(draws.unsqueeze(-1), size - kernel, dtype=torch.int64)
    if count == 1:
        return last
    step = (size - kernel) / (count - 1)
    draw = draws.unsqueeze(-1)
    place = torch.arange(count - 1, dtype=draws.dtype)
    begin = ((place + draw) * step).to(torch.int64) - (draw * step).to(torch.int64)
    # In a narrow format a draw may be 1.
    return torch.cat([begin.clamp(max=size - kernel), last], -1)


def fractional_max_pool2d(
    self: Tensor, kernel_size: Any, output_size: Any, random_samples: Tensor
) -> Any:
    """The maximum of windows that begin where draws say."""
    (kh, kw), (oh, ow) = kernel_size, output_size
    height, width = self.shape[-2:]
    whole = self.reshape(-1, self.shape[-3], height, width)
    images, channels = whole.shape[:2]
    if not self.numel():
        return NotImplemented
    draws = random_samples.expand(images, channels, 2)
    rows = _starts(draws[..., 1], height, kh, oh)[..., None] + torch.arange(kh)
    columns = _starts(draws[..., 0], width, kw, ow)[..., None] + torch.arange(kw)
    place = rows[:, :, :, None, :, None] * width + columns[:, :, None, :, None, :]
    place = place.reshape(images, channels, oh * ow * kh * kw)
    values = whole.reshape(images, channels, -1).gather(2, place)
    windows = values.reshape(images, channels, oh * ow, kh * kw)
    # PyTorch keeps the last NaN, else the first maximum.
    own = torch.arange(kh * kw)
    absent = torch.where(windows.isnan(), own + kh * kw, -1)
    best = torch.where(windows == windows.amax(-1, keepdim=True), -own, -kh * kw)
    latest, first = absent.amax(-1, keepdim=True), -best.amax(-1, keepdim=True)
    chosen = torch.where(latest >= 0, latest - kh * kw, first)
    value = windows.gather(3, chosen)
    where = place.reshape(windows.shape).gather(3, chosen)
    shape = (*self.shape[:-2], oh, ow)
    return value.reshape(shape), where.reshape(shape)


def fractional_max_pool2d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Any,
    output_size: Any,
    indices: Tensor,
) -> Tensor:
    planes = math.prod(self.shape[:-2])
    flat = torch.zeros_like(self).reshape(planes, -1)
    places, slopes = indices.reshape(planes, -1), grad_output.reshape(planes, -1)
    return torch.scatter_add(flat, 1, places, slopes).reshape(self.shape)


TABLE: dict[Any, Any] = {
    aten.searchsorted.Tensor: searchsorted,
    aten.searchsorted.Scalar: searchsorted_number,
    aten.bucketize.Scalar: bucketize_number,
    aten.mode.default: mode,
    aten.cummax.default: cummax,
    aten.cummin.default: cummin,
    aten.gcd.default: gcd,
    aten.lcm.default: lcm,
    aten.fractional_max_pool2d.default: fractional_max_pool2d,
    aten.fractional_max_pool2d_backward.default: fractional_max_pool2d_backward,
}
