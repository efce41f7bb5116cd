# SPDX-License-Identifier: MIT
"""Reductions of elements that meet in one place, or that follow each other."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from numera.torch._constants import constant

aten = torch.ops.aten

__all__ = ["TABLE"]


# ---- elements that meet in one place ----------------------------------------


def index_reduce(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool = True,
) -> Tensor:
    if self.dim() == 0:
        return NotImplemented
    shape = [1] * self.dim()
    shape[dim] = -1
    places = index.view(shape).expand(source.shape)
    found: Tensor = aten.scatter_reduce.two(
        self, dim % self.dim(), places, source, reduce, include_self=include_self
    )
    return found


_NAMES = {"add": "sum", "multiply": "prod"}


def scatter_reduced(
    self: Tensor, dim: int, index: Tensor, src: Any, *, reduce: str
) -> Tensor:
    if not isinstance(src, Tensor):
        src = self.new_full(index.shape, src)
    found: Tensor = aten.scatter_reduce.two(
        self, dim % max(self.dim(), 1), index, src, _NAMES[reduce]
    )
    return found


# ---- elements that follow each other ----------------------------------------


def _bounds(lengths: Tensor | None, offsets: Tensor | None) -> tuple[Tensor, Tensor]:
    """Where segments begin and end."""
    if offsets is not None:
        count = len(offsets) - 1
        return offsets.narrow(0, 0, count), offsets.narrow(0, 1, count)
    assert lengths is not None
    ends = lengths.cumsum(0)
    return ends - lengths, ends


def _is_known(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None, axis: int
) -> bool:
    given = lengths if offsets is None else offsets
    known = given is not None and given.dim() == 1 and axis == 0 and data.numel() > 0
    return known and (offsets is None or len(offsets) > 1)


def _members(
    data: Tensor, lengths: Tensor | None, offsets: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    """[segments, rows, 1]: which rows a segment has; [segments, 1]: how many; and
    [1, rows, elements]: the rows."""
    start, end = (each.unsqueeze(1) for each in _bounds(lengths, offsets))
    place = torch.arange(len(data))
    has = (place >= start) & (place < end)
    count = (end - start).to(data.dtype)
    return has.unsqueeze(2), count, data.reshape(1, len(data), -1)


_NEUTRAL = {"sum": 0.0, "mean": 0.0, "max": -math.inf, "min": math.inf, "prod": 1.0}


def segment_reduce(
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: Any = None,
) -> Tensor:
    if not _is_known(data, lengths, offsets, axis) or initial is not None:
        return NotImplemented
    has, count, rows = _members(data, lengths, offsets)
    chosen = torch.where(has, rows, _NEUTRAL[reduce])
    if reduce in ("sum", "mean"):
        found = chosen.sum(1)
        found = found / count if reduce == "mean" else found
    elif reduce == "prod":
        found = chosen.prod(1)
    else:
        found = chosen.amax(1) if reduce == "max" else chosen.amin(1)
    return found.view(found.shape[0], *data.shape[1:])


def segment_reduce_backward(
    grad: Tensor,
    output: Tensor,
    data: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    initial: Any = None,
) -> Tensor:
    """Equal ones share the gradient of the largest."""
    if not _is_known(data, lengths, offsets, axis) or initial is not None:
        return NotImplemented
    has, count, rows = _members(data, lengths, offsets)
    slopes = grad.reshape(len(grad), 1, -1)
    if reduce == "mean":
        slopes = slopes / count.unsqueeze(2)
    elif reduce in ("max", "min"):
        has = has & ((rows == output.reshape(len(grad), 1, -1)) | rows.isnan())
        slopes = slopes / has.to(grad.dtype).sum(1, keepdim=True)
    elif reduce == "prod":
        slopes = slopes * _others(torch.where(has, rows, 1.0))
    return torch.where(has, slopes, 0.0).sum(0).view(data.shape)


def _others(factors: Tensor) -> Tensor:
    """Products of all along the second axis but each itself."""
    ones = torch.ones_like(factors.narrow(1, 0, 1))
    count = factors.shape[1]
    before = torch.cat([ones, factors.narrow(1, 0, count - 1)], 1).cumprod(1)
    turned = factors.flip(1)
    after = torch.cat([ones, turned.narrow(1, 0, count - 1)], 1).cumprod(1).flip(1)
    return before * after


# ---- indices of triangles ---------------------------------------------------


def _triangle(row: int, col: int, offset: int, upper: bool, **options: Any) -> Tensor:
    places = [
        (i, j)
        for i in range(row)
        for j in range(col)
        if (j - i >= offset if upper else j - i <= offset)
    ]
    kind = options.get("dtype") or torch.int64
    if not places:
        return torch.zeros([2, 0], dtype=kind)
    return constant([list(each) for each in zip(*places)], kind)


def tril_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    return _triangle(row, col, offset, False, **options)


def triu_indices(row: int, col: int, offset: int = 0, **options: Any) -> Tensor:
    return _triangle(row, col, offset, True, **options)


TABLE: dict[Any, Any] = {
    aten.index_reduce.default: index_reduce,
    aten.scatter.reduce: scatter_reduced,
    aten.scatter.value_reduce: scatter_reduced,
    aten.segment_reduce.default: segment_reduce,
    aten._segment_reduce_backward.default: segment_reduce_backward,
    aten.tril_indices.default: tril_indices,
    aten.triu_indices.default: triu_indices,
}
