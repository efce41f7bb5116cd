# SPDX-License-Identifier: MIT
"""Graphs of FX as programs take them: tensors in, tensors out, nothing random.

What a graph returns that is no result of computing (None, an input, a number, a
tensor twice) is not asked of the program. What PyTorch draws is an input.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import fx
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch.fx._lazy_graph_module import _make_graph_module, _use_lazy_graph_module

from numera.torch import _bytes, _complex, _folding, _random, _views

aten = torch.ops.aten

__all__ = ["Graph", "Laid", "prepare"]

_ALIASES = (
    aten.alias.default,
    aten.detach.default,
    aten.detach_.default,
    aten.lift_fresh.default,
    aten.lift_fresh_copy.default,
    aten.clone.default,
)
"""In a graph without mutation, its operand."""


_ALONG = (
    aten.gather.default,
    aten.scatter.src,
    aten.scatter.value,
    aten.scatter_add.default,
    aten.scatter_reduce.two,
)
"""Operators whose axis torch-mlir takes for one from 0 on."""

_COMPARISONS = {
    getattr(aten, name).Scalar: getattr(aten, name).Tensor
    for name in ("eq", "ne", "lt", "le", "gt", "ge")
}


def _compare_in_own_type(graph: fx.Graph, node: fx.Node) -> None:
    """With a tensor in place of a number of Python, which torch-mlir compares in
    f64, and PyTorch in the tensor's type."""
    given: tuple[Any, ...] = node.args
    tensor, number = given
    like = tensor.meta["val"]
    if not like.is_floating_point():
        return
    made = _random.number(graph, node, number, like)
    node.target, node.args = _COMPARISONS[node.target], (tensor, made)


_COUNTS = (aten.arange.default, aten.arange.start, aten.arange.start_step)
"""Operators whose numbers say how many elements there are."""


def _bound(node: fx.Node, is_finite: bool, largest: float) -> None:
    """Takes the largest number in place of what lies beyond it. Integers are in no
    format."""
    tensors = [node.meta.get("val"), *(n.meta.get("val") for n in node.all_input_nodes)]
    kinds = [each.dtype for each in tensors if isinstance(each, torch.Tensor)]
    if kinds and not any(kind.is_floating_point for kind in kinds):
        return

    def bounded(argument: Any) -> Any:
        if not isinstance(argument, float) or math.isnan(argument):
            return argument
        if math.isinf(argument):
            if not is_finite:
                return argument
            argument = math.copysign(torch.finfo(torch.float32).max, argument)
        return math.copysign(min(abs(argument), largest), argument)

    node.args = fx.node.map_aggregate(node.args, bounded)
    node.kwargs = fx.node.map_aggregate(node.kwargs, bounded)


def _bound_tensor(module: fx.GraphModule, node: fx.Node, largest: float) -> None:
    """The same for a tensor that a graph holds."""
    path: Any = node.target
    held: Any = functools.reduce(getattr, path.split("."), module)
    if not isinstance(held, torch.Tensor) or held.dtype != torch.float32:
        return
    largest = min(largest, torch.finfo(torch.float32).max)
    with unset_fake_temporarily():
        kept = held.clamp(-largest, largest).where(held.isfinite(), held)
        if torch.equal(kept.nan_to_num(), held.nan_to_num()):
            return
    name = f"bounded_{node.name}"
    module.register_buffer(name, kept)
    node.target = name


class Laid(NamedTuple):
    """A tensor in memory, without gaps."""

    shape: tuple[int, ...]
    dtype: torch.dtype
    device: str


def _laid(tensor: torch.Tensor) -> Laid:
    return Laid(tuple(tensor.shape), tensor.dtype, str(tensor.device))


def _layout(node: Any) -> tuple[tuple[int, ...], int] | None:
    """The strides of a result and its place in its memory; None: it begins there, and
    has no gaps."""
    value = node.meta.get("val") if isinstance(node, fx.Node) else None
    if not isinstance(value, torch.Tensor):
        return None
    offset = int(value.storage_offset())
    if value.is_contiguous() and not offset:
        return None
    return tuple(value.stride()), offset


