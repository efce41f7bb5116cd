# SPDX-License-Identifier: MIT
"""Images in other sizes, smoothed before they are made smaller: a product with a matrix
along each axis."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from numera.torch._constants import constant

aten = torch.ops.aten

__all__ = ["TABLE"]

_CUBIC = -0.5
"""The parameter of the cubic convolution (Keys, 1981) where it smooths."""


def _triangle(x: float) -> float:
    return max(1 - abs(x), 0.0)


def _cubic(x: float) -> float:
    a, x = _CUBIC, abs(x)
    if x < 1:
        return ((a + 2) * x - (a + 3)) * x * x + 1
    return (((x - 5) * x + 8) * x - 4) * a if x < 2 else 0.0


def _lanczos(x: float) -> float:
    if x == 0:
        return 1.0
    x *= math.pi
    return math.sin(x) / x * math.sin(x / 3) / (x / 3) if abs(x) < 3 * math.pi else 0.0


def _shares(
    size: int,
    count: int,
    align_corners: bool,
    scale: float | None,
    reach: int,
    share: Callable[[float], float],
) -> list[list[float]]:
    """[count, size]: how much each output takes of each input, by a filter that is
    zero from `reach` on, and as wide as an output where that is more than an input."""
    if align_corners:
        step = (size - 1) / (count - 1) if count > 1 else 0.0
    else:
        step = 1 / scale if scale else size / count
    wide = max(step, 1.0)
    rows = []
    for place in range(count):
        centre = step * (place + 0.5)  # with align_corners, too
        low = max(int(centre - reach * wide + 0.5), 0)
        high = min(int(centre + reach * wide + 0.5), size)
        row = [
            share((at - centre + 0.5) / wide) if low <= at < high else 0.0
            for at in range(size)
        ]
        total = sum(row) or 1.0
        rows.append([each / total for each in row])
    return rows


def _resized(reach: int, share: Callable[[float], float]) -> tuple[Any, Any]:
    """The operator of a filter, and its gradient."""

    def matrices(
        sizes: Sequence[int],
        counts: Sequence[int],
        align_corners: bool,
        scales: Sequence[float | None],
        kind: torch.dtype,
    ) -> list[Tensor]:
        return [
            constant(_shares(size, count, align_corners, scale, reach, share), kind)
            for size, count, scale in zip(sizes[-2:], counts, scales)
        ]

    def forward(
        self: Tensor,
        output_size: Sequence[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Tensor:
        if not self.is_floating_point():
            return NotImplemented
        scales = (scales_h, scales_w)
        down, along = matrices(
            self.shape, output_size, align_corners, scales, self.dtype
        )
        return down @ (self @ along.t())

    def backward(
        grad_output: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Tensor:
        scales, kind = (scales_h, scales_w), grad_output.dtype
        down, along = matrices(input_size, output_size, align_corners, scales, kind)
        return down.t() @ (grad_output @ along)

    return forward, backward


_LINEAR = _resized(1, _triangle)
_BICUBIC = _resized(2, _cubic)
_LANCZOS = _resized(3, _lanczos)


TABLE: dict[Any, Any] = {
    aten._upsample_bilinear2d_aa.default: _LINEAR[0],
    aten._upsample_bilinear2d_aa_backward.default: _LINEAR[1],
    aten._upsample_bicubic2d_aa.default: _BICUBIC[0],
    aten._upsample_bicubic2d_aa_backward.default: _BICUBIC[1],
    aten._upsample_lanczos2d_aa.default: _LANCZOS[0],
    aten._upsample_lanczos2d_aa_backward.default: _LANCZOS[1],
}
