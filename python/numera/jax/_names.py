# SPDX-License-Identifier: MIT
"""Names of operations of functions within functions.

JAX makes functions of what is jitted, `jax.nn.relu` for one, and names what is in them
as if they stood alone. Calls that are inlined keep both locations:

    callsite("max" at "jit(f)/head/jit(relu)")  becomes  "jit(f)/head/jit(relu)/max"

so that rules for "head" hold within.
"""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

__all__ = ["spell_out"]


def spell_out(module: Any) -> None:
    """Gives operations of inlined functions the names of their callers, too."""

    def visit(operation: Any) -> Any:
        location = operation.location
        if isinstance(location, ir.CallSiteLoc):
            name = _name(location)
            if name:
                operation.location = ir.Location.name(name, location)
        return ir.WalkResult.ADVANCE

    with module.context:
        module.operation.walk(visit)


def _name(location: Any) -> str:
    if isinstance(location, ir.CallSiteLoc):
        parts = [_name(location.caller), _name(location.callee)]
        return "/".join(part for part in parts if part)
    if not isinstance(location, ir.NameLoc):
        return ""
    name: str = location.name_str
    # A line of Python has the name of its function.
    is_line = isinstance(location.child_loc, ir.FileLineColLoc) and "/" not in name
    return "" if is_line else name
