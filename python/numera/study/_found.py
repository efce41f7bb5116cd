# SPDX-License-Identifier: MIT
"""What a search found: a policy, a table, a picture."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from numera._errors import Error
from numera._formats import Format
from numera._request import Path, Spec
from numera.study._metrics import Metric
from numera.study._output import plain, whole
from numera.study._result import front
from numera.study._table import aligned

if TYPE_CHECKING:
    import numpy as np

    from numera.study._space import Space

__all__ = ["Origin", "Search", "Trial"]


class Trial(NamedTuple):
    """A policy that was measured."""

    formats: tuple[tuple[Spec | None, ...], ...]
    """For each layer its format, and those of its weights, activations and
    accumulator where they have been searched."""
    cost: float
    value: float | None
    """Of the metric; None where there is an error."""
    sqnr: float | None
    """In dB, of the outputs, against the model in f32."""
    seconds: float
    error: str | None = None


class Origin(NamedTuple):
    """What a search was made of, to make it again."""

    model: str
    """The file, or what kind of object it was."""
    digest: str
    options: dict[str, Any]


class Search:
    """What :func:`numera.search` tried, in that order, and the best of it. Prints as
    the table of its layers.
    """

    def __init__(
        self, space: Space, noises: Sequence[np.ndarray[Any, Any]],
        trials: Sequence[Trial], best: Trial, metric: Metric, cost: str, runs: int,
        origin: Origin, plain_value: float | None = None, stopped: int = 0,
        shares: float = 0.0,
    ) -> None:  # fmt: skip
        self._space = space
        self._noises = noises
        self.trials = list(trials)
        self.best = best
        self.metric = metric.name
        """Its name."""
        self.better = metric.better
        """``higher`` or ``lower``."""
        self.cost = cost
        """``weight-bits``, ``element-bits`` or, by a table, ``cost``."""
        self.runs = runs
        """How often the model was compiled in formats and run on all rows; what else
        it needed was in the store. The first of them, one for each candidate, rank
        layers."""
        self.stopped = stopped
        """Policies, beside the trials, that were run on a part of the rows, with
        which they were known not to be the best."""
        self.stopped_runs = shares
        """How many runs of all rows these parts are."""
        self.origin = origin
        """The model, and what was asked."""
        self.plain_value = plain_value
        """The metric of the model in f32; None where it is compared with that."""

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def __getitem__(self, place: int) -> Trial:
        return self.trials[place]

    @property
    def policy(self) -> dict[str, Any]:
        """The best one's policy, which :func:`numera.compile` takes."""
        return self.policy_of(self.best)

    def policy_of(self, trial: Trial) -> dict[str, Any]:
        """The policy of a trial."""
        found = json.dumps(self._space.policy(trial.formats), default=_name)
        return dict(json.loads(found))

    def layers(self, trial: Trial | None = None) -> list[dict[str, Any]]:
        """A row for each layer of the best trial, or of another one.

        ``own_sqnr_db`` is what the layer adds by itself in its formats.
        """
        rows = []
        chosen = (trial or self.best).formats
        for n, (layer, candidate) in enumerate(zip(self._space.layers, chosen)):
            place = self._space.candidates[n].index(candidate)
            noise = float(self._noises[n][place])
            row: dict[str, Any] = {"name": layer.name}
            for role, each in zip(self._roles, self._part(candidate)):
                row[role] = None if each is None else _name(each)
            row["constants"] = layer.weights
            row["elements"] = layer.elements
            row["own_sqnr_db"] = -10 * math.log10(noise) if noise > 0 else None
            rows.append(row)
        return rows

    @property
    def _roles(self) -> list[str]:
        """Those that are searched."""
        return [
            role for role, given in zip(_ROLES, self._space.given) if given != [None]
        ]

    def _part(self, candidate: Sequence[Spec | None]) -> list[Spec | None]:
        return [
            each for each, given in zip(candidate, self._space.given) if given != [None]
        ]

    def pareto(self) -> list[Trial]:
        """The best trial for each cost, if none with less cost is as good."""
        points = [(trial.cost, trial.value) for trial in self.trials]
        return [self.trials[place] for place in front(points, self.better)]

    def records(self) -> list[dict[str, Any]]:
        """A mapping a trial; the value stands under the metric's name, and the
        formats under ``layers``."""
        best = {id(trial) for trial in self.pareto()}
        key = self.metric if self.metric not in _KEYS else "value"
        return [
            {
                self.cost: trial.cost,
                key: trial.value,
                "sqnr_db": trial.sqnr,
                "seconds": trial.seconds,
                "error": trial.error,
                "pareto": id(trial) in best,
                "best": trial is self.best,
                "layers": {
                    layer.name: "/".join(
                        str(_name(each)) for each in self._part(candidate) if each
                    )
                    for layer, candidate in zip(self._space.layers, trial.formats)
                },
            }
            for trial in self.trials
        ]

    def to_pandas(self) -> Any:
        """The trials as a ``pandas.DataFrame``."""
        try:
            import pandas
        except ImportError:
            raise Error("a data frame needs pandas: pip install pandas") from None
        return pandas.DataFrame(self.records())

    def json(self) -> str:
        """All of it; infinities are null."""
        found = {
            "metric": self.metric,
            "better": self.better,
            "cost": self.cost,
            "runs": self.runs,
            "stopped": self.stopped,
            "stopped_runs": self.stopped_runs,
            "f32": self.plain_value,
            "policy": self.policy,
            "layers": self.layers(),
            "trials": self.records(),
        }
        return json.dumps(plain(found), indent=2)

    def html(self) -> str:
        """One page, which explains the search and needs no network."""
        from numera.reports._search_page import page

        return page(self)

    def page(self, path: Path) -> None:
        """Writes this page."""
        text = self.html()
        with whole(path) as made, open(made, "w", encoding="utf-8") as file:
            file.write(text)

    def noises(self) -> list[dict[str, float]]:
        """For each layer, the noise that each candidate adds by itself, over the
        power of what the layer gives."""
        return [
            {
                "/".join(str(_name(e)) for e in self._part(one) if e): float(noise)
                for one, noise in zip(candidates, own)
            }
            for candidates, own in zip(self._space.candidates, self._noises)
        ]

    def save(self, path: Path, trial: Trial | None = None) -> None:
        """Writes the best policy, or that of another trial, as a configuration that
        ``numera run --formats`` takes."""
        with whole(path) as made, open(made, "w", encoding="utf-8") as file:
            file.write(self.yaml(trial))

    def yaml(self, trial: Trial | None = None) -> str:
        """The text of such a file."""
        trial = trial or self.best
        policy = self.policy_of(trial)
        lines = [f"# {line}" for line in self._summary(trial)] + ["policy:"]
        for key, value in policy.items():
            if key != "rules":
                lines.append(f"  {key.replace('_', '-')}: {json.dumps(value)}")
        lines.append("  rules:")
        lines += [
            f"    - {json.dumps(rule, ensure_ascii=False)}" for rule in policy["rules"]
        ]
        return "\n".join(lines) + "\n"

    def _summary(self, trial: Trial) -> list[str]:
        value = "-" if trial.value is None else f"{trial.value:.5g}"
        sqnr = "-" if trial.sqnr is None else f"{trial.sqnr:.4g} dB"
        return [f"{self.metric} {value}, SQNR {sqnr}, {self.cost} {trial.cost:.5g}"]

    def plot(self, path: Path | None = None, ax: Any = None) -> Any:
        """Draws the metric over the cost, with the Pareto front as a line and the
        best trial as a star. Writes the picture if there is a path; returns the axes.
        """
        figure = None
        if ax is None:
            try:
                from matplotlib.figure import Figure
            except ImportError:
                raise Error("a plot needs matplotlib: pip install matplotlib") from None
            figure = Figure(figsize=(8, 5), layout="constrained")
            ax = figure.subplots()
        drawn = [t for t in self.trials if t.value is not None]
        drawn = [t for t in drawn if math.isfinite(t.value or 0.0)]
        costs, values = [t.cost for t in drawn], [t.value for t in drawn]
        ax.scatter(costs, values, s=18, alpha=0.7, label="tried")
        line = [t for t in self.pareto() if math.isfinite(t.value or 0.0)]
        ax.step(
            [t.cost for t in line],
            [t.value for t in line],
            where="post",
            color="0.5",
            label="Pareto front",
            zorder=0,
        )
        ax.scatter([self.best.cost], [self.best.value], marker="*", s=120, label="best")
        ax.set_xlabel(self.cost.replace("-", " "))
        ax.set_ylabel(self.metric)
        ax.legend()
        if path is not None:
            with whole(path) as made:
                (figure or ax.figure).savefig(made, dpi=150)
        return ax

    def __str__(self) -> str:
        head = ["layer", *self._roles, "constants", "own dB"]
        lines = [head]
        for row in self.layers():
            own = row["own_sqnr_db"]
            lines.append(
                [
                    row["name"],
                    *(row[role] or "" for role in self._roles),
                    str(row["constants"]),
                    "∞" if own is None else f"{own:.1f}",
                ]
            )
        table = aligned(lines, left=range(len(head) - 2))
        return "\n".join([table, "", *self._summary(self.best)])

    def __repr__(self) -> str:
        return f"<numera.Search of {len(self.trials)} policies: {self.metric}>"


_ROLES = ("format", "weights", "activations", "accumulate")
_KEYS = ("seconds", "error", "pareto", "best", "layers", "sqnr_db")


def _name(spec: Spec) -> str:
    return spec.name if isinstance(spec, Format) else spec
