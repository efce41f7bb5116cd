# SPDX-License-Identifier: MIT
"""Graphs with sizes that calls decide: one program for each set of sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

__all__ = ["has_symbols", "specialising"]


def has_symbols(module: fx.GraphModule) -> bool:
    """Whether a size of an input is a symbol."""
    for node in module.graph.nodes:
        if node.op != "placeholder":
            continue
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt):
            return True
        if isinstance(value, torch.Tensor) and any(
            isinstance(size, torch.SymInt) for size in value.shape
        ):
            return True
    return False


def specialising(
    module: fx.GraphModule,
    compile: Callable[[fx.GraphModule], Callable[..., list[Any]]],
) -> Callable[..., list[Any]]:
    """A function of the graph's arguments that compiles for sizes it has not met."""
    known: dict[tuple[Any, ...], Callable[..., list[Any]]] = {}

    def invoke(*arguments: Any) -> list[Any]:
        sizes = tuple(
            tuple(each.shape) if isinstance(each, torch.Tensor) else each
            for each in arguments
        )
        if sizes not in known:
            known[sizes] = compile(_specialise(module, arguments))
        return known[sizes](*arguments)

    return invoke


def _specialise(module: fx.GraphModule, arguments: tuple[Any, ...]) -> fx.GraphModule:
    """The graph for the sizes that the arguments have."""

    def run(*values: Any) -> Any:
        with fx.traceback.preserve_node_meta():
            return fx.Interpreter(module).run(*values)

    with torch.no_grad():
        return make_fx(run, tracing_mode="fake")(*arguments)
