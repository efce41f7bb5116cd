# SPDX-License-Identifier: MIT
"""Fourier transforms and complex numbers within functions of JAX."""

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

X, Y = normal(4, 7), normal(4, 7, seed=1)


def transforms(x, y):
    z, fft = lax.complex(x, y), jnp.fft
    return [
        fft.fft(x),
        fft.ifft(x),
        fft.fft(z, axis=0),
        fft.ifft(z, 5),
        fft.rfft(x, 12),
    ]


def inverses(x, y):
    z = lax.complex(x, y)
    return jnp.fft.irfft(z), jnp.fft.irfft(z, 9), jnp.fft.irfft(x), jnp.fft.irfft2(z)


def arithmetic(x, y):
    a, b = lax.complex(x, y), lax.complex(y, x + 1)
    return [a + b, a - 1j, a * b, a * 2, a / b, a / 3, 2 / b, -a, a.conj(), 1j * x]


def functions(x, y):
    z = lax.complex(x, y)
    more = [jnp.exp(z), jnp.log(z), z @ z.T, z.sum(0), jnp.mean(z)]
    return (
        more,
        abs(z),
        jnp.angle(z),
        jnp.linalg.norm(z),
        z == z.conj(),
        z != 1,
        x * 1j == 0,
    )


def moves(x, y):
    z = lax.complex(x, y)
    numbers = jnp.array([1 + 2j, 3, -1j, 0, 4, 5j, 6], jnp.complex64)
    return [
        z.T.reshape(-1), z[1:, ::-2], z[jnp.array([2, 0])], jnp.roll(z, 1),
        jnp.concatenate([z, z]), jnp.where(x > 0, z, 2), jnp.pad(z, 1), x * numbers,
    ]  # fmt: skip


def gradients(x, y):
    def loss(x, y):
        z = jnp.fft.rfft(x) * jnp.fft.rfft(y)
        return (abs(z) ** 2).sum() + (jnp.fft.irfft(z / 3) ** 3).sum()

    return jax.grad(loss, (0, 1))(x, y)


SAME = {
    "transforms": (transforms, X, Y),
    "inverses": (inverses, X, Y),
    "dimensions": (
        lambda x: [jnp.fft.fft2(x), jnp.fft.rfftn(x), jnp.fft.fftshift(x)],
        normal(3, 4, 5),
    ),
    "lengths from one on": (
        lambda x: [jnp.fft.irfft(jnp.fft.rfft(x[:n]), n) for n in (1, 2, 3, 8)],
        normal(8),
    ),
    "a length whose matrix is gathered": (lambda x: jnp.fft.rfft(x).imag, normal(300)),
    "arithmetic": (arithmetic, X, Y),
    "functions": (functions, X, Y),
    "moves": (moves, X, Y),
    "gradients": (gradients, X, Y),
    "vmap": (jax.vmap(lambda x: abs(jnp.fft.fft(x))), X),
    "within a scan": (lambda x: lax.scan(lambda c, a: (c, abs(c * a * 1j)), x, x), X),
}


@pytest.mark.parametrize("name", SAME)
def test_in_f32_it_is_jax(name):
    assert_as_in_jax(*SAME[name], rtol=2e-5, atol=2e-6)


Z = lax.complex(X, Y)
EVERYWHERE = jnp.array(
    [
        0,
        1,
        1j,
        complex(0, -1),
        2,
        2j,
        1 + 1e-4j,
        -0.5,
        1e-5 + 1e-5j,
        3 - 4j,
        0.3 - 0.7j,
    ],
    jnp.complex64,
)


@pytest.mark.parametrize(
    "name",
    ["sqrt", "log1p", "expm1", "sign", "sin", "cos", "tan", "sinh", "cosh", "tanh"]
    + ["arcsin", "arccos", "arctan", "arcsinh", "arccosh", "arctanh"],
)
def test_elementary_functions_are_those_of_jax(name):
    assert_as_in_jax(getattr(jnp, name), EVERYWHERE, rtol=2e-5, atol=2e-6)


def scanned(z):
    return lax.scan(lambda c, a: (c * a, (c + a, abs(a))), z[0], z)


CONTROL = {
    "scan": scanned,
    "gradient of a scan": jax.grad(lambda z: abs(scanned(z)[0]).sum()),
    "counted": lambda z: lax.fori_loop(0, 3, lambda i, c: c * c / 2 + i, z),
    "while": lambda z: lax.while_loop(lambda c: abs(c).sum() < 99, lambda c: c * 2j, z),
    "branches": lambda z: (
        lax.cond(z[0, 0].real > 9, lambda z: z * 2, lambda z: z - 1, z),
        lax.switch(2, [lambda z: z, lambda z: z * 2, lambda z: z * 3j], z),
    ),
    "nested": lambda z: lax.fori_loop(
        0, 2, lambda i, c: lax.cond(i > 0, lambda c: scanned(c)[1][0], jnp.conj, c), z
    ),
    "scatters": lambda z: (
        z.at[1].set(2j), z.at[I].add(z[:3]), z.at[:, 0].set(z[:, 1].real),
    ),
    "sums along an axis": lambda z: jnp.cumsum(z, 1),
    "convolutions": lambda z: (jnp.convolve(z[0], z[1]), jnp.convolve(z[0], Y[1])),
    "powers": lambda z: (z**z, z**0.5, z**3, lax.rsqrt(z), 0 * z ** (0 * z)),
    "infinite constants": lambda z: jnp.where(z.real > 0, z, jnp.inf),
    "places": lambda z: z * jnp.arange(7, dtype=jnp.complex64),
}  # fmt: skip
I = jnp.array([1, 1, 3])


