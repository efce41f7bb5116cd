# SPDX-License-Identifier: MIT
"""Sorts of torch-mlir, as loops that merge (`numera._merges`).

NaN is larger than every number, as in PyTorch; that of posits and takums is smaller,
as they define it.
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from numera import _merges
from numera import _pieces as p
from numera.torch._loops import operations

__all__ = ["sorts_to_loops"]

_ASCENDING = {"arith.cmpf": (4, 5, 11, 12), "arith.cmpi": (2, 3, 6, 7)}
"""Predicates of comparisons by which smaller elements come first."""
_SLT, _SGT, _ULT = 2, 4, 6
"""Predicates of integers. ult and ugt are 4 above slt and sgt."""
_ORD, _OR_GREATER, _OR_LESS = 7, 9, 11
"""Predicates of floats: ord, ugt, ult."""


def sorts_to_loops(module: Any) -> None:
    """Rewrites every `tm_tensor.sort` of values and indices of a module."""
    for sort in operations(module, "tm_tensor.sort"):
        if len(sort.operands) != 2:
            continue
        axis = ir.IntegerAttr(sort.attributes["dimension"]).value
        with sort.location, ir.InsertionPoint(sort):
            found = _merges.merged(sort.operands, axis, _before(sort))
        for old, new in zip(sort.results, found):
            old.replace_all_uses_with(new)
        sort.operation.erase()


def _before(sort: Any) -> Any:
    """The comparison of values by the sort's body, of which NaN is the largest."""
    test = sort.regions[0].blocks[0].operations[0]
    name = test.name
    predicate = ir.IntegerAttr(test.attributes["predicate"]).value
    ascends = predicate in _ASCENDING[name]

    def floats(pairs: list[Any]) -> Any:
        right, left, *_ = pairs
        sooner = p.compare(name, _OR_LESS if ascends else _OR_GREATER, right, left)
        number = right if ascends else left
        return p.bits("andi", sooner, p.compare(name, _ORD, number, number))

    def integers(pairs: list[Any]) -> Any:
        right, left, *_ = pairs
        unsigned = 4 if predicate >= _ULT else 0
        return p.compare(name, (_SLT if ascends else _SGT) + unsigned, right, left)

    return floats if name == "arith.cmpf" else integers
