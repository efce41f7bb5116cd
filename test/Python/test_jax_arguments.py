# SPDX-License-Identifier: MIT
"""Arguments of `numera.jax.jit`: static ones as in `jax.jit`, wrong ones refused."""

import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp
import numera
import numera.jax
import numpy as np
from jax_calls import normal


def kinds(jit, args, named, **static):
    """Which arguments a function sees traced, and its result."""
    seen = []

    def power(x, n=2, *, scale=1.0):
        seen.extend(isinstance(each, jax.core.Tracer) for each in (x, n, scale))
        return x * n * scale

    result = float(jit(power, **static)(*args, **named))
    return seen[:3], result


@pytest.mark.parametrize(
    "static",
    [
        {"static_argnums": 1},
        {"static_argnums": -1},
        {"static_argnums": (1,)},
        {"static_argnames": "n"},
        {"static_argnames": ("n", "scale")},
        {"static_argnums": 1, "static_argnames": "scale"},
    ],
    ids=str,
)
@pytest.mark.parametrize(
    "args, named",
    [
        ((3.0,), {}),
        ((3.0, 4), {}),
        ((3.0,), {"n": 4}),
        ((3.0, 4), {"scale": 0.5}),
    ],
    ids=str,
)
def test_static_arguments_are_those_of_jax(static, args, named):
    expected = kinds(jax.jit, args, named, **static)
    assert kinds(numera.jax.jit, args, named, **static) == expected


def twice(x):
    return x * 2


@pytest.mark.parametrize(
    "options, kind, said",
    [
        ({"formt": "f32"}, TypeError, "no argument 'formt', did you mean 'format'?"),
        ({"step": 1}, TypeError, "jit has no argument 'step', "),
        ({"static_argnums": 1}, numera.Error, "has 1, and the function takes 1 arg"),
        ({"static_argnums": -2}, numera.Error, "has -2, and the function takes 1"),
        ({"static_argnums": [0.5]}, TypeError, "as an integer"),
        ({"static_argnames": "y"}, numera.Error, "has 'y', which the function has not"),
    ],
)
def test_wrong_arguments_are_errors_when_it_is_made(options, kind, said):
    with pytest.raises(kind, match=said):
        numera.jax.jit(twice, **options)


def test_what_is_no_function_is_refused():
    with pytest.raises(TypeError, match="jit takes a function, found int"):
        numera.jax.jit(3)


def test_results_that_are_numbers_of_python_are_arrays():
    def constants(x):
        return {"two": 2, "third": 1 / 3, "x": x}

    found = numera.jax.jit(constants, format="bf16")(1.0)
    assert (int(found["two"]), float(found["x"])) == (2, 1.0)
    assert float(found["third"]) == 0.333984375  # the nearest of bf16


def test_trees_static_arguments_and_keywords():
    @numera.jax.jit(format="bf16", static_argnums=1, static_argnames="mode")
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


def test_arguments_in_bf16_and_f16_are_computed_with_in_the_format():
    w, b = normal(8, 3).astype(jnp.bfloat16), normal(3).astype(jnp.float16)
    x = normal(4, 8)

    def layer(w, b, x):
        return jnp.tanh(x @ w + b)

    def loss(call):
        return lambda w, b: (call(w, b, x) ** 2).mean()

    f = numera.jax.jit(layer, format="f32")
    np.testing.assert_allclose(f(w, b, x), layer(w, b, x), rtol=1e-5)
    for found, wanted in zip(
        jax.grad(loss(f), (0, 1))(w, b), jax.grad(loss(layer), (0, 1))(w, b)
    ):
        assert found.dtype == wanted.dtype
        np.testing.assert_allclose(found.astype("f4"), wanted.astype("f4"), rtol=1e-2)

    def third(w):
        return w / 3, w.astype("f4") / 3

    narrow, wide = numera.jax.jit(third, format="posit8")(w)
    expected = numera.jax.jit(third, format="posit8")(w.astype("f4"))[1]
    assert narrow.dtype == jnp.bfloat16 and wide.dtype == jnp.float32
    assert (narrow == expected).all() and (wide == expected).all()


