# SPDX-License-Identifier: MIT
"""What is kept of a run: whether it is what goes on with it.

Of a tensor, optimisers keep codes of the formats that a group says; those of one format
would be numbers of another one, without a word. A backend keeps counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any

import torch

from numera import _formats
from numera._errors import Error
from numera._formats import Format
from numera.torch import _roles
from numera.torch._roles import Roles


def counts_of(state: Mapping[str, int]) -> tuple[int, ...]:
    """A backend's seed, and how many steps, calls of the last step and sums there were;
    refuses what is no such number. States of old have steps alone."""
    if not {"seed", "step"} <= state.keys():
        raise Error("the backend's state has no 'seed' and 'step'")
    given = {"calls": 0, "sums": 0, **state}
    counts = []
    for name in ("seed", "step", "calls", "sums"):
        number: Any = given[name]
        if isinstance(number, bool) or not isinstance(number, Integral) or number < 0:
            raise Error(
                f"the state's {name} is {number!r}, expected a number from 0 on"
            )
        counts.append(int(number))
    return tuple(counts)


def check(name: str, value: Any, fmt: Format, like: torch.Tensor) -> None:
    """Refuses what cannot be codes of a format, one for each element of a tensor."""
    dtype = _roles.storage(fmt)
    if not isinstance(value, torch.Tensor):
        found = type(value).__name__
    elif value.dtype != dtype or value.shape != like.shape:
        found = f"{value.dtype} of shape {tuple(value.shape)}"
    else:
        return
    raise Error(
        f"state '{name}' is {found}, expected {dtype} of shape {tuple(like.shape)}: "
        f"codes of '{fmt.name}', as the group says"
    )


class Record:
    """In which formats what is kept of each tensor was written."""

    def __init__(self) -> None:
        self._roles: dict[torch.Tensor, Roles] = {}
        self._formats: dict[torch.Tensor, dict[str, Format]] = {}

    def note(self, p: torch.Tensor, roles: Roles, state: Mapping[str, Any]) -> None:
        """Takes what is there to be in formats that a group says now. Refuses others
        than those that were noted before, but for the way in which they round."""
        if self._roles.get(p) is roles:
            return
        known = self._formats.setdefault(p, {})
        named = dict(roles.kept)
        if roles.master is not None:
            named["weights"] = roles.weight
        for name, fmt in named.items():
            there = "master" if name == "weights" else name
            before = known.get(name)
            if before is not None and there in state:
                if _codes(before) != _codes(fmt):
                    raise Error(
                        f"{name} of a parameter is in '{before.name}', and its group "
                        f"says '{fmt.name}' now; expected '{before.name}', or a new "
                        f"optimizer"
                    )
                named[name] = before  # by the name that it had
        known.update(named)
        self._roles[p] = roles


def _codes(fmt: Format) -> Format:
    """A format whose codes mean the same and which rounds in one way."""
    if fmt.family == "opaque":
        return fmt
    return _formats.format(fmt, rounding="nearest-even")
