# SPDX-License-Identifier: MIT
"""Tensors of numbers that a decomposition knows. Graphs hold them, so that they are
computed in no format."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any
from unittest import mock

import torch
from torch import Tensor
from torch.export import ExportedProgram, _trace
from torch.utils._python_dispatch import _disable_current_modes

aten = torch.ops.aten

__all__ = ["constant", "decomposed"]


def constant(values: Any, kind: torch.dtype) -> Tensor:
    """`torch.tensor`, which is no function where graphs are traced."""
    with _disable_current_modes():
        made = torch.tensor(values, dtype=kind)
    held: Tensor = aten.lift_fresh_copy.default(made)
    return held


def decomposed(program: ExportedProgram, table: Mapping[Any, Any]) -> ExportedProgram:
    """What an exported program is made of. PyTorch 2.13 forgets the tensors that
    decompositions have made."""
    program = copy.copy(program)
    program._constants = dict(program.constants)
    trace = _trace._export_to_aten_ir

    def traced(*arguments: Any, **options: Any) -> Any:
        found = trace(*arguments, **options)
        program._constants.update(found.constants)
        return found

    with mock.patch.object(_trace, "_export_to_aten_ir", traced):
        return program.run_decompositions(dict(table))
