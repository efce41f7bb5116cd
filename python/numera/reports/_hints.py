# SPDX-License-Identifier: MIT
"""Hints: what a layer does wrong, and what helps, which was tried.

Layers are taken in the order of the noise that each adds by itself
(``own_sqnr_db``); those that by themselves make infinities or NaN (``own_lost``) come
first, then those that overflow. For each, changes of its own are compiled and run on
the same data, by themselves and beside those of the other layers; and changes of all
layers of a kind, and of the whole model. What the outputs gain is measured, so no
hint is a guess.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from numera._errors import Error
from numera._formats import Format, format
from numera.reports._suspects import SHARE, finding, suspects

__all__ = [
    "ROLES",
    "Hint",
    "Rules",
    "Search",
    "Trial",
    "decibels",
    "format_of",
]

Layer = Mapping[str, Any]

_SUMS = ("Conv", "ConvTranspose", "Gemm", "MatMul", "Einsum", "matmul", "conv")
"""Operators whose products are added up."""
_WIDE = ("f32", "f64", "quire")
ROLES = ("scale", "scales", "weights", "activations", "outputs")
"""Keys of a policy that give a model more than one format."""
_NARROW = 10
"""Bits of the widest format that bf16 may improve on."""
_MUCH = 60.0
"""In dB, about what an exact output is worth here."""
_GAIN = 0.5
"""In dB. Changes that gain less are not hints."""
_KINDS = 2
"""So many kinds of layers are changed at once."""

_MEND, _BIT, _LAYER, _KIND, _MODEL = range(5)
"""Sizes of changes: a layer becomes like the others, gets one more bit, or a wide
format; all layers of a kind do, or the whole model."""


class Trial(NamedTuple):
    """A change of a policy."""

    policy: dict[str, Any]
    """Keys that are replaced; its rules go before those that are there."""
    words: str
    size: int = _LAYER


class Hint(NamedTuple):
    """A layer, what is wrong with it, a change, and what that gains."""

    layer: str | None
    """None: the whole model, or a kind of layers."""
    finding: str
    change: str
    policy: dict[str, Any]
    """The change, as part of a policy."""
    gain_db: float
    """Of the outputs' SQNR, by this change alone."""
    beside_db: float | None
    """What it gains if all other layers of the hints are changed, too."""

    def __str__(self) -> str:
        where = self.layer or "the model"
        return f"{where} {self.finding}: {self.change} ({self.gained()})"

    def gained(self) -> str:
        """By itself and, where that is more, beside the others."""
        text = decibels(self.gain_db)
        if self.is_better_beside():
            text += f", {decibels(self.beside_db or 0.0)} beside the others"
        return text

    def is_better_beside(self) -> bool:
        return self.beside_db is not None and self.beside_db > self.gain_db + _GAIN


def decibels(gain: float) -> str:
    """A gain, in words where nothing is left of the noise."""
    if math.isinf(gain):
        return "then exact"
    return f"{gain:+.1f} dB".replace("-0.0", "+0.0")


class Rules(NamedTuple):
    """The policy that is in force, by layer."""

    policy: Mapping[str, Any]
    """As it was given."""
    accumulate: str
    """Of the model."""
    applied: Sequence[Mapping[str, Any]]
    """Those of ``program.policy``, with the operations each was for."""

    def of(self, name: str) -> dict[str, Any]:
        """What the layer's rule says, without whom it is for."""
        for rule in self.applied:
            if name in rule["operations"]:
                skipped = ("match", "operations")
                return {k: each for k, each in rule.items() if k not in skipped}
        return {}


def changes(layer: Layer, rules: Rules) -> list[Trial]:
    """What may help a layer: other scales, sums in f32, a wider format. The largest
    change is last."""
    name = layer["name"]
    match = {"match": {"name": name}}
    own = rules.of(name)
    found = []
    if scales := _without_scales(name, rules.policy):
        words = "compute its scales as the model runs"
        found.append(Trial(scales, words, _MEND))
    accumulate = own.get("accumulate", rules.accumulate)
    adds = layer["operation"] in _SUMS or "accumulate" in own
    if adds and accumulate not in _WIDE:
        rule = {**match, **own, "accumulate": "f32"}
        size = _MEND if rules.accumulate in _WIDE else _LAYER
        what = "its products " if layer["operation"] in _SUMS else ""
        found.append(Trial({"rules": [rule]}, f"add up {what}in f32", size))
    usual = rules.policy.get("default")
    if own and any(key in rules.policy for key in ROLES):
        # A rule without a format keeps what the model's policy says.
        rule = {**match, "accumulate": rules.accumulate}
        words = "compute it like the other layers"
        found.append(Trial({"rules": [rule]}, words, _MEND))
    elif "format" in own and usual is not None:
        rule = {**match, "format": usual}
        found.append(Trial({"rules": [rule]}, f"give it {usual}", _MEND))
    wider = ["f32"]
    if _is_narrow(layer):
        near = _one_more_bit(layer)
        wider = [*([near] if near else []), "bf16", "f32"]
    for other in wider:
        rule = {**match, "format": other}
        size = _LAYER if other in ("bf16", "f32") else _BIT
        found.append(Trial({"rules": [rule]}, f"give it {other}", size))
    return found


