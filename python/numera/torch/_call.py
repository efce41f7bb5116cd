# SPDX-License-Identifier: MIT
"""Calls of a compiled graph on tensors where they lie."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from numera import _numera
from numera._errors import Error
from numera._programs import Program
from numera.torch._graph import Graph

__all__ = ["make_call"]

_DTYPES = {
    torch.float32: 1,
    torch.float64: 2,
    torch.int8: 3,
    torch.int16: 4,
    torch.int32: 5,
    torch.int64: 6,
    torch.uint8: 7,
    torch.uint16: 8,
    torch.uint32: 9,
    torch.uint64: 10,
    torch.bool: 11,
}
"""Numbers of the element types that programs have (`numera.h`)."""


def _memory(tensors: Sequence[torch.Tensor], what: str) -> list[tuple[int, list[int]]]:
    for tensor in tensors:
        if tensor.dtype not in _DTYPES:
            raise Error(f"{what} has dtype {tensor.dtype}, which no program has")
        if tensor.device.type != "cpu":
            raise Error(f"{what} lies on {tensor.device}, expected memory of the CPU")
    return [(_DTYPES[tensor.dtype], list(tensor.shape)) for tensor in tensors]


def make_call(
    graph: Graph, program: Program, draw: Callable[[], tuple[int, int]], threads: int
) -> Callable[..., list[Any]]:
    """A function of the graph's arguments that returns what the graph does.

    draw  seed and step of a call.
    """
    native = program._native
    (function,) = program.functions
    inputs = [node.meta["val"] for node in graph.placeholders]
    call = _numera.Call(
        native, function, _memory(inputs, "an input"), _memory(graph.outputs, "a result")
    )
    dtypes = [tensor.dtype for tensor in inputs]
    places, draws, plan = graph.inputs, graph.draws, graph.plan
    outputs = [
        (list(tensor.shape), tensor.dtype, _strides(tensor)) for tensor in graph.outputs
    ]
    run, empty = call.run, torch.empty

    def invoke(*arguments: Any) -> list[Any]:
        given = [arguments[place] for place in places]
        given += [each() for each in draws]
        addresses = []
        for place, tensor in enumerate(given):
            if not tensor.is_contiguous() or tensor.dtype != dtypes[place]:
                given[place] = tensor = tensor.to(dtypes[place]).contiguous()
            addresses.append(tensor.data_ptr())
        results = [empty(shape, dtype=dtype) for shape, dtype, _ in outputs]
        addresses += [result.data_ptr() for result in results]
        run(addresses, threads, *draw(), 0)
        for place, (shape, dtype, strides) in enumerate(outputs):
            if strides is not None:
                laid = torch.empty_strided(shape, strides, dtype=dtype)
                results[place] = laid.copy_(results[place])
        return [
            results[value]
            if kind == "output"
            else arguments[value]
            if kind == "input"
            else value
            for kind, value in plan
        ]

    return invoke


def _strides(tensor: torch.Tensor) -> tuple[int, ...] | None:
    """Those of a result that is not dense in row-major order."""
    return None if tensor.is_contiguous() else tuple(tensor.stride())
