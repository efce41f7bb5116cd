# SPDX-License-Identifier: MIT
"""Matrix products in groups: the layers of mixtures of experts.

Rows are sorted by the expert that they go to, and `offs` has where the rows of each
expert end. How many they are depends on the data, so each expert takes all rows: the
rows of others are not read (forward) or are zeros, whose products add nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE", "registered"]


def _expert_of(offs: Tensor, rows: int) -> Tensor:
    """The expert of each row; behind the last one's rows, how many there are."""
    places = torch.arange(rows, dtype=offs.dtype).unsqueeze(1)
    return (places >= offs).sum(1)


def _of_rows(input: Tensor, weight: Tensor, offs: Tensor) -> Tensor:
    """Each row times the matrix of its expert; zeros behind the last one's."""
    experts, _, columns = weight.shape
    rows = input.shape[0]
    expert = _expert_of(offs, rows)
    products = input.expand(experts, *input.shape) @ weight
    place = expert.clamp(max=experts - 1).reshape(1, rows, 1).expand(1, rows, columns)
    chosen = torch.gather(products, 0, place).squeeze(0)
    return torch.where((expert < experts).unsqueeze(1), chosen, 0.0)


def _of_columns(left: Tensor, right: Tensor, offs: Tensor) -> Tensor:
    """A matrix for each expert: the sum of products over its part of what is
    contracted."""
    experts, inner = offs.shape[0], right.shape[0]
    own = _expert_of(offs, inner) == torch.arange(experts).unsqueeze(1)
    kept = torch.where(own.unsqueeze(1), left, 0.0)
    return kept @ right.expand(experts, *right.shape)


def grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: torch.dtype | None = None,
) -> Tensor:
    if bias is not None:
        return NotImplemented
    if offs is None:
        product = self @ mat2
    elif self.dim() == 2 and mat2.dim() == 3:
        product = _of_rows(self, mat2, offs)
    elif self.dim() == 3 and mat2.dim() == 2:
        product = _of_rows(mat2.t(), self.mT, offs).t()
    else:
        product = _of_columns(self, mat2, offs)
    return product.to(out_dtype or self.dtype)


def backward(
    input: Tensor, weight: Tensor, offs: Tensor, grad: Tensor
) -> tuple[Tensor, Tensor]:
    return _of_rows(grad, weight.mT, offs), _of_columns(input.t(), grad, offs)


TABLE: dict[Any, Callable[..., Any]] = {aten._grouped_mm.default: grouped_mm}

_REGISTERED: dict[str, Callable[..., Any]] = {
    "grouped_mm_fallback": _of_rows,
    "grouped_mm_fallback_backward": backward,
}
"""Operators that the package `transformers` registers for its experts."""


def registered() -> dict[Any, Callable[..., Any]]:
    """Those that there are by now."""
    return {
        getattr(torch.ops.transformers, name).default: function
        for name, function in _REGISTERED.items()
        if hasattr(torch.ops.transformers, name)
    }
