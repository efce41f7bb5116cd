# SPDX-License-Identifier: MIT
"""What StableHLO has and linalg has not, as loops and branches of scf.

    while, that counts (scan, fori_loop)   scf.for
    while                                  scf.while
    if, case                               scf.if
    scatter, select_and_scatter            scf.for over updates, in order
    sort                                   scf.for that merge
    optimization_barrier                   nothing

The rest of the operations stay those of StableHLO, inside of loops as well. Unsigned
integers that loops carry and branches give are without their sign there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

from numera._pieces import constant as _constant
from numera._pieces import make as _make
from numera._pieces import number as _number
from numera._pieces import signless as _signless
from numera._pieces import signless_type as _signless_type
from numera._pieces import tensor as _tensor
from numera._pieces import with_sign as _with_sign
from numera.jax import _scatter, _sorts, _windows

__all__ = ["rewrite"]


def rewrite(module: Any) -> None:
    """Rewrites a module without calls, inner operations first."""
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name in _RULES:
            found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    for operation in found:
        if operation.name in _STATIC and not _is_static(operation):
            continue  # left to whoever reports what is left
        with operation.location, ir.InsertionPoint(operation):
            results = _RULES[operation.name](operation)
        if results is None:
            continue
        for old, new in zip(operation.results, results):
            old.replace_all_uses_with(new)
        operation.erase()


def _is_static(operation: Any) -> bool:
    """Whether the sizes of all tensors are known."""
    return all(value.type.has_static_shape for value in operation.operands)


# ---- pieces of IR -----------------------------------------------------------


def _index() -> Any:
    return ir.IndexType.get()


def _as_index(number: Any) -> Any:
    return _make("arith.index_cast", [number], _index())


def _move(source: Any, target: Any, values: Sequence[Any]) -> Any:
    """Moves operations to the end of a block, with values in place of arguments.

    Returns the new ``scf.yield``, which has what the block returned.
    """
    for argument, value in zip(source.arguments, values):
        argument.replace_all_uses_with(value)
    *operations, last = list(source.operations)
    returned = list(last.operands)
    with last.location, ir.InsertionPoint(target):
        end = ir.Operation.create("scf.yield", operands=returned)
    for operation in operations:
        operation.move_before(end)
    last.erase()
    with end.location, ir.InsertionPoint(end):
        for place, value in enumerate(returned):
            end.operands[place] = _signless(value)
    return end


def _signed_like(values: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """Tensors with the signs that the operation's own had."""
    return [_with_sign(x, kind.element_type) for x, kind in zip(values, types)]


# ---- loops ------------------------------------------------------------------


def _while(operation: Any) -> Sequence[Any] | None:
    counter = _counter(operation)
    if counter is not None:
        return _for(operation, *counter)
    before, after = (region.blocks[0] for region in operation.regions)
    own = [value.type for value in operation.operands]
    start = list(map(_signless, operation.operands))
    types = [value.type for value in start]
    loop = ir.Operation.create("scf.while", operands=start, results=types, regions=2)
    first, second = (
        ir.Block.create_at_start(region, types, [operation.location] * len(types))
        for region in loop.regions
    )
    with ir.InsertionPoint(first):
        values = _signed_like(first.arguments, own)
    end = _move(before, first, values)
    with end.location, ir.InsertionPoint(end):
        condition = _number(end.operands[0])
        ir.Operation.create("scf.condition", operands=[condition, *first.arguments])
    end.erase()
    with ir.InsertionPoint(second):
        values = _signed_like(second.arguments, own)
    _move(after, second, values)
    return _signed_like(loop.results, own)


def _counter(operation: Any) -> tuple[int, Any] | None:
    """Which value counts up by one to a limit that stays, and the limit."""
    before, after = (region.blocks[0] for region in operation.regions)
    test = before.operations[len(before.operations) - 1].operands[0].owner
    if getattr(test, "name", "") != "stablehlo.compare" or "LT" not in str(
        test.attributes["comparison_direction"]
    ):
        return None
    place, limit = _place(test.operands[0], before), test.operands[1]
    if place is None or str(test.operands[0].type) not in (
        "tensor<i32>",
        "tensor<i64>",
    ):
        return None
    returned = after.operations[len(after.operations) - 1].operands
    step = returned[place].owner
    if getattr(step, "name", "") != "stablehlo.add":
        return None
    terms = {_place(value, after): value for value in step.operands}
    ones = [value for at, value in terms.items() if at != place]
    if place not in terms or len(ones) != 1 or not _is_one(ones[0]):
        return None
    carried = _place(limit, before)
    if carried is not None:
        if _place(returned[carried], after) != carried:
            return None
        return place, operation.operands[carried]
    if _block(limit) == before:
        if limit.owner.name != "stablehlo.constant":
            return None
        limit.owner.move_before(operation)
    return place, limit


