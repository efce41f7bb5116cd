# SPDX-License-Identifier: MIT
"""Which part of a Fourier transform is zero before it, and which is read after it.

Fourier neural operators keep few frequencies. What else there is are zeros that are
assigned to, and results that nothing reads: neither is computed with.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import fx

from numera.torch._pairs import MADE

aten = torch.ops.aten

__all__ = ["Extents"]

_ELEMENTWISE = (
    *(aten.mul.Scalar, aten.mul.Tensor, aten.div.Tensor, aten.neg.default),
    *(aten.clone.default, aten.alias.default, aten._conj.default),
)

_FILLED = (aten.full_like.default, aten.fill.Scalar, aten.full.default)


def _shape(node: Any) -> torch.Size:
    shape: torch.Size = node.meta["val"].shape
    return shape


def _slice(node: fx.Node, sliced: Any, behind: int) -> tuple[int, int, int, int]:
    """Of a slice whose axis is an argument behind so many: the axis, the first place,
    the one behind the last, and the step."""
    given: tuple[Any, ...] = node.args[behind:]
    rest: tuple[Any, ...] = (0, None, None, 1)[len(given) :]
    axis, start, end, step = given + rest
    axis %= len(_shape(sliced))
    first, last, _ = slice(start, end).indices(_shape(sliced)[axis])
    return axis, first, max(first, last), step


class Extents:
    """What is known of the nodes of a graph, along an axis."""

    def __init__(self) -> None:
        self._wanted: dict[tuple[fx.Node, int], int] = {}
        self._reach: dict[tuple[fx.Node, int], int] = {}

    def wanted(self, node: fx.Node, axis: int) -> int:
        """How many results are read, from the first one on."""
        try:
            return self._read(node, axis)
        except RecursionError:  # by a graph of very many assignments
            return _shape(node)[axis]

    def reach(self, node: fx.Node, axis: int) -> int:
        """Behind how many places there are zeros."""
        try:
            return self._filled(node, axis)
        except RecursionError:
            return _shape(node)[axis]

    def _read(self, node: fx.Node, axis: int) -> int:
        key = node, axis
        if key not in self._wanted:
            most = 0
            for user in node.users:
                most = max(most, self._read_by(user, node, axis))
            self._wanted[key] = min(most, _shape(node)[axis])
        return self._wanted[key]

    def _read_by(self, user: fx.Node, node: fx.Node, axis: int) -> int:
        size, given = _shape(node)[axis], user.args
        if getattr(user.target, "overloadpacket", None) in MADE:
            return 0  # whose shape is taken
        if user.kwargs and user.target is not aten.clone.default:
            return size
        if user.target is aten.slice.Tensor:
            along, first, last, step = _slice(user, node, 1)
            if along != axis:
                return self._read(user, axis)
            return first + self._read(user, axis) if step == 1 else last
        if user.target is aten.slice_scatter.default:
            along, first, _, step = _slice(user, given[0], 2)
            most = self._read(user, axis)
            if given[0] is node or along != axis:
                return most
            return max(most - first, 0) if step == 1 else size
        if user.target is aten.copy.default and given[1] is not node:
            return 0  # it is written to
        known = user.target in _ELEMENTWISE or user.target is aten.copy.default
        if known and _shape(user) == _shape(node):
            return self._read(user, axis)
        return size

    def _filled(self, node: fx.Node, axis: int) -> int:
        key = node, axis
        if key not in self._reach:
            self._reach[key] = min(self._fills(node, axis), _shape(node)[axis])
        return self._reach[key]

    def _fills(self, node: fx.Node, axis: int) -> int:
        size, given = _shape(node)[axis], node.args
        one: Any = given[0] if given else None
        two: Any = given[1] if len(given) > 1 else None
        if node.target in _FILLED and two == 0:
            return 0
        if node.kwargs:
            return size
        if node.target is aten.copy.default and _shape(two) == _shape(node):
            return self._filled(two, axis)
        if node.target is aten.add.Tensor:
            parts = [each for each in given if isinstance(each, fx.Node)]
            if [_shape(each) for each in parts] == [_shape(node)] * 2:
                return max(self._filled(each, axis) for each in parts)
        elif node.target is aten.slice.Tensor:
            along, first, _, step = _slice(node, one, 1)
            if along != axis:
                return self._filled(one, axis)
            if step == 1:
                return max(self._filled(one, axis) - first, 0)
        elif node.target is aten.slice_scatter.default:
            along, first, last, step = _slice(node, one, 2)
            before = self._filled(one, axis)
            if along != axis:
                return max(before, self._filled(two, axis))
            if step == 1 and last > first:
                return max(before, first + self._filled(two, axis))
            return before if last == first else size
        return size
