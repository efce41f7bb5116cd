# SPDX-License-Identifier: MIT
"""The pieces of IR that loops and branches are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

__all__ = [
    "bits",
    "compare",
    "constant",
    "extract",
    "index",
    "insert",
    "loop",
    "make",
    "number",
    "select",
    "signless",
    "signless_type",
    "size",
    "tensor",
    "truth",
    "with_sign",
]


def make(name: str, operands: Sequence[Any], result: Any, **attributes: Any) -> Any:
    """The result of a new operation that has one."""
    return ir.Operation.create(
        name, operands=list(operands), results=[result], attributes=attributes
    ).result


def constant(value: int, kind: Any = None) -> Any:
    kind = kind or ir.IndexType.get()
    return make("arith.constant", [], kind, value=ir.IntegerAttr.get(kind, value))


def number(tensor: Any) -> Any:
    """The only element of a tensor without dimensions."""
    return make("tensor.extract", [tensor], tensor.type.element_type)


def tensor(number: Any) -> Any:
    kind = ir.RankedTensorType.get([], number.type)
    return make("tensor.from_elements", [number], kind)


def extract(tensor: Any, *at: Any) -> Any:
    return make("tensor.extract", [tensor, *at], tensor.type.element_type)


def insert(value: Any, tensor: Any, *at: Any) -> Any:
    return make("tensor.insert", [value, tensor, *at], tensor.type)


def size(tensor: Any, axis: int) -> Any:
    """How long a dimension is, which the type may leave open."""
    if not tensor.type.is_dynamic_dim(axis):
        return constant(tensor.type.get_dim_size(axis))
    return make("tensor.dim", [tensor, constant(axis)], ir.IndexType.get())


def index(name: str, *operands: Any) -> Any:
    """An operation of arith on places."""
    return make(f"arith.{name}", operands, ir.IndexType.get())


def truth() -> Any:
    """The type of truths."""
    return ir.IntegerType.get_signless(1)


def bits(name: str, *operands: Any) -> Any:
    """An operation of arith on truths."""
    return make(f"arith.{name}", operands, truth())


def compare(name: str, predicate: int, first: Any, second: Any) -> Any:
    """`arith.cmpi` or `arith.cmpf`, by the number of its predicate."""
    return make(
        name,
        [first, second],
        truth(),
        predicate=ir.IntegerAttr.get(ir.IntegerType.get_signless(64), predicate),
    )


def select(condition: Any, yes: Any, no: Any) -> Any:
    return make("arith.select", [condition, yes, no], yes.type)


def loop(
    size: Any, start: Sequence[Any], body: Callable[..., Sequence[Any]]
) -> list[Any]:
    """`for i in 0 … size: values = body(i, *values)`."""
    bounds = [constant(0), size, constant(1)]
    types = [value.type for value in start]
    made = ir.Operation.create(
        "scf.for", operands=[*bounds, *start], results=types, regions=1
    )
    here = [ir.Location.current] * (1 + len(types))
    block = ir.Block.create_at_start(
        made.regions[0], [ir.IndexType.get(), *types], here
    )
    with ir.InsertionPoint(block):
        ir.Operation.create("scf.yield", operands=list(body(*block.arguments)))
    return list(made.results)


def signless_type(kind: Any) -> Any:
    element = kind.element_type
    if not isinstance(element, ir.IntegerType) or element.is_signless:
        return kind
    return ir.RankedTensorType.get(
        kind.shape, ir.IntegerType.get_signless(element.width)
    )


def signless(value: Any) -> Any:
    """A tensor without what makes its integers unsigned, which arith has not."""
    return with_sign(value, signless_type(value.type).element_type)


def with_sign(value: Any, element: Any) -> Any:
    """A tensor whose integers are of another sign."""
    if value.type.element_type == element:
        return value
    kind = ir.RankedTensorType.get(value.type.shape, element)
    return make("stablehlo.bitcast_convert", [value], kind)
