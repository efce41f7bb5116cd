# SPDX-License-Identifier: MIT
"""Systems of linear equations, factors with the rows that were exchanged, and powers of
matrices, by the steps of `_factors.py`."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from numera.torch._factors import (
    cholesky,
    eliminated,
    is_small,
    lu_solve,
    solve_triangular,
    swapped,
    unit,
)

aten = torch.ops.aten

__all__ = ["TABLE"]


# ---- factors ----------------------------------------------------------------


def lu_factor(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    if not is_small(A) or not pivot or not A.numel():
        return NotImplemented
    factors, pivots, _, info = eliminated(A, A.narrow(-1, 0, 1))
    return factors, pivots, info


def _parts(factors: Tensor) -> tuple[Tensor, Tensor]:
    rows, columns = factors.shape[-2:]
    count = min(rows, columns)
    number = torch.arange(rows).unsqueeze(1)
    place = torch.arange(columns)
    lower = torch.where(number > place, factors, 0.0) + torch.where(
        number == place, torch.ones_like(factors), 0.0
    )
    upper = torch.where(number <= place, factors, 0.0)
    return lower.narrow(-1, 0, count), upper.narrow(-2, 0, count)


def _exchange(pivots: Tensor, count: int, kind: torch.dtype) -> Tensor:
    """The matrix that puts rows back to where they were."""
    number = torch.arange(count)
    order = number.unsqueeze(-1).expand(*pivots.shape[:-1], count, 1)
    order = swapped(order, pivots)
    return (number.unsqueeze(-1) == order.mT).to(kind)


def lu(A: Tensor, *, pivot: bool = True) -> Any:
    if not is_small(A) or not pivot or not A.numel():
        return NotImplemented
    factors, pivots, _, _ = eliminated(A, A.narrow(-1, 0, 1))
    return _exchange(pivots, A.shape[-2], A.dtype), *_parts(factors)


def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: bool = True,
    unpack_pivots: bool = True,
) -> Any:
    if not is_small(LU_data) or not LU_data.numel():
        return NotImplemented
    none = LU_data.new_zeros([0])
    left = none
    if unpack_pivots:
        left = _exchange(LU_pivots, LU_data.shape[-2], LU_data.dtype)
    return (left, *(_parts(LU_data) if unpack_data else (none, none)))


# ---- solutions --------------------------------------------------------------


def solve(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> Any:
    if not is_small(A) or not A.numel() or not B.numel():
        return NotImplemented
    is_vector = B.dim() == 1 or (B.dim() == A.dim() - 1 and B.shape == A.shape[:-1])
    factors, pivots, info = lu_factor(A)
    right = B.unsqueeze(-1) if is_vector else B
    found = lu_solve(factors, pivots, right, left=left)
    return found.squeeze(-1) if is_vector else found, factors, pivots, info


def triangular_solve(
    self: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> Any:
    matrix, isupper = (A.mT, not upper) if transpose else (A, upper)
    found = solve_triangular(matrix, self, upper=isupper, unitriangular=unitriangular)
    return found if found is NotImplemented else (found, A.clone())


def cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    if not is_small(input2) or not self.numel():
        return NotImplemented
    lower = input2.mT if upper else input2
    half = solve_triangular(lower, self, upper=False)
    return solve_triangular(lower.mT, half, upper=True)


def cholesky_inverse(self: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(unit(self.shape[-1], self.dtype), self, upper)


def cholesky_factor(self: Tensor, upper: bool = False) -> Tensor:
    found = cholesky(self, upper=upper)
    return NotImplemented if found is NotImplemented else found[0]


# ---- powers of e ------------------------------------------------------------

_DEGREE = {torch.float64: (18, 1.09)}
"""Terms of the series, and the norm up to which they are exact in a type; of others
`_OTHERS`. Source: Bader, Blanes and Casas, Computing the Matrix Exponential with an
Optimized Taylor Polynomial Approximation, table 4."""
_OTHERS = (12, 1.46)
_HALVINGS = 14


def matrix_exp(self: Tensor) -> Tensor:
    """The series of a matrix that is halved until its norm is small, squared as often.
    Norms of more than some 20000 are beyond it."""
    if not self.is_floating_point() or not self.numel():
        return NotImplemented
    degree, most = _DEGREE.get(self.dtype, _OTHERS)
    norm = self.abs().sum(-2, keepdim=True).amax(-1, keepdim=True)
    halved = [norm > most * 2.0**k for k in range(_HALVINGS)]
    matrix = self
    for each in halved:
        matrix = torch.where(each, matrix * 0.5, matrix)
    powers = [unit(self.shape[-1], self.dtype), matrix]
    for _ in range(3):
        powers.append(powers[-1] @ matrix)
    found = None
    for start in range(degree - degree % 4, -1, -4):
        terms = [
            powers[k] * (1 / math.factorial(start + k))
            for k in range(4)
            if start + k <= degree
        ]
        if found is not None:
            terms.insert(0, found @ powers[4])
        found = sum(terms[1:], terms[0])
    assert found is not None
    for each in halved:
        found = torch.where(each, found @ found, found)
    return found.expand(self.shape)


TABLE: dict[Any, Any] = {
    aten.linalg_lu_factor_ex.default: lu_factor,
    aten.linalg_lu.default: lu,
    aten.lu_unpack.default: lu_unpack,
    aten._linalg_solve_ex.default: solve,
    aten.triangular_solve.default: triangular_solve,
    aten.cholesky.default: cholesky_factor,
    aten.cholesky_solve.default: cholesky_solve,
    aten.cholesky_inverse.default: cholesky_inverse,
    aten.linalg_matrix_exp.default: matrix_exp,
}
