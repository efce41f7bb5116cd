# SPDX-License-Identifier: MIT
"""The layers of a model that a search chooses formats for."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numera._errors import Error
from numera._programs import Program, compile

__all__ = ["Layer", "Match", "find", "named"]

Match = str | dict[str, str]
"""What a rule of a policy says to mean an operation."""

_SCALED = "scaled<f8E4M3FN,rule=absmax>"
"""A program counts the elements that it scales, and so tells what weights are."""

_CONTRACTIONS = ("matmul", "batch_matmul", "matvec", "dot", "conv", "depthwise", "gemm")


class Layer(NamedTuple):
    """Operations that get one format."""

    name: str
    """Of the first of them."""
    contraction: Match | None
    """The contraction among them."""
    others: tuple[Match, ...]
    rows: tuple[int, ...]
    """Of :meth:`numera.Program.layers`."""
    weights: int
    """Constant elements that the contraction reads."""
    elements: float
    """That leave the operations, for a row of the data."""
    names: tuple[str, ...]
    """Of the operations, in reports."""


class _Plain(NamedTuple):
    """The model in f32, and how it is compiled otherwise."""

    model: Any
    options: Mapping[str, Any]
    inputs: Sequence[np.ndarray[Any, Any]]

    def compile(self, **policy: Any) -> Program:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of rules for nothing
            return compile(
                self.model,
                policy={"default": "f32", **policy},
                **{**self.options, "optimization": 0},
            )

    def scaled(self, **policy: Any) -> dict[str, int]:
        """How many elements each contraction reads in a scaled format."""
        found: dict[str, int] = {}
        for row in self.compile(**policy).stats(*self.inputs).scaled:
            name = row["name"].rpartition(".")[0]
            found[name] = found.get(name, 0) + row["count"]
        return found


def find(
    model: Any,
    options: Mapping[str, Any],
    inputs: Sequence[np.ndarray[Any, Any]],
    count: int,
    fixed: Sequence[Mapping[str, Any]],
    joined: bool,
) -> list[Layer]:
    """Layers in the order in which they are computed.

    inputs      of one call, for `count` rows of the data.
    fixed       rules; what they match is left out.
    joined      contractions, each with what follows until the next; else every
                layer that has a name.
    """
    plain = _Plain(model, options, inputs)
    program = plain.compile()
    rows = program.layers(*inputs)
    addresses = _addresses(plain, rows)
    stats = program.stats(*inputs).operations
    macs = {row["name"] for row in stats if row["operation"] == "mac"}
    weights = plain.scaled(weights=_SCALED)
    kept = named(plain.compile(rules=list(fixed)).policy) if fixed else set()

    groups: list[list[int]] = []
    group_of: dict[int, list[int]] = {}
    by_name: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        name = row["name"]
        first = next((i for i in row["inputs"] if i in group_of), None)
        if name in by_name:
            group = by_name[name]
        elif joined and first is not None and not _contracts(row, addresses, macs):
            group = group_of[first]
        else:
            group = []
            groups.append(group)
        group.append(place)
        group_of[place] = by_name[name] = group

    found = []
    for group in groups:
        names = {rows[place]["name"]: rows[place] for place in group}
        free = [
            name
            for name, row in names.items()
            if name in addresses and not _is_fixed(row, addresses[name], kept)
        ]
        if not free:
            continue
        own = [place for place in group if rows[place]["name"] in free]
        heads = [p for p in own if _contracts(rows[p], addresses, macs)]
        head = rows[heads[0]]["name"] if heads else None
        reads = 0
        if head is not None:
            address = addresses[head]
            if isinstance(address, str):
                reads = weights.get(head, 0)
            else:
                rule = {"match": address, "format": "f32", "weights": _SCALED}
                reads = sum(plain.scaled(rules=[rule]).values())
        found.append(
            Layer(
                head or free[0],
                addresses[head] if head else None,
                tuple(addresses[name] for name in free if name != head),
                tuple(own),
                reads,
                sum(rows[place]["count"] for place in own) / count,
                tuple(free),
            )
        )
    if not found and any(row["name"] in addresses for row in rows):
        raise Error("the rules of the policy match all layers: there is none to search")
    if not found:
        raise Error("the model has no layers that a rule of a policy can name")
    return found


def named(policy: Mapping[str, Any]) -> set[str]:
    """What the rules of a policy were for."""
    return {name for rule in policy.get("rules", []) for name in rule["operations"]}


def _addresses(plain: _Plain, rows: Sequence[Mapping[str, Any]]) -> dict[str, Match]:
    """What names each row's operations in a rule: their name or, if they have none,
    their operator."""
    names = list(dict.fromkeys(row["name"] for row in rows))
    rules = [{"match": name, "format": "f32"} for name in names]
    chosen = plain.compile(rules=rules).policy.get("rules", [])
    matched = {rule["match"] for rule in chosen if rule["operations"]}
    found: dict[str, Match] = {name: name for name in names if name in matched}
    operators = {
        row["name"]: row["operation"] for row in rows if row["name"] not in found
    }
    rules = [{"match": {"op": each}, "format": "f32"} for each in operators.values()]
    chosen = plain.compile(rules=rules).policy.get("rules", []) if rules else []
    for (name, operator), rule in zip(operators.items(), chosen):
        if rule["operations"]:
            found[name] = {"op": operator}
    return found


def _is_fixed(row: Mapping[str, Any], address: Match, kept: set[str]) -> bool:
    if isinstance(address, str):
        return row["name"] in kept
    return row["operation"] in {each.rpartition(".")[2] for each in kept} | kept


def _contracts(
    row: Mapping[str, Any], addresses: Mapping[str, Match], macs: set[str]
) -> bool:
    if isinstance(addresses.get(row["name"]), str):
        return row["name"] in macs
    operator = str(row["operation"]).rpartition(".")[2].lower()
    return operator.startswith(_CONTRACTIONS)
