# SPDX-License-Identifier: MIT
"""Graphs of which PyTorch runs some nodes, and programs the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

import torch
from torch import fx
from torch.fx.passes.split_module import split_module

from numera.torch._refusals import FALLBACK, GraphError

__all__ = ["Fallback", "run_with_fallbacks"]

Compile = Callable[[fx.GraphModule], Callable[..., list[Any]]]
Watch = Callable[[fx.GraphModule], torch.nn.Module] | None


class Fallback(NamedTuple):
    """A node that PyTorch runs, since Numera cannot compile it."""

    operator: str
    place: str
    """The line of the model."""
    reason: str


def run_with_fallbacks(
    module: fx.GraphModule,
    own: Collection[str],
    compiler: Callable[[], Compile],
    watch: Watch,
    asked: bool,
) -> tuple[Callable[..., list[Any]], list[Fallback]]:
    """The graph as parts, and what PyTorch runs of it since it cannot be compiled.

    own       nodes that are PyTorch's by their nature.
    compiler  what compiles the parts of one attempt.
    asked     whether PyTorch may run other nodes; else they are refused.
    """
    foreign: dict[str, Fallback] = {}
    while True:
        try:
            call = _run_in_parts(module, {*own, *foreign}, compiler(), watch)
        except GraphError as error:
            if not asked:
                raise error.with_hint(FALLBACK) from None
            if error.node is None or error.node in foreign:
                raise
            foreign[error.node] = Fallback(error.operator, error.place, error.reason)
        else:
            return call, list(foreign.values())


def _levels(graph: fx.Graph, foreign: Collection[str]) -> dict[str, int]:
    """The part of each node: even numbers are programs, odd ones PyTorch's.

    A node comes after all that it reads, in the same part where it may.
    """
    levels: dict[str, int] = {}
    for node in graph.nodes:
        if node.op in ("placeholder", "output", "get_attr"):
            continue
        least = max(
            (levels.get(each.name, 0) for each in node.all_input_nodes), default=0
        )
        if node.target is operator.getitem:  # stays with what it is an item of
            levels[node.name] = least
            continue
        wanted = 1 if node.name in foreign else 0
        levels[node.name] = least if least % 2 == wanted else least + 1
    return levels


def _sort(graph: fx.Graph, levels: dict[str, int]) -> None:
    """Has the nodes of a part stand together, before those of later parts."""
    end = graph.output_node()
    for node in sorted(graph.nodes, key=lambda each: levels.get(each.name, -1)):
        if node is not end:
            end.prepend(node)


def _run_in_parts(
    module: fx.GraphModule,
    foreign: Collection[str],
    compile: Compile,
    watch: Watch,
) -> Callable[..., list[Any]]:
    """The graph as parts: `foreign` nodes run in PyTorch, others are compiled.

    watch  what runs the parts of PyTorch instead of themselves.
    """
    levels = _levels(module.graph, foreign)
    _sort(module.graph, levels)
    whole = split_module(
        module, module, lambda node: levels[node.name], keep_original_order=True
    )
    for name, part in list(whole.named_children()):
        assert isinstance(part, fx.GraphModule)
        if int(name.rsplit("_", 1)[1]) % 2 == 0:
            setattr(whole, name, _Part(compile, part))
        elif watch is not None:
            setattr(whole, name, watch(part))
    return whole.forward


class _Part(torch.nn.Module):
    """A compiled part, which returns what the part's graph does."""

    def __init__(
        self,
        compile: Callable[[fx.GraphModule], Callable[..., list[Any]]],
        part: fx.GraphModule,
    ) -> None:
        super().__init__()
        end = next(node for node in part.graph.nodes if node.op == "output")
        self._is_single = not isinstance(end.args[0], (tuple, list))
        if self._is_single:
            end.args = ((end.args[0],),)
            part.recompile()
        self._call = compile(part)

    def forward(self, *arguments: Any) -> Any:
        results = self._call(*arguments)
        return results[0] if self._is_single else tuple(results)
