# SPDX-License-Identifier: MIT
"""Tensors of numbers that a decomposition knows. Graphs hold them, so that they are
computed in no format."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes

aten = torch.ops.aten

__all__ = ["constant"]


def constant(values: Any, kind: torch.dtype) -> Tensor:
    """`torch.tensor`, which is no function where graphs are traced."""
    with _disable_current_modes():
        made = torch.tensor(values, dtype=kind)
    held: Tensor = aten.lift_fresh_copy.default(made)
    return held
