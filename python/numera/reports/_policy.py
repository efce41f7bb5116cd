# SPDX-License-Identifier: MIT
"""The policy of a report, to which rules are added."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numera._errors import Error
from numera._formats import Format
from numera._request import Path, Request, Spec
from numera.study import _yaml

__all__ = ["changed", "formats", "read", "text"]


def read(
    policy: Mapping[str, Any] | Path | None,
    format: Spec | None,
    accumulate: Spec | None,
    formats: Path | Sequence[Path] = (),
) -> dict[str, Any]:
    """As a mapping. `format` and `accumulate` go before what it says; `formats` are
    files with names that it has."""
    found: dict[str, Any] = {}
    if isinstance(policy, Mapping):
        found = dict(policy)
    elif policy is not None:
        found = _yaml.policy(policy)
        if format is None or "default" in found:  # else it may need that one
            Request(formats).check_file(policy)
    if format is not None:
        found["default"] = format
    if accumulate is not None:
        found["accumulate"] = accumulate
    if not found:
        raise Error("a report needs a format or a policy")
    return found


def formats(policy: Mapping[str, Any] | Path | None, given: Any) -> Any:
    """The files of formats that are given, and what a policy's own file has."""
    if policy is None or isinstance(policy, Mapping):
        return given
    files = [given] if isinstance(given, (str, os.PathLike)) else given
    return [*files, *_yaml.beside(policy)]


def changed(
    policy: Mapping[str, Any], changes: Iterable[Mapping[str, Any]]
) -> dict[str, Any]:
    """With other keys, and with rules before those that it has: the first one that
    matches applies."""
    found = dict(policy)
    rules = []
    for change in changes:
        rules += change.get("rules", [])
        found.update({key: each for key, each in change.items() if key != "rules"})
    if rules:
        found["rules"] = [*rules, *policy.get("rules", [])]
    return found


def text(policy: Mapping[str, Any]) -> str:
    """In YAML, as a configuration has it."""
    return "policy:\n" + "".join(_lines(policy, "  "))


def _lines(value: Mapping[str, Any], indent: str) -> list[str]:
    lines = []
    for key, each in value.items():
        key = key.replace("_", "-") if key in ("scale_format", "zero_points") else key
        if isinstance(each, Mapping) and not each:
            lines.append(f"{indent}{key}: {{}}\n")
        elif isinstance(each, Mapping):
            lines += [f"{indent}{key}:\n", *_lines(each, indent + "  ")]
        elif isinstance(each, (list, tuple)) and each and isinstance(each[0], Mapping):
            lines.append(f"{indent}{key}:\n")
            for one in each:
                first, *rest = _lines(one, indent + "    ")
                lines += [f"{indent}  - {first.lstrip()}", *rest]
        elif each is not None:
            lines.append(f"{indent}{key}: {_scalar(each)}\n")
    return lines


def _scalar(value: Any) -> str:
    if isinstance(value, Format):
        value = value.name
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_scalar, value)) + "]"
    if isinstance(value, bool) or not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
