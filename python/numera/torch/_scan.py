# SPDX-License-Identifier: MIT
"""Cumulative sums and products as loops, in order.

result = scan(x) along an axis becomes

for n in 0 … :                               the other dimensions
  sum = f's neutral element
  for i in 0 … :
    sum = f(x[n, i], sum)
    result[n, i] = sum

Of logarithms of sums, torch-mlir makes powers, their sums, and logarithms. Powers that
are not numbers of the format are avoided: f(x, sum) is the larger of both, and
log(1 + exp(the smaller - the larger)).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from numera.torch._loops import Loops, operations

__all__ = ["scans_to_loops"]


def scans_to_loops(module: Any, logarithms: Collection[str] = ()) -> None:
    """Rewrites every `tm_tensor.scan` of a module that has its own element in each
    result, and of which nothing but these results is used.

    logarithms  the names of nodes that are logarithms of sums of powers.
    """
    for scan in operations(module, "tm_tensor.scan"):
        names = re.findall(r'"([^"]*)"', str(scan.location))
        is_log = any(name in logarithms for name in names)
        made = _LogScan(scan) if is_log else _Scan(scan)
        if made.is_plain:
            made.replace(made.adds)


class _Scan(Loops):
    def __init__(self, scan: Any) -> None:
        super().__init__(scan)
        self.operand, self.whole, self.start = scan.operands
        self.axis = self.ir.IntegerAttr(scan.attributes["dimension"]).value
        inclusive = self.ir.BoolAttr(scan.attributes["inclusive"]).value
        self.is_plain = inclusive and not list(scan.results[1].uses)
        names = [operation.name for operation in self.body.operations]
        self.adds = names[:-1] == ["arith.addf"]

    def result(self) -> Any:
        return self._nest([], self.whole)

    def _nest(self, at: list[Any], value: Any) -> Any:
        """Loops over the dimensions that stay apart, and inside them one along
        the axis."""
        if len(at) + 1 == self.operand.type.rank:
            return self._along(at, value)
        axis = len(at) + (len(at) >= self.axis)
        (value,) = self._loop(
            self._size(self.operand, axis),
            [value],
            lambda i, inner: [self._nest([*at, i], inner)],
        )
        return value

    def _along(self, at: list[Any], value: Any) -> Any:
        def step(i: Any, whole: Any, last: Any) -> list[Any]:
            place = [*at[: self.axis], i, *at[self.axis :]]
            element = self._make("tensor.extract", [self.operand, *place])
            sum = self._next(i, element, last)
            return [self._make("tensor.insert", [sum, whole, *place]), sum]

        start = self._make("tensor.extract", [self.start, *at])
        return self._loop(self._size(self.operand, self.axis), [value, start], step)[0]

    def _next(self, i: Any, element: Any, last: Any) -> Any:
        return self._combined(element, last)


class _LogScan(_Scan):
    """`log(scan(exp(x)))`, as torch-mlir has it."""

    def __init__(self, scan: Any) -> None:
        super().__init__(scan)
        powers = self.operand.owner
        users = [use.owner for use in scan.results[0].uses]
        # Others take sizes of it.
        (self.logarithm,) = (each for each in users if _only(each) == "math.log")
        assert _only(powers) == "math.exp"
        self.operand = powers.operands[0]

    def replace(self, adds: bool) -> None:
        super().replace(adds)
        (result,) = self.logarithm.results
        result.replace_all_uses_with(self.logarithm.operands[0])
        self.logarithm.erase()

    def _next(self, i: Any, element: Any, last: Any) -> Any:
        kind = element.type
        high = self._make("arith.maximumf", [element, last], kind)
        low = self._make("arith.minimumf", [element, last], kind)
        zero = self.ir.Operation.create(
            "arith.constant",
            results=[kind],
            attributes={"value": self.ir.FloatAttr.get(kind, 0.0)},
        ).result
        apart = self._make("arith.subf", [low, high], kind)
        # Equal infinities are not apart.
        equal = self._compare("arith.cmpf", 1, [low, high])
        apart = self._make("arith.select", [equal, zero, apart], kind)
        more = self._make("math.log1p", [self._make("math.exp", [apart], kind)], kind)
        sum = self._make("arith.addf", [high, more], kind)
        first = self._compare("arith.cmpi", 0, [i, self._constant(0)])
        return self._make("arith.select", [first, element, sum], kind)


def _only(operation: Any) -> str:
    """The only operation in the body of another, beside the one that ends it."""
    if operation.name != "linalg.generic":
        return ""
    first, *rest = operation.regions[0].blocks[0].operations
    return first.name if len(rest) == 1 else ""
