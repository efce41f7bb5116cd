# SPDX-License-Identifier: MIT
"""Norms, means and variances in the model's own type.

What torch-mlir makes of them computes in f64 in between.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

aten = torch.ops.aten

__all__ = ["TABLE"]

_Optional = Tensor | None


def _count(input: Tensor, axes: Sequence[int]) -> int:
    return math.prod(input.shape[axis] for axis in axes)


def _moments(input: Tensor, axes: list[int]) -> tuple[Tensor, Tensor]:
    """Mean and (biased) variance, with the axes kept."""
    count = _count(input, axes)
    mean = input.sum(axes, keepdim=True) / count
    centred = input - mean
    return mean, (centred * centred).sum(axes, keepdim=True) / count


def _along(vector: Tensor, rank: int) -> Tensor:
    return vector.view([1, -1] + [1] * (rank - 2))


def _scaled(normal: Tensor, weight: _Optional, bias: _Optional) -> Tensor:
    if weight is not None:
        normal = normal * weight
    return normal if bias is None else normal + bias


def _batch_norm(
    input: Tensor,
    weight: _Optional,
    bias: _Optional,
    running_mean: _Optional,
    running_var: _Optional,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, _Optional, _Optional]:
    rank = input.dim()
    axes = [0, *range(2, rank)]
    if training:
        mean, variance = _moments(input, axes)
        inverse = torch.rsqrt(variance + eps)
        if running_mean is not None:
            flat = mean.reshape(-1)
            running_mean = flat * momentum + running_mean * (1 - momentum)
        if running_var is not None:
            count = _count(input, axes)
            unbiased = variance.reshape(-1) * (count / max(count - 1, 1))
            running_var = unbiased * momentum + running_var * (1 - momentum)
        saved = mean.reshape(-1), inverse.reshape(-1)
    else:
        assert running_mean is not None and running_var is not None
        mean = _along(running_mean, rank)
        inverse = _along(torch.rsqrt(running_var + eps), rank)
        saved = input.new_zeros([0]), input.new_zeros([0])
    normal = (input - mean) * inverse
    result = _scaled(
        normal,
        None if weight is None else _along(weight, rank),
        None if bias is None else _along(bias, rank),
    )
    return result, *saved, running_mean, running_var


def _native_batch_norm_legit_functional(
    input: Tensor,
    weight: _Optional,
    bias: _Optional,
    running_mean: Tensor,
    running_var: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    return _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )


def _native_batch_norm_legit_no_stats(
    input: Tensor,
    weight: _Optional,
    bias: _Optional,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    return _batch_norm(input, weight, bias, None, None, training, momentum, eps)[:3]


def _native_batch_norm_legit_no_training(
    input: Tensor,
    weight: _Optional,
    bias: _Optional,
    running_mean: Tensor,
    running_var: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    return _batch_norm(
        input, weight, bias, running_mean, running_var, False, momentum, eps
    )[:3]


def native_batch_norm(
    input: Tensor,
    weight: _Optional,
    bias: _Optional,
    running_mean: _Optional,
    running_var: _Optional,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Any, ...]:
    if training and running_mean is not None:
        return NotImplemented  # it would be changed in place
    return _batch_norm(
        input, weight, bias, running_mean, running_var, training, momentum, eps
    )[:3]


def native_batch_norm_backward(
    grad: Tensor,
    input: Tensor,
    weight: _Optional,
    running_mean: _Optional,
    running_var: _Optional,
    save_mean: _Optional,
    save_invstd: _Optional,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> tuple[_Optional, _Optional, _Optional]:
    rank = input.dim()
    axes = [0, *range(2, rank)]
    if train:
        assert save_mean is not None and save_invstd is not None
        mean, inverse = _along(save_mean, rank), _along(save_invstd, rank)
    else:
        assert running_mean is not None and running_var is not None
        mean = _along(running_mean, rank)
        inverse = _along(torch.rsqrt(running_var + eps), rank)
    normal = (input - mean) * inverse
    total = grad.sum(axes)
    along = (grad * normal).sum(axes)
    factor = inverse if weight is None else inverse * _along(weight, rank)
    if train:
        count = _count(input, axes)
        inner = grad - _along(total, rank) / count
        for_input = (inner - normal * (_along(along, rank) / count)) * factor
    else:
        for_input = grad * factor
    return (
        for_input if output_mask[0] else None,
        along if output_mask[1] else None,
        total if output_mask[2] else None,
    )


def native_layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: _Optional,
    bias: _Optional,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    axes = list(range(input.dim() - len(normalized_shape), input.dim()))
    mean, variance = _moments(input, axes)
    inverse = torch.rsqrt(variance + eps)
    result = _scaled((input - mean) * inverse, weight, bias)
    return result.contiguous(), mean, inverse


def native_layer_norm_backward(
    grad: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: _Optional,
    bias: _Optional,
    output_mask: Sequence[bool],
) -> tuple[_Optional, _Optional, _Optional]:
    first = input.dim() - len(normalized_shape)
    axes, outer = list(range(first, input.dim())), list(range(first))
    normal = (input - mean) * rstd
    for_input = for_weight = for_bias = None
    if output_mask[0]:
        scaled = grad if weight is None else grad * weight
        for_input = _through(scaled, normal, rstd, axes)
    if output_mask[1] and weight is not None:
        product = grad * normal
        for_weight = product.sum(outer) if outer else product
    if output_mask[2] and bias is not None:
        for_bias = grad.sum(outer) if outer else grad
    return for_input, for_weight, for_bias


def _through(grad: Tensor, normal: Tensor, inverse: Tensor, axes: list[int]) -> Tensor:
    """The gradient of a normalisation over the axes."""
    count = _count(grad, axes)
    mean = grad.sum(axes, keepdim=True) / count
    along = (grad * normal).sum(axes, keepdim=True) / count
    return ((grad - mean) - normal * along) * inverse


def native_group_norm(
    input: Tensor,
    weight: _Optional,
    bias: _Optional,
    N: int,
    C: int,
    HxW: int,
    group: int,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    grouped = input.reshape([N, group, C // group * HxW])
    mean, variance = _moments(grouped, [2])
    inverse = torch.rsqrt(variance + eps)
    normal = ((grouped - mean) * inverse).reshape(input.shape)
    rank = input.dim()
    result = _scaled(
        normal,
        None if weight is None else _along(weight, rank),
        None if bias is None else _along(bias, rank),
    )
    result = result.contiguous(memory_format=suggest_memory_format(input))
    return result, mean.view([N, group]), inverse.view([N, group])


def native_group_norm_backward(
    grad: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    weight: _Optional,
    N: int,
    C: int,
    HxW: int,
    group: int,
    output_mask: Sequence[bool],
) -> tuple[_Optional, _Optional, _Optional]:
    rank = input.dim()
    grouped = [N, group, C // group * HxW]
    inverse = rstd.reshape([N, group, 1])
    normal = (input.reshape(grouped) - mean.reshape([N, group, 1])) * inverse
    for_input = for_weight = for_bias = None
    axes = [0, *range(2, rank)]
    if output_mask[0]:
        scaled = grad if weight is None else grad * _along(weight, rank)
        inner = _through(scaled.reshape(grouped), normal, inverse, [2])
        for_input = inner.reshape(input.shape)
    if output_mask[1]:
        for_weight = (grad * normal.reshape(input.shape)).sum(axes)
    if output_mask[2]:
        for_bias = grad.sum(axes)
    return for_input, for_weight, for_bias


def _axes(input: Tensor, dim: Sequence[int] | int | None) -> list[int]:
    if dim is None or dim == []:
        return list(range(input.dim()))
    listed = [dim] if isinstance(dim, int) else dim
    return [axis % max(input.dim(), 1) for axis in listed]


def mean(
    input: Tensor,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    if dtype is not None:
        input = input.to(dtype)
    axes = _axes(input, dim)
    return input.sum(axes, keepdim) / _count(input, axes)


def _variance(
    input: Tensor, axes: list[int], correction: float | None, keepdim: bool
) -> tuple[Tensor, Tensor]:
    count = _count(input, axes)
    mean = input.sum(axes, keepdim=True) / count
    centred = input - mean
    rest = max(count - (1 if correction is None else correction), 0)
    total = (centred * centred).sum(axes, keepdim=True)
    variance = total / rest
    if not keepdim:
        shape = [n for axis, n in enumerate(input.shape) if axis not in axes]
        return variance.reshape(shape), mean.reshape(shape)
    return variance, mean


def var(
    input: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    return _variance(input, _axes(input, dim), correction, keepdim)[0]


def var_mean(
    input: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    return _variance(input, _axes(input, dim), correction, keepdim)


def std(
    input: Tensor,
    dim: Sequence[int] | None = None,
    *,
    correction: float | None = None,
    keepdim: bool = False,
) -> Tensor:
    return torch.sqrt(_variance(input, _axes(input, dim), correction, keepdim)[0])


def weight_norm_interface(v: Tensor, g: Tensor, dim: int = 0) -> tuple[Tensor, Tensor]:
    axes = [axis for axis in range(v.dim()) if axis != dim]
    norm = torch.sqrt((v * v).sum(axes, keepdim=True))
    return v * (g / norm), norm


def weight_norm_interface_backward(
    grad_w: Tensor, saved_v: Tensor, saved_g: Tensor, saved_norms: Tensor, dim: int
) -> tuple[Tensor, Tensor]:
    axes = [axis for axis in range(saved_v.dim()) if axis != dim]
    along = (grad_w * saved_v).sum(axes, keepdim=True)
    across = grad_w - saved_v * (along / (saved_norms * saved_norms))
    return (saved_g / saved_norms) * across, along / saved_norms


TABLE: dict[Any, Any] = {
    aten._native_batch_norm_legit_functional.default: (
        _native_batch_norm_legit_functional
    ),
    aten._native_batch_norm_legit.no_stats: _native_batch_norm_legit_no_stats,
    aten._native_batch_norm_legit_no_training.default: (
        _native_batch_norm_legit_no_training
    ),
    aten.native_batch_norm.default: native_batch_norm,
    aten.native_batch_norm_backward.default: native_batch_norm_backward,
    aten.native_layer_norm.default: native_layer_norm,
    aten.native_layer_norm_backward.default: native_layer_norm_backward,
    aten.native_group_norm.default: native_group_norm,
    aten.native_group_norm_backward.default: native_group_norm_backward,
    aten._weight_norm_interface.default: weight_norm_interface,
    aten._weight_norm_interface_backward.default: weight_norm_interface_backward,
    aten.mean.dim: mean,
    aten.mean.default: mean,
    aten.var.correction: var,
    aten.var_mean.correction: var_mean,
    aten.std.correction: std,
}
