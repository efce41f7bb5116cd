# SPDX-License-Identifier: MIT
"""Graphs of which PyTorch runs some nodes, and programs the rest."""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection
from typing import Any

import torch
from torch import fx
from torch.fx.passes.split_module import split_module

__all__ = ["run_in_parts"]


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


def run_in_parts(
    module: fx.GraphModule,
    foreign: Collection[str],
    compile: Callable[[fx.GraphModule], Callable[..., list[Any]]],
    watch: Callable[[fx.GraphModule], torch.nn.Module] | None = None,
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
