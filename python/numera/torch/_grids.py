# SPDX-License-Identifier: MIT
"""The gradient of samples of images at the places of a grid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE", "places"]

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
"""Of `interpolation_mode`."""
_ZEROS, _BORDER, _REFLECTION = 0, 1, 2
"""Of `padding_mode`."""
_CUBIC = -0.75
"""PyTorch's parameter of the cubic convolution (Keys, 1981)."""


def places(
    given: Tensor, size: int, padding: int, align_corners: bool
) -> tuple[Tensor, Tensor]:
    """Where along an axis, in elements, and by how much that changes."""
    factor = (size - 1) / 2 if align_corners else size / 2
    place = (given + 1) * factor
    if not align_corners:
        place = place - 0.5
    return _inside(place, torch.ones_like(place) * factor, size, padding, align_corners)


def _inside(
    place: Tensor, slope: Tensor, size: int, padding: int, align_corners: bool
) -> tuple[Tensor, Tensor]:
    """Places beyond the ends of an axis by the rule of `padding`."""
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


Corner = tuple[Tensor, Tensor, Tensor, tuple[Tensor, Tensor] | None]
"""Column, line and share of an element of the image, and how the share changes with
the place along both axes; None: not at all."""


def _bilinear(x: Tensor, y: Tensor) -> list[Corner]:
    left, top = x.floor(), y.floor()
    near_x, near_y = x - left, y - top
    far_x, far_y = 1 - near_x, 1 - near_y
    return [
        (left, top, far_x * far_y, (-far_y, -far_x)),
        (left + 1, top, near_x * far_y, (far_y, -near_x)),
        (left, top + 1, far_x * near_y, (-near_y, far_x)),
        (left + 1, top + 1, near_x * near_y, (near_y, near_x)),
    ]


def _cubic_shares(t: Tensor) -> list[tuple[Tensor, Tensor]]:
    """Of the four elements around a place, t behind the second: shares and slopes."""
    a = _CUBIC

    def near(u: Tensor) -> tuple[Tensor, Tensor]:
        share = ((a + 2) * u - (a + 3)) * u * u + 1
        return share, (3 * (a + 2) * u - 2 * (a + 3)) * u

    def far(u: Tensor) -> tuple[Tensor, Tensor]:
        share = ((a * u - 5 * a) * u + 8 * a) * u - 4 * a
        return share, (3 * a * u - 10 * a) * u + 8 * a

    behind = [near(1 - t), far(2 - t)]
    return [far(t + 1), near(t), *((share, -slope) for share, slope in behind)]


def _bicubic(
    x: Tensor, y: Tensor, sizes: tuple[int, int], padding: int, align_corners: bool
) -> list[Corner]:
    """16 elements, each of which is brought inside by itself."""
    axes = []
    for place, size in zip((x, y), sizes):
        first = place.floor()
        taps = []
        for n, (share, slope) in enumerate(_cubic_shares(place - first)):
            at, _ = _inside(first + (n - 1), place, size, padding, align_corners)
            taps.append((at, share, slope))
        axes.append(taps)
    return [
        (column, line, across * down, (change_x * down, across * change_y))
        for line, down, change_y in axes[1]
        for column, across, change_x in axes[0]
    ]


def grid_sampler_2d_backward(
    grad: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None]:
    if not grad.numel():
        return NotImplemented
    batch, channels, height, width = input.shape
    rule = _ZEROS if interpolation_mode == _BICUBIC else padding_mode
    x, x_slope = places(grid[..., 0], width, rule, align_corners)
    y, y_slope = places(grid[..., 1], height, rule, align_corners)
    count = grid.shape[1] * grid.shape[2]
    flat = input.reshape(batch * channels, height * width)
    slopes = grad.reshape(batch * channels, count)
    row = torch.arange(batch * channels).unsqueeze(1) * (height * width)
    added = input.new_zeros([batch * channels * height * width])
    for_x, for_y = torch.zeros_like(x), torch.zeros_like(y)
    if interpolation_mode == _NEAREST:
        corners: list[Corner] = [(x.round(), y.round(), torch.ones_like(x), None)]
    elif interpolation_mode == _BILINEAR:
        corners = _bilinear(x, y)
    else:
        corners = _bicubic(x, y, (width, height), padding_mode, align_corners)
    for column, line, share, slopes_of in corners:
        seen = (column >= 0) & (column < width) & (line >= 0) & (line < height)
        at = torch.where(seen, line, 0.0).long() * width
        at = at + torch.where(seen, column, 0.0).long()
        at = at.reshape(batch, 1, count).expand(batch, channels, count)
        at = at.reshape(batch * channels, count)
        if output_mask[0]:
            parts = grad * torch.where(seen, share, 0.0).unsqueeze(1)
            spots = (at + row).reshape(-1)
            added = aten.index_put(added, [spots], parts.reshape(-1), True)
        if output_mask[1] and slopes_of is not None:
            found = (flat.gather(1, at) * slopes).reshape(batch, channels, count)
            along = torch.where(seen, found.sum(1).reshape(x.shape), 0.0)
            for_x = for_x + along * slopes_of[0]
            for_y = for_y + along * slopes_of[1]
    for_grid = torch.stack([for_x * x_slope, for_y * y_slope], -1)
    return (
        added.view(input.shape) if output_mask[0] else None,
        for_grid if output_mask[1] else None,
    )


TABLE: dict[Any, Any] = {
    aten.grid_sampler_2d_backward.default: grid_sampler_2d_backward,
}
