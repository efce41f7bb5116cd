# SPDX-License-Identifier: MIT
"""Cumulative sums and products as loops, in order.

result = scan(x) along an axis becomes

for n in 0 … :                               the other dimensions
  sum = f's neutral element
  for i in 0 … :
    sum = f(x[n, i], sum)
    result[n, i] = sum
"""

from __future__ import annotations

from typing import Any

from numera.torch._loops import Loops, operations

__all__ = ["scans_to_loops"]


def scans_to_loops(module: Any) -> None:
    """Rewrites every `tm_tensor.scan` of a module that has its own element in each
    result, and of which nothing but these results is used."""
    for scan in operations(module, "tm_tensor.scan"):
        made = _Scan(scan)
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
            sum = self._combined(element, last)
            return [self._make("tensor.insert", [sum, whole, *place]), sum]

        start = self._make("tensor.extract", [self.start, *at])
        return self._loop(self._size(self.operand, self.axis), [value, start], step)[0]
