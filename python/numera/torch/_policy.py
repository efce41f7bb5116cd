# SPDX-License-Identifier: MIT
"""Which format each operation of a model has: by pass, by role, by module.

A graph's nodes are sorted into groups that have the same settings. A group is a
rule of the policy (Configuration.md), and its operations have names that end in
its number: ``layers.0.attn#2`` is for the rule ``*#2``.
"""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import fx

import numera
from numera import _kernels, _programs
from numera._errors import Error
from numera._formats import Format, ScaledFormat
from numera._request import Spec
from numera.torch._loops import SUM
from numera.torch._matches import fits, listed, pattern
from numera.torch._unmatched import Unmatched

aten = torch.ops.aten

__all__ = [
    "FORWARD",
    "Found",
    "Groups",
    "Operations",
    "Policy",
    "Settings",
    "operations_of",
]

FORWARD, ERRORS, GRADIENTS = "forward", "backward", "gradients"
"""Passes: the model's results; gradients of activations; gradients of weights."""

_PASSES = (FORWARD, ERRORS, GRADIENTS)
_STORED = ("weights", "activations", "errors")
_WORDS = ("rounding", "overflow", "random_bits")
_KEYS = ("format", "accumulate", *_WORDS)
_RULE_KEYS = ("match", ERRORS, GRADIENTS, *_STORED, *_KEYS)


class Settings(NamedTuple):
    """What an operation is compiled with; None: what the format has."""

    format: Format
    accumulate: Spec | None
    weights: Format | None
    activations: Format | None
    errors: Format | None


class _Rule(NamedTuple):
    where: str
    """What it is called in messages."""
    name: str
    operator: str
    settings: dict[str, Settings]
    """By pass."""

    def matches(self, name: str, operator: str) -> bool:
        return fits(self.name, name) and fits(self.operator, operator.lower())


def _format(spec: Spec, words: Mapping[str, Any]) -> Format:
    given = {key: value for key, value in words.items() if value is not None}
    if isinstance(spec, Format) and not given:
        return spec
    return numera.format(spec, **given)


def _stored(spec: Spec, words: Mapping[str, Any]) -> Format:
    """A scaled format has a rounding of its own."""
    found = numera.format(spec)
    return found if isinstance(found, ScaledFormat) else _format(spec, words)


