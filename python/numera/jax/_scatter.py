# SPDX-License-Identifier: MIT
"""Scatters as loops over their updates.

    result = scatter(operand, indices, updates) becomes

    for each element of updates, in row-major order:
      place = where its window starts, by indices, and its place in the window
      if the window is in the result: result[place] = f(result[place], update)

Where f adds, additions are in the order of the updates; each is an operation of its
own. f is what the scatter's region says (`_bodies`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from numera import _pieces as p
from numera.jax import _bodies

__all__ = ["rewrite"]

_ULT = 6
"""A predicate of arith.cmpi."""


def rewrite(scatter: Any) -> Sequence[Any] | None:
    """The result; None of scatters that are not one tensor's, or whose region no
    operations on numbers are."""
    if len(scatter.results) != 1 or not _bodies.is_known(scatter.regions[0].blocks[0]):
        return None
    (result,) = scatter.results
    return [p.with_sign(_Loops(scatter).result, result.type.element_type)]


class _Loops:
    def __init__(self, scatter: Any) -> None:
        self.operand, self.indices, self.updates = map(p.signless, scatter.operands)
        unsigned = scatter.operands[1].type != self.indices.type
        self.as_index = "arith.index_castui" if unsigned else "arith.index_cast"
        self.body = scatter.regions[0].blocks[0]
        from torch_mlir._mlir_libs import _stablehlo

        numbers = _stablehlo.ScatterDimensionNumbers(
            scatter.attributes["scatter_dimension_numbers"]
        )
        self.window = list(numbers.update_window_dims)
        self.inserted = list(numbers.inserted_window_dims)
        self.batching = list(numbers.input_batching_dims)
        self.index_batching = list(numbers.scatter_indices_batching_dims)
        self.targets = list(numbers.scattered_dims_to_operand_dims)
        self.vector = numbers.index_vector_dim
        # Bounds are tested where they can be missed.
        has_places = 0 not in self.operand.type.shape
        self.result = self._nest([], self.operand) if has_places else self.operand

    def _nest(self, at: list[Any], value: Any) -> Any:
        """Loops over the dimensions of the updates from the next one on."""
        shape = self.updates.type.shape
        if len(at) == len(shape):
            return self._update(at, value)
        size = p.constant(shape[len(at)])
        (result,) = p.loop(
            size, [value], lambda i, inner: [self._nest([*at, i], inner)]
        )
        return result

    def _update(self, at: list[Any], value: Any) -> Any:
        place, inside = self._place(at)
        update, old = p.extract(self.updates, *at), p.extract(value, *place)
        (new,) = _bodies.results(self.body, [old, update])
        if inside is not None:
            new = p.select(inside, new, old)
        return p.insert(new, value, *place)

    def _place(self, at: list[Any]) -> tuple[list[Any], Any]:
        """Where an update goes, and whether its whole window is inside, if that may
        be outside. What is outside becomes a place inside, whose number stays."""
        rank = self.operand.type.rank
        outer = [i for d, i in enumerate(at) if d not in self.window]
        inner = [i for d, i in enumerate(at) if d in self.window]
        place: list[Any] = [None] * rank
        free = [d for d in range(rank) if d not in (*self.inserted, *self.batching)]
        sizes = {}
        for d, i, axis in zip(free, inner, self.window):
            place[d], sizes[d] = i, self.updates.type.shape[axis]
        for d, column in zip(self.batching, self.index_batching):
            place[d] = outer[column - (column > self.vector)]
        inside = None
        for column, d in enumerate(self.targets):
            where = list(outer)
            if self.vector < self.indices.type.rank:
                where.insert(self.vector, p.constant(column))
            start = p.extract(self.indices, *where)
            start = p.make(self.as_index, [start], ir.IndexType.get())
            # Unsigned, so that what is below 0 is too large.
            starts = max(self.operand.type.shape[d] - sizes.get(d, 1) + 1, 0)
            fits = p.compare("arith.cmpi", _ULT, start, p.constant(starts))
            start = p.select(fits, start, p.constant(0))
            place[d] = start if place[d] is None else p.index("addi", start, place[d])
            inside = fits if inside is None else p.bits("andi", inside, fits)
        zero = p.constant(0)
        return [zero if each is None else each for each in place], inside
