# SPDX-License-Identifier: MIT
"""Static arguments of functions, as `jax.jit` has them."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from numera._errors import Error

__all__ = ["static", "without_hash"]


def static(
    fun: Callable[..., Any], places: Sequence[int], names: Sequence[str]
) -> tuple[list[int], list[str]]:
    """The static arguments by place and by name: as in ``jax.jit``, one
    of the two says the other."""
    try:
        known = list(inspect.signature(fun).parameters.values())
    except (TypeError, ValueError):  # of what is not written in Python
        return list(map(operator.index, places)), list(names)
    by_place = [
        each.name
        for each in known
        if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)
    ]
    most, found = len(by_place), set()
    takes_more = any(each.kind == each.VAR_POSITIONAL for each in known)
    for place in map(operator.index, places):
        if not -most <= place < most and not (takes_more and place >= 0):
            raise Error(
                f"static_argnums has {place}, and the function takes {most} arguments"
            )
        found.add(place)  # from the end: of a call's arguments
    others = any(each.kind == each.VAR_KEYWORD for each in known)
    for name in names:
        if not others and name not in {each.name for each in known}:
            raise Error(f"static_argnames has '{name}', which the function has not")
    if not names:
        names = [by_place[place] for place in sorted(found) if 0 <= place < most]
    elif not found:
        found = {place for place, name in enumerate(by_place) if name in names}
    return list(found), list(names)


def without_hash(fixed: Iterable[tuple[Any, Any]]) -> Error:
    """The error for static arguments, by place or name, of which one has no hash."""
    for place, value in fixed:
        try:
            hash(value)
        except TypeError:
            return Error(
                f"the static argument {place!r} has no hash, "
                f"found {type(value).__name__}: {value!r}"
            )
    return Error("a static argument has no hash")
