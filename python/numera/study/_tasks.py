# SPDX-License-Identifier: MIT
"""The rows of a sweep before they are computed: formats, and what goes with them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from numera._errors import Error
from numera._formats import Format, ScaledFormat, format
from numera._models import ACCUMULATORS
from numera._request import Spec
from numera.study import _keys, _yaml
from numera.study._ranges import expand
from numera.study._result import Row

__all__ = ["PolicyTask", "Task", "accumulator", "several", "tasks"]

ROLES = ("weights", "activations", "outputs")
_RULES = ("floor", "ceil", "even", "round-up-ceil", "absmax", "range", "min-max")
_BLOCK = re.compile(r"block\((\d+)\)")
_RULE = re.compile(r",rule=[\w-]+")
_POWER_OF_TWO = 8
"""Bits of the scale that a block has, where a policy names no other format."""


class Task(NamedTuple):
    """What a row is computed for; None: as the format or the policy says."""

    format: Format
    accumulate: Spec | None = None
    rounding: str | None = None
    scale: str | None = None
    roles: str | None = None
    """Of contractions, those that are in the format, with ``+`` between them; the
    rest is in f32. None: the whole model."""

    def bits(self, options: Mapping[str, Any]) -> float:
        """Of an element, with its part of the scale of a block."""
        if isinstance(self.format, ScaledFormat):
            return self.format.bits_per_element
        bits = float(self.format.width)
        if self.scale and (block := _BLOCK.fullmatch(self.scale)):
            bits += _scale_bits(options) / int(block[1])
        return bits

    def arguments(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Of ``compile``, where all rows have `options`."""
        options = _with_mapping(options)
        if self.scale is None and self.roles is None:
            own = {"accumulate": self.accumulate, "rounding": self.rounding}
            return {**options, **own, "format": self.format}
        policy = options.get("policy") or {}
        # The words of a compilation would be for the default alone.
        words: dict[str, Any] = {
            "rounding": self.rounding,
            "overflow": options.get("overflow"),
        }
        words = {key: value for key, value in words.items() if value is not None}
        spec = format(self.format, **words) if words else self.format
        chosen = {**policy, "default": spec, "scale": self.scale}
        if self.roles is not None:
            roles = self.roles.split("+")
            chosen = {"default": "f32", **policy, **dict.fromkeys(roles, spec)}
            if self.scale is not None:
                chosen["scale"] = dict.fromkeys(roles, self.scale)
        given = {k: each for k, each in options.items() if k != "overflow"}
        return {**given, "accumulate": self.accumulate, "policy": chosen}

    def row(self, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Row:
        """Without a value; `policy` is what a program chose, `options` what all rows
        have."""
        return Row(
            self.format.name,
            self.format.spelling,
            self.bits(options),
            str(self.accumulate or policy.get("accumulate", "default")),
            self.rounding or policy.get("rounding", "default"),
            None,
            0.0,
            scale=self.scale,
            roles=self.roles,
        )

    def key(self, common: str) -> str:
        """The hash of what the row depends on; `common` is that of all rows."""
        words = (self.rounding, self.scale, self.roles)
        return _keys.digest(
            common,
            _keys.spec(self.format),
            _keys.spec(self.accumulate),
            *(each or "" for each in words),
        )


class PolicyTask(NamedTuple):
    """A policy that a search tries."""

    policy: Mapping[str, Any]

    def arguments(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Of ``compile``."""
        return {**options, "policy": self.policy}

    def row(self, policy: Mapping[str, Any], options: Mapping[str, Any]) -> Row:
        """Without a value."""
        return Row("policy", "", 0, "", "", None, 0.0)


def _with_mapping(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The options with the policy of a file as a mapping, and formats beside it."""
    policy = options.get("policy")
    if policy is None or isinstance(policy, Mapping):
        return options
    sections = {"policy": _yaml.policy(policy), "formats": _yaml.beside(policy)}
    return {**options, **sections}


def _scale_bits(options: Mapping[str, Any]) -> int:
    """Of the scale of a block."""
    policy = _with_mapping(options).get("policy") or {}
    spec = policy.get("scale-format", policy.get("scale_format", "power-of-two"))
    return _POWER_OF_TWO if spec == "power-of-two" else format(spec).width


def tasks(
    formats: Any, accumulate: Any, rounding: Any, scale: Any, rules: Any, roles: Any
) -> list[Task]:
    """Every combination, those of a format together."""
    for rule in several(rules):
        if rule is not None and rule not in _RULES:
            raise Error(f"unknown scale rule '{rule}', expected {', '.join(_RULES)}")
    for mode in several(rounding):
        format("f32", rounding=mode)  # an error, if there is none of the name
    known = [each for one in expand(*several(formats)) for each in _ruled(one, rules)]
    return [
        Task(*each)
        for each in itertools.product(
            dict.fromkeys(known),
            dict.fromkeys(accumulator(each) for each in several(accumulate)),
            dict.fromkeys(several(rounding)),
            dict.fromkeys(several(scale)),
            dict.fromkeys(_roles(each) for each in several(roles)),
        )
    ]


def several(value: Any) -> list[Any]:
    """One, or several, as a list."""
    if value is None or isinstance(value, (str, Format)):
        return [value]
    return list(value) if isinstance(value, Iterable) else [value]


def accumulator(value: Spec | None) -> Spec | None:
    return value if value is None or value in ACCUMULATORS else format(value)


def _ruled(one: Format, rules: str | Sequence[str] | None) -> list[Format]:
    """A scaled format with each of the rules that it can have; another as it is."""
    if rules is None or not isinstance(one, ScaledFormat):
        return [one]
    found: list[Format] = []
    refused = None
    for rule in several(rules):
        if rule is None:
            found.append(one)
            continue
        spelling = _RULE.sub("", one.spelling).removesuffix(">")
        try:
            ruled = format(f"{spelling},rule={rule}>")
        except Error as error:
            refused = refused or error
        else:
            found.append(one if ruled == one else ruled)
    if not found:
        raise Error(f"no scale rule is one of '{one.name}': {refused}")
    return found


def _roles(value: str | None) -> str | None:
    if value is None:
        return None
    names = value.split("+")
    for name in names:
        if name not in ROLES:
            raise Error(
                f"roles are '{value}', expected {', '.join(ROLES)}, or several of "
                f"them with + between"
            )
    return "+".join(role for role in ROLES if role in names)
