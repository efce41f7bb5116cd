# SPDX-License-Identifier: MIT
"""Arrays of codes: sums and products against f64 and exact fractions."""

from fractions import Fraction

import ml_dtypes
import numera
import numpy as np
import oracle
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def test_products_accumulate_in_f32_by_default():
    x, y = numera.array(normal(5, 40), "bf16"), numera.array(normal(40, 3), "bf16")
    a, b = x.values(), y.values()
    expected = np.zeros((5, 3), "f4")
    for k in range(40):  # products of two bf16 are exact in f32
        expected = expected + a[:, k, None] * b[k]
    expected = expected.astype(ml_dtypes.bfloat16).astype("f4")
    oracle.same_bits((x @ y).values(), expected)
    oracle.same_bits(np.matmul(x, y).values(), expected)
    oracle.same_bits(np.dot(x, y).values(), expected)
    oracle.same_bits((x @ y[:, 1]).values(), expected[:, 1])
    oracle.same_bits((x[2] @ y).values(), expected[2])
    assert np.dot(x[2], y[:, 1]).item() == expected[2, 1]
    stack = np.stack([x, x * 2])
    assert (stack @ y).shape == (2, 5, 3) and ((stack @ y)[0] == x @ y).all()
    assert (y.T @ x.T == (x @ y).T).all()
    assert (x[:, :0] @ y[:0] == 0).all() and (x[:0] @ y).shape == (0, 3)


def test_products_in_the_format_round_each_step():
    x, y = numera.array(normal(4, 30), "bf16"), numera.array(normal(30, 2), "bf16")
    brain = ml_dtypes.bfloat16
    a, b = x.view(brain), y.view(brain)
    expected = np.zeros((4, 2), brain)
    for k in range(30):
        expected = expected + a[:, k, None] * b[k]
    result = numera.matmul(x, y, accumulate="same")
    assert (result.view(brain) == expected).all()


def nearest_posit(value, bits):
    """The code of the nearest posit to a fraction."""
    code = int(oracle.posit_codes(np.array([float(value)]), bits)[0])
    # float() rounds: the exact value decides between the neighbours' middles.
    middles = oracle.posit_values(bits + 1)
    for step in (-1, 0, 1):
        low, high = (middles[(2 * (code + step) + d) % (2 << bits)] for d in (-1, 1))
        if Fraction(low) < value < Fraction(high):
            return (code + step) % (1 << bits)
    raise AssertionError("a tie")


def test_quires_are_exact():
    x = numera.array(normal(3, 50) * 1e3, "posit16")
    y = numera.array(normal(50, 4) / 1e3, "posit16")
    result = numera.matmul(x, y, accumulate="quire")
    total = x.sum(1, accumulate="quire")
    a, b = ([[Fraction(v) for v in row] for row in m.tolist()] for m in (x, y))
    for i in range(3):
        assert total.codes[i] == nearest_posit(sum(a[i]), 16)
        for j in range(4):
            exact = sum(a[i][k] * b[k][j] for k in range(50))
            assert result.codes[i, j] == nearest_posit(exact, 16)


def test_sums_go_in_order_and_are_rounded_once():
    x = numera.array(normal(3, 40, 5), "bf16")
    a = x.values()
    for axis in (0, 1, 2, -1, (0, 2), (1, 2), None):
        axes = (
            (0, 1, 2)
            if axis is None
            else tuple(d % 3 for d in np.atleast_1d(axis).tolist())
        )
        rest = [d for d in range(3) if d not in axes]
        terms = a.transpose(*rest, *axes).reshape([a.shape[d] for d in rest] + [-1])
        acc = np.zeros(terms.shape[:-1], "f4")
        for k in range(terms.shape[-1]):
            acc = acc + terms[..., k]
        expected = acc.astype(ml_dtypes.bfloat16).astype("f4")
        mean = (acc / np.float32(terms.shape[-1])).astype(ml_dtypes.bfloat16)
        oracle.same_bits(x.sum(axis).values(), expected)
        oracle.same_bits(np.sum(x, axis=axis).values(), expected)
        oracle.same_bits(np.add.reduce(x, axis).values(), expected)
        oracle.same_bits(np.mean(x, axis).values(), mean.astype("f4"))
        assert np.sum(x, axis, keepdims=True).ndim == 3
    brain = ml_dtypes.bfloat16
    acc = np.zeros((3, 5), brain)
    for k in range(40):
        acc = acc + x.view(brain)[:, k]
    assert (x.sum(1, accumulate="same").view(brain) == acc).all()
    assert numera.sum(x[:0]).item() == 0
    with pytest.raises(numera.Error, match="axis is 3, expected one of 3 dimensions"):
        x.sum(3)
    with pytest.raises(numera.Error, match="did you mean"):
        x.sum(accumulate="posit61")


