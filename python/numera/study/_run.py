# SPDX-License-Identifier: MIT
"""Sweeps: a model compiled and run in each of many formats."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any, NamedTuple

import numpy as np

from numera._calls import Function
from numera._errors import Error, check_counts
from numera._programs import Program, compile
from numera._request import Path, Spec
from numera.study import _cluster, _keys
from numera.study._data import DataSet, load_labels
from numera.study._metrics import Metric
from numera.study._metrics import metric as _metric
from numera.study._progress import Progress, watch
from numera.study._result import Row, Sweep
from numera.study._store import Store
from numera.study._tasks import PolicyTask, Task, tasks

__all__ = ["sweep"]

_NO_MATTER = ("function", "cpu", "code_cache", "safetensors")
"""Options that have nothing to do with formats."""


class _Study(NamedTuple):
    """What all rows share."""

    model: Any
    options: Mapping[str, Any]
    data: DataSet
    labels: np.ndarray[Any, Any] | None
    metric: Metric
    threads: int
    """Of a call."""

    def compute(self, task: Task | PolicyTask, program: Program | None = None) -> Row:
        """Compiles, unless there is a program, runs and measures. A refusal is in
        the row."""
        start = time.perf_counter()
        try:
            program = program or self.compile(task)
            outputs = self.data.run(program._only, self.threads)
        except Error as error:
            row = task.row({}, self.options)._replace(error=str(error))
        else:
            value = self.metric(outputs, self.labels)
            row = task.row(program.policy, self.options)._replace(value=value)
        return row._replace(seconds=time.perf_counter() - start)

    def compile(self, task: Task | PolicyTask) -> Program:
        with warnings.catch_warnings():
            if isinstance(task, PolicyTask):
                # A rule of the user's for nothing has been warned of.
                warnings.filterwarnings("ignore", message=".*matches no operation")
            return compile(self.model, **task.arguments(self.options))

    def common(self) -> str:
        """The hash of what all rows depend on."""
        if self.metric.built_in:
            code = self.metric.name
        else:
            code = _keys.function(self.metric.function)
        return _keys.digest(
            _keys.library(),
            _keys.model(self.model),
            *map(_keys.array, self.data.arrays),
            _keys.array(self.labels),
            code,
            str(self.data.batch),
            _keys.options(self.options),
        )


def sweep(
    model: Any,
    *,
    formats: Spec | Iterable[Spec],
    inputs: Any,
    labels: Any = None,
    metric: str | Callable[..., Any] = "top1",
    better: str | None = None,
    accumulate: Spec | Sequence[Spec | None] | None = None,
    rounding: str | Sequence[str | None] | None = None,
    scale: str | Sequence[str | None] | None = None,
    scale_rule: str | Sequence[str | None] | None = None,
    roles: str | Sequence[str | None] | None = None,
    limit: int | None = None,
    batch: int | None = None,
    workers: int | None = None,
    cluster: str | bool = False,
    store: Path | None = None,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Sweep:
    """Compiles and runs a model in each of many formats, and measures how well it
    does (docs/Sweeps.md).

    model       what :func:`numera.compile` takes.
    formats     formats, names, and spellings with ranges, ``float<4..6,1..10>``.
    inputs      an array or the path of a file (.npy, .npz, idx); a list or a mapping
                of them where the model has several inputs. Types and slices are
                those of ``numera run``.
    labels      an array or a path: classes, or with ``rmse`` what is expected, or
                with ``map`` boxes (docs/Sweeps.md).
    metric      ``top1``, ``top5``, ``perplexity``, ``map``, ``map50``, ``rmse``
                (without labels: from the same model in f32), or a function of
                outputs and labels that returns a number.
    better      ``higher`` (None) or ``lower``, of a function.
    accumulate  what sums are kept in, one or several; None: as the format says.
    rounding    one or several; None: the format's.
    scale       one or several of a policy's: ``none``, ``per-tensor``,
                ``per-channel``, ``block(32)``; None: as the policy says.
    scale_rule  one or several, of formats that are scaled: ``floor``, ``even``,
                ``absmax``… A format is left out where it cannot have the rule.
    roles       what of contractions is in the format, the rest being in f32: one
                or several of ``weights``, ``activations``, ``outputs``, or of
                them with ``+`` between; None: the whole model.
    limit       takes only so many rows.
    batch       rows of a call, where the model leaves them open; None: 64, or all
                where rows are not known to be independent.
    workers     how many formats at a time; None: as there are processors.
    cluster     the address of a cluster of Ray, ``ray://host:10001`` or ``auto``, or
                True, one of this machine's own: a row, or a shard of the data for
                one, is a task there. Results are those of one machine.
    store       a file of SQLite. What it has is not computed again.
    progress    a function of how many rows are done, how many there are, and the
                row; True: a line on stderr; None: that, on a terminal.
    options     other arguments of :func:`numera.compile`.

    A format that refuses the model has a row with an error.

    >>> import numera
    >>> square = '''
    ...   func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...     %y = arith.mulf %x, %x : tensor<?xf32>
    ...     return %y : tensor<?xf32>
    ...   }'''
    >>> found = numera.sweep(
    ...     square, formats=["float<4..5,3>"], inputs=[[1.125, 300]], metric="rmse")
    >>> for row in found:
    ...     print(row.format, row.bits, row.value)
    float<4,3> 8.0 inf
    float<5,3> 9.0 inf
    """
    measure = _metric(metric, better)
    check_counts(limit=limit, batch=batch, workers=workers)
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    listed = tasks(formats, accumulate, rounding, scale, scale_rule, roles)
    function = _plain(model, options)
    data = DataSet(function, inputs, limit, batch)
    target = data.labels_of_rows(load_labels(labels))
    measure.check(target, data.labelled(function))
    plain = [t for t in listed if t.roles is None and t.scale in (None, "none")]
    measure.warn(function, target, (task.format for task in plain))
    processors = len(os.sched_getaffinity(0))
    workers = min(workers or processors, len(listed))
    threads = max(1, processors // workers)
    study = _Study(model, options, data, target, measure, threads)

    rows: dict[Task, Row] = {}
    keys: dict[Task, str] = {}
    with contextlib.ExitStack() as stack:
        kept = None
        if store is not None:
            kept = stack.enter_context(contextlib.closing(Store(store)))
            common = study.common()
            keys = {task: task.key(common) for task in listed}
            for task in listed:
                if found := kept.find(keys[task]):
                    # Under the name that it has now.
                    rows[task] = found._replace(format=task.format.name)
        missing = [task for task in listed if task not in rows]
        if missing and measure.is_error and target is None:
            (reference, *_) = data.run(function, processors)
            study = study._replace(labels=reference)
        seen = stack.enter_context(watch(progress, len(rows), len(listed)))
        if cluster and missing:
            done = _cluster.compute(study, missing, cluster)
        else:
            done = _all(study.compute, missing, workers)
        for task, row in stack.enter_context(contextlib.closing(done)):
            if kept is not None:
                kept.put(keys[task], row, measure.name)
            rows[task] = row
            seen(len(rows), len(listed), row)
    ordered = [rows[task] for task in listed]
    return Sweep(ordered, measure.name, measure.better, len(missing))


def _plain(model: Any, options: Mapping[str, Any]) -> Function:
    """The model in f32. Refuses what no format takes."""
    wanted = options.get("output_as") or ""
    if "storage" in ([wanted] if isinstance(wanted, str) else wanted):
        raise Error(f"output_as is {wanted!r}, and no metric knows codes")
    same = {key: options[key] for key in _NO_MATTER if key in options}
    if options.get("policy") is not None:
        compile(model, policy=options["policy"], optimization=0, **same)
    return compile(model, format="f32", optimization=0, **same)._only


def _all(
    compute: Callable[[Task], Row], tasks: Sequence[Task], workers: int
) -> Generator[tuple[Task, Row], None, None]:
    """Tasks and their rows, in the order in which they are done.

    Compilations and calls let other threads run, so that threads are enough. After
    an exception, tasks that did not begin are dropped.
    """
    with ThreadPoolExecutor(workers, "numera-sweep") as pool:
        futures: dict[Future[Row], Task] = {
            pool.submit(compute, task): task for task in tasks
        }
        try:
            for future in as_completed(futures):
                yield futures.pop(future), future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
