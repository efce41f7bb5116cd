# SPDX-License-Identifier: MIT
"""Sorts of StableHLO, as loops that merge (`numera._merges`).

The comparison is that of the sort's region (`_bodies`). Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir

from numera import _merges
from numera import _pieces as p
from numera.jax import _bodies

__all__ = ["rewrite"]


def rewrite(sort: Any) -> Sequence[Any] | None:
    """The results; None of comparisons that no operations of arith do."""
    compares = sort.regions[0].blocks[0]
    if not _bodies.is_known(compares):
        return None
    found = _merges.merged(
        list(map(p.signless, sort.operands)),
        ir.IntegerAttr(sort.attributes["dimension"]).value,
        lambda pairs: _bodies.results(compares, pairs, orders=True)[0],
    )
    return [
        p.with_sign(value, result.type.element_type)
        for value, result in zip(found, sort.results)
    ]
