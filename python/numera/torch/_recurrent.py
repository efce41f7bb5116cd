# SPDX-License-Identifier: MIT
"""Recurrent layers: the dropout between them, and layers of LSTM as PyTorch calls them
where the input has no gradient, one layer in one direction, step by step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch._decomp import decompositions

aten = torch.ops.aten

__all__ = ["TABLE", "dropout_between_layers"]


@contextlib.contextmanager
def dropout_between_layers() -> Iterator[None]:
    """While graphs are traced: PyTorch 2.13 drops no elements between recurrent layers
    that it decomposes, as eager mode does."""
    whole: Callable[..., Any] = decompositions._rnn_helper

    def layers(
        input: Tensor,
        hidden: Sequence[Any],
        params: Sequence[Any],
        has_biases: bool,
        num_layers: int,
        dropout: float,
        train: bool,
        bidirectional: bool,
        batch_first: bool,
        layer: Any,
    ) -> Any:
        value = input.transpose(0, 1) if batch_first else input
        count = 2 if bidirectional else 1
        last: list[Any] = []
        for first in range(0, num_layers * count, count):
            if first and train and dropout:
                value = torch.dropout(value, dropout, True)
            own = slice(first, first + count)
            value, ends = whole(
                *(value, hidden[own], params[own], has_biases, 1),
                *(0.0, train, bidirectional, False, layer),
            )
            last += ends
        return value.transpose(0, 1) if batch_first else value, last

    with mock.patch.object(decompositions, "_rnn_helper", layers):
        yield


_LSTM = 2
"""Of `mode`."""


def _steps(count: int, reverse: bool) -> Sequence[int]:
    return range(count - 1, -1, -1) if reverse else range(count)


def mkldnn_rnn_layer(
    input: Tensor,
    weight0: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    hx_: Tensor,
    cx_: Tensor,
    reverse: bool,
    batch_sizes: Sequence[int],
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    bidirectional: bool,
    batch_first: bool,
    train: bool,
) -> Any:
    """The last result is what the gradient needs: of each step the gates, and the
    cell before and after."""
    if mode != _LSTM or num_layers != 1 or bidirectional or batch_first or batch_sizes:
        return NotImplemented
    count = input.shape[0]
    inner = input @ weight0.t()
    if has_biases:
        inner = inner + (weight2 + weight3)
    hidden, cell = hx_.reshape(hx_.shape[-2:]), cx_.reshape(cx_.shape[-2:])
    outputs: list[Tensor] = [hidden] * count
    kept: list[Tensor] = [hidden] * count
    for step in _steps(count, reverse):
        gates = inner[step] + hidden @ weight1.t()
        i, f, g, o = gates.chunk(4, 1)
        i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
        before = cell
        cell = f * cell + i * g
        hidden = o * cell.tanh()
        outputs[step] = hidden
        kept[step] = torch.cat([i, f, g, o, before, cell], 1)
    output = torch.stack(outputs) if count else inner[..., :hidden_size]
    saved = torch.stack(kept) if count else inner
    return output, hidden.view(hx_.shape), cell.view(cx_.shape), saved


def mkldnn_rnn_layer_backward(
    input: Tensor,
    weight1: Tensor,
    weight2: Tensor,
    weight3: Tensor,
    weight4: Tensor,
    hx_: Tensor,
    cx_tmp: Tensor,
    output: Tensor,
    hy_: Tensor,
    cy_: Tensor,
    grad_output: Tensor | None,
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    reverse: bool,
    mode: int,
    hidden_size: int,
    num_layers: int,
    has_biases: bool,
    train: bool,
    bidirectional: bool,
    batch_sizes: Sequence[int],
    batch_first: bool,
    workspace: Tensor,
) -> Any:
    if mode != _LSTM or num_layers != 1 or bidirectional or batch_first or batch_sizes:
        return NotImplemented
    count = input.shape[0]
    first = hx_.reshape(hx_.shape[-2:])
    zeros = torch.zeros_like(first)
    for_hidden = zeros if grad_hy is None else grad_hy.reshape(first.shape)
    for_cell = zeros if grad_cy is None else grad_cy.reshape(first.shape)
    order = list(_steps(count, reverse))
    for_gates: list[Tensor] = [first] * count
    for step in order[::-1]:
        i, f, g, o, before, cell = workspace[step].chunk(6, 1)
        if grad_output is not None:
            for_hidden = for_hidden + grad_output[step]
        bent = cell.tanh()
        for_cell = for_cell + for_hidden * o * (1 - bent * bent)
        gates = [
            for_cell * g * (i * (1 - i)),
            for_cell * before * (f * (1 - f)),
            for_cell * i * (1 - g * g),
            for_hidden * bent * (o * (1 - o)),
        ]
        for_gates[step] = torch.cat(gates, 1)
        for_hidden = for_gates[step] @ weight2
        for_cell = for_cell * f
    slopes = torch.stack(for_gates) if count else input.new_zeros([0, *first.shape])
    last = [output[step] for step in order[:-1]]
    befores = [first] * count
    for step, hidden in zip(order[1:], last):
        befores[step] = hidden
    flat = slopes.reshape(-1, 4 * hidden_size)
    for_first = flat.t() @ input.reshape(-1, input.shape[-1])
    for_second = flat.t() @ torch.stack(befores).reshape(-1, hidden_size)
    for_bias = flat.sum(0)
    return (
        slopes @ weight1,
        for_first,
        for_second,
        for_bias if has_biases else torch.zeros_like(weight3),
        for_bias if has_biases else torch.zeros_like(weight4),
        for_hidden.view(hx_.shape),
        for_cell.view(cx_tmp.shape),
    )


TABLE: dict[Any, Any] = {
    aten.mkldnn_rnn_layer.default: mkldnn_rnn_layer,
    aten.mkldnn_rnn_layer_backward.default: mkldnn_rnn_layer_backward,
}
