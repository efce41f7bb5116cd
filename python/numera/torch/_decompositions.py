# SPDX-License-Identifier: MIT
"""What operators of PyTorch are made of, before torch-mlir sees them.

The table is PyTorch's own of core operators, as torch-mlir wants it, with ours in
front: they compute in the model's type throughout, and need no scatter where there
is another way.
"""

from __future__ import annotations

import functools
from typing import Any

import torch

from numera.torch import _losses, _norms, _windows

aten = torch.ops.aten

__all__ = ["table"]

_KEPT = (
    aten.native_dropout,  # Torch draws (_random.py)
    aten.bernoulli,
    aten.rand_like,
    aten.randn_like,
    aten.randint_like,
)
"""Operators that stay what they are."""


@functools.cache
def table() -> dict[Any, Any]:
    """Decompositions by operator, for AOTAutograd."""
    from torch_mlir.extras.fx_decomp_util import get_decomposition_table

    known = {
        operator: function
        for operator, function in get_decomposition_table().items()
        if operator.overloadpacket not in _KEPT
    }
    known.update(_losses.TABLE)
    known.update(_norms.TABLE)
    known.update(_windows.TABLE)
    if hasattr(torch.ops.prims, "fma"):  # where Inductor was imported
        known[torch.ops.prims.fma.default] = _losses.fma
    return known
