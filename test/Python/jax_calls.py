# SPDX-License-Identifier: MIT
"""How tests compare functions of JAX in f32 with what JAX computes."""

import jax
import jax.numpy as jnp
import numera.jax
import numpy as np


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return jnp.asarray(values.astype("f4"))


def summed_gradient(f):
    """The gradient of the sum of squares, by all arguments that are floats."""

    def g(*args):
        floats = [i for i, x in enumerate(args) if x.dtype.kind == "f"]
        return jax.grad(
            lambda *a: sum((abs(y) ** 2).sum() for y in jax.tree.leaves(f(*a))), floats
        )(*args)

    return g


def assert_same(found, expected, rtol=3e-6, atol=3e-6):
    """Trees, shapes, types and numbers.

    rtol  of each number: XLA takes short cuts where it fuses.
    atol  of a result's largest number, if that is above 1.
    """
    assert jax.tree.structure(found) == jax.tree.structure(expected)
    for x, y in zip(jax.tree.leaves(found), jax.tree.leaves(expected)):
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        if x.dtype.kind in "fc":
            scale = np.abs(y).max(initial=1, where=np.isfinite(y))
            np.testing.assert_allclose(x, y, rtol=rtol, atol=atol * scale)
        else:
            np.testing.assert_array_equal(x, y)


def assert_as_in_jax(f, *args, rtol=3e-6, atol=3e-6):
    """What a function returns in f32 is what it returns under `jax.jit`."""
    found = numera.jax.jit(f, optimization=0)(*args)
    assert_same(found, jax.jit(f)(*args), rtol, atol)
