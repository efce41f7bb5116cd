# SPDX-License-Identifier: MIT
"""What operators of PyTorch are made of, before torch-mlir sees them.

The table is PyTorch's own of core operators, as torch-mlir wants it, with ours in
front: they compute in the model's type throughout, and need no scatter where there
is another way.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch._decomp import core_aten_decompositions, get_decompositions

from numera.torch import (
    _bessel,
    _eigen,
    _elementwise,
    _embeddings,
    _experts,
    _factors,
    _fourier,
    _gammas,
    _grids,
    _layers,
    _losses,
    _moves,
    _norms,
    _ordered,
    _orthogonal,
    _pools,
    _random,
    _recurrent,
    _resizing,
    _segments,
    _signs,
    _sorts,
    _special,
    _strides,
    _systems,
    _volumes,
    _windows,
)

aten = torch.ops.aten

__all__ = ["table"]

_KEPT = (
    aten.native_dropout,  # Torch draws (_random.py)
    aten.bernoulli,
    aten.rand_like,
    aten.randn_like,
    aten.randint_like,
    # What torch-mlir knows better as a whole, as its own table has it.
    aten.roll,
    aten.one_hot,
    aten.empty_like,
    aten.all,
    aten.eye,
    aten.isclose,
    aten.norm,
    aten.linalg_norm,
    aten.linalg_vector_norm,
)
"""Operators that stay what they are."""

_MORE = (
    aten.upsample_bilinear2d.vec,
    aten.squeeze.dims,
    aten._euclidean_dist,
    aten.grid_sampler_2d,
    aten.full,
    aten.logsumexp,
    aten._to_copy,
    aten.diag,
    aten.scaled_dot_product_attention,
)
"""Operators outside the core that torch-mlir has no lowering for."""

_OURS = (
    _bessel,
    _eigen,
    _elementwise,
    _embeddings,
    _experts,
    _factors,
    _fourier,
    _gammas,
    _grids,
    _layers,
    _losses,
    _moves,
    _norms,
    _ordered,
    _orthogonal,
    _pools,
    _random,
    _recurrent,
    _resizing,
    _segments,
    _signs,
    _sorts,
    _special,
    _strides,
    _systems,
    _volumes,
    _windows,
)


def table() -> dict[Any, Any]:
    """Decompositions by operator, for AOTAutograd."""
    return {**_known(), **_experts.registered()}


@functools.cache
def _known() -> dict[Any, Any]:
    known = {
        operator: function
        for operator, function in core_aten_decompositions().items()
        if operator.overloadpacket not in _KEPT
    }
    known.update(get_decompositions(_MORE))
    for ours in _OURS:
        own: dict[Any, Callable[..., Any]] = ours.TABLE
        known.update({key: _of_reals(each) for key, each in own.items()})
    if hasattr(torch.ops.prims, "fma"):  # where Inductor was imported
        known[torch.ops.prims.fma.default] = _losses.fma
    return known


def _of_reals(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function where no argument is complex. What is keeps its operator, for
    `_complex`."""

    def is_complex(value: Any) -> bool:
        if isinstance(value, (list, tuple)):
            return any(map(is_complex, value))
        if isinstance(value, torch.Tensor):
            return value.is_complex()
        return isinstance(value, complex)

    @functools.wraps(function)
    def made(*args: Any, **kwargs: Any) -> Any:
        if is_complex(args) or is_complex(list(kwargs.values())):
            return NotImplemented
        return function(*args, **kwargs)

    return made
