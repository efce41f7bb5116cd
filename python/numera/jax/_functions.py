# SPDX-License-Identifier: MIT
"""Functions of JAX that are put into a module of StableHLO, and called there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

__all__ = ["Functions", "aval"]

_TYPES = {
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (32, 64)},
    **{f"i{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"ui{bits}": np.dtype(f"u{bits // 8}") for bits in (8, 16, 32, 64)},
    "i1": np.dtype(bool),
    "complex<f32>": np.dtype("c8"),
    "complex<f64>": np.dtype("c16"),
}


class Functions:
    """ir       of the module: jaxlib's or torch-mlir's.
    lower    makes StableHLO of a function, which has a counterpart for all it has.
    """

    def __init__(self, ir: Any, module: Any, lower: Callable[..., Any]) -> None:
        self.ir, self.module, self.lower = ir, module, lower
        self.made: dict[str, str] = {}
        """Names, by what the functions are made for."""

    def callee(
        self, key: str, function: Callable[..., Any], operands: Sequence[Any]
    ) -> Any:
        """What calls of a function name, as an attribute. JAX lowers it here, which
        is not to happen where a location or a place for operations is set.

        key  what functions that differ have different ones of.
        """
        key += f" {[str(operand.type) for operand in operands]}"
        if key not in self.made:
            avals = [aval(operand.type) for operand in operands]
            wide = any(each is not None and each.dtype.itemsize >= 8 for each in avals)
            with jax.enable_x64(wide):
                lowered = self.lower(function, *avals)
            self.made[key] = self._add(lowered)
        return self.ir.FlatSymbolRefAttr.get(self.made[key], self.module.context)

    def _add(self, lowered: Any) -> str:
        """Puts a module's functions into this one; returns the name of its main."""
        ir = self.ir
        text = lowered.operation.get_asm(enable_debug_info=True)
        with self.module.context as context:
            # JAX loads the dialect math when Pallas does.
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


def _symbol(ir: Any, operation: Any) -> str:
    return str(ir.StringAttr(operation.attributes["sym_name"]).value)


def aval(kind: Any) -> jax.ShapeDtypeStruct | None:
    """What JAX calls a type, None of those that Numera does not compute with."""
    dtype = _TYPES.get(str(kind.element_type))
    if dtype is None or not kind.has_static_shape:
        return None
    return jax.ShapeDtypeStruct(tuple(kind.shape), dtype)
