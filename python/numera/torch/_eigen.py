# SPDX-License-Identifier: MIT
"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations.

A round rotates pairs that have no row in common, so that what is beside the diagonal
becomes zero, or columns perpendicular; then all but one move on by a place, so that in a
sweep each meets each. There is a fixed number of sweeps. (Golub and Van Loan, Matrix
Computations, 8.5 and 8.6.) A graph has each round, so matrices are small.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from numera.torch._factors import unit
from numera.torch._orthogonal import orthogonal, reflections

aten = torch.ops.aten

__all__ = ["TABLE"]

_MOST = 16
"""Rows of a symmetric matrix, or singular values."""


def _sweeps(count: int, kind: torch.dtype) -> int:
    """Errors are squared by each of the last ones."""
    return count.bit_length() + (6 if kind == torch.float64 else 3)


def _moves(count: int, kind: torch.dtype) -> tuple[Tensor, Tensor]:
    """Matrices, for an even number of places, that move all but the first of them on, of
    which those in the first half meet those in the second one; with the second matrix,
    each is taken for the one that it meets, with a sign."""
    half = count // 2
    same = unit(count, kind)
    met = torch.cat([same.narrow(0, half, half), -same.narrow(0, 0, half)])
    if half == 1:
        return same, met
    parts = [(0, 1), (half, 1), (1, half - 2), (half + 1, half - 1), (half - 1, 1)]

    def moved(columns: Tensor) -> Tensor:
        return torch.cat([columns.narrow(1, *part) for part in parts if part[1]], 1)

    return moved(same), moved(met)


def _rotation(
    first: Tensor, second: Tensor, beside: Tensor, moves: tuple[Tensor, Tensor]
) -> Tensor:
    """The matrix that turns pairs so that `beside` becomes zero, between the diagonal
    numbers of both, and moves them on. It turns none where `beside` changes neither."""
    none = (first + beside == first) & (second + beside == second)
    tau = (second - first) / torch.where(none, 1.0, 2 * beside)
    tangent = 1 / (tau.abs() + torch.sqrt(1 + tau * tau))
    tangent = torch.where(none, 0.0, torch.where(tau < 0, -tangent, tangent))
    cosine = torch.rsqrt(1 + tangent * tangent)
    sine = tangent * cosine
    moved, met = moves
    cosines = torch.cat([cosine, cosine], -1).unsqueeze(-1)
    sines = torch.cat([sine, sine], -1).unsqueeze(-1)
    return cosines * moved + sines * met


def _padded(matrix: Tensor, rows: int, columns: int) -> Tensor:
    more = [0, columns - matrix.shape[-1], 0, rows - matrix.shape[-2]]
    return aten.constant_pad_nd(matrix, more, 0.0) if any(more) else matrix


# ---- symmetric matrices -----------------------------------------------------


def eigh(A: Tensor, UPLO: str = "L", compute_v: bool = True) -> Any:
    count = A.shape[-1]
    if not A.is_floating_point() or not A.numel() or count > _MOST:
        return NotImplemented
    number = torch.arange(count)
    below = number.unsqueeze(1) >= number
    lower = A if UPLO.upper() == "L" else A.mT
    matrix = torch.where(below, lower, lower.mT)
    even = count + count % 2
    half = even // 2
    matrix = _padded(matrix, even, even)
    vectors = unit(even, A.dtype).expand(matrix.shape)
    moves = _moves(even, A.dtype)
    for _ in range(_sweeps(count, A.dtype) * (even - 1) if count > 1 else 0):
        own = matrix.diagonal(0, -2, -1)
        beside = matrix.diagonal(half, -2, -1)
        first, second = own.narrow(-1, 0, half), own.narrow(-1, half, half)
        turn = _rotation(first, second, beside, moves)
        matrix = turn.mT @ matrix @ turn
        if compute_v:
            vectors = vectors @ turn
    values = matrix.diagonal(0, -2, -1).narrow(-1, 0, count)
    values, order = aten.sort.default(values, -1)
    if not compute_v:
        return values, A.new_zeros([0])
    vectors = vectors.narrow(-2, 0, count).narrow(-1, 0, count)
    return values, vectors.gather(-1, order.unsqueeze(-2).expand(vectors.shape))


