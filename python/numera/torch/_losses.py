# SPDX-License-Identifier: MIT
"""Losses, attention and products as sums of simple operations."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from typing import Any
from unittest import mock

import torch
from torch import Tensor

aten = torch.ops.aten

__all__ = ["TABLE", "margins_of_labels"]

_MEAN, _SUM = 1, 2
"""Of `reduction`; 0 is none."""


def addmm(
    bias: Tensor, left: Tensor, right: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    product = aten.mm(left, right)
    product = product if alpha == 1 else product * alpha
    return product + (bias if beta == 1 else bias * beta)


def baddbmm(
    bias: Tensor, left: Tensor, right: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    product = aten.bmm(left, right)
    product = product if alpha == 1 else product * alpha
    return product + (bias if beta == 1 else bias * beta)


# ---- where NaN and zero are what they are in eager mode ----------------------


def _scalar(like: Tensor, value: Any) -> Tensor:
    return value if isinstance(value, Tensor) else like.new_full([], value)


def clamp(self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """A comparison with NaN is false, so that NaN stays."""
    if not self.is_floating_point():
        return NotImplemented
    if min is not None:
        low = _scalar(self, min)
        self = torch.where(self < low, low, self)
    if max is not None:
        high = _scalar(self, max)
        self = torch.where(self > high, high, self)
    return self


def maximum(self: Tensor, other: Tensor) -> Tensor:
    if not (self.is_floating_point() and other.is_floating_point()):
        return NotImplemented
    return torch.where((self < other) | other.isnan(), other, self)


def minimum(self: Tensor, other: Tensor) -> Tensor:
    if not (self.is_floating_point() and other.is_floating_point()):
        return NotImplemented
    return torch.where((self > other) | other.isnan(), other, self)


def reciprocal(self: Tensor) -> Tensor:
    if not self.is_floating_point():
        return NotImplemented
    return self.new_full([], 1) / self


# ---- negative log likelihood ------------------------------------------------


def _kept(target: Tensor, ignore_index: int) -> tuple[Tensor, Tensor]:
    """Where targets count, and targets that can be looked up."""
    kept = target != ignore_index
    return kept, torch.where(kept, target, 0)


def _classes(self: Tensor) -> int:
    """The axis of the classes."""
    return 0 if self.dim() == 1 else 1


def nll_loss_forward(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
) -> tuple[Tensor, Tensor]:
    axis = _classes(self)
    kept, safe = _kept(target, ignore_index)
    losses = -self.gather(axis, safe.unsqueeze(axis)).squeeze(axis)
    if weight is not None:
        weights = weight[safe.reshape(-1)].view(safe.shape)
        losses = losses * weights
        counted = torch.where(kept, weights, 0.0)
    else:
        counted = kept.to(self.dtype)
    losses = torch.where(kept, losses, 0.0)
    if reduction not in (_MEAN, _SUM):
        return losses, self.new_zeros([])
    total = counted.sum()
    loss = losses.sum()
    return (loss / total if reduction == _MEAN else loss), total


def nll_loss_backward(
    grad_output: Tensor,
    self: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total_weight: Tensor,
) -> Tensor:
    axis = _classes(self)
    kept, safe = _kept(target, ignore_index)
    grad = grad_output / total_weight if reduction == _MEAN else grad_output
    if reduction not in (_MEAN, _SUM):
        grad = grad.unsqueeze(axis)
    if weight is not None:
        weights = weight[safe.reshape(-1)].view(safe.shape)
        grad = grad * weights.unsqueeze(axis)
    shape = [1] * self.dim()
    shape[axis] = self.shape[axis]
    classes = torch.arange(self.shape[axis], device=self.device).view(shape)
    hit = (classes == safe.unsqueeze(axis)) & kept.unsqueeze(axis)
    return torch.where(hit, -grad, 0.0)


def _log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    self = self.contiguous()
    shifted = self - self.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()


def _softmax(self: Tensor, dim: int, half_to_float: bool) -> Tensor:
    self = self.contiguous()
    powers = (self - self.amax(dim, keepdim=True)).exp()
    return powers / powers.sum(dim, keepdim=True)


def _safe_softmax(self: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    """Zero where every element is -inf."""
    shares = _softmax(self, dim, False)
    nothing = self.amax(dim, keepdim=True) <= -math.inf
    return torch.where(nothing, 0.0, shares)


# ---- attention --------------------------------------------------------------


def _scores(
    query: Tensor,
    key: Tensor,
    is_causal: bool,
    mask: Tensor | None,
    scale: float | None,
) -> Tensor:
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * factor
    if is_causal:
        rows, columns = scores.shape[-2:]
        row = torch.arange(rows, device=query.device).unsqueeze(1)
        later = torch.arange(columns, device=query.device) > row
        scores = torch.where(later, -math.inf, scores)
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return torch.where(mask, scores, -math.inf)
    return scores + mask


def _blind(query: Tensor, is_causal: bool, mask: Tensor | None) -> Tensor | None:
    """Which queries no key is left to, as of a sequence that is padded on the left:
    attention is zero there. None if there are none."""
    if mask is None:
        return None
    allowed = mask if mask.dtype == torch.bool else ~(mask <= -math.inf)  # or NaN
    if is_causal:
        row = torch.arange(query.shape[-2], device=query.device).unsqueeze(1)
        allowed = allowed & (torch.arange(mask.shape[-1], device=query.device) <= row)
    return ~allowed.any(-1, keepdim=True)


def _each_query(heads: Tensor, query: Tensor) -> Tensor:
    """Keys or values, one for each head of the query: a head may serve several."""
    times = query.shape[-3] // max(heads.shape[-3], 1) if query.dim() > 2 else 1
    return heads if times == 1 else heads.repeat_interleave(times, -3)


def _of_groups(grad: Tensor, heads: Tensor) -> Tensor:
    """The sum of what heads of the query add to the gradient of one that they share."""
    if grad.shape == heads.shape:
        return grad
    *lead, count, length, width = heads.shape
    return grad.reshape([*lead, count, -1, length, width]).sum(-3)


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    """The result, and the logarithm of the sums of the powers, for backward."""
    if dropout_p:
        return NotImplemented
    key, value = _each_query(key, query), _each_query(value, query)
    scores = _scores(query, key, is_causal, attn_mask, scale)
    top = scores.amax(-1, keepdim=True)
    powers = (scores - top).exp()
    total = powers.sum(-1, keepdim=True)
    result = (powers / total) @ value
    blind = _blind(query, is_causal, attn_mask)
    if blind is not None:
        result = torch.where(blind, 0.0, result)
    return result, (total.log() + top).squeeze(-1)


def _attention_backward(
    grad_out: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    out: Tensor,
    logsumexp: Tensor,
    dropout_p: float,
    is_causal: bool,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    keys, values = key, value
    key, value = _each_query(key, query), _each_query(value, query)
    scores = _scores(query, key, is_causal, attn_mask, scale)
    shares = (scores - logsumexp.unsqueeze(-1)).exp()
    blind = _blind(query, is_causal, attn_mask)
    if blind is not None:
        shares = torch.where(blind, 0.0, shares)
    for_value = shares.transpose(-2, -1) @ grad_out
    for_shares = grad_out @ value.transpose(-2, -1)
    along = (grad_out * out).sum(-1, keepdim=True)
    for_scores = shares * (for_shares - along) * factor
    for_key = for_scores.transpose(-2, -1) @ query
    return for_scores @ key, _of_groups(for_key, keys), _of_groups(for_value, values)


# ---- dropout ----------------------------------------------------------------


def native_dropout_backward(grad: Tensor, mask: Tensor, scale: float) -> Tensor:
    return torch.where(mask, grad * scale, 0.0)


def fma(x: Tensor, y: Tensor, z: Tensor) -> Tensor:
    return x * y + z


def _labels(target: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Which labels count, those before the first -1, and which classes they name."""
    places = torch.arange(count)
    end = torch.where(target == -1, places, count).amin(-1, keepdim=True)
    counts = places < end
    named = (target.unsqueeze(-1) == places) & counts.unsqueeze(-1)
    return counts, named


