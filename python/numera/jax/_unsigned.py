# SPDX-License-Identifier: MIT
"""Unsigned integers of functions: tensors whose integers have no sign, as arith has
them, and for callers the types that they had.

    func @f(%x: tensor<4xui8>)  becomes  func @f(%x: tensor<4xi8> {numera.dtype = ui8})
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from numera import _pieces as p

__all__ = ["without_signs"]


def without_signs(module: Any) -> None:
    """Rewrites the functions of a module, and drops what casts between the types."""
    casts: list[Any] = []

    def visit(operation: Any) -> Any:
        if operation.name == "builtin.unrealized_conversion_cast":
            casts.append(operation)
        return ir.WalkResult.ADVANCE

    with module.context, ir.Location.unknown():
        for function in module.body.operations:
            _rewrite(function)
        module.operation.walk(visit)
        for cast in casts:
            (operand,), (result,) = cast.operands, cast.results
            if p.signless_type(result.type) == operand.type:
                result.replace_all_uses_with(operand)
                cast.erase()


def _rewrite(function: Any) -> None:
    kind = ir.TypeAttr(function.attributes["function_type"]).value
    _note(function, "arg_attrs", kind.inputs)
    _note(function, "res_attrs", kind.results)
    for argument in function.regions[0].blocks[0].arguments:
        argument.set_type(p.signless_type(argument.type))
    inputs, results = (
        list(map(p.signless_type, types)) for types in (kind.inputs, kind.results)
    )
    function.attributes["function_type"] = ir.TypeAttr.get(
        ir.FunctionType.get(inputs, results)
    )


def _note(function: Any, place: str, types: Any) -> None:
    """Says of arguments or results what they are for callers."""
    if all(kind == p.signless_type(kind) for kind in types):
        return
    known = [ir.DictAttr.get({}) for _ in types]
    if place in function.attributes:
        known = list(map(ir.DictAttr, ir.ArrayAttr(function.attributes[place])))
    for at, kind in enumerate(types):
        if kind != p.signless_type(kind):
            every = {each.name: each.attr for each in known[at]}
            every["numera.dtype"] = ir.TypeAttr.get(kind.element_type)
            known[at] = ir.DictAttr.get(every)
    function.attributes[place] = ir.ArrayAttr.get(known)
