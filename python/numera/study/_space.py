# SPDX-License-Identifier: MIT
"""The choices of a search: policies, and what they cost."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numera._errors import Error
from numera._formats import Format, ScaledFormat
from numera._request import Spec
from numera.study._guess import Choice
from numera.study._layers import Layer

__all__ = ["COSTS", "Space", "bits"]

COSTS = ("weight-bits", "element-bits")
"""What is counted without a table."""

Candidate = tuple[Spec | None, ...]
"""A layer's format, and those of its weights and activations and its accumulator;
None: as the format says."""

ROLES = ("format", "weights", "activations", "accumulate")


def bits(format: Spec) -> float:
    """Of an element, with its part of the scale; of a word, none."""
    if isinstance(format, ScaledFormat):
        return format.bits_per_element
    return float(format.width) if isinstance(format, Format) else 0.0


class Space:
    """Candidates for each layer: products of what is given for the roles.

    What is no contraction has a format alone.
    """

    def __init__(
        self,
        layers: Sequence[Layer],
        given: Sequence[Sequence[Spec | None]],
        base: Mapping[str, Any],
    ) -> None:
        self.layers = layers
        self.given = given
        """For each of the roles."""
        self._base = base
        every: list[Candidate] = list(itertools.product(*given))
        plain: list[Candidate] = [(each, None, None, None) for each in given[0]]
        self.candidates: list[list[Candidate]] = [
            every if layer.contraction is not None else plain for layer in layers
        ]

    def __len__(self) -> int:
        return math.prod(map(len, self.candidates))

    def policy(self, chosen: Sequence[Candidate]) -> dict[str, Any]:
        """The policy, with formats as objects."""
        rules = [
            rule
            for layer, candidate in zip(self.layers, chosen)
            for rule in self.rules(layer, candidate)
        ]
        # Names first: an operator would match what has one, too.
        rules.sort(key=lambda rule: not isinstance(rule["match"], str))
        kept = list(self._base.get("rules", []))
        return {"default": "f32", **self._base, "rules": kept + rules}

    def rules(self, layer: Layer, candidate: Candidate) -> list[dict[str, Any]]:
        """Those of a layer."""
        found: list[dict[str, Any]] = []
        if layer.contraction is not None:
            roles = {k: v for k, v in zip(ROLES, candidate) if v is not None}
            found.append({"match": layer.contraction, **roles})
        found += ({"match": each, "format": candidate[0]} for each in layer.others)
        return found

    def alike(self, candidate: Candidate) -> list[Candidate]:
        """The same for all layers."""
        plain: Candidate = (candidate[0], None, None, None)
        return [
            plain if layer.contraction is None else candidate for layer in self.layers
        ]

    def of(self, choice: Choice) -> list[Candidate]:
        return [each[i] for each, i in zip(self.candidates, choice)]

    def probes(self) -> list[tuple[int, Candidate]]:
        """A role, and candidates for all layers alike, that show what each entry of
        a role adds: the other roles have their widest."""
        widest = [max(entries, key=_rank) for entries in self.given]
        found: dict[Candidate, int] = {}
        for role, entries in enumerate(self.given):
            for each in entries:
                found.setdefault((*widest[:role], each, *widest[role + 1 :]), role)
        return [(role, candidate) for candidate, role in found.items()]

    def noises(
        self, seen: Mapping[Candidate, Sequence[float]]
    ) -> list[np.ndarray[Any, Any]]:
        """For each layer, what each candidate adds, by what the probes showed."""
        widest = tuple(max(entries, key=_rank) for entries in self.given)
        least = seen.get(widest, [0.0] * len(self.layers))
        found = []
        for place, candidates in enumerate(self.candidates):
            noises = []
            for candidate in candidates:
                total = 0.0
                for role, each in enumerate(candidate):
                    if each is None and role:
                        continue  # as the format, which has been counted
                    own = seen[(*widest[:role], each, *widest[role + 1 :])][place]
                    total += own if role == 0 else max(own - least[place], 0.0)
                noises.append(total)
            found.append(np.array(noises))
        return found

    def costs(self, kind: str) -> list[np.ndarray[Any, Any]]:
        """For each layer, the part of each candidate in the mean bits."""
        elements = kind == "element-bits"
        total = sum(
            layer.weights + (layer.elements if elements else 0) for layer in self.layers
        )
        if not total:
            raise Error(
                "no layer that is searched has weights; count element-bits instead"
            )
        return [
            np.array(
                [
                    layer.weights * bits(candidate[1] or candidate[0] or "")
                    + elements * layer.elements * bits(candidate[0] or "")
                    for candidate in candidates
                ]
            )
            / total
            for layer, candidates in zip(self.layers, self.candidates)
        ]


def _rank(entry: Spec | None) -> float:
    """`quire` is the widest accumulator; what says nothing is as wide as can be."""
    return math.inf if entry in (None, "quire") else bits(entry or "")
