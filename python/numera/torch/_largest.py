# SPDX-License-Identifier: MIT
"""Where the largest elements of windows are, of which NaN is one.

torch-mlir finds the first place that equals the largest element. NaN equals nothing,
and would be in none: here the place of the last one is taken, as eager mode does.
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from numera import _pieces as p
from numera.torch._loops import operations

__all__ = ["places_of_nans"]

_OEQ = 1
"""A predicate of arith.cmpf."""


def places_of_nans(module: Any) -> None:
    """Rewrites every generic operation of a module that looks for an element."""
    for generic in operations(module, "linalg.generic"):
        steps = list(generic.regions[0].blocks[0].operations)
        found = _found(steps)
        if found is None:
            continue
        element, place = found
        end = steps[-1]
        with end.location, ir.InsertionPoint(end):
            is_nan = p.make("math.isnan", [element], p.truth())
            end.operands[0] = p.select(is_nan, place, end.operands[0])


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
