# SPDX-License-Identifier: MIT
"""Arguments of `numera.jax.jit`: static ones as in `jax.jit`, wrong ones refused."""

import pytest

jax = pytest.importorskip("jax")

import numera
import numera.jax


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
        ({"threads": 1}, TypeError, "jit has no argument 'threads', "),
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
