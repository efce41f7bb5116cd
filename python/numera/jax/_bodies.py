# SPDX-License-Identifier: MIT
"""Regions of StableHLO that combine elements, on numbers instead of tensors.

Comparisons, choices and what arith has of integers and floats become operations of
arith; others stay those of StableHLO, on tensors without dimensions. Numbers whose
type is unsigned are given without that.

In an order (TOTALORDER) NaN and NaR are behind all numbers, and both zeros are equal,
as JAX sorts: it puts one zero and one NaN in place of all before it compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from numera import _pieces as p

__all__ = ["is_known", "results"]

_FLOATS = {
    "stablehlo.add": "arith.addf",
    "stablehlo.subtract": "arith.subf",
    "stablehlo.multiply": "arith.mulf",
    "stablehlo.divide": "arith.divf",
    "stablehlo.maximum": "arith.maximumf",
    "stablehlo.minimum": "arith.minimumf",
}
_INTEGERS = {
    "stablehlo.add": "arith.addi",
    "stablehlo.subtract": "arith.subi",
    "stablehlo.multiply": "arith.muli",
    "stablehlo.maximum": "arith.maxsi",
    "stablehlo.minimum": "arith.minsi",
    "stablehlo.and": "arith.andi",
    "stablehlo.or": "arith.ori",
    "stablehlo.xor": "arith.xori",
}
_UNSIGNED = {
    **_INTEGERS,
    "stablehlo.maximum": "arith.maxui",
    "stablehlo.minimum": "arith.minui",
}
_TRUTHS = {  # sums and products of truths are those of logic
    **_UNSIGNED,
    "stablehlo.add": "arith.ori",
    "stablehlo.multiply": "arith.andi",
}
_OF_FLOATS = {"EQ": 1, "GT": 2, "GE": 3, "LT": 4, "LE": 5, "NE": 13}
_OF_INTEGERS = {"EQ": 0, "NE": 1, "LT": 2, "LE": 3, "GT": 4, "GE": 5}


def is_known(block: Any) -> bool:
    """Whether a region can be computed on numbers."""
    *steps, _ = block.operations
    return all(_is_known(step) for step in steps)


def _is_known(step: Any) -> bool:
    values = [*step.operands, *step.results]
    if len(step.results) != 1 or any(value.type.rank for value in values):
        return False
    if step.name in ("stablehlo.compare", "stablehlo.select"):
        return True
    if step.name in _table(step.results[0].type.element_type):
        return True
    if step.regions:
        return False
    return step.name == "stablehlo.constant" or not any(map(_is_unsigned, values))


def results(block: Any, values: Sequence[Any], orders: bool = False) -> list[Any]:
    """What a region makes of numbers.

    orders  it is the comparison of a sort, to which zeros are equal, and NaN.
    """
    known = dict(zip(block.arguments, values))

    def given(value: Any) -> Any:
        if value not in known:
            known[value] = p.number(p.signless(value))
        return known[value]

    *steps, last = block.operations
    for step in steps:
        same = _unified(step) if orders else None
        if same is not None:
            known[step.results[0]] = given(same)
        else:
            known[step.results[0]] = _step(step, list(map(given, step.operands)))
    return list(map(given, last.operands))


def _step(step: Any, operands: list[Any]) -> Any:
    (result,) = step.results
    if step.name == "stablehlo.compare":
        return _compare(step, *operands)
    if step.name == "stablehlo.select":
        return p.select(*operands)
    table = _table(result.type.element_type)
    if step.name in table:
        return p.make(table[step.name], operands, operands[0].type)
    attributes = {each: step.attributes[each] for each in step.attributes}
    made = ir.Operation.create(
        step.name,
        operands=list(map(p.tensor, operands)),
        results=[result.type],
        attributes=attributes,
    ).result
    return p.number(p.signless(made))


def _unified(step: Any) -> Any:
    """The value of which a choice puts one zero or one NaN in place of all."""
    if step.name != "stablehlo.select":
        return None
    condition, chosen, other = step.operands
    test = condition.owner
    if (
        getattr(chosen.owner, "name", "") != "stablehlo.constant"
        or getattr(test, "name", "") != "stablehlo.compare"
        or not isinstance(chosen.type.element_type, ir.FloatType)
    ):
        return None
    first, second = test.operands
    direction = _direction(test)
    if direction == "NE" and first == second:  # NaN
        return other
    zero = getattr(second.owner, "name", "") == "stablehlo.constant"
    if direction == "EQ" and zero and first == other:
        values = [second.owner.attributes["value"], chosen.owner.attributes["value"]]
        if all(list(ir.DenseFPElementsAttr(each)) == [0.0] for each in values):
            return other
    return None


# ---- comparisons ------------------------------------------------------------


def _direction(test: Any) -> str:
    text = str(test.attributes["comparison_direction"])
    return next(each for each in _OF_FLOATS if each in text)


def _is_order(test: Any) -> bool:
    name = "compare_type"
    return name in test.attributes and "TOTALORDER" in str(test.attributes[name])


def _compare(test: Any, x: Any, y: Any) -> Any:
    direction = _direction(test)
    element = test.operands[0].type.element_type
    if not isinstance(element, ir.FloatType):
        predicate = _OF_INTEGERS[direction]
        if predicate >= 2 and (_is_unsigned(test.operands[0]) or element.width == 1):
            predicate += 4
        return p.compare("arith.cmpi", predicate, x, y)
    if not _is_order(test):
        return p.compare("arith.cmpf", _OF_FLOATS[direction], x, y)
    if direction in ("EQ", "NE"):
        equal = p.compare("arith.cmpf", _OF_FLOATS["EQ"], x, y)
        equal = p.bits("ori", equal, p.bits("andi", _is_nan(x), _is_nan(y)))
        return equal if direction == "EQ" else _not(equal)
    if direction in ("GT", "LE"):
        x, y = y, x
    before = _before(x, y)
    return before if direction in ("LT", "GT") else _not(before)


def _before(x: Any, y: Any) -> Any:
    """Whether x is a number, and y is a larger one or none."""
    less = p.compare("arith.cmpf", _OF_FLOATS["LT"], x, y)
    later = p.bits("ori", less, _is_nan(y))
    return p.bits("andi", later, _not(_is_nan(x)))


def _is_nan(value: Any) -> Any:
    return p.make("math.isnan", [value], ir.IntegerType.get_signless(1))


def _not(truth: Any) -> Any:
    return p.bits("xori", truth, p.constant(1, truth.type))


# ---- types ------------------------------------------------------------------


def _is_unsigned(value: Any) -> bool:
    element = value.type.element_type
    return isinstance(element, ir.IntegerType) and not element.is_signless


def _table(element: Any) -> dict[str, str]:
    """What operations on a type are in arith."""
    if isinstance(element, ir.FloatType):
        return _FLOATS
    if not isinstance(element, ir.IntegerType):
        return {}
    if element.width == 1:
        return _TRUTHS
    return _INTEGERS if element.is_signless else _UNSIGNED
