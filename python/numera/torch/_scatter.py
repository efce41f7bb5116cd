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
"""

from __future__ import annotations

from typing import Any

from numera.torch._loops import Loops, operations

__all__ = ["scatters_to_loops"]


def scatters_to_loops(module: Any) -> None:
    """Rewrites every `tm_tensor.scatter` of a module."""
    for scatter in operations(module, "tm_tensor.scatter"):
        made = _Scatter(scatter)
        made.replace(made.adds)


class _Scatter(Loops):
    def __init__(self, scatter: Any) -> None:
        super().__init__(scatter)
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
            axis = target - (rank - len(window))
            if axis >= 0 and self.updates.type.shape[1 + axis] != 1:
                start = self._make("arith.addi", [start, place[target]], self.index)
            place[target] = start
        return place
