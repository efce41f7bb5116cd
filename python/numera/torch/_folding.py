# SPDX-License-Identifier: MIT
"""What a graph computes from no input is computed by PyTorch, once: it is a constant, and
is rounded as constants are. In the format, places in an image would be rounded too."""

from __future__ import annotations

from collections import Counter
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.utils._python_dispatch import _disable_current_modes

from numera.torch._passes import name_of

__all__ = ["fold"]

_EXACT = frozenset(
    """full zeros ones scalar_tensor full_like zeros_like ones_like new_full new_zeros
    new_ones eye expand view _unsafe_view reshape permute t transpose squeeze unsqueeze
    slice select clone alias detach lift_fresh lift_fresh_copy where cat stack index
    constant_pad_nd triu tril neg abs getitem""".split()
)
"""Operators that round nothing: what they make is what is given."""

_KINDS = (torch.float32, torch.bool, torch.int32, torch.int64)
"""Of constants that are made."""

_MOST = 1 << 20
"""Elements of all constants that are made, and of one of what they are made of."""


def fold(module: fx.GraphModule) -> None:
    """Holds the results of arithmetic on floats that depends on no input."""
    graph = module.graph
    _make_empty(graph)
    known: set[fx.Node] = set()
    computed: set[fx.Node] = set()
    for node in graph.nodes:
        given, kind = node.all_input_nodes, _tensor_of(node)
        is_small = kind is None or kind.numel() <= _MOST
        if not (is_small and _is_function(node) and known.issuperset(given)):
            continue
        known.add(node)
        if _rounds(node) or not computed.isdisjoint(given):
            computed.add(node)
    wanted = [node for node in graph.nodes if _is_wanted(node, known, computed)]
    sizes = Counter(node.meta["val"].numel() for node in wanted)
    held, most = 0, -1
    for size in sorted(sizes):  # those of one size alike
        held += size * sizes[size]
        most = size if held <= _MOST else most
    for node in wanted:
        if node.meta["val"].numel() <= most:
            _hold(module, node, _value(node, {}))
    graph.eliminate_dead_code()


def _make_empty(graph: fx.Graph) -> None:
    """Makes tensors without elements of nothing: torch-mlir divides by their sizes."""
    full = torch.ops.aten.full.default
    for node in list(graph.nodes):
        kind = _tensor_of(node)
        if kind is None or not _is_function(node) or node.target is full:
            continue
        if any(type(size) is not int for size in kind.shape) or 0 not in kind.shape:
            continue
        if kind.dtype.is_complex:  # computed in parts, by what a graph does
            continue
        with graph.inserting_before(node):
            made = graph.call_function(
                full, (list(kind.shape), 0), {"dtype": kind.dtype}
            )
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        graph.erase_node(node)


def _is_wanted(node: fx.Node, known: set[fx.Node], computed: set[fx.Node]) -> bool:
    """Whether something else reads a computed tensor, or it is a result."""
    kind = _tensor_of(node)
    return (
        node in computed
        and kind is not None
        and kind.dtype in _KINDS
        and not known.issuperset(node.users)
    )


def _is_function(node: fx.Node) -> bool:
    """Whether a node gives the same whenever it is computed of the same."""
    if node.op == "get_attr":
        return str(node.target).startswith("_tensor_constant")
    if node.op != "call_function":
        return False
    if getattr(node.target, "__name__", "") == "getitem":
        return True
    space = getattr(node.target, "namespace", None)
    tags = getattr(node.target, "tags", ())
    return (
        space in ("aten", "prims")
        and torch.Tag.nondeterministic_seeded not in tags
        and (not name_of(node).startswith("empty") or _gives_shape(node))
        and not node.target._schema.is_mutable  # type: ignore[union-attr]
    )


def _gives_shape(node: fx.Node) -> bool:
    """Whether nothing reads a tensor's elements."""
    filling = ("full_like", "zeros_like", "ones_like", "fill")
    return all(name_of(user) in filling for user in node.users)


def _tensor_of(node: fx.Node) -> torch.Tensor | None:
    value = node.meta.get("val")
    return value if isinstance(value, torch.Tensor) else None


def _rounds(node: fx.Node) -> bool:
    """Whether a node is arithmetic on floats. To make a float of an integer rounds it
    as a constant is."""
    result = _tensor_of(node)
    if node.op != "call_function" or result is None or name_of(node) in _EXACT:
        return False
    operands = map(_tensor_of, node.all_input_nodes)
    if any(each is not None and each.is_floating_point() for each in operands):
        return True
    is_cast = name_of(node) in ("convert_element_type", "_to_copy")
    return result.is_floating_point() and not is_cast


def _value(node: fx.Node, values: dict[fx.Node, Any]) -> Any:
    for each in node.all_input_nodes:
        if each not in values:
            _value(each, values)
    if node in values:
        return values[node]
    with unset_fake_temporarily(), _disable_current_modes(), torch.no_grad():
        if node.op == "get_attr":
            module: Any = node.graph.owning_module
            found = getattr(module, str(node.target))
        else:
            args = fx.node.map_arg(node.args, values.__getitem__)
            kwargs = fx.node.map_arg(node.kwargs, values.__getitem__)
            found = node.target(*args, **kwargs)  # type: ignore[operator]
    values[node] = found
    return found


def _hold(module: fx.GraphModule, node: fx.Node, value: torch.Tensor) -> None:
    name = f"_tensor_constant_{node.name}"
    with unset_fake_temporarily(), _disable_current_modes():
        module.register_buffer(name, value.contiguous().clone())
    with node.graph.inserting_before(node):
        held = node.graph.get_attr(name)
    held.meta.update(node.meta)
    node.replace_all_uses_with(held)
