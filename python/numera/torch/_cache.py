# SPDX-License-Identifier: MIT
"""Linalg of graphs that were seen before, on disk.

A graph of the same code, shapes and constants, under the same names, has the same
text. torch-mlir is then not even imported.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import pathlib
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch import fx
from torch._subclasses.fake_tensor import unset_fake_temporarily

from numera.torch import _linalg
from numera.torch._background import Begun
from numera.torch._keys import versions

__all__ = ["folder", "made_of", "read", "write"]

Made = TypeVar("Made")

# How files begin that are not written to their end.
_TEMPORARY = "numera-"


def made_of(
    graph: fx.GraphModule,
    names: Callable[[fx.Node], str],
    compile: Callable[[str], Begun[Made]],
) -> tuple[str, Begun[Made]]:
    """The text of :func:`to_linalg`, from the cache if it is there, and what is
    being compiled from it. Of processes that begin together with the same graph, the
    first one does both, and the others then find what it left."""
    place = folder()
    if place is None:
        text = _linalg.to_linalg(graph, names=names)
        return text, compile(text)
    key = _key(graph, names)
    path = place / f"{key}.mlir"
    known = _text(path)
    if known is not None:
        return known, compile(known)
    with contextlib.ExitStack() as stack:
        stack.enter_context(_alone(place, key))
        known = _text(path)
        text = known or _linalg.to_linalg(graph, names=names)
        made = compile(text)
        lock = stack.pop_all()

    def finish() -> None:
        with lock:
            if known is None:  # the text is right, whatever became of it
                with contextlib.suppress(OSError):  # a cache may be read-only
                    write(path, text.encode())

    made.then(finish)
    return text, made


def _text(path: pathlib.Path) -> str | None:
    content = read(path)
    with contextlib.suppress(UnicodeDecodeError):
        return None if content is None else content.decode()
    return None


@contextlib.contextmanager
def _alone(place: pathlib.Path, key: str) -> Iterator[None]:
    """While no other process does the same. There are few locks, so that their files
    do not add up; a process that ends leaves its lock."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = stack.enter_context(open(place / f"{key[:2]}.lock", "wb"))
            fcntl.flock(file, fcntl.LOCK_EX)
            # A process forked meanwhile has the file too, and would keep the lock.
            stack.callback(fcntl.flock, file, fcntl.LOCK_UN)
        yield


def folder() -> pathlib.Path | None:
    """Beside the code cache of programs; its setting `off` holds here too."""
    named = os.environ.get("NUMERA_CODE_CACHE")
    if named == "off":
        return None
    if named:
        return pathlib.Path(named) / "torch"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "numera" / "torch"


def read(path: pathlib.Path) -> bytes | None:
    """What a file of the folder has, or None. The last use decides what goes."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    with contextlib.suppress(OSError):  # a cache may be read-only
        os.utime(path)
    return content


def write(path: pathlib.Path, content: bytes) -> None:
    """Completely or not at all, whoever else writes. Once a minute, what was used
    longest ago goes until the rest fits."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(prefix=_TEMPORARY, dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.replace(made, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):  # it was taken for old
            os.unlink(made)
        raise
    stamp = path.parent / "timestamp"
    with contextlib.suppress(OSError):
        if not stamp.exists() or time.time() - stamp.stat().st_mtime >= 60:
            stamp.touch()
            _prune(path.parent)


def _prune(place: pathlib.Path) -> None:
    """Down to NUMERA_CODE_CACHE_SIZE MiB, as the code cache has it for its own.

    Other files in the folder are somebody else's.
    """
    size = os.environ.get("NUMERA_CODE_CACHE_SIZE", "")
    limit = max(int(size) if size.isdecimal() else 256, 1) << 20
    files = []
    for each in place.iterdir():
        with contextlib.suppress(OSError):  # another process prunes, too
            if each.suffix in (".mlir", ".entry") or each.name.startswith(_TEMPORARY):
                found = each.stat()
                files.append((found.st_mtime_ns, found.st_size, each))
    total = sum(size for _, size, _ in files)
    for _, size, each in sorted(files):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            each.unlink()
        total -= size


def _key(graph: fx.GraphModule, names: Callable[[fx.Node], str]) -> str:
    known = hashlib.sha256(versions())
    for node in graph.graph.nodes:
        value = node.meta.get("val")
        known.update(f"{node.format_node()} {names(node)} ".encode())
        known.update(str(node.meta.get("numera_weight")).encode())
        for each in value if isinstance(value, (tuple, list)) else [value]:
            if isinstance(each, torch.Tensor):
                known.update(f"{tuple(each.shape)} {each.dtype};".encode())
        if node.op == "get_attr":
            path: Any = node.target
            constant: Any = functools.reduce(getattr, path.split("."), graph)
            with unset_fake_temporarily():  # it is a real tensor in a fake graph
                flat = constant.detach().contiguous().reshape(-1)
                known.update(flat.view(torch.uint8).numpy().tobytes())
    return known.hexdigest()[:40]