def test_an_opaque_accumulator_may_be_any_format():
    x = numera.array([1.0] * 3000, "bf16")
    assert x.sum(accumulate="f16").item() == 2048.0
    assert x.sum(accumulate="posit32").item() == 3008.0
    assert numera.dot(x, x, accumulate="f64").item() == 3008.0


@pytest.mark.parametrize("name", ["posit16", "bf16", "f8E4M3FN", "f32", "float<5,7>"])
def test_products_go_in_order_and_round_each_step(name):
    x = numera.array(np.random.default_rng(5).uniform(0.5, 2, (3, 7)), name)
    step = numera.array(np.ones(3), name)
    for k in range(7):
        step = step * x[:, k]
    assert np.array_equal(np.prod(x, axis=1), step)
    assert np.array_equal(np.multiply.reduce(x, axis=1, keepdims=True)[:, 0], step)
    assert np.prod(x[:0]).item() == 1


@pytest.mark.parametrize("name", ["posit16", "bf16", "f8E4M3FN", "f32", "takum<16>"])
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
def test_running_sums_and_products_round_each_step(name, axis):
    x = numera.array(np.random.default_rng(8).uniform(0.5, 2, (3, 5, 4)), name)
    moved = x.ravel()[:, None] if axis is None else np.moveaxis(x, axis, 0)
    for function, ufunc in (np.cumsum, np.add), (np.cumprod, np.multiply):
        steps = [moved[0]]
        for row in moved[1:]:
            steps.append(ufunc(steps[-1], row))
        result = function(x, axis=axis)
        found = result[:, None] if axis is None else np.moveaxis(result, axis, 0)
        assert np.array_equal(found, np.stack(steps))
    assert np.cumsum(x[:0], axis=0).shape == (0, 5, 4)
    with pytest.raises(numera.Error, match="axis is 3, expected one of 3 dimensions"):
        np.cumsum(x, axis=3)


def test_running_sums_draw():
    fmt = numera.float(8, 7, rounding="stochastic")
    x = numera.array(np.full((200, 3), 1 / 256 + 1 / 4096), fmt)
    with numera.stochastic(seed=1):
        a = np.cumsum(x, axis=0)
    with numera.stochastic(seed=1):
        b = np.cumsum(x, axis=0)
    assert np.array_equal(a, b) and len(set(a[-1].tolist())) > 1
    assert abs(np.mean(a[-1].tolist()) - 200 * (1 / 256 + 1 / 4096)) < 0.1


@pytest.mark.parametrize(
    "subscripts, shapes",
    [
        ("ij,jk->ik", [(3, 4), (4, 5)]),
        ("ij,jk", [(3, 4), (4, 5)]),
        ("bij,bkj->bik", [(2, 3, 4), (2, 5, 4)]),
        ("ij,kj->kij", [(3, 4), (2, 4)]),
        ("ii->i", [(4, 4)]),
        ("ii", [(4, 4)]),
        ("ijk->ki", [(2, 3, 4)]),
        ("i,j->ji", [(3,), (4,)]),
        ("ij,ij->", [(3, 4), (3, 4)]),
        ("ij,jk,kl->il", [(2, 3), (3, 2), (2, 4)]),
        ("aij,bj->ab", [(2, 3, 4), (5, 4)]),
    ],
)
def test_einsum_is_that_of_numpy(subscripts, shapes):
    generator = np.random.default_rng(9)
    arrays = [generator.integers(-3, 4, shape).astype("f4") for shape in shapes]
    expected = np.einsum(subscripts, *arrays)
    found = np.einsum(subscripts, *(numera.array(a, "f32") for a in arrays))
    np.testing.assert_array_equal(np.asarray(found.tolist(), "f4"), expected)


