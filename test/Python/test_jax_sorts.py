# SPDX-License-Identifier: MIT
"""Sorts, top_k and their gradients: the order and the places are JAX's."""

import functools

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
from jax_calls import assert_as_in_jax, assert_same, normal

X = normal(4, 9)
TIES = jnp.round(X) + 0.0  # with many equal numbers, and without -0
ODD = jnp.array([3.0, jnp.nan, -1.0, jnp.inf, 0.0, -jnp.inf, -1.0, jnp.nan, 2.0])
U8 = jnp.array([200, 3, 255, 3, 0, 127, 128], jnp.uint8)


def descending(x):
    return jnp.sort(x, descending=True), jnp.argsort(x, descending=True)


SAME = {
    "sort": (lambda x: (jnp.sort(x), jnp.sort(x, 0), jnp.sort(x, None)), X),
    "argsort": (lambda x: (jnp.argsort(x), jnp.argsort(x, 0)), TIES),
    "descending": (descending, TIES),
    "NaN and infinities": (lambda x: (jnp.sort(x), jnp.argsort(x)), ODD),
    "several keys": (
        lambda x, y: lax.sort((x, y, x * y), dimension=0, num_keys=2), TIES, X,
    ),
    "one key of two": (lambda x, y: lax.sort((x, y), num_keys=1), TIES, X),
    "integers": (lambda i: (jnp.sort(i), jnp.argsort(i)), TIES.astype(jnp.int32)),
    "unsigned integers": (lambda u: (jnp.sort(u), *descending(u)), U8),
    "booleans": (lambda x: (jnp.sort(x > 0), jnp.argsort(x > 0)), X),
    "dimensions of 4": (lambda x: jnp.sort(x, 1), normal(2, 5, 2, 3)),
    "one element and none": (lambda x: (jnp.sort(x[:1], 0), jnp.sort(x[:0], 0)), X),
    "top_k": (lambda x: (lax.top_k(x, 3), lax.top_k(x, 2, axis=0)), X),
    "top_k of equal ones": (lambda x: lax.top_k(x, 6), TIES),
    "top_k of zeros": (
        lambda x: lax.top_k(x, 5), jnp.array([0.0, -0.0, 0.0, -0.0, -1.0, -0.0]),
    ),
    "top_k with NaN": (lambda x: lax.top_k(x, 5), ODD),
    "top_k of integers": (lambda i: lax.top_k(i, 4), TIES.astype(jnp.int32)),
    "medians and quantiles": (
        lambda x: (jnp.median(x), jnp.median(x, 1), jnp.percentile(x, 30, axis=0)), X,
    ),
    "what is found in order": (
        lambda x, y: (
            jnp.searchsorted(jnp.sort(x[0]), y[0]), jnp.lexsort((x[0], y[0])),
            jnp.unique(y, size=5, fill_value=0), jnp.digitize(x, jnp.arange(3.0)),
            jnp.interp(x[0], jnp.arange(4.0), y[0, :4]), jnp.histogram(x, 4)[0],
        ), X, TIES,
    ),
    "permutations": (lambda k: jax.random.permutation(k, 12), jax.random.PRNGKey(3)),
    "within scan and vmap": (
        lambda x: (
            lax.scan(lambda c, a: (jnp.sort(c + a), lax.top_k(a, 2)), x[0], x),
            jax.vmap(jnp.sort)(x),
        ), X,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_the_order_is_that_of_jax(name):
    assert_as_in_jax(*SAME[name])


GRADIENTS = {
    "sort": jnp.sort,
    "sort of two": lambda x: lax.sort((x, x**2), num_keys=1)[1],
    "top_k": lambda x: lax.top_k(x, 3)[0],
    "median": functools.partial(jnp.median, axis=0),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients_go_where_the_numbers_came_from(name):
    def gradient(x):
        found = GRADIENTS[name]
        return jax.grad(lambda x: (jnp.arange(1.0, 4) * found(x)[..., :3]).sum())(x)

    assert_same(nj.jit(gradient, optimization=0)(X), gradient(X))


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_in_a_format_nothing_is_rounded_but_the_argument(format):
    x = np.asarray(normal(5, 40, seed=4)) * 3
    scale = np.arange(1, 41, dtype="f4") * 5  # numbers of both formats

    def f(x):
        gradient = jax.grad(lambda x: (jnp.sort(x) * scale).sum())
        return jnp.sort(x), jnp.argsort(x), *lax.top_k(x, 7), gradient(x)

    values, places, most, at, gradient = map(np.asarray, nj.jit(f, format=format)(x))
    given = numera.quantize(x, format).astype("f4")
    order = np.argsort(given, kind="stable")
    oracle.same_bits(values, np.sort(given))
    np.testing.assert_array_equal(places, order)
    back = np.argsort(-given, kind="stable")[:, :7]
    np.testing.assert_array_equal(at, back)
    oracle.same_bits(most, np.take_along_axis(given, back, 1))
    expected = np.empty_like(given)
    np.put_along_axis(expected, order, np.broadcast_to(scale, given.shape), 1)
    oracle.same_bits(gradient, expected)


def test_what_follows_a_sort_is_rounded():
    x = normal(50)
    found = nj.jit(lambda x: jnp.sort(x) * 3, format="bf16")(x)
    given = np.sort(np.asarray(x)).astype(ml_dtypes.bfloat16)
    oracle.same_bits(np.asarray(found), (given * ml_dtypes.bfloat16(3)).astype("f4"))


def test_files_have_sorts(tmp_path, monkeypatch):
    def f(x):
        return jnp.sort(x), lax.top_k(x, 3)

    monkeypatch.chdir(tmp_path)
    with open("sorts.stablehlo", "w") as file:
        file.write(jax.export.export(jax.jit(f))(TIES).mlir_module())
    numera.import_model("sorts.stablehlo", "sorts.mlir")
    found = numera.compile("sorts.mlir")(np.asarray(TIES))
    for x, y in zip(found, jax.tree.leaves(f(TIES))):
        np.testing.assert_array_equal(x, y)


def test_nar_is_behind_all_numbers():
    x = jnp.array([1.0, jnp.nan, -8.0, 0.0, jnp.nan, 3.0])
    f = nj.jit(lambda x: (jnp.argsort(x), lax.top_k(x, 3)[1]), format="posit8")
    places, most = f(x)
    assert (places.tolist(), most.tolist()) == ([2, 3, 0, 5, 1, 4], [1, 4, 5])
