# SPDX-License-Identifier: MIT
"""A model run in a format, and what was found."""

from __future__ import annotations

import dataclasses
import difflib
import json
import math
import pathlib
import sys
import warnings
from collections.abc import Callable, Mapping
from inspect import signature
from numbers import Integral
from typing import Any

import numpy as np

from numera import _casts, _numera
from numera._errors import Error
from numera._programs import Program, compile
from numera._request import Path, Spec
from numera.reports import _measure, _policy, _words
from numera.reports._hints import ROLES, Hint, Rules, Search, Trial, decibels
from numera.reports._measure import Measured, Row
from numera.study import _keys
from numera.study._data import DataSet, load_labels
from numera.study._metrics import Metric
from numera.study._metrics import metric as _metric
from numera.study._output import (
    check_page,
    described,
    described_one,
    name_of,
    plain,
    whole,
)
from numera.study._ranges import spelled

__all__ = ["Report", "report"]

_WORST = 12
"""How many rows of the data set are shown."""

Progress = Callable[[int, int, str], None]
"""Takes how many layers were tried, how many there are, and the next one."""


@dataclasses.dataclass
class Report:
    """What a format did to a model. Printed, it is a summary in words."""

    model: str
    """The file, or what kind of object it was."""
    policy: dict[str, Any]
    """What the model is computed in, as ``numera.compile`` takes it."""
    chosen: dict[str, Any]
    """``program.policy``: what became of it."""
    options: dict[str, Any]
    """Other options of ``numera.compile``."""
    found: Measured
    metric: str | None
    reference_metric: float | None
    """In f32."""
    layers: list[dict[str, Any]]
    """As ``program.layers`` has them."""
    hints: list[Hint]
    """Changes that help, in the order of what they gain."""
    together_db: float | None
    """What those of layers gain together."""
    tried: int
    """Programs that were run for the hints."""
    rows: int | None
    """How many rows of the data set were run."""
    notes: list[str]
    """What a reader should know of the comparison, a sentence each."""
    data: dict[str, Any]
    """What the inputs and labels were: files, or shapes."""
    worst: list[Row]
    pictures: list[str]
    """Of the worst rows, as data URIs, where they are images."""
    target: str
    version: str
    digest: str
    """SHA-256 of the model."""

    def html(self) -> str:
        """One page, which needs no network."""
        from numera.reports._page import page

        return page(self)

    def save(self, path: Path) -> None:
        """Writes the page, completely or not at all."""
        text = self.html()
        with whole(path) as made:
            pathlib.Path(made).write_text(text, encoding="utf-8")

    def json(self) -> str:
        """All of it, but for the pictures; infinities are null."""
        data = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name != "pictures"
        }
        data["found"] = self.found._asdict()
        data["verdict"] = self.verdict()
        data["hints"] = [
            {
                **hint._asdict(),
                "policy": _policy.changed(self.policy, [hint.policy]),
                "exact": hint.gain_db == math.inf,
            }
            for hint in self.hints
        ]
        data["worst"] = [row._asdict() for row in self.worst]
        return json.dumps(plain(data), indent=2, default=str)

    def __str__(self) -> str:
        lines = [f"{self.model} in {self.computed_in()}: {self.headline()}"]
        lines.append(f"  {self.verdict()}")
        lines += [f"  {hint}" for hint in self.hints]
        if self.together_db is not None:
            lines.append(f"  all of these layers: {decibels(self.together_db)}")
        if self.tried and not self.hints:
            lines.append(f"  none of {self.tried} changes that were tried helps")
        lines += [f"  ({note})" for note in self.notes]
        return "\n".join(lines)

    def computed_in(self) -> str:
        """The format, as it was asked for and as it is called, and whether rules of a
        policy give layers others."""
        text = name = str(self.chosen["format"])
        asked = self.policy.get("default", name)
        if isinstance(asked, str):
            text = asked
        # Of a model with scales, what is chosen is the format of the rest.
        if text != name and not any(key in self.policy for key in ROLES):
            text += f" ({name})"
        roles = [
            f"{role} in {self.policy[role]}"
            for role in ("weights", "activations", "outputs")
            if role in self.policy
        ]
        if isinstance(self.policy.get("scale"), Mapping):
            roles += [f"{r} scaled {how}" for r, how in self.policy["scale"].items()]
        elif "scale" in self.policy:
            roles.append(f"factors scaled {self.policy['scale']}")
        if roles:
            text += " with " + " and ".join(roles)
        count = len(self.policy.get("rules", []))
        if count:
            text += f" and {count} rule{'s' if count > 1 else ''} of a policy"
        return text

    def verdict(self) -> str:
        """Whether the formats suffice for the model, by its outputs alone."""
        return _words.verdict(self.found)

    def headline(self) -> str:
        """The outputs, in one sentence."""
        text = f"SQNR of the outputs {self.found.sqnr_db:.1f} dB"
        if self.found.nan:
            text += f", {self.found.nan:.2%} NaN or infinite"
        if self.found.metric is not None and self.reference_metric is not None:
            text += (
                f", {self.metric} {self.found.metric:.4g} "
                f"({self.reference_metric:.4g} in f32)"
            )
        return text


