# SPDX-License-Identifier: MIT
"""The gradient of a largest number in a window, as loops.

for each number of the source, in row-major order:
  for each place of its window that is in the operand:
    keep the place, if it is the first one or its number is larger
  result[place] = result[place] + number
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

__all__ = ["rewrite"]

_KEEPS = {"GE": 3, "GT": 2, "LE": 5, "LT": 4}
"""The predicates of arith.cmpf (ordered) by which a place is kept."""


def rewrite(operation: Any) -> Sequence[Any] | None:
    """The result; None where it is not a sum, or floats are not compared."""
    select, scatter = (region.blocks[0] for region in operation.regions)
    compare, adds = select.operations[0], scatter.operations[0]
    direction = (
        str(compare.attributes["comparison_direction"])
        if (compare.name == "stablehlo.compare")
        else ""
    )
    predicate = next((v for k, v in _KEEPS.items() if k in direction), None)
    element = operation.results[0].type.element_type
    if (
        predicate is None
        or adds.name != "stablehlo.add"
        or not isinstance(element, ir.FloatType)
        or list(compare.operands) != list(select.arguments)
    ):
        return None
    return [_Windows(operation, predicate).result()]


class _Windows:
    def __init__(self, operation: Any, predicate: int) -> None:
        self.operand, self.source, self.init = operation.operands
        rank = self.operand.type.rank
        self.predicate = predicate
        self.index = ir.IndexType.get()
        self.bit = ir.IntegerType.get_signless(1)
        self.element = operation.results[0].type.element_type
        self.kind = operation.results[0].type
        attributes = operation.attributes

        def numbers(name: str, missing: int) -> list[int]:
            if name not in attributes:
                return [missing] * rank
            return list(ir.DenseI64ArrayAttr(attributes[name]))

        self.sizes = numbers("window_dimensions", 1)
        self.strides = numbers("window_strides", 1)
        self.padding = [0] * rank
        if "padding" in attributes:
            flat = list(ir.DenseIntElementsAttr(attributes["padding"]))
            self.padding = flat[::2]

    def result(self) -> Any:
        first = self._make("tensor.extract", [self.init], self.element)
        start = self._make("tensor.splat", [first], self.kind)
        return self._over_source([], start)

    def _over_source(self, at: list[Any], value: Any) -> Any:
        if len(at) == self.source.type.rank:
            return self._add(at, value)
        bounds = [self._constant(n) for n in (0, self.source.type.shape[len(at)], 1)]
        (result,) = self._loop(
            bounds,
            [value],
            lambda step, inner: [self._over_source([*at, step], inner[0])],
        )
        return result

    def _add(self, at: list[Any], value: Any) -> Any:
        number = self._make("tensor.extract", [self.source, *at], self.element)
        corner = [
            self._sum(self._product(i, stride), -before)
            for i, stride, before in zip(at, self.strides, self.padding)
        ]
        place = self._choose(corner)
        old = self._make("tensor.extract", [value, *place], self.element)
        new = self._make("arith.addf", [old, number], self.element)
        return self._make("tensor.insert", [new, value, *place], self.kind)

    def _choose(self, corner: list[Any]) -> list[Any]:
        """The place in a window that is kept of all, one after the other."""
        best: Any = None
        chosen: list[Any] = []
        known: Any = None
        padded = any(self.padding) or self._may_leave()
        for offsets in itertools.product(*map(range, self.sizes)):
            place = [self._sum(i, offset) for i, offset in zip(corner, offsets)]
            inside = None
            if padded:
                inside, place = self._inside(place)
            number = self._make("tensor.extract", [self.operand, *place], self.element)
            if best is None:
                best, chosen, known = number, place, inside
                continue
            keeps = self._make(
                "arith.cmpf",
                [best, number],
                self.bit,
                predicate=self._predicate(self.predicate),
            )
            if inside is not None:
                # A place outside is never taken; one inside, if there is none yet.
                keeps = self._make("arith.andi", [keeps, known], self.bit)
                outside = self._make("arith.xori", [inside, self._true()], self.bit)
                keeps = self._make("arith.ori", [keeps, outside], self.bit)
                known = self._make("arith.ori", [known, inside], self.bit)
            best = self._select(keeps, best, number)
            chosen = [self._select(keeps, x, y) for x, y in zip(chosen, place)]
        return chosen

    def _may_leave(self) -> bool:
        """Whether a window ends behind the operand."""
        return any(
            (count - 1) * stride - before + size > length
            for count, stride, before, size, length in zip(
                self.source.type.shape,
                self.strides,
                self.padding,
                self.sizes,
                self.operand.type.shape,
            )
        )

    def _inside(self, place: list[Any]) -> tuple[Any, list[Any]]:
        """Whether a place is in the operand, and one that is."""
        inside = self._true()
        nearest = []
        for i, length in zip(place, self.operand.type.shape):
            # Unsigned, so that what is below 0 is too large.
            fits = self._make(
                "arith.cmpi",
                [i, self._constant(length)],
                self.bit,
                predicate=self._predicate(6),
            )
            nearest.append(self._select(fits, i, self._constant(0)))
            inside = self._make("arith.andi", [inside, fits], self.bit)
        return inside, nearest

    # ---- pieces of IR -------------------------------------------------------

    def _loop(
        self,
        bounds: list[Any],
        values: list[Any],
        body: Callable[[Any, list[Any]], list[Any]],
    ) -> list[Any]:
        types = [value.type for value in values]
        loop = ir.Operation.create(
            "scf.for", operands=[*bounds, *values], results=types, regions=1
        )
        here = ir.Location.current
        block = ir.Block.create_at_start(
            loop.regions[0], [self.index, *types], [here] * (1 + len(types))
        )
        step, *inner = block.arguments
        with ir.InsertionPoint(block):
            ir.Operation.create("scf.yield", operands=body(step, inner))
        return list(loop.results)

    def _predicate(self, number: int) -> Any:
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)

    def _select(self, condition: Any, first: Any, second: Any) -> Any:
        return self._make("arith.select", [condition, first, second], first.type)

    def _sum(self, value: Any, more: int) -> Any:
        if more == 0:
            return value
        return self._make("arith.addi", [value, self._constant(more)], self.index)

    def _product(self, value: Any, factor: int) -> Any:
        if factor == 1:
            return value
        return self._make("arith.muli", [value, self._constant(factor)], self.index)

    def _true(self) -> Any:
        return self._make(
            "arith.constant", [], self.bit, value=ir.IntegerAttr.get(self.bit, 1)
        )

    def _make(
        self, name: str, operands: Sequence[Any], result: Any, **attributes: Any
    ) -> Any:
        return ir.Operation.create(
            name, operands=list(operands), results=[result], attributes=attributes
        ).result

    def _constant(self, value: int) -> Any:
        number = ir.IntegerAttr.get(self.index, value)
        return self._make("arith.constant", [], self.index, value=number)
