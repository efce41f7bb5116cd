# SPDX-License-Identifier: MIT
"""The gradient of samples of images at the places of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE"]

_BILINEAR, _NEAREST = 0, 1
"""Of `interpolation_mode`."""
_BORDER, _REFLECTION = 1, 2
"""Of `padding_mode`; 0 is zeros."""


def _places(
    given: Tensor, size: int, padding: int, align_corners: bool
) -> tuple[Tensor, Tensor]:
    """Where along an axis, in elements, and by how much that changes."""
    factor = (size - 1) / 2 if align_corners else size / 2
    place = (given + 1) * factor
    if not align_corners:
        place = place - 0.5
    slope = torch.ones_like(place) * factor
    if padding == _REFLECTION:
        low, span = (0.0, size - 1.0) if align_corners else (-0.5, float(size))
        if span == 0:
            return torch.zeros_like(place), torch.zeros_like(place)
        slope = torch.where(place < low, -slope, slope)
        away = (place - low).abs()
        rest = torch.fmod(away, span)
        turned = torch.fmod(((away - rest) / span).round(), 2.0) != 0
        place = torch.where(turned, span - rest, rest) + low
        slope = torch.where(turned, -slope, slope)
    if padding in (_BORDER, _REFLECTION):
        inside = (place > 0) & (place < size - 1)
        slope = torch.where(inside, slope, 0.0)
        place = place.clamp(0.0, size - 1.0)
    return place, slope


def grid_sampler_2d_backward(
    grad: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    if interpolation_mode not in (_BILINEAR, _NEAREST) or not grad.numel():
        return NotImplemented
    batch, channels, height, width = input.shape
    x, x_slope = _places(grid[..., 0], width, padding_mode, align_corners)
    y, y_slope = _places(grid[..., 1], height, padding_mode, align_corners)
    count = grid.shape[1] * grid.shape[2]
    flat = input.reshape(batch * channels, height * width)
    slopes = grad.reshape(batch * channels, count)
    row = torch.arange(batch * channels).unsqueeze(1) * (height * width)
    added = input.new_zeros([batch * channels * height * width])
    for_x, for_y = torch.zeros_like(x), torch.zeros_like(y)
    corners: list[tuple[Tensor, Tensor, tuple[Tensor, Tensor, Tensor] | None]]
    if interpolation_mode == _NEAREST:
        corners = [(x.round(), y.round(), None)]
    else:
        left, top = x.floor(), y.floor()
        near_x, near_y = x - left, y - top
        far_x, far_y = 1 - near_x, 1 - near_y
        corners = [
            (left, top, (far_x * far_y, -far_y, -far_x)),
            (left + 1, top, (near_x * far_y, far_y, -near_x)),
            (left, top + 1, (far_x * near_y, -near_y, far_x)),
            (left + 1, top + 1, (near_x * near_y, near_y, near_x)),
        ]
    for column, line, shares in corners:
        seen = (column >= 0) & (column < width) & (line >= 0) & (line < height)
        at = torch.where(seen, line, 0.0).long() * width
        at = at + torch.where(seen, column, 0.0).long()
        at = at.reshape(batch, 1, count).expand(batch, channels, count)
        at = at.reshape(batch * channels, count)
        kept = torch.where(
            seen, torch.ones_like(x) if shares is None else shares[0], 0.0
        )
        if output_mask[0]:
            parts = grad * kept.unsqueeze(1)
            spots = (at + row).reshape(-1)
            added = aten.index_put(added, [spots], parts.reshape(-1), True)
        if output_mask[1] and shares is not None:
            found = (flat.gather(1, at) * slopes).reshape(batch, channels, count)
            along = torch.where(seen, found.sum(1).reshape(x.shape), 0.0)
            for_x = for_x + along * shares[1]
            for_y = for_y + along * shares[2]
    for_grid = torch.stack([for_x * x_slope, for_y * y_slope], -1)
    return (
        added.view(input.shape) if output_mask[0] else None,
        for_grid if output_mask[1] else None,
    )


TABLE: dict[Any, Any] = {
    aten.grid_sampler_2d_backward.default: grid_sampler_2d_backward,
}
