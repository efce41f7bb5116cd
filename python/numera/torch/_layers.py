# SPDX-License-Identifier: MIT
"""Layers that PyTorch has as one operator in evaluation, and attention whose scores
functions of the model change."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, fx
from torch._higher_order_ops.flex_attention import flex_attention, math_attention
from torch.nn import functional

aten = torch.ops.aten

__all__ = ["TABLE", "with_open_attention"]


def with_open_attention(module: fx.GraphModule) -> None:
    """Has a graph of Dynamo compute `flex_attention` by operators, those of the
    functions that it is given among them."""
    found = module.graph.find_nodes(op="call_function", target=flex_attention)
    for node in found:
        node.target = math_attention
    if found:
        module.recompile()


_OF_PADDING = 1
"""Of `mask_type`: a mask of keys for each sequence. 0 is one for all, 2 any."""


def _masked(scores: Tensor, mask: Tensor | None, kind: int | None) -> Tensor:
    if mask is None:
        return scores
    if kind == _OF_PADDING and mask.dim() == 2:
        mask = mask[:, None, None, :]
    return torch.where(mask.to(torch.bool), -math.inf, scores)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Tensor, Tensor]:
    def heads(given: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        made = functional.linear(given, weight, bias)
        return made.unflatten(-1, (num_head, -1)).transpose(1, 2)

    given = (query, key, value)
    q, k, v = map(heads, given, qkv_weight.chunk(3), qkv_bias.chunk(3))
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(embed_dim // num_head))
    weights = _masked(scores, mask, mask_type).softmax(-1)
    sums = (weights @ v).transpose(1, 2).flatten(2)
    result = functional.linear(sums, proj_weight, proj_bias)
    if not need_weights:
        return result, query.new_empty([0])
    return result, weights.mean(1) if average_attn_weights else weights


def encoder_layer(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Tensor:
    def attended(x: Tensor) -> Tensor:
        return attention(
            *(x, x, x, embed_dim, num_heads, qkv_weight, qkv_bias),
            *(proj_weight, proj_bias, mask, False, True, mask_type),
        )[0]

    def fed(x: Tensor) -> Tensor:
        inner = functional.linear(x, ffn_weight_1, ffn_bias_1)
        inner = functional.gelu(inner) if use_gelu else inner.relu()
        return functional.linear(inner, ffn_weight_2, ffn_bias_2)

    def first(x: Tensor) -> Tensor:
        return functional.layer_norm(x, [embed_dim], norm_weight_1, norm_bias_1, eps)

    def second(x: Tensor) -> Tensor:
        return functional.layer_norm(x, [embed_dim], norm_weight_2, norm_bias_2, eps)

    if norm_first:
        src = src + attended(first(src))
        return src + fed(second(src))
    src = first(src + attended(src))
    return second(src + fed(src))


TABLE: dict[Any, Any] = {
    aten._native_multi_head_attention.default: attention,
    aten._transformer_encoder_layer_fwd.default: encoder_layer,
}
