# SPDX-License-Identifier: MIT
"""Operations of chlo, and of StableHLO that linalg has not, before torch-mlir sees them.

erf, asin, … of chlo       one operation of math
square                     a product
sharding constraints       their operands: a program is of one device
composite                  a call of its decomposition
what `_compositions` has   a call of a function that JAX lowers
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numera.jax import _analytic, _compositions, _functions

__all__ = ["replace"]

_OPERATIONS = frozenset(
    ("erf", "erfc", "asin", "acos", "atan", "sinh", "cosh", "asinh", "acosh", "atanh")
    + ("tan",)
)
"""Of chlo, that are one operation of Numera where XLA has approximations."""


_SHARDINGS = ("sdy.mesh", "sdy.sharding_constraint")


def replace(module: Any, lower: Callable[..., Any]) -> None:
    """Puts operations that torch-mlir knows in place of others.

    lower  makes StableHLO of a function of JAX, and replaces what is in it.
    """
    _Replacement(module, lower).run()


class _Replacement:
    def __init__(self, module: Any, lower: Callable[..., Any]) -> None:
        from jaxlib.mlir import ir

        self.ir, self.module = ir, module
        self.functions = _functions.Functions(ir, module, lower)

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
            if name in _SHARDINGS:
                for result, operand in zip(operation.results, operation.operands):
                    result.replace_all_uses_with(operand)
                operation.erase()
                continue
            made = self._made(operation, name)
            if made is None:
                continue
            new, operands, attributes = made
            with (
                self.module.context as context,
                operation.location,
                ir.InsertionPoint(operation),
            ):
                # JAX loads the dialect math when Pallas does.
                context.allow_unregistered_dialects = True
                types = [result.type for result in operation.results]
                results = ir.Operation.create(
                    new, operands=operands, results=types, attributes=attributes
                ).results
            for old, result in zip(operation.results, results):
                old.replace_all_uses_with(result)
            operation.erase()

    def _made(
        self, operation: Any, name: str
    ) -> tuple[str, list[Any], dict[str, Any]] | None:
        """The name, operands and attributes of what takes the place of an operation;
        None if it stays."""
        operands = list(operation.operands)
        of_chlo = operation.name.startswith("chlo.")
        composite = operation.name == "stablehlo.composite"
        if any("complex<" in str(operand.type) for operand in operands):
            function = _analytic.TABLE.get(name)
            if function is None:
                return None
            callee = self.functions.callee(name, function, operands)
            return "func.call", operands, {"callee": callee}
        if name in _OPERATIONS and (of_chlo or composite):
            return f"math.{name}", operands, {}
        if name == "square" and of_chlo:
            return "stablehlo.multiply", operands * 2, {}
        if name in _compositions.TABLE:
            avals = [_functions.aval(operand.type) for operand in operands]
            if None in avals:
                return None
            options = self._options(operation)
            function = _compositions.TABLE[name](options, *avals)
            key = f"{name} {sorted(options.items())}"
            callee = self.functions.callee(key, function, operands)
            return "func.call", operands, {"callee": callee}
        if composite:
            callee = operation.attributes["decomposition"]
            return "func.call", operands, {"callee": callee}
        return None

    def _options(self, operation: Any) -> dict[str, str]:
        known = operation.attributes
        if "composite_attributes" in known:
            known = self.ir.DictAttr(known["composite_attributes"])
        named = [known[n] for n in range(len(known))]
        return {each.name: str(each.attr) for each in named}
