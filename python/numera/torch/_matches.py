# SPDX-License-Identifier: MIT
"""How rules of a policy are written, and whether they match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from numera._errors import Error

__all__ = ["fits", "listed", "pattern"]


def pattern(given: Any, where: str) -> str:
    """A pattern of names. Those of a list of modules are numbers."""
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    if not isinstance(given, str):
        raise Error(f"{where} matches {given!r}, expected a name such as 'layers.*'")
    return given


def fits(pattern: str, text: str) -> bool:
    return fnmatchcase(text, pattern.replace("[", "[[]"))


def listed(rules: Any) -> list[tuple[Any, Any]]:
    """Rules as a mapping from patterns, or as the list of Configuration.md."""
    if rules is None:
        return []
    if isinstance(rules, Mapping):
        if isinstance(rules.get("rules"), Sequence):
            return listed(rules["rules"])
        return list(rules.items())
    if isinstance(rules, str) or not isinstance(rules, Sequence):
        raise Error(f"policy is {rules!r}, expected a mapping or a list of rules")
    found = []
    for rule in rules:
        if not isinstance(rule, Mapping) or "match" not in rule:
            raise Error(f"a rule without 'match': {rule}")
        rest = {key: value for key, value in rule.items() if key != "match"}
        found.append((rule["match"], rest))
    return found
