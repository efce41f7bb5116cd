# SPDX-License-Identifier: MIT
"""What `numera.jax` composes: against JAX in f32, and step by step in formats."""

import ml_dtypes
import numera
import numpy as np
import oracle
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("torch_mlir")

import jax.numpy as jnp
import numera.jax as nj
from jax import lax
from jax_calls import assert_as_in_jax, normal, summed_gradient

linalg, special = jax.scipy.linalg, jax.scipy.special


X = normal(3, 7) * 3
POSITIVE = abs(X) + 0.1
A, B = normal(5, 5, seed=1), normal(5, 2, seed=2)
DEFINITE = A @ A.T + 5 * jnp.eye(5)
EDGES = jnp.array([0.0, 1.0, -1.0, 2.0, -2.0, jnp.inf, -jnp.inf, jnp.nan, -1e-30])
KEY = jax.random.PRNGKey(3)


def triangular(a, b):
    return (
        linalg.solve_triangular(a, b, lower=True),
        linalg.solve_triangular(a, b, trans=1),
        lax.linalg.triangular_solve(a, b.T, lower=True),
        lax.linalg.triangular_solve(a, b.T, transpose_a=True, unit_diagonal=True),
    )


def determinants(a):
    return jnp.linalg.det(a), jnp.linalg.slogdet(a), jnp.linalg.inv(a)


def batches(a, b):
    return jnp.linalg.cholesky(jnp.stack([a, 2 * a])), jnp.linalg.solve(
        jnp.stack([a, 2 * a]), jnp.stack([b, b])
    )


SAME = {
    "erf_inv": (lambda x: lax.erf_inv(x / 9), X),
    "erf_inv at edges": (lax.erf_inv, EDGES),
    "modified Bessel functions": (
        lambda x: (special.i0(x), special.i0e(x), special.i1(x), special.i1e(x * 9)), X,
    ),
    "lgamma": (lax.lgamma, X),
    "lgamma at edges": (lax.lgamma, EDGES),
    "digamma": (lax.digamma, X),
    "digamma at edges": (lax.digamma, EDGES),
    "gradients": (
        summed_gradient(lambda x: (lax.erf_inv(x / 12), lax.lgamma(x), lax.digamma(x))),
        POSITIVE,
    ),
    "of jax.scipy": (
        lambda x: (
            special.polygamma(2, x), special.zeta(x + 1.5, x), special.betaln(x, x),
            special.ndtri(x / 12),
        ), POSITIVE,
    ),
    "nextafter": (lambda x: (jnp.nextafter(x, 2.0), jnp.nextafter(0 * x, -x)), X),
    "normal numbers": (
        lambda k: (jax.random.normal(k, (9,)),
                   jax.random.truncated_normal(k, -1, 1, (9,))), KEY,
    ),
    "cholesky": (jnp.linalg.cholesky, DEFINITE),
    "cholesky, upper": (lambda a: jnp.linalg.cholesky(a, upper=True), DEFINITE),
    "triangular_solve": (triangular, DEFINITE, B),
    "solve": (jnp.linalg.solve, A, B),
    "gradient of solve": (summed_gradient(jnp.linalg.solve), DEFINITE, B),
    "gradient of cholesky": (summed_gradient(jnp.linalg.cholesky), DEFINITE),
    "determinant and inverse": (determinants, A),
    "batches": (batches, DEFINITE, B),
    "qr": (lambda a: (jnp.linalg.qr(a), jnp.linalg.qr(a[:, :3])), A),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_in_f32_it_is_jax(name):
    assert_as_in_jax(*SAME[name], rtol=2e-5, atol=2e-6)


def test_in_f64_it_is_jax():
    def f(x):
        return lax.lgamma(x), lax.digamma(x), lax.erf_inv(x / 12)

    with jax.enable_x64(True):
        x = jnp.asarray(np.linspace(0.1, 11.9, 40))
        found, expected = nj.jit(f, optimization=0)(x), f(x)
        more = jnp.asarray(np.linspace(-90, 90, 41))
        found += (nj.jit(lax.bessel_i1e, optimization=0)(more),)
        expected += (lax.bessel_i1e(more),)
    for each, other in zip(found, expected):
        np.testing.assert_allclose(each, other, rtol=1e-13, atol=1e-14)


# ---- step by step -----------------------------------------------------------


def bf16(x):
    return np.asarray(x).astype(ml_dtypes.bfloat16).astype("f8")


def posit16(x):
    return oracle.posit_values(16)[oracle.posit_codes(np.asarray(x, "f8"), 16)]


CENTRAL = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06,
           0.00021858087, -0.00125372503, -0.00417768164, 0.246640727,
           1.50140941)  # fmt: skip


