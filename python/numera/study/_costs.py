# SPDX-License-Identifier: MIT
"""What operations cost, by a table of a user's: energy, area, whatever adds up."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from numera._errors import Error
from numera._formats import format
from numera._programs import Program
from numera._request import Path

__all__ = ["HOROWITZ_2014", "Cost", "Table", "cost"]

HOROWITZ_2014: Mapping[str, Mapping[str, float]] = {
    "fixed<7,0>": {"add": 0.03, "mul": 0.2},
    "fixed<31,0>": {"add": 0.1, "mul": 3.1},
    "f16": {"add": 0.4, "mul": 1.1},
    "f32": {"add": 0.9, "mul": 3.7},
}
"""Picojoules in 45 nm at 0.9 V, of integers of 8 and 32 bits and of floats.

M. Horowitz, "Computing's energy problem (and what we can do about it)", ISSCC 2014,
figure 1.1.9. Integers are the formats with their bits and no fraction.
"""


class Table:
    """Costs by format and operation, from a mapping, JSON or YAML.

    An operation ``"*"`` stands for those that its format does not list.
    """

    def __init__(self, given: Mapping[str, Mapping[str, float]] | Path) -> None:
        self.name = "the cost table"
        if not isinstance(given, Mapping):
            self.name = os.fspath(given)
            given = _read(self.name)
        self._costs: dict[str, dict[str, float]] = {}
        for name, operations in given.items():
            if not isinstance(operations, Mapping):
                raise Error(f"{self.name}: '{name}' is no mapping of operations")
            for operation, number in operations.items():
                if (
                    not isinstance(number, (int, float))
                    or isinstance(number, bool)
                    or not (math.isfinite(number) and number >= 0)
                ):
                    raise Error(
                        f"{self.name}: '{operation}' of '{name}' is {number}, expected "
                        f"a number that is not negative"
                    )
            self._costs[_canonical(str(name))] = dict(operations)

    def __repr__(self) -> str:
        return json.dumps(self._costs, sort_keys=True)

    def one(self, operation: str, name: str) -> float:
        """The cost of an operation in a format."""
        found = self._costs.get(_canonical(name), {})
        if operation in found:
            return found[operation]
        if "*" in found:
            return found["*"]
        raise Error(f"{self.name} has no '{operation}' of format '{name}'")

    def mac(self, operands: Iterable[str], accumulator: str) -> float:
        """A product and its addition: ``mac`` of the operands' format if the table
        has it, else a ``mul`` of that and an ``add`` of the accumulator's. Of two
        formats of operands, the one that costs more."""
        return max(self._mac(each, accumulator) for each in operands)

    def _mac(self, operand: str, accumulator: str) -> float:
        found = self._costs.get(_canonical(operand), {})
        if "mac" in found:
            return found["mac"]
        return self.one("mul", operand) + self.one("add", accumulator)

    def cast(self, name: str) -> float:
        """A cast costs what the table says, or nothing."""
        return self._costs.get(_canonical(name), {}).get("cast", 0.0)


class Cost(NamedTuple):
    """What a call of a program costs."""

    total: float
    rows: list[dict[str, Any]]
    """``name``, ``operation``, ``format``, ``count``, ``cost``."""


def cost(
    program: Program,
    *inputs: Any,
    table: Mapping[str, Mapping[str, float]] | Path,
    **options: Any,
) -> Cost:
    """Counts the operations of a call by kind and format, and adds up their costs.

    table       costs by format and operation, ``{"f16": {"add": .4, "mul": 1.1}}``,
                or a file of YAML or JSON that has them. ``"*"`` is any operation.

    A multiplication with its addition in a contraction is ``mac``, or else a ``mul``
    of what is multiplied and an ``add`` of what sums are kept in. A cast costs
    nothing unless the table has ``cast`` of the format that it goes to. Operations
    that round nothing (moves, comparisons, maxima) are not counted, nor is memory.
    Another operation that the table does not have is an error.

    >>> import numera
    >>> square = numera.compile('''
    ...   func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...     %y = arith.mulf %x, %x : tensor<?xf32>
    ...     return %y : tensor<?xf32>
    ...   }''', format="f16")
    >>> found = numera.cost(square, [1, 2], table=numera.study.HOROWITZ_2014)
    >>> found.total
    2.2
    >>> [(row["operation"], row["count"]) for row in found.rows]
    [('cast', 2), ('mul', 2)]
    """
    prices = table if isinstance(table, Table) else Table(table)
    operands = _operands(program)
    default = operands.pop("")
    rows = []
    counted = program.stats(*inputs, **options).operations
    unnamed = {name for name in operands if "." in name}
    unnamed -= {row["name"] for row in counted}
    for row in counted:
        name, operation, kept = row["name"], row["operation"], row["format"]
        if operation == "mac" and not name and unnamed:
            raise Error(
                "contractions without names cannot be told apart where rules are for "
                'some of them; name them, loc("conv1")'
            )
        if operation == "mac":
            one = prices.mac(operands.get(name, default), kept)
        elif operation == "cast":
            one = prices.cast(kept)
        else:
            one = prices.one(operation, kept)
        rows.append(
            {
                "name": name,
                "operation": operation,
                "format": kept,
                "count": row["count"],
                "cost": one * row["count"],
            }
        )
    return Cost(math.fsum(row["cost"] for row in rows), rows)


def _operands(program: Program) -> dict[str, tuple[str, str]]:
    """The formats of what each named contraction multiplies, weights and activations;
    of the others under an empty name."""
    metadata = program._metadata
    plain, asked = metadata["format"], _asked(program)
    # A default that is scaled is what contractions read; the rest is in f32.
    scale = asked.get("scale", "none")
    scales = scale if isinstance(scale, Mapping) else dict.fromkeys(_READ, scale)

    def usual(role: str) -> str:
        scaled = scales.get(role, "none") != "none"
        return str(asked.get(role) or (scaled and asked.get("default")) or plain)

    found = {"": (usual("weights"), usual("activations"))}
    for rule in reversed(metadata.get("rules", [])):
        roles = rule.get("roles", {})
        weights, activations = (roles.get(role, rule["format"]) for role in _READ)
        # What has no name is listed under its operator.
        found.update(dict.fromkeys(rule["operations"], (weights, activations)))
    return found


_READ = ("weights", "activations")


def _asked(program: Program) -> Mapping[str, Any]:
    """The policy that the program was compiled by."""
    model = program._model
    if model is None or any(each.startswith("format=") for each in model.options):
        return {}  # a format goes before a policy
    found: Mapping[str, Any] = {}
    for source in model.sources:
        if "policy" in source.text:
            sections = parse(source.text, source.name)
            if isinstance(sections, Mapping) and "policy" in sections:
                found = sections["policy"] or {}
    return found


def _canonical(name: str) -> str:
    try:
        return format(name).spelling
    except Error:
        return name


def _read(path: str) -> Mapping[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise Error(f"cannot read {path}: {reason}") from None
    found = parse(text, path)
    if not isinstance(found, Mapping):
        raise Error(f"{path}: expected a mapping of formats to their operations")
    return found


def parse(text: str, path: str) -> Any:
    """What YAML says; JSON is YAML that needs no package."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        import yaml
    except ImportError:
        raise Error(f"{path} is no JSON, and YAML needs: pip install pyyaml") from None
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{mark.line + 1}:{mark.column + 1}: " if mark else ""
        problem = getattr(error, "problem", None) or "it is no YAML"
        raise Error(f"{path}:{where} {problem}") from None
