# SPDX-License-Identifier: MIT
"""Sorts as loops that merge, which leave equal elements in their order.

values, indices = sort(x) along an axis becomes

for n in 0 … :                               the other dimensions
  line[0] = 0 … size                         places in x[n]
  for pass in 0 … log2(size):
    for k in 0 … size:
      line[1 - side, k] = the next of two parts of 2^pass places of line[side]
  values[n] = x[n, line[side]]

NaN is larger than every number, as in PyTorch; that of posits and takums is smaller,
as they define it.
"""

from __future__ import annotations

from typing import Any

from numera.torch._loops import Loops, operations

__all__ = ["sorts_to_loops"]

_ASCENDING = {"arith.cmpf": (4, 5, 11, 12), "arith.cmpi": (2, 3, 6, 7)}
"""Predicates of comparisons by which smaller elements come first."""
_EQ, _SLT, _SGT, _ULT, _UGE = 0, 2, 4, 6, 9
"""Predicates of integers. ult and ugt are 4 above slt and sgt."""
_ORD, _OR_GREATER, _OR_LESS = 7, 9, 11
"""Predicates of floats: ord, ugt, ult."""


def sorts_to_loops(module: Any) -> None:
    """Rewrites every `tm_tensor.sort` of values and indices of a module."""
    for sort in operations(module, "tm_tensor.sort"):
        if len(sort.operands) == 2:
            _Sort(sort).replace(False)


class _Sort(Loops):
    def __init__(self, sort: Any) -> None:
        super().__init__(sort)
        self.given = list(sort.operands)
        self.type = self.given[0].type
        self.axis = self.ir.IntegerAttr(sort.attributes["dimension"]).value
        self.count = self.type.get_dim_size(self.axis)
        compare = self.body.operations[0]
        self.compares = compare.name
        self.predicate = self.ir.IntegerAttr(compare.attributes["predicate"]).value
        self.ascends = self.predicate in _ASCENDING[self.compares]
        self.bit = self.ir.IntegerType.get_signless(1)

    def replace(self, adds: bool) -> None:
        with self.operation.location, self.ir.InsertionPoint(self.operation):
            results = self._sorted()
        for old, new in zip(self.operation.results, results):
            old.replace_all_uses_with(new)
        self.operation.erase()

    def _sorted(self) -> list[Any]:
        """The values and their indices."""
        ir = self.ir
        values, indices = self.given
        self.number = indices.type.element_type
        line = ir.RankedTensorType.get([2 * self.count], self.number)
        state = [
            # Equal tensors without elements would become one.
            values if values.type == indices.type else self._empty(values.type),
            self._empty(indices.type),
            self._empty(line),
        ]
        return self._nest([], state)[:2]

    def _empty(self, kind: Any) -> Any:
        return self.ir.Operation.create("tensor.empty", results=[kind]).result

    def _nest(self, at: list[Any], state: list[Any]) -> list[Any]:
        """Loops over the dimensions that stay apart, and inside them a sort of the
        elements along the axis."""
        if len(at) + 1 == self.type.rank:
            return self._sort(at, state)
        axis = len(at) + (len(at) >= self.axis)
        size = self._constant(self.type.get_dim_size(axis))
        return self._loop(
            size, state, lambda i, *inner: self._nest([*at, i], list(inner))
        )

    def _sort(self, at: list[Any], state: list[Any]) -> list[Any]:
        size = self._constant(self.count)

        def place(k: Any) -> list[Any]:
            return [*at[: self.axis], k, *at[self.axis :]]

        def value(number: Any) -> Any:
            at = self._make("arith.index_cast", [number], self.index)
            return self._extract(self.given[0], *place(at))

        def start(k: Any, line: Any) -> list[Any]:
            number = self._make("arith.index_cast", [k], self.number)
            return [self._insert(number, line, k)]

        def leave(k: Any, values: Any, indices: Any) -> list[Any]:
            number = self._extract(line, self._index("addi", side, k))
            return [
                self._insert(value(number), values, *place(k)),
                self._insert(number, indices, *place(k)),
            ]

        (line,) = self._loop(size, state[2:], start)
        passes = max(self.count - 1, 0).bit_length()
        (line,) = self._loop(
            self._constant(passes), [line], lambda p, line: self._merge(p, line, value)
        )
        side = self._constant(self.count * (passes % 2))
        return [*self._loop(size, state[:2], leave), line]

    def _merge(self, number: Any, line: Any, value: Any) -> list[Any]:
        """Parts of 2^number elements become parts of twice as many."""
        one, size = self._constant(1), self._constant(self.count)
        last = self._constant(max(self.count - 1, 0))
        width = self._index("shli", one, number)
        double = self._index("shli", width, one)
        side = self._index("muli", self._index("andi", number, one), size)
        other = self._index("subi", size, side)

        def step(k: Any, line: Any, left: Any, right: Any) -> list[Any]:
            start = self._index("muli", self._index("divui", k, double), double)
            middle = self._index("minui", self._index("addi", start, width), size)
            end = self._index("minui", self._index("addi", start, double), size)
            begins = self._compare("arith.cmpi", _EQ, [k, start])
            left = self._select(begins, start, left)
            right = self._select(begins, middle, right)
            near, far = (
                self._extract(line, self._index("addi", side, each))
                for each in (
                    self._index("minui", left, last),
                    self._index("minui", right, last),
                )
            )
            spent = self._compare("arith.cmpi", _UGE, [left, middle])
            first = self._bits("ori", spent, self._before(value(far), value(near)))
            more = self._compare("arith.cmpi", _ULT, [right, end])
            first = self._bits("andi", more, first)
            chosen = self._select(first, far, near)
            line = self._insert(chosen, line, self._index("addi", other, k))
            ahead = self._select(first, left, self._index("addi", left, one))
            after = self._select(first, self._index("addi", right, one), right)
            return [line, ahead, after]

        zero = self._constant(0)
        return self._loop(size, [line, zero, zero], step)[:1]

    def _before(self, right: Any, left: Any) -> Any:
        """Whether the right one comes first though it is behind the other."""
        if self.compares == "arith.cmpf":
            if self.ascends:
                sooner = self._compare(self.compares, _OR_LESS, [right, left])
                return self._bits(
                    "andi", sooner, self._compare(self.compares, _ORD, [right, right])
                )
            sooner = self._compare(self.compares, _OR_GREATER, [right, left])
            return self._bits(
                "andi", sooner, self._compare(self.compares, _ORD, [left, left])
            )
        unsigned = 4 if self.predicate >= _ULT else 0
        predicate = (_SLT if self.ascends else _SGT) + unsigned
        return self._compare(self.compares, predicate, [right, left])

    # ---- operations ---------------------------------------------------------

    def _index(self, name: str, *operands: Any) -> Any:
        return self._make(f"arith.{name}", list(operands), self.index)

    def _bits(self, name: str, *operands: Any) -> Any:
        return self._make(f"arith.{name}", list(operands), self.bit)

    def _select(self, condition: Any, yes: Any, no: Any) -> Any:
        return self._make("arith.select", [condition, yes, no], yes.type)

    def _extract(self, tensor: Any, *place: Any) -> Any:
        return self._make("tensor.extract", [tensor, *place])

    def _insert(self, value: Any, tensor: Any, *place: Any) -> Any:
        return self._make("tensor.insert", [value, tensor, *place])
