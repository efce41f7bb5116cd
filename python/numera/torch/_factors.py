# SPDX-License-Identifier: MIT
"""Factors, inverses and solutions of small matrices, row by row, with pivots as LAPACK
chooses them. A graph has each step, so there are at most `_MOST` of them. A program
does not raise: where there is no factor, results are not finite."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor
from torch._higher_order_ops import effects

aten = torch.ops.aten

__all__ = [
    "TABLE",
    "cholesky",
    "eliminated",
    "factored",
    "is_small",
    "lu_solve",
    "solve_triangular",
    "swapped",
    "unit",
    "without_checks",
]

_MOST = 32
# Of a system that is solved, products of halves take the place of most steps.
_MOST_SOLVED = 128


def is_small(matrix: Tensor) -> bool:
    steps = min(matrix.shape[-2:])
    return bool(matrix.is_floating_point() and 0 < steps <= _MOST)


def unit(count: int, kind: torch.dtype) -> Tensor:
    number = torch.arange(count)
    return (number.unsqueeze(1) == number).to(kind)


def solve_triangular(
    self: Tensor,
    B: Tensor,
    *,
    upper: bool,
    left: bool = True,
    unitriangular: bool = False,
) -> Tensor:
    count = self.shape[-1]
    if not self.is_floating_point() or not 0 < count <= _MOST_SOLVED or not B.numel():
        return NotImplemented
    if not left:
        turned = solve_triangular(
            self.mT, B.mT, upper=not upper, unitriangular=unitriangular
        )
        return NotImplemented if turned is NotImplemented else turned.mT
    if count > _MOST:
        return _solve_halves(self, B, upper, unitriangular)
    batch = torch.broadcast_shapes(self.shape[:-2], B.shape[:-2])
    a, b = self.expand(*batch, *self.shape[-2:]), B.expand(*batch, *B.shape[-2:])
    order = list(range(count))[:: -1 if upper else 1]
    rows: dict[int, Tensor] = {}
    for at in order:
        row = b.narrow(-2, at, 1)
        if rows:
            known = sorted(rows)
            part = a.narrow(-2, at, 1).narrow(-1, known[0], len(known))
            row = row - part @ torch.cat([rows[each] for each in known], -2)
        if not unitriangular:
            row = row / a.narrow(-2, at, 1).narrow(-1, at, 1)
        rows[at] = row
    return torch.cat([rows[each] for each in range(count)], -2)


def _solve_halves(
    matrix: Tensor, right: Tensor, upper: bool, unitriangular: bool
) -> Tensor:
    """The half that needs no other one first."""
    count = matrix.shape[-1]
    middle = count // 2
    parts = [(0, middle), (middle, count - middle)][:: -1 if upper else 1]
    (first, size), (second, rest) = parts

    def half(at: int, length: int, given: Tensor) -> Tensor:
        block = matrix.narrow(-2, at, length).narrow(-1, at, length)
        return solve_triangular(
            block, given, upper=upper, unitriangular=unitriangular
        )

    known = half(first, size, right.narrow(-2, first, size))
    across = matrix.narrow(-2, second, rest).narrow(-1, first, size)
    other = half(second, rest, right.narrow(-2, second, rest) - across @ known)
    return torch.cat([other, known] if upper else [known, other], -2)


def cholesky(self: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """Column by column. Where a pivot is not positive, its number is told, and the
    rest has NaN; an error is not raised."""
    if not is_small(self) or check_errors:
        return NotImplemented
    matrix = self.mT if upper else self
    count = matrix.shape[-1]
    columns: list[Tensor] = []
    info = torch.zeros(matrix.shape[:-2], dtype=torch.int32)
    for at in range(count):
        column = matrix.narrow(-1, at, 1).narrow(-2, at, count - at)
        if columns:
            left = torch.cat(columns, -1).narrow(-2, at, count - at)
            column = column - left @ left.narrow(-2, 0, 1).mT
        pivot = column.narrow(-2, 0, 1)
        bad = ~(pivot > 0).reshape(info.shape)
        info = torch.where((info == 0) & bad, at + 1, info)
        column = column / pivot.sqrt()
        if at:
            zeros = torch.zeros_like(matrix.narrow(-1, 0, 1).narrow(-2, 0, at))
            column = torch.cat([zeros, column], -2)
        columns.append(column)
    factor = torch.cat(columns, -1)
    return factor.mT.contiguous() if upper else factor, info.to(torch.int32)


def _swap(rows: Tensor, at: int, place: Tensor) -> Tensor:
    """With a row and the one at a place, which is not before it, exchanged."""
    count = rows.shape[-2]
    number = torch.arange(count).unsqueeze(-1)
    here, there = number == at, number == place
    other = rows.gather(-2, place.expand(*rows.shape[:-2], 1, rows.shape[-1]))
    own = rows.narrow(-2, at, 1)
    return torch.where(here, other, torch.where(there, own, rows))


def swapped(rows: Tensor, pivots: Tensor, back: bool = False) -> Tensor:
    """Rows exchanged as places of pivots, from 1, say; `back`: in reverse order."""
    places = pivots.long().unsqueeze(-1) - 1
    order = range(pivots.shape[-1])
    for at in reversed(order) if back else order:
        rows = _swap(rows, at, places.narrow(-2, at, 1))
    return rows


def eliminated(self: Tensor, more: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The factors of a matrix in one, the places of pivots from 1, `more` with the
    same done to it as to the upper factor, and the first pivot that is zero."""
    count, width = self.shape[-2:]
    matrix, places = self, []
    info = torch.zeros(self.shape[:-2], dtype=torch.int32)
    for at in range(min(count, width)):
        below = matrix.narrow(-1, at, 1).narrow(-2, at, count - at)
        place = below.abs().argmax(-2, keepdim=True) + at
        places.append(place)
        if at + 1 < count:
            matrix, more = _swap(matrix, at, place), _swap(more, at, place)
        pivot = matrix.narrow(-2, at, 1).narrow(-1, at, 1)
        none = (pivot == 0).reshape(info.shape)
        info = torch.where((info == 0) & none, at + 1, info)
        if at + 1 == count:
            break
        rest = count - at - 1
        factor = matrix.narrow(-1, at, 1).narrow(-2, at + 1, rest)
        factor = torch.where(pivot == 0, factor, factor / pivot)
        parts = [matrix.narrow(-2, at + 1, rest).narrow(-1, 0, at), factor]
        if at + 1 < width:
            right = matrix.narrow(-1, at + 1, width - at - 1)
            product = factor * right.narrow(-2, at, 1)
            parts.append(right.narrow(-2, at + 1, rest) - product)
        done = matrix.narrow(-2, 0, at + 1)
        matrix = torch.cat([done, torch.cat(parts, -1)], -2)
        step = more.narrow(-2, at + 1, rest) - factor * more.narrow(-2, at, 1)
        more = torch.cat([more.narrow(-2, 0, at + 1), step], -2)
    pivots = torch.cat(places, -2).squeeze(-1) + 1
    return matrix, pivots.to(torch.int32), more, info.to(torch.int32)


