# SPDX-License-Identifier: MIT
"""Functions of JAX in formats: against NumPy in the format."""

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
from jax_calls import normal
from jax_models import BATCH, PARAMETERS, train

X = normal(4, 8)


def test_each_operation_is_rounded_to_bf16():
    x, y, w = normal(6, 5), normal(6, 5, seed=1), normal(5, 4, seed=2)

    def f(x, y, w):
        return x * y + x, x / y - y, (x @ w), jnp.maximum(x, 0) * 3

    with np.errstate(all="ignore"):
        a, b, c = (np.asarray(v).astype(ml_dtypes.bfloat16) for v in (x, y, w))
        total = np.zeros((6, 4), "f4")
        for k in range(5):  # sums in f32, of products that f32 has
            total += a[:, k : k + 1].astype("f4") * c[k].astype("f4")
        three = ml_dtypes.bfloat16(3)
        relu = np.maximum(a, ml_dtypes.bfloat16(0))
        expected = a * b + a, a / b - b, total.astype(a.dtype), relu * three
    for found, each in zip(nj.jit(f, format="bf16")(x, y, w), expected):
        oracle.same_bits(np.asarray(found), each.astype("f4"))


def test_gradients_are_rounded_to_posits():
    x = normal(40) * 3

    def rounded(v):
        return oracle.posit_values(16)[oracle.posit_codes(v, 16)]

    # The gradient of the sum of x³ is 3 · x², by what JAX derives: 3 · (x · x).
    def f(x):
        return jax.grad(lambda x: (x**3).sum())(x)

    text = str(jax.make_jaxpr(f)(x))
    p = rounded(np.asarray(x, "f8"))
    expected = rounded(rounded(p * p) * 3.0)
    found = np.asarray(nj.jit(f, format="posit16")(x), "f8")
    assert (found == expected).all(), text


def test_sums_are_kept_in_what_accumulate_names():
    x = jnp.tile(jnp.array([4096.0, 1.0, -4096.0, 0.0]), 8)[None]
    ones = jnp.ones((32, 1))
    for accumulate, expected in (("quire", 8), ("same", 0)):
        f = nj.jit(jnp.matmul, format="bf16", accumulate=accumulate)
        assert f(x, ones).item() == expected


def test_rules_match_names_of_scopes():
    def f(x):
        with jax.named_scope("first"):
            x = x / 3
        with jax.named_scope("second"):
            return x / 3

    rules = {"rules": [{"match": "*first*", "format": "f32"}]}
    x = jnp.float32(1)
    found = nj.jit(f, format="f8E5M2", policy=rules)(x).item()
    third = np.float32(1) / np.float32(3)
    expected = numera.quantize(numera.quantize(third, "f8E5M2") / 3, "f8E5M2")
    wrong = nj.jit(f, format="f8E5M2")(x).item()
    both = nj.jit(f, policy={"default": "f8E5M2", **rules})(x).item()
    assert (
        found
        == both
        == numera.quantize(
            numera.quantize(third, "f8E5M2").astype("f4") / np.float32(3), "f8E5M2"
        )
    )
    assert wrong == expected


def test_rules_match_within_functions_of_functions():
    def f(x):
        with jax.named_scope("head"):  # jax.nn jits what it has
            return jax.nn.softplus(x), lax.erf_inv(x / 40)

    x = jnp.array([1.0, 2.0, 30.0])
    head = {"rules": [{"match": "*head*", "format": "f8E5M2"}]}
    for found, each in zip(nj.jit(f, policy=head)(x), nj.jit(f, format="f8E5M2")(x)):
        assert (found == each).all()


def test_nar_is_asked_for_as_nan_is():
    x = jnp.array([1.0, jnp.nan, -8.0, 0.0, jnp.nan, 3.0])

    def f(x):
        exact = jnp.nansum(x), jnp.nanmax(x), jnp.nanargmin(x), jnp.nan_to_num(x)
        return jnp.isnan(x), jnp.isfinite(x), jnp.equal(x, x), exact

    for found, each in zip(
        *map(jax.tree.leaves, (nj.jit(f, format="posit16")(x), f(x)))
    ):
        assert (found == each).all()


# ---- training ---------------------------------------------------------------


@pytest.mark.parametrize(
    "options",
    [{}, {"format": "bf16"}, {"format": "posit16", "rounding": "stochastic"}],
    ids=str,
)
def test_a_network_learns(options):
    step, exact = nj.jit(train, seed=1, **options), jax.jit(train)
    p = q = PARAMETERS
    losses = []
    for t in range(8):
        value, p = step.at_step(t)(p, *BATCH)
        expected, q = exact(q, *BATCH)
        losses.append(float(value))
        if not options:
            assert abs(float(value) - float(expected)) < 1e-5
    assert losses[-1] < 0.8 * losses[0]


def test_random_numbers_are_those_of_jax():
    def uniform(x):
        return jax.random.uniform(jax.random.PRNGKey(0), x.shape)

    def dropped(x):  # a long chain of operations on integers
        key = jax.random.fold_in(jax.random.fold_in(jax.random.PRNGKey(0), 5), 7)
        return jnp.where(jax.random.bernoulli(key, 0.5, x.shape), 2 * x, 0)

    for function in (uniform, dropped):
        assert (nj.jit(function, format="f32")(X) == function(X)).all()
    rounded = numera.quantize(np.asarray(uniform(X)), "bf16")
    assert (np.abs(nj.jit(uniform, format="bf16")(X) - rounded) <= 2**-7).all()


@pytest.mark.parametrize("method", ["nearest", "linear"])
def test_places_and_shares_of_an_image_are_not_in_the_format(method):
    """Of zeros and ones, which are exact, as are the shares; places up to 299 are not."""
    x = jnp.arange(300) * 7 % 3 % 2.0
    found = nj.jit(lambda x: jax.image.resize(x, (600,), method), format="f8E4M3FN")(x)
    assert (found == jax.image.resize(x, (600,), method)).all()


def test_what_depends_on_no_argument_is_a_constant():
    def f(x):
        return x + jnp.sin(jnp.arange(7.0) * 100 / 3)

    found = nj.jit(f, format="float<4,3>")(jnp.zeros(7))
    expected = numera.quantize(np.asarray(f(jnp.zeros(7))), "float<4,3>")
    oracle.same_bits(np.asarray(found), expected)


def test_truths_may_be_constants_of_any_size():
    held = np.tril(np.ones((40, 40), bool))

    def f(x):
        made = jnp.arange(40)[:, None] >= jnp.arange(40)
        few = np.array([True, False])
        return jnp.where(held & made, x, 0), jnp.where(few, x[0, :2], 1)

    x = normal(40, 40)
    for found, right in zip(nj.jit(f, format="f32")(x), f(x)):
        oracle.same_bits(np.asarray(found), np.asarray(right))


def test_a_table_that_is_captured_does_not_count():
    table, x = jnp.zeros(1 << 22), jnp.arange(300) * 7 % 3 % 2.0

    def f(x, at):
        return jax.image.resize(x, (600,), "nearest") + table[at]

    found = nj.jit(f, format="f8E4M3FN")(x, 3)
    assert (found == jax.image.resize(x, (600,), "nearest")).all()
