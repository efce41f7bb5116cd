# SPDX-License-Identifier: MIT
"""What a sweep found: rows, a table, a picture."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Sequence
from operator import attrgetter as _get
from typing import Any, NamedTuple

from numera._errors import Error
from numera._request import Path
from numera.study._output import whole
from numera.study._table import aligned

__all__ = ["Row", "Sweep", "front"]


class Row(NamedTuple):
    """A format, and how well the model does in it."""

    format: str
    """As it was named; ``spelling`` is canonical."""
    spelling: str
    bits: float
    """Of an element, with its part of the scale."""
    accumulate: str
    """What sums were kept in; as asked where a format refused the model."""
    rounding: str
    value: float | None
    """Of the metric; None where there is an error."""
    seconds: float
    """Wall-clock time to compile the model, run all of the data once, and compute the
    metric, with other rows beside it (docs/Sweeps.md)."""
    error: str | None = None
    """Why there is no value."""
    scale: str | None = None
    """As asked; None: as the format and the policy say."""
    roles: str | None = None
    """What of contractions is in the format; None: the whole model."""


class Sweep:
    """The rows of a sweep, in the order of its formats. Made by
    :func:`numera.sweep`; prints as a table.
    """

    def __init__(self, rows: list[Row], metric: str, better: str, computed: int):
        self.rows = rows
        self.metric = metric
        """Its name."""
        self.better = better
        """``higher`` or ``lower``."""
        self.computed = computed
        """How many rows were computed; the others were in the store."""

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __getitem__(self, place: int) -> Row:
        return self.rows[place]

    def pareto(self) -> list[Row]:
        """The best row for each number of bits, if none with fewer bits is as good.

        Of equal rows the first one counts.

        >>> from numera.study import Row, Sweep
        >>> found = [(8, 0.75), (8, 0.8), (16, 0.9), (12, 0.95), (32, 0.95)]
        >>> rows = [Row("", "", bits, "", "", top1, 0) for bits, top1 in found]
        >>> [row[2:6:3] for row in Sweep(rows, "top1", "higher", 5).pareto()]
        [(8, 0.8), (12, 0.95)]
        """
        points = [(row.bits, row.value) for row in self.rows]
        return [self.rows[place] for place in front(points, self.better)]

    def records(self) -> list[dict[str, Any]]:
        """A mapping a row; the value stands under the metric's name."""
        names = {"value": self.metric} if self.metric not in Row._fields else {}
        return [
            {names.get(key, key): value for key, value in row._asdict().items()}
            for row in self.rows
        ]

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``."""
        try:
            import pandas
        except ImportError:
            raise Error("a data frame needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.records())

    def csv(self, path: Path) -> None:
        """Writes the rows to a file, with a line of names above them."""
        with (
            whole(path) as made,
            open(made, "w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(self.records()[0])
            writer.writerows(self.rows)

    def plot(self, path: Path | None = None, ax: Any = None) -> Any:
        """Draws the metric over bits, a color a family, and the Pareto front as
        a line. Writes the picture if there is a path; returns the axes.
        """
        figure = None
        if ax is None:
            try:
                from matplotlib.figure import Figure
            except ImportError:
                raise Error("a plot needs matplotlib: pip install matplotlib") from None
            figure = Figure(figsize=(8, 5), layout="constrained")
            ax = figure.subplots()
        families: dict[str, list[Row]] = {}
        for row in self.rows:
            if row.value is not None and math.isfinite(row.value):
                families.setdefault(row.spelling.partition("<")[0], []).append(row)
        for family, rows in families.items():
            ax.scatter(
                [row.bits for row in rows],
                [row.value for row in rows],
                label=family,
                s=18,
                alpha=0.7,
            )
        line = [row for row in self.pareto() if math.isfinite(row.value or 0.0)]
        ax.step(
            [row.bits for row in line],
            [row.value for row in line],
            where="post",
            color="0.5",
            label="Pareto front",
            zorder=0,
        )
        outside = 1 if self.better == "higher" else -1
        labels = [
            ax.annotate(
                row.format,
                (row.bits, row.value),
                xytext=(3, 5 if outside > 0 else -9),
                textcoords="offset points",
                fontsize=7,
            )
            for row in line
        ]
        ax.set_xlabel("bits")
        ax.set_ylabel(self.metric)
        ax.legend()
        for _ in range(3):  # the axes make room for labels that were moved
            ax.figure.draw_without_rendering()
            _apart(labels, 3 * outside)
        if path is not None:
            with whole(path) as made:
                (figure or ax.figure).savefig(made, dpi=150)
        return ax

    def __str__(self) -> str:
        """The rows; those of the Pareto front have a star."""
        best = {id(row) for row in self.pareto()}
        more = [key for key in ("scale", "roles") if any(map(_get(key), self.rows))]
        head = ["format", "bits", "accumulate", "rounding", *more, self.metric]
        lines = [[*head, "seconds", ""]]
        for row in self.rows:
            value = "-" if row.value is None else f"{row.value:.5g}"
            last = row.error or ("*" if id(row) in best else "")
            words = [str(_get(key)(row) or "") for key in more]
            line = [row.format, f"{row.bits:g}", *row[3:5], *words, value]
            lines.append([*line, f"{row.seconds:.2f}", last])
        numbers = (1, len(head) - 1, len(head))
        left = [n for n in range(len(head) + 2) if n not in numbers]
        return aligned(lines, left)

    def __repr__(self) -> str:
        return f"<numera.Sweep of {len(self.rows)} rows: {self.metric}>"


def front(points: Sequence[tuple[float, float | None]], better: str) -> list[int]:
    """The places of the costs and values that nothing of less cost equals."""
    sign = -1 if better == "higher" else 1
    valid = [
        (cost, sign * value, place)
        for place, (cost, value) in enumerate(points)
        if value is not None and not math.isnan(value)
    ]
    found: list[int] = []
    best = math.inf
    for _, value, place in sorted(valid):
        if value < best or not found:
            found.append(place)
            best = value
    return found


def _apart(labels: Sequence[Any], step: int) -> None:
    """Moves labels by steps, in points, to where they lie on no other one."""
    placed: list[Any] = []
    for label in labels:
        for _ in range(8 * len(labels)):
            box = label.get_window_extent().padded(1)
            if not any(box.overlaps(other) for other in placed):
                break
            x, y = label.xyann
            label.xyann = x, y + step
        placed.append(box)