def test_einsum_adds_up_as_matmul_does():
    x = numera.array(np.random.default_rng(3).normal(size=(6, 40)), "posit16")
    for accumulate in (None, "same", "quire", "f32"):
        found = numera.einsum("ik,jk->ij", x, x, accumulate=accumulate)
        expected = numera.matmul(x, np.swapaxes(x, 0, 1), accumulate=accumulate)
        assert np.array_equal(found, expected)
    with pytest.raises(
        numera.Error, match="'i...' has an ellipsis; name each dimension"
    ):
        np.einsum("i...", x)
    with pytest.raises(numera.Error, match="'j' is 40 and 6"):
        np.einsum("ij,jk->ik", x, x)
    with pytest.raises(numera.Error, match="'ij,jk' is for 2 arrays, found 1"):
        np.einsum("ij,jk", x)


def test_variance_is_what_it_says():
    x = numera.array(np.random.default_rng(6).normal(size=(4, 50)), "posit16")
    away = x - np.mean(x, axis=1, keepdims=True)
    assert np.array_equal(np.var(x, axis=1), np.mean(away * away, axis=1))
    assert np.array_equal(np.std(x, axis=1), np.sqrt(np.var(x, axis=1)))
    squares = np.sum(away * away, axis=1)
    assert np.array_equal(np.var(x, axis=1, ddof=1), squares / 49)
    np.testing.assert_allclose(np.std(x).values(), x.values().std(), rtol=1e-2)


def test_variance_without_degrees_of_freedom_is_numpys():
    said = "^Degrees of freedom <= 0 for slice$"
    for values in ([1.0, 2.0, 4.0], [1.0, 1.0, 1.0]):
        for ddof in (3, 5):
            with pytest.warns(RuntimeWarning, match=said):
                expected = np.var(np.array(values, "f4"), ddof=ddof)
            for x in (numera.array(values, name) for name in ("f32", "bf16")):
                with pytest.warns(RuntimeWarning, match=said):
                    found = x.var(ddof=ddof)
                assert np.array_equal(found.item(), expected, equal_nan=True)
                with pytest.warns(RuntimeWarning, match=said):
                    found = x.std(ddof=ddof)
                assert np.array_equal(found.item(), expected, equal_nan=True)
    with pytest.warns(RuntimeWarning, match=said):
        found = numera.array([1.0, 2.0], "posit16").var(ddof=2)
    assert np.isnan(found.item())


