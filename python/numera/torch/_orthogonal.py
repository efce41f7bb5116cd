# SPDX-License-Identifier: MIT
"""Orthogonal factors by Householder's reflections, with LAPACK's signs.

A reflection takes away `tau · v · vᵀ`, where the first element of v is 1; the product of
them all is Q. (Golub and Van Loan, Matrix Computations, 5.1 and 5.2.)
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from numera.torch._factors import is_small, unit

aten = torch.ops.aten

__all__ = ["TABLE", "orthogonal", "reflections"]

Reflection = tuple[Tensor, Tensor]
"""v, as high as what it reflects, and tau."""


def _reflection(column: Tensor) -> tuple[Reflection, Tensor]:
    """What makes a column a multiple of the first unit vector, and that multiple."""
    first = column.narrow(-2, 0, 1)
    if column.shape[-2] == 1:
        return (torch.ones_like(first), torch.zeros_like(first)), first
    rest = column.narrow(-2, 1, column.shape[-2] - 1)
    length = (rest * rest).sum(-2, keepdim=True)
    none = length == 0
    whole = torch.sqrt(first * first + length)
    turned = torch.where(first < 0, whole, -whole)
    tau = torch.where(none, 0.0, (turned - first) / torch.where(none, 1.0, turned))
    below = torch.where(none, 0.0, rest / torch.where(none, 1.0, first - turned))
    v = torch.cat([torch.ones_like(first), below], -2)
    return (v, tau), torch.where(none, first, turned)


def _reflected(rows: Tensor, at: int, by: Reflection) -> Tensor:
    """The rows, of which those from one on are reflected."""
    v, tau = by
    part = rows.narrow(-2, at, v.shape[-2])
    part = part - v @ (tau * (v.mT @ part))
    return torch.cat([rows.narrow(-2, 0, at), part], -2) if at else part


def reflections(A: Tensor) -> tuple[list[Reflection], Tensor]:
    """Those that make a matrix an upper triangular one, and that one."""
    rows, columns = A.shape[-2:]
    made: list[Reflection] = []
    done: list[Tensor] = []
    rest = A
    for at in range(min(rows, columns)):
        by, first = _reflection(rest.narrow(-1, 0, 1))
        made.append(by)
        row = first
        if at + 1 < columns:
            rest = _reflected(rest.narrow(-1, 1, columns - at - 1), 0, by)
            row = torch.cat([first, rest.narrow(-2, 0, 1)], -1)
        if at:
            row = torch.cat([torch.zeros_like(A.narrow(-2, 0, 1))[..., :at], row], -1)
        done.append(row)
        if at + 1 < rows:
            rest = rest.narrow(-2, 1, rows - at - 1)
    upper = torch.cat(done, -2)
    if rows > columns:
        upper = torch.cat([upper, torch.zeros_like(A)[..., columns:, :]], -2)
    return made, upper


def orthogonal(made: list[Reflection], like: Tensor, columns: int) -> Tensor:
    """The first columns of the product of reflections."""
    count = like.shape[-2]
    rows = unit(count, like.dtype)[:, :columns].expand(*like.shape[:-1], columns)
    for at in reversed(range(len(made))):
        rows = _reflected(rows, at, made[at])
    return rows


def qr(A: Tensor, mode: str = "reduced") -> Any:
    if not is_small(A) or not A.numel():
        return NotImplemented
    rows, columns = A.shape[-2:]
    count = rows if mode == "complete" else min(rows, columns)
    made, upper = reflections(A)
    upper = upper.narrow(-2, 0, count)
    if mode == "r":
        return A.new_zeros([0]), upper
    return orthogonal(made, A, count), upper


def geqrf(self: Tensor) -> Any:
    """The upper factor, and below it the reflections without their ones; the tau."""
    if not is_small(self) or not self.numel():
        return NotImplemented
    made, upper = reflections(self)
    columns = []
    for at, (v, _) in enumerate(made):
        column = upper.narrow(-1, at, 1).narrow(-2, 0, at + 1)
        columns.append(torch.cat([column, v.narrow(-2, 1, v.shape[-2] - 1)], -2))
    more = self.shape[-1] - len(made)
    columns.append(upper.narrow(-1, len(made), more))
    factors = torch.cat([each for each in columns if each.shape[-1]], -1)
    return factors, torch.cat([tau for _, tau in made], -2).squeeze(-1)


def _given(input: Tensor, tau: Tensor) -> list[Reflection]:
    made = []
    for at in range(tau.shape[-1]):
        below = input.narrow(-1, at, 1).narrow(-2, at, input.shape[-2] - at)
        one = torch.ones_like(below.narrow(-2, 0, 1))
        parts = [one, below.narrow(-2, 1, below.shape[-2] - 1)]
        v = torch.cat(parts, -2) if below.shape[-2] > 1 else one
        made.append((v, tau.narrow(-1, at, 1).unsqueeze(-1)))
    return made


def householder_product(input: Tensor, tau: Tensor) -> Tensor:
    if not is_small(input) or not input.numel():
        return NotImplemented
    return orthogonal(_given(input, tau), input, input.shape[-1])


def ormqr(
    self: Tensor,
    input2: Tensor,
    input3: Tensor,
    left: bool = True,
    transpose: bool = False,
) -> Tensor:
    """A matrix times the product of reflections."""
    if not is_small(self) or not self.numel() or not input3.numel():
        return NotImplemented
    if not left:
        return ormqr(self, input2, input3.mT, transpose=not transpose).mT
    rows = input3
    made = list(enumerate(_given(self, input2)))
    for at, by in made if transpose else made[::-1]:
        rows = _reflected(rows, at, by)
    return rows


TABLE: dict[Any, Any] = {
    aten.linalg_qr.default: qr,
    aten.geqrf.default: geqrf,
    aten.linalg_householder_product.default: householder_product,
    aten.ormqr.default: ormqr,
}
