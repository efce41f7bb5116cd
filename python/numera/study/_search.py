# SPDX-License-Identifier: MIT
"""Searches: a format for each layer of a model."""

from __future__ import annotations

import contextlib
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from numera._errors import Error, check_counts
from numera._formats import Format
from numera._request import Path, Spec
from numera.study import _cluster, _keys, _layers, _race
from numera.study._bench import Bench
from numera.study._costs import Table
from numera.study._data import DataSet, load_labels
from numera.study._found import Origin, Search, Trial
from numera.study._guess import Guess
from numera.study._hunt import Goal, Hunt
from numera.study._metrics import metric as _metric
from numera.study._output import check_page, described, described_one, name_of
from numera.study._progress import Progress, watch
from numera.study._ranges import expand
from numera.study._result import Row
from numera.study._run import _plain, _Study
from numera.study._space import COSTS, Space
from numera.study._store import Store
from numera.study._tables import TABLES
from numera.study._tasks import accumulator, several

__all__ = ["search"]


_ROLES = ("weights", "activations", "accumulate")
"""What may have candidates of its own."""
_BASE = ("default", "replace", "rules")
"""A rule with a format, as each of a search's, leaves nothing else of a policy."""


def search(
    model: Any,
    *,
    formats: Spec | Iterable[Spec],
    inputs: Any,
    labels: Any = None,
    metric: str | Callable[..., Any] = "top1",
    better: str | None = None,
    budget: float | None = None,
    cost: str | Mapping[str, Mapping[str, float]] | Path = "weight-bits",
    floor: float | None = None,
    sqnr: float | None = None,
    weights: Spec | Iterable[Spec] | None = None,
    activations: Spec | Iterable[Spec] | None = None,
    accumulate: Spec | Sequence[Spec | None] | None = None,
    policy: Mapping[str, Any] | None = None,
    every: bool = False,
    trials: int | None = None,
    seed: int = 0,
    limit: int | None = None,
    batch: int | None = None,
    workers: int = 1,
    cluster: str | bool = False,
    store: Path | None = None,
    path: Path | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Search:
    """Looks for the formats of a model's layers (docs/Search.md): those of the best
    metric within a budget or, without one, those that cost least and keep a floor.

    model, inputs, labels, metric, better, limit, batch, store, progress, cluster
                as for :func:`numera.sweep`.
    formats     candidates for each layer.
    budget      what the policy may cost at most.
    cost        ``weight-bits``, the mean of a weight; ``element-bits``, that of
                weights and of what layers give for a row of the data; or a table as
                :func:`numera.cost` takes it, whose costs are those of a row.
    floor       what the metric has to reach.
    sqnr        dB that the outputs have to reach, against the model in f32.
    weights, activations, accumulate
                candidates for these alone, of contractions; None: as the format.
    policy      rules that go first, and what they match is not searched.
    every       every layer apart; else contractions, each with what follows it.
    trials      how often all rows are run, at most; None: by the number of layers.
                Within a budget, a policy is stopped as soon as its top1 or top5 can
                be the best no more.
    seed        the same one tries the same policies.
    workers     policies at a time. Another number tries others.
    path        the page to write; None: none. It needs the packages of
                ``numera-mlir[report]``.

    Needs Optuna.
    """
    optuna = _optuna()
    if path is not None:
        check_page(path)
    if budget is None and floor is None and sqnr is None:
        raise Error("a search needs a budget, a floor or an SQNR")
    for name, bound in (("budget", budget), ("floor", floor), ("sqnr", sqnr)):
        if bound is not None and not math.isfinite(bound):
            raise Error(f"{name} is {bound}, expected a finite number")
    check_counts(limit=limit, batch=batch, workers=workers, trials=trials)
    for name in ("rounding", "overflow", "format"):
        if options.get(name) is not None:
            raise Error(f"{name} is part of each format, such as float<5,2,saturate>")
    kind: str | Table
    if isinstance(cost, str) and cost in COSTS:
        kind = cost
    elif isinstance(cost, str) and cost not in TABLES and not os.path.exists(cost):
        names = ", ".join((*COSTS, *TABLES))
        raise Error(f"cost is '{cost}', expected {names} or a table's file")
    else:
        kind = Table(cost)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    measure = _metric(metric, better)
    measure.check_floor(floor)
    given: list[list[Spec | None]] = [[*expand(*several(formats))]]
    for role in (weights, activations):
        given.append([None] if role is None else [*expand(*several(role))])
    given.append(list(dict.fromkeys(accumulator(s) for s in several(accumulate))))
    base = dict(policy or {})
    if unused := [key for key in base if key not in _BASE]:
        raise Error(
            f"policy has '{unused[0]}', which no layer that is searched would have; "
            f"expected {', '.join(_BASE)}"
        )

    with_base = {**options, **({"policy": base} if base else {})}
    function = _plain(model, with_base)
    data = DataSet(function, inputs, limit, batch)
    target = data.labels_of_rows(load_labels(labels))
    measure.check(target, data.labelled(function))
    measure.warn(function, target, [each for each in given[0] if each is not None])
    count, arrays = data.first(1)
    layers = _layers.find(
        model, options, arrays, count, base.get("rules", []), not every
    )
    goal = Goal(measure, budget, floor, sqnr)
    processors = len(os.sched_getaffinity(0))
    study = _Study(model, options, data, target, measure, max(1, processors // workers))
    with contextlib.ExitStack() as stack:
        kept = None
        if store is not None:
            kept = stack.enter_context(contextlib.closing(Store(store)))
        connection = None
        if cluster:
            connection = stack.enter_context(_cluster.connected(study, cluster))
        bench = Bench(study, function, base, workers, kept, connection)
        first = Space(layers, given, base)
        probes = len(first.probes())
        if trials is None:
            free = sum(len(each) > 1 for each in first.candidates)
            trials = min(8 + 4 * free, 100)
        seen = stack.enter_context(watch(progress, 0, probes + trials))
        done = 0.0

        def step(name: str, value: float | None, share: float = 1.0) -> None:
            nonlocal done
            done = min(done + share, probes + trials)
            row = Row(name, "", 0, "", "", value, 0)
            seen(int(done + 1e-9), probes + trials, row)

        space, noises = bench.probe(layers, given, data.first()[1], step)
        if isinstance(kind, Table):
            costs = bench.costs(space, kind, count, arrays)
        else:
            costs = space.costs(kind)
        guess = Guess(costs, noises)
        least = guess.cost(guess.cheapest)
        if budget is not None and budget * (1 + 1e-9) < least:
            raise Error(f"the budget is {budget:g}, the least cost is {least:g}")
        hunt = Hunt(optuna, space, guess, goal, seed)
        races = _race.fits(data, measure, target, function, [given, base])
        rows = data.rows or 1
        tried: list[Trial] = []
        stopped, shares = 0, 0.0  # of those that were run in part
        while (left := math.floor(trials - len(tried) - shares + 1e-9)) > 0 and (
            choices := hunt.choose(min(workers, left))
        ):
            chosen = [space.of(choice) for choice in choices]
            enough = hunt.enough(rows) if races else None
            for choice, trial in zip(choices, bench.measure(space, chosen, enough)):
                if isinstance(trial, _race.Stopped):
                    stopped += 1
                    shares += trial.share
                    hunt.stop(choice, trial, rows)
                    most = 1 - trial.wrong / rows
                    step(f"cost {guess.cost(choice):.4g} <", most, trial.share)
                    continue
                trial = trial._replace(cost=guess.cost(choice))
                tried.append(trial)
                hunt.tell(choice, trial)
                step(f"cost {trial.cost:.4g}", trial.value)
    best = goal.best(tried)
    if best is None:
        raise Error(goal.missed(tried))
    asked = {"budget": budget, "floor": floor, "sqnr": sqnr, "seed": seed,
             "workers": workers, "trials": trials, "rows": data.rows,
             "batch": data.batch, "formats": _names(given[0]),
             "inputs": described(inputs),
             "labels": None if labels is None else described_one(labels),
             **{key: _names(entries) for key, entries in zip(_ROLES, given[1:])
                if entries != [None]},
             "policy": base or None, **options}  # fmt: skip
    found = Search(
        space, noises, tried, best, measure, kind if kind in COSTS else "cost",
        bench.runs, Origin(name_of(model), _keys.model(model), asked), bench.plain(),
        stopped, shares,
    )  # fmt: skip
    if path is not None:
        found.page(path)
    return found


def _names(entries: Sequence[Spec | None]) -> list[str]:
    return [each.name if isinstance(each, Format) else str(each) for each in entries]


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise Error("a search needs Optuna: pip install optuna") from None
    return optuna
