# SPDX-License-Identifier: MIT
"""Tensors of uint8, such as images: programs take them, and compute with others.

torch-mlir gives them no sign, and then computes as if they had one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from numera.torch._refusals import GraphError

aten = torch.ops.aten

__all__ = ["check", "convert"]

_CONVERSIONS = (
    torch.ops.prims.convert_element_type.default,
    aten._to_copy.default,
)
_MOVES = (
    aten.alias.default,
    aten.clone.default,
    aten.expand.default,
    aten.permute.default,
    aten.reshape.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.squeeze.dim,
    aten.squeeze.dims,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.view.default,
)
"""Operators that move elements and compute nothing."""


def _is_bytes(node: Any) -> bool:
    value = node.meta.get("val") if isinstance(node, fx.Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.uint8


def check(graph: fx.Graph) -> None:
    """Refuses what computes with uint8: torch-mlir does as if it had a sign."""
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


def convert(graph: fx.Graph) -> None:
    """Has arguments of bytes, such as images, as int16 where they are moved and
    converted and no more."""

    def is_converted(node: fx.Node) -> bool:
        return all(
            user.target in _CONVERSIONS
            and not _is_bytes(user)
            or (user.target in _MOVES and is_converted(user))
            for user in node.users
        )

    def take_signed(node: fx.Node) -> None:
        node.meta["val"] = node.meta["val"].to(torch.int16)
        for user in node.users:
            if user.target in _MOVES:
                take_signed(user)

    for node in graph.find_nodes(op="placeholder"):
        if _is_bytes(node) and node.users and is_converted(node):
            take_signed(node)