def _margins(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """By label and class: 1 - x(label) + x(class), where it counts; and the labels."""
    count = input.shape[-1]
    counts, named = _labels(target, count)
    own = torch.gather(input, -1, torch.where(counts, target, 0))
    margins = (1 - own).unsqueeze(-1) + input.unsqueeze(-2)
    kept = counts.unsqueeze(-1) & ~named.any(-2, keepdim=True) & (margins > 0)
    return margins, kept, named


def multilabel_margin_loss(
    input: Tensor, target: Tensor, reduction: int
) -> tuple[Tensor, Tensor]:
    margins, kept, named = _margins(input, target)
    loss = torch.where(kept, margins / input.shape[-1], 0.0).sum((-2, -1))
    is_target = named.any(-2).to(input.dtype)
    if reduction == _MEAN:
        return loss.mean(), is_target
    return loss.sum() if reduction == _SUM else loss, is_target


@contextlib.contextmanager
def margins_of_labels() -> Iterator[None]:
    """While graphs are traced: PyTorch 2.13 has a decomposition of its own in front,
    which takes labels behind the end for the first class."""
    operator = aten.multilabel_margin_loss_forward.default
    own = {torch._C.DispatchKey.Autograd: multilabel_margin_loss}
    with mock.patch.dict(operator.py_kernels, own):
        operator._dispatch_cache.clear()
        try:
            yield
        finally:
            operator._dispatch_cache.clear()


TABLE: dict[Any, Any] = {
    aten.multilabel_margin_loss_forward.default: multilabel_margin_loss,
    aten.clamp.default: clamp,
    aten.clamp_min.default: lambda self, min: clamp(self, min),
    aten.clamp_max.default: lambda self, max: clamp(self, None, max),
    aten.hardtanh.default: lambda self, min=-1, max=1: clamp(self, min, max),
    aten.maximum.default: maximum,
    aten.minimum.default: minimum,
    aten.reciprocal.default: reciprocal,
    aten.addmm.default: addmm,
    aten.baddbmm.default: baddbmm,
    aten.nll_loss_forward.default: nll_loss_forward,
    aten.nll_loss_backward.default: nll_loss_backward,
    aten.nll_loss2d_forward.default: nll_loss_forward,
    aten.nll_loss2d_backward.default: nll_loss_backward,
    aten._log_softmax.default: _log_softmax,
    aten._softmax.default: _softmax,
    aten._safe_softmax.default: _safe_softmax,
    aten._scaled_dot_product_flash_attention_for_cpu.default: _attention,
    aten._scaled_dot_product_flash_attention_for_cpu_backward.default: (
        _attention_backward
    ),
    aten.native_dropout_backward.default: native_dropout_backward,
}
