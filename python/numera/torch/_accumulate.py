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

    def rounded(self, parameter: torch.Tensor) -> torch.Tensor:
        """The gradient, as a program returns it: in f32, or f64 for f64."""
        like = _real(parameter)
        numbers = torch.from_numpy(numera.round_quires(self.words, self.format))
        if like.dtype != torch.float64:
            numbers = numbers.to(torch.float32)
        numbers = numbers.to(like.dtype).reshape(like.shape)
        return torch.view_as_complex(numbers) if parameter.is_complex() else numbers


def _real(parameter: torch.Tensor) -> torch.Tensor:
    """As programs return its gradient."""
    return torch.view_as_real(parameter) if parameter.is_complex() else parameter


_Place = tuple[int, int]


def _place(gradient: torch.Tensor) -> _Place:
    return gradient.data_ptr(), gradient._version


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
        own = {id(each): each for each in parameters if each.requires_grad}
        self._parameters = [each for each in own.values() if each.numel()]
        self._group = group
        self._hooks: list[Any] = []
        self._reset()

    def _reset(self) -> None:
        # What programs gave, by the gradients' memory and version, which is another
        # one after a hook has written there; what then reached a parameter; and what
        # was added up.
        self._given: dict[_Place, tuple[torch.Tensor, torch.Tensor, str]] = {}
        self._reached: dict[int, tuple[torch.Tensor, str] | None] = {}
        self._sums = [_Sum() for _ in self._parameters]
        self._before: list[torch.Tensor | None] = []

    def __enter__(self) -> Accumulation:
        if self._backend._accumulation is not None:
            raise Error("the backend accumulates already; a block cannot be in another")
        self._backend._accumulation = self
        self._reset()
        self._before = [each.grad for each in self._parameters]
        for parameter, sum in zip(self._parameters, self._sums):
            parameter.grad = None
            self._hooks += [
                parameter.register_hook(self._reach(id(parameter))),
                parameter.register_post_accumulate_grad_hook(self._add(sum)),
            ]
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        self._backend._accumulation = None
        self._given.clear()
        self._reached.clear()
        for parameter, before in zip(self._parameters, self._before):
            parameter.grad = before
        if kind is not None:
            return
        if self._group is not None:
            self._gather()
        with self._backend._draws_of_sums():
            gradients = [
                None if sum.words is None else sum.rounded(parameter)
                for parameter, sum in zip(self._parameters, self._sums)
            ]
        for parameter, before, gradient in zip(
            self._parameters, self._before, gradients
        ):
            if gradient is not None:
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
            if gradient.numel():
                self._given[_place(gradient)] = gradient, sums, quire.format

    def begin(self) -> None:
        """A forward pass: what no parameter of the block took is not for it."""
        self._given.clear()

    def _reach(self, place: int) -> Any:
        def reach(gradient: torch.Tensor) -> None:
            given = self._given.pop(_place(gradient), None)
            self._reached[place] = given and given[1:]

        return reach

    def _add(self, sum: _Sum) -> Any:
        # Not for `torch.autograd.grad`, which leaves `.grad` alone.
        def add(parameter: torch.Tensor) -> None:
            reached = self._reached.pop(id(parameter), None)
            if reached is None:
                raise Error(
                    "a gradient is not what one call of a program of this backend "
                    "returned: a hook changes it, or the parameter is used in several "
                    "graphs or calls, or outside of them; expected one call, then "
                    "backward()"
                )
            sum.add(*reached)

        return add

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
                shape = _real(self._parameters[place]).shape
                words = (*shape, numera.quire_words(format))
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
            if place not in gradients.parameters:
                continue
            if kind in ("output", "complex"):
                places[place] = value
            elif kind == "narrow":
                places[place] = value[0]
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
        if gradients is NO_GRADIENTS:
            raise Error("accumulate goes without Quantizer, rrelu and sparse gradients")
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
