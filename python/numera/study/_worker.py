# SPDX-License-Identifier: MIT
"""What workers of a cluster do, and what travels to them.

A task makes a shared object of the model in one format, for all CPUs that the
cluster has; others run it, each on a shard of the rows.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from numera import _numera, _sources
from numera._errors import Error
from numera._programs import Program, compile, save
from numera._programs import open as open_program
from numera._request import MODEL_ENDINGS
from numera._sources import Sources
from numera.study import _keys

if TYPE_CHECKING:
    from numera.study._result import Row
    from numera.study._run import _Study
    from numera.study._tasks import PolicyTask, Task

__all__ = [
    "Built",
    "Part",
    "Shard",
    "Work",
    "build",
    "cpu",
    "do",
    "layers",
    "packed",
    "work_of",
]

Array = np.ndarray[Any, Any]


class Part(NamedTuple):
    """What a task found: a whole row, or the outputs of a shard for one."""

    row: Row
    outputs: tuple[Array, ...] | None = None


class Files(NamedTuple):
    """A file with those that it names, to be written on another machine."""

    name: str
    contents: dict[str, bytes]

    def write(self, folder: str) -> str:
        for name, content in self.contents.items():
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        return os.path.join(folder, self.name)


class Shard(NamedTuple):
    """Rows of the data set; the last one is not among them. None: all arrays whole."""

    start: int
    stop: int | None


class Work(NamedTuple):
    """What all tasks share. Ray keeps it once on each machine."""

    study: _Study
    """Without the files of this machine."""
    model: Any
    policy: Files | None
    known: tuple[Sources, ...]
    """Formats that policies may name."""
    version: str


def packed(model: Any) -> Any:
    """A model as another machine can have it."""
    if isinstance(model, bytes):
        return model
    text = os.fspath(model)
    if isinstance(model, str) and not text.endswith(MODEL_ENDINGS):
        return model
    folder = os.path.dirname(text)
    # What leaves the model's folder is refused by the compiler.
    inside = [n for n in _keys.external(text) if ".." not in n and n[:1] != "/"]
    names = [os.path.basename(text), *inside]
    try:
        contents = {name: pathlib.Path(folder, name).read_bytes() for name in names}
    except OSError as error:
        raise Error(f"cannot read {error.filename}: {error.strerror}") from None
    return Files(names[0], contents)


def work_of(study: _Study) -> Work:
    options = dict(study.options)
    policy = None
    if isinstance(options.get("policy"), (str, os.PathLike)):
        policy = _packed_policy(options.pop("policy"))
    options.pop("code_cache", None)
    model = packed(study.model)
    plain = study._replace(model=None, options=options, threads=1)
    return Work(plain, model, policy, _sources.known(), _numera.version())


def _packed_policy(path: Any) -> Files:
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Error(f"cannot read {os.fspath(path)}: {error.strerror}") from None
    return Files(os.path.basename(os.fspath(path)), {os.path.basename(path): content})


@contextlib.contextmanager
def _unpacked(work: Work) -> Iterator[_Study]:
    _sources.know(work.known)
    with tempfile.TemporaryDirectory(prefix="numera-") as folder:
        model = work.model
        if isinstance(model, Files):
            model = model.write(folder)
        options = dict(work.study.options)
        if work.policy:
            options["policy"] = work.policy.write(folder)
        yield work.study._replace(model=model, options=options)


class Built(NamedTuple):
    """A program as it travels."""

    shared: bytes | None
    """A shared object. None where a worker has no clang, or the format refuses the
    model: those that run it compile it for themselves, and find the reason."""
    seconds: float


def build(work: Work, task: Task | PolicyTask, cpus: str) -> Built:
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
    return Built(shared, time.perf_counter() - begin)


def _opened(built: Built) -> Program | None:
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
    study: _Study,
    task: Task | PolicyTask,
    built: Built,
    shard: Shard,
    order: tuple[Array, int] | None,
) -> tuple[Row, tuple[Array, ...] | None]:
    try:
        program = _opened(built) or study.compile(task)
        data = study.data if order is None else study.data.ordered(*order)
        outputs = data.run(program._only, 1, shard.start, shard.stop)
    except Error as error:
        return task.row({}, study.options)._replace(error=str(error)), None
    return task.row(program.policy, study.options), outputs


def do(
    work: Work, task: Task | PolicyTask, built: Built, shard: Shard, measures: bool,
    order: tuple[Array, int] | None = None,
) -> Part:  # fmt: skip
    """On a worker. Where it `measures`, all rows of a task become a value there."""
    _check_version(work)
    begin = time.perf_counter()
    seconds = 0.0 if shard.start else built.seconds
    with _unpacked(work) as study:
        if measures and shard.stop is None:
            row, outputs = study.compute(task, _opened(built)), None
        else:
            row, outputs = _outputs(study, task, built, shard, order)
    seconds += time.perf_counter() - begin
    return Part(row._replace(seconds=seconds), outputs)


def _check_version(work: Work) -> None:
    if work.version != _numera.version():
        raise Error(
            f"a worker has Numera {_numera.version()}, the sweep {work.version}; "
            f"install one version"
        )


def cpu() -> str:
    """What `native` is on a worker."""
    program = compile("func.func @f(%x: f32) -> f32 { return %x : f32 }")
    return program.target.rpartition(" ")[2]


def layers(
    work: Work, task: Task | PolicyTask, inputs: Sequence[Array]
) -> list[dict[str, Any]] | Error:
    """On a worker: :meth:`numera.Program.layers`, or why there are none."""
    _check_version(work)
    with _unpacked(work) as study:
        try:
            return study.compile(task).layers(*inputs, threads=1)
        except Error as error:
            return error