def _without_scales(name: str, policy: Mapping[str, Any]) -> dict[str, Any]:
    """The scales and zero points of other layers; empty if this one has none."""
    found = {}
    for key in ("scales", "zero-points", "zero_points"):
        known = policy.get(key) or {}
        others = {k: e for k, e in known.items() if not k.startswith(f"{name}.")}
        if len(others) < len(known):
            found[key] = others
    return found


def _one_more_bit(layer: Layer) -> str | None:
    """A format with a bit more of what a layer lacks, range or precision; of posits,
    with two."""
    own = format_of(layer)
    spelling = own.spelling if own else ""
    exponent = re.fullmatch(r"float<(\d+),(\d+)(.*)>", spelling)
    posit = re.fullmatch(r"posit<(\d+),(\d+)(.*)>", spelling)
    if exponent:
        e, m = int(exponent[1]), int(exponent[2])
        lacks_range = (layer["overflow"] or 0) + (layer["underflow"] or 0) >= SHARE
        e, m = (e + 1, m) if lacks_range else (e, m + 1)
        wider = f"float<{e},{m}{exponent[3]}>"
    elif posit:
        wider = f"posit<{int(posit[1]) + 2},{posit[2]}{posit[3]}>"
    else:
        return None
    try:
        return format(wider).name
    except Error:  # a bias, say, that goes with one number of bits
        return None


def _is_narrow(layer: Layer) -> bool:
    """Whether bf16, of 8 bits of precision, may be more than its format."""
    own = format_of(layer)
    return layer["format"] not in ("bf16", "f32") and (
        own is None or own.width <= _NARROW
    )


def format_of(layer: Layer) -> Format | None:
    """None where only a file of the model's own options (``formats=``) knows it."""
    try:
        return format(layer["format"])
    except Error:
        return None


def of_model(
    layers: Sequence[Layer], policy: Mapping[str, Any]
) -> list[tuple[str, Trial]]:
    """What may help a model whose policy has neither roles nor scales, and what it
    does without: the rest in f32; scales as well, computed as it runs."""
    usual = policy.get("default")
    adds = any(layer["operation"] in _SUMS for layer in layers)
    if any(key in policy for key in ROLES) or usual in ("f32", "f64") or not adds:
        return []
    found = []
    if usual is not None:
        factors = {"default": "f32", "weights": usual, "activations": usual}
        words = "round the factors of products alone, the rest in f32"
        found.append(("rounds every result", Trial(factors, words, _MODEL)))
    if not all(_has_range_of_f32(layer) for layer in layers):
        scale = {"scale": {"weights": "per-channel", "activations": "per-tensor"}}
        words = "scale weights per channel and activations per tensor, the rest in f32"
        found.append(("computes without scales", Trial(scale, words, _MODEL)))
    return found


def _has_range_of_f32(layer: Layer) -> bool:
    """Scales of such a format are 1."""
    exponents = layer.get("format_exponents")
    return exponents is not None and exponents[1] >= 127


def _has_no_name(layer: Layer) -> bool:
    """Whether it is called by its operation, as what has no name in a file is. Rules
    know such a layer by its operation alone."""
    operation = re.escape(layer["operation"])
    return re.fullmatch(rf"{operation}(_\d+)?", layer["name"]) is not None


def of_kinds(layers: Sequence[Layer], chosen: Sequence[Layer]) -> list[Trial]:
    """All layers of a kind that several of the suspects are of, each in f32."""
    count = Counter(layer["operation"] for layer in chosen)
    nameless = {e["operation"] for e in chosen if _has_no_name(e)}
    found = []
    for kind, many in count.most_common():
        all_of = sum(layer["operation"] == kind for layer in layers)
        if kind in nameless or many > 1 and all_of > 2 and kind not in _SUMS:
            rule = {"match": {"op": kind}, "format": "f32"}
            words = f"give all {all_of} layers {kind} f32"
            if all_of == 1:
                words = "give it f32"
            found.append(Trial({"rules": [rule]}, words, _KIND))
    return found[:_KINDS]


def ordered(hints: Sequence[tuple[Hint, int]]) -> list[Hint]:
    """Hints with the sizes of their changes. The smallest change is first of those
    that gain a third of what the best one does, then the one that gains the most;
    those that gain about as much as that one stay as they come, and so on."""
    most = max((_gained(hint) for hint, _ in hints), default=0.0)

    def size_of(each: tuple[Hint, int]) -> int:
        hint, size = each
        return size if _suffices(_gained(hint), most) else _MODEL + 1

    left, found = sorted(hints, key=size_of), []
    while left:
        alike = [e for e in left if size_of(e) == size_of(left[0])]
        best = max(_gained(hint) for hint, _ in alike)
        first = next(e for e in alike if _gained(e[0]) >= best - _GAIN)
        left.remove(first)
        found.append(first[0])
    return found


