# SPDX-License-Identifier: MIT
"""Scatters as loops over their updates.

    result = scatter(operand, indices, updates) becomes

    for each element of updates, in row-major order:
      place = where its window starts, by indices, and its place in the window
      if place is in the result: result[place] = f(result[place], update)

Where f adds, additions are in the order of the updates; each is an operation of its
own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

__all__ = ["rewrite"]

_FLOATS = {
    "stablehlo.add": "arith.addf",
    "stablehlo.subtract": "arith.subf",
    "stablehlo.multiply": "arith.mulf",
    "stablehlo.maximum": "arith.maximumf",
    "stablehlo.minimum": "arith.minimumf",
}
_INTEGERS = {
    "stablehlo.add": "arith.addi",
    "stablehlo.subtract": "arith.subi",
    "stablehlo.multiply": "arith.muli",
    "stablehlo.maximum": "arith.maxsi",
    "stablehlo.minimum": "arith.minsi",
    "stablehlo.and": "arith.andi",
    "stablehlo.or": "arith.ori",
    "stablehlo.xor": "arith.xori",
}


def rewrite(scatter: Any) -> Sequence[Any] | None:
    """The result; None of scatters that are not one tensor's, or do what no
    operation of arith does."""
    if len(scatter.results) != 1:
        return None
    element = scatter.results[0].type.element_type
    known = _FLOATS if isinstance(element, ir.FloatType) else _INTEGERS
    body = scatter.regions[0].blocks[0]
    *steps, last = list(body.operations)
    if not steps and last.operands[0] == body.arguments[1]:
        return [_Loops(scatter, None).result]
    if len(steps) != 1 or steps[0].name not in known:
        return None
    first, second = steps[0].operands
    order = [body.arguments[0], body.arguments[1]]
    if [first, second] not in (order, order[::-1]):
        return None
    if isinstance(element, ir.IntegerType) and not element.is_signless:
        return None
    return [_Loops(scatter, known[steps[0].name]).result]


class _Loops:
    def __init__(self, scatter: Any, combine: str | None) -> None:
        self.operand, self.indices, self.updates = scatter.operands
        self.combine = combine
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
        self.index = ir.IndexType.get()
        self.bit = ir.IntegerType.get_signless(1)
        # Bounds are tested where they can be missed.
        self.result = self._nest([], self.operand)

    def _nest(self, at: list[Any], value: Any) -> Any:
        """Loops over the dimensions of the updates from the next one on."""
        shape = self.updates.type.shape
        if len(at) == len(shape):
            return self._update(at, value)
        bounds = [self._constant(n) for n in (0, shape[len(at)], 1)]
        loop = ir.Operation.create(
            "scf.for", operands=[*bounds, value], results=[value.type], regions=1
        )
        here = ir.Location.current
        block = ir.Block.create_at_start(
            loop.regions[0], [self.index, value.type], [here, here]
        )
        step, inner = block.arguments
        with ir.InsertionPoint(block):
            result = self._nest([*at, step], inner)
            ir.Operation.create("scf.yield", operands=[result])
        return loop.result

    def _update(self, at: list[Any], value: Any) -> Any:
        place, inside = self._place(at)
        update = self._make("tensor.extract", [self.updates, *at], self._element)
        old = self._make("tensor.extract", [value, *place], self._element)
        new = update
        if self.combine is not None:
            new = self._make(self.combine, [old, update], self._element)
        if inside is not None:
            new = self._make("arith.select", [inside, new, old], self._element)
        return self._make("tensor.insert", [new, value, *place], value.type)

    @property
    def _element(self) -> Any:
        return self.operand.type.element_type

    def _place(self, at: list[Any]) -> tuple[list[Any], Any]:
        """Where an update goes, and whether that is inside, if it may be outside.
        What is outside becomes a place inside, whose number stays."""
        rank = self.operand.type.rank
        outer = [i for d, i in enumerate(at) if d not in self.window]
        inner = [i for d, i in enumerate(at) if d in self.window]
        place: list[Any] = [None] * rank
        free = [d for d in range(rank) if d not in (*self.inserted, *self.batching)]
        for d, i in zip(free, inner):
            place[d] = i
        for d, column in zip(self.batching, self.index_batching):
            place[d] = outer[column - (column > self.vector)]
        inside = None
        for column, d in enumerate(self.targets):
            where = list(outer)
            if self.vector < self.indices.type.rank:
                where.insert(self.vector, self._constant(column))
            kind = self.indices.type.element_type
            start = self._make("tensor.extract", [self.indices, *where], kind)
            start = self._make("arith.index_cast", [start], self.index)
            if place[d] is not None:
                start = self._make("arith.addi", [start, place[d]], self.index)
            # Unsigned, so that what is below 0 is too large.
            size = self._constant(self.operand.type.shape[d])
            fits = self._make(
                "arith.cmpi",
                [start, size],
                self.bit,
                predicate=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 6),
            )
            zero = self._constant(0)
            place[d] = self._make("arith.select", [fits, start, zero], self.index)
            if inside is None:
                inside = fits
            else:
                inside = self._make("arith.andi", [inside, fits], self.bit)
        zero = self._constant(0)
        return [zero if each is None else each for each in place], inside

    def _make(
        self, name: str, operands: Sequence[Any], result: Any, **attributes: Any
    ) -> Any:
        return ir.Operation.create(
            name, operands=list(operands), results=[result], attributes=attributes
        ).result

    def _constant(self, value: int) -> Any:
        number = ir.IntegerAttr.get(self.index, value)
        return self._make("arith.constant", [], self.index, value=number)
