# SPDX-License-Identifier: MIT
"""What AOTAutograd and torch-mlir made of graphs of Dynamo, on disk.

A graph with a key (`_keys.py`) that was seen before, in this process or another, is
not traced again: its programs are compiled from the text that they had, and called as
PyTorch's own cache of AOTAutograd calls what it kept.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
import pickle
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple
from unittest import mock

import torch
from torch import fx

from numera.torch import _cache
from numera.torch._graph import Graph
from numera.torch._keys import key_of
from numera.torch._policy import Found, Operations, Policy

__all__ = ["Entry", "Pending", "Recipe", "find", "restored"]

_log = logging.getLogger(__name__)


class Recipe(NamedTuple):
    """What a call of a graph is made from, without the graph."""

    kind: int
    graph: Graph
    text: str
    """In linalg; empty: the graph computes nothing."""
    found: list[Found]
    """Of the groups of its operations."""
    operations: Operations
    weights: frozenset[int]
    """Arguments that are parameters."""


class Entry(NamedTuple):
    """A graph of Dynamo: its passes, and how AOTAutograd calls them."""

    forward: Recipe
    backward: Recipe | None
    metadata: Any
    wrappers: list[Any]
    saved: int | None
    """Results of the forward pass that are kept for the backward pass."""
    detached: list[int]
    """Inputs without a gradient."""


class Pending:
    """A graph that has a key, and no entry yet."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._recipes: dict[int, Recipe] = {}
        self._kept: tuple[list[int], dict[str, Any]] | None = None

    def note(self, recipe: Recipe) -> None:
        """Takes what was compiled. The last one of a graph has the entry written; that
        is the backward pass, which is awaited where it is first called."""
        self._recipes[recipe.kind] = recipe
        self._save()

    @contextlib.contextmanager
    def kept(self, forward: int, backward: int, inference: int) -> Iterator[None]:
        """While AOTAutograd compiles: what it would keep is kept here.

        The arguments are kinds of recipes.
        """
        from torch._functorch._aot_autograd import graph_compile

        for_training: Any = graph_compile._cache_autograd_info
        for_inference: Any = graph_compile._cache_inference_info

        def training(*args: Any, **options: Any) -> Any:
            result = for_training(*args, **options)
            given = inspect.signature(for_training).bind(*args, **options).arguments
            self._keep([forward, backward], given)
            return result

        def inferring(*args: Any, **options: Any) -> Any:
            result = for_inference(*args, **options)
            given = inspect.signature(for_inference).bind(*args, **options).arguments
            self._keep([inference], given)
            return result

        patched: dict[str, Any] = {
            "_cache_autograd_info": training,
            "_cache_inference_info": inferring,
        }
        if not _is_logged():
            patched["_log_joint_graph"] = lambda *_: None
            patched["_log_fw_bw_graphs"] = lambda *_: (None, None)
        with mock.patch.multiple(graph_compile, **patched):
            yield

    def _keep(self, kinds: list[int], given: dict[str, Any]) -> None:
        if _is_plain(given):
            self._kept = kinds, given
            self._save()

    def _save(self) -> None:
        if self._kept is None:
            return
        kinds, given = self._kept
        if not all(kind in self._recipes for kind in kinds):
            return
        self._kept = None
        first, *second = (self._recipes[kind] for kind in kinds)
        entry = Entry(
            first,
            second[0] if second else None,
            given["fw_metadata"],
            given["wrappers"],
            given.get("num_fw_outs_saved_for_bw"),
            given.get("_indices_of_inps_to_detach", []),
        )
        folder = _cache.folder()
        if folder is None:
            return
        try:
            with torch.utils._python_dispatch._disable_current_modes():
                content = pickle.dumps(entry)
            _cache.write(folder / f"{self._key}.entry", content)
        except Exception as error:  # noqa: BLE001 - without an entry, all goes on
            _log.info("not kept: %s", error)


