# SPDX-License-Identifier: MIT
"""Gradients of several calls, and of several processes, as one exact sum.

``with backend.accumulate(model): …`` takes the quires that backward programs round
the gradients of parameters from, adds them, and rounds once where the block ends.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import torch

import numera
from numera._errors import Error
from numera.torch._graph import Graph

__all__ = ["NO_GRADIENTS", "Accumulation", "Gradients", "make_exact"]


Call = Callable[..., list[Any]]


class Gradients(NamedTuple):
    """What the results of a backward graph are the gradients of."""

    names: Sequence[str]
    parameters: set[int]
    """Which of them are parameters; known when the forward graph is."""


NO_GRADIENTS = Gradients((), set())


class Quire(NamedTuple):
    """What a program returns beside the gradient of a parameter."""

    place: int
    """Of the gradient among the graph's results."""
    name: str
    """The parameter's."""
    format: str
    is_sum: bool
    """Whether the gradient is the rounding of one sum."""


class _Sum:
    """The gradients of a parameter so far."""

    def __init__(self) -> None:
        self.words: Any = None
        self.format = ""

    def add(self, words: torch.Tensor, format: str) -> None:
        if self.words is None:
            self.words, self.format = words.numpy(), format
            return
        if format != self.format:
            raise Error(
                f"a gradient is a sum in {format} here and in {self.format} before, "
                f"expected one format for a parameter"
            )
        self.words = numera.merge_quires(self.words, words.numpy(), format)


class Accumulation:
    """A block in which gradients are added up exactly, made by
    :meth:`Backend.accumulate`."""

    def __init__(self, backend: Any, parameters: Any, group: Any) -> None:
        if isinstance(parameters, torch.nn.Module):
            parameters = parameters.parameters()
        elif isinstance(parameters, torch.Tensor) or not isinstance(
            parameters, Iterable
        ):
            raise Error(
                f"parameters are {type(parameters).__name__}, expected a module or "
                f"its parameters"
            )
        self._backend = backend
        self._parameters = [each for each in parameters if each.requires_grad]
        self._group = group
        self._given: dict[int, tuple[torch.Tensor, torch.Tensor, str]] = {}
        self._sums = [_Sum() for _ in self._parameters]
        self._before: list[torch.Tensor | None] = []
        self._hooks: list[Any] = []

    def __enter__(self) -> Accumulation:
        if self._backend._accumulation is not None:
            raise Error("the backend accumulates already; a block cannot be in another")
        self._backend._accumulation = self
        self._before = [each.grad for each in self._parameters]
        for parameter, sum in zip(self._parameters, self._sums):
            parameter.grad = None
            self._hooks.append(parameter.register_hook(self._hook(sum)))
        return self

    def __exit__(self, kind: Any, *_: Any) -> None:
        for hook in self._hooks:
            hook.remove()
        self._backend._accumulation = None
        self._given.clear()
        if kind is not None:
            for parameter, before in zip(self._parameters, self._before):
                parameter.grad = before
            return
        if self._group is not None:
            self._gather()
        with self._backend._draws_of_sums():
            for parameter, before, sum in zip(
                self._parameters, self._before, self._sums
            ):
                parameter.grad = before
                if sum.words is None:
                    continue
                numbers = numera.round_quires(sum.words, sum.format)
                gradient = torch.from_numpy(numbers).to(torch.float32)
                gradient = gradient.to(parameter.dtype).reshape(parameter.shape)
                parameter.grad = gradient if before is None else before + gradient

    def give(
        self,
        results: Sequence[torch.Tensor],
        quires: Sequence[Quire],
        words: Sequence[torch.Tensor],
    ) -> None:
        """What a backward program returned: gradients, and the words of quires."""
        for quire, sums in zip(quires, words):
            gradient = results[quire.place]
            # Both are kept, so that no other tensor takes the place of the first.
            self._given[gradient.data_ptr()] = gradient, sums, quire.format

    def _hook(self, sum: _Sum) -> Any:
        def take(gradient: torch.Tensor) -> None:
            given = self._given.pop(gradient.data_ptr(), None)
            if given is None:
                raise Error(
                    "a gradient is not what one program of this backend returned: the "
                    "parameter is used in several graphs, or outside of them"
                )
            sum.add(given[1], given[2])

        return take

    def _gather(self) -> None:
        """Adds the sums of all processes, in the order of their ranks."""
        from torch import distributed

        group = None if self._group is True else self._group
        count = distributed.get_world_size(group)
        formats: list[Any] = [None] * count
        distributed.all_gather_object(
            formats, [sum.format for sum in self._sums], group=group
        )
        for place, sum in enumerate(self._sums):
            known = {each[place] for each in formats} - {""}
            if not known:
                continue
            if len(known) > 1:
                raise Error(
                    f"processes have sums in {' and '.join(sorted(known))}, expected "
                    f"one format for a parameter"
                )
            (format,) = known
            if sum.words is None:
                words = (*self._parameters[place].shape, numera.quire_words(format))
                own = torch.zeros(words, dtype=torch.int64)
            else:
                own = torch.from_numpy(sum.words)
            parts = [torch.empty_like(own) for _ in range(count)]
            distributed.all_gather(parts, own.contiguous(), group=group)
            sum.words = None
            for part in parts:
                sum.add(part, format)


def make_exact(
    backend: Any,
    graph: Graph,
    plain: Call,
    compile: Callable[[list[int]], numera.Program],
    call: Callable[..., Call],
    gradients: Gradients,
) -> Call:
    """A call of a backward graph that, in a block that accumulates, gives it quires.

    compile  makes a program that returns the quires of some results as well.
    call     makes a call of such a program, with what :func:`make_call` has for them.
    """
    exact: list[Call] = []

    def make() -> Call:
        places = {}
        for place, (kind, value) in enumerate(graph.plan):
            if place in gradients.parameters and kind in ("output", "narrow"):
                places[place] = value if kind == "output" else value[0]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*is not one sum in a quire")
            program = compile(list(places.values()))
        (function,) = program.functions.values()
        sums = function.outputs[len(graph.outputs) :]
        quires = []
        for place, tensor in zip(places, sums):
            kind, format = tensor.name.split(" ", 1)
            name = gradients.names[place]
            quires.append(Quire(place, name, format, kind == "quire"))
        _warn_of(quires)

        def take(results: list[Any], words: list[torch.Tensor]) -> None:
            if backend._accumulation is not None:
                backend._accumulation.give(results, quires, words)

        return call(program, more=[tensor.shape for tensor in sums], take=take)

    def invoke(*arguments: Any) -> list[Any]:
        if backend._accumulation is None:
            return plain(*arguments)
        if not exact:
            exact.append(make())
        return exact[0](*arguments)

    return invoke


def _warn_of(quires: Sequence[Quire]) -> None:
    """Names the parameters whose gradients are rounded before they are added."""
    names = [quire.name for quire in quires if not quire.is_sum]
    if names:
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        warnings.warn(
            f"gradients that are not one sum are rounded in each part, then added: "
            f"{', '.join(names[:3])}{more}",
            stacklevel=2,
        )
