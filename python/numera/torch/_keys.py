# SPDX-License-Identifier: MIT
"""What a graph of Dynamo is told by, before anything is made of it.

Everything that AOTAutograd and what follows read goes into the key: the graph, its
inputs, the modes and settings of PyTorch, the policy, and the versions of all that
take part. A graph with something that cannot be told exactly has no key.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import pathlib
from collections.abc import Iterable, Mapping, Sequence
from importlib import metadata
from typing import Any

import torch
from torch import fx

import numera
from numera import _sources
from numera.torch._policy import Policy, module_name

__all__ = ["key_of", "versions"]


class Unknown(Exception):
    """Something that the key of a graph cannot have."""


@functools.cache
def versions() -> bytes:
    """What makes texts of graphs, as it is now."""
    here = pathlib.Path(__file__).parent
    known = hashlib.sha256()
    names = ("torch", "torch-mlir")
    for name in names:
        try:
            known.update(f"{name} {metadata.version(name)};".encode())
        except metadata.PackageNotFoundError:
            known.update(f"no {name};".encode())
    made: Any = torch.version
    known.update(f"{torch.__version__} {made.git_version};".encode())
    known.update(f"numera {numera.__version__};".encode())
    for path in sorted([*here.glob("_*.py"), *here.parent.glob("_*.py")]):
        known.update(f"{path.name};".encode())
        known.update(path.read_bytes())
    return known.digest()


def key_of(graph: fx.GraphModule, inputs: Sequence[Any], policy: Policy) -> str | None:
    """The key, or None."""
    try:
        parts = [*_modes(), *_of_inputs(inputs), *_of_graph(graph), *_of_policy(policy)]
    except Unknown:
        return None
    known = hashlib.sha256(versions())
    for part in parts:
        known.update(f"{len(part)}:{part}".encode())
    return known.hexdigest()[:40]


# ---- the graph --------------------------------------------------------------

_PLAIN = (int, bool, str, complex, float, type(None), type(...))
_NAMED = (torch.dtype, torch.device, torch.layout, torch.memory_format)
_NAMESPACES = ("aten", "prims", "prim", "numera")
_ROOTS = ("torch", "_operator", "operator", "math", "builtins")


def _text(value: Any) -> str:
    """An argument of a node: two that differ have different texts."""
    if isinstance(value, fx.Node):
        return f"%{value.name}"
    if type(value) in _PLAIN or isinstance(value, _NAMED):
        return f"{type(value).__name__} {value!r}"
    if isinstance(value, slice):
        return f"slice({_text([value.start, value.stop, value.step])})"
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        if kind == "tuple" and type(value) not in (tuple, torch.Size):
            raise Unknown(type(value))
        return f"{kind}({','.join(map(_text, value))})"
    if isinstance(value, dict):
        each = (f"{_text(key)}:{_text(one)}" for key, one in value.items())
        return f"dict({','.join(each)})"
    raise Unknown(type(value))


def _target(node: fx.Node) -> str:
    """What a node calls: an operator or a function that comes with PyTorch, whose
    version says what it does."""
    target: Any = node.target
    if isinstance(target, torch._ops.OpOverload):
        if target.namespace in _NAMESPACES:
            return str(target)
        raise Unknown(target)
    if isinstance(target, torch._ops.OpOverloadPacket):
        if str(target).split(".")[0] in _NAMESPACES:
            return f"packet {target}"
        raise Unknown(target)
    try:
        name = fx.node._get_qualified_name(target)
    except (RuntimeError, AttributeError, TypeError):
        raise Unknown(target) from None
    root, *path = name.split(".")
    if root not in _ROOTS:
        raise Unknown(target)
    try:
        found = functools.reduce(getattr, path, importlib.import_module(root))
    except AttributeError:
        raise Unknown(target) from None
    if found is not target or isinstance(target, torch._ops.HigherOrderOperator):
        raise Unknown(target)
    return name


_MARKS = ("recompute", "ac_graph_id", "custom", "partitioner_tag", "user_cache_hash")
"""Of nodes that are told apart by more than what they call."""


def _of_graph(graph: fx.GraphModule) -> Iterable[str]:
    held = (graph.named_parameters, graph.named_buffers, graph.named_children)
    if any(next(iter(each()), None) is not None for each in held):
        raise Unknown("a module that holds something")
    for node in graph.graph.nodes:
        if node.op == "call_function":
            target = _target(node)
        elif node.op in ("placeholder", "call_method", "output"):
            target = str(node.target)
        else:
            raise Unknown(node.op)
        if any(node.meta.get(mark) for mark in _MARKS):
            raise Unknown("a mark")
        # AOTAutograd adds guards on its value where not all of its uses are tensors.
        if isinstance(node.meta.get("example_value"), torch.SymFloat):
            raise Unknown("a number that calls decide")
        yield f"{node.op} {node.name} {target} {node.type}"
        yield _text(node.args)
        yield _text(node.kwargs)
        yield module_name(node)
        if node.op == "placeholder":
            source = getattr(node, "_dynamo_source", None)
            yield str(getattr(source, "name", source))
            yield str(getattr(node, "_dynamo_static_input_type", None))


# ---- what it is given -------------------------------------------------------


def _of_inputs(inputs: Sequence[Any]) -> Iterable[str]:
    memory = set()
    for each in inputs:
        if not isinstance(each, torch.Tensor):
            if type(each) not in (int, bool, float):
                raise Unknown(type(each))
            yield _text(each)
            continue
        kinds = (torch.Tensor, torch.nn.Parameter, torch.nn.Buffer)
        fake = torch._subclasses.FakeTensor
        if type(each) not in kinds and not isinstance(each, fake):
            raise Unknown(type(each))
        if each.layout != torch.strided or each.device.type != "cpu":
            raise Unknown(each.layout)
        numbers = (*each.shape, *each.stride(), each.storage_offset())
        if not all(type(number) is int for number in numbers):
            raise Unknown("a symbolic size")
        place = each.untyped_storage()._cdata
        if place in memory:
            raise Unknown("two inputs in one memory")
        memory.add(place)
        facts = (
            *(tuple(each.shape), each.stride(), each.storage_offset(), each.dtype),
            *(each.requires_grad, each.is_leaf, each._is_view(), each.is_inference()),
            *(each.is_conj(), each.is_neg(), isinstance(each, torch.nn.Parameter)),
            getattr(each, "_dynamo_static_input_type", None),
        )
        yield repr(facts)


def _modes() -> Iterable[str]:
    """What else decides on how a graph is traced."""
    from torch._dynamo import compiled_autograd
    from torch._functorch import config
    from torch.overrides import _get_current_function_mode_stack
    from torch.utils._python_dispatch import _get_current_dispatch_mode_stack

    if _get_current_function_mode_stack() or _get_current_dispatch_mode_stack():
        raise Unknown("a mode")
    if compiled_autograd.compiled_autograd_enabled:
        raise Unknown("compiled autograd")
    if torch._C._autograd._top_saved_tensors_default_hooks(True) is not None:
        raise Unknown("hooks of saved tensors")
    cuda: Any = torch.backends.cuda
    yield repr(
        (
            *(torch.is_grad_enabled(), torch.is_inference_mode_enabled()),
            *(torch.is_autocast_enabled("cpu"), torch.get_autocast_dtype("cpu")),
            *(torch.is_autocast_cache_enabled(), torch.get_default_dtype()),
            torch.are_deterministic_algorithms_enabled(),
            torch.get_default_device(),
            *(cuda.flash_sdp_enabled(), cuda.mem_efficient_sdp_enabled()),
            *(cuda.math_sdp_enabled(), torch.backends.mkldnn.enabled),
            torch.backends.cpu.get_cpu_capability(),
            hasattr(torch.ops.prims, "fma"),  # which the table then has
        )
    )
    settings = config.save_config_portable()
    yield repr(sorted((key, _setting(each)) for key, each in settings.items()))


def _setting(value: Any) -> str:
    try:
        return _text(value)
    except Unknown:
        if isinstance(value, (set, frozenset)):
            return repr(sorted(map(str, value)))
        raise


# ---- the policy -------------------------------------------------------------


def _of_policy(policy: Policy) -> Iterable[str]:
    yield repr(_sources.known())  # where names of formats lead to
    for where, settings in policy.listed():
        yield where
        yield from map(_facts, settings)


def _facts(value: Any) -> str:
    if isinstance(value, numera.Format):
        return f"{value.__reduce__()[1]} {value.facts}"
    if value is None or isinstance(value, str):
        return repr(value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{_facts(each)}" for key, each in value.items())
    if isinstance(value, tuple):
        return ",".join(map(_facts, value))
    raise Unknown(type(value))
