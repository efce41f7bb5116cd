# SPDX-License-Identifier: MIT
"""Tensors of uint8, such as images: programs move and convert them.

torch-mlir gives them no sign, and then computes as if they had one.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch import fx

from numera.torch._refusals import GraphError

aten = torch.ops.aten

__all__ = ["check"]

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
    aten.unsqueeze.default,
    aten.view.default,
    torch.ops.prims.broadcast_in_dim.default,
    torch.ops.prims.squeeze.default,
    torch.ops.prims.transpose.default,
    torch.ops.prims.view_of.default,
)
"""Operators that move elements and compute nothing."""


def _is_bytes(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, fx.Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.uint8


def check(graph: fx.Graph) -> None:
    """Refuses what computes with uint8."""
    for node in graph.nodes:
        if node.op != "call_function" or node.target in _MOVES:
            continue
        reads = node.target not in _CONVERSIONS and any(
            map(_is_bytes, node.all_input_nodes)
        )
        if reads or _is_bytes(node):
            raise GraphError(
                node,
                "it computes with torch.uint8, which no program does: convert "
                "tensors to int or float before",
            )