def _is_logged() -> bool:
    """Whether somebody reads the texts of graphs, which take long to write."""
    from torch._functorch._aot_autograd import graph_compile
    from torch._logging._internal import trace_log

    logs = (graph_compile.aot_joint_log, graph_compile.aot_graphs_log)
    return bool(trace_log.handlers) or any(
        log.isEnabledFor(logging.INFO) for log in logs
    )


def _is_plain(given: dict[str, Any]) -> bool:
    """Whether a graph takes and returns tensors as they are, so that AOTAutograd has
    added no guards of its own and keeps nothing between calls."""
    metadata = given["fw_metadata"]
    return (
        given["maybe_subclass_meta"] is None
        and not metadata.tokens
        and not given.get("num_symints_saved_for_bw")
        and not any(
            getattr(each, "needs_post_compile", False) for each in given["wrappers"]
        )
    )


def find(
    graph: fx.GraphModule, inputs: Sequence[Any], policy: Policy
) -> tuple[Pending | None, Entry | None]:
    """The entry of a graph of Dynamo, or what will write one; neither where the graph
    has no key or nothing is kept."""
    folder = _cache.folder()
    key = None if folder is None else key_of(graph, inputs, policy)
    if folder is None or key is None:
        return None, None
    entry = None
    content = _cache.read(folder / f"{key}.entry")
    if content is not None:
        try:
            entry = pickle.loads(content)
        except Exception as error:  # noqa: BLE001 - what is no entry is replaced
            _log.info("not read: %s", error)
    return (None, entry) if isinstance(entry, Entry) else (Pending(key), None)


# ---- calling ----------------------------------------------------------------


class _Forward:
    """What PyTorch loads from an entry of its cache, here at hand."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def load(self, inputs: Any) -> Callable[..., Any]:
        return self._call

    def post_compile(self, call: Callable[..., Any], _: Any) -> Callable[..., Any]:
        return call


class _Backward(_Forward):
    backward_state_indices: Sequence[int] = ()
    num_symints_saved_for_bw_ = 0

    def post_compile(self, call: Callable[..., Any], _: Any) -> Callable[..., Any]:
        reason = "do not trace generated backwards pass"
        made: Callable[..., Any] = torch._dynamo.disable(call, reason=reason)
        return made


def restored(
    entry: Entry,
    graph: fx.GraphModule,
    inputs: Sequence[Any],
    forward: Callable[..., Any],
    backward: Callable[..., Any] | None,
) -> Callable[..., Any]:
    """What AOTAutograd returns for a graph, from the calls of its passes."""
    from functorch.compile import make_boxed_func
    from torch._functorch._aot_autograd.aot_autograd_result import (
        GenericAOTAutogradResult,
    )
    from torch._functorch.aot_autograd import prepare_aot_config

    *_, config = prepare_aot_config(graph, inputs, {}, False, False)
    known: GenericAOTAutogradResult[Any, Any] = GenericAOTAutogradResult(
        compiled_fw=_Forward(make_boxed_func(forward)),
        compiled_bw=_Backward(make_boxed_func(backward)) if backward else None,
        aot_joint_graph_str=None,
        aot_forward_graph_str=None,
        aot_backward_graph_str=None,
        min_cut_info_str=None,
        runtime_metadata=entry.metadata,
        dispatch_wrappers=entry.wrappers,
        maybe_subclass_meta=None,
        num_fw_outs_saved_for_bw=entry.saved,
        indices_of_inps_to_detach=entry.detached,
        forward_time_taken_ns=0,
        backward_time_taken_ns=0,
        sanitized_aot_config=None,  # type: ignore[arg-type] # not read
        guards_expr=None,
        serialized_bw_module=None,
    )
    nothing: Any = {}  # what Inductor would want to know
    call: Any = known.wrap_post_compile(list(inputs), config, nothing)

    def run(*arguments: Any) -> Any:
        return call(list(arguments))

    made: Callable[..., Any] = torch._dynamo.disable(
        run, reason="do not trace AOT-compiled graph"
    )
    return made