def _gained(hint: Hint) -> float:
    return max(hint.gain_db, hint.beside_db or 0)


def _suffices(gain: float, most: float) -> bool:
    """Whether a small change gains enough, where a larger one gains ``most``."""
    return gain >= min(most, _MUCH) / 3


def _level(sqnr: float) -> float:
    """Where nothing is right, or all is exact, a number that others can be compared
    with."""
    return min(max(sqnr, -_MUCH), 3 * _MUCH)


Score = Callable[[list[Trial]], "float | None"]
"""The outputs' SQNR with changes; None where one cannot be made."""


class Search(NamedTuple):
    """What changes gain, each by itself and all together."""

    layers: Sequence[Layer]
    rules: Rules
    base: float
    """The outputs' SQNR without changes."""
    score: Score
    progress: Callable[[int, int, str], None]

    def gain(self, trials: list[Trial]) -> float | None:
        found = self.score(trials)
        if found is None or found == math.inf:
            return found
        return _level(found) - _level(self.base)

    def run(self, most: int) -> tuple[list[Hint], float | None]:
        """Hints, as ``ordered`` has them, and what those of layers gain together."""
        if most < 1 or self.base == math.inf:
            return [], None
        hints = [*self._of_model(), *self._of_kinds(most)]
        chosen = suspects(self.layers, most)
        best = {}
        for place, layer in enumerate(chosen):
            self.progress(place, len(chosen), layer["name"])
            if found := self._best(layer):
                best[layer["name"]] = found
        together, beside = self._beside({n: trial for n, (trial, _) in best.items()})
        helps = {
            name: (trial, gain)
            for name, (trial, gain) in best.items()
            if max(gain, beside.get(name, 0.0)) >= _GAIN
        }
        if len(helps) < len(best):  # beside those that are named
            together, beside = self._beside({n: t for n, (t, _) in helps.items()})
        helpful = []
        for layer in chosen:
            name = layer["name"]
            if name in helps:
                trial, gain = helps[name]
                words = (finding(layer), trial.words)
                hint = Hint(name, *words, trial.policy, gain, beside.get(name))
                helpful.append((hint, trial.size))
        return ordered([*hints, *helpful]), together

    def _of_model(self) -> list[tuple[Hint, int]]:
        """Scales are a hint where they gain more than what comes with them."""
        found: list[tuple[Hint, int]] = []
        known = 0.0
        for words, trial in of_model(self.layers, self.rules.policy):
            gain = self.gain([trial])
            most = math.inf if math.isinf(known) else known + max(_GAIN, known / 3)
            if gain is None or gain < most or gain == known:
                continue
            known = gain
            found.append((self._whole(words, trial, gain), trial.size))
        return found[-1:]

    def _of_kinds(self, most: int) -> list[tuple[Hint, int]]:
        found = []
        chosen = suspects(self.layers, 4 * most)
        for trial in of_kinds(self.layers, chosen):
            gain = self.gain([trial])
            if gain is None or gain < _GAIN:
                continue
            kind = trial.policy["rules"][0]["match"]["op"]
            worst = next(each for each in chosen if each["operation"] == kind)
            count = sum(layer["operation"] == kind for layer in self.layers)
            if count == 1:
                words = (finding(worst), trial.words, trial.policy)
                found.append((Hint(worst["name"], *words, gain, None), _LAYER))
                continue
            text = f"has {count} layers {kind}, of which {worst['name']} {finding(worst)}"
            found.append((self._whole(text, trial, gain), trial.size))
        return found

    @staticmethod
    def _whole(text: str, trial: Trial, gain: float) -> Hint:
        return Hint(None, text, trial.words, trial.policy, gain, None)

    def _best(self, layer: Layer) -> tuple[Trial, float] | None:
        """The smallest change that gains a third of what larger ones do, and its
        gain; another format where none gains by itself."""
        found = []
        for trial in changes(layer, self.rules):
            if (gain := self.gain([trial])) is not None:
                found.append((trial, gain))
        most = max((gain for _, gain in found), default=0.0)
        if most < _GAIN:
            wide = [e for e in found if e[0].size != _BIT]
            found = [e for e in wide if e[0].words.startswith("give")]
        for trial, gain in found:
            if _suffices(gain, most):
                return trial, gain
        return found[0] if found else None

    def _beside(
        self, trials: Mapping[str, Trial]
    ) -> tuple[float | None, dict[str, float]]:
        """What all gain together, and what each gains beside the others. A layer that
        gets numbers without meaning gains nothing by itself."""
        together = self.gain(list(trials.values())) if len(trials) > 1 else None
        if together is None or together < _GAIN:
            return together, {}
        beside = {}
        for name in trials:
            others = [trial for other, trial in trials.items() if other != name]
            if (gain := self.gain(others)) is not None:
                beside[name] = 0.0 if gain == together else together - gain
        return together, beside
