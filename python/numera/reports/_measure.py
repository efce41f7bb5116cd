# SPDX-License-Identifier: MIT
"""What a program's outputs are like, against those of the same model in f32."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from numera._calls import Function
from numera._errors import Error
from numera._programs import Program
from numera.study._data import DataSet
from numera.study._metrics import Metric

__all__ = [
    "Measured",
    "Row",
    "layers",
    "measure",
    "only",
    "worst",
]

Array = np.ndarray[Any, Any]


class Measured(NamedTuple):
    """Outputs against the reference, all of them together."""

    sqnr_db: float
    """10 log10(Σ r² / Σ (v − r)²); infinite without an error. A value that is not
    finite where the reference is counts as 0, and is an error where that is 0."""
    nan: float
    """The share of such values."""
    metric: float | None
    """Of the outputs, where there are labels."""
    same: tuple[int, int] | None = None
    """Of outputs that are scores: how many rows have their largest one where the
    reference has it, and how many rows there are, but for those of NaN alone."""


class Row(NamedTuple):
    """A row of the data set, and how far its outputs are from the reference's."""

    place: int
    sqnr_db: float
    label: int | None
    reference: int | None
    """The place of the largest output, of outputs that are scores."""
    found: int | None


def measure(
    outputs: tuple[Array, ...],
    reference: tuple[Array, ...],
    metric: Metric | None,
    labels: Array | None,
) -> Measured:
    signal = noise = 0.0
    nan = count = 0
    for found, expected in zip(outputs, reference):
        one, other, wrong = _powers(found, expected)
        signal += float(one.sum())
        noise += float(other.sum())
        nan += wrong
        count += found.size
    value = metric(outputs, labels) if metric else None
    sqnr = _decibels(signal, noise) if noise or not nan else -math.inf
    return Measured(sqnr, nan / max(1, count), value, _same(outputs[0], reference[0]))


def _same(found: Array, expected: Array) -> tuple[int, int] | None:
    if not _are_scores(expected) or found.shape != expected.shape:
        return None
    rows = [(v, r) for v, r in zip(found, expected) if _largest(r) is not None]
    if not rows:
        return None
    return sum(_largest(v) == _largest(r) for v, r in rows), len(rows)


def _are_scores(expected: Array) -> bool:
    return expected.ndim == 2 and len(expected) > 0 and expected.shape[1] > 1


def _powers(found: Array, expected: Array) -> tuple[Array, Array, int]:
    """Squares of the reference and of the errors; how many values are not finite."""
    v, r = found.astype(np.float64), expected.astype(np.float64)
    counts = np.isfinite(r)
    wrong = counts & ~np.isfinite(v)
    r = np.where(counts, r, 0)
    v = np.where(counts & ~wrong, v, 0)
    return r * r, (v - r) ** 2, int(wrong.sum())


def _decibels(signal: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    return 10 * math.log10(signal / noise) if signal else -math.inf


def worst(
    outputs: tuple[Array, ...],
    reference: tuple[Array, ...],
    labels: Array | None,
    most: int,
) -> list[Row]:
    """The rows with the largest errors, first those with another largest score."""
    found, expected = outputs[0], reference[0]
    if found.ndim < 1 or len(found) < 2 or found.shape != expected.shape:
        return []
    count = len(found)
    powers = _powers(found, expected)
    signal, noise = (each.reshape(count, -1).sum(axis=1) for each in powers[:2])
    scores = _are_scores(expected)
    rows = []
    for i in range(count):
        places: tuple[int | None, int | None] = (None, None)
        if scores:
            places = (_largest(expected[i]), _largest(found[i]))
        own = labels.ravel() if labels is not None and labels.size == count else None
        label = int(own[i]) if own is not None else None
        rows.append(Row(i, _decibels(signal[i], noise[i]), label, *places))
    rows.sort(key=lambda row: (row.reference == row.found, row.sqnr_db))
    return [row for row in rows[:most] if row.sqnr_db != math.inf]


def _largest(scores: Array) -> int | None:
    return None if np.isnan(scores).all() else int(np.nanargmax(scores))


def layers(program: Program, name: str, data: DataSet) -> list[dict[str, Any]]:
    """As ``program.layers``, of all rows of a data set."""
    if data.rows is None:
        return program._layers_of(name, [(data.arrays, {})])
    return program._layers_of(
        name, ((arrays, {"sample": start}) for start, _, arrays in data._slices())
    )


def only(program: Program, function: str | None) -> Function:
    if function is None:
        return program._only
    if function not in program.functions:
        raise Error(f"no function '{function}'")
    return program.functions[function]
