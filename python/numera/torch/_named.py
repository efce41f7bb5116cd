# SPDX-License-Identifier: MIT
"""Operators of which torch-mlir knows less than Numera does.

A graph has others in their place while torch-mlir lowers it, and the operations that
these become, which have the node's name, are replaced right after that. A stand-in
has a power with an exponent that the graph has nowhere else. So it equals nothing that
the graph computes, and is not made one with it.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import fx

from numera.torch._loops import operations

aten = torch.ops.aten

__all__ = ["STANDS_FOR", "StandIns", "powers", "renamed", "stand_ins"]

STANDS_FOR = "numera_stands_for"
"""Of a node that is there for a while: the one whose name it has."""

StandIns = dict[str, dict[str, str]]
"""By the operation that stand-ins become: the names of nodes, and what their operations
are to be; "" is the first operand."""


@contextmanager
def stand_ins(graph: fx.GraphModule) -> Iterator[StandIns]:
    """Replaces operators of the graph for a while.

    erfc(x) is pow(x, a), and fmod(x, y) is atan2(pow(x, b), y).
    """
    calls = [node for node in graph.graph.nodes if node.op == "call_function"]
    errors = [node for node in calls if _is(node, aten.erfc.default)]
    rests = [node for node in calls if _is(node, aten.fmod.Tensor)]
    given = {node: (node.target, node.args) for node in (*errors, *rests)}
    added: list[fx.Node] = []
    first, second = itertools.islice(_exponents(calls), 2)
    try:
        for node in errors:
            node.target, node.args = aten.pow.Tensor_Scalar, (*node.args, first)
        for node in rests:
            added.append(_marked(graph.graph, node, second))
            node.target = aten.atan2.default
        yield {
            "math.powf": {
                **{node.name: "math.erfc" for node in errors},
                **{node.name: "" for node in rests},
            },
            "math.atan2": {node.name: "arith.remf" for node in rests},
        }
    finally:
        for node, (target, arguments) in given.items():
            node.target, node.args = target, arguments
        for node in added:
            graph.graph.erase_node(node)


def _is(node: fx.Node, target: Any) -> bool:
    return node.target is target and node.meta["val"].is_floating_point()


def _exponents(calls: list[fx.Node]) -> Iterator[float]:
    """Numbers that no node is given."""
    known: set[float] = set()

    def see(value: Any) -> Any:
        if isinstance(value, float):
            known.add(value)
        return value

    for node in calls:
        fx.node.map_aggregate(node.args, see)
        fx.node.map_aggregate(node.kwargs, see)
    for count in itertools.count():
        number = (3 + 2 * count) * 2.0**-20
        if number not in known:
            yield number


def _marked(graph: fx.Graph, node: fx.Node, exponent: float) -> fx.Node:
    """A power in place of an operand of a node that is a float, and the node itself
    with it."""
    operands: list[Any] = list(node.args)
    place = 0 if operands[0].meta["val"].is_floating_point() else 1
    with graph.inserting_before(node):
        made = graph.call_function(aten.pow.Tensor_Scalar, (operands[place], exponent))
    made.meta["val"] = operands[place].meta["val"]
    made.meta[STANDS_FOR] = node
    operands[place] = made
    node.args = tuple(operands)
    return made


def renamed(module: Any, made: StandIns) -> None:
    """Puts the right operations in place of those of stand-ins."""
    for old, names in made.items():
        for operation in operations(module, old) if names else []:
            found = re.findall(r'"([^"]*)"', str(operation.location))
            new = next((names[name] for name in found[::-1] if name in names), None)
            if new:
                own = slice(1) if old == "math.powf" else slice(None)
                _replace(operation, new, list(operation.operands)[own])
            elif new is not None:
                operation.results[0].replace_all_uses_with(operation.operands[0])
                operation.erase()


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
