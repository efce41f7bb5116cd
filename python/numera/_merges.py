# SPDX-License-Identifier: MIT
"""Sorts as loops that merge, which leave equal elements in their order.

results = sort(tensors) along an axis becomes

for n in 0 … :                               the other dimensions
  line[0] = 0 … size                         places in tensors[n]
  for pass in 0 … log2(size):
    for k in 0 … size:
      line[1 - side, k] = the next of two parts of 2^pass places of line[side]
  results[n] = tensors[n, line[side]]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

from numera import _pieces as p

__all__ = ["merged"]

_EQ, _ULT, _UGE = 0, 6, 9
"""Predicates of arith.cmpi."""


def merged(
    given: Sequence[Any], axis: int, comes_first: Callable[[list[Any]], Any]
) -> list[Any]:
    """Tensors of one shape, sorted together.

    comes_first  makes a truth of x0, y0, x1, y1, …: elements of each tensor in two
                 places. It says whether those of x come first though y is before them.
    """
    return _Merge(list(given), axis, comes_first).results()


class _Merge:
    def __init__(
        self, given: list[Any], axis: int, comes_first: Callable[[list[Any]], Any]
    ) -> None:
        self.given, self.comes_first = given, comes_first
        self.type = given[0].type
        self.axis = axis + (self.type.rank if axis < 0 else 0)

    def results(self) -> list[Any]:
        length = self.type.shape[self.axis]
        if length in (0, 1):
            return self.given
        self.count = p.size(self.given[0], self.axis)
        self.passes = self._passes()
        if self.type.is_dynamic_dim(self.axis):
            twice, sizes = length, [p.index("addi", self.count, self.count)]
        else:
            twice, sizes = 2 * length, []
        line = p.make(
            "tensor.empty", sizes, ir.RankedTensorType.get([twice], ir.IndexType.get())
        )
        return self._nest([], [*self.given, line])[:-1]

    def _passes(self) -> Any:
        """How often parts of one place become twice as long until one has all: as
        often as the last place has bits."""
        if not self.type.is_dynamic_dim(self.axis):
            return p.constant((self.type.shape[self.axis] - 1).bit_length())
        wide = ir.IntegerType.get_signless(64)
        last = p.index("subi", self.count, p.constant(1))
        zeros = p.make("math.ctlz", [p.make("arith.index_cast", [last], wide)], wide)
        bits = p.make("arith.subi", [p.constant(64, wide), zeros], wide)
        return p.make("arith.index_cast", [bits], ir.IndexType.get())

    def _nest(self, at: list[Any], state: list[Any]) -> list[Any]:
        """Loops over the dimensions that stay apart, and inside them a sort of the
        elements along the axis."""
        if len(at) + 1 == self.type.rank:
            return self._sort(at, state)
        axis = len(at) + (len(at) >= self.axis)
        size = p.size(self.given[0], axis)
        return p.loop(size, state, lambda i, *inner: self._nest([*at, i], list(inner)))

    def _sort(self, at: list[Any], state: list[Any]) -> list[Any]:
        size = self.count
        before, after = at[: self.axis], at[self.axis :]

        def element(tensor: Any, k: Any) -> Any:
            return p.extract(tensor, *before, k, *after)

        def comes_first(right: Any, left: Any) -> Any:
            places = (right, left)
            return self.comes_first(
                [element(each, k) for each in self.given for k in places]
            )

        *values, line = state
        (line,) = p.loop(size, [line], lambda k, line: [p.insert(k, line, k)])
        (line,) = p.loop(
            self.passes,
            [line],
            lambda number, line: self._merge(number, line, comes_first),
        )
        odd = p.index("andi", self.passes, p.constant(1))
        side = p.index("muli", size, odd)

        def leave(k: Any, *values: Any) -> list[Any]:
            place = p.extract(line, p.index("addi", side, k))
            return [
                p.insert(element(each, place), value, *before, k, *after)
                for each, value in zip(self.given, values)
            ]

        return [*p.loop(size, values, leave), line]

    def _merge(self, number: Any, line: Any, comes_first: Any) -> list[Any]:
        """Parts of 2^number elements become parts of twice as many."""
        one, size = p.constant(1), self.count
        last = p.index("subi", size, one)
        width = p.index("shli", one, number)
        double = p.index("shli", width, one)
        side = p.index("muli", p.index("andi", number, one), size)
        other = p.index("subi", size, side)

        def step(k: Any, line: Any, left: Any, right: Any) -> list[Any]:
            start = p.index("muli", p.index("divui", k, double), double)
            middle = p.index("minui", p.index("addi", start, width), size)
            end = p.index("minui", p.index("addi", start, double), size)
            begins = p.compare("arith.cmpi", _EQ, k, start)
            left = p.select(begins, start, left)
            right = p.select(begins, middle, right)
            near, far = (
                p.extract(line, p.index("addi", side, p.index("minui", each, last)))
                for each in (left, right)
            )
            spent = p.compare("arith.cmpi", _UGE, left, middle)
            more = p.compare("arith.cmpi", _ULT, right, end)
            first = p.bits("ori", spent, comes_first(far, near))
            first = p.bits("andi", more, first)
            chosen = p.select(first, far, near)
            line = p.insert(chosen, line, p.index("addi", other, k))
            ahead = p.select(first, left, p.index("addi", left, one))
            after = p.select(first, p.index("addi", right, one), right)
            return [line, ahead, after]

        zero = p.constant(0)
        return p.loop(size, [line, zero, zero], step)[:1]
