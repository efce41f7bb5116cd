# SPDX-License-Identifier: MIT
"""Factors and solutions of small matrices, and their gradients, as in eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numera.torch")

import numera  # noqa: E402
from torch_calls import agree, call, compiled  # noqa: E402

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
def test_triangular_systems_of_more_rows_are_solved_by_halves(upper):
    def solve(a, b):
        return linalg.solve_triangular(a, b, upper=upper, unitriangular=True)

    agree(solve, matrices(35, 35) / 35, matrices(35, 2, seed=1))


@pytest.mark.parametrize("upper", [False, True])
def test_cholesky(upper):
    def factor(a):
        return linalg.cholesky(a @ a.mT + torch.eye(5), upper=upper)

    agree(factor, matrices(2, 5, 5))


def solutions(a, b):
    """Factors, and what is solved by them."""
    good = a @ a.mT + torch.eye(a.shape[-1])
    lower = linalg.cholesky(good)
    factors, pivots = linalg.lu_factor(a)
    found = linalg.solve(a.mT, b), torch.linalg.solve_ex(a, b[..., 0])[0]
    found += linalg.solve(a, b.mT, left=False), torch.cholesky_solve(b, lower)
    turned = torch.triangular_solve(b, lower, upper=False, transpose=True)
    found += turned.solution, linalg.lu_solve(factors, pivots, b, adjoint=True)
    inverse = torch.cholesky_inverse(lower.mT, upper=True)
    return *found, factors, pivots, inverse, torch.logdet(good)


def test_systems_of_equations():
    agree(solutions, matrices(2, 4, 4), matrices(2, 4, 2, seed=1))


def test_exported_programs_do_not_raise_either():
    class Solves(torch.nn.Module):
        def forward(self, a, b):
            return linalg.solve(a, b), linalg.inv(a)

    a, b = matrices(3, 3), matrices(3, seed=1)
    net = numera.torch.compile(Solves(), (a, b), format="f32")
    torch.testing.assert_close(net(a, b), Solves()(a, b))
    assert not net(torch.zeros(3, 3), b)[0].isfinite().any()


@pytest.mark.parametrize("shape", [(3, 3), (2, 5, 3), (3, 5)])
def test_triangular_and_orthogonal_factors(shape):
    def factors(a):
        place, *parts = linalg.lu(a)
        reduced = linalg.qr(a)
        return place, *parts, *reduced, linalg.qr(a, mode="r")[1].detach()

    agree(factors, matrices(*shape))


def test_matrices_may_have_many_rows():
    def model(a):
        place, *parts = linalg.lu(a)
        found = place @ parts[0] @ parts[1], linalg.pinv(a)
        return *found, *linalg.qr(a), linalg.svdvals(a.mT)

    a = matrices(50, 2)
    net, _ = compiled(model)
    torch.testing.assert_close(net(a), model(a), rtol=2e-5, atol=2e-5)


def test_reflections():
    """With LAPACK's signs, also where there is nothing to reflect."""
    a = matrices(5, 3)
    a[1:, 0] = 0

    def factors(a):
        packed, scales = torch.geqrf(a)
        whole, upper = linalg.qr(a, mode="complete")
        c = linalg.householder_product(packed, scales)
        square = torch.nn.functional.pad(packed, (0, 2))
        turned = torch.ormqr(square, torch.nn.functional.pad(scales, (0, 2)), c)
        return packed, scales, whole, upper, c, turned

    with torch.no_grad():
        agree(factors, a)


def test_powers_of_matrices():
    def powers(a):
        small, large = linalg.matrix_exp(a / 9), linalg.matrix_exp(a * 3) / 100
        return small, large, linalg.matrix_power(a, 3), linalg.matrix_power(a, -2) / 9

    agree(powers, matrices(2, 3, 3) / 2)


# ---- eigenvalues and singular values ----------------------------------------


def test_eigenvalues_of_symmetric_matrices():
    """Vectors by what does not depend on their signs."""

    def spectrum(a):
        values, vectors = linalg.eigh(a + a.mT)
        powers = vectors * values.exp().unsqueeze(-2) @ vectors.mT
        return values, vectors.square(), powers

    agree(spectrum, matrices(2, 3, 3) / 2)


def test_eigenvalues_read_one_triangle_and_may_be_equal():
    a = matrices(4, 4)
    equal = torch.diag(torch.tensor([2.0, -1, 2, 2]))
    equal[0, 1] = equal[1, 0] = 1e-9
    a = torch.stack([a, equal, torch.zeros(4, 4), torch.full((4, 4), 3.0)])
    for side in "LU":
        found = call(lambda m: linalg.eigvalsh(m, UPLO=side), a)
        wanted = linalg.eigvalsh(a, UPLO=side)
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=2e-6)


@pytest.mark.parametrize("shape", [(2, 4, 3), (2, 3)])
def test_singular_values(shape):
    def parts(a):
        left, values, right = linalg.svd(a, full_matrices=False)
        norms = linalg.norm(a, ord="nuc", dim=(-2, -1)), linalg.cond(a, 2)
        return left.square(), values, right.square(), *norms, linalg.pinv(a)

    agree(parts, matrices(*shape))


def test_all_vectors_of_a_matrix_without_full_rank():
    a = matrices(4, 3)
    a[:, 2] = a[:, 0] - 2 * a[:, 1]
    a = torch.stack([a, torch.zeros(4, 3)])
    net, _ = compiled(lambda a: (*linalg.svd(a), linalg.matrix_rank(a)))
    left, values, right, rank = net(a)
    product = left[..., :3] * values.unsqueeze(1) @ right
    torch.testing.assert_close(product, a, rtol=1e-5, atol=1e-5)
    for vectors in (left, right):
        unit = torch.eye(vectors.shape[-1]).expand(vectors.shape)
        torch.testing.assert_close(vectors.mT @ vectors, unit, rtol=0, atol=1e-5)
    assert rank.tolist() == [2, 0]


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


@pytest.mark.parametrize(
    ("function", "operator"),
    [
        (linalg.inv, "linalg_inv_ex"),
        (lambda a: linalg.solve(a, a), "linalg_solve_ex"),
        (lambda a: linalg.qr(a)[1], "linalg_qr"),
        (linalg.eigvalsh, "linalg_eigh"),
        (linalg.svdvals, "linalg_svd"),
    ],
)
def test_large_matrices_are_refused(function, operator):
    with pytest.raises(numera.Error, match=operator):
        call(function, torch.eye(40))
