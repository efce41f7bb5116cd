# SPDX-License-Identifier: MIT
"""Convolutions, interpolation and `unfold`, in operations that compile well.

A convolution's bias is an addition of its own, and its backward pass is two
convolutions and a sum, so that each is an operation that a policy can name.
"""

from __future__ import annotations

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
        if weight.dim() < 5 or not 1 < groups == weight.shape[0]:
            return NotImplemented
        # One channel of a volume in each group, of which torch-mlir knows none: twice.
        twice = aten.convolution(
            input,
            weight.unsqueeze(1).expand(-1, 2, *weight.shape[1:]).flatten(0, 1),
            *(None, stride, padding, dilation, transposed, output_padding, groups),
        )
        return twice.unflatten(1, [groups, 2]).narrow(2, 0, 1).flatten(1, 2)
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


def conv_tbc(self: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Of time, batch and channels in this order."""
    images, window = self.permute(1, 2, 0), weight.permute(2, 1, 0)
    found = aten.convolution(images, window, bias, [1], [pad], [1], False, [0], 1)
    return found.permute(2, 0, 1).contiguous()


def conv_tbc_backward(
    grad: Tensor, input: Tensor, weight: Tensor, bias: Tensor, pad: int
) -> tuple[Tensor, Tensor, Tensor]:
    grad, images = grad.permute(1, 2, 0), input.permute(1, 2, 0)
    kernel, one = weight.permute(2, 1, 0), [1]
    for_images, for_kernel, for_bias = convolution_backward(
        *(grad, images, kernel, bias.shape, one, [pad], one),
        *(False, [0], 1, (True, True, True)),
    )
    assert for_images is not None and for_kernel is not None and for_bias is not None
    return for_images.permute(2, 0, 1), for_kernel.permute(2, 1, 0), for_bias


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


def unfold_backward(
    grad: Tensor, input_size: Sequence[int], dim: int, size: int, step: int
) -> Tensor:
    """Each element has the sum of the windows that it is in."""
    if not input_size:
        return grad.squeeze(0)
    dim %= len(input_size)
    starts = torch.arange(grad.shape[dim]) * step
    places = (starts.unsqueeze(1) + torch.arange(size)).reshape(-1)
    windows = grad.movedim(-1, dim + 1).flatten(dim, dim + 1).movedim(dim, 0)
    shape = [input_size[dim], *input_size[:dim], *input_size[dim + 1 :]]
    sums = aten.index_put(grad.new_zeros(shape), [places], windows, True)
    return sums.movedim(0, dim)


# ---- edges ------------------------------------------------------------------


def constant_pad(self: Tensor, pad: Sequence[int], value: Any = 0) -> Tensor:
    """What a negative edge takes away goes first: in MLIR, a tensor whose edges add
    nothing to its sizes is the tensor itself."""
    if all(edge >= 0 for edge in pad):
        return NotImplemented
    for place, edge in enumerate(pad):
        axis = self.dim() - 1 - place // 2
        if edge < 0:
            kept = self.shape[axis] + edge
            self = self.narrow(axis, -edge if place % 2 == 0 else 0, kept)
    edges = [max(edge, 0) for edge in pad]
    return aten.constant_pad_nd(self, edges, value) if any(edges) else self.clone()


def replication_pad_backward(
    grad: Tensor, self: Tensor, padding: Sequence[int]
) -> Tensor:
    """Each element has the sum of its copies."""
    count = len(padding) // 2
    sizes = self.shape[-count:]
    places = torch.zeros([], dtype=torch.int64)
    for axis, size in enumerate(sizes):
        first, wide = padding[2 * (count - 1 - axis)], grad.shape[axis - count]
        along = (torch.arange(wide) - first).clamp(0, size - 1)
        places = places.unsqueeze(-1) * size + along
    rows = grad.flatten(-count).movedim(-1, 0)
    sums = rows.new_zeros([sizes.numel(), *rows.shape[1:]])
    sums = aten.index_put(sums, [places.reshape(-1)], rows, True)
    return sums.movedim(0, -1).reshape(self.shape)


def roll(self: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """Without dimensions, elements move as if they were in a row."""
    if dims:
        sizes = [max(self.shape[axis], 1) for axis in dims]
        once = [shift % size for shift, size in zip(shifts, sizes)]
        if once == list(shifts):
            return NotImplemented
        return aten.roll(self, once, dims)
    return aten.roll(self.reshape(-1), shifts, [0]).view(self.shape)


TABLE: dict[Any, Any] = {
    aten.roll.default: roll,
    aten.constant_pad_nd.default: constant_pad,
    aten.replication_pad1d_backward.default: replication_pad_backward,
    aten.replication_pad2d_backward.default: replication_pad_backward,
    aten.replication_pad3d_backward.default: replication_pad_backward,
    aten.conv_tbc.default: conv_tbc,
    aten.conv_tbc_backward.default: conv_tbc_backward,
    aten.convolution.default: convolution,
    aten.convolution_backward.default: convolution_backward,
    aten.upsample_bilinear2d.default: upsample_bilinear2d,
    aten.upsample_bilinear2d_backward.default: upsample_bilinear2d_backward,
    aten.unfold_backward.default: unfold_backward,
}