# ---- singular values --------------------------------------------------------


def svd(
    A: Tensor,
    full_matrices: bool = False,
    compute_uv: bool = True,
    *,
    driver: str | None = None,
) -> Any:
    """Columns of the matrix, or of the transposed one, are rotated until they are
    perpendicular. Their lengths are the singular values; their directions, and those
    that are perpendicular to all of them, come of Householder's reflections."""
    rows, columns = A.shape[-2:]
    if not A.is_floating_point() or not A.numel() or min(rows, columns) > _MOST:
        return NotImplemented
    tall = rows >= columns
    left, values, right = _svd(A if tall else A.mT, full_matrices, compute_uv)
    if not compute_uv:
        none = A.new_zeros([0])
        return none, values, none
    return (left, values, right.mT) if tall else (right, values, left.mT)


def _svd(A: Tensor, full: bool, vectors: bool) -> tuple[Tensor, Tensor, Tensor]:
    rows, count = A.shape[-2:]
    even = count + count % 2
    half = even // 2
    matrix = _padded(A, rows, even)
    right = unit(even, A.dtype).expand(*A.shape[:-2], even, even)
    moves = _moves(even, A.dtype)
    for _ in range(_sweeps(count, A.dtype) * (even - 1) if count > 1 else 0):
        x, y = matrix.narrow(-1, 0, half), matrix.narrow(-1, half, half)
        products = [(one * two).sum(-2) for one, two in ((x, x), (y, y), (x, y))]
        turn = _rotation(products[0], products[1], products[2], moves)
        matrix = matrix @ turn
        if vectors:
            right = right @ turn
    matrix = matrix.narrow(-1, 0, count)
    values = (matrix * matrix).sum(-2).sqrt()
    values, order = aten.sort.default(values, -1, True)
    if not vectors:
        return A, values, A
    order = order.unsqueeze(-2)
    matrix = matrix.gather(-1, order.expand(matrix.shape))
    right = right.narrow(-2, 0, count).narrow(-1, 0, count)
    right = right.gather(-1, order.expand(right.shape))
    made, upper = reflections(matrix)
    left = orthogonal(made, matrix, rows if full else count)
    signs = torch.where(upper.diagonal(0, -2, -1) < 0, -1.0, 1.0).to(A.dtype)
    if full and rows > count:
        signs = aten.constant_pad_nd(signs, [0, rows - count], 1.0)
    return left * signs.unsqueeze(-2), values, right


# ---- what follows of them ---------------------------------------------------


def pinv(
    self: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: bool = False,
) -> Tensor:
    if not self.numel():
        return NotImplemented
    if hermitian:
        found = eigh(self)
        if found is NotImplemented:
            return NotImplemented
        values, left = found
        right = left.mT
    else:
        found = svd(self)
        if found is NotImplemented:
            return NotImplemented
        left, values, right = found
    size = values.abs()
    least = torch.finfo(self.dtype).eps * max(self.shape[-2:])
    if atol is not None:
        least = torch.where(atol > 0, 0.0, least)
    share = least if rtol is None else rtol.unsqueeze(-1)
    bound = size.amax(-1, keepdim=True) * share
    if atol is not None:
        bound = torch.maximum(atol.to(self.dtype).unsqueeze(-1), bound)
    kept = size > bound
    inverse = torch.where(kept, 1 / torch.where(kept, values, 1.0), 0.0)
    return right.mT @ (inverse.unsqueeze(-1) * left.mT)


TABLE: dict[Any, Any] = {
    aten._linalg_eigh.default: eigh,
    aten._linalg_svd.default: svd,
    aten.linalg_pinv.atol_rtol_tensor: pinv,
}