@pytest.mark.parametrize("name", CONTROL)
def test_loops_branches_and_scatters_are_those_of_jax(name):
    assert_as_in_jax(CONTROL[name], Z, rtol=2e-5, atol=4e-6)


def test_on_branch_cuts_the_sign_of_zero_says_the_side():
    # As C99, and so NumPy, has them.
    x = np.array([-0.5, -0.5, 2, 2, -2, -2], "f4")
    y = np.array([0.0, -0.0, 0.0, -0.0, 0.0, -0.0], "f4")

    def f(x, y):
        z = lax.complex(x, y)
        return jnp.sqrt(z), jnp.arcsin(z), jnp.arccos(z), jnp.arctanh(z), jnp.arccosh(z)

    z = x.astype("c16")
    z.imag = y
    expected = np.sqrt(z), np.arcsin(z), np.arccos(z), np.arctanh(z), np.arccosh(z)
    for found, each in zip(nj.jit(f)(x, y), expected):
        np.testing.assert_allclose(found, each, rtol=1e-5, atol=1e-6)


def test_arguments_and_results_are_complex():
    z, w = lax.complex(X, Y), lax.complex(X[:, :3], X[:, 3:6])

    def f(tree, scale, n):
        return {"sum": tree["z"] @ tree["w"] * scale, "n": n + 1, "w": tree["w"].conj()}

    assert_as_in_jax(f, {"z": z.T, "w": w}, 2 - 1j, 3, rtol=2e-5, atol=2e-6)
    half = numera.quantize(np.float32(1 / 3), "bf16")
    found = nj.jit(lambda z: z / 3, format="bf16")(1 - 2j)
    assert complex(found) == complex(half, -numera.quantize(np.float32(2 / 3), "bf16"))


def test_a_function_of_complex_numbers_has_a_gradient():
    z = lax.complex(X, Y)

    def f(z, n):
        return z * z + abs(z), n + 1

    def gradient(f):
        return jax.grad(lambda z: (abs(f(z, 3)[0]) ** 2).sum())(z)

    compiled = nj.jit(f)
    for transform in (lambda g: g, jax.jit):
        found = transform(lambda: gradient(compiled))()
        assert_same(found, gradient(f), rtol=2e-5, atol=2e-6)
    assert_same(jax.jit(compiled)(z, 1), jax.jit(f)(z, 1), rtol=2e-5, atol=2e-6)


def test_in_f64_it_is_jax():
    def f(x):
        return jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x[:9]), 9)

    with jax.enable_x64(True):
        x = jnp.asarray(np.random.default_rng(0).standard_normal(300))
        for found, each in zip(nj.jit(f, optimization=0)(x), f(x)):
            np.testing.assert_allclose(found, each, rtol=1e-11, atol=1e-12)


def bf16(x):
    return np.asarray(x).astype(ml_dtypes.bfloat16).astype("f4")


def test_a_transform_is_one_product():
    x, y = bf16(X), bf16(Y)

    def f(x, y):
        z = jnp.fft.ifft(lax.complex(x, y))
        return z.real, z.imag

    turns = 2 * np.pi * np.outer(np.arange(7), np.arange(7)) / 7
    cosines, sines = bf16(np.cos(turns) / 7), bf16(np.sin(turns) / 7)
    for found, rows in zip(
        nj.jit(f, format="bf16")(x, y), ([cosines, -sines], [sines, cosines])
    ):
        total = np.zeros((4, 7), "f4")  # sums in f32, of products that f32 has
        for number, row in zip(np.hstack([x, y]).T, np.vstack(rows)):
            total += number[:, None] * row
        oracle.same_bits(np.asarray(found), bf16(total))


def test_each_operation_on_parts_is_rounded():
    x, y = bf16(X), bf16(Y)

    def f(x, y):
        a, b = lax.complex(x, y), lax.complex(y, x)
        return (a * b).real, (a * b).imag, (a / 3).imag, (a + b).real

    r = bf16
    expected = (
        r(r(x * y) - r(y * x)),
        r(r(x * x) + r(y * y)),
        r(y / np.float32(3)),
        r(x + y),
    )
    for found, each in zip(nj.jit(f, format="bf16")(x, y), expected):
        np.testing.assert_array_equal(found, each)


@pytest.mark.parametrize(
    "f, message",
    [
        (
            lambda x: jnp.sort(x * 1j),
            "'stablehlo.sort' of complex numbers has no counterpart in linalg",
        ),
        (
            lambda x: jnp.fft.fft(x, 8193).real,
            "'stablehlo.fft' of complex numbers has no counterpart in linalg",
        ),
    ],
)
def test_what_is_refused(f, message):
    with pytest.raises(numera.Error) as caught:
        nj.jit(f)(X)
    assert str(caught.value).endswith(message)
