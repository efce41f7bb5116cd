# SPDX-License-Identifier: MIT
"""Where a search measures policies, and keeps what it measured."""

from __future__ import annotations

import itertools
import json
import math
import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from numera._calls import Function
from numera._errors import Error
from numera._formats import Format
from numera._programs import Program, compile
from numera._request import Spec
from numera.study import _costs, _keys
from numera.study._cluster import Cluster
from numera.study._costs import Table
from numera.study._found import Trial
from numera.study._layers import Layer
from numera.study._race import Race, Stopped
from numera.study._result import Row
from numera.study._run import _Study
from numera.study._space import Candidate, Space
from numera.study._store import Store
from numera.study._tasks import PolicyTask
from numera.study._worker import Shard

__all__ = ["Bench", "Given"]

Array = np.ndarray[Any, Any]
Given = list[list[Spec | None]]
"""Candidates for each role."""

_LOST = 100.0
"""The noise of an element that became infinite or NaN, over the signal's power."""


class Bench:
    """Compiles and runs the model under policies. What a store has is not run."""

    def __init__(
        self, study: _Study, function: Function, base: Mapping[str, Any],
        workers: int, kept: Store | None, cluster: Cluster | None,
    ) -> None:  # fmt: skip
        self._study = study
        self._function = function
        self._base = base
        self._workers = workers
        self._kept = kept
        self._cluster = cluster
        self._reference: tuple[Array, ...] | None = None
        self._race: Race | None = None
        self._programs: dict[int, Program] = {}
        self._is_labelled = study.labels is not None
        self._common = ""
        if kept is not None:
            options = {**study.options, **({"policy": base} if base else {})}
            self._common = study._replace(options=options).common()
        self.runs = 0
        """Policies that were compiled and run on all rows; the others were in the
        store."""

    def probe(
        self,
        layers: Sequence[Layer],
        given: Given,
        inputs: Sequence[Array],
        done: Callable[[str, float | None], None],
    ) -> tuple[Space, list[Array]]:
        """The choices, and the noise of each candidate: one run shows that of an
        entry of a role in all layers. Entries that refuse the model are left out.
        """
        refused: dict[tuple[int, Spec | None], Error] = {}
        seen: dict[Candidate, list[float]] = {}
        while True:
            space = Space(layers, _left(given, refused), self._base)
            probes = [p for p in space.probes() if p[1] not in seen]
            if not probes:
                return space, space.noises(seen)
            for (role, candidate), noise in zip(
                probes, self._noises(space, [p[1] for p in probes], inputs)
            ):
                entry = candidate[role]
                name = entry.name if isinstance(entry, Format) else str(entry)
                if isinstance(noise, Error):
                    done(name, None)
                    refused[role, entry] = noise
                    warnings.warn(f"'{name}' is left out: {noise}", stacklevel=4)
                else:
                    done(name, -10 * math.log10(max(noise) or 1e-30))
                    seen[candidate] = noise

    def _noises(
        self, space: Space, probes: Sequence[Candidate], inputs: Sequence[Array]
    ) -> Iterator[list[float] | Error]:
        """What each layer adds by itself, over the power of what it gives. A store
        belongs to this thread."""
        groups = f"noise {[layer.rows for layer in space.layers]}"
        keys = [self._key(groups, space.policy(space.alike(p))) for p in probes]
        known = [self._found_noises(key, len(space.layers)) for key in keys]
        missing = [n for n, each in enumerate(known) if each is None]
        policies = [space.policy(space.alike(probes[n])) for n in missing]
        computed = self._layers([PolicyTask(each) for each in policies], inputs)
        for n, noises in enumerate(known):
            found: list[float] | Error
            if noises is not None:
                found = noises
            elif not isinstance(rows := next(computed), Error):
                found = [max(_added(rows[i]) for i in e.rows) for e in space.layers]
                self.runs += 1
                self._put_noises(keys[n], space, probes[n], found)
            else:
                found = rows
            yield found

    def _layers(
        self, tasks: Sequence[PolicyTask], inputs: Sequence[Array]
    ) -> Iterator[list[dict[str, Any]] | Error]:
        """Rows of layers for each task, or why it is refused."""
        if self._cluster is not None:
            yield from self._cluster.layers(tasks, inputs)
            return
        study = self._study

        def compute(task: PolicyTask) -> list[dict[str, Any]] | Error:
            try:
                return study.compile(task).layers(*inputs, threads=study.threads)
            except Error as error:
                return error

        with ThreadPoolExecutor(_processors(), "numera-search") as pool:
            yield from pool.map(compute, tasks)

    def _found_noises(self, key: str, count: int) -> list[float] | None:
        if self._kept is None:
            return None
        rows = [self._kept.find(f"{key} {n}") for n in range(count)]
        found = [row.value for row in rows if row and row.value is not None]
        return found if len(found) == count else None

    def _put_noises(
        self, key: str, space: Space, probe: Candidate, noises: Sequence[float]
    ) -> None:
        if self._kept is None:
            return
        chosen = space.alike(probe)
        for n, (layer, noise) in enumerate(zip(space.layers, noises)):
            text = _text(space.rules(layer, chosen[n]))
            row = Row(layer.name, text, 0, "", "", noise, 0)
            self._kept.put(f"{key} {n}", row, "noise")

    def measure(
        self,
        space: Space,
        chosen: Sequence[Sequence[Candidate]],
        enough: int | None = None,
    ) -> list[Trial | Stopped]:
        """What policies give, several at a time.

        enough      so many wrong rows stop one; None: nothing does.
        """
        keys = [self._key("policy", space.policy(each)) for each in chosen]
        found = [self._find(key, each, enough) for key, each in zip(keys, chosen)]
        if None in found:
            self._exact()
            if self._study.metric.is_error and self._study.labels is None:
                self._study = self._study._replace(labels=self._reference[0])
        missing = [n for n, trial in enumerate(found) if trial is None]
        policies = [space.policy(chosen[n]) for n in missing]
        tasks = [PolicyTask(each) for each in policies]
        computed: Iterator[tuple[tuple[Array, ...] | Stopped | None, Row]]
        if enough is None:
            computed = self._outputs(tasks)
        else:
            computed = self._raced(tasks, enough)
        trials: list[Trial | Stopped] = []
        for n, (key, known) in enumerate(zip(keys, found)):
            trial = known
            if trial is None:
                outputs, row = next(computed)
                if isinstance(outputs, Stopped):
                    trial = outputs
                else:
                    trial = self._trial(chosen[n], outputs, row)
                    self.runs += 1
                if self._kept is not None:
                    self._put(key, space.policy(chosen[n]), trial)
            trials.append(trial)
        return trials

    def _raced(
        self, tasks: Sequence[PolicyTask], enough: int
    ) -> Iterator[tuple[tuple[Array, ...] | Stopped | None, Row]]:
        """As `_outputs`, a part of the rows after the other, of those that are left."""
        study, race = self._study, self._race
        if race is None:
            assert study.labels is not None
            race = Race.of(study.data, study.metric, study.labels, self._exact())
            self._race = race
            if self._cluster is not None:
                self._cluster.order(race.data)
        parts: list[list[tuple[Array, ...]]] = [[] for _ in tasks]
        rows = [task.row({}, study.options) for task in tasks]
        stopped: dict[int, Stopped | None] = {}
        wrong = [0] * len(tasks)
        for first, last in race.parts():
            left = [n for n in range(len(tasks)) if n not in stopped]
            if not left:
                break
            found = self._outputs([tasks[n] for n in left], Shard(first, last))
            for n, (outputs, row) in zip(left, found):
                rows[n] = row._replace(seconds=rows[n].seconds + row.seconds)
                if outputs is None:
                    stopped[n] = None  # an error
                    continue
                parts[n].append(outputs)
                wrong[n] += race.wrong(outputs, first, last)
                if wrong[n] >= enough and last < len(race.order):
                    stopped[n] = Stopped(wrong[n], last / len(race.order))
        self._programs.clear()
        for n, row in enumerate(rows):
            yield stopped[n] if n in stopped else race.whole(parts[n]), row

    def _exact(self) -> tuple[Array, ...]:
        """The outputs in f32."""
        if self._reference is None:
            self._reference = self._study.data.run(self._function, _processors())
        return self._reference

    def plain(self) -> float | None:
        """The metric in f32, of one more run where all else was in the store; None
        where outputs are compared with just that."""
        metric, labels = self._study.metric, self._study.labels
        if metric.is_error and not self._is_labelled:
            return None
        return metric(self._exact(), labels)

    def _outputs(
        self, tasks: Sequence[PolicyTask], part: Shard | None = None
    ) -> Iterator[tuple[tuple[Array, ...] | None, Row]]:
        """The outputs of each task, or None and a row that says why.

        part        of the rows in the order of a race. Programs are kept.
        """
        if self._cluster is not None:
            yield from self._cluster.outputs(tasks, part)
            return
        study = self._study

        def run(task: PolicyTask) -> tuple[Array, ...]:
            if part is None or self._race is None:
                return study.data.run(study.compile(task)._only, study.threads)
            program = self._programs.get(id(task)) or study.compile(task)
            self._programs[id(task)] = program
            return self._race.data.run(program._only, study.threads, *part)

        def compute(task: PolicyTask) -> tuple[tuple[Array, ...] | None, Row]:
            start = time.perf_counter()
            row, outputs = task.row({}, study.options), None
            try:
                outputs = run(task)
            except Error as error:
                row = row._replace(error=str(error))
            return outputs, row._replace(seconds=time.perf_counter() - start)

        with ThreadPoolExecutor(self._workers, "numera-search") as pool:
            yield from pool.map(compute, tasks)

    def _trial(
        self,
        chosen: Sequence[Candidate],
        outputs: tuple[Array, ...] | None,
        row: Row,
    ) -> Trial:
        trial = Trial(tuple(chosen), 0.0, None, None, row.seconds, row.error)
        if outputs is None:
            return trial
        assert self._reference is not None
        value = self._study.metric(outputs, self._study.labels)
        return trial._replace(value=value, sqnr=_sqnr(outputs, self._reference))

    def costs(
        self, space: Space, table: Table, count: int, inputs: Sequence[Array]
    ) -> list[Array]:
        """For each layer, what each candidate costs for a row of the data: of all
        operations that a program has then, whatever they are.

        inputs      of one call, for `count` rows.
        """
        found: dict[Candidate, list[float]] = {}
        names = [layer.names for layer in space.layers]
        for candidate in dict.fromkeys(itertools.chain(*space.candidates)):
            policy = space.policy(space.alike(candidate))
            options = {**self._study.options, "optimization": 0}
            program = compile(self._study.model, policy=policy, **options)
            found[candidate] = _costs.of_layers(program, inputs, table, names)
        return [
            np.array([found[each][place] / count for each in candidates])
            for place, candidates in enumerate(space.candidates)
        ]

    def _key(self, what: str, policy: Mapping[str, Any]) -> str:
        return _keys.digest(self._common, what, _text(policy, _keys.spec))

    def _find(
        self, key: str, chosen: Sequence[Candidate], enough: int | None
    ) -> Trial | Stopped | None:
        if self._kept is None:
            return None
        if enough is not None and (part := self._kept.find(f"{key} stopped")):
            # Found again in the same search; another one may ask for more.
            if part.value is not None and part.value >= enough:
                return Stopped(int(part.value), part.bits)
        row, sqnr = self._kept.find(key), self._kept.find(f"{key} sqnr")
        if row is None or sqnr is None:
            return None
        return Trial(tuple(chosen), 0.0, row.value, sqnr.value, row.seconds)

    def _put(self, key: str, policy: Mapping[str, Any], trial: Trial | Stopped) -> None:
        assert self._kept is not None
        text = _text(policy)
        if isinstance(trial, Stopped):
            part = Row("policy", text, trial.share, "", "", float(trial.wrong), 0.0)
            self._kept.put(f"{key} stopped", part, "wrong rows")
            return
        row = Row("policy", text, 0, "", "", trial.value, trial.seconds, trial.error)
        self._kept.put(f"{key} sqnr", row._replace(value=trial.sqnr), "sqnr")
        self._kept.put(key, row, self._study.metric.name)


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _left(given: Given, refused: Mapping[tuple[int, Spec | None], Error]) -> Given:
    """What was not refused."""
    left: Given = []
    for role, entries in enumerate(given):
        left.append([each for each in entries if (role, each) not in refused])
        if not left[-1]:
            error = next(e for (r, _), e in refused.items() if r == role)
            raise Error(f"no candidate takes the model: {error}")
    return left


def _text(policy: Any, name: Callable[[Format], str] = lambda f: f.name) -> str:
    return json.dumps(policy, sort_keys=True, default=name)


def _added(row: Mapping[str, Any]) -> float:
    own = row["own_sqnr_db"]
    noise = 0.0 if own is None else 10 ** (-own / 10)
    return float(noise + _LOST * row["own_lost"])


def _sqnr(found: Sequence[Array], expected: Sequence[Array]) -> float:
    """In dB, over all outputs; where the reference is finite."""
    signal = noise = 0.0
    with np.errstate(all="ignore"):
        for value, reference in zip(found, expected):
            wanted = reference.astype(np.float64)
            error = (value.astype(np.float64) - wanted)[np.isfinite(wanted)]
            signal += float(np.sum(np.square(wanted[np.isfinite(wanted)])))
            noise += float(np.sum(np.square(error)))
    if noise == 0:
        return math.inf
    if not math.isfinite(noise) or signal == 0:
        return -math.inf
    return 10 * math.log10(signal / noise)
