# SPDX-License-Identifier: MIT
"""Operators that put elements elsewhere, and distances, by others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from numera.torch._constants import constant

aten = torch.ops.aten

__all__ = ["TABLE"]


def block_diag(tensors: Sequence[Tensor]) -> Tensor:
    parts = [each.reshape(1, -1) if each.dim() < 2 else each for each in tensors]
    width = sum(each.shape[1] for each in parts)
    rows, before = [], 0
    for each in parts:
        after = width - before - each.shape[1]
        rows.append(aten.constant_pad_nd(each, [before, after], 0.0))
        before += each.shape[1]
    return torch.cat(rows)


def diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """By a mask: the diagonal's elements stand in the rows, or columns, of a matrix."""
    dim1, dim2 = dim1 % self.dim(), dim2 % self.dim()
    rest = [each for each in range(self.dim()) if each not in (dim1, dim2)]
    moved = self.permute([*rest, dim1, dim2])
    rows, columns = moved.shape[-2:]
    before, after = max(-offset, 0), max(rows - max(-offset, 0) - src.shape[-1], 0)
    spread = aten.constant_pad_nd(src, [before, after], 0.0).unsqueeze(-1)
    place = torch.arange(columns) - torch.arange(rows).unsqueeze(1)
    made = torch.where(place == offset, spread, moved)
    order = [*rest, dim1, dim2]
    return made.permute([order.index(each) for each in range(self.dim())])


def masked_scatter_backward(grad: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """The gradients of elements that a mask took, in order, and zeros behind them."""
    count = 1
    for size in sizes:
        count *= size
    mask = mask.expand(grad.shape).reshape(-1)
    place = torch.where(mask, mask.long().cumsum(0) - 1, count)
    made = aten.index_put(grad.new_zeros([count + 1]), [place], grad.reshape(-1), True)
    return made[:count].reshape(list(sizes))


def addmv(
    self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    product = aten.mv(mat, vec)
    product = product if alpha == 1 else product * alpha
    if beta == 0:
        return product
    return (self if beta == 1 else self * beta) + product


# ---- distances --------------------------------------------------------------


def dist(self: Tensor, other: Tensor, p: float = 2) -> Tensor:
    return torch.linalg.vector_norm(self - other, p)


def _cdist_forward(x1: Tensor, x2: Tensor, p: float, compute_mode: int | None) -> Any:
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    return torch.linalg.vector_norm(apart, p, -1)


def _cdist_backward(
    grad: Tensor, x1: Tensor, x2: Tensor, p: float, cdist: Tensor
) -> Any:
    """The gradient of the first; PyTorch asks for that of the second by the first."""
    apart = x1.unsqueeze(-2) - x2.unsqueeze(-3)
    size, grad, cdist = apart.abs(), grad.unsqueeze(-1), cdist.unsqueeze(-1)
    if p == 0:
        return torch.zeros_like(x1)
    if p == 1:
        slope = grad * apart.sign()
    elif p == float("inf"):
        slope = grad * apart.sign() * (size == cdist).to(grad.dtype)
    else:
        none = cdist == 0
        safe = torch.where(none, 1.0, cdist)
        if p == 2:
            slope = grad * apart / safe
        else:
            slope = grad * apart.sign() * (size / safe).pow(p - 1)
        slope = torch.where(none, 0.0, slope)
    return slope.sum(-2)


def _pairs(count: int) -> tuple[Tensor, Tensor]:
    """Which rows the distances of `pdist` are between."""
    first = [one for one in range(count) for _ in range(one + 1, count)]
    second = [two for one in range(count) for two in range(one + 1, count)]
    return constant(first, torch.int64), constant(second, torch.int64)


def _pdist_forward(self: Tensor, p: float = 2) -> Tensor:
    if len(self) < 2:
        return NotImplemented
    first, second = _pairs(len(self))
    apart = self.index_select(0, first) - self.index_select(0, second)
    return torch.linalg.vector_norm(apart, p, -1)


def _pdist_backward(grad: Tensor, self: Tensor, p: float, pdist: Tensor) -> Tensor:
    """That of `cdist`, of which a row has its distances to all others."""
    count = len(self)
    if count < 2:
        return torch.zeros_like(self)
    place = [[0] * count for _ in range(count)]
    listed = [(i, j) for i in range(count) for j in range(i + 1, count)]
    for at, (i, j) in enumerate(listed):
        place[i][j] = place[j][i] = at
    places = constant([at for row in place for at in row], torch.int64)
    number = torch.arange(count)
    same = number.unsqueeze(1) == number
    whole, distances = (
        torch.where(same, 0.0, each.index_select(0, places).view(count, count))
        for each in (grad, pdist)
    )
    found: Tensor = _cdist_backward(whole, self, self, p, distances)
    return found


# ---- norms ------------------------------------------------------------------


def vector_norm(
    self: Tensor,
    ord: float = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Those by the largest element, and by how many there are."""
    if not self.is_floating_point() or ord not in (0, float("inf"), -float("inf")):
        return NotImplemented
    self = self if dtype is None else self.to(dtype)
    dims = list(range(self.dim())) if dim is None else dim
    if ord == 0:
        count = torch.where(self != 0, torch.ones_like(self), 0.0)
        return count.sum(dims, keepdim)
    return (torch.amax if ord > 0 else torch.amin)(self.abs(), dims, keepdim)


TABLE: dict[Any, Any] = {
    aten.block_diag.default: block_diag,
    aten.diagonal_scatter.default: diagonal_scatter,
    aten.masked_scatter_backward.default: masked_scatter_backward,
    aten.addmv.default: addmv,
    aten.dist.default: dist,
    aten._cdist_forward.default: _cdist_forward,
    aten._cdist_backward.default: _cdist_backward,
    aten._pdist_forward.default: _pdist_forward,
    aten._pdist_backward.default: _pdist_backward,
    aten.linalg_vector_norm.default: vector_norm,
}