def erf_inv(x, r):
    w = -r(np.log1p(-r(x * x)))
    w = r(w - r(2.5))
    p = r(CENTRAL[0])
    for each in CENTRAL[1:]:
        p = r(r(each) + r(p * w))
    return r(p * x)


def digamma(x, r):
    total = np.zeros_like(x)
    for _ in range(6):
        low = x < 6
        total = np.where(low, r(total + r(1 / x)), total)
        x = np.where(low, r(x + 1), x)
    square = r(1 / r(x * x))
    series = r(-1 / 240)
    for each in (1 / 252, -1 / 120, 1 / 12):
        series = r(r(series * square) + r(each))
    found = r(r(np.log(x)) - r(0.5 / x))
    return r(r(found - r(square * series)) - total)


@pytest.mark.parametrize("format, r", [("bf16", bf16), ("posit16", posit16)])
def test_each_step_of_a_function_is_rounded(format, r):
    x = r(np.linspace(0.51, 9, 60))
    parts = r(np.linspace(-0.95, 0.95, 60))

    def f(x, parts):
        return lax.digamma(x), lax.erf_inv(parts)

    found = nj.jit(f, format=format)(x.astype("f4"), parts.astype("f4"))
    assert (np.asarray(found[0], "f8") == digamma(x, r)).all()
    assert (np.asarray(found[1], "f8") == erf_inv(parts, r)).all()


def products(a, b, r):
    """The sum of products in f32, in order, then rounded."""
    total = np.float32(0)
    for x, y in zip(a, b):
        total = np.float32(total + np.float32(x * y))
    return r(total)


def cholesky(a, r):
    n = len(a)
    l = np.zeros((n, n))
    for j in range(n):
        for i in range(j, n):
            rest = r(a[i, j] - products(l[i], l[j], r))
            l[i, j] = r(np.sqrt(rest)) if i == j else r(rest / l[j, j])
    return l


def solve(a, b, r):
    n = len(a)
    x = np.zeros_like(b)
    for i in range(n):
        for k in range(b.shape[1]):
            rest = r(b[i, k] - products(a[i, :i], x[:i, k], r))
            x[i, k] = r(rest / a[i, i])
    return x


def test_each_step_of_matrices_is_rounded():
    a, b = bf16(DEFINITE), bf16(B)

    def f(a, b):
        return (
            lax.linalg.cholesky(a, symmetrize_input=False),
            lax.linalg.triangular_solve(a, b, left_side=True, lower=True),
        )

    found = nj.jit(f, format="bf16")(a.astype("f4"), b.astype("f4"))
    assert (np.tril(found[0]) == cholesky(a, bf16)).all()
    assert (np.asarray(found[1]) == solve(a, b, bf16)).all()


def test_logistic_and_hypot_round_each_step():
    x, y = (bf16(normal(200, seed=n) * 6) for n in (4, 5))
    high, low = np.maximum(abs(x), abs(y)), np.minimum(abs(x), abs(y))
    share = bf16(low / high)
    root = bf16(np.sqrt(bf16(1 + bf16(share**2))))
    exps = bf16(np.exp(-x))
    f = nj.jit(lambda x, y: (jax.nn.sigmoid(x), jnp.hypot(x, y)), format="bf16")
    found = f(x.astype("f4"), y.astype("f4"))
    assert (found[0] == bf16(1 / bf16(exps + 1))).all()
    assert (found[1] == bf16(high * root)).all()


def test_the_gamma_function_holds_in_eight_bits():
    x = np.asarray(numera.quantize(np.linspace(0.3, 8, 40, dtype="f4"), "f8E4M3FN"))
    f = nj.jit(lambda x: (lax.lgamma(x), lax.digamma(x)), format="f8E4M3FN")
    for found, exact in zip(f(x.astype("f4")), (lax.lgamma(x), lax.digamma(x))):
        # Within two of the distances between numbers, where those are not small.
        assert (np.abs(found - exact) <= np.maximum(np.abs(exact), 1) / 4).all()


# ---- errors -----------------------------------------------------------------


def test_what_jax_has_for_some_platforms_alone_is_refused():
    with pytest.raises(numera.Error) as caught:
        nj.jit(lambda a: jnp.linalg.eigvals(a).real)(DEFINITE)
    assert str(caught.value) == (
        "cannot compile 'eig': JAX has no operations of StableHLO for it"
    )