def _place(value: Any, block: Any) -> int | None:
    """Which argument of a block a value is."""
    if isinstance(value, ir.BlockArgument) and value.owner == block:
        return value.arg_number
    return None


def _block(value: Any) -> Any:
    if isinstance(value, ir.BlockArgument):
        return value.owner
    return value.owner.operation.block


def _is_one(value: Any) -> bool:
    owner = value.owner
    if getattr(owner, "name", "") != "stablehlo.constant":
        return False
    elements = ir.DenseIntElementsAttr(owner.attributes["value"])
    return len(elements) == 1 and elements[0] == 1


def _for(operation: Any, place: int, limit: Any) -> Sequence[Any]:
    after = operation.regions[1].blocks[0]
    start = _number(operation.operands[place])
    kind = start.type
    bounds = [_as_index(start), _as_index(_number(limit)), _constant(1)]
    others = [v for i, v in enumerate(operation.operands) if i != place]
    own = [value.type for value in others]
    carried = list(map(_signless, others))
    types = [value.type for value in carried]
    loop = ir.Operation.create(
        "scf.for", operands=[*bounds, *carried], results=types, regions=1
    )
    block = ir.Block.create_at_start(
        loop.regions[0], [_index(), *types], [operation.location] * (1 + len(types))
    )
    step, *inner = block.arguments
    with ir.InsertionPoint(block):
        number = _make("arith.index_cast", [step], kind)
        values = _signed_like(inner, own)
        values.insert(place, _tensor(number))
    end = _move(after, block, values)
    kept = [v for i, v in enumerate(end.operands) if i != place]
    with end.location, ir.InsertionPoint(end):
        ir.Operation.create("scf.yield", operands=kept)
    end.erase()
    results = _signed_like(loop.results, own)
    # What the counter is after the last step.
    last = _make("arith.maxsi", [start, _number(limit)], kind)
    results.insert(place, _tensor(last))
    return results


# ---- branches ---------------------------------------------------------------


def _case(operation: Any) -> Sequence[Any]:
    branches = [region.blocks[0] for region in operation.regions]
    choice = _number(operation.operands[0])
    types = [value.type for value in operation.results]
    return _chain(choice, 0, branches, types)


def _if(operation: Any) -> Sequence[Any]:
    branches = [region.blocks[0] for region in operation.regions]
    types = [value.type for value in operation.results]
    return _branch(
        _number(operation.operands[0]),
        types,
        lambda block: _move(branches[0], block, []),
        lambda block: _move(branches[1], block, []),
    )


def _chain(choice: Any, at: int, branches: Sequence[Any], types: Any) -> Sequence[Any]:
    """Branch ``at`` if it is the choice, else the next ones; the last is for all
    numbers that none has."""

    def others(block: Any) -> None:
        if at + 2 == len(branches):
            _move(branches[-1], block, [])
            return
        with ir.InsertionPoint(block):
            results = map(_signless, _chain(choice, at + 1, branches, types))
            ir.Operation.create("scf.yield", operands=list(results))

    if len(branches) == 1:
        at = -1
    here = _make(
        "arith.cmpi",
        [choice, _constant(max(at, 0), choice.type)],
        ir.IntegerType.get_signless(1),
        predicate=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0),
    )
    return _branch(here, types, lambda b: _move(branches[at], b, []), others)


def _branch(
    condition: Any,
    types: Sequence[Any],
    first: Callable[[Any], Any],
    second: Callable[[Any], Any],
) -> Sequence[Any]:
    kinds = list(map(_signless_type, types))
    branch = ir.Operation.create(
        "scf.if", operands=[condition], results=kinds, regions=2
    )
    for region, fill in zip(branch.regions, (first, second)):
        fill(ir.Block.create_at_start(region, []))
    return _signed_like(branch.results, types)


def _barrier(operation: Any) -> Sequence[Any]:
    return list(operation.operands)


_RULES: dict[str, Callable[[Any], Sequence[Any] | None]] = {
    "stablehlo.while": _while,
    "stablehlo.case": _case,
    "stablehlo.if": _if,
    "stablehlo.optimization_barrier": _barrier,
    "stablehlo.scatter": _scatter.rewrite,
    "stablehlo.sort": _sorts.rewrite,
    "stablehlo.select_and_scatter": _windows.rewrite,
}

_STATIC = ("stablehlo.scatter", "stablehlo.select_and_scatter")
"""Whose loops need the sizes of the tensors."""