class Graph(NamedTuple):
    """A graph, and how its results come from a program's."""

    module: fx.GraphModule | None
    """None: of a graph that is not there any more."""
    inputs: list[int]
    """Which arguments the program reads, in order; behind them come the draws."""
    orders: dict[int, list[int]]
    """Of arguments that lie in memory in another order of dimensions: that order."""
    draws: list[_random.Draw]
    """What PyTorch draws for each call."""
    masks: list[int]
    """The program's arguments in which -inf is the lowest number."""
    pairs: list[int]
    """The program's arguments that are complex, and taken with both parts in a last
    dimension."""
    plan: list[tuple[str, Any]]
    """Of each result: ("value" or "fresh", what it is or is a copy of), ("input" or "copy", which argument),
    ("permuted", which argument and how), ("output", which of the program's),
    ("complex", which of the program's has both parts), or ("narrow", which of the
    program's and of which type)."""
    layouts: list[tuple[tuple[int, ...], int] | None]
    """Of each result: its strides, and where it begins. PyTorch makes results that are
    views, of arguments or of each other, anew by these."""
    arguments: list[Laid]
    """The program's arguments."""
    outputs: list[Laid]
    """The program's results."""


def prepare(
    module: fx.GraphModule,
    *,
    is_finite: bool = False,
    largest: Callable[[fx.Node], float] | None = None,
    widens: bool = False,
    whole: bool = False,
) -> Graph:
    """A copy of the graph with what a program can take and return.

    is_finite  a format has no infinities: constants that are infinite, which mask
               attention, are the largest number instead, and so is -inf in tensors
               that are given.
    largest    the largest number of the format that a node computes in; it is taken
               for finite constants beyond.
    widens     f32 is taken and returned in place of bf16 and f16.
    whole      the program returns every tensor that the graph does, each time.
    """
    graph = fx.Graph()
    graph.output(graph.graph_copy(module.graph, {}))
    with _use_lazy_graph_module(True):  # its code is wanted by a fallback alone
        module = _make_graph_module(module, graph)
    _complex.split(module)
    _folding.fold(module)
    arguments = list(graph.find_nodes(op="placeholder"))
    for node in graph.nodes:
        most = largest(node) if largest else math.inf
        if node.op == "get_attr":
            _bound_tensor(module, node, most)
        elif node.op == "call_function" and node.target not in _COUNTS:
            _bound(node, is_finite, most)
    results: Any = graph.output_node().args[0]
    copies = {place for place, node in enumerate(results) if _is_copied(node)}
    layouts = [_layout(node) for node in results]
    for node in graph.nodes:
        _rewrite(graph, node)
    for node in graph.find_nodes(op="get_attr"):
        _part_uses(graph, node)
    draws = _random.lift(graph)
    plan, kept = _plan(graph, arguments, copies, whole)
    plan, kept, pairs = _complex.at_border(graph, plan, kept)
    if widens:
        plan, kept = _widened(graph, plan, kept)
    _bytes.check(graph)
    _bytes.convert_by_integers(graph)
    graph.eliminate_dead_code()
    inputs = []
    for place, node in enumerate(arguments):
        if node.users:
            inputs.append(place)
        else:
            graph.erase_node(node)
    orders = {place: _straighten(graph, arguments[place]) for place in inputs}
    graph.lint()
    module.recompile()
    taken = list(graph.find_nodes(op="placeholder"))
    return Graph(
        module,
        inputs,
        {place: order for place, order in orders.items() if order},
        draws,
        [place for place, node in enumerate(taken) if is_finite and _may_mask(node)],
        [place for place, node in enumerate(taken) if node in pairs],
        plan,
        layouts,
        [_laid(node.meta["val"]) for node in taken],
        [_laid(node.meta["val"]) for node in kept],
    )


def _may_mask(node: fx.Node) -> bool:
    """Whether an argument may have -inf for what attention is to leave out."""
    is_drawn = node.name.startswith("drawn_")
    return node.meta["val"].dtype == torch.float32 and not is_drawn


def _rewrite(graph: fx.Graph, node: fx.Node) -> None:
    """Puts in place of a node what torch-mlir takes better."""
    node.meta.pop("tensor_meta", None)  # `val` says more, and is kept right
    if node.op != "call_function":
        return
    given: tuple[Any, ...] = node.args
    if node.target is aten._linalg_check_errors.default:
        graph.erase_node(node)  # a program does not raise
    elif node.target in _ALIASES and _is_laid_anew(node):
        node.kwargs = {}
    elif node.target in _ALIASES:
        node.replace_all_uses_with(given[0])
        graph.erase_node(node)
    elif node.target is aten._neg_view.default:
        node.target = aten.neg.default
    elif node.target is aten.view.default:
        _views.in_steps(graph, node)
    elif node.target in _COMPARISONS:
        _compare_in_own_type(graph, node)
    elif node.target in _ALONG:
        tensor, axis, *rest = given
        node.args = (tensor, axis % max(tensor.meta["val"].dim(), 1), *rest)


