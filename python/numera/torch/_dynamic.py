# SPDX-License-Identifier: MIT
"""Graphs with sizes and numbers that calls decide: one program for each set of sizes.

A number of Python that only takes part in arithmetic is an argument of the program. So
is a tensor whatever its strides: it is copied where it has gaps.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import fx
from torch.fx.experimental.proxy_tensor import make_fx

from numera.torch import _strides

aten = torch.ops.aten

__all__ = ["as_dynamo_compiles", "divide_numbers", "has_symbols", "specialising"]


def divide_numbers(module: fx.GraphModule) -> None:
    """Has quotients of numbers of Python be those of tensors. AOTAutograd makes tensors
    of such numbers after it has decomposed a graph, and divides them by a synonym."""
    for node in module.graph.find_nodes(
        op="call_function", target=aten.true_divide.Tensor
    ):
        node.target = aten.div.Tensor


def has_symbols(module: fx.GraphModule) -> bool:
    """Whether a size of an input is a symbol."""
    for node in module.graph.nodes:
        if node.op != "placeholder":
            continue
        value = node.meta.get("val")
        if isinstance(value, torch.SymInt):
            return True
        if isinstance(value, torch.Tensor) and any(
            isinstance(size, torch.SymInt) for size in value.shape
        ):
            return True
    return False


def specialising(
    module: fx.GraphModule,
    takes_numbers: bool,
    compile: Callable[[fx.GraphModule], Callable[..., list[Any]]],
) -> Callable[..., list[Any]]:
    """A function of the graph's arguments that compiles for sizes it has not met.

    takes_numbers  numbers of Python in arithmetic are arguments, too.
    """
    numbers = _Numbers(module, takes_numbers)
    known: dict[tuple[Any, ...], Callable[..., list[Any]]] = {}

    def invoke(*arguments: Any) -> list[Any]:
        values = numbers.values(arguments)
        sizes = (*map(_laid, arguments, numbers.are_symbols), *numbers.fixed(values))
        given = (*arguments, *numbers.passed(values))
        if sizes not in known:
            with as_dynamo_compiles():
                if sizes not in known:  # another thread may have met them
                    known[sizes] = compile(_specialise(numbers.module, given))
        results = known[sizes](*given)
        for place, node in numbers.returned:
            results[place] = values[node]
        return results

    return invoke


@contextlib.contextmanager
def as_dynamo_compiles() -> Iterator[None]:
    """What Dynamo holds where it calls a backend, for compiling outside of such a call.

    `make_fx` changes `nn.Module.__call__` for all threads, which guards read that another
    thread makes: so one thread compiles at a time. It also says to all threads that FX
    traces, and they refuse to call compiled models, unless a compilation is said to be
    on its way. PyTorch has no public names for either.
    """
    from torch._dynamo.convert_frame import compile_lock

    with compile_lock, torch.compiler._compile_session_context():
        yield


def _laid(argument: Any, is_symbol: bool) -> Any:
    """What programs differ in. The order of strides decides on that of results."""
    if not isinstance(argument, torch.Tensor):
        return None if is_symbol else argument
    strides = argument.stride()
    order = sorted(range(len(strides)), key=lambda axis: -strides[axis])
    return tuple(argument.shape), tuple(order)


def _specialise(module: fx.GraphModule, arguments: tuple[Any, ...]) -> fx.GraphModule:
    """The graph for the sizes that the arguments have."""

    def run(*values: Any) -> Any:
        with fx.traceback.preserve_node_meta():
            return fx.Interpreter(module).run(*values)

    with torch.no_grad():
        return make_fx(run, _strides.TABLE, tracing_mode="fake")(*arguments)


# ---- numbers of Python ------------------------------------------------------

_SUMS = (aten.add.Tensor, aten.sub.Tensor, aten.mul.Tensor, aten.div.Tensor)
_FILLED = (aten.full.default, aten.full_like.default, aten.scalar_tensor.default)
_FLOATS = (torch.float32, torch.float64)


class _Passed(NamedTuple):
    node: fx.Node
    dtype: torch.dtype


def _is_number(value: Any) -> bool:
    kinds = (torch.SymInt, torch.SymFloat, torch.SymBool, int, float)
    return isinstance(value, kinds)


def _symbols(value: Any) -> Any:
    own = isinstance(value, (torch.SymInt, torch.SymFloat))
    return value.node.expr.free_symbols if own else frozenset()


class _Numbers:
    """The numbers of a graph that are no elements of tensors."""

    def __init__(self, module: fx.GraphModule, takes_numbers: bool) -> None:
        graph = fx.Graph()
        known: dict[fx.Node, fx.Node] = {}
        graph.output(graph.graph_copy(module.graph, known))
        self.module = fx.GraphModule(module, graph)
        self._arguments = graph.find_nodes(op="placeholder")
        self.are_symbols = [_is_number(_val(node)) for node in self._arguments]
        self._nodes = self._computed(graph)
        own = set(self._nodes)
        sizes: set[Any] = set()
        for node in self._arguments:
            if isinstance(_val(node), torch.Tensor):
                sizes = sizes.union(*map(_symbols, _val(node).shape))
        self._fixed: list[fx.Node] = []
        self._passed: list[_Passed] = []
        self.returned: list[tuple[int, fx.Node]] = []
        """Numbers that the graph returns, and at which place."""
        for node in self._nodes:
            users = [user for user in node.users if user not in own]
            free = takes_numbers and bool(_symbols(_val(node)) - sizes)
            users = [user for user in users if user.op != "output"]
            if not free or not all(_takes_tensor(user, node) for user in users):
                self._fixed += [node] if users else []
                continue
            for user in users:
                self._pass(graph, node, user)
        end = graph.output_node()
        results: Any = end.args[0]
        self.returned = [(n, node) for n, node in enumerate(results) if node in own]
        kept = [None if node in own else node for node in results]
        end.args = (tuple(kept),)
        self.module.recompile()

    def _computed(self, graph: fx.Graph) -> list[fx.Node]:
        """Those that are arguments, or are computed of such alone."""
        found: dict[fx.Node, None] = {}
        for node in graph.nodes:
            if not _is_number(_val(node)):
                continue
            inputs = node.all_input_nodes
            computed = inputs and all(each in found for each in inputs)
            if node.op == "placeholder" or (node.op == "call_function" and computed):
                found[node] = None
        return list(found)

    def _pass(self, graph: fx.Graph, node: fx.Node, user: fx.Node) -> None:
        """Has a tensor of one element in the place of a number."""
        like = _val(user)
        with graph.inserting_after(self._arguments[-1]):
            taken = graph.placeholder(f"number_{len(self._passed)}")
        self._arguments.append(taken)
        self._passed.append(_Passed(node, like.dtype))
        taken.meta["val"] = like.new_empty([])
        if user.target in _SUMS:
            user.args = tuple(taken if each is node else each for each in user.args)
            return
        size: Any = [] if user.target is aten.scalar_tensor.default else user.args[0]
        likes = user.target is aten.full_like.default
        user.target = aten.expand_as.default if likes else aten.expand.default
        user.args, user.kwargs = (taken, size), {}
        with graph.inserting_after(user):
            laid = graph.call_function(
                aten.clone.default, (user,), {"memory_format": torch.contiguous_format}
            )
        user.replace_all_uses_with(laid, lambda other: other is not laid)
        laid.meta.update(user.meta)

    def values(self, arguments: tuple[Any, ...]) -> dict[fx.Node, Any]:
        """Of each number, what it is in a call."""
        found: dict[fx.Node, Any] = dict(zip(self._arguments, arguments))
        for node in self._nodes:
            if node.op == "placeholder":
                continue
            args = fx.node.map_arg(node.args, found.__getitem__)
            kwargs = fx.node.map_arg(node.kwargs, found.__getitem__)
            target: Any = node.target
            found[node] = target(*args, **kwargs)
        return found

    def fixed(self, values: dict[fx.Node, Any]) -> list[Any]:
        """Those that a program is made for."""
        return [values[node] for node in self._fixed]

    def passed(self, values: dict[fx.Node, Any]) -> list[torch.Tensor]:
        """Those that a program takes."""
        return [
            torch.tensor(values[each.node], dtype=each.dtype) for each in self._passed
        ]


def _val(node: fx.Node) -> Any:
    return node.meta.get("val")


def _takes_tensor(user: fx.Node, number: fx.Node) -> bool:
    """Whether an operator computes the same of a tensor of one element."""
    result, given = _val(user), user.args
    if not isinstance(result, torch.Tensor) or number in user.kwargs.values():
        return False
    if user.target in _SUMS:
        others = [each for each in given if each is not number]
        return (
            len(given) == 2
            and len(others) == 1
            and isinstance(others[0], fx.Node)
            and isinstance(_val(others[0]), torch.Tensor)
            and _val(others[0]).dtype == result.dtype
            and result.dtype in _FLOATS
        )
    if user.target in _FILLED:
        kinds = (*_FLOATS, torch.int64, torch.int32)
        is_plain = result.is_contiguous() and _is_plain(user)
        return given[-1] is number and result.dtype in kinds and is_plain
    return False


def _is_plain(user: fx.Node) -> bool:
    """Whether no size is the number itself."""
    sizes: list[fx.Node] = []
    fx.node.map_arg(user.args[:-1], sizes.append)
    return not any(
        _symbols(_val(each)) & _symbols(_val(user.args[-1])) for each in sizes
    )
