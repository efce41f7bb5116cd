# SPDX-License-Identifier: MIT
"""Which rows of the data a search runs first, to stop what cannot be the best.

Where a metric is the share of rows that are right, the rows that formats turn wrong
are those whose scores are close in f32. They are run first. A policy that has as many
wrong rows as the best one has of all cannot be better, whatever the others give.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from numera._calls import Function
from numera._errors import Error
from numera._formats import Format, ScaledFormat, format
from numera.study._data import DataSet
from numera.study._metrics import Metric

__all__ = ["SHARE", "Race", "Stopped", "fits"]

Array = np.ndarray[Any, Any]

SHARE = 0.1
"""Of the rows, those that are run first. Then twice as many, and so on."""


class Stopped(NamedTuple):
    """A policy that cannot be the best."""

    wrong: int
    """Rows, of those that were run."""
    share: float
    """Of the rows, those that were run."""


class Race(NamedTuple):
    """The rows in the order in which they are run, and where a policy may stop."""

    data: DataSet
    order: Array
    stops: list[int]
    """Numbers of rows, each a multiple of the batch but the last, which is all."""
    metric: Metric
    labels: Array

    @classmethod
    def of(
        cls, data: DataSet, metric: Metric, labels: Array, exact: tuple[Array, ...]
    ) -> Race:
        """By the outputs in f32."""
        assert data.rows is not None
        order = np.argsort(metric.margins(exact, labels), kind="stable")
        first = -(-data.rows // round(1 / SHARE))
        ordered = data.ordered(order, first)
        size = -(-first // ordered.batch) * ordered.batch
        stops = []
        while size < data.rows / 2:
            stops.append(size)
            size *= 2
        labels = labels.ravel()[order]
        return cls(ordered, order, [*stops, data.rows], metric, labels)

    def parts(self) -> Iterable[tuple[int, int]]:
        """From which row to which one."""
        return itertools.pairwise([0, *self.stops])

    def wrong(self, outputs: tuple[Array, ...], first: int, last: int) -> int:
        """How many rows of a part are."""
        right = self.metric.right(outputs, self.labels[first:last])
        return int(last - first - right.sum())

    def whole(self, parts: Iterable[tuple[Array, ...]]) -> tuple[Array, ...]:
        """The outputs of all parts, in the order of the data."""
        back = np.argsort(self.order)
        return tuple(np.concatenate(each)[back] for each in zip(*parts))


def fits(
    data: DataSet, metric: Metric, labels: Array | None, function: Function, specs: Any
) -> bool:
    """Whether each row is right or wrong by itself, wherever it stands, and a tenth
    of them can be run.

    specs       formats, or what has them.
    """
    return (
        metric.places is not None
        and labels is not None
        and data.rows is not None
        and labels.size == data.rows
        and function.independent_rows
        and (not data.fixed or data.batch <= data.rows * SHARE)
        and data.rows * SHARE >= 1
        and not _mixes_rows(specs)
    )


_FORMATS = ("default", "format", "weights", "activations", "outputs", "accumulate")
_ACCUMULATORS = ("same", "quire", "tensorcore", "exact")
_OWN = re.compile(r"none|block\(\d+\)")
"""Scales that a row has of its own."""


def _mixes_rows(specs: Any) -> bool:
    """Whether a format among them rounds by the row's number, or has scales that the
    rows of a slice share."""
    if isinstance(specs, Mapping):
        return any(itertools.starmap(_mixes, specs.items()))
    if isinstance(specs, (list, tuple)):
        return any(map(_mixes_rows, specs))
    if isinstance(specs, str):
        if specs in _ACCUMULATORS:
            return False
        try:
            specs = format(specs)
        except Error:  # of a file, which may say anything
            return True
    if isinstance(specs, ScaledFormat):
        if specs.block is None or "tensor-scale" in specs.spelling:
            return True
        specs = specs.element
    return isinstance(specs, Format) and specs.rounding == "stochastic"


def _mixes(key: str, value: Any) -> bool:
    """The same of a key of a policy."""
    if key == "scale":
        words = value.values() if isinstance(value, Mapping) else [value]
        return not all(_OWN.fullmatch(str(word)) for word in words)
    if key == "rounding":
        return value == "stochastic"
    return (key in _FORMATS or key == "rules") and _mixes_rows(value)
