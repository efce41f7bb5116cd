# SPDX-License-Identifier: MIT
"""Mean average precision of detections, as COCO defines it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from numera._arrays import quantize
from numera._calls import Tensor
from numera._errors import Error
from numera._formats import Format, ScaledFormat, format
from numera._request import Spec

__all__ = ["map50", "mean_average_precision", "rounded_classes"]

Array = np.ndarray[Any, Any]

_OVERLAPS = np.linspace(0.5, 0.95, 10)
_RECALLS = np.linspace(0, 1, 101)
_MOST = 100
"""Detections of a class in an image that count, those with the highest scores."""
_LISTED = 3
"""How many formats a warning names."""


def mean_average_precision(outputs: Sequence[Array], labels: Array) -> float:
    """The mean, over classes and overlaps of 0.5, 0.55, …, 0.95, of the precision at
    101 recalls, 0, 0.01, …, 1.

    outputs     (images, detections, 6) or, in three arrays, its parts: boxes, as
                x1, y1, x2, y2; scores; classes.
    labels      (images, boxes, 5): boxes and classes. Those of a class below 0 fill
                up images that have fewer, in outputs too.
    """
    return _mean(outputs, labels, _OVERLAPS)


def map50(outputs: Sequence[Array], labels: Array) -> float:
    """The same for an overlap of 0.5 alone."""
    return _mean(outputs, labels, _OVERLAPS[:1])


def rounded_classes(
    outputs: Sequence[Tensor], labels: Array, formats: Iterable[Spec]
) -> str | None:
    """Which of the formats become what classes are rounded to, and have no number for
    some of those up to the labels' last; None if there are none."""
    if len(outputs) not in (1, 3) or outputs[-1].dtype.kind in "iu":
        return None
    if labels.ndim != 3 or labels.shape[2] != 5 or not np.any(labels[..., 4] >= 0):
        return None  # an error, later
    known = np.unique(labels[..., 4].astype(np.float64))
    every = np.union1d(known[known >= 0], np.arange(min(known.max(), 1000) + 1))
    found = []
    for each in dict.fromkeys(formats):
        try:
            one = each if isinstance(each, Format) else format(each)
            # What scaled formats do not read is in f32.
            lost = not isinstance(one, ScaledFormat) and every != quantize(every, one)
        except Error:
            continue  # an error of the row, or of a file that is not known here
        if np.any(lost):
            found.append(f"{one.name} has no class {every[lost][0]:g}")
    if not found:
        return None
    if len(found) > _LISTED:
        found[_LISTED:] = [f"{len(found) - _LISTED} more lack some"]
    return (
        f"classes are rounded like other numbers, and {', '.join(found)}; return boxes, "
        f"scores and classes as three outputs, classes as integers"
    )


def _mean(outputs: Sequence[Array], labels: Array, overlaps: Array) -> float:
    boxes, scores, classes = _parts(outputs)
    images = len(boxes)
    if labels.ndim != 3 or len(labels) != images or labels.shape[2] != 5:
        shape = ", ".join(map(str, labels.shape))
        raise Error(f"labels have shape [{shape}], expected [{images}, ?, 5]")
    wanted = labels.astype(np.float64)
    known = [int(each) for each in np.unique(wanted[..., 4]) if each >= 0]
    if not known:
        raise Error("the labels have no box of a class from 0 on")
    found = []
    for one in known:
        parts = []
        for image in range(images):
            own = (classes[image] == one) & ~np.isnan(scores[image])
            order = np.argsort(-scores[image][own], kind="stable")[:_MOST]
            score, box = scores[image][own][order], boxes[image][own][order]
            right = wanted[image][wanted[image, :, 4] == one][:, :4]
            matches = _matches(_overlap(box, right), overlaps)
            # As COCO's own code has it, one of a negative area is not wrong.
            counts = matches | ~(_sizes(box) < 0)[:, None]
            parts.append((score, matches, counts))
        total = int((wanted[..., 4] == one).sum())
        score, is_right, counts = map(np.concatenate, zip(*parts))
        order = np.argsort(-score, kind="stable")
        columns = zip(is_right[order].T, counts[order].T)
        found.append([_precision(each[kept], total) for each, kept in columns])
    return float(np.mean(found))


def _parts(outputs: Sequence[Array]) -> tuple[Array, Array, Array]:
    """Boxes, scores and classes, in f64."""
    given = [np.asarray(each, np.float64) for each in outputs]
    if len(given) == 1 and given[0].ndim == 3 and given[0].shape[2] == 6:
        return given[0][..., :4], given[0][..., 4], given[0][..., 5]
    shapes = [each.shape for each in given]
    if len(given) == 3 and len(shapes[0]) == 3 and shapes[0][2] == 4:
        scores, classes = (each.reshape(len(each), -1) for each in given[1:])
        if scores.shape == classes.shape == shapes[0][:2]:
            return given[0], scores, classes
    listed = ", ".join(str(list(shape)) for shape in shapes)
    raise Error(
        f"outputs of {listed}, expected detections: [?, ?, 6], or boxes, scores and "
        f"classes, [?, n, 4], [?, n], [?, n]"
    )


def _sizes(boxes: Array) -> Array:
    """Areas, negative where one side is."""
    with np.errstate(all="ignore"):
        return np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)


def _overlap(boxes: Array, others: Array) -> Array:
    """Intersection over union of each pair."""
    with np.errstate(all="ignore"):
        low = np.maximum(boxes[:, None, :2], others[None, :, :2])
        high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
        common = np.prod(np.maximum(high - low, 0), axis=2)
        whole = _sizes(boxes)[:, None] + _sizes(others)[None] - common
        return np.nan_to_num(common / whole, nan=0.0, posinf=0.0, neginf=0.0)


def _matches(overlap: Array, least: Array) -> Array:
    """Whether each detection, those of the highest score first, is that of a box
    which none before it took: the box with the largest overlap. A column for each
    of the least overlaps."""
    detections, boxes = overlap.shape
    right = np.zeros((detections, len(least)), bool)
    for column, bound in enumerate(least):
        is_free = np.ones(boxes, bool)
        for row in range(detections):
            free = np.where(is_free, overlap[row], -1.0)
            if not boxes or free.max() < bound:
                continue
            # Of equal ones the last, as in COCO's own code.
            is_free[boxes - 1 - int(np.argmax(free[::-1]))] = False
            right[row, column] = True
    return right


def _precision(is_right: Array, total: int) -> float:
    """The mean at the recalls; of each, the best of what recalls at least as much."""
    right = np.cumsum(is_right)
    precision = right / np.arange(1, len(right) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    places = np.searchsorted(right / total, _RECALLS, side="left")
    return float(np.append(precision, 0.0)[places].mean())
