# SPDX-License-Identifier: MIT
"""What operations cost, by a table of a user's: energy, area, whatever adds up."""

from __future__ import annotations

import difflib
import json
import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from numera import _numera
from numera._errors import Error
from numera._formats import format
from numera._programs import Program
from numera._request import Path
from numera.study import _yaml
from numera.study._table import aligned
from numera.study._tables import TABLES

__all__ = ["Cost", "Price", "Table", "cost"]

Operations = Mapping[str, "float | Mapping[str, float]"]

_OTHERS = ("quire_mac", "quire_add", "quire_sub", "quire_round", "*")
"""What a table may have beside operations of formats."""


class Price(NamedTuple):
    """What one operation costs."""

    cost: float
    area: float | None
    """Of a circuit for it, in square micrometres."""
    is_energy: bool
    """The cost is in picojoules, and not in a unit of the table's own."""

    def beside(self, other: Price) -> Price:
        """Of two circuits that are used together."""
        area = None
        if self.area is not None and other.area is not None:
            area = self.area + other.area
        energy = self.is_energy and other.is_energy
        return Price(self.cost + other.cost, area, energy)


class Table:
    """Costs by format and operation, from a mapping, JSON or YAML, or a published
    one's name.

    A cost is a number, or a mapping with ``energy`` in picojoules and ``area`` in
    square micrometres. An operation ``"*"`` stands for those that its format does
    not list.
    """

    def __init__(self, given: Mapping[str, Operations] | Path) -> None:
        self.name = "the cost table"
        if not isinstance(given, Mapping):
            self.name = os.fspath(given)
            given = _known(self.name)
        self._prices: dict[str, dict[str, Price]] = {}
        known = [*(name for name, _ in _numera.operations()), *_OTHERS]
        names: dict[str, Any] = {}
        for name, operations in given.items():
            if not isinstance(operations, Mapping):
                raise Error(f"{self.name}: '{name}' is no mapping of operations")
            own = _canonical(str(name))
            if own in names:
                raise Error(
                    f"{self.name}: '{names[own]}' and '{name}' are one format, "
                    f"expected it once"
                )
            names[own] = name
            for operation in operations:
                if operation not in known:
                    near = difflib.get_close_matches(str(operation), known, 1)
                    raise Error(
                        f"{self.name}: unknown operation '{operation}' of '{name}'"
                        + (f", did you mean '{near[0]}'?" if near else "")
                    )
            self._prices[own] = {
                operation: self._price(number, f"'{operation}' of '{name}'")
                for operation, number in operations.items()
            }

    def _price(self, given: Any, where: str) -> Price:
        if not isinstance(given, Mapping):
            return Price(self._number(given, where), None, False)
        if unknown := [key for key in given if key not in ("energy", "area")]:
            raise Error(
                f"{self.name}: {where} has '{unknown[0]}', expected energy and area"
            )
        if "energy" not in given:
            raise Error(f"{self.name}: {where} has no energy")
        area = given.get("area")
        if area is not None:
            area = self._number(area, f"the area of {where}")
        energy = self._number(given["energy"], f"the energy of {where}")
        return Price(energy, area, True)

    def _number(self, given: Any, where: str) -> float:
        if (
            not isinstance(given, (int, float))
            or isinstance(given, bool)
            or not (math.isfinite(given) and given >= 0)
        ):
            raise Error(
                f"{self.name}: {where} is {given}, expected a number that is not "
                f"negative"
            )
        return given

    def __repr__(self) -> str:
        return json.dumps(self._prices, sort_keys=True)

    def listed(self, operation: str, name: str) -> str:
        """What the table has for an operation: a subtraction is done by an adder."""
        found = self._prices.get(_canonical(name), {})
        added = operation.replace("sub", "add")
        return added if operation not in found and added in found else operation

    def one(self, operation: str, name: str) -> Price:
        """The cost of an operation in a format."""
        found = self._prices.get(_canonical(name), {})
        operation = self.listed(operation, name)
        if operation in found:
            return found[operation]
        if "*" in found:
            return found["*"]
        raise Error(
            f"{self.name} has no '{operation}' of format '{name}'; a table of yours "
            f'may have it: {{"{name}": {{"{operation}": 1.5}}}}'
        )

    def mac(self, operands: Iterable[str], accumulator: str) -> Price:
        """A product and its addition: ``mac`` of the operands' format if the table
        has it, else a ``mul`` of that and an ``add`` of the accumulator's. Of two
        formats of operands, the one that costs more."""
        every = (self._mac(each, accumulator) for each in operands)
        return max(every, key=lambda price: price.cost)

    def term(self, operation: str, operands: Iterable[str]) -> Price:
        """A term of an exact sum: ``quire_mac`` or ``quire_add`` of the operands'
        format, else a ``mul`` of that and an ``add`` of ``quire``."""
        every = (self._term(operation, each) for each in operands)
        return max(every, key=lambda price: price.cost)

    def _term(self, operation: str, operand: str) -> Price:
        found = self._prices.get(_canonical(operand), {})
        operation = self.listed(operation, operand)
        added = self._prices.get("quire", {}).get("add")
        if operation in found:
            return found[operation]
        if added is not None and operation != "quire_mac":
            return added
        if added is not None and "mul" in found:
            return found["mul"].beside(added)
        if "*" in found:
            return found["*"]
        raise Error(
            f"{self.name} has no '{operation}' of format '{operand}', nor a 'mul' of it "
            f"and an 'add' of 'quire'"
        )

    def rounding(self, name: str) -> Price:
        """An exact sum is rounded for what the table says, or for nothing."""
        found = self._prices.get(_canonical(name), {})
        return found.get("quire_round", found.get("*", Price(0.0, 0.0, True)))

    def _mac(self, operand: str, accumulator: str) -> Price:
        found = self._prices.get(_canonical(operand), {})
        if "mac" in found:
            return found["mac"]
        return self.one("mul", operand).beside(self.one("add", accumulator))

    def cast(self, name: str) -> Price:
        """A cast costs what the table says, or nothing."""
        free = Price(0.0, 0.0, True)
        return self._prices.get(_canonical(name), {}).get("cast", free)