def factored(A: Tensor, turned: bool) -> tuple[Tensor, Tensor, Tensor]:
    """As PyTorch's derivatives expect it, `turned` where a matrix is contiguous."""
    matrix = A.mT if turned else A
    factors, pivots, _, info = eliminated(matrix, matrix.narrow(-1, 0, 1))
    return factors, pivots, info


def inverse(self: Tensor, *, check_errors: bool = False) -> Any:
    if not is_small(self) or check_errors:
        return NotImplemented
    ones = unit(self.shape[-1], self.dtype).expand(self.shape)
    factors, _, right, info = eliminated(self, ones)
    return solve_triangular(factors, right, upper=True), info


def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    if not is_small(LU) or not B.numel():
        return NotImplemented
    if not left:
        turned = lu_solve(LU, pivots, B.mT, adjoint=not adjoint)
        return NotImplemented if turned is NotImplemented else turned.mT
    count = LU.shape[-1]
    batch = torch.broadcast_shapes(LU.shape[:-2], B.shape[:-2])
    factors, right = LU.expand(*batch, count, count), B.expand(*batch, *B.shape[-2:])
    if adjoint:
        half = solve_triangular(factors.mT, right, upper=False)
        found = solve_triangular(factors.mT, half, upper=True, unitriangular=True)
        return swapped(found, pivots, back=True)
    half = solve_triangular(
        factors, swapped(right, pivots), upper=False, unitriangular=True
    )
    return solve_triangular(factors, half, upper=True)


def _parity(pivots: Tensor, kind: torch.dtype) -> Tensor:
    """-1 where an odd number of rows was exchanged."""
    number = torch.arange(1, pivots.shape[-1] + 1, dtype=torch.int32)
    return torch.where(pivots != number, -1.0, 1.0).to(kind).prod(-1)


def slogdet(A: Tensor) -> Any:
    if not is_small(A):
        return NotImplemented
    factors, pivots, _ = factored(A, A.is_contiguous())
    diagonal = factors.diagonal(0, -2, -1)
    sign = diagonal.sign().prod(-1) * _parity(pivots, A.dtype)
    return sign, diagonal.abs().log().sum(-1), factors, pivots


def determinant(A: Tensor) -> Any:
    if not is_small(A):
        return NotImplemented
    factors, pivots, _ = factored(A, A.is_contiguous())
    diagonal = factors.diagonal(0, -2, -1)
    return diagonal.prod(-1) * _parity(pivots, A.dtype), factors, pivots


_CHECK = "aten::_linalg_check_errors"


@contextlib.contextmanager
def without_checks() -> Iterator[None]:
    """While graphs are traced: functions that raise where there is no result do not
    say so, and what asks whether there is one is dropped."""
    kept = effects._get_effect(_CHECK)
    effects._register_effectful_op(_CHECK, None)
    try:
        yield
    finally:
        effects._register_effectful_op(_CHECK, kept)


TABLE: dict[Any, Any] = {
    aten.linalg_solve_triangular.default: solve_triangular,
    aten.linalg_cholesky_ex.default: cholesky,
    aten.linalg_inv_ex.default: inverse,
    aten._linalg_slogdet.default: slogdet,
    aten._linalg_det.default: determinant,
    aten.linalg_lu_solve.default: lu_solve,
}
