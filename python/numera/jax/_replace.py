# SPDX-License-Identifier: MIT
"""Operations of chlo, and of StableHLO that linalg has not, before torch-mlir sees them.

erf, asin, … of chlo       one operation of math
square                     a product
composite                  a call of its decomposition
what `_compositions` has   a call of a function that JAX lowers
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from numera.jax import _compositions

__all__ = ["replace"]

_OPERATIONS = frozenset(
    ("erf", "erfc", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")
    + ("tan",)
)
"""Of chlo, that are one operation of Numera where XLA has approximations."""


def replace(module: Any, lower: Callable[..., Any]) -> None:
    """Puts operations that torch-mlir knows in place of others.

    lower  makes StableHLO of a function of JAX.
    """
    _Replacement(module, lower).run()


class _Replacement:
    def __init__(self, module: Any, lower: Callable[..., Any]) -> None:
        from jaxlib.mlir import ir

        self.ir, self.module, self.lower = ir, module, lower
        self.made: dict[str, str] = {}
        """Functions of compositions, by what they are made for."""

    def run(self) -> None:
        ir = self.ir
        found: list[tuple[Any, str]] = []

        def visit(operation: Any) -> Any:
            name = operation.name
            # jax.export writes so what a reader may not know.
            if name == "stablehlo.composite":
                name = ir.StringAttr(operation.attributes["name"]).value
            elif name == "stablehlo.custom_call":
                name = ir.StringAttr(operation.attributes["call_target_name"]).value
            found.append((operation, name.removeprefix("chlo.")))
            return ir.WalkResult.ADVANCE

        self.module.operation.walk(visit)
        for operation, name in found:
            self._replace(operation, name)

    def _replace(self, operation: Any, name: str) -> None:
        ir = self.ir
        operands, attributes = list(operation.operands), {}
        of_chlo = operation.name.startswith("chlo.")
        composite = operation.name == "stablehlo.composite"
        if name in _OPERATIONS and (of_chlo or composite):
            name = f"math.{name}"
        elif name == "square" and of_chlo:
            name, operands = "stablehlo.multiply", operands * 2
        elif (function := self._composition(operation, name)) is not None:
            name = "func.call"
            callee = ir.FlatSymbolRefAttr.get(function, self.module.context)
            attributes = {"callee": callee}
        elif composite:
            name = "func.call"
            attributes = {"callee": operation.attributes["decomposition"]}
        else:
            return
        with (
            self.module.context as context,
            operation.location,
            ir.InsertionPoint(operation),
        ):
            # JAX loads the dialect math when Pallas does.
            context.allow_unregistered_dialects = True
            types = [result.type for result in operation.results]
            new = ir.Operation.create(
                name, operands=operands, results=types, attributes=attributes
            )
            for old, result in zip(operation.results, new.results):
                old.replace_all_uses_with(result)
        operation.erase()

    # ---- functions of JAX ---------------------------------------------------

    def _composition(self, operation: Any, name: str) -> str | None:
        """The function that does what an operation does, None if there is none."""
        make = _compositions.TABLE.get(name)
        if make is None:
            return None
        types = [operand.type for operand in operation.operands]
        known = operation.attributes
        if "composite_attributes" in known:
            known = self.ir.DictAttr(known["composite_attributes"])
        options = {each.name: str(each.attr) for each in _named(known)}
        key = f"{name} {sorted(options.items())} {list(map(str, types))}"
        if key not in self.made:
            avals = [aval for each in types if (aval := _aval(each)) is not None]
            if len(avals) < len(types):
                return None
            function = make(options, *avals)
            wide = any(each.dtype.itemsize == 8 for each in avals)
            with jax.enable_x64(wide):
                lowered = self.lower(function, *avals)
            self.made[key] = self._add(lowered)
        return self.made[key]

    def _add(self, lowered: Any) -> str:
        """Puts a module's functions into this one; returns the name of its main."""
        ir = self.ir
        replace(lowered, self.lower)
        text = lowered.operation.get_asm(enable_debug_info=True)
        with self.module.context as context:
            context.allow_unregistered_dialects = True
            other = ir.Module.parse(text)
            known = {_symbol(ir, each) for each in self.module.body.operations}
            main = ""
            for function in list(other.body.operations):
                name = _symbol(ir, function)
                new = next(
                    each
                    for n in range(len(known) + 1)
                    if (each := f"numera_{name}_{n}") not in known
                )
                known.add(new)
                ir.SymbolTable.replace_all_symbol_uses(name, new, other.operation)
                ir.SymbolTable.set_symbol_name(function.operation, new)
                ir.SymbolTable.set_visibility(function.operation, "private")
                if name == "main":
                    main = new
            for function in list(other.body.operations):
                function.operation.move_before(self.module.body.operations[0])
        return main


def _named(attributes: Any) -> list[Any]:
    return [attributes[n] for n in range(len(attributes))]


def _symbol(ir: Any, operation: Any) -> str:
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


_TYPES = {
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (32, 64)},
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    "i1": np.dtype(bool),
}


def _aval(kind: Any) -> jax.ShapeDtypeStruct | None:
    """What JAX calls a type, None of those that Numera does not compute with."""
    dtype = _TYPES.get(str(kind.element_type))
    if dtype is None or not kind.has_static_shape:
        return None
    return jax.ShapeDtypeStruct(tuple(kind.shape), dtype)