def test_arrays_that_are_none_of_codes_are_one_error():
    v, m = np.ones(3), np.ones((3, 3))
    codes = numera.array(v, "bf16")
    for what, call, found in (
        (
            "numera.dot",
            lambda: numera.dot(v, v, accumulate="quire"),
            "float64, float64",
        ),
        ("numera.dot", lambda: numera.dot([1.0], [2.0]), "list, list"),
        ("numera.matmul", lambda: numera.matmul(m, m), "float64, float64"),
        ("numera.einsum", lambda: numera.einsum("i,i->", v, v), "float64, float64"),
        ("numera.sum", lambda: numera.sum(v), "float64"),
        ("numera.mean", lambda: numera.mean(3.0), "float"),
        ("numera.sum", lambda: np.sum(v, out=codes[0]), "float64"),
        ("np.prod", lambda: np.prod(v, out=codes[0]), "float64"),
        ("np.max", lambda: np.max(v, out=codes[0]), "float64"),
        ("np.cumsum", lambda: np.cumsum(v, out=codes), "float64"),
        ("np.where", lambda: np.where(codes, v, 2), "float64, int"),
        ("np.take_along_axis", lambda: np.take_along_axis(v, codes, 0), "float64"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value) == (
            f"{what} takes arrays of codes, as numera.array(x, format) makes them; "
            f"found {found}"
        )
    # One of codes is enough to say which format is meant.
    for call in (
        lambda: numera.dot(v, codes),
        lambda: np.vdot([1.0, 1.0, 1.0], codes),
        lambda: np.inner(codes, [1.0, 1.0, 1.0]),
    ):
        with pytest.raises(
            numera.Error, match="with 'bf16'; cast it with numera.array"
        ):
            call()
    assert numera.dot(codes, 2).tolist() == [2.0, 2.0, 2.0]


def test_a_format_without_a_quire_is_one_error():
    x = numera.array([1.0, 2.0], "float<16,40>")
    with pytest.raises(numera.Error, match="^format 'float<16,40>' has no quire: it"):
        x.sum(accumulate="quire")


REDUCTIONS = [np.sum, np.mean, np.prod, np.var, np.std, np.max, np.min, np.cumsum]


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
def test_reductions_write_to_out(function):
    x = numera.array([[1.0, 2.5, 4.0], [3.0, 8.0, 0.5]], "posit16")
    expected = function(x, axis=1)
    out = numera.array(np.zeros(expected.shape), "posit16")
    assert function(x, axis=1, out=out) is out and np.array_equal(out, expected)
    for call, message in (
        (lambda: function(x, axis=0, out=out[:1]), f"out has shape {out[:1].shape}, e"),
        (lambda: function(x, axis=1, out=expected.values()), "out is an array of floa"),
        (lambda: function(x, axis=1, out=out.astype("bf16")), "'posit16' as result wi"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value).startswith(message)


def test_what_reductions_refuse_is_named():
    x = numera.array([1.0, 2.0], "posit16")
    assert np.sum(x, 0, None, None, True).tolist() == [3.0]
    assert np.var(x, 0, None, None, 1).item() == 0.5
    out = numera.array(0.0, "posit16")
    assert np.add.reduce(x, out=out) is out and out.item() == 3
    for call, message in (
        (lambda: np.var(x, mean=1), "np.var of codes: mean= is not for arrays"),
        (lambda: np.max(x, where=[True]), "np.max with where= begins with a number, "),
        (lambda: np.sum(x, dtype="f8"), "dtype= is not for arrays of codes"),
        (lambda: np.cumsum(x, dtype="f8"), "dtype= is not for arrays of codes"),
        (lambda: np.add.reduce(x, dtype="f8"), "dtype= is not for arrays of codes"),
        (lambda: np.zeros_like(x, "f4"), "np.zeros_like of codes: takes 1 positional"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value).startswith(message)


@pytest.mark.parametrize("function", [np.sum, np.max, np.prod, np.cumsum, np.argmin])
def test_a_number_has_an_axis_as_of_numpy(function):
    x = numera.array(3.0, "posit16")
    for axis in (0, -1):
        found, expected = function(x, axis=axis), function(np.array(3.0), axis=axis)
        assert found.shape == expected.shape and found.tolist() == expected.tolist()
    with pytest.raises((numera.Error, np.exceptions.AxisError)):
        function(x, axis=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: np.sum(x, axis=1.5), "axis is 1.5, expected an integer or several"),
        (
            lambda x: x.mean((0, "x")),
            "axis is (0, 'x'), expected an integer or several",
        ),
        (lambda x: np.cumsum(x, (0, 1)), "axis is (0, 1), expected an integer or None"),
        (lambda x: np.sum(x[0, 0], 1), "axis is 1, expected one of 0 dimensions"),
    ],
)
def test_what_is_no_axis_is_one_error(call, message):
    with pytest.raises(numera.Error) as error:
        call(numera.array(np.ones((2, 3)), "posit16"))
    assert str(error.value) == message
