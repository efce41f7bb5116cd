# SPDX-License-Identifier: MIT
"""Views by strides of what a tensor has in memory.

Models write them, and AOTAutograd where arguments share memory of which some is written
to: it takes one tensor for all of them. A program has elements and no memory, so a view
takes elements of the tensor in a row, by their places. Views whose place a call decides
are left until it is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE"]


def _first(
    self: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None
) -> int | None:
    """The place of a view's first element in a tensor without gaps; None: the view has
    elements that the tensor has not, or its place is not known."""
    known = all(isinstance(each, int) for each in (*self.shape, *size, *stride))
    if not known or isinstance(offset, torch.SymInt) or not self.is_contiguous():
        return None
    first = 0 if offset is None else offset - self.storage_offset()
    last = first + sum((n - 1) * step for n, step in zip(size, stride))
    inside = 0 in size or (first >= 0 and last < self.numel())
    return first if inside else None


def _is_dense(size: Sequence[int], stride: Sequence[int]) -> bool:
    """Whether a view has elements behind each other, in their order."""
    step = 1
    for each, found in reversed(list(zip(size, stride))):
        if each != 1 and found != step:
            return False
        step *= each
    return True


def _places(first: int, size: Sequence[int], stride: Sequence[int]) -> Tensor:
    places = torch.full([], first, dtype=torch.int64)
    for each, step in zip(size, stride):
        places = places.unsqueeze(-1) + torch.arange(each) * step
    return places.reshape(-1)


def as_strided(
    self: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    first = _first(self, size, stride, storage_offset)
    if first is None:
        return NotImplemented
    count = math.prod(size)
    if not count:
        return self.new_empty(size)
    row = self.reshape(-1)
    if not _is_dense(size, stride):
        # As a result, PyTorch makes it anew by its strides, which no other operator has.
        if self.storage_offset() == 0:
            return NotImplemented
        return row.index_select(0, _places(first, size, stride)).view(size)
    return (row if count == self.numel() else row.narrow(0, first, count)).view(size)


def as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    first = _first(self, size, stride, storage_offset)
    if first is None:
        return NotImplemented
    count = math.prod(size)
    if not count:
        return self.clone()
    row, written = self.reshape(-1), src.reshape(-1)
    if not _is_dense(size, stride):
        row = aten.index_put(row, [_places(first, size, stride)], written)
    elif count == self.numel():
        row = written
    else:
        row = aten.slice_scatter(row, written, 0, first, first + count)
    return row.view(self.shape)


TABLE: dict[Any, Any] = {
    aten.as_strided.default: as_strided,
    aten.as_strided_scatter.default: as_strided_scatter,
}