def _spread(given: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    """The keys of one pass, over those that hold for all."""
    return {**base, **{key: each for key, each in given.items() if each is not None}}


def _pass_settings(
    given: Mapping[str, Any], where: str, base: Settings | None
) -> Settings:
    words = {key: given.get(key) for key in _WORDS}
    spec = given.get("format")
    if spec is None:
        if base is None:
            raise Error(f"{where} names no format")
        spec = base.format
    stored = {
        role: _stored(given[role], words)
        if given.get(role) is not None
        else base and getattr(base, role)
        for role in _STORED
    }
    accumulate = given.get("accumulate")
    if accumulate is None and base is not None and given.get("format") is None:
        accumulate = base.accumulate
    return Settings(_format(spec, words), accumulate, **stored)


def _settings(
    options: Mapping[str, Any], where: str, base: Mapping[str, Settings] | None
) -> dict[str, Settings]:
    """Of each pass. What a pass does not say is as in the one before it."""
    for key in options:
        if key not in _RULE_KEYS:
            raise Error(f"{where} has '{key}', expected one of {', '.join(_RULE_KEYS)}")
    common = {key: options.get(key) for key in (*_KEYS, *_STORED)}
    found: dict[str, Settings] = {}
    for name in _PASSES:
        own = options.get(name, {}) if name != FORWARD else {}
        if not isinstance(own, Mapping):
            own = {"format": own}
        for key in own:
            if key not in (*_KEYS, *_STORED):
                raise Error(f"{where}: {name} has '{key}'")
        if own.get("format") is not None and "accumulate" not in own:
            # The accumulator was chosen for all passes, or for none.
            own = {**own, "accumulate": common.get("accumulate")}
        common = _spread(own, common)
        found[name] = _pass_settings(common, where, base[name] if base else None)
    return found


class Policy:
    """The formats of a model: its own, and those of rules, the first that fits."""

    def __init__(self, options: Mapping[str, Any], rules: Any = None) -> None:
        self._model = _settings(options, "the backend", None)
        self._rules = [self._rule(match, given) for match, given in listed(rules)]
        self._unmatched = Unmatched(self._rules)

    def _rule(self, match: Any, given: Any) -> _Rule:
        where = f"rule '{match}'"
        if not isinstance(given, Mapping):
            given = {"format": given}
        if isinstance(match, Mapping):
            for key in match:
                if key not in ("name", "op"):
                    raise Error(f"{where} matches by '{key}', expected name or op")
            name, operator = match.get("name", "*"), match.get("op", "*")
        elif str(match).startswith("op:"):
            name, operator = "*", match[3:]
        else:
            name, operator = match, "*"
        name, operator = (pattern(each, where) for each in (name, operator))
        # A rule with a format is a policy of its own.
        base: Mapping[str, Settings] = self._model
        if given.get("format") is not None:
            base = {
                key: Settings(each.format, None, None, None, None)
                for key, each in base.items()
            }
        return _Rule(where, name, operator.lower(), _settings(given, where, base))

    def __str__(self) -> str:
        names = [self._model[name].format.name for name in _PASSES]
        return names[0] if len(set(names)) == 1 else ", ".join(names)

    def is_finite(self) -> bool:
        """Whether a format has no infinities."""
        return not all(each.facts.get("has_infinity", True) for each in self._formats())

    def takes_numbers(self) -> bool:
        """Whether a number is the same in every format as an argument in f32 and as
        a constant: not where elements share a scale, draw, or are finer than f32."""
        return all(
            not isinstance(each, ScaledFormat)
            and not _kernels.is_stochastic(each)
            and each.facts.get("precision", 99) <= 24
            for each in self._formats()
        )

    def _formats(self) -> list[Format]:
        every = [self._model, *(rule.settings for rule in self._rules)]
        return [chosen.format for each in every for chosen in each.values()]

    def see(self, operations: Operations, *, is_all: bool, is_forward: bool) -> None:
        """Notes which rules match something in a graph. Where the model has no
        other one, those that match nothing are a warning.

        is_forward  the graph of its backward pass is still to come.
        """
        self._unmatched.see(operations)
        if is_all:
            self._unmatched.warn(is_forward=is_forward)

    def chosen(self, name: str, operator: str) -> int:
        """The number of the rule for an operation; -1: none."""
        for place, rule in enumerate(self._rules):
            if rule.matches(name, operator):
                return place
        return -1

    def settings(self, place: int, pass_: str) -> Settings:
        """Those of a rule."""
        rules = self._rules
        return (self._model if place < 0 else rules[place].settings)[pass_]

    def listed(self) -> list[tuple[str, list[tuple[Any, ...]]]]:
        """All that it says, for a key: patterns, and settings by pass."""
        return [
            ("the model", [tuple(self._model[name]) for name in _PASSES]),
            *(
                (
                    repr((rule.name, rule.operator)),
                    [tuple(rule.settings[name]) for name in _PASSES],
                )
                for rule in self._rules
            ),
        ]


# ---- the nodes of a graph ---------------------------------------------------


def module_name(node: fx.Node) -> str:
    """The path of the module that a node belongs to, ``layers.0.attn``."""
    stack = node.meta.get("nn_module_stack") or node.meta.get("fwd_nn_module_stack")
    if not stack:
        return ""
    path = list(stack.values())[-1][0]
    path = re.sub(r"^[GL]\['[^']*'\]|^L__self__", "", path)
    path = re.sub(r"\['?([^'\]]*)'?\]", r".\1", path)
    return re.sub(r"^\.|\._modules\b", "", path)


def operator_name(node: fx.Node) -> str:
    """The operator that the model called, without its namespace: ``softmax``."""
    origin = node.meta.get("original_aten") or node.target
    packet = getattr(origin, "overloadpacket", origin)
    name = getattr(packet, "__name__", str(packet))
    name = re.sub(r"_(backward|backward_data)$", "", name)
    return name.strip("_")


Operations = Sequence[tuple[str, str]]


def operations_of(module: fx.GraphModule) -> Operations:
    """The modules and operators of a graph, each pair once."""
    found = (
        (module_name(node), operator_name(node))
        for node in module.graph.nodes
        if node.op == "call_function"
    )
    return list(dict.fromkeys(found))


class _Keys(NamedTuple):
    """A group: what a rule of the compiler says."""

    format: Format
    accumulate: Spec | None
    weights: Format | None
    """What tensors are stored in that the graph is given, before contractions."""
    activations: Format | None
    """And those that it computes."""

    def given(self) -> dict[str, Any]:
        return {
            key: value for key, value in self._asdict().items() if value is not None
        }


Found = tuple[int, str, bool]
"""Of an operation: the number of its rule, its pass, and whether it reads a parameter
in a backward pass."""


class Groups:
    """The nodes of a graph, sorted by their settings."""

    def __init__(
        self, policy: Policy, passes: Mapping[str, str], found: Sequence[Found] = ()
    ) -> None:
        """found  those of a graph that is not there any more."""
        self._policy = policy
        self._passes = passes
        self._known: dict[Found, _Keys] = {}
        self._largest: dict[Spec, float] = {}
        self.found = list(found)
        """Of each group the first operation."""
        self._groups = [self._keys_of(each) for each in found]

    def name(self, node: fx.Node) -> str:
        """Of the operations that a node becomes."""
        module, found = module_name(node), self._find(node)
        keys = self._keys_of(found)
        if keys not in self._groups:
            self._groups.append(keys)
            self.found.append(found)
        place = self._groups.index(keys)
        return f"{module or node.name}#{place}{SUM if _adds_up(node) else ''}"

    def _find(self, node: fx.Node) -> Found:
        pass_ = self._passes.get(node.meta.get("numera_node", node.name), FORWARD)
        place = self._policy.chosen(module_name(node), operator_name(node))
        return place, pass_, pass_ != FORWARD and _reads_parameter(node)

    def _keys_of(self, found: Found) -> _Keys:
        if found not in self._known:
            place, pass_, reads = found
            settings = self._policy.settings(place, pass_)
            self._known[found] = _keys(settings, pass_, reads)
        return self._known[found]

    def largest(self, node: fx.Node) -> float:
        """What constants of a node may not exceed: the largest number of its format.
        A constant that stands alone has the format of what reads it."""
        if not node.all_input_nodes and _adds_up(node):
            return min(map(self.largest, node.users), default=math.inf)
        keys = self._keys_of(self._find(node))
        sums = _sums_in(keys) if _adds_up(node) else None
        spec = keys.format if sums is None else sums
        if spec not in self._largest:
            self._largest[spec] = _largest(spec)
        return self._largest[spec]

    def format_of(self, node: fx.Node | None) -> Format:
        """The format that a node computes in."""
        if node is None:
            return self._groups[0].format
        keys = self._keys_of(self._find(node))
        sums = _sums_in(keys) if _adds_up(node) else None
        return keys.format if sums is None else numera.format(sums)

    def options(self, text: str) -> dict[str, Any]:
        """The arguments of `numera.compile` for the graph's text."""
        rules = []
        for place, keys in enumerate(self._groups):
            sums = _sums_in(keys)
            if sums is not None and f'#{place}{SUM}"' in text:
                rules.append({"match": f"*#{place}{SUM}", "format": sums})
            if place and re.search(rf'#{place}["+]', text):
                rules.append({"match": f"*#{place}*", **keys.given()})
        if not self._groups:
            return {}
        first = self._groups[0].given()
        usual = {
            "format": first.pop("format"),
            "accumulate": first.pop("accumulate", None),
        }
        return {**usual, "policy": {**first, "rules": rules}}

    def compile(self, text: str, options: Mapping[str, Any]) -> numera.Program:
        """The program of the graph's text. Rules of groups whose operations all fold
        are no warning: the user's rules are judged by the graph (`Policy.see`)."""
        given = {**self.options(text), **options}
        program, lines = _programs.compiled(text, given)
        for line in lines:
            if not re.search(r"warning: rule '\*#\d+[^']*' matches", line):
                warnings.warn(line, stacklevel=2)
        return program


def _largest(spec: Spec) -> float:
    fmt = spec if isinstance(spec, Format) else numera.format(spec)
    try:
        return float.fromhex(fmt.facts["largest"])
    except (KeyError, TypeError, ValueError, OverflowError):
        return math.inf  # no binary fraction, or one beyond f64


def _keys(chosen: Settings, pass_: str, reads: bool) -> _Keys:
    """In a backward pass, what is computed are errors, and what is given are
    parameters or the activations that the forward pass left."""
    if pass_ == FORWARD:
        weights, activations = chosen.weights, chosen.activations
    else:
        weights = chosen.weights if reads else chosen.activations
        activations = chosen.errors
    return _Keys(chosen.format, chosen.accumulate, weights, activations)


def _reads_parameter(node: fx.Node) -> bool:
    for operand in node.all_input_nodes:
        while operand.op == "call_function" and len(operand.all_input_nodes) == 1:
            operand = operand.all_input_nodes[0]
        if operand.meta.get("numera_weight") == "parameter":
            return True
    return False


def _adds_up(node: fx.Node) -> bool:
    """Whether a node computes in the accumulator: numbers that stand alone, such as
    a loss, and the mean, a quotient of a sum, which is rounded once."""
    value = node.meta.get("val")
    if node.op != "call_function" or not isinstance(value, torch.Tensor):
        return False
    if operator_name(node) in _IN_ACCUMULATORS:
        return True
    if not value.is_floating_point():
        return False
    return value.dim() == 0 or _is_mean(node) or any(map(_is_mean, node.users))


_IN_ACCUMULATORS = ("histc", "bernoulli", "fractional_max_pool2d", "multinomial")
"""Operators that compute places finely, whose results are whole or only chosen."""


def _is_mean(node: fx.Node) -> bool:
    if node.op != "call_function" or node.target is not aten.div.Tensor:
        return False
    total, count = node.args
    return (
        isinstance(total, fx.Node)
        and total.target is aten.sum.dim_IntList
        and len(total.users) == 1
        and not isinstance(count, fx.Node)
    )


def _sums_in(keys: _Keys) -> Spec | None:
    """The format in which a group adds up; None: its own."""
    if keys.accumulate in ("same", "tensorcore", "quire"):
        return None
    usual = keys.format.facts.get("default_accumulator")
    found = usual if keys.accumulate is None else keys.accumulate
    return None if found in ("quire", keys.format.name) else found