def test_arguments_that_are_refused():
    f = numera.jax.jit(lambda x: x)
    with pytest.raises(numera.Error, match="an argument of float8_e4m3fn, expected f"):
        f(normal(4, 8).astype(jnp.float8_e4m3fn))
    with pytest.raises(numera.Error, match="an argument of int4, .*ers of 8 bits or"):
        f(jnp.ones(2, jnp.int4))
    with pytest.raises(numera.Error, match="unknown format 'posit61'"):
        numera.jax.jit(lambda x: x, format="posit61")(normal(4, 8))


def test_keys_of_random_numbers_are_arguments_and_results():
    def step(state, x):
        key, drawn = jax.random.split(state["key"])
        mask = jax.random.bernoulli(drawn, 0.5, x.shape)
        return {"key": key, "more": jax.random.split(drawn, 3)}, (x * mask).sum()

    state, x = {"key": jax.random.key(1)}, jax.numpy.arange(8.0)
    compiled = numera.jax.jit(step, format="f32")
    expected, total = jax.jit(step)(state, x)
    for found, value in (compiled(state, x), jax.jit(compiled)(state, x)):
        assert float(value) == float(total)
        for name, key in expected.items():
            assert found[name].dtype == key.dtype
            data = jax.random.key_data(found[name])
            assert (data == jax.random.key_data(key)).all()
    slope = jax.grad(lambda x: compiled(state, x)[1])(x)
    assert (slope == jax.grad(lambda x: step(state, x)[1])(x)).all()


def test_static_arguments_without_hash_are_named():
    f = numera.jax.jit(lambda x, n, *, m=0: x, static_argnums=1, static_argnames="m")
    for args, named, wanted in (
        (([1],), {}, r"the static argument 1 has no hash, found list: \[1\]"),
        ((2,), {"m": {}}, "the static argument 'm' has no hash, found dict: {}"),
    ):
        with pytest.raises(numera.Error, match=wanted):
            f(1.0, *args, **named)


def test_donated_arguments_stay():
    x = normal(4)
    for given in ({"donate_argnums": 0}, {"donate_argnames": "x"}):
        assert (numera.jax.jit(twice, **given)(x) == x * 2).all()
    assert not x.is_deleted()


def test_floats_that_no_format_replaces_are_a_warning():
    with jax.enable_x64(True), pytest.warns(UserWarning) as caught:
        numera.jax.jit(twice, format="bf16")(jnp.ones(2))
    assert "the model's floats are 'f64'; see the argument 'replace'" in str(
        caught[0].message
    )


def test_static_arguments_that_are_equal_are_told_apart_by_their_types():
    def named(x, kind):
        return x * (2 if kind is True else 3 if isinstance(kind, int) else 5)

    f = numera.jax.jit(named, format="f32", static_argnums=1)
    assert [float(f(jnp.float32(1), kind)) for kind in (1, 1.0, True, 1)] == [
        3,
        5,
        2,
        3,
    ]


@pytest.mark.parametrize("number", [3.0, 2, np.float32(3), jnp.ones(3, jnp.bfloat16)])
def test_weak_types_are_kept(number):
    def f(a):
        return a * 2, a + jnp.float32(1), jnp.broadcast_to(a * 1j, (3,)), 1, a > 1

    wanted = [jax.typeof(each) for each in jax.jit(f)(number)]
    assert any(each.weak_type for each in wanted)
    own = numera.jax.jit(f)
    for found in own(number), jax.jit(own)(number):
        assert [jax.typeof(each) for each in found] == wanted


def test_a_number_gives_way_to_the_type_of_an_array():
    double = numera.jax.jit(lambda a: a * 2)
    assert (double(3.0) + jnp.ones(2, jnp.bfloat16)).dtype == "bfloat16"