class Cost(NamedTuple):
    """What a call of a program costs."""

    total: float
    rows: list[dict[str, Any]]
    """One for each name of the model, operation and format: ``name``, ``operation``,
    ``format``, ``count``, ``cost``, and the ``area`` of one circuit."""
    joules: float | None
    """None where the table is not of energies."""
    area: float | None
    """Of one circuit for each kind of operation that occurs, in square micrometres;
    None where the table has no areas."""

    def __str__(self) -> str:
        head = ("name", "operation", "format", "count", "cost", "area")
        lines: list[Sequence[str]] = [head]
        for row in self.rows:
            cost = f"{row['cost']:.5g}"
            area = "" if row["area"] is None else f"{row['area']:g}"
            words = (row["name"], row["operation"], row["format"])
            lines.append((*words, str(row["count"]), cost, area))
        end = f"total {self.total:.5g}"
        if self.joules is not None:
            end = f"energy {self.joules:.4g} J"
        if self.area is not None:
            end += f", area {self.area:g} µm²"
        return f"{aligned(lines, left=(0, 1, 2))}\n\n{end}"


def cost(
    program: Program,
    *inputs: Any,
    table: Mapping[str, Operations] | Path,
    **options: Any,
) -> Cost:
    """Counts the operations of a call by kind and format, and adds up their costs.

    table       costs by format and operation, ``{"f16": {"add": .4, "mul": 1.1}}``,
                a file of YAML or JSON that has them, or the name of a published
                one, ``horowitz2014`` or ``jouppi2021``. ``"*"`` is any operation.
                A cost may be a mapping: ``energy`` in pJ, ``area`` in µm².

    A multiplication with its addition in a contraction is ``mac``, or else a ``mul``
    of what is multiplied and an ``add`` of what sums are kept in. In an exact sum it
    is ``quire_mac``, or else a ``mul`` and an ``add`` of ``quire``. A cast costs
    nothing unless the table has ``cast`` of the format that it goes to. A ``sub`` is
    an ``add`` unless the table has it. What rounds nothing (moves, comparisons,
    maxima) or reads constants alone is not counted, nor is memory. Another operation
    that the table does not have is an error.

    >>> import numera
    >>> square = numera.compile('''
    ...   func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...     %y = arith.mulf %x, %x : tensor<?xf32>
    ...     return %y : tensor<?xf32>
    ...   }''', format="f16")
    >>> found = numera.cost(square, [1, 2], table=numera.study.HOROWITZ_2014)
    >>> found.total
    2.2
    >>> f"{found.joules:.3g}", found.area
    ('2.2e-12', 1640.0)
    >>> [(row["operation"], row["count"]) for row in found.rows]
    [('cast', 2), ('mul', 2)]
    """
    if not isinstance(program, Program):
        raise Error(
            f"what costs something is a program, as numera.compile makes it; found "
            f"{type(program).__name__}"
        )
    prices = table if isinstance(table, Table) else Table(table)
    rows: dict[tuple[str, str, str], dict[str, Any]] = {}
    kinds: dict[tuple[str, ...], Price] = {}
    counted = program.stats(*inputs, **options).operations
    for row, kind, one in _priced(program, counted, prices):
        kinds[kind] = one
        key = row["name"], row["operation"], row["format"]
        found = rows.setdefault(
            key, dict(zip(("name", "operation", "format"), key), count=0, cost=0.0)
        )
        found["count"] += row["count"]
        found["cost"] = one.cost * found["count"]
        found["area"] = one.area
    total = math.fsum(row["cost"] for row in rows.values())
    areas = [one.area for one in kinds.values()]
    area = math.fsum(each or 0.0 for each in areas)
    return Cost(
        total,
        list(rows.values()),
        total / 1e12 if all(one.is_energy for one in kinds.values()) else None,
        None if None in areas else area,
    )