def _is_laid_anew(node: fx.Node) -> bool:
    """Whether a result is a copy in another order of dimensions, or without gaps."""
    source: Any = node.args[0]
    given = source.meta.get("val")  # which a tensor that a graph holds may lack
    if given is None or not any(user.op == "output" for user in node.users):
        return False
    return bool(given.stride() != node.meta["val"].stride())


def _part_uses(graph: fx.Graph, node: fx.Node) -> None:
    """A node for each use of a tensor that a graph holds, as torch-mlir's importer
    wants it, also where an operator takes it twice."""
    free = [node]

    def own(each: fx.Node) -> fx.Node:
        if each is not node:
            return each
        if free:
            return free.pop()
        with graph.inserting_before(node):
            other = graph.get_attr(str(node.target))
        other.meta.update(node.meta)
        return other

    for user in list(node.users):
        if user.op == "call_function":
            user.args = fx.node.map_arg(user.args, own)
            user.kwargs = fx.node.map_arg(user.kwargs, own)


def _is_copied(node: Any) -> bool:
    """Whether a result is memory of its own with another's elements."""
    while isinstance(node, fx.Node) and node.target in _ALIASES:
        if node.target is aten.clone.default:
            return True
        node = node.args[0]
    return False


def _plan(
    graph: fx.Graph, arguments: list[fx.Node], copies: set[int], whole: bool
) -> tuple[list[tuple[str, Any]], list[fx.Node]]:
    """How results come about, and those that the program computes, which are what
    the graph returns from now on."""
    plan: list[tuple[str, Any]] = []
    kept: dict[fx.Node, int] = {}
    end = graph.output_node()
    results: Any = end.args[0]
    if whole:
        every = [value for value in results if isinstance(value, fx.Node)]
        end.args = (tuple(every),)
        return [("output", place) for place in range(len(every))], every
    for place, value in enumerate(results):
        if not isinstance(value, fx.Node):
            plan.append(("value", value))
        elif value in arguments:
            kind = "copy" if place in copies else "input"
            plan.append((kind, arguments.index(value)))
        elif value.op == "get_attr":  # kept for the backward pass
            path: Any = value.target
            module: Any = graph.owning_module
            constant = functools.reduce(getattr, path.split("."), module)
            # What the model makes is its caller's.
            is_made = path.startswith("_tensor_constant")
            plan.append(("fresh" if is_made else "value", constant))
        elif value.target is aten.permute.default and value.args[0] in arguments:
            source: Any = value.args[0]
            plan.append(("permuted", (arguments.index(source), value.args[1])))
        else:
            plan.append(("output", kept.setdefault(value, len(kept))))
    end.args = (tuple(kept),)
    return plan, list(kept)


_NARROW = (torch.bfloat16, torch.float16)
"""Types that no program takes or returns: they are f32 at its border."""


def _widened(
    graph: fx.Graph, plan: list[tuple[str, Any]], kept: list[fx.Node]
) -> tuple[list[tuple[str, Any]], list[fx.Node]]:
    convert = torch.ops.prims.convert_element_type.default
    for node in graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and value.dtype in _NARROW and node.users:
            with graph.inserting_after(node):
                narrow = graph.call_function(convert, (node, value.dtype))
            node.replace_all_uses_with(narrow, lambda user, own=narrow: user is not own)
            narrow.meta.update(node.meta)
            node.meta["val"] = value.to(torch.float32)
    end = graph.output_node()
    wide = []
    for node in kept:
        value = node.meta["val"]
        if value.dtype in _NARROW:
            with graph.inserting_before(end):
                made = graph.call_function(convert, (node, torch.float32))
            _random.describe(made, node, value.to(torch.float32))
            node = made
        wide.append(node)
    end.args = (tuple(wide),)

    def place(kind: str, value: Any) -> tuple[str, Any]:
        if kind == "output" and wide[value] is not kept[value]:
            return "narrow", (value, kept[value].meta["val"].dtype)
        return kind, value

    return [place(*each) for each in plan], wide


def _straighten(graph: fx.Graph, node: fx.Node) -> list[int] | None:
    """Takes an argument that is dense in another order of its dimensions, such as a
    transposed matrix, in that order."""
    value = node.meta["val"]
    if not isinstance(value, torch.Tensor) or value.is_contiguous():
        return None
    strides: tuple[int, ...] = value.stride()
    order = sorted(range(value.dim()), key=lambda axis: -strides[axis])
    if not value.permute(order).is_contiguous():
        return None
    with graph.inserting_after(node):
        back = [order.index(axis) for axis in range(value.dim())]
        turned = graph.call_function(aten.permute.default, (node, back))
    node.replace_all_uses_with(turned, lambda user: user is not turned)
    turned.meta.update(node.meta)
    node.meta["val"] = value.permute(order)
    return order
