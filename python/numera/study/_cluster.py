# SPDX-License-Identifier: MIT
"""Sweeps and searches on a cluster of Ray.

Bits are the same on every CPU, and a random bit is found by its row's number in the
whole data set, so results are those of one machine. Ray does the work of a worker
that died again.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from numera._errors import Error
from numera.study import _worker
from numera.study._worker import Part, Shard

if TYPE_CHECKING:
    from numera.study._data import DataSet
    from numera.study._result import Row
    from numera.study._run import _Study
    from numera.study._tasks import PolicyTask, Task

__all__ = ["Cluster", "compute", "connected"]

_RETRIES = 5
"""How often the work of a worker that died is done again."""

Array = np.ndarray[Any, Any]


def _cpus(ray: Any) -> str:
    """Those of the cluster's machines, each once."""
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    remote = ray.remote(num_cpus=0, max_retries=_RETRIES)(_worker.cpu)
    asked = [
        remote.options(scheduling_strategy=strategy(node["NodeID"], soft=True)).remote()
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    return ",".join(sorted(set(ray.get(asked))))


def _shards(data: DataSet, tasks: int, processors: int, part: Shard) -> list[Shard]:
    """One for each task where there are enough of these, else so many that all
    processors have work. Each but the last is of whole batches."""
    if data.rows is None or tasks >= processors:
        return [part]
    first = part.start
    last = data.rows if part.stop is None else part.stop
    wanted = -(-processors // tasks)
    batches = -(-(last - first) // data.batch)
    size = -(-batches // wanted) * data.batch
    return [Shard(i, min(i + size, last)) for i in range(first, last, size)]


def _whole(parts: Sequence[Part]) -> tuple[Array, ...] | None:
    """The outputs of all shards; None where a part has none."""
    if any(part.outputs is None for part in parts):
        return None
    found = zip(*(part.outputs for part in parts if part.outputs is not None))
    return tuple(np.concatenate(each) if len(each) > 1 else each[0] for each in found)


def _joined(study: _Study, parts: Sequence[Part]) -> Row:
    """The row of a format whose shards are all done."""
    for part in parts:
        if part.outputs is None:  # an error, or all that there is
            return part.row
    whole = _whole(parts)
    assert whole is not None
    return parts[0].row._replace(
        value=study.metric(whole, study.labels),
        seconds=sum(part.row.seconds for part in parts),
    )


def _ray() -> Any:
    try:
        import ray
    except ImportError:
        raise Error("cluster= needs the package ray: pip install ray") from None
    return ray


def _check_reachable(address: str) -> None:
    """Ray itself waits for a minute, and says much."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=5).close()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise Error(f"cannot connect to the cluster {address}: {reason}") from None


@contextlib.contextmanager
def _connected(cluster: str | bool) -> Iterator[Any]:
    """Ray, connected to a cluster, or to one of this machine's own."""
    ray = _ray()
    if ray.is_initialized():
        yield ray
        return
    address = cluster if isinstance(cluster, str) else None
    if address:
        _check_reachable(address)
    options: dict[str, Any] = {"log_to_driver": False, "logging_level": "error"}
    if address is None:
        options |= {"include_dashboard": False}
    try:
        ray.init(address=address, **options)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = str(error).strip().splitlines()[0]
        raise Error(f"cannot connect to the cluster {address}: {reason}") from None
    try:
        yield ray
    finally:
        ray.shutdown()


class Cluster:
    """A connection, and what all tasks of a study share, which is there once."""

    def __init__(self, ray: Any, study: _Study) -> None:
        self._ray = ray
        self._study = study
        self._shared = ray.put(_worker.work_of(study))
        one = ray.remote(num_cpus=1, max_retries=_RETRIES)
        self._build, self._do = one(_worker.build), one(_worker.do)
        self._layers = one(_worker.layers)
        self._cpus = _cpus(ray)
        self._ordered: DataSet | None = None
        self._order = ray.put(None)
        self._built: dict[int, Any] = {}

    def order(self, data: DataSet) -> None:
        """Has parts of the rows be those of this data set, the same in an order."""
        self._ordered = data
        self._order = self._ray.put((data.order, data.batch))

    def parts(
        self,
        tasks: Sequence[Task | PolicyTask],
        measures: bool,
        part: Shard | None = None,
    ) -> Generator[tuple[int, list[Part]], None, None]:
        """Places of tasks and what their shards found, in the order in which they
        are done.

        part        of the rows, in their order; None: all as they come.
        """
        ray = self._ray
        processors = int(ray.cluster_resources().get("CPU", 1))
        data = self._study.data
        order = None
        if part is not None and self._ordered is not None:
            data, order = self._ordered, self._order
        if part is None or not part.start:
            self._built.clear()
        shards = _shards(data, len(tasks), processors, part or Shard(0, None))
        found: list[dict[int, Part]] = [{} for _ in tasks]
        running = {}
        for n, task in enumerate(tasks):
            built = self._built.get(id(task))
            if built is None:
                built = self._build.remote(self._shared, task, self._cpus)
            if part is not None:
                self._built[id(task)] = built
            for place, shard in enumerate(shards):
                work = self._do.remote(
                    self._shared, task, built, shard, measures, order
                )
                running[work] = (n, place)
        try:
            while running:
                (done, *_), _ = ray.wait(list(running), num_returns=1)
                n, place = running.pop(done)
                part = self._result(done)
                if isinstance(part, Error):
                    row = tasks[n].row({}, self._study.options)
                    part = Part(row._replace(error=str(part)))
                found[n][place] = part
                if len(found[n]) == len(shards):
                    yield n, [found[n][i] for i in sorted(found[n])]
        finally:
            for each in running:
                ray.cancel(each, force=True)

    def outputs(
        self, tasks: Sequence[PolicyTask], part: Shard | None = None
    ) -> list[tuple[tuple[Array, ...] | None, Row]]:
        """The outputs of each task, or None and a row that says why.

        part        as `parts`.
        """
        found: dict[int, tuple[tuple[Array, ...] | None, Row]] = {}
        for n, parts in self.parts(tasks, False, part):
            failed = next((p.row for p in parts if p.outputs is None), None)
            seconds = sum(part.row.seconds for part in parts)
            row = (failed or parts[0].row)._replace(seconds=seconds)
            found[n] = _whole(parts), row
        return [found[n] for n in range(len(tasks))]

    def layers(
        self, tasks: Sequence[PolicyTask], inputs: Sequence[Array]
    ) -> Iterator[list[dict[str, Any]] | Error]:
        """Rows of layers for each task, or why there are none."""
        data = self._ray.put(list(inputs))
        running = [self._layers.remote(self._shared, task, data) for task in tasks]
        for each in running:
            yield self._result(each)

    def _result(self, done: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(done)
        except errors.RayTaskError as error:
            raise error.cause from None
        except (errors.WorkerCrashedError, errors.NodeDiedError):
            return Error(f"its worker died {_RETRIES + 1} times")


@contextlib.contextmanager
def connected(study: _Study, cluster: str | bool) -> Iterator[Cluster]:
    """A cluster for the tasks of a study."""
    _worker.work_of(study)  # says what cannot be read before Ray starts
    with _connected(cluster) as ray:
        yield Cluster(ray, study)


def compute(
    study: _Study, tasks: Sequence[Task], cluster: str | bool
) -> Generator[tuple[Task, Row], None, None]:
    """Tasks and their rows, in the order in which they are done."""
    with connected(study, cluster) as connection:
        for n, parts in connection.parts(tasks, True):
            yield tasks[n], _joined(study, parts)
