# SPDX-License-Identifier: MIT
"""What JAX has traced. What no program has is refused: the primitive is named, and the
user's line."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import jax

from numera._errors import Error

__all__ = ["check", "computes_alone", "refused"]

_CALLBACKS = ("debug_callback", "debug_print", "io_callback", "pure_callback")
_FOLDERS = tuple(
    os.path.dirname(os.path.abspath(file)) + os.sep
    for file in (jax.__file__, os.path.dirname(__file__))
)


def check(traced: Any) -> None:
    """Refuses callbacks, and axes of a ``vmap`` outside of the function."""
    for equation in _equations(traced.jaxpr):
        name = equation.primitive.name
        if name in _CALLBACKS:
            raise _error(equation, "a program does not call Python")
    axes = [each.name for each in traced.jaxpr.effects if _is_axis(each)]
    if axes:
        # What is bound inside is no effect of the function.
        equation = next(
            each
            for each in _equations(traced.jaxpr)
            if not _inner(each)
            and any(_is_axis(one) and one.name in axes for one in each.effects)
        )
        raise _error(
            equation,
            f"the axis '{axes[0]}' is one of a vmap outside; "
            f"have the vmap inside, jit(vmap(f, axis_name='{axes[0]}'))",
        )


def computes_alone(jaxpr: Any) -> bool:
    """Whether an operation reads no values, or numbers alone that are written out."""
    return any(
        all(hasattr(value, "val") for value in equation.invars)
        for equation in _equations(jaxpr)
    )


def refused(traced: Any, name: str, reason: str) -> Error:
    """The error for the first use of a primitive."""
    for equation in _equations(traced.jaxpr):
        if equation.primitive.name == name:
            return _error(equation, reason)
    return Error(f"cannot compile '{name}': {reason}")


def _error(equation: Any, reason: str) -> Error:
    trace = equation.source_info.traceback
    for frame in trace.frames if trace else ():
        file = os.path.abspath(frame.file_name)
        if not file.startswith(_FOLDERS):
            place = f" at {frame.file_name}:{frame.line_num}"
            return Error(f"cannot compile '{equation.primitive}'{place}: {reason}")
    return Error(f"cannot compile '{equation.primitive}': {reason}")


def _is_axis(effect: Any) -> bool:
    return type(effect).__name__ == "NamedAxisEffect"


def _equations(jaxpr: Any) -> Iterator[Any]:
    """Those of a function, and of the functions within."""
    for equation in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield equation
        for inner in _inner(equation):
            yield from _equations(inner)


def _inner(equation: Any) -> list[Any]:
    leaves = jax.tree.leaves(list(equation.params.values()), is_leaf=_is_jaxpr)
    return list(filter(_is_jaxpr, leaves))


def _is_jaxpr(value: Any) -> bool:
    return hasattr(getattr(value, "jaxpr", value), "eqns")
