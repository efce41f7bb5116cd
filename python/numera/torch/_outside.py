# SPDX-License-Identifier: MIT
"""Operators that PyTorch runs between programs, since no program can.

numera::quantize     `_quantize`: rounds to a format of its own
numera::slopes       what `rrelu` multiplies by; how many numbers PyTorch draws depends
                     on the elements
numera::sparse_rows  a sparse tensor, of rows that a program computed

`numera::sparse_embedding` is an embedding whose gradient is such a tensor: PyTorch's own
gradient becomes operators on indices, whose shapes depend on the data.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from numera.torch._quantize import ROUNDS

aten = torch.ops.aten

__all__ = ["OUTSIDE", "SLOPES", "with_sparse_gradients"]


@torch.library.custom_op(
    "numera::slopes",
    mutates_args=(),
    device_types="cpu",
    tags=(torch.Tag.nondeterministic_seeded,),
)
def _slopes(x: torch.Tensor, lower: float, upper: float) -> torch.Tensor:
    """A number of the range where an element is not positive, else 1."""
    slopes = torch.empty_like(x)
    aten.rrelu_with_noise(x, slopes, lower, upper, True)
    return slopes


@_slopes.register_fake
def _(x: torch.Tensor, lower: float, upper: float) -> torch.Tensor:
    return torch.empty_like(x)


@torch.library.custom_op("numera::sparse_rows", mutates_args=(), device_types="cpu")
def _sparse_rows(
    rows: torch.Tensor, places: torch.Tensor, count: int, padding: int | None
) -> torch.Tensor:
    """A matrix of so many rows; those of equal places are not added up yet.

    padding  the place whose rows are left out; None: there is none.
    """
    left_out = -1 if padding is None else padding % count
    found: torch.Tensor = aten.embedding_sparse_backward(
        rows, places, count, left_out, False
    )
    return found


@_sparse_rows.register_fake
def _(
    rows: torch.Tensor, places: torch.Tensor, count: int, padding: int | None
) -> torch.Tensor:
    found: torch.Tensor = aten.embedding_sparse_backward(rows, places, count, -1, False)
    return found


@torch.library.custom_op(
    "numera::sparse_embedding", mutates_args=(), device_types="cpu"
)
def _sparse_embedding(
    weight: torch.Tensor, places: torch.Tensor, padding: int | None
) -> torch.Tensor:
    return weight[places]


@_sparse_embedding.register_fake
def _(weight: torch.Tensor, places: torch.Tensor, padding: int | None) -> torch.Tensor:
    return weight.new_empty([*places.shape, weight.shape[1]])


def _keep(ctx: Any, inputs: tuple[Any, ...], output: torch.Tensor) -> None:
    weight, places, ctx.padding = inputs
    ctx.count = weight.shape[0]
    ctx.save_for_backward(places)


def _backward(ctx: Any, gradient: torch.Tensor) -> tuple[Any, ...]:
    (places,) = ctx.saved_tensors
    rows = gradient.reshape(-1, gradient.shape[-1])
    return _sparse_rows(rows, places.reshape(-1), ctx.count, ctx.padding), None, None


_sparse_embedding.register_autograd(_backward, setup_context=_keep)


def with_sparse_gradients(module: fx.GraphModule) -> None:
    """Replaces embeddings of a graph of Dynamo that have sparse gradients."""

    def parts(
        input: Any,
        weight: Any,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> tuple[Any, ...] | None:
        if not sparse or max_norm is not None or scale_grad_by_freq:
            return None  # PyTorch refuses the last two together with the first
        return weight, input, padding_idx

    function = torch.nn.functional.embedding
    for node in module.graph.find_nodes(op="call_function", target=function):
        given = parts(*node.args, **node.kwargs)
        if given is not None:
            node.target, node.args, node.kwargs = _EMBEDDING, given, {}
    module.recompile()


_EMBEDDING = torch.ops.numera.sparse_embedding.default
SLOPES = torch.ops.numera.slopes.default
OUTSIDE = (
    ROUNDS,
    SLOPES,
    torch.ops.numera.sparse_rows.default,
)
"""Operators in graphs."""
