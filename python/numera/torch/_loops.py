# SPDX-License-Identifier: MIT
"""Operations of torch-mlir as loops: the pieces of IR that they are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["SUM", "Loops", "operations"]

SUM = "+sum"
"""What the names of operations end in that add up what meets in one place."""


def operations(module: Any, name: str) -> list[Any]:
    """All operations of a name in a module."""
    from torch_mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == name:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


class Loops:
    """What takes the place of `operation`, whose body combines two elements."""

    def __init__(self, operation: Any) -> None:
        from torch_mlir import ir

        self.ir = ir
        self.operation = operation
        self.body = operation.regions[0].blocks[0]
        self.index = ir.IndexType.get()

    def result(self) -> Any:
        """The tensor that the loops make."""
        raise NotImplementedError

    def replace(self, adds: bool) -> None:
        """Puts :meth:`result` in the place of the operation's first result.

        adds  the body adds up; that is done in the format of accumulators.
        """
        location = self.operation.location
        if adds:
            name = getattr(location, "name_str", "")
            location = self.ir.Location.name(name + SUM, location)
        with location, self.ir.InsertionPoint(self.operation):
            result = self.result()
        if adds:
            with self.operation.location, self.ir.InsertionPoint(self.operation):
                result = self._leave(result)
        self.operation.results[0].replace_all_uses_with(result)
        self.operation.erase()

    def _combined(self, *values: Any) -> Any:
        """What the body makes of its arguments."""
        known = dict(zip(self.body.arguments, values))
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
        number = self.ir.Operation.create(
            "arith.constant",
            results=[element],
            attributes={"value": self.ir.FloatAttr.get(element, 0.0)},
        ).result
        axes = filter(value.type.is_dynamic_dim, range(value.type.rank))
        sizes = [self._size(value, axis) for axis in axes]
        zero = self._make("tensor.splat", [number, *sizes], value.type)
        return self._make("arith.addf", [value, zero])

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

    def _compare(self, name: str, predicate: int, operands: list[Any]) -> Any:
        number = self.ir.IntegerType.get_signless(64)
        return self.ir.Operation.create(
            name,
            operands=operands,
            results=[self.ir.IntegerType.get_signless(1)],
            attributes={"predicate": self.ir.IntegerAttr.get(number, predicate)},
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

    def _loop(
        self, size: Any, start: list[Any], body: Callable[..., list[Any]]
    ) -> list[Any]:
        """`for i in 0 … size: values = body(i, *values)`."""
        ir = self.ir
        bounds = [self._constant(0), size, self._constant(1)]
        types = [value.type for value in start]
        loop = ir.Operation.create(
            "scf.for", operands=[*bounds, *start], results=types, regions=1
        )
        here = [ir.Location.current] * (1 + len(types))
        block = loop.regions[0].blocks.append(self.index, *types, arg_locs=here)
        with ir.InsertionPoint(block):
            ir.Operation.create("scf.yield", operands=body(*block.arguments))
        return list(loop.results)
