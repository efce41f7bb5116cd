# SPDX-License-Identifier: MIT
"""Operations with regions whose values are complex, with both parts beside each other.

    while, case, if            regions that take and return the parts
    return                     of all parts
    scatter, reduce_window     two of them, which set elements, or add them up

`pairs` are the parts of complex values; an imaginary part that is None is zero.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

__all__ = ["CONTROL", "of_parts", "rewrite"]

CONTROL = ("stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.return")

Pairs = dict[Any, tuple[Any, Any]]


def rewrite(
    operation: Any,
    pairs: Pairs,
    part_type: Callable[[Any], Any],
    imaginary: Callable[[tuple[Any, Any]], Any],
) -> None:
    """Puts a loop, a branch or what a region returns in another's place. Its regions
    move there; operations in them are rewritten next.

    part_type  the type of a part, None of types that are not complex.
    imaginary  the second part, zeros if there is none.
    """

    def flat(values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for value in values:
            if part_type(value.type) is None:
                found.append(value)
            else:
                found += [pairs[value][0], imaginary(pairs[value])]
        return found

    def types(values: Sequence[Any]) -> list[Any]:
        found: list[Any] = []
        for value in values:
            part = part_type(value.type)
            found += [value.type] if part is None else [part, part]
        return found

    def joined(old: Sequence[Any], new: Sequence[Any]) -> None:
        rest = iter(new)
        for value in old:
            if part_type(value.type) is None:
                value.replace_all_uses_with(next(rest))
            else:
                pairs[value] = next(rest), next(rest)

    known = operation.attributes
    made = ir.Operation.create(
        operation.name,
        operands=flat(operation.operands),
        results=types(operation.results),
        attributes={each: known[each] for each in known},
        regions=len(operation.regions),
    )
    for old, new in zip(operation.regions, made.regions):
        (block,) = old.blocks
        kinds = types(block.arguments)
        other = ir.Block.create_at_start(new, kinds, [operation.location] * len(kinds))
        joined(block.arguments, other.arguments)
        for each in list(block.operations):
            other.append(each)
    joined(operation.results, made.results)


def of_parts(
    operation: Any, operands: Sequence[Any], kind: Any, element: Any
) -> Any | None:
    """A scatter or a sum of windows of real numbers; None of regions that do more than
    add, or set."""
    steps = [step.name for step in operation.regions[0].blocks[0].operations]
    if steps not in (["stablehlo.return"], ["stablehlo.add", "stablehlo.return"]):
        return None
    *_, end = operation.regions[0].blocks[0].operations
    given = list(operation.regions[0].blocks[0].arguments)
    known = operation.attributes
    made = ir.Operation.create(
        operation.name,
        operands=list(operands),
        results=[kind],
        attributes={each: known[each] for each in known},
        regions=1,
    )
    number = ir.RankedTensorType.get([], element)
    block = ir.Block.create_at_start(
        made.regions[0], [number, number], [operation.location] * 2
    )
    with ir.InsertionPoint(block):
        if len(steps) == 1:
            result = block.arguments[given.index(end.operands[0])]
        else:
            result = ir.Operation.create(
                "stablehlo.add", operands=list(block.arguments), results=[number]
            ).result
        ir.Operation.create("stablehlo.return", operands=[result])
    return made.result
