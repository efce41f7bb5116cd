# SPDX-License-Identifier: MIT
"""Rows of a sweep on a cluster of Ray.

A task makes a shared object of the model in one format, for all CPUs that the
cluster has; others run it, each on a shard of the rows. Bits are the same on every
CPU, and a random bit is found by its row's number in the whole data set, so results
are those of one machine. Ray does the work of a worker that died again.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import socket
import tempfile
import time
from collections.abc import Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from numera import _numera
from numera._errors import Error
from numera._programs import Program, compile, save
from numera._programs import open as open_program
from numera.study import _keys

if TYPE_CHECKING:
    from numera.study._result import Row
    from numera.study._run import _Study
    from numera.study._tasks import Task

__all__ = ["compute"]

_RETRIES = 5
"""How often the work of a worker that died is done again."""

Array = np.ndarray[Any, Any]


class _Files(NamedTuple):
    """A file with those that it names, to be written on another machine."""

    name: str
    contents: dict[str, bytes]

    def write(self, folder: str) -> str:
        for name, content in self.contents.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return os.path.join(folder, self.name)


class _Shard(NamedTuple):
    """Rows of the data set; the last one is not among them. None: all arrays whole."""

    start: int
    stop: int | None


class _Work(NamedTuple):
    """What all tasks share. Ray keeps it once on each machine."""

    study: _Study
    """Without the files of this machine."""
    model: Any
    policy: _Files | None
    version: str


def _packed(model: Any) -> Any:
    """A model as another machine can have it."""
    if isinstance(model, bytes):
        return model
    text = os.fspath(model)
    if isinstance(model, str) and not text.endswith((".onnx", ".mlir")):
        return model
    folder = os.path.dirname(text)
    # What leaves the model's folder is refused by the compiler.
    inside = [n for n in _keys.external(text) if ".." not in n and n[:1] != "/"]
    names = [os.path.basename(text), *inside]
    try:
        contents = {name: pathlib.Path(folder, name).read_bytes() for name in names}
    except OSError as error:
        raise Error(f"cannot read {error.filename}: {error.strerror}") from None
    return _Files(names[0], contents)


def _work(study: _Study) -> _Work:
    options = dict(study.options)
    policy = None
    if isinstance(options.get("policy"), (str, os.PathLike)):
        policy = _packed_policy(options.pop("policy"))
    options.pop("code_cache", None)
    model = _packed(study.model)
    plain = study._replace(model=None, options=options, threads=1)
    return _Work(plain, model, policy, _numera.version())


def _packed_policy(path: Any) -> _Files:
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Error(f"cannot read {os.fspath(path)}: {error.strerror}") from None
    return _Files(os.path.basename(os.fspath(path)), {os.path.basename(path): content})


@contextlib.contextmanager
def _unpacked(work: _Work) -> Iterator[_Study]:
    with tempfile.TemporaryDirectory(prefix="numera-") as folder:
        model = work.model
        if isinstance(model, _Files):
            model = model.write(folder)
        options = dict(work.study.options)
        if work.policy:
            options["policy"] = work.policy.write(folder)
        yield work.study._replace(model=model, options=options)


class _Built(NamedTuple):
    """A program as it travels."""

    shared: bytes | None
    """A shared object. None where a worker has no clang, or the format refuses the
    model: those that run it compile it for themselves, and find the reason."""
    seconds: float


def _build(work: _Work, task: Task, cpus: str) -> _Built:
    """On a worker. The program is for all of the CPUs."""
    _check_version(work)
    begin = time.perf_counter()
    with _unpacked(work) as study, tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.so")
        options = {"cpu": cpus, **study.options}
        shared = None
        if options.get("target") in (None, "cpu"):
            with contextlib.suppress(Error):
                save(path, study.model, **task.arguments(options))
                shared = path.read_bytes()
    return _Built(shared, time.perf_counter() - begin)


def _opened(built: _Built) -> Program | None:
    """None where it has to be compiled."""
    if built.shared is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "program.so")
        path.write_bytes(built.shared)
        # Of a machine that came later, perhaps of another kind.
        with contextlib.suppress(Error):
            return open_program(path)
    return None


def _outputs(
    study: _Study, task: Task, built: _Built, shard: _Shard
) -> tuple[Row, tuple[Array, ...] | None]:
    try:
        program = _opened(built) or study.compile(task)
        outputs = study.data.run(program._only, 1, shard.start, shard.stop)
    except Error as error:
        return task.row({})._replace(error=str(error)), None
    return task.row(program.policy), outputs


def _do(work: _Work, task: Task, built: _Built, shard: _Shard) -> _Part:
    """On a worker."""
    _check_version(work)
    begin = time.perf_counter()
    seconds = 0.0 if shard.start else built.seconds
    with _unpacked(work) as study:
        if shard.stop is None:
            row, outputs = study.compute(task, _opened(built)), None
        else:
            row, outputs = _outputs(study, task, built, shard)
    seconds += time.perf_counter() - begin
    return _Part(row._replace(seconds=seconds), outputs)


def _check_version(work: _Work) -> None:
    if work.version != _numera.version():
        raise Error(
            f"a worker has Numera {_numera.version()}, the sweep {work.version}; "
            f"install one version"
        )


def _cpu() -> str:
    """What `native` is on a worker."""
    program = compile("func.func @f(%x: f32) -> f32 { return %x : f32 }")
    return program.target.rpartition(" ")[2]


def _cpus(ray: Any) -> str:
    """Those of the cluster's machines, each once."""
    strategy = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy
    remote = ray.remote(num_cpus=0, max_retries=_RETRIES)(_cpu)
    asked = [
        remote.options(scheduling_strategy=strategy(node["NodeID"], soft=True)).remote()
        for node in ray.nodes()
        if node["Alive"] and node["Resources"].get("CPU")
    ]
    return ",".join(sorted(set(ray.get(asked))))


