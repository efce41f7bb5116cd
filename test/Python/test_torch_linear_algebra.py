# SPDX-License-Identifier: MIT
"""Factors and solutions of small matrices, and their gradients, as in eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numera.torch")

import numera  # noqa: E402
from torch_calls import agree, call  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

linalg = torch.linalg


def matrices(*shape, seed=0):
    torch.manual_seed(seed)
    return torch.randn(shape)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: linalg.inv(a),
        lambda a: linalg.det(a),
        lambda a: linalg.slogdet(a),
        lambda a: linalg.inv(a.mT) @ a[..., :2],
        lambda a: linalg.det(a.mT) * 2,
        lambda a: linalg.slogdet(a.mT + 1),
        lambda a: torch.inverse(a).sum(-1),
        lambda a: linalg.solve_triangular(a.triu() + 2 * torch.eye(4), a, upper=True),
        lambda a: linalg.solve_triangular(
            a.tril() + 2 * torch.eye(4), a, upper=False, left=False
        ),
        lambda a: linalg.solve_triangular(a, a, upper=False, unitriangular=True),
    ],
)
@pytest.mark.parametrize("shape", [(4, 4), (2, 3, 4, 4)])
def test_matrices_agree_with_eager_mode(function, shape):
    agree(function, matrices(*shape))


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(upper):
    def factor(a):
        return linalg.cholesky(a @ a.mT + torch.eye(5), upper=upper)

    agree(factor, matrices(2, 5, 5))


def test_rows_are_exchanged():
    """No pivot may be zero, or small beside the others."""
    a = torch.tensor([[0.0, 1, 2], [1, 0, 3], [4, -3, 0]])
    small = torch.tensor([[1e-20, 1], [1, 1]])
    for each in (a, a.flip(0), a.roll(1, 0), small):
        assert torch.allclose(call(linalg.inv, each), linalg.inv(each), rtol=1e-5)
        assert torch.allclose(call(linalg.det, each), linalg.det(each), rtol=1e-5)
        assert torch.allclose(
            call(lambda m: linalg.slogdet(m)[1], each), linalg.slogdet(each)[1]
        )


def test_what_has_no_inverse_is_not_finite():
    singular = torch.tensor([[1.0, 2], [2, 4]])
    assert not call(linalg.inv, singular).isfinite().any()
    assert call(linalg.det, singular) == 0
    assert call(lambda a: linalg.slogdet(a)[1], singular) == -torch.inf
    assert call(linalg.cholesky, -torch.eye(2)).isnan().any()
    second = torch.diag(torch.tensor([1.0, -1]))
    assert call(lambda a: linalg.cholesky_ex(a)[1], second) == 2
    nan = torch.full((2, 2), torch.nan)
    assert call(linalg.inv, nan).isnan().all()


def test_large_matrices_are_refused():
    with pytest.raises(numera.Error, match="linalg_inv_ex"):
        call(linalg.inv, torch.eye(40))
