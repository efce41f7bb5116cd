# SPDX-License-Identifier: MIT
"""Compiled functions of JAX as parts of others, what is compiled, and errors."""

import functools
import threading

import numera
import numpy as np
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("torch_mlir")

import jax.numpy as jnp
import numera.jax as nj
from jax import lax
from jax.experimental import io_callback
from jax_calls import normal

X, W = normal(4, 8), normal(8, 3, seed=1)
I4 = jnp.array([2, 0, 2, 1], jnp.int32)


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


def test_errors_name_the_line():
    def f(x):
        return lax.approx_max_k(x, 2)

    with pytest.raises(numera.Error) as caught:
        nj.jit(f)(X)
    assert str(caught.value) == (
        f"cannot compile 'approx_top_k' at {__file__}:{f.__code__.co_firstlineno + 1}: "
        f"'stablehlo.custom_call @ApproxTopK' has no counterpart in linalg"
    )


@pytest.mark.parametrize(
    "call, primitive",
    [
        (lambda x: jax.debug.print("{x}", x=x), "debug_print"),
        (lambda x: jax.debug.callback(print, x), "debug_callback"),
        (lambda x: jax.pure_callback(abs, x, x), "pure_callback"),
        (lambda x: lax.map(lambda y: jax.pure_callback(abs, y, y), x), "pure_callback"),
        (lambda x: io_callback(abs, x, x), "io_callback"),
        (lambda x: io_callback(lambda: np.float32(1), np.float32(0)), "io_callback"),
    ],
)
def test_callbacks_are_refused_with_the_line(call, primitive):
    line = call.__code__.co_firstlineno
    wanted = f"cannot compile '{primitive}' at {__file__}:{line}: "
    with pytest.raises(numera.Error) as caught:
        nj.jit(lambda x: (call(x), x)[1])(X[0])
    assert str(caught.value) == wanted + "a program does not call Python"


def test_axes_of_vmap_are_those_inside():
    def total(x):
        return lax.psum(x, "rows") + lax.axis_index("rows")

    every = jax.vmap(total, axis_name="rows")
    np.testing.assert_allclose(nj.jit(every)(X), every(X), rtol=1e-5)
    with pytest.raises(numera.Error) as caught:
        jax.vmap(nj.jit(total), axis_name="rows")(X)
    assert str(caught.value) == (
        f"cannot compile 'psum' at {__file__}:{total.__code__.co_firstlineno + 1}: "
        f"the axis 'rows' is one of a vmap outside; "
        f"have the vmap inside, jit(vmap(f, axis_name='rows'))"
    )


@pytest.mark.parametrize(
    "taken",
    [
        lambda f: jax.jvp(f, (1.0,), (1.0,)),
        lambda f: jax.jacfwd(f)(1.0),
        lambda f: jax.hessian(f)(1.0),
        lambda f: jax.grad(jax.grad(f))(1.0),
    ],
)
def test_other_derivatives_are_taken_inside(taken):
    wanted = r"a compiled function has a gradient alone; take other .* jit\(jax.hess"
    with pytest.raises(numera.Error, match=wanted):
        taken(nj.jit(jnp.sin))
    assert float(nj.jit(jax.hessian(jnp.sin))(1.0)) == pytest.approx(-np.sin(1))


@pytest.mark.parametrize("result", [None, (), {}, {"a": [None]}])
def test_functions_without_arrays_have_results(result):
    f = nj.jit(lambda x: result)
    assert f(X) == jax.jit(f)(X) == result
    with pytest.raises(numera.Error, match="returns no array, so there is no program"):
        f.program(X)


@pytest.mark.parametrize("is_named", [False, True])
def test_shardings_of_one_device_change_nothing(is_named):
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    if is_named:
        mesh = jax.make_mesh((1,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    f = nj.jit(lambda x: lax.with_sharding_constraint(x + 1, sharding) * 2)
    assert (f(jax.device_put(X, sharding)) == (X + 1) * 2).all()


def test_threads_do_not_change_bits():
    def step(w, x):
        return jax.grad(lambda w: jnp.tanh(x @ w).sum())(w)

    w, x = normal(64, 96), normal(200, 64, seed=3)
    one, two = (
        nj.jit(step, format="bf16", threads=threads)(w, x) for threads in (1, 2)
    )
    assert np.array_equal(one, two)
    with pytest.raises(numera.Error, match="threads is -1"):
        nj.jit(step, threads=-1)
