# SPDX-License-Identifier: MIT
"""Views of tensors whose sizes calls decide, as steps that torch-mlir lowers rightly.

A view of [b, t, 16] as [b, t, 4, 4] has groups of dimensions, (b), (t) and (16) ->
(4, 4), whose sizes are known to have equal products. Each becomes one dimension, and
that the group's new ones.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import fx
from torch.fx.experimental.symbolic_shapes import statically_known_true

from numera.torch import _random

aten = torch.ops.aten

__all__ = ["in_steps"]


class _Group(NamedTuple):
    """Dimensions before a view and after it, from the first to behind the last."""

    old: tuple[int, int]
    new: tuple[int, int]


def _groups(old: torch.Size, new: torch.Size) -> list[_Group]:
    """The smallest groups that there are, in order."""
    found: list[_Group] = []
    start, begin = 0, 0
    for end in range(1, len(old)):
        for stop in range(begin + 1, len(new)):
            before, after = math.prod(old[start:end]), math.prod(new[begin:stop])
            if statically_known_true(before == after):
                found.append(_Group((start, end), (begin, stop)))
                start, begin = end, stop
                break
    return [*found, _Group((start, len(old)), (begin, len(new)))]


def in_steps(graph: fx.Graph, node: fx.Node) -> None:
    """Puts the steps in the place of `aten.view`, of which a size is a symbol."""
    given: tuple[Any, ...] = node.args
    made, sizes = given
    old, new = made.meta["val"].shape, node.meta["val"].shape
    known = [size for size in (*old, *new) if isinstance(size, int)]
    if len(known) == len(old) + len(new) or 0 in (len(old), len(new), *known):
        return

    def step(target: Any, *arguments: Any, shape: list[Any]) -> fx.Node:
        with graph.inserting_before(node):
            taken = graph.call_function(target, (made, *arguments))
        _random.describe(taken, node, node.meta["val"].new_empty(shape))
        return taken

    shape = list(old)
    # From the last on, so that places of those before stay what they are.
    for (start, end), (begin, stop) in reversed(_groups(old, new)):
        if end - start > 1:
            shape[start:end] = [math.prod(old[start:end])]
            made = step(torch.ops.prims.collapse.default, start, end - 1, shape=shape)
        if stop - begin > 1:
            shape[start : start + 1] = new[begin:stop]
            parts = _parts(sizes[begin:stop])
            made = step(aten.unflatten.int, start, parts, shape=shape)
    node.replace_all_uses_with(made)
    graph.erase_node(node)


def _parts(sizes: Any) -> list[Any]:
    """The sizes, of which the only one that is a symbol is what the others leave."""
    symbols = sum(not isinstance(size, int) for size in sizes)
    return [-1 if symbols == 1 and not isinstance(n, int) else n for n in sizes]
