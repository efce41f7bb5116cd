# SPDX-License-Identifier: MIT
"""Functions of JAX in a format: against XLA in f32, and against NumPy in others."""

import functools
import threading

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


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return jnp.asarray(values.astype("f4"))


def summed_gradient(f):
    """The gradient of the sum of squares, of all that is float."""

    def g(*args):
        floats = [i for i, x in enumerate(args) if x.dtype.kind == "f"]
        return jax.grad(lambda *a: (f(*a) ** 2).sum(), floats)(*args)

    return g


def pool(x, size=2, stride=2, padding="VALID"):
    return lax.reduce_window(
        x, -jnp.inf, lax.max, (1, 1, size, size), (1, 1, stride, stride), padding
    )


def convolution(x, k, **options):
    names = ("NCHW", "OIHW", "NCHW")
    return lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=names)


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
    f, *args = SAME[name]
    found, expected = nj.jit(f, optimization=0)(*args), jax.jit(f)(*args)
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        if x.dtype.kind == "f":
            # XLA takes short cuts where it fuses.
            scale = np.abs(y).max(initial=1, where=np.isfinite(y))
            np.testing.assert_allclose(x, y, rtol=3e-6, atol=3e-6 * scale)
        else:
            np.testing.assert_array_equal(x, y)


# ---- in formats -------------------------------------------------------------


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


def init(*shape, seed):
    return normal(*shape, seed=seed) * 0.2


def lenet(p, x):
    for k, b in p["convolutions"]:
        x = pool(jax.nn.relu(convolution(x, k) + b[:, None, None]))
    x = x.reshape(len(x), -1)
    for w, b in p["dense"][:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = p["dense"][-1]
    return x @ w + b


PARAMETERS = {
    "convolutions": [
        (init(6, 1, 5, 5, seed=1), jnp.zeros(6)),
        (init(8, 6, 3, 3, seed=2), jnp.zeros(8)),
    ],
    "dense": [
        (init(32, 16, seed=3), jnp.zeros(16)),
        (init(16, 10, seed=4), jnp.zeros(10)),
    ],
}


def train(p, x, y):
    def loss(p):
        scores = jax.nn.log_softmax(lenet(p, x))
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    value, gradient = jax.value_and_grad(loss)(p)
    return value, jax.tree.map(lambda w, g: w - 0.1 * g, p, gradient)


BATCH = normal(8, 1, 28, 28, seed=5), jnp.arange(8) % 10


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


# ---- as a part of JAX -------------------------------------------------------


def test_it_is_called_within_jit_and_scan():
    f = nj.jit(lambda x, i: {"y": x / 3, "i": i + 1}, format="bf16")
    expected = f(X, I4)
    found = jax.jit(lambda x, i: f(x * 1, i))(X, I4)
    assert jax.tree.all(jax.tree.map(lambda a, b: (a == b).all(), found, expected))
    _, rows = lax.scan(lambda c, x: (c, f(x, I4)["y"]), 0, X)
    assert (rows == expected["y"]).all()
    assert (jax.vmap(lambda x: f(x, I4)["y"])(X) == expected["y"]).all()


def test_it_has_a_gradient_in_a_format_of_its_own():
    def f(w, i):
        return (jnp.sin(w) * w)[i].sum(), i

    exact = jax.grad(lambda w: f(w, I4)[0])(X)
    gradient = jax.grad(lambda w, g: g(w, I4)[0])
    for transform in (lambda h: h, jax.jit):
        found = transform(functools.partial(gradient, g=nj.jit(f)))(X)
        np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-6)
    coarse = nj.jit(f, format="bf16", backward="f8E5M2")
    found = np.asarray(jax.grad(lambda w: coarse(w, I4)[0])(X))
    assert (numera.quantize(found, "f8E5M2") == found).all()
    assert np.abs(found - exact).max() < 1 and (found != exact).any()


def test_functions_within_functions_are_parts_of_them():
    inner = nj.jit(lambda x: x / 3, format="f8E5M2")
    outer = nj.jit(lambda x: -inner(x), format="bf16")
    third = np.float32(1) / np.float32(3)
    assert outer(1.0).item() == -numera.quantize(third, "bf16")


def test_draws_follow_from_seed_and_step():
    f = nj.jit(lambda x: x / 3, format="bf16", rounding="stochastic", seed=5)
    g = nj.jit(lambda x: x / 3, format="bf16", rounding="stochastic", seed=6)
    x = normal(20, 30)
    at = [f.at_step(k)(x) for k in range(3)]
    assert (f(x) == at[0]).all()
    assert (at[0] != at[1]).any() and (at[1] != at[2]).any()
    assert (g(x) != at[0]).any()
    # The same of a step that is traced.
    traced = jax.jit(lambda k: f.at_step(k)(x))
    assert (traced(2) == at[2]).all()


# ---- arguments --------------------------------------------------------------


def test_trees_static_arguments_and_keywords():
    @nj.jit(format="bf16", static_argnums=1, static_argnames="mode")
    def f(tree, power, *, mode, scale=1.0):
        if mode == "twice":
            scale = scale * 2
        return [(tree["x"] ** power * scale,), tree["n"], None]

    tree = {"x": jnp.float32(3), "n": 4}
    for power, mode, expected in ((2, "once", 9), (2, "twice", 18), (3, "once", 27)):
        (y,), n, nothing = f(tree, power, mode=mode)
        assert (y.item(), n.item(), nothing) == (expected, 4, None)
    assert f(tree, 2, mode="once", scale=0.5)[0][0].item() == 4.5
    assert f.__name__ == "f"


def test_a_kind_of_arguments_is_compiled_once():
    traced = []

    @nj.jit
    def f(x):
        traced.append(x.shape)
        return x + 1

    for _ in range(3):
        f(X)
        f(np.asarray(X))
        f(1.0)
    assert len(traced) == 2
    threads = [threading.Thread(target=f, args=(W,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(traced) == 3


def test_what_is_compiled_can_be_seen():
    f = nj.jit(lambda x, w: x @ w, format="posit16")
    assert "linalg.matmul" in f.mlir(X, W) or "linalg.generic" in f.mlir(X, W)
    assert f.program(X, W).policy["format"] == "posit16"


# ---- errors -----------------------------------------------------------------


def line_of(function):
    return f"{__file__}:{function.__code__.co_firstlineno}"


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


@pytest.mark.parametrize(
    "f, primitive, operation",
    [
        (lambda x: lax.bessel_i1e(x), "bessel_i1e", "chlo.bessel_i1e"),
        (lambda x: lax.approx_max_k(x, 2), "approx_top_k", "stablehlo.custom_call"),
    ],
)
def test_errors_name_the_line(f, primitive, operation):
    with pytest.raises(numera.Error) as caught:
        nj.jit(f)(X)
    assert str(caught.value) == (
        f"cannot compile '{primitive}' at {line_of(f)}: "
        f"'{operation}' has no counterpart in linalg"
    )


def test_arguments_that_are_refused():
    f = nj.jit(lambda x: x)
    with pytest.raises(numera.Error, match="an argument of bfloat16, expected f32"):
        f(X.astype(jnp.bfloat16))
    with pytest.raises(numera.Error, match="an argument of complex64"):
        f(X * 1j)
    with pytest.raises(numera.Error, match=r"use jax.random.key_data"):
        f(jax.random.key(0))
    with pytest.raises(numera.Error, match="unknown format 'posit61'"):
        nj.jit(lambda x: x, format="posit61")(X)
