# SPDX-License-Identifier: MIT
"""Tensors of uint8, such as images: programs move and convert them.

torch-mlir gives them no sign, and then computes as if they had one.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from numera.torch._random import describe
from numera.torch._refusals import GraphError

aten = torch.ops.aten

__all__ = ["check", "convert_by_integers"]

_CONVERSIONS = (
    torch.ops.prims.convert_element_type.default,
    aten._to_copy.default,
    aten._assert_tensor_metadata.default,  # which torch.export puts before one
)
_MOVES = (
    operator.getitem,
    aten.alias.default,
    aten.cat.default,
    aten.clone.default,
    aten.expand.default,
    aten.flip.default,
    aten.index_select.default,
    aten.permute.default,
    aten.repeat.default,
    aten.reshape.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.split_with_sizes.default,
    aten.squeeze.default,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.t.default,
    aten.transpose.int,
    aten.unbind.int,
    aten.unflatten.int,
    aten.unsqueeze.default,
    aten.view.default,
    torch.ops.prims.broadcast_in_dim.default,
    torch.ops.prims.collapse.default,
    torch.ops.prims.squeeze.default,
    torch.ops.prims.transpose.default,
    torch.ops.prims.view_of.default,
)
"""Operators that move elements and compute nothing."""


def _is_bytes(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, fx.Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.uint8


def convert_by_integers(graph: fx.Graph) -> None:
    """Has floats converted by way of i64, where 0 and 255 are the limits: torch-mlir
    takes those of i8."""
    for node in graph.nodes:
        if node.target not in _CONVERSIONS or not _is_bytes(node):
            continue
        source: Any = node.args[0]
        given = source.meta["val"]
        if given.is_floating_point():
            with graph.inserting_before(node):
                whole = graph.call_function(_CONVERSIONS[0], (source, torch.int64))
                limited = graph.call_function(aten.clamp.default, (whole, 0, 255))
            for made in (whole, limited):
                describe(made, node, given.to(torch.int64))
            node.replace_input_with(source, limited)


def check(graph: fx.Graph) -> None:
    """Refuses what computes with uint8."""
    for node in graph.nodes:
        if node.op != "call_function" or node.target in (*_MOVES, *_CONVERSIONS):
            continue
        if any(map(_is_bytes, (node, *node.all_input_nodes))):
            raise GraphError(
                node,
                "it computes with torch.uint8, which no program does: convert "
                "tensors to int or float before",
            )