def report(
    model: Any,
    *,
    inputs: Any,
    labels: Any = None,
    metric: str | Callable[..., Any] | None = None,
    format: Spec | None = None,
    accumulate: Spec | None = None,
    policy: Mapping[str, Any] | Path | None = None,
    function: str | None = None,
    rows: int = 64,
    hints: int = 5,
    path: Path | None = None,
    threads: int = 0,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Report:
    """Runs a model in a format and in f32, and says where it goes wrong.

    model       as for :func:`numera.compile`, like ``policy`` and ``options``.
    inputs      arrays or files, by name, in order, or for the only input; what has
                more rows than an input is a data set, as with ``numera.sweep``.
    labels      the right classes, or for ``rmse`` the right outputs (None: the
                model's in f32).
    metric      ``top1`` (None, where there are labels), ``top5``, ``rmse``, or a
                function of outputs and labels.
    format      the policy's default.
    rows        only so many rows are run, the first ones: layers keep all their
                numbers.
    hints       how many layers to try changes for; 0: none.
    path        the page to write; None: none. It needs the packages of
                ``numera-mlir[report]``.
    progress    a function, or whether to write a line to stderr; None: on a
                terminal.

    >>> import numera
    >>> square = '''func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...   %y = arith.mulf %x, %x : tensor<?xf32>
    ...   return %y : tensor<?xf32>
    ... }'''
    >>> found = numera.report(square, inputs=[[1e-3, 1, 100]], format="f8E4M3FN")
    >>> round(found.layers[0]["overflow"], 2)
    0.33
    """
    for key, number, least in (("rows", rows, 1), ("hints", hints, 0)):
        if not isinstance(number, Integral) or number < least:
            raise Error(f"{key} is {number!r}, expected a whole number from {least} on")
    _check_options(options)
    if format is not None and policy is None and "formats" not in options:
        _casts.chosen(spelled(format))  # which refuses it as such, not as a line of a policy
    files = options.get("formats", ())
    given = _policy.read(policy, format, accumulate, files)
    formats = _policy.formats(policy, files)
    name = name_of(model)
    if hasattr(model, "SerializeToString"):  # a model of ONNX
        model = model.SerializeToString()
    if path is not None:
        check_page(path)

    def build(policy: Mapping[str, Any]) -> Program:
        own = {**options, "formats": formats}
        return compile(model, policy=policy, function=function, **own)

    program = build(given)
    reference = compile(model, format="f32", function=function, **_plain(options))
    called = _measure.only(program, function)
    data = DataSet(called, inputs, rows, None)
    chosen = _chosen_metric(metric, labels)
    expected_labels = data.labels_of_rows(load_labels(labels))
    if chosen:
        chosen.check(expected_labels, data.labelled(called))
        chosen.warn(called, expected_labels, [program.policy["format"]])
    exact = data.run(_measure.only(reference, function), threads)
    if not any(np.isfinite(each).any() for each in exact):
        raise Error(
            "no output of the model in f32 is finite, so there is nothing to compare "
            "with; look at the inputs"
        )
    # An error's right outputs are those in f32 if there are no others.
    is_error = chosen is not None and chosen.is_error
    wanted = exact[0] if is_error and expected_labels is None else expected_labels

    def measure(program: Program) -> tuple[Measured, tuple[np.ndarray[Any, Any], ...]]:
        outputs = data.run(_measure.only(program, function), threads)
        return _measure.measure(outputs, exact, chosen, wanted), outputs

    found, outputs = measure(program)
    layers = _measure.layers(program, called.name, data)
    tried = 0

    def score(trials: list[Trial]) -> float | None:
        nonlocal tried
        try:
            policy = _policy.changed(given, [trial.policy for trial in trials])
            with warnings.catch_warnings():  # of rules that changes go before
                warnings.simplefilter("ignore")
                changed = build(policy)
        except Error:
            return None  # not every operation has every format
        count = sum(len(trial.policy.get("rules", [])) for trial in trials)
        applied = changed.policy.get("rules", [])[:count]
        if len(applied) < count or not all(rule["operations"] for rule in applied):
            return None
        tried += 1
        return measure(changed)[0].sqnr_db

    with _watch(progress) as watch:
        helpful, together = Search(
            layers,
            Rules(given, program.policy["accumulate"], program.policy.get("rules", [])),
            found.sqnr_db,
            score,
            watch,
        ).run(hints)
    worst = _measure.worst(outputs, exact, expected_labels, _WORST)
    made = Report(
        model=name,
        policy=given,
        chosen=program.policy,
        options=options,
        found=found,
        metric=chosen.name if chosen else None,
        reference_metric=chosen(exact, wanted) if chosen else None,
        layers=layers,
        hints=helpful,
        together_db=together,
        tried=tried,
        rows=data.rows,
        notes=_notes(data, exact),
        data={
            "inputs": described(inputs),
            "labels": None if labels is None else described_one(labels),
        },
        worst=worst,
        pictures=_pictures(data, worst),
        target=program.target,
        version=_numera.version(),
        digest=_keys.model(model),
    )
    if path is not None:
        made.save(path)
    return made


def _notes(data: DataSet, exact: tuple[np.ndarray[Any, Any], ...]) -> list[str]:
    found = []
    if data.rows is not None and data.given > data.rows:
        found.append(
            f"the first {data.rows} of {data.given} rows were run; `rows` takes more"
        )
    if data.rows is not None and all(len(each) == data.rows for each in exact):
        wrong = np.zeros(data.rows, bool)
        for each in exact:
            wrong |= ~np.isfinite(each.reshape(data.rows, -1)).all(axis=1)
        if wrong.any():
            found.append(
                f"{wrong.sum()} of {data.rows} rows have NaN or infinities in f32, "
                f"which are compared with nothing; look at the inputs"
            )
    elif any(not np.isfinite(each).all() for each in exact):
        found.append(
            "the outputs have NaN or infinities in f32, which are compared with "
            "nothing; look at the inputs"
        )
    if not any(each.any() for each in exact):
        found.append("all outputs of the model in f32 are 0")
    return found


def _check_options(options: Mapping[str, Any]) -> None:
    known = {*signature(report).parameters, *signature(compile).parameters}
    known -= {"options"}
    for name in options:
        if name not in known:
            near = difflib.get_close_matches(name, sorted(known), 1)
            end = f", did you mean '{near[0]}'?" if near else ""
            raise Error(f"report has no argument '{name}'{end}")


def _plain(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those of the reference, which has neither rounding nor overflow to choose."""
    own = ("formats", "cpu", "optimization", "code_cache", "replace")
    return {key: value for key, value in options.items() if key in own}


def _chosen_metric(
    which: str | Callable[..., Any] | None, labels: Any
) -> Metric | None:
    if which is None:
        return None if labels is None else _metric("top1", None)
    return _metric(which, None)


def _pictures(data: DataSet, worst: list[Row]) -> list[str]:
    """Of the rows, if one input has images and Pillow is installed."""
    try:
        from numera.reports._pictures import picture
    except ImportError:
        return []
    if data.rows is None:
        return []
    sliced = [a for a, is_sliced in zip(data.arrays, data.sliced) if is_sliced]
    if len(sliced) != 1:
        return []
    found = [picture(sliced[0][row.place]) for row in worst]
    return [] if None in found else [each for each in found if each]


class _watch:
    """Progress, as the caller wants it."""

    def __init__(self, progress: Progress | bool | None) -> None:
        self._progress = progress
        self._shows = progress is True or progress is None and sys.stderr.isatty()

    def __enter__(self) -> Progress:
        if callable(self._progress):
            return self._progress
        return self._write if self._shows else lambda *_: None

    def _write(self, done: int, total: int, name: str) -> None:
        sys.stderr.write(f"\r\x1b[K{done}/{total} trying changes of {name}"[:200])
        sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self._shows and not callable(self._progress):
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
