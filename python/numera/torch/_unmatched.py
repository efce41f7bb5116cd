# SPDX-License-Identifier: MIT
"""Rules of a policy that match nothing in a model: a warning, once."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterable
from typing import Protocol

__all__ = ["Unmatched"]

_MOST, _NEAREST = 8, 3
"""Names in a message."""


class Rule(Protocol):
    """A rule of a policy."""

    @property
    def where(self) -> str:
        """What it is called in messages."""

    @property
    def name(self) -> str:
        """A pattern of modules."""

    @property
    def operator(self) -> str:
        """A pattern of operators."""

    def matches(self, name: str, operator: str) -> bool:
        """Whether it is for an operation."""


class Unmatched:
    """The rules that have matched nothing yet."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._rules = list(rules)
        self._names: dict[str, None] = {}
        self._operators: dict[str, None] = {}

    def see(self, operations: Iterable[tuple[str, str]]) -> None:
        """Takes a graph's operations: the modules and operators of each."""
        if not self._rules:
            return
        seen = dict.fromkeys(operations)
        self._names.update((name, None) for name, _ in seen if name)
        self._operators.update((operator.lower(), None) for _, operator in seen)
        self._rules = [
            rule for rule in self._rules if not any(rule.matches(*one) for one in seen)
        ]

    def warn(self, *, is_forward: bool) -> None:
        """Warns of rules that match nothing in the graphs of a model.

        is_forward  the backward pass, with operators of its own, is still to come.
        """
        wrong = [rule for rule in self._rules if rule.operator == "*" or not is_forward]
        self._rules = [rule for rule in self._rules if rule not in wrong]
        for rule in wrong:
            said = f"{rule.where} of the policy matches nothing in the model"
            if rule.operator != "*":
                said += _near(rule.operator, list(self._operators), "operators")
            else:
                said += _near(rule.name, list(self._names), "modules")
            warnings.warn(said, stacklevel=2)


def _near(pattern: str, known: list[str], what: str) -> str:
    """The names that were probably meant, or some of those that there are."""
    plain = pattern.strip("*.?")
    found = [name for name in known if name.startswith(plain + ".")]
    found = found or difflib.get_close_matches(plain, known, _NEAREST)
    names = [f"'{name}'" for name in found[:_NEAREST] or known[:_MOST]]
    if not names:
        return f", which has no {what} with operations"
    if found:
        return f", did you mean {' or '.join(names)}?"
    more = ", …" if len(known) > _MOST else ""
    return f", whose {what} with operations are {', '.join(names)}{more}"
