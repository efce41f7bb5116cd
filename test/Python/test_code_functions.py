# SPDX-License-Identifier: MIT
"""NumPy's functions on arrays of codes that compute: against NumPy, and exactly."""

import warnings
from fractions import Fraction

import numera
import numpy as np
import oracle
import pytest

X = np.array([[1.0, 2.0, -3.0], [4.0, 0.5, 6.0]], "f4")
V = np.array([1.0, 0.5, -2.0], "f4")
S = np.arange(24, dtype="f4").reshape(2, 3, 4) - 7
N = np.array([[1.0, np.nan, -3.0], [np.nan, np.nan, 8.0]], "f4")
W = np.array([[2.0, 4.0, 6.0], [8.0, 4.0, 8.0]], "f4")
K = np.array([[True, False, True], [False, True, True]])
FORMATS = ["f32", "posit16", "f8E4M3FN"]


def same(found, expected):
    """A result in the array's format, or truth values or places of NumPy's."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
        return
    expected = np.asarray(expected)
    assert found.shape == expected.shape
    if expected.dtype.kind == "f":
        assert isinstance(found, numera.Array)
    else:
        assert found.dtype == expected.dtype
    np.testing.assert_array_equal(np.asarray(found), expected)


def compare(name, function, *arrays, **options):
    found = function(*(numera.array(x, name) for x in arrays), **options)
    first = found[0] if isinstance(found, tuple) else found
    assert getattr(first, "format", numera.format(name)) == numera.format(name)
    same(found, function(*arrays, **options))


# ---- remainders -------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "function",
    [
        lambda x, v: x % v,
        lambda x, v: x // v,
        lambda x, v: x % 2,
        lambda x, v: 3 // v,
        lambda x, v: divmod(x, v),
        lambda x, v: np.divmod(x[0, 0], -2.0),
        lambda x, v: np.mod(x, -v),
        lambda x, v: np.remainder(x[:, :0], v[:0]),
        lambda x, v: np.floor_divide(x, v[2]),
    ],
)
def test_remainders_are_those_of_numpy(function, name):
    compare(name, function, X, V)


def test_remainders_in_f32_have_the_bits_of_numpy():
    rng = np.random.default_rng(2)
    a, b = (rng.standard_normal((2, 4000)) * 2.0 ** rng.integers(-9, 9, 4000)).astype(
        "f4"
    )
    odd = np.float32([0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 5, -5])
    a, b = np.append(a, np.repeat(odd, 9)), np.append(b, np.tile(odd, 9))
    x, y = numera.array(a, "f32"), numera.array(b, "f32")
    with np.errstate(all="ignore"):
        for found, expected in zip(np.divmod(x, y), np.divmod(a, b)):
            oracle.same_bits(found.values(), expected)
        oracle.same_bits((x % y).values(), a % b)
        oracle.same_bits((x // y).values(), a // b)


@pytest.mark.parametrize("name", ["f8E4M3FN", "posit8"])
def test_a_remainder_is_the_exact_one_rounded_once(name):
    values = numera.format(name).values()
    values = values[np.isfinite(values)]
    a, b = (each.ravel() for each in np.meshgrid(values, values[values != 0]))
    exact = [Fraction(float(x)) % Fraction(float(y)) for x, y in zip(a, b)]
    # Exact in f64, but for some far from each other, which are near the divisor.
    keep = np.array([Fraction(float(each)) == each for each in exact])
    assert keep.mean() > 0.9
    expected = numera.array(np.array([float(each) for each in exact])[keep], name)
    found = numera.array(a[keep], name) % numera.array(b[keep], name)
    assert np.array_equal(found, expected)


def test_remainders_go_to_out_and_are_of_fixed_point_too():
    x = numera.array(np.array([-2.75, 3.0]), "fixed<7,8>")
    floor, rest = numera.array(np.zeros((2, 2)), "fixed<7,8>")
    found = np.divmod(x, 1.25, out=(floor, rest))
    assert found[0] is floor and found[1] is rest
    assert floor.tolist() == [-3.0, 2.0] and rest.tolist() == [1.0, 0.5]
    x %= 1.25
    rest //= 0.5
    assert x.tolist() == [1.0, 0.5] and rest.tolist() == [2.0, 1.0]
    u = numera.array(np.array([7.5, 3.0]), "fixed<8,8,unsigned>")
    assert (u % 2).tolist() == [1.5, 1.0] and (u // 2).tolist() == [3.0, 1.0]


# ---- reductions -------------------------------------------------------------

SOME = [
    {"where": K},
    {"where": K, "axis": 0},
    {"where": K, "axis": (1, 0), "keepdims": True},
    {"where": K[:1], "axis": 1, "keepdims": True},
    {"where": False},
]


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("options", SOME)
def test_reductions_take_where_and_initial(options, name):
    for f in (np.sum, np.prod, np.max, np.min):
        compare(name, f, X, initial=2, **options)
        compare(name, f, X[:, :0], axis=1, initial=2)
        compare(name, f, X[0, 0], initial=2, keepdims=True)
    for f in (np.sum, np.prod):
        compare(name, f, X, **options)
    compare(name, lambda x: np.add.reduce(x, where=K, initial=1), X)
    compare(name, lambda x: np.maximum.reduce(x, where=K, initial=5), X)
    assert numera.array(X, name).sum(where=K).item() == X.sum(where=K)
    assert numera.array(X, name).max(initial=7).item() == 7


def test_means_and_variances_take_where():
    for options in SOME[:4]:
        for f in (np.mean, np.var, np.std):
            found = f(numera.array(X, "f32"), **options)
            expected = f(X, **options)
            assert found.shape == expected.shape
            np.testing.assert_allclose(found.values(), expected, rtol=1e-6)
    x = numera.array([1.0, 3.0, 5.0, 9.0], "posit16")
    some = np.array([True, True, False, True])
    assert np.var(x[:3], where=some[:3], ddof=1).item() == 2.0
    # The number of elements divides in the accumulator, as it does of all.
    x = numera.array(np.ones(18), "f8E4M3FN")
    assert np.mean(x, where=np.arange(18) > 0).item() == np.mean(x[1:]).item() == 1
    for accumulate in ("same", "quire", "f32"):
        found = x.astype("posit16").mean(accumulate=accumulate, where=np.arange(18) > 3)
        assert found.item() == 1
    with pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        assert np.isnan(np.mean(x, where=False))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(
    "function",
    [np.nanmax, np.nanmin, np.nansum, np.nanprod, np.nanmean],
    ids=lambda f: f.__name__,
)
def test_nans_are_left_out(function, name):
    for axis in (None, 0, 1, (0, 1)):
        for keepdims in (False, True):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                compare(name, function, N, axis=axis, keepdims=keepdims)
    compare(name, function, X[0, 1])
    compare(name, lambda x: function(x, 1), np.nan_to_num(N)[:, ::2])
    if function in (np.nanmax, np.nanmin):
        with pytest.warns(RuntimeWarning, match="All-NaN slice encountered"):
            function(numera.array(N, name), 0)
        compare(name, lambda x: function(x, initial=2), N)
        compare(name, lambda x: function(x, 1, initial=2, where=K), N)
    # Where nothing is left out, nothing has to take its place.
    scales = numera.array([4.0, 4.0], "f8E8M0FNU")
    assert function(scales).item() == function(scales.values())
    compare("f32", lambda x: np.nanvar(x, 1), N)
    compare("f32", lambda x: np.nanstd(x, 1, ddof=0), N)


# ---- statistics -------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_averages_have_weights(name):
    w = np.array([2.0, 1.0, 1.0], "f4")
    for function in (
        lambda x, w: np.average(x[0], weights=w),
        lambda x, w: np.average(x, 1, w),
        lambda x, w: np.average(x, 1, w, keepdims=True),
        lambda x, w: np.average(x, 1, w, True),
        lambda x, w: np.average(x[:, 1:], weights=x[:, :2] * 0 + 1),
        lambda x, w: np.average(x[:, 1], 0, [3, 1]),
        lambda x, w: np.average(x[:, :2], returned=True),
        lambda x, w: np.average(x[None, :, :2], (2, 1), [[2, 1], [4, 1]]),
    ):
        compare(name, function, W, w)
    with pytest.raises(numera.Error) as error:
        np.average(numera.array(V, name), weights=[1, -1, 0])
    assert str(error.value) == "weights have the sum 0, by which no average is divided"
    with pytest.raises(numera.Error) as error:
        np.average(numera.array(X, name), 0, [1, 2, 3])
    assert str(error.value) == (
        "weights have shape (3,), expected (2, 3), or that of the axes"
    )


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2)])
def test_medians_and_quantiles_are_those_of_numpy(axis, name):
    x = np.random.default_rng(1).permutation(S.ravel()).reshape(S.shape)
    for keepdims in (False, True):
        if name != "f8E4M3FN" or axis == 1:  # which has no number between them
            compare(name, np.median, x, axis=axis, keepdims=keepdims)
        for method in ("lower", "higher", "linear", "midpoint"):
            q = [0.0, 0.5, 1.0] if axis == 1 or method != "linear" else 1.0
            if name == "f8E4M3FN" and axis != 1 and method in ("linear", "midpoint"):
                continue
            options = {"axis": axis, "method": method, "keepdims": keepdims}
            compare(name, np.quantile, x, q=q, **options)
    compare(name, lambda x: np.percentile(x, [25, 100], 1, method="lower"), x)
    compare(name, lambda x: np.median(x[0, 0, 0]), x)
    compare(name, lambda x: np.median(x, 1), N)
    compare(name, lambda x: np.quantile(x, 0.5, 0), N)
    compare(name, lambda x: np.quantile(x, [[0.25], [0.75]]), np.arange(5.0))


def test_what_statistics_refuse_is_one_error():
    x = numera.array(X, "posit16")
    scale = numera.array([1.0], "f8E8M0FNU")
    for call, message in (
        (lambda: np.median(x[:0]), "an array without elements has none in the middle"),
        (lambda: np.quantile(x, 1.5), "q has numbers that are not from 0 to 1"),
        (
            lambda: np.quantile(x, 0.5, method="weibull"),
            "method is 'weibull', expected one for codes: linear, lower, higher, mid",
        ),
        (
            lambda: np.quantile(x, 0.5, weights=x, method="inverted_cdf"),
            "weights= is not for arrays of codes",
        ),
        (
            lambda: np.max(x, where=K),
            "np.max with where= begins with a number, its initial=",
        ),
        (
            lambda: np.nanvar(x, mean=1),
            "np.var of codes: mean= is not for arrays of codes",
        ),
        (
            lambda: np.sum(scale, where=[False]),
            "where= puts 0 for what it leaves out, which 'f8E8M0FNU' has not",
        ),
        *(
            (lambda f=f: f(x, where=[True] * 5, initial=1), "where has shape (5,), exp")
            for f in (np.sum, np.max, np.nanmax, np.nansum)
        ),
        (lambda: np.mean(x, where=[True] * 5), "where has shape (5,), expected one th"),
        (lambda: np.nanmedian(x), "np.nanmedian is not for arrays of codes"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert message in str(error.value)


# ---- products ---------------------------------------------------------------


@pytest.mark.parametrize("name", ["f32", "posit16", "f16"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x, v, s: np.kron(x, v),
        lambda x, v, s: np.kron(v, x[0, 0]),
        lambda x, v, s: np.kron(x[:, :0], x),
        lambda x, v, s: np.tensordot(x, x, ((0, 1), (0, 1))),
        lambda x, v, s: np.tensordot(x, x),
        lambda x, v, s: np.tensordot(x, v, 1),
        lambda x, v, s: np.tensordot(s, x, ((1,), (1,))),
        lambda x, v, s: np.tensordot(s, x, (-2, -1)),
        lambda x, v, s: np.tensordot(v, v, 0),
        lambda x, v, s: np.tensordot(x[:, :0], v[:0], 1),
        lambda x, v, s: np.vecdot(x, v),
        lambda x, v, s: np.vecdot(x[:, :0], v[:0]),
        lambda x, v, s: np.vecdot(x, x, axis=0),
        lambda x, v, s: np.matvec(x, v),
        lambda x, v, s: np.vecmat(x[:, 0], x),
        lambda x, v, s: np.linalg.vecdot(x, x, axis=0),
        lambda x, v, s: np.linalg.outer(v, v),
        lambda x, v, s: np.linalg.trace(s),
        lambda x, v, s: np.linalg.trace(s, offset=1),
        lambda x, v, s: np.linalg.diagonal(s),
        lambda x, v, s: np.linalg.matmul(x, s[0]),
        lambda x, v, s: np.linalg.tensordot(x, v, axes=1),
        lambda x, v, s: np.linalg.matrix_transpose(s),
    ],
)
def test_products_are_those_of_numpy(function, name):
    compare(name, function, X, V, S)


NORMED = np.array([[3.0, -4.0, 0.0], [0.0, 0.0, 12.0]], "f4")


@pytest.mark.parametrize("name", ["f32", "posit16"])
@pytest.mark.parametrize("ord", [None, 0, 1, 2, np.inf, -np.inf])
def test_norms_of_vectors_are_those_of_numpy(ord, name):
    for keepdims in (False, True):
        compare(name, np.linalg.norm, NORMED * 2, ord=ord, axis=1, keepdims=keepdims)
        order = 2 if ord is None else ord
        for axis in (None, 0, (1, 0)):
            options = {"axis": axis, "keepdims": keepdims, "ord": order}
            compare(name, np.linalg.vector_norm, NORMED, **options)
    compare(name, lambda x: np.linalg.norm(x[0], ord), NORMED)


@pytest.mark.parametrize("name", ["f32", "posit16"])
@pytest.mark.parametrize("ord", [None, "fro", 1, -1, np.inf, -np.inf])
def test_norms_of_matrices_are_those_of_numpy(ord, name):
    stack = np.stack([NORMED, NORMED * 2])
    for keepdims in (False, True):
        compare(name, np.linalg.norm, NORMED, ord=ord, keepdims=keepdims)
        for axis in ((1, 2), (2, 1), (0, 2)):
            x = stack if axis != (0, 2) else stack.swapaxes(0, 1)
            compare(name, np.linalg.norm, x, ord=ord, axis=axis, keepdims=keepdims)
        if ord is not None:
            compare(name, np.linalg.matrix_norm, stack, keepdims=keepdims, ord=ord)
    compare(name, np.linalg.norm, NORMED * 2)


def test_squares_of_norms_add_up_as_products():
    # Each alone would be 0 in the format.
    x = numera.array(np.full(64, 2**-6), "f8E4M3FN")
    assert (x * x).sum().item() == 0 and np.linalg.norm(x).item() == 2**-3
    assert np.linalg.norm(numera.array([1.0, 2.0], "f32"), 3).item() == pytest.approx(
        9 ** (1 / 3), 1e-6
    )


def test_what_products_refuse_is_one_error():
    x = numera.array(X, "posit16")
    for call, message in (
        (
            lambda: np.linalg.norm(x, 2),
            "ord is 2, expected 'fro', 1, -1, inf or -inf for a matrix of codes; the o",
        ),
        (
            lambda: np.linalg.norm(x[0], "fro"),
            "ord is 'fro', expected a number for a vector",
        ),
        (
            lambda: np.linalg.norm(x[None], 1),
            "a norm is of one axis or two, found 3",
        ),
        (
            lambda: np.tensordot(x, x, 1),
            "axes [1] of shape (2, 3) and [0] of (2, 3) differ in size",
        ),
        (
            lambda: np.linalg.outer(x, x),
            "np.linalg.outer takes vectors, found (2, 3) and (2, 3)",
        ),
        (
            lambda: np.kron(x, X),
            "float32 with 'posit16'; cast it with numera.array(x, 'posit16'), or the",
        ),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value).startswith(message)


# ---- what is not zero -------------------------------------------------------


def test_no_number_of_a_format_without_zero_is_zero():
    a = numera.array([2.0**-127, 1.0, 2.0, np.nan], "f8E8M0FNU")
    assert np.count_nonzero(a) == 4 and a.nonzero()[0].tolist() == [0, 1, 2, 3]
    assert not np.logical_not(a).any() and np.logical_and(a, True).all()
    assert a[:1].any() and a.all() and a.astype(bool).all() and bool(a[0])
    assert np.linalg.norm(a[:2], 0).item() == 2
    np.testing.assert_array_equal(np.sign(a).values(), [1, 1, 1, np.nan])
    assert np.where(a, 1, a)[:3].tolist() == np.compress(a, a)[1:2].tolist() * 3
    assert np.average(a[:2], weights=a[[0, 0]]).item() == 1


def test_numbers_that_f64_has_not_are_not_zero():
    a = numera.array([1.0, 0.0], "float<15,48>")
    for _ in range(5):
        a = a * 2.0**-1000
    assert a.values().tolist() == [0, 0]
    two = numera.array(2.0, "float<15,48>")
    for found in (
        *(a.astype(bool), np.asarray(a, bool), a != 0, np.logical_or(a, False)),
        *(np.where(a, 1, two) == 1, np.where(a)[0] == [0, 1], [bool(x) for x in a]),
        np.compress(a, a, axis=0) != 0,
    ):
        assert np.asarray(found).tolist() in ([True, False], [True])
    assert np.count_nonzero(a) == 1
    assert np.sum(np.ones(2), where=a).item() == 1
    assert np.sum(a, where=a).item() == 0  # of f64
