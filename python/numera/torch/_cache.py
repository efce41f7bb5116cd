# SPDX-License-Identifier: MIT
"""Linalg of graphs that were seen before, on disk.

A graph of the same code, shapes and constants, under the same names, has the same
text. torch-mlir is then not even imported.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pathlib
import tempfile
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import unset_fake_temporarily

import numera
from numera.torch import _linalg

__all__ = ["linalg_of"]


def linalg_of(graph: fx.GraphModule, names: Callable[[fx.Node], str]) -> str:
    """The text of :func:`to_linalg`, from the cache if it is there."""
    folder = _folder()
    if folder is None:
        return _linalg.to_linalg(graph, names=names)
    path = folder / f"{_key(graph, names)}.mlir"
    with contextlib.suppress(OSError):
        return path.read_text(encoding="utf-8")
    text = _linalg.to_linalg(graph, names=names)
    with contextlib.suppress(OSError):  # a cache that cannot be written is none
        _write(path, text)
    return text


def _folder() -> pathlib.Path | None:
    """Beside the code cache of programs; its setting `off` holds here too."""
    named = os.environ.get("NUMERA_CODE_CACHE")
    if named == "off":
        return None
    if named:
        return pathlib.Path(named) / "torch"
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return pathlib.Path(base) / "numera" / "torch"


def _write(path: pathlib.Path, text: str) -> None:
    """Completely or not at all, whoever else writes."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, made = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(made, path)
    except BaseException:
        os.unlink(made)
        raise


@functools.cache
def _versions() -> bytes:
    """What makes texts of graphs, as it is now."""
    here = pathlib.Path(__file__).parent
    known = hashlib.sha256(
        f"{_linalg.TORCH_MLIR} {torch.__version__} {numera.__version__}".encode()
    )
    for path in sorted(here.glob("_*.py")):
        known.update(path.read_bytes())
    return known.digest()


def _key(graph: fx.GraphModule, names: Callable[[fx.Node], str]) -> str:
    known = hashlib.sha256(_versions())
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
