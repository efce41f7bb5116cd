# SPDX-License-Identifier: MIT
"""Operators of which torch-mlir knows less than Numera does.

A graph has another operator in their place while torch-mlir lowers it, and the
operations that it becomes, which have the node's name, are made right after that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx

from numera.torch._loops import operations

aten = torch.ops.aten

__all__ = ["powers", "renamed", "stand_ins"]

_OPERATIONS = {aten.erfc.default: "math.erfc", aten.fmod.Tensor: "arith.remf"}
"""What operators of floats are to become."""

_STAND_INS = {
    aten.erfc.default: {
        aten.tan.default: "math.tan",
        aten.erf.default: "math.erf",
        aten.atan.default: "math.atan",
    },
    aten.fmod.Tensor: {aten.atan2.default: "math.atan2"},
}
"""Operators that become one operation. One that the graph has is no stand-in, since
equal operations of both would be made one."""


@contextmanager
def stand_ins(graph: fx.GraphModule) -> Iterator[dict[str, dict[str, str]]]:
    """Replaces operators of the graph for a while. By the operation that stand-ins
    become: the names of nodes, and what their operations are to be."""
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    targets = {node: node.target for node in calls}
    made: dict[str, dict[str, str]] = {}
    try:
        for target, name in _OPERATIONS.items():
            found = [
                node
                for node in calls
                if node.target is target and node.meta["val"].is_floating_point()
            ]
            free = [each for each in _STAND_INS[target] if each not in targets.values()]
            if not found or not free:
                continue
            for node in found:
                node.target = free[0]
            made[_STAND_INS[target][free[0]]] = {node.name: name for node in found}
        yield made
    finally:
        for node, target in targets.items():
            node.target = target


def renamed(module: Any, made: dict[str, dict[str, str]]) -> None:
    """Puts the right operations in place of those of stand-ins."""
    for old, names in made.items():
        for operation in operations(module, old):
            found = re.findall(r'"([^"]*)"', str(operation.location))
            new = next(names[name] for name in found[::-1] if name in names)
            _replace(operation, new, list(operation.operands))


def powers(module: Any) -> None:
    """`math.powf` for powers whose exponent is a whole number."""
    from torch_mlir import ir

    for operation in operations(module, "math.fpowi"):
        base, exponent = operation.operands
        with operation.location, ir.InsertionPoint(operation):
            number = ir.Operation.create(
                "arith.sitofp", operands=[exponent], results=[base.type]
            ).result
        _replace(operation, "math.powf", [base, number])


def _replace(operation: Any, name: str, operands: list[Any]) -> None:
    from torch_mlir import ir

    (result,) = operation.results
    with operation.location, ir.InsertionPoint(operation):
        made = ir.Operation.create(name, operands=operands, results=[result.type])
    result.replace_all_uses_with(made.result)
    operation.erase()