def of_layers(
    program: Program,
    inputs: Sequence[Any],
    prices: Table,
    layers: Sequence[Collection[str]],
) -> list[float]:
    """What the operations of some names cost, but for casts."""
    counted = program.stats(*inputs).operations
    chosen = set().union(*layers)
    counted = [r for r in counted if r["name"] in chosen and r["operation"] != "cast"]
    found = [0.0] * len(layers)
    for row, _, one in _priced(program, counted, prices):
        for place, names in enumerate(layers):
            if row["name"] in names:
                found[place] += one.cost * row["count"]
    return found


def _priced(
    program: Program, counted: Sequence[Mapping[str, Any]], prices: Table
) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...], Price]]:
    """Each row of operations, of what kind it is, and what one of them costs."""
    operands = _operands(program)
    default = operands.pop("")
    unnamed = {name for name in operands if "." in name}
    unnamed -= {row["name"] for row in counted}
    for row in counted:
        name, operation, kept = row["name"], row["operation"], row["format"]
        if operation in ("mac", "quire_mac") and not name and unnamed:
            raise Error(
                "contractions without names cannot be told apart where rules are for "
                'some of them; name them, loc("conv1")'
            )
        kind: tuple[str, ...] = (prices.listed(operation, kept), kept)
        if operation == "mac":
            read = operands.get(name, default)
            one = prices.mac(read, kept)
            kind += tuple(sorted(read))
        elif operation in ("quire_mac", "quire_add", "quire_sub"):
            read = operands.get(name, default) if operation == "quire_mac" else (kept,)
            one = prices.term(operation, read)
            kind += tuple(sorted(read))
        elif operation == "cast":
            one = prices.cast(kept)
        elif operation == "quire_round":
            one = prices.rounding(kept)
        else:
            one = prices.one(operation, kept)
        yield row, kind, one


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
        return {}  # a format goes before a policy of `formats`
    found: Mapping[str, Any] = {}
    for source in model.sources:
        if "policy" in source.text:
            sections = _yaml.parse(source.text, source.name)
            if isinstance(sections, Mapping) and "policy" in sections:
                found = {**found, **(sections["policy"] or {})}
    return found


def _canonical(name: str) -> str:
    try:
        return format(name).spelling
    except Error:
        return name


def _known(name: str) -> Mapping[str, Operations]:
    """A published table, or that of a file."""
    if name in TABLES:
        return TABLES[name]
    if not os.path.splitext(name)[1] and not os.path.exists(name):
        raise Error(f"unknown table '{name}', expected {', '.join(TABLES)} or a file")
    found = _yaml.read(name)
    if not isinstance(found, Mapping):
        raise Error(f"{name}: expected a mapping of formats to their operations")
    return found
