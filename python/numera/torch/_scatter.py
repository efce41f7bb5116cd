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

from collections.abc import Callable
from typing import Any

__all__ = ["SUM", "scatters_to_loops"]

SUM = "+sum"
"""What the names of operations end in that add up what meets in one place."""


def scatters_to_loops(module: Any) -> None:
    """Rewrites every `tm_tensor.scatter` of a module."""
    from torch_mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "tm_tensor.scatter":
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for scatter in found:
        _Scatter(ir, scatter).rewrite()


class _Scatter:
    def __init__(self, ir: Any, scatter: Any) -> None:
        self.ir = ir
        self.scatter = scatter
        self.body = scatter.regions[0].blocks[0]
        self.adds = len(list(self.body.operations)) > 1
        self.updates, self.indices, self.original = scatter.operands
        self.index = ir.IndexType.get()

    def rewrite(self) -> None:
        location = self.scatter.location
        if self.adds:
            name = getattr(location, "name_str", "")
            location = self.ir.Location.name(name + SUM, location)
        with location, self.ir.InsertionPoint(self.scatter):
            result = self._nest([], self.original)
        if self.adds:
            with self.scatter.location, self.ir.InsertionPoint(self.scatter):
                result = self._leave(result)
        self.scatter.results[0].replace_all_uses_with(result)
        self.scatter.erase()

    def _nest(self, at: list[Any], value: Any) -> Any:
        """Loops over the updates' dimensions from the next one on."""
        if len(at) == self.updates.type.rank:
            return self._update(at, value)
        shape = self.updates.type.shape
        if at and shape[len(at)] == 1:
            return self._nest([*at, self._constant(0)], value)
        size = self._size(self.updates, len(at))
        return self._loop(size, value, lambda i, inner: self._nest([*at, i], inner))

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
        order = self.ir.DenseI64ArrayAttr(self.scatter.attributes["dimension_map"])
        for column, target in enumerate(order):
            where = [self.indices, at[0], self._constant(column)]
            number = self._make("tensor.extract", where)
            start = self._make("arith.index_cast", [number], self.index)
            axis = target - (rank - len(window))
            if axis >= 0 and self.updates.type.shape[1 + axis] != 1:
                start = self._make("arith.addi", [start, place[target]], self.index)
            place[target] = start
        return place

    def _combined(self, update: Any, old: Any) -> Any:
        """What the scatter's body makes of an update and of what was there."""
        known = dict(zip(self.body.arguments, (update, old)))
        for operation in self.body.operations:
            operands = [known.get(value, value) for value in operation.operands]
            if operation.name == "tm_tensor.yield":
                return operands[0]
            (result,) = operation.results
            known[result] = self._make(operation.name, operands, result.type)
        raise AssertionError("a body without a yield")

    def _leave(self, value: Any) -> Any:
        """The sum in the format of its users: + 0 rounds it, and changes no
        number, since no sum that starts at +0 is -0."""
        element = value.type.element_type
        if not isinstance(element, self.ir.F32Type):
            return value
        zeros = self.ir.DenseElementsAttr.get_splat(
            value.type, self.ir.FloatAttr.get(element, 0.0)
        )
        zero = self.ir.Operation.create(
            "arith.constant", results=[value.type], attributes={"value": zeros}
        ).result
        return self._make("arith.addf", [value, zero])

    # ---- pieces of IR -------------------------------------------------------

    def _make(self, name: str, operands: list[Any], result: Any = None) -> Any:
        if result is None:
            first = operands[0].type
            result = {
                "tensor.extract": getattr(first, "element_type", None),
                "tensor.insert": operands[1].type if len(operands) > 1 else None,
                "arith.addf": first,
            }[name]
        return self.ir.Operation.create(
            name, operands=operands, results=[result]
        ).result

    def _constant(self, value: int) -> Any:
        number = self.ir.IntegerAttr.get(self.index, value)
        return self.ir.Operation.create(
            "arith.constant", results=[self.index], attributes={"value": number}
        ).result

    def _size(self, value: Any, axis: int) -> Any:
        if value.type.is_dynamic_dim(axis):
            at = self._constant(axis)
            return self._make("tensor.dim", [value, at], self.index)
        return self._constant(value.type.get_dim_size(axis))

    def _loop(self, size: Any, start: Any, body: Callable[[Any, Any], Any]) -> Any:
        """`for i in 0 … size: value = body(i, value)`."""
        ir = self.ir
        bounds = [self._constant(0), size, self._constant(1)]
        loop = ir.Operation.create(
            "scf.for", operands=[*bounds, start], results=[start.type], regions=1
        )
        here = ir.Location.current
        block = loop.regions[0].blocks.append(
            self.index, start.type, arg_locs=[here, here]
        )
        with ir.InsertionPoint(block):
            value = body(*block.arguments)
            ir.Operation.create("scf.yield", operands=[value])
        return loop.result
