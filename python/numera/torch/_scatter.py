# SPDX-License-Identifier: MIT
"""Scatters as loops over their updates, in order.

    result = scatter(original, indices, updates) becomes

    for n in 0 … updates:                        one row of indices each
      place = indices[n, 0], indices[n, 1] …
      for i in 0 … :                             the rest of the dimensions
        result[place, i] = f(updates[n, i], result[place, i])

Where f adds, additions are in the order in which updates come, which is PyTorch's.
Each dimension of the result has at most one loop, and each update one visit, so
that the gradient of an embedding costs what its batch has, not its vocabulary.
Where indices are those of `x[indices] = …`, negative ones count from the end.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from numera.torch._loops import Loops, operations

__all__ = ["scatters_to_loops"]


def scatters_to_loops(module: Any, from_end: Collection[str] = ()) -> None:
    """Rewrites every `tm_tensor.scatter` of a module.

    from_end  the names of nodes whose negative indices count from the end.
    """
    for scatter in operations(module, "tm_tensor.scatter"):
        names = re.findall(r'"([^"]*)"', str(scatter.location))
        made = _Scatter(scatter, any(name in from_end for name in names))
        made.replace(made.adds)


class _Scatter(Loops):
    def __init__(self, scatter: Any, from_end: bool) -> None:
        super().__init__(scatter)
        self.from_end = from_end
        self.adds = len(list(self.body.operations)) > 1
        self.updates, self.indices, self.original = scatter.operands

    def result(self) -> Any:
        return self._nest([], self.original)

    def _nest(self, at: list[Any], value: Any) -> Any:
        """Loops over the updates' dimensions from the next one on."""
        if len(at) == self.updates.type.rank:
            return self._update(at, value)
        shape = self.updates.type.shape
        if at and shape[len(at)] == 1:
            return self._nest([*at, self._constant(0)], value)
        size = self._size(self.updates, len(at))
        (value,) = self._loop(
            size, [value], lambda i, inner: [self._nest([*at, i], inner)]
        )
        return value

    def _update(self, at: list[Any], value: Any) -> Any:
        place = self._place(at)
        update = self._make("tensor.extract", [self.updates, *at])
        if self.adds:
            old = self._make("tensor.extract", [value, *place])
            update = self._combined(update, old)
        return self._make("tensor.insert", [update, value, *place])

    def _place(self, at: list[Any]) -> list[Any]:
        """Where an update goes. Its own dimensions are the last ones of the result;
        those that have indices start there."""
        rank = self.original.type.rank
        window = at[1:]
        place: list[Any] = [None] * (rank - len(window)) + window
        order = self.ir.DenseI64ArrayAttr(self.operation.attributes["dimension_map"])
        for column, target in enumerate(order):
            where = [self.indices, at[0], self._constant(column)]
            number = self._make("tensor.extract", where)
            start = self._make("arith.index_cast", [number], self.index)
            if self.from_end:
                start = self._wrapped(start, target)
            axis = target - (rank - len(window))
            if axis >= 0 and self.updates.type.shape[1 + axis] != 1:
                start = self._make("arith.addi", [start, place[target]], self.index)
            place[target] = start
        return place

    def _wrapped(self, index: Any, axis: int) -> Any:
        """An index from 0 on, of one that may count from the end."""
        size = self._size(self.original, axis)
        turned = self._make("arith.addi", [index, size], self.index)
        is_negative = self._compare("arith.cmpi", 2, [index, self._constant(0)])
        return self._make("arith.select", [is_negative, turned, index], self.index)
