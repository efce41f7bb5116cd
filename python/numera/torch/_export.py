# SPDX-License-Identifier: MIT
"""Models of torch.export, compiled for calls without their Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind
from torch.utils import _pytree as pytree

import numera
from numera._errors import Error
from numera.torch._arguments import backend
from numera.torch._backend import Backend
from numera.torch._constants import decomposed
from numera.torch._decompositions import table
from numera.torch._factors import without_checks
from numera.torch._passes import INFERENCE
from numera.torch._refusals import place_in

__all__ = ["Exported", "compile"]

_HELD = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


class Exported:
    """An exported program in a format, made by :func:`compile`.

    Called as the model was exported. It holds the model's parameters, which remain
    those of the exported program; buffers that it changes are changed there.
    """

    def __init__(self, program: ExportedProgram, compiler: Backend) -> None:
        with without_checks():
            self._program = decomposed(program, table())
        self._backend = compiler
        signature = self._program.graph_signature
        self._held: list[torch.Tensor | None] = []
        self._asked: list[tuple[str, torch.Tensor | None]] = []
        known = {**self._program.state_dict, **self._program.constants}
        placeholders = self._program.graph.find_nodes(op="placeholder")
        for spec, node in zip(signature.input_specs, placeholders):
            if spec.kind in _HELD:
                assert spec.target is not None
                self._held.append(known[spec.target])
            elif spec.kind == InputKind.USER_INPUT:
                self._held.append(None)
                value = node.meta.get("val")
                tensor = value if isinstance(value, torch.Tensor) else None
                self._asked.append((node.name, tensor))
            else:
                raise Error(f"an input of kind {spec.kind.name}, which no program has")
        self._results = [
            (spec.kind, spec.target and known.get(spec.target))
            for spec in signature.output_specs
        ]
        weights = [
            place
            for place, spec in enumerate(signature.input_specs)
            if spec.kind == InputKind.PARAMETER
        ]
        self._call = compiler._compile(
            self._program.graph_module, INFERENCE, frozenset(weights)
        )

    @property
    def programs(self) -> list[numera.Program]:
        """What was compiled."""
        return self._backend.programs

    @property
    def fallbacks(self) -> list[Any]:
        """What PyTorch runs."""
        return self._backend.fallbacks

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given, spec = pytree.tree_flatten((args, kwargs))
        call_spec = self._program.call_spec
        if spec != call_spec.in_spec:
            raise Error("the arguments have another structure than those of export")
        for value, (name, wanted) in zip(given, self._asked):
            if wanted is not None:
                _check(value, name, wanted)
        rest = iter(given)
        arguments = [next(rest) if held is None else held for held in self._held]
        results = []
        with torch.no_grad():
            for value, (kind, target) in zip(self._call(*arguments), self._results):
                if kind == OutputKind.USER_OUTPUT:
                    results.append(value)
                elif kind == OutputKind.BUFFER_MUTATION:
                    assert isinstance(target, torch.Tensor)
                    target.copy_(value)
                else:
                    raise Error(f"a result of kind {kind.name}, which no program has")
        return pytree.tree_unflatten(results, call_spec.out_spec)


def _check(given: Any, name: str, wanted: torch.Tensor) -> None:
    """Tells apart what the program was compiled for, and anything else."""
    if not isinstance(given, torch.Tensor):
        raise Error(
            f"input '{name}' is of type {type(given).__name__}; expected a tensor"
        )
    if given.dtype != wanted.dtype:
        raise Error(f"input '{name}' is {given.dtype}; expected {wanted.dtype}")
    sizes = [size if isinstance(size, int) else None for size in wanted.shape]
    if len(sizes) != given.dim() or any(
        size not in (None, found) for size, found in zip(sizes, given.shape)
    ):
        shape = ", ".join("?" if size is None else str(size) for size in sizes)
        raise Error(
            f"input '{name}': shape {tuple(given.shape)}; expected ({shape}), the "
            "shape it was exported with"
        )


def _export(model: torch.nn.Module, inputs: tuple[Any, ...]) -> ExportedProgram:
    try:
        return torch.export.export(model, inputs)
    except Exception as error:  # PyTorch raises any kind
        said = str(error).strip() or repr(error)
        place = place_in(said)
        where = f" at {place}" if place else ""
        raise Error(
            f"torch.export cannot export the model{where}: {said.splitlines()[0]}"
        ) from error


def compile(
    model: torch.nn.Module | ExportedProgram,
    example_inputs: Sequence[Any] = (),
    **options: Any,
) -> Exported:
    """Compiles a model for inference, or a program that was exported.

    model           a module, or what ``torch.export.export`` makes of one.
    example_inputs  what a module is exported with.

    The other arguments are those of :func:`numera.torch.backend`.

    >>> import torch
    >>> import numera.torch
    >>> model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    >>> net = numera.torch.compile(model.eval(), (torch.ones(1, 2),), format="bf16")
    >>> net(torch.ones(1, 2)).shape
    torch.Size([1, 2])
    """
    if not isinstance(model, (torch.nn.Module, ExportedProgram)):
        raise Error(
            f"model is of type {type(model).__name__}, expected a module or an "
            f"exported program; example inputs come behind it"
        )
    if not isinstance(example_inputs, (tuple, list)):
        raise Error(
            f"example_inputs is of type {type(example_inputs).__name__}, expected a "
            f"tuple, as in (x,)"
        )
    if isinstance(model, torch.nn.Module):
        model = _export(model, tuple(example_inputs))
    return Exported(model, backend(**options))
