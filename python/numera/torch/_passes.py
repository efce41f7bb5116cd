# SPDX-License-Identifier: MIT
"""Which pass of training each node of a graph belongs to, and which arguments are
parameters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import torch
from torch import fx

from numera.torch._policy import ERRORS, GRADIENTS

__all__ = [
    "BACKWARD",
    "INFERENCE",
    "SUMS",
    "TRAINING",
    "gradients_of",
    "keeps_what_it_is_given",
    "made_by",
    "moved",
    "name_gradients",
    "name_of",
    "parameters",
    "passes_of",
]

TRAINING, BACKWARD, INFERENCE, SUMS = 1, 2, 3, 4
"""Kinds of graphs, which draw differently."""

_MOVES = (
    *("permute", "view", "_unsafe_view", "t", "transpose", "reshape", "squeeze"),
    *("unsqueeze", "expand", "slice", "clone", "convert_element_type"),
    *("view_as_real", "view_as_complex", "_conj"),
)
"""Operators that compute nothing."""


def parameters(module: fx.GraphModule, saved: Collection[str]) -> frozenset[int]:
    """Which arguments of a graph of AOTAutograd are parameters of the model."""
    context = torch._guards.TracingContext.try_get()
    metadata = context and context.fw_metadata
    static = metadata.static_input_indices if metadata else []
    names = {f"primals_{place + 1}" for place in static} | set(saved)
    names |= {f"arg{place}_1" for place in static}
    return frozenset(
        place
        for place, node in enumerate(module.graph.find_nodes(op="placeholder"))
        if node.name in names and isinstance(node.meta["val"], torch.Tensor)
    )


def moved(module: fx.GraphModule, weights: Collection[int]) -> set[str]:
    """The names of nodes that only move a parameter."""
    arguments = module.graph.find_nodes(op="placeholder")
    known = {arguments[place].name for place in weights}
    for node in module.graph.nodes:
        moves = node.op == "call_function" and name_of(node) in _MOVES
        if moves and node.args[0].name in known:
            known.add(node.name)
    return known


def made_by(node: Any) -> fx.Node | None:
    """What computes a result, before it is moved."""
    while isinstance(node, fx.Node) and name_of(node) in _MOVES:
        node = node.args[0]
    return node if isinstance(node, fx.Node) else None


def name_of(node: fx.Node) -> str:
    """That of a node's operator, without namespace and overload; "" if it has none."""
    packet = getattr(node.target, "overloadpacket", node.target)
    return getattr(packet, "__name__", "")


def passes_of(module: fx.GraphModule, kind: int) -> dict[str, str]:
    """The pass that each node belongs to, by its name.

    In a backward graph, what makes a gradient of a parameter is the operation that
    it is the result of, and what only moves that result. Where a parameter is used
    in several places, that is each of the operations whose results are added.
    """
    if kind != BACKWARD:
        return {}
    passes = {node.name: ERRORS for node in module.graph.nodes}
    results: Any = module.graph.output_node().args[0]
    made = [node for node in results if isinstance(node, fx.Node)]
    while made:
        node = made.pop()
        if len(node.users) != 1 or node.op != "call_function":
            continue
        passes[node.name] = GRADIENTS
        made += [node.args[place] for place in _parts_of(node)]
    return passes


def _parts_of(node: fx.Node) -> Sequence[int]:
    """The arguments that a gradient comes from, of what moves it or adds to it."""
    name = name_of(node)
    given: tuple[Any, ...] = node.args
    if name in _MOVES or name == "sparse_rows":
        parts = [0]
    elif name == "add":
        parts = [0, 1]
    elif name == "index_put" and given[3:] == (True,):
        parts = [2]
    else:
        return ()
    return [place for place in parts if isinstance(given[place], fx.Node)]


# ---- names of gradients -----------------------------------------------------

_GRADIENTS = "numera_gradients"


def name_gradients(module: fx.GraphModule, names: Sequence[str]) -> None:
    """Says of the nodes of a backward graph which gradients they are, where graphs of
    parts have them as well. That of a sparse tensor is said of its rows."""
    results: Any = module.graph.output_node().args[0]
    listed = [*names, *(f"gradient {n}" for n in range(len(results)))]
    for name, node in zip(listed, results):
        if not isinstance(node, fx.Node):
            continue
        if name_of(node) == "sparse_rows":
            node = node.args[0]
        node.meta.setdefault(_GRADIENTS, []).append(name)


def gradients_of(node: Any) -> list[str]:
    """The names of the gradients that a result is."""
    return node.meta.get(_GRADIENTS, []) if isinstance(node, fx.Node) else []


def keeps_what_it_is_given() -> None:
    """Has AOTAutograd know that the backward pass which is being compiled writes to
    none of its arguments, so that it may be called again (``retain_graph=True``)."""
    context = torch._guards.TracingContext.try_get()
    if context is not None and context.fw_metadata is not None:
        context.fw_metadata.bw_donated_idxs = []
