# SPDX-License-Identifier: MIT
"""Pools, forward and backward, in operations that compile well."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

aten = torch.ops.aten

__all__ = ["TABLE"]


def _full(values: Sequence[int], count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


# ---- largest elements -------------------------------------------------------


def max_pool2d_with_indices_backward(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    kernel = _full(kernel_size, 2)
    stride = _full(stride, 2) if stride else kernel
    apart = (
        kernel == stride
        and not any(padding)
        and all(step == 1 for step in dilation)
        and not ceil_mode
    )
    return (
        _spread(grad, input, kernel, indices)
        if apart
        else _scatter(grad, input, indices, 2)
    )


def _spread(
    grad: Tensor, input: Tensor, kernel: Sequence[int], indices: Tensor
) -> Tensor:
    """Windows that do not overlap: each place compares itself with the index."""
    height, width = input.shape[-2:]
    rows, columns = grad.shape[-2:]
    lead = list(grad.shape[:-2])
    tall, wide = rows * kernel[0], columns * kernel[1]

    def spread(value: Tensor) -> Tensor:
        small = value.view([*lead, rows, 1, columns, 1])
        large = small.expand([*lead, rows, kernel[0], columns, kernel[1]])
        return large.reshape([*lead, tall, wide])

    row = torch.arange(tall, device=grad.device).unsqueeze(1) * width
    place = row + torch.arange(wide, device=grad.device)
    result = torch.where(spread(indices) == place, spread(grad), 0.0)
    if (tall, wide) == (height, width):
        return result
    return aten.constant_pad_nd(result, [0, width - wide, 0, height - tall], 0.0)


def _scatter(grad: Tensor, input: Tensor, indices: Tensor, count: int) -> Tensor:
    """Windows that overlap: gradients are added to where they came from, in
    the order of the windows."""
    if not grad.numel():
        return torch.zeros_like(input)
    planes = math.prod(input.shape[:-count])
    size = math.prod(input.shape[-count:])
    offsets = torch.arange(planes, device=grad.device).unsqueeze(1) * size
    places = (indices.reshape(planes, -1) + offsets).reshape(-1)
    flat = grad.new_zeros([planes * size])
    added = aten.index_put(flat, [places], grad.reshape(-1), True)
    return added.view(input.shape)


def max_pool3d_with_indices_backward(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    ceil_mode: bool,
    indices: Tensor,
) -> Tensor:
    return _scatter(grad, input, indices, 3)


def adaptive_max_pool2d_backward(
    grad: Tensor, input: Tensor, indices: Tensor
) -> Tensor:
    return _scatter(grad, input, indices, 2)


def adaptive_max_pool3d_backward(
    grad: Tensor, input: Tensor, indices: Tensor
) -> Tensor:
    return _scatter(grad, input, indices, 3)


# ---- averages of windows ----------------------------------------------------


Bounds = tuple[Tensor, Tensor]
"""Where windows start and end along an axis."""


def _count(bounds: Sequence[Bounds], like: Tensor) -> Tensor:
    """How many elements windows have."""
    count = torch.ones([], dtype=torch.int64)
    for start, end in bounds:
        count = count.unsqueeze(-1) * (end - start)
    return count.to(like.dtype)


def _avg_pool_backward(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    include_pad: bool,
    divisor_override: int | None,
    count: int,
) -> Tensor:
    """Each gradient, divided by the count, goes to its window: a transposed
    convolution, channel by channel, with ones."""
    if not grad.numel():
        return torch.zeros_like(input)
    kernel = _full(kernel_size, count)
    stride = _full(stride, count) if stride else kernel
    padding = _full(padding, count)
    sizes, outs = input.shape[-count:], grad.shape[-count:]
    divisor: Any = divisor_override or math.prod(kernel)
    if not divisor_override and (ceil_mode or (any(padding) and not include_pad)):
        bounds = []
        for size, out, step, pad, reach in zip(sizes, outs, stride, padding, kernel):
            start = torch.arange(out) * step - pad
            end = (start + reach).clamp(max=size + pad)
            if not include_pad:
                start, end = start.clamp(min=0), end.clamp(max=size)
            bounds.append((start, end))
        divisor = _count(bounds, grad)
    divided = grad / divisor
    if count == 2 and kernel == stride and not any(padding):
        lead = list(grad.shape[:-2])
        small = divided.view([*lead, outs[0], 1, outs[1], 1])
        large = small.expand([*lead, outs[0], kernel[0], outs[1], kernel[1]])
        spread = large.reshape([*lead, outs[0] * kernel[0], outs[1] * kernel[1]])
    else:
        ones = grad.new_ones([1, 1, *kernel])
        zeros = [0] * count
        spread = aten.convolution(
            divided.reshape([-1, 1, *outs]),
            ones,
            None,
            stride,
            zeros,
            [1] * count,
            True,
            zeros,
            1,
        )
    edges: list[int] = []
    for axis, (size, pad) in enumerate(zip(sizes, padding)):
        axis += spread.dim() - count
        kept = min(spread.shape[axis] - pad, size)
        spread = spread.narrow(axis, pad, kept)
        edges = [0, size - kept, *edges]
    if any(edges):
        spread = aten.constant_pad_nd(spread, edges, 0.0)
    return spread.reshape(input.shape)


def avg_pool2d_backward(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    rest = ceil_mode, count_include_pad, divisor_override
    return _avg_pool_backward(grad, input, kernel_size, stride, padding, *rest, 2)


def avg_pool3d_backward(
    grad: Tensor,
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    rest = ceil_mode, count_include_pad, divisor_override
    return _avg_pool_backward(grad, input, kernel_size, stride, padding, *rest, 3)


# ---- averages of as many windows as are asked for ---------------------------


def _bounds(size: int, count: int) -> Bounds:
    places = torch.arange(count) * size
    start = torch.div(places, count, rounding_mode="trunc")
    end = torch.div(places + (size + count - 1), count, rounding_mode="trunc")
    return start, end


def _windows(size: int, count: int, like: Tensor) -> Tensor:
    """[count, size]: 1 where a window has an element along an axis."""
    start, end = _bounds(size, count)
    place = torch.arange(size)
    inside = (place >= start.unsqueeze(1)) & (place < end.unsqueeze(1))
    return torch.where(inside, like.new_ones([]), 0.0)


def _counts(input: Tensor, outs: Sequence[int]) -> Tensor:
    sizes = input.shape[-len(outs) :]
    return _count([_bounds(*each) for each in zip(sizes, outs)], input)


def _product(value: Tensor, axis: int, matrix: Tensor) -> Tensor:
    return (value.movedim(axis, -1) @ matrix).movedim(-1, axis)


def _laid_out_as(result: Tensor, images: Tensor) -> Tensor:
    return result.contiguous(memory_format=suggest_memory_format(images))


def _adaptive_avg_pool(input: Tensor, outs: Sequence[int]) -> Tensor:
    """A product with a matrix of ones and zeros along each axis."""
    if not input.numel():
        return input.new_zeros([*input.shape[: -len(outs)], *outs])
    total = input
    for axis, out in enumerate(outs, -len(outs)):
        total = _product(total, axis, _windows(input.shape[axis], out, input).t())
    total = total / _counts(input, outs)
    return _laid_out_as(total, input) if len(outs) == 2 else total


def _adaptive_avg_pool_backward(grad: Tensor, input: Tensor, count: int) -> Tensor:
    if not grad.numel():
        return torch.zeros_like(input)
    spread = grad / _counts(input, grad.shape[-count:])
    for axis in range(-count, 0):
        windows = _windows(input.shape[axis], grad.shape[axis], grad)
        spread = _product(spread, axis, windows)
    return spread


def _divides(sizes: Sequence[int], outs: Sequence[int]) -> bool:
    return all(out and size % out == 0 for size, out in zip(sizes, outs))


def _adaptive_avg_pool2d(input: Tensor, output_size: Sequence[int]) -> Tensor:
    """Windows of one size, where they are: sums of equal parts."""
    height, width = input.shape[-2:]
    rows, columns = output_size
    if not _divides((height, width), (rows, columns)):
        return _adaptive_avg_pool(input, output_size)
    lead = list(input.shape[:-2])
    parts = input.reshape([*lead, rows, height // rows, columns, width // columns])
    count = (height // rows) * (width // columns)
    return _laid_out_as(parts.sum([-3, -1]) / count, input)


def _adaptive_avg_pool2d_backward(grad: Tensor, input: Tensor) -> Tensor:
    height, width = input.shape[-2:]
    rows, columns = grad.shape[-2:]
    if not _divides((height, width), (rows, columns)):
        return _adaptive_avg_pool_backward(grad, input, 2)
    lead = list(input.shape[:-2])
    tall, wide = height // rows, width // columns
    divided = (grad / (tall * wide)).view([*lead, rows, 1, columns, 1])
    return divided.expand([*lead, rows, tall, columns, wide]).reshape(input.shape)


# ---- the largest elements of windows, and where they are ---------------------


def _largest(
    input: Tensor, places: Sequence[Tensor], counts: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """The largest elements of windows, and their places in a plane: the first of
    equal ones, the last of NaN.

    places  along each axis the elements of the windows, one window behind the other;
            an element may stand in a window twice.
    counts  how many windows there are.
    """
    dims = len(counts)
    value, place = input, torch.zeros([], dtype=torch.int64)
    for axis, taken in enumerate(places, -dims):
        value = value.index_select(axis, taken)
        place = place.unsqueeze(-1) * input.shape[axis] + taken
    lead = value.shape[:-dims]
    windows = [n for out, all in zip(counts, place.shape) for n in (out, all // out)]
    order = [*range(0, 2 * dims, 2), *range(1, 2 * dims, 2)]
    place = place.view(windows).permute(order).reshape([*counts, -1])
    order = [*range(len(lead)), *(len(lead) + each for each in order)]
    value = value.reshape([*lead, *windows]).permute(order)
    value = value.reshape([*lead, *counts, -1])
    place = place.expand(value.shape)
    largest, first = value.max(-1, keepdim=True)
    found = place.gather(-1, first).squeeze(-1)
    absent = torch.where(value.isnan(), place, -1).amax(-1)
    return largest.squeeze(-1), torch.where(absent >= 0, absent, found)


def _adaptive_max_pool(input: Tensor, outs: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Windows of several sizes: those that are short have their last elements again,
    which are the largest only where they were before."""
    sizes = input.shape[-len(outs) :]
    if not input.numel():
        return NotImplemented
    if len(outs) == 2 and _divides(sizes, outs):
        kernel = [size // out for size, out in zip(sizes, outs)]
        return aten.max_pool2d_with_indices.default(input, kernel)
    places = []
    for size, out in zip(sizes, outs):
        start, end = _bounds(size, out)
        longest = max(-(-(i + 1) * size // out) - i * size // out for i in range(out))
        within = torch.minimum(torch.arange(longest), (end - start - 1).unsqueeze(1))
        places.append((start.unsqueeze(1) + within).reshape(-1))
    largest, found = _largest(input, places, outs)
    if len(outs) == 2:
        largest, found = _laid_out_as(largest, input), _laid_out_as(found, input)
    return largest, found


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int] = (),
    padding: Sequence[int] = (0,),
    dilation: Sequence[int] = (1,),
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """What lies outside of the tensor has the window's first element again."""
    if not input.numel():
        return NotImplemented
    kernel = _full(kernel_size, 3)
    stride = _full(stride, 3) if stride else kernel
    places, counts = [], []
    for size, reach, step, pad, apart in zip(
        input.shape[-3:], kernel, stride, _full(padding, 3), _full(dilation, 3)
    ):
        room = size + 2 * pad - apart * (reach - 1) - 1
        count = (room + (step - 1 if ceil_mode else 0)) // step + 1
        if ceil_mode and (count - 1) * step >= size + pad:
            count -= 1
        start = (torch.arange(count) * step - pad).unsqueeze(1)
        first = start + ((apart - 1 - start).clamp(min=0) // apart) * apart
        taken = start + torch.arange(reach) * apart
        inside = (taken >= 0) & (taken < size)
        places.append(torch.where(inside, taken, first).reshape(-1))
        counts.append(count)
    return _largest(input, places, counts)


# ---- images that are no batch ------------------------------------------------


def max_pool2d_with_indices(input: Tensor, *rest: Any) -> tuple[Tensor, Tensor]:
    if input.dim() != 3:
        return NotImplemented
    largest, places = aten.max_pool2d_with_indices.default(input.unsqueeze(0), *rest)
    return largest.squeeze(0), places.squeeze(0)


def avg_pool2d(input: Tensor, *rest: Any) -> Tensor:
    if input.dim() != 3:
        return NotImplemented
    return aten.avg_pool2d.default(input.unsqueeze(0), *rest).squeeze(0)


TABLE: dict[Any, Any] = {
    aten.max_pool2d_with_indices.default: max_pool2d_with_indices,
    aten.avg_pool2d.default: avg_pool2d,
    aten.max_pool2d_with_indices_backward.default: max_pool2d_with_indices_backward,
    aten.max_pool3d_with_indices_backward.default: max_pool3d_with_indices_backward,
    aten.adaptive_max_pool2d_backward.default: adaptive_max_pool2d_backward,
    aten.adaptive_max_pool3d_backward.default: adaptive_max_pool3d_backward,
    aten.max_pool3d_with_indices.default: max_pool3d_with_indices,
    aten.avg_pool2d_backward.default: avg_pool2d_backward,
    aten.avg_pool3d_backward.default: avg_pool3d_backward,
    aten.adaptive_max_pool2d.default: _adaptive_max_pool,
    aten.adaptive_max_pool3d.default: _adaptive_max_pool,
    aten._adaptive_avg_pool2d.default: _adaptive_avg_pool2d,
    aten._adaptive_avg_pool2d_backward.default: _adaptive_avg_pool2d_backward,
    aten._adaptive_avg_pool3d.default: _adaptive_avg_pool,
    aten._adaptive_avg_pool3d_backward.default: (
        lambda grad, input: _adaptive_avg_pool_backward(grad, input, 3)
    ),
}
