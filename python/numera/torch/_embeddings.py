# SPDX-License-Identifier: MIT
"""Embeddings, and rows of them that are taken together in bags."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from numera.torch import _outside  # noqa: F401, which has operators

aten = torch.ops.aten

__all__ = ["TABLE"]

_SUM, _MEAN, _MAX = 0, 1, 2
"""Of `mode`."""


def _shares(places: Tensor, rows: Tensor, num_weights: int) -> Tensor:
    """The rows of gradients, each divided by how often its index comes."""
    counts = places.new_zeros([num_weights])
    counts = aten.index_put(counts, [places], torch.ones_like(places), True)
    return rows / counts[places].unsqueeze(1)


def sparse_embedding(weight: Tensor, indices: Tensor, padding: int | None) -> Tensor:
    return aten.embedding(weight, indices)


def embedding_dense_backward(
    grad: Tensor,
    indices: Tensor,
    num_weights: int,
    padding_idx: int,
    scale_grad_by_freq: bool,
) -> Tensor:
    places = indices.reshape(-1)
    rows = grad.reshape(places.shape[0], grad.shape[-1])
    zeros = rows.new_zeros([num_weights, rows.shape[1]])
    if not rows.numel():
        return zeros
    if scale_grad_by_freq:
        rows = _shares(places, rows, num_weights)
    if padding_idx >= 0:
        rows = torch.where((places == padding_idx).unsqueeze(1), 0.0, rows)
    return aten.index_put(zeros, [places], rows, True)


def embedding_renorm(
    self: Tensor, indices: Tensor, max_norm: float, norm_type: float
) -> Tensor:
    """Rows that are looked up are made as long as `max_norm` at most."""
    taken = aten.index_put(
        indices.new_zeros([len(self)]),
        [indices.reshape(-1)],
        torch.ones_like(indices).reshape(-1),
        True,
    )
    length = torch.linalg.vector_norm(self, norm_type, 1, keepdim=True)
    shrinks = (taken != 0).unsqueeze(1) & (length > max_norm)
    return torch.where(shrinks, self * (max_norm / (length + 1e-7)), self)


# ---- bags -------------------------------------------------------------------


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The result; the bag of each index; how many rows each bag has; and of maxima
    the rows that they are from."""
    indices, offsets = indices.long(), offsets.long()
    bags = offsets.shape[0] - (1 if include_last_offset else 0)
    starts = offsets[:bags]
    count, width = indices.shape[0], weight.shape[1]
    if not count or not bags:
        none = indices.new_zeros([bags])
        return weight.new_zeros([bags, width]), indices, none, none
    place = torch.arange(count)
    bag = (place.unsqueeze(1) >= starts).sum(1) - 1
    kept = indices != padding_idx
    empty = starts.new_zeros([bags])
    sizes = aten.index_put(empty, [bag], kept.long(), True)
    rows = weight[indices]
    if mode == _MAX:
        result, largest = _maxima(rows, indices, bag, kept, sizes)
        return result, bag, sizes, largest
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    rows = torch.where(kept.unsqueeze(1), rows, 0.0)
    result = aten.index_put(rows.new_zeros([bags, width]), [bag], rows, True)
    if mode == _MEAN:
        result = result / sizes.clamp(min=1).to(result.dtype).unsqueeze(1)
    return result, bag, sizes, sizes


def _maxima(
    rows: Tensor, indices: Tensor, bag: Tensor, kept: Tensor, sizes: Tensor
) -> tuple[Tensor, Tensor]:
    """The largest elements of each bag, and the indices of the first rows that have
    them."""
    count, width = rows.shape
    shape = [sizes.shape[0], width]
    places = bag.unsqueeze(1).expand(count, width)
    least = rows.amin()
    rows = torch.where(kept.unsqueeze(1), rows, least)
    result = aten.scatter_reduce(
        least.expand(shape), 0, places, rows, "amax", include_self=True
    )
    first = torch.arange(count).unsqueeze(1).expand(count, width)
    has = (rows == result.gather(0, places)) & kept.unsqueeze(1)
    first = aten.scatter_reduce(
        indices.new_full(shape, count),
        0,
        places,
        torch.where(has, first, count),
        "amin",
        include_self=True,
    )
    result = torch.where(sizes.unsqueeze(1) > 0, result, 0.0)
    found = indices[first.clamp(max=count - 1).reshape(-1)]
    return result, found.view(shape)


def _rows(
    grad: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    mode: int,
    per_sample_weights: Tensor | None,
) -> Tensor:
    """The gradient of the row that each index takes."""
    if mode == _MEAN:
        grad = grad / bag_size.clamp(min=1).to(grad.dtype).unsqueeze(1)
    rows = grad[offset2bag]
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    return rows


def _embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    indices, width = indices.long(), grad.shape[1]
    zeros = grad.new_zeros([num_weights, width])
    if not indices.shape[0] or not bag_size.shape[0]:
        return zeros
    if mode == _MAX:
        rows = torch.where(bag_size.unsqueeze(1) > 0, grad, 0.0)
        column = torch.arange(width).expand(grad.shape)
        places = [maximum_indices.reshape(-1), column.reshape(-1)]
        return aten.index_put(zeros, places, rows.reshape(-1), True)
    rows = _rows(grad, offset2bag, bag_size, mode, per_sample_weights)
    if scale_grad_by_freq:
        rows = _shares(indices, rows, num_weights)
    rows = torch.where((indices != padding_idx).unsqueeze(1), rows, 0.0)
    return aten.index_put(zeros, [indices], rows, True)


def _embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Tensor:
    if sparse and num_weights and indices.shape[0] and bag_size.shape[0]:
        rows = _rows(grad, offset2bag, bag_size, mode, per_sample_weights)
        return torch.ops.numera.sparse_rows.default(
            rows, indices, num_weights, None if padding_idx < 0 else padding_idx
        )
    return _embedding_bag_dense_backward(
        grad,
        indices,
        offset2bag,
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )


def _embedding_bag_per_sample_weights_backward(
    grad: Tensor,
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    mode: int,
    padding_idx: int = -1,
) -> Tensor:
    along = (grad[offset2bag] * weight[indices.long()]).sum(1)
    return torch.where(indices != padding_idx, along, 0.0)


TABLE: dict[Any, Any] = {
    torch.ops.numera.sparse_embedding.default: sparse_embedding,
    aten.embedding_renorm.default: embedding_renorm,
    aten.embedding_dense_backward.default: embedding_dense_backward,
    aten._embedding_bag.default: _embedding_bag,
    aten._embedding_bag_forward_only.default: _embedding_bag,
    aten._embedding_bag_backward.default: _embedding_bag_backward,
    aten._embedding_bag_dense_backward.default: _embedding_bag_dense_backward,
    aten._embedding_bag_per_sample_weights_backward.default: (
        _embedding_bag_per_sample_weights_backward
    ),
}
