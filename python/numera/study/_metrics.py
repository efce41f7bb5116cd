# SPDX-License-Identifier: MIT
"""What a sweep measures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from numera._calls import Function
from numera._errors import Error
from numera._request import Spec
from numera.study._detections import map50, mean_average_precision, rounded_classes

__all__ = ["Metric", "metric"]

Array = np.ndarray[Any, Any]


class Metric:
    """A number for the outputs of a model, and which way is better."""

    def __init__(self, name: str, function: Callable[..., Any], better: str) -> None:
        if better not in ("higher", "lower"):
            raise Error(f"better is '{better}', expected higher or lower")
        self.name = name
        self.function = function
        self.better = better

    @property
    def built_in(self) -> bool:
        return self.name in _METRICS and self.function is _METRICS[self.name][0]

    @property
    def places(self) -> int | None:
        """Among how many of the largest scores a row's label has to be, where the
        metric is the share of such rows."""
        return _PLACES.get(self.function) if self.built_in else None

    def right(self, outputs: tuple[Array, ...], labels: Array) -> Array:
        """Of such a metric, for each row whether it is right."""
        assert self.places is not None
        return _right(outputs[0], labels, self.places)

    def margins(self, outputs: tuple[Array, ...], labels: Array) -> Array:
        """Of such a metric, for each row how far its label's score is from where the
        row would be right no more, or would be right."""
        assert self.places is not None
        scores, label = _scores(outputs[0], labels)
        own = np.take_along_axis(scores, label, axis=1)[:, 0]
        others = scores.copy()
        np.put_along_axis(others, label, -np.inf, axis=1)
        others.sort(axis=1)
        place = min(self.places, scores.shape[1])
        with np.errstate(invalid="ignore"):
            return np.abs(own - others[:, -place])

    @property
    def is_error(self) -> bool:
        """Whether it compares with the model in f32 where there are no labels."""
        return self.function is _rmse

    @property
    def takes_all(self) -> bool:
        """Whether it takes all outputs of a model, and not the first alone."""
        return self.name in _DETECTIONS and self.built_in

    def check_floor(self, floor: float | None) -> None:
        """Refuses what no model reaches."""
        if self.built_in and self.better == "higher" and floor and floor > 1:
            raise Error(f"floor is {floor:g}, and {self.name} is at most 1")

    def check(self, labels: Array | None, rows: int | None) -> None:
        """Refuses labels that it cannot be computed with."""
        if not self.built_in or self.is_error:
            return
        if labels is None:
            raise Error(f"metric '{self.name}' needs labels; 'rmse' does without")
        if self.takes_all:
            return
        if (
            rows is not None
            and labels.size != rows
            and self.function is not _perplexity
        ):
            raise Error(f"{labels.size} labels, expected one for each of {rows} rows")
        with np.errstate(invalid="ignore"):
            if labels.dtype.kind not in "iufb" or np.any(labels != np.rint(labels)):
                raise Error(f"labels of {labels.dtype}, expected whole numbers")

    def warn(
        self, function: Function, labels: Array | None, formats: Iterable[Spec]
    ) -> None:
        """Of classes of detections that formats of the outputs do not have."""
        if not self.takes_all or labels is None:
            return
        if line := rounded_classes(function.outputs, labels, formats):
            warnings.warn(line, stacklevel=3)

    def __call__(self, outputs: tuple[Array, ...], labels: Array | None) -> float:
        given: Any = outputs
        if not self.takes_all and (self.built_in or len(outputs) == 1):
            given = outputs[0]
        value = self.function(given, labels)
        try:
            return float(value)
        except (TypeError, ValueError):
            raise Error(
                f"metric '{self.name}' is {type(value).__name__}, expected a number"
            ) from None


def metric(which: str | Callable[..., Any], better: str | None) -> Metric:
    """The metric of a name, or of a function of outputs and labels."""
    if callable(which):
        name = getattr(which, "__name__", type(which).__name__)
        return Metric(name.strip("<>"), which, better or "higher")
    if which not in _METRICS:
        raise Error(
            f"unknown metric '{which}', expected {', '.join(_METRICS)} or a function"
        )
    function, usual = _METRICS[which]
    if better not in (None, usual):
        raise Error(f"of metric '{which}', {usual} is better")
    return Metric(which, function, usual)


def _scores(scores: Array, labels: Array) -> tuple[Array, Array]:
    """A row each of scores, and a column of labels."""
    if scores.ndim > 1 and len(scores) != labels.size:
        raise Error(
            f"{labels.size} labels, expected one for each of {len(scores)} rows"
        )
    scores = scores.reshape(len(labels.ravel()), -1).astype(np.float64)
    label = labels.reshape(-1, 1).astype(np.int64)
    if label.min() < 0 or label.max() >= scores.shape[1]:
        wrong = label.min() if label.min() < 0 else label.max()
        raise Error(f"label {wrong}, expected 0 to {scores.shape[1] - 1}")
    return scores, label


def _right(scores: Array, labels: Array, most: int) -> Array:
    """Whether the label's score is among so many largest, for each row.

    Of equal scores the first one counts, and a NaN is never among the largest.
    """
    scores, label = _scores(scores, labels)
    own = np.take_along_axis(scores, label, axis=1)
    places = np.arange(scores.shape[1])
    before = (scores > own) | (scores == own) & (places < label)
    right: Array = before.sum(axis=1) < most
    return right & ~np.isnan(own[:, 0])


def _top1(scores: Array, labels: Array) -> float:
    return float(_right(scores, labels, 1).mean())


def _top5(scores: Array, labels: Array) -> float:
    return float(_right(scores, labels, 5).mean())


def _perplexity(scores: Array, labels: Array) -> float:
    """exp of the mean cross entropy, where scores are logits along the last
    dimension; negative labels do not count, as PyTorch's -100."""
    if scores.ndim < 2 or scores.shape[:-1] != labels.shape:
        rows, found = (
            ", ".join(map(str, shape)) for shape in (scores.shape[:-1], labels.shape)
        )
        raise Error(f"labels have shape [{found}], expected [{rows}]")
    logits = scores.reshape(-1, scores.shape[-1]).astype(np.float64)
    label = labels.ravel().astype(np.int64)
    if label.max(initial=-1) >= logits.shape[1]:
        raise Error(f"label {label.max()}, expected 0 to {logits.shape[1] - 1}")
    counts = label >= 0
    if not counts.any():
        raise Error("no label counts")
    logits, label = logits[counts], label[counts]
    with np.errstate(all="ignore"):
        top = logits.max(axis=1, keepdims=True)
        sums = np.log(np.exp(logits - top).sum(axis=1)) + top[:, 0]
        own = np.take_along_axis(logits, label[:, None], axis=1)[:, 0]
        return float(np.exp(np.mean(sums - own)))


def _rmse(found: Array, expected: Array) -> float:
    if found.shape != expected.shape:
        shapes = (", ".join(map(str, array.shape)) for array in (expected, found))
        raise Error("labels have shape [{}], expected [{}]".format(*shapes))
    with np.errstate(all="ignore"):
        error = found.astype(np.float64) - expected.astype(np.float64)
        return float(np.sqrt(np.mean(np.square(error))))


_DETECTIONS = ("map", "map50")
_PLACES: dict[Callable[..., float], int] = {_top1: 1, _top5: 5}
_METRICS: dict[str, tuple[Callable[..., float], str]] = {
    "top1": (_top1, "higher"),
    "top5": (_top5, "higher"),
    "map": (mean_average_precision, "higher"),
    "map50": (map50, "higher"),
    "perplexity": (_perplexity, "lower"),
    "rmse": (_rmse, "lower"),
}
