# SPDX-License-Identifier: MIT
"""The matrices of Fourier transforms, for graphs of JAX and of PyTorch.

A transform along a dimension is one product: real and imaginary parts beside each
other, times cosines and sines. Short matrices are constants. Longer ones are gathered
from a row of them when the program runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["LONGEST", "matrix", "real_matrix"]

_WRITTEN = 256
"""Up to this length matrices are constants."""

LONGEST = 8192
"""The length of transforms that are compiled: their matrices take space."""


def turns(size: int, divisor: float) -> tuple[Any, Any]:
    """Cosines and sines of a turn's parts, divided by a number; those of quarters are
    exact, which π is not."""
    angles = 2 * np.pi * np.arange(size) / size
    cosines, sines = np.cos(angles), np.sin(angles)
    for part in range(4):
        if size * part % 4 == 0:
            at = size * part // 4
            cosines[at], sines[at] = ((1, 0), (0, 1), (-1, 0), (0, -1))[part]
    return cosines / divisor, sines / divisor


def _columns(
    size: int,
    rows: int,
    count: int,
    divisor: float,
    module: Any,
    array: Callable[[Any], Any],
) -> tuple[Any, Any, Any]:
    """What makes arrays, and cosines and sines of `count` results of `rows` numbers."""
    cosines, sines = turns(size, divisor)
    if size > _WRITTEN:
        cosines, sines = array(cosines), array(sines)
    else:
        module = np
    places = module.outer(module.arange(rows), module.arange(count)) % size
    return module, cosines[places], sines[places]


def matrix(
    size: int,
    count: int,
    *,
    inverse: bool,
    divisor: float,
    is_real: bool,
    module: Any,
    array: Callable[[Any], Any],
    rows: int | None = None,
) -> Any:
    """Of a transform of `size` numbers, of which the first `count` results are wanted.

    rows     how many of the numbers are not zero, from the first one on; None: all.
    is_real  what it is of has no imaginary parts.
    module   `jax.numpy` or `torch`, which makes a matrix that is no constant.
    array    makes an array of it from one of NumPy.
    """
    rows = size if rows is None else rows
    module, cosines, sines = _columns(size, rows, count, divisor, module, array)
    sines = sines if inverse else -sines
    upper = module.concatenate([cosines, sines], 1)
    if is_real:
        return upper
    return module.concatenate([upper, module.concatenate([-sines, cosines], 1)], 0)


def real_matrix(
    size: int,
    *,
    divisor: float,
    is_real: bool,
    module: Any,
    array: Callable[[Any], Any],
    rows: int | None = None,
) -> Any:
    """Of an inverse of `size` results without imaginary parts, from the first half of
    what is transformed: the other half is its mirror image."""
    rows = size // 2 + 1 if rows is None else rows
    made, cosines, sines = _columns(size, rows, size, divisor, module, array)
    places = np.arange(rows)
    twice = np.where((places == 0) | (2 * places == size), 1.0, 2.0).reshape(rows, 1)
    weights = twice if made is np else array(twice)
    cosines, sines = cosines * weights, sines * weights
    return cosines if is_real else made.concatenate([cosines, -sines], 0)