def _shards(study: _Study, tasks: int, processors: int) -> list[_Shard]:
    """One for each task where there are enough of these, else so many that all
    processors have work. Each but the last is of whole batches."""
    rows = study.data.rows
    if rows is None or tasks >= processors:
        return [_Shard(0, None)]
    wanted = -(-processors // tasks)
    batches = -(-rows // study.data.batch)
    size = -(-batches // wanted) * study.data.batch
    return [_Shard(i, min(i + size, rows)) for i in range(0, rows, size)]


class _Part(NamedTuple):
    """What a task found: a whole row, or the outputs of a shard for one."""

    row: Row
    outputs: tuple[Array, ...] | None = None


def _joined(study: _Study, parts: Sequence[_Part]) -> Row:
    """The row of a format whose shards are all done."""
    for part in parts:
        if part.outputs is None:  # an error, or all that there is
            return part.row
    found = zip(*(part.outputs for part in parts if part.outputs is not None))
    whole = tuple(np.concatenate(each) for each in found)
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


def compute(
    study: _Study, tasks: Sequence[Task], cluster: str | bool
) -> Generator[tuple[Task, Row], None, None]:
    """Tasks and their rows, in the order in which they are done."""
    work = _work(study)
    with _connected(cluster) as ray:
        processors = int(ray.cluster_resources().get("CPU", 1))
        shards = _shards(study, len(tasks), processors)
        shared = ray.put(work)
        one = ray.remote(num_cpus=1, max_retries=_RETRIES)
        build, remote = one(_build), one(_do)
        cpus = _cpus(ray)
        parts: dict[Task, dict[int, _Part]] = {task: {} for task in tasks}
        running = {}
        for task in tasks:
            built = build.remote(shared, task, cpus)
            for place, shard in enumerate(shards):
                running[remote.remote(shared, task, built, shard)] = (task, place)
        try:
            while running:
                (done, *_), _ = ray.wait(list(running), num_returns=1)
                task, place = running.pop(done)
                parts[task][place] = _result(ray, done, task)
                if len(parts[task]) == len(shards):
                    found = parts.pop(task)
                    yield task, _joined(study, [found[i] for i in sorted(found)])
        finally:
            for each in running:
                ray.cancel(each, force=True)


def _result(ray: Any, done: Any, task: Task) -> _Part:
    try:
        found: _Part = ray.get(done)
    except ray.exceptions.RayTaskError as error:
        raise error.cause from None
    except (ray.exceptions.WorkerCrashedError, ray.exceptions.NodeDiedError):
        message = f"its worker died {_RETRIES + 1} times"
        return _Part(task.row({})._replace(error=message))
    return found
