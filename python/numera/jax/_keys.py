# SPDX-License-Identifier: MIT
"""Keys of random numbers (``jax.random.key``) as the integers that programs take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import jax

__all__ = ["as_data", "as_keys"]


def as_data(leaves: Iterable[Any]) -> tuple[list[Any], tuple[Any, ...]]:
    """The integers in place of each key, and how it draws; None is for no key."""
    values, kinds = list(leaves), []
    for place, value in enumerate(values):
        kinds.append(None)
        dtype = getattr(value, "dtype", None)
        if dtype is not None and jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
            kinds[-1] = jax.random.key_impl(value)
            values[place] = jax.random.key_data(value)
    return values, tuple(kinds)


def as_keys(values: Iterable[Any], kinds: Sequence[Any]) -> list[Any]:
    """The keys again."""
    return [
        value if kind is None else jax.random.wrap_key_data(value, impl=kind)
        for value, kind in zip(values, kinds)
    ]
