# SPDX-License-Identifier: MIT
"""Comparisons of a number with itself, by which JAX asks for NaN.

    arith.cmpf une, %x, %x  becomes  math.isnan %x
    arith.cmpf oeq, %x, %x  becomes  its opposite

In posits and takums nothing is unordered (K2): a comparison would find that NaR is a
number.
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from numera import _pieces as p

__all__ = ["ask_for_nans"]

_OEQ, _ORD, _UNE, _UNO = 1, 7, 13, 14
"""Predicates of arith.cmpf."""


def ask_for_nans(module: Any) -> None:
    found: list[tuple[Any, bool]] = []

    def visit(operation: Any) -> Any:
        if operation.name == "arith.cmpf":
            first, second = operation.operands
            predicate = ir.IntegerAttr(operation.attributes["predicate"]).value
            # Those of whole tensors do not come of StableHLO.
            of_numbers = isinstance(operation.results[0].type, ir.IntegerType)
            if (
                of_numbers
                and _is_one(first, second)
                and predicate in (_OEQ, _ORD, _UNE, _UNO)
            ):
                found.append((operation, predicate in (_UNE, _UNO)))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for test, asks in found:
        (result,) = test.results
        with test.location, ir.InsertionPoint(test):
            answer = p.make("math.isnan", [test.operands[0]], result.type)
            if not asks:
                answer = p.bits("xori", answer, p.constant(1, result.type))
        result.replace_all_uses_with(answer)
        test.operation.erase()


def _is_one(first: Any, second: Any) -> bool:
    """Whether two values are one, or elements of one tensor in one place."""
    if first == second:
        return True
    if not (
        isinstance(first, ir.BlockArgument) and isinstance(second, ir.BlockArgument)
    ):
        return False
    owner = first.owner.owner
    if first.owner != second.owner or owner.name != "linalg.generic":
        return False
    maps = ir.ArrayAttr(owner.attributes["indexing_maps"])
    i, j = first.arg_number, second.arg_number
    return bool(owner.operands[i] == owner.operands[j] and maps[i] == maps[j])
