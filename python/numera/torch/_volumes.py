# SPDX-License-Identifier: MIT
"""Samples of volumes at the places of a grid, and their gradient."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from numera.torch._grids import places

aten = torch.ops.aten

__all__ = ["TABLE"]

_LINEAR = 0
"""Of `interpolation_mode`; another one is the nearest element."""

Axis = tuple[Tensor, Tensor]
"""Where along an axis, in elements, and how that changes with the grid."""


def _axes(
    input: Tensor, grid: Tensor, padding_mode: int, align_corners: bool
) -> list[Axis]:
    """From the last one to the first one, as a grid has them."""
    return [
        places(grid[..., n], input.shape[4 - n], padding_mode, align_corners)
        for n in range(3)
    ]


def _corners(
    axes: list[Axis], sizes: Sequence[int], is_linear: bool
) -> Iterator[tuple[Tensor, Tensor, list[Tensor], list[Tensor]]]:
    """Of each element that a sample has a share of: which one it is, whether there is
    such an element, its shares along the axes, and how these change."""
    ends: list[list[tuple[Tensor, Tensor, Tensor]]] = []
    for place, _ in axes:
        one = torch.ones_like(place)
        if is_linear:
            first = place.floor()
            rest = place - first
            ends.append([(first, 1 - rest, -one), (first + 1, rest, one)])
        else:
            ends.append([(place.round(), one, torch.zeros_like(place))])
    for corner in itertools.product(*ends):
        at = seen = None
        for (spot, _, _), size in reversed(list(zip(corner, sizes))):
            inside = (spot >= 0) & (spot < size)
            spot = torch.where(inside, spot, 0.0).long()
            at = spot if at is None else at * size + spot
            seen = inside if seen is None else seen & inside
        assert at is not None and seen is not None
        yield at, seen, [each[1] for each in corner], [each[2] for each in corner]


def _spread(at: Tensor, input: Tensor) -> Tensor:
    """Places in each channel of each volume."""
    batch, channels = input.shape[:2]
    return at.reshape(batch, 1, -1).expand(batch, channels, -1)


def grid_sampler_3d(
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
) -> Tensor:
    if not input.numel() or not grid.numel():
        return NotImplemented
    axes = _axes(input, grid, padding_mode, align_corners)
    flat = input.reshape(*input.shape[:2], -1)
    shape = [*input.shape[:2], *grid.shape[1:4]]
    total = input.new_zeros(shape)
    is_linear = interpolation_mode == _LINEAR
    for at, seen, (x, y, z), _ in _corners(axes, input.shape[:1:-1], is_linear):
        found = flat.gather(2, _spread(at, input)).reshape(shape)
        share = torch.where(seen, x * y * z, 0.0).unsqueeze(1)
        total = total + found * share
    return total


def grid_sampler_3d_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> Any:
    if not input.numel() or not grid.numel():
        return NotImplemented
    axes = _axes(input, grid, padding_mode, align_corners)
    planes = input.shape[0] * input.shape[1]
    flat = input.reshape(*input.shape[:2], -1)
    count = flat.shape[2]
    row = torch.arange(planes).unsqueeze(1) * count
    added = input.new_zeros([planes * count])
    slopes = [torch.zeros_like(place) for place, _ in axes]
    is_linear = interpolation_mode == _LINEAR
    for at, seen, shares, changes in _corners(axes, input.shape[:1:-1], is_linear):
        spots = _spread(at, input)
        if output_mask[0]:
            share = torch.where(seen, shares[0] * shares[1] * shares[2], 0.0)
            parts = (grad_output * share.unsqueeze(1)).reshape(-1)
            where = (spots.reshape(planes, -1) + row).reshape(-1)
            added = aten.index_put(added, [where], parts, True)
        if output_mask[1] and is_linear:
            found = flat.gather(2, spots).reshape(grad_output.shape)
            along = torch.where(seen, (found * grad_output).sum(1), 0.0)
            for n in range(3):
                others = [shares[k] for k in range(3) if k != n]
                slopes[n] = slopes[n] + along * changes[n] * others[0] * others[1]
    slopes = [slope * change for slope, (_, change) in zip(slopes, axes)]
    return (
        added.view(input.shape) if output_mask[0] else None,
        torch.stack(slopes, -1) if output_mask[1] else None,
    )


TABLE: dict[Any, Any] = {
    aten.grid_sampler_3d.default: grid_sampler_3d,
    aten.grid_sampler_3d_backward.default: grid_sampler_3d_backward,
}
