# SPDX-License-Identifier: MIT
"""Calls of a compiled graph on tensors where they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import fx

from numera import _numera
from numera._errors import Error
from numera._programs import Program
from numera.torch._graph import Graph, Laid
from numera.torch._refusals import GraphError

__all__ = ["check_given", "check_types", "make_call", "make_empty_call"]

_DTYPES = {
    torch.float32: 1,
    torch.float64: 2,
    torch.int8: 3,
    torch.int16: 4,
    torch.int32: 5,
    torch.int64: 6,
    torch.uint8: 3,  # without signs, as torch-mlir has them
    torch.uint16: 8,
    torch.uint32: 9,
    torch.uint64: 10,
    torch.bool: 11,
}
"""Numbers of the element types that programs have (`numera.h`)."""


def _reader(node: fx.Node) -> fx.Node:
    """The first node that computes with an argument."""
    reader = next(iter(node.users), node)
    if reader is node or reader.meta.get("numera_node") != node.meta.get("numera_node"):
        return reader
    return _reader(reader)  # the argument in another order of its dimensions


def check_given(given: Mapping[str, Any]) -> None:
    """Refuses what ``torch.compile`` hands on that a backend would pass over. Modes are
    ways of PyTorch's own backend to compile the same thing."""
    if given.get("options"):
        name = next(iter(given["options"]))
        raise Error(
            f"options of torch.compile are not for this backend, found '{name}'"
        )


def check_types(module: fx.GraphModule) -> None:
    """Refuses numbers that a program neither takes nor returns."""
    results: Any = module.graph.output_node().args[0]
    for node in module.graph.find_nodes(op="placeholder"):
        dtype = node.meta["val"].dtype
        if dtype not in _DTYPES:
            user = _reader(node)
            raise GraphError(user, f"it reads {dtype}, which no program takes")
    for node in results:
        dtype = node.meta["val"].dtype
        if dtype not in _DTYPES:
            raise GraphError(node, f"its result is {dtype}, which no program returns")


def _memory(tensors: Sequence[Laid], what: str) -> list[tuple[int, list[int]]]:
    for tensor in tensors:
        if tensor.device.split(":")[0] != "cpu":
            raise Error(f"{what} lies on {tensor.device}, expected memory of the CPU")
    return [(_DTYPES[tensor.dtype], list(tensor.shape)) for tensor in tensors]


_LOWEST = torch.finfo(torch.float32).min


def _finite(tensor: torch.Tensor) -> torch.Tensor:
    """With the lowest number in place of -inf."""
    if tensor.numel() == 0 or tensor.amin() > -torch.inf:
        return tensor  # NaN is less than all numbers here
    return torch.where(tensor == -torch.inf, _LOWEST, tensor)


def make_call(
    graph: Graph,
    program: Program,
    draw: Callable[[], tuple[int, int]],
    threads: int,
    seen: list[torch.Tensor] | None = None,
    more: Sequence[Sequence[int]] = (),
    take: Callable[[list[Any], list[torch.Tensor]], None] | None = None,
) -> Callable[..., list[Any]]:
    """A function of the graph's arguments that returns what the graph does.

    draw  seed and step of a call.
    seen  a list that has the program's inputs after a call.
    more  shapes of results of the program, i64, that stand behind the graph's.
    take  is given the graph's results and these.
    """
    native = program._native
    (function,) = program.functions
    inputs = graph.arguments
    call = _numera.Call(
        native,
        function,
        _memory(inputs, "an input"),
        [
            *_memory(graph.outputs, "a result"),
            *((_DTYPES[torch.int64], list(shape)) for shape in more),
        ],
    )
    dtypes = [tensor.dtype for tensor in inputs]
    places, draws = graph.inputs, graph.draws
    orders = [graph.orders.get(place) for place in places] + [None] * len(draws)
    pairs, masks = graph.pairs, frozenset(graph.masks)
    returns = _Results(graph)
    outputs = [(list(tensor.shape), tensor.dtype) for tensor in graph.outputs]
    own = len(outputs)
    outputs += [(list(shape), torch.int64) for shape in more]
    run, empty, view_as_real = call.run, torch.empty, torch.view_as_real

    def invoke(*arguments: Any) -> list[Any]:
        given = [arguments[place] for place in places]
        given += [each() for each in draws]
        for place in pairs:
            given[place] = view_as_real(given[place].resolve_conj())
        addresses = []
        for place, tensor in enumerate(given):
            if tensor.is_neg():  # the imaginary parts of what is conjugate
                given[place] = tensor = tensor.resolve_neg()
            order = orders[place]
            if order is not None:
                given[place] = tensor = tensor.permute(order)
            if not tensor.is_contiguous() or tensor.dtype != dtypes[place]:
                # The copy lives as long as the list.
                given[place] = tensor = tensor.to(dtypes[place]).contiguous()
            if place in masks and not isinstance(tensor, torch.nn.Parameter):
                given[place] = tensor = _finite(tensor)
            addresses.append(tensor.data_ptr())
        if seen is not None:
            seen[:] = given
        results = [empty(shape, dtype=dtype) for shape, dtype in outputs]
        addresses += [result.data_ptr() for result in results]
        run(addresses, threads, *draw(), 0)
        returned = returns(arguments, results)
        if take is not None:
            take(returned, results[own:])
        return returned

    return invoke


def _laid_out(
    tensor: torch.Tensor, strides: Sequence[int], offset: int
) -> torch.Tensor:
    """A copy in larger memory, from a place in it on."""
    extents = ((size - 1) * stride for size, stride in zip(tensor.shape, strides))
    size = offset + (1 + sum(extents) if tensor.numel() else 0)
    result = torch.empty(size, dtype=tensor.dtype)
    result = written = result.as_strided(tensor.shape, strides, offset)
    for axis, stride in enumerate(strides):
        if stride == 0 and tensor.shape[axis] > 1:  # one element in many places
            written, tensor = written.narrow(axis, 0, 1), tensor.narrow(axis, 0, 1)
    written.copy_(tensor)
    return result


class _Results:
    """A graph's results, from its arguments and what the program returned."""

    def __init__(self, graph: Graph) -> None:
        self._plan = graph.plan
        self._layouts = graph.layouts

    def __call__(
        self, arguments: Sequence[Any], results: Sequence[torch.Tensor]
    ) -> list[Any]:
        returned = []
        for (kind, value), layout in zip(self._plan, self._layouts):
            if kind == "output":
                value = results[value]
            elif kind == "complex":
                value = torch.view_as_complex(results[value])
            elif kind == "narrow":
                value = results[value[0]].to(value[1])
            elif kind == "fresh":
                value = value.clone()
            elif kind == "input":
                value = arguments[value]
            elif kind == "copy":
                value = arguments[value].clone()
            elif kind == "permuted":
                value = arguments[value[0]].permute(value[1])
            if layout and kind in _COMPUTED:
                value = _laid_out(value, *layout)
            returned.append(value)
        return returned


_COMPUTED = frozenset(("output", "complex", "narrow"))


def make_empty_call(graph: Graph) -> Callable[..., list[Any]]:
    """Of a graph that computes nothing."""
    returns = _Results(graph)
    return lambda *arguments: returns(arguments, ())
