# SPDX-License-Identifier: MIT
"""Where the largest and the smallest elements are, of which NaN is one.

Of a window torch-mlir finds the first place that equals the largest element. NaN equals
nothing, and would be in none: here the place of the last one is taken, as eager mode
does. Along an axis it takes a place that is above all before it, which NaN is not: here
the first NaN is.
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from numera import _pieces as p
from numera.torch._loops import operations

__all__ = ["places_of_nans"]

_OEQ, _OGT, _OLT = 1, 2, 4
"""Predicates of arith.cmpf."""
_EXTREMES = frozenset(("arith.maximumf", "arith.minimumf"))


def places_of_nans(module: Any) -> None:
    """Rewrites every generic operation of a module that looks for an element."""
    for generic in operations(module, "linalg.generic"):
        steps = list(generic.regions[0].blocks[0].operations)
        choice = _extreme(steps)
        if choice is not None:
            _choose_nan(choice)
        found = _found(steps)
        if found is None:
            continue
        element, place = found
        end = steps[-1]
        with end.location, ir.InsertionPoint(end):
            end.operands[0] = p.select(_is_nan(element), place, end.operands[0])


def _is_nan(number: Any) -> Any:
    return p.make("math.isnan", [number], p.truth())


def _extreme(steps: list[Any]) -> Any | None:
    """The choice of a place by a comparison, beside the choice of an element."""
    names = [step.name for step in steps]
    if names.count("arith.cmpf") != 1 or not _EXTREMES.intersection(names):
        return None
    test = steps[names.index("arith.cmpf")]
    if ir.IntegerAttr(test.attributes["predicate"]).value not in (_OGT, _OLT):
        return None
    for step in steps:
        if (
            step.name == "arith.select"
            and step.operands[0] == test.results[0]
            and isinstance(step.results[0].type, ir.IntegerType)
        ):
            return step
    return None


def _choose_nan(choice: Any) -> None:
    """Also the place of NaN, and no other one behind it. (In posits, which have NaR
    below all numbers, the next number would be above it.)"""
    element, before = choice.operands[0].owner.operands
    with choice.location, ir.InsertionPoint(choice):
        known = p.bits("xori", _is_nan(before), p.constant(1, p.truth()))
        taken = p.bits("ori", choice.operands[0], _is_nan(element))
        choice.operands[0] = p.bits("andi", known, taken)


def _found(steps: list[Any]) -> tuple[Any, Any] | None:
    """The element of a window that a body compares, and its place."""
    names = [step.name for step in steps]
    if names.count("arith.cmpf") != 1 or "tensor.extract" not in names:
        return None
    test = steps[names.index("arith.cmpf")]
    element = test.operands[0]
    if (
        ir.IntegerAttr(test.attributes["predicate"]).value != _OEQ
        or getattr(element.owner, "name", "") != "tensor.extract"
        or not isinstance(steps[-1].operands[0].type, ir.IntegerType)
    ):
        return None
    for step in steps:
        if step.name == "arith.select" and step.operands[0] == test.results[0]:
            return element, step.operands[1]
    return None
