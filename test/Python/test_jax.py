# SPDX-License-Identifier: MIT
"""Functions of JAX in f32: against XLA."""

import functools

import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("torch_mlir")

import jax.numpy as jnp
import numera.jax
from jax import lax
from jax_calls import assert_as_in_jax, normal, summed_gradient
from jax_models import convolution, pool

X, W = normal(4, 8), normal(8, 3, seed=1)
I4 = jnp.array([2, 0, 2, 1], jnp.int32)
U8 = jnp.array([200, 3, 255, 128], jnp.uint8)
IMAGES, KERNEL = normal(2, 3, 9, 9), normal(4, 3, 3, 3, seed=2)
REPEATED = jnp.round(IMAGES)  # with many equal numbers in a window

SAME = {
    "elementary": (
        lambda x: (
            jnp.exp(x), jnp.log(abs(x)), jnp.sin(x), jnp.cos(x), jnp.tan(x),
            jnp.tanh(x), jnp.log1p(abs(x)), jnp.expm1(x), jnp.sqrt(abs(x)),
            lax.rsqrt(abs(x)), jnp.cbrt(x), jnp.arctan(x), jnp.arcsin(x / 4),
            jnp.arccos(x / 4), jnp.sinh(x), jnp.cosh(x), jnp.arcsinh(x),
            jnp.arctan2(x, 2.0), lax.erf(x), lax.erfc(x), jnp.power(abs(x), x),
        ), X,
    ),
    "rounding": (
        lambda x: (jnp.floor(x), jnp.ceil(x), jnp.round(x), jnp.sign(x), abs(x),
                   jnp.trunc(x), x % 2.0, x // 1.0, lax.rem(x, 2.0)), X,
    ),
    "choices": (
        lambda x: (jnp.where(x > 0, x, 1), jnp.clip(x, -1, 0.5), jnp.maximum(x, 0),
                   jnp.isnan(x), jnp.isfinite(x / 0), jnp.isfinite(jnp.log(x)), jnp.minimum(x, x.T.reshape(4, 8))),
        X,
    ),
    "integers": (
        lambda i: (i // 2, i % 2, i << 1, i & 1, -i, ~i, i * i, abs(i - 1), i > 1,
                   i.astype(jnp.float32), jnp.minimum(i, 1), i ^ 3), I4,
    ),
    "unsigned integers": (
        lambda u: (u + u, u // 3, u > 5, u.astype(jnp.float32), u.astype(jnp.int32)),
        jnp.array([200, 3, 255], jnp.uint8),
    ),
    "booleans": (lambda m, x: (m & (x > 0), ~m, jnp.where(m, x, 0), m.any(1),
                               m.all(), m.sum()), X > 0.5, X),
    "reductions": (
        lambda x: (x.sum(), x.mean(0), x.max(1), x.min(), x.prod(1), x.var(1),
                   jnp.argmax(x, 1), jnp.argmin(x), jnp.cumsum(x, 1)), X,
    ),
    "shapes": (
        lambda x: (x.T, x.reshape(2, 16), x[::2, ::-1], x[1, 2:5], x[None], x[..., 3],
                   jnp.concatenate([x, x], 1), jnp.stack([x, x]), jnp.tile(x, (2, 1)),
                   jnp.pad(x, ((1, 1), (0, 2))), jnp.broadcast_to(x[:1], (3, 8)),
                   jnp.repeat(x, 2, 0), jnp.split(x, 2, 1), jnp.tril(jnp.ones((3, 3))),
                   jnp.arange(5), jnp.eye(3), x), X,
    ),
    "products": (
        lambda x, w: (x @ w, jnp.einsum("ab,cb->ac", x, x), jnp.vdot(x[0], x[1]),
                      jnp.outer(x[0], x[1]), x[0] @ w, jnp.einsum("ab,ab->a", x, x),
                      jnp.matmul(x.reshape(2, 2, 8), w)), X, W,
    ),
    "gradients of products": (
        summed_gradient(lambda x, w: jnp.tanh(x @ w)), X, W,
    ),
    "softmax": (
        lambda x: (jax.nn.softmax(x), jax.nn.log_softmax(x), jax.nn.logsumexp(x, 0)), X,
    ),
    "activations": (
        lambda x: (jax.nn.relu(x), jax.nn.gelu(x), jax.nn.gelu(x, approximate=False),
                   jax.nn.silu(x), jax.nn.sigmoid(x), jax.nn.softplus(x), jax.nn.elu(x)),
        X,
    ),
    "layer norm and its gradient": (summed_gradient(jax.nn.standardize), X),
    "one hot": (lambda i: jax.nn.one_hot(i, 5), I4),
    "gather": (
        lambda x, i: (x[i], jnp.take_along_axis(x, i[:, None], 1), x[:, i], x[i, i],
                      jnp.take(x, i, 1, mode="clip"), x[-i]), X, I4,
    ),
    "scatter": (
        lambda x, i: (x.at[i].add(x), x.at[1:3].set(0), x.at[0, 0].add(5.0),
                      x.at[:, i].max(x[:, :4]), x.at[i, i].multiply(2.0),
                      x.at[i + 2].add(x), x.at[i].min(x, mode="clip"),
                      i.at[i].add(i)), X, I4,
    ),
    "scatter of windows that are partly outside": (
        lambda x, i: tuple(
            lax.scatter_add(x, i, jnp.arange(12.0).reshape(3, 2, 2),
                            lax.ScatterDimensionNumbers((1, 2), (), (0, 1)), mode=mode)
            for mode in ("drop", "clip")
        ), X, jnp.array([[0, 0], [3, 4], [2, 7]]),
    ),
    "scatter by functions": (
        lambda x, i: (x.at[i[:2]].apply(jnp.sin), x.at[i].divide(3.0),
                      x.at[i[:2], 0].apply(lambda v: jnp.where(v > 0, v * v, 1 - v))),
        X, I4,
    ),
    "scatter of unsigned integers": (
        lambda u, i: (u.at[i].add(u), u.at[i].max(u[::-1]), u.at[i].min(100),
                      u.at[i.astype(jnp.uint8)].set(7)), U8, I4,
    ),
    "scatter of booleans": (
        lambda m, i: (m.at[i].set(True), m.at[i].min(False)),
        X[0] > 0, I4,
    ),
    "scatter into nothing": (lambda x, i: x[:0].at[i].add(1.0), X, I4),
    "gradients of gathers": (
        summed_gradient(
            lambda x, i: x[i].sum(0)[:4] + jnp.take_along_axis(x, i[:, None], 1)[:, 0]
        ), X, I4,
    ),
    "batched gather and its gradient": (
        summed_gradient(jax.vmap(lambda x, i: x[i])), normal(4, 5, 2), I4,
    ),
    "dynamic slices": (
        lambda x, i: (lax.dynamic_slice(x, (i[0], i[3]), (2, 2)),
                      lax.dynamic_update_slice(x, x[:2, :2], (i[0], 7))), X, I4,
    ),
    "scan": (
        lambda x: lax.scan(lambda c, a: (c * a + 1, c.sum()), x[0], x), X,
    ),
    "gradient of a scan": (
        summed_gradient(
            lambda x, w: lax.scan(lambda h, a: (jnp.tanh(a + h @ w),) * 2, x[0], x)[1]
        ), X, normal(8, 8, seed=3),
    ),
    "fori_loop": (lambda x, n: lax.fori_loop(1, n, lambda i, a: a * 2 + i, x), X, 4),
    "loops in loops": (
        lambda x: lax.fori_loop(
            0, 3, lambda i, a: lax.fori_loop(0, 2, lambda j, b: b + i * j, a), x
        ), X,
    ),
    "while": (
        lambda x: lax.while_loop(lambda c: c.sum() < 100, lambda c: c * 2 + 1, x), X,
    ),
    "cond": (
        lambda x: lax.cond(x.sum() > 0, lambda x: x + 1, lambda x: x * 2, x), X,
    ),
    "switch": (
        lambda i, x: tuple(
            lax.switch(i[k], [lambda x: x + 1, lambda x: x * 2, lambda x: x - 1], x)
            for k in range(4)
        ), I4, X,
    ),
    "unsigned integers in loops": (
        lambda u: (
            lax.fori_loop(0, 3, lambda i, c: c * 3, u),
            lax.while_loop(lambda c: c[0] > 5, lambda c: c // 2, u),
            lax.scan(lambda c, a: (c + a, c ^ a), u[0], u),
        ), U8,
    ),
    "unsigned integers in branches": (
        lambda u, i: (
            lax.cond(i[0] > 0, lambda u: u + 90, lambda u: u // 2, u),
            lax.switch(i[3], [lambda u: u, lambda u: u >> 1, lambda u: ~u], u),
        ), U8, I4,
    ),
    "keys in a scan": (
        lambda k, x: lax.scan(
            lambda k, a: (jax.random.fold_in(k, 1), jax.random.bernoulli(k, 0.5, (8,))),
            k, x,
        ), jax.random.PRNGKey(3), X,
    ),
    "largest in windows": (
        lambda x: (pool(x), pool(x, 3), pool(x, 3, 2, "SAME")), IMAGES,
    ),
    **{
        f"gradient of windows of {size} by {stride}, {padding}": (
            summed_gradient(functools.partial(
                pool, size=size, stride=stride, padding=padding
            )), REPEATED,
        )
        for size, stride, padding in (
            (2, 2, "VALID"), (3, 2, "VALID"), (2, 1, "VALID"), (3, 2, "SAME"),
        )
    },
    "mean of windows and its gradient": (
        summed_gradient(lambda x: lax.reduce_window(
            x, 0.0, lax.add, (1, 1, 3, 3), (1, 1, 2, 2), "SAME")), IMAGES,
    ),
    "convolution": (convolution, IMAGES, KERNEL),
    "gradients of a convolution": (summed_gradient(convolution), IMAGES, KERNEL),
    "vmap": (jax.vmap(lambda x, w: x[None] @ w, (0, None)), X, W),
    "remat": (summed_gradient(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)))), X),
    "hessian": (jax.hessian(lambda w: (jnp.tanh(X @ w) ** 2).sum()), W[:, :1]),
    "jvp": (lambda x: jax.jvp(jnp.tanh, (x,), (x,)), X),
    "jit within": (lambda x: jax.jit(lambda y: y * 2)(x) + 1, X),
    "keys": (jax.random.split, jax.random.PRNGKey(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_in_f32_it_is_xla(name):
    assert_as_in_jax(*SAME[name])


def test_methods_have_their_object():
    class Scale:
        factor = 3.0

        @functools.partial(numera.jax.jit, format="f32", static_argnums=0)
        def apply(self, x):
            return x * self.factor

    assert Scale().apply(jnp.float32(2.0)) == 6.0
    assert Scale.apply(Scale(), jnp.float32(2.0)) == 6.0
