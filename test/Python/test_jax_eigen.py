# SPDX-License-Identifier: MIT
"""Eigenvalues and singular values of JAX: against LAPACK in f64, and step by step."""

import ml_dtypes
import numera
import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("torch_mlir")

import jax.numpy as jnp
import numera.jax as nj
from jax_calls import assert_as_in_jax, assert_same, normal

A = normal(6, 5, seed=1)
B = normal(6, 2, seed=2)
SQUARE = normal(5, 5, seed=3)
SYMMETRIC = SQUARE + SQUARE.T


def near(found, expected, size=1.0):
    np.testing.assert_allclose(np.asarray(found), expected, rtol=0, atol=2e-6 * size)


@pytest.mark.parametrize("size", [1, 2, 5, 24])
def test_symmetric_matrices_are_their_eigenvectors_and_values(size):
    a = normal(size, size, seed=size)
    a = np.asarray(a + a.T, "f8")
    values, vectors = nj.jit(jnp.linalg.eigh)(a.astype("f4"))
    expected = np.linalg.eigvalsh(a)
    near(values, expected, np.abs(expected).max())
    vectors = np.asarray(vectors, "f8")
    near(vectors.T @ vectors, np.eye(size))
    near(vectors * values @ vectors.T, a, 2 * np.abs(expected).max())


@pytest.mark.parametrize("shape", [(1, 1), (3, 2), (2, 4), (9, 9)])
def test_matrices_are_their_singular_vectors_and_values(shape):
    a = np.asarray(normal(*shape, seed=4), "f8")
    count = min(shape)
    expected = np.linalg.svd(a, compute_uv=False)
    for full in (True, False):
        u, s, v = nj.jit(jnp.linalg.svd, static_argnums=1)(a, full)
        u, v = np.asarray(u, "f8"), np.asarray(v, "f8")
        assert (u.shape[1], v.shape[0]) == (shape if full else (count, count))
        near(s, expected, expected[0])
        near(u[:, :count] * s @ v[:count], a, expected[0])
        near(u.T @ u, np.eye(u.shape[1]))
        near(v @ v.T, np.eye(v.shape[0]))


def test_vectors_of_singular_values_that_are_zero_are_perpendicular():
    thin = np.asarray(normal(6, 2) @ normal(2, 5, seed=1))
    for a in (thin, 0 * thin):
        u, s, v = (np.asarray(each) for each in nj.jit(jnp.linalg.svd)(a))
        near(u.T @ u, np.eye(6))
        near(v @ v.T, np.eye(5))
        near(u[:, :5] * s @ v, a, 5)
        assert np.abs(s[2:]).max() < 1e-5


SAME = {
    "eigenvalues of a batch": (
        lambda a: jax.vmap(jnp.linalg.eigvalsh)(jnp.stack([a, 2 * a])), SYMMETRIC,
    ),
    "both triangles": (
        lambda a: [
            jnp.linalg.eigh(a, UPLO, symmetrize_input=False)[0] for UPLO in "LU"
        ], SQUARE,
    ),
    "pinv": (lambda a: (jnp.linalg.pinv(a), jnp.linalg.pinv(a.T)), A),
    "lstsq": (jnp.linalg.lstsq, A, B),
    "rank, condition and norms": (
        lambda a: (
            jnp.linalg.matrix_rank(a), jnp.linalg.matrix_rank(a @ a.T),
            jnp.linalg.cond(a), jnp.linalg.norm(a, 2), jnp.linalg.norm(a, "nuc"),
        ), A,
    ),
    "polar": (jax.scipy.linalg.polar, SQUARE),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_in_f32_it_is_jax(name):
    assert_as_in_jax(*SAME[name], rtol=1e-5, atol=5e-6)


def above(a):
    return a.T @ a + jnp.diag(jnp.arange(1.0, 6))


GRADIENTS = {
    "eigenvalues": lambda a: jnp.linalg.eigvalsh(above(a)) ** 2,
    "eigenvectors": lambda a: jnp.linalg.eigh(above(a))[1] ** 4,
    "singular values": jnp.linalg.svdvals,
    "singular vectors": lambda a: jnp.linalg.svd(a, full_matrices=False)[0] ** 4,
    "pinv": jnp.linalg.pinv,
    "lstsq": lambda a: jnp.linalg.lstsq(a, B)[0] ** 2,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_are_those_of_jax(name):
    gradient = jax.grad(lambda a: GRADIENTS[name](a).sum())
    found = nj.jit(gradient, optimization=0)(A)
    assert_same(found, gradient(A), rtol=1e-4, atol=1e-5)


def test_in_f64_it_is_jax():
    with jax.enable_x64(True):
        a = jnp.asarray(np.random.default_rng(0).standard_normal((12, 12)))
        values, vectors = nj.jit(jnp.linalg.eigh)(a + a.T)
        np.testing.assert_allclose(values, jnp.linalg.eigvalsh(a + a.T), atol=1e-13)
        np.testing.assert_allclose(vectors * values @ vectors.T, a + a.T, atol=1e-13)


# ---- step by step -----------------------------------------------------------


def bf16(x):
    return np.asarray(x, "f4").astype(ml_dtypes.bfloat16).astype("f4")


def eigenvalues(a, r):
    """Of a symmetric matrix, each step rounded by r."""
    size = len(a)
    for _ in range(size.bit_length() + 5):
        for p in range(size):
            for q in range(p + 1, size):
                first, second, beside = a[p, p], a[q, q], a[p, q]
                if r(first + beside) == first and r(second + beside) == second:
                    sine = half = np.float32(0)
                else:
                    tau = r(r(second - first) / r(2 * beside))
                    root = r(np.sqrt(r(1 + r(tau * tau))))
                    tangent = r(1 / r(abs(tau) + root))
                    tangent = -tangent if tau < 0 else tangent
                    cosine = r(1 / r(np.sqrt(r(1 + r(tangent * tangent)))))
                    sine = r(tangent * cosine)
                    half = r(sine / r(1 + cosine))
                for turned in (a, a.T):  # rows, then columns
                    x, y = turned[p].copy(), turned[q].copy()
                    turned[p] = r(x - r(sine * r(y + r(half * x))))
                    turned[q] = r(y + r(sine * r(x - r(half * y))))
                a[p, q] = a[q, p] = 0
    return np.sort(np.diagonal(a))


def test_each_step_is_rounded():
    a = bf16(SYMMETRIC)
    found = nj.jit(jnp.linalg.eigvalsh, format="bf16")(a)
    np.testing.assert_array_equal(found, eigenvalues(a.copy(), bf16))


def test_complex_matrices_are_refused():
    with pytest.raises(numera.Error, match="a matrix of complex64, expected real"):
        nj.jit(lambda a: jnp.linalg.eigvalsh(a * 1j))(SYMMETRIC)
