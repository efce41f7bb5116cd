# SPDX-License-Identifier: MIT
"""Convolutions and pools, forward and backward, in operations that compile well.

A convolution's bias is an addition of its own, and its backward pass is two
convolutions and a sum, so that each is an operation that a policy can name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE"]


def _along_channels(bias: Tensor, rank: int) -> Tensor:
    return bias.view([1, -1] + [1] * (rank - 2))


def convolution(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    if transposed and groups > 1:
        product = _transposed(
            input, weight, stride, padding, dilation, output_padding, groups
        )
        return product if bias is None else product + _along_channels(bias, input.dim())
    if bias is None:
        return NotImplemented
    product = aten.convolution(
        input,
        weight,
        None,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
    )
    return product + _along_channels(bias, input.dim())


def _transposed(
    input: Tensor,
    weight: Tensor,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    """A transposed convolution in groups, as one of the input with zeros between.

    torch-mlir has none where a group has one channel.
    """
    window = weight.shape[2:]
    count = len(window)
    edges: list[int] = []
    for axis in range(count):
        size, step = input.shape[2 + axis], stride[axis]
        if step > 1:
            shape = list(input.shape)
            apart = input.unsqueeze(3 + axis)
            padded = aten.constant_pad_nd(
                apart, [*([0, 0] * (count - 1 - axis)), 0, step - 1], 0.0
            )
            shape[2 + axis] = size * step
            input = padded.reshape(shape).narrow(2 + axis, 0, (size - 1) * step + 1)
        margin = dilation[axis] * (window[axis] - 1) - padding[axis]
        edges = [margin, margin + output_padding[axis], *edges]
    inputs, outputs = weight.shape[0] // groups, weight.shape[1]
    flipped = weight.flip(list(range(2, 2 + count)))
    grouped = flipped.reshape([groups, inputs, outputs, *window]).transpose(1, 2)
    return aten.convolution(
        aten.constant_pad_nd(input, edges, 0.0),
        grouped.reshape([groups * outputs, inputs, *window]),
        None,
        [1] * count,
        [0] * count,
        dilation,
        False,
        [0] * count,
        groups,
    )


def _full(values: Sequence[int], count: int) -> list[int]:
    return list(values) * count if len(values) == 1 else list(values)


def convolution_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    bias_sizes: Sequence[int] | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    count = input.dim() - 2
    stride, padding = _full(stride, count), _full(padding, count)
    dilation = _full(dilation, count)
    for_input = for_weight = for_bias = None
    zeros = [0] * count
    if output_mask[0]:
        if transposed:
            for_input = aten.convolution(
                grad, weight, None, stride, padding, dilation, False, zeros, groups
            )
        else:
            rest = [
                size - ((out - 1) * step - 2 * pad + reach * (kernel - 1) + 1)
                for size, out, step, pad, reach, kernel in zip(
                    input.shape[2:],
                    grad.shape[2:],
                    stride,
                    padding,
                    dilation,
                    weight.shape[2:],
                )
            ]
            for_input = aten.convolution(
                grad, weight, None, stride, padding, dilation, True, rest, groups
            )
    if output_mask[1]:
        small, large = (input, grad) if transposed else (grad, input)
        for_weight = _for_weight(
            large, small, weight.shape, stride, padding, dilation, groups
        )
    if output_mask[2]:
        for_bias = grad.sum([0, *range(2, grad.dim())])
    return for_input, for_weight, for_bias


def _for_weight(
    large: Tensor,
    small: Tensor,
    shape: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Tensor:
    """The gradient of the weight: `large` convolved with `small`, over the batch.

    ``weight[o, i, k] = sum over n, p of small[n, o, p] * large[n, i, p·s + k·d]``,
    which is a convolution whose channels are the batch; what was the stride is
    the dilation.
    """
    batch, channels = large.shape[:2]
    window = shape[2:]
    if groups == 1:
        left, right = large.transpose(0, 1), small.transpose(0, 1)
    else:  # one group after the other, as channels of one image
        each = channels // groups
        left = (
            large.reshape(batch, groups, each, *large.shape[2:])
            .permute(2, 1, 0, *range(3, large.dim() + 1))
            .reshape(each, groups * batch, *large.shape[2:])
        )
        right = small.transpose(0, 1)
    result = aten.convolution(
        left, right, None, dilation, padding, stride, False, [0] * len(window), groups
    )
    # Rows that the strides left over see too far.
    for axis, size in enumerate(window):
        result = result.narrow(2 + axis, 0, size)
    return result.transpose(0, 1)


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
        else _scatter(grad, input, indices)
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


def _scatter(grad: Tensor, input: Tensor, indices: Tensor) -> Tensor:
    """Windows that overlap: gradients are added to where they came from, in
    the order of the windows."""
    planes = math.prod(input.shape[:-2])
    size = input.shape[-2] * input.shape[-1]
    offsets = torch.arange(planes, device=grad.device).unsqueeze(1) * size
    places = (indices.reshape(planes, -1) + offsets).reshape(-1)
    flat = grad.new_zeros([planes * size])
    added = aten.index_put(flat, [places], grad.reshape(-1), True)
    return added.view(input.shape)


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
    """Each gradient, divided by the count, goes to its window: a transposed
    convolution, channel by channel, with ones."""
    kernel = _full(kernel_size, 2)
    stride = _full(stride, 2) if stride else kernel
    padding = _full(padding, 2)
    if ceil_mode or (any(padding) and not count_include_pad):
        return NotImplemented
    divided = grad / (divisor_override or kernel[0] * kernel[1])
    height, width = input.shape[-2:]
    if kernel == stride and not any(padding):
        rows, columns = grad.shape[-2:]
        lead = list(grad.shape[:-2])
        small = divided.view([*lead, rows, 1, columns, 1])
        large = small.expand([*lead, rows, kernel[0], columns, kernel[1]])
        tall, wide = rows * kernel[0], columns * kernel[1]
        result = large.reshape([*lead, tall, wide])
        if (tall, wide) == (height, width):
            return result
        return aten.constant_pad_nd(result, [0, width - wide, 0, height - tall], 0.0)
    lead = list(input.shape[:-2])
    images = divided.reshape([-1, 1, *grad.shape[-2:]])
    rest = [
        size - ((out - 1) * step - 2 * pad + reach)
        for size, out, step, pad, reach in zip(
            input.shape[-2:], grad.shape[-2:], stride, padding, kernel
        )
    ]
    ones = grad.new_ones([1, 1, *kernel])
    spread = aten.convolution(
        images, ones, None, stride, padding, [1, 1], True, rest, 1
    )
    return spread.view([*lead, height, width])


def _adaptive_avg_pool2d(input: Tensor, output_size: Sequence[int]) -> Tensor:
    """Windows of one size, where they are: sums of equal parts."""
    height, width = input.shape[-2:]
    rows, columns = output_size
    if height % rows or width % columns:
        return NotImplemented
    lead = list(input.shape[:-2])
    parts = input.reshape([*lead, rows, height // rows, columns, width // columns])
    count = (height // rows) * (width // columns)
    return parts.sum([-3, -1]) / count


def _adaptive_avg_pool2d_backward(grad: Tensor, input: Tensor) -> Tensor:
    height, width = input.shape[-2:]
    rows, columns = grad.shape[-2:]
    if height % rows or width % columns:
        return NotImplemented
    lead = list(input.shape[:-2])
    tall, wide = height // rows, width // columns
    divided = (grad / (tall * wide)).view([*lead, rows, 1, columns, 1])
    return divided.expand([*lead, rows, tall, columns, wide]).reshape(input.shape)


# ---- interpolation ----------------------------------------------------------


def _interpolation(
    size: int, count: int, align_corners: bool, scale: float | None
) -> Tensor:
    """[count, size]: how much each output takes of each input along an axis."""
    if align_corners:
        step = (size - 1) / (count - 1) if count > 1 else 0.0
        places = [step * i for i in range(count)]
    else:
        step = 1 / scale if scale else size / count
        places = [max(step * (i + 0.5) - 0.5, 0.0) for i in range(count)]
    rows = []
    for place in places:
        place = min(place, size - 1)
        low = int(place)
        row = [0.0] * size
        row[low] = 1 - (place - low)
        if low + 1 < size:
            row[low + 1] = place - low
        rows.append(row)
    return torch.tensor(rows)


def upsample_bilinear2d(
    input: Tensor,
    output_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    """A product with a matrix along each axis."""
    height, width = input.shape[-2:]
    down = _interpolation(height, output_size[0], align_corners, scales_h)
    along = _interpolation(width, output_size[1], align_corners, scales_w)
    return down.to(input.dtype) @ (input @ along.to(input.dtype).t())


def upsample_bilinear2d_backward(
    grad: Tensor,
    output_size: Sequence[int],
    input_size: Sequence[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    height, width = input_size[-2:]
    down = _interpolation(height, output_size[0], align_corners, scales_h)
    along = _interpolation(width, output_size[1], align_corners, scales_w)
    return down.to(grad.dtype).t() @ (grad @ along.to(grad.dtype))


TABLE: dict[Any, Any] = {
    aten.convolution.default: convolution,
    aten.convolution_backward.default: convolution_backward,
    aten.max_pool2d_with_indices_backward.default: max_pool2d_with_indices_backward,
    aten.upsample_bilinear2d.default: upsample_bilinear2d,
    aten.upsample_bilinear2d_backward.default: upsample_bilinear2d_backward,
    aten.avg_pool2d_backward.default: avg_pool2d_backward,
    aten._adaptive_avg_pool2d.default: _adaptive_avg_pool2d,
    aten._adaptive_avg_pool2d_backward.default: _adaptive_avg_pool2d_backward,
}
