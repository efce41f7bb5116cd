# SPDX-License-Identifier: MIT
"""Arrays of codes: functions and methods that move, write, show and compare."""

import re

import numera
import numpy as np
import pytest

X = np.array([[1.0, 2.0, 3.0], [4.0, 0.5, 6.0]])
V = np.array([1.0, 0.5, 2.0])
K = np.array([True, False, True])


def codes(x):
    return numera.array(x, "posit16")


@pytest.mark.parametrize(
    "function",
    [
        lambda x, v: np.atleast_1d(x[0, 0]),
        lambda x, v: np.atleast_2d(v),
        lambda x, v: np.atleast_3d(v, x)[1],
        lambda x, v: np.rot90(x),
        lambda x, v: np.fliplr(np.flipud(x)),
        lambda x, v: np.append(x, 7),
        lambda x, v: np.append(x, v[None], axis=0),
        lambda x, v: np.insert(x, 1, v, axis=0),
        lambda x, v: np.insert(v, [0, 2], 7),
        lambda x, v: np.delete(x, 1, axis=1),
        lambda x, v: np.diag(x),
        lambda x, v: np.diag(x, 1),
        lambda x, v: np.diag(v),
        lambda x, v: np.diag(v, 2),
        lambda x, v: np.diag(v[:0], -2),
        lambda x, v: np.trace(x),
        lambda x, v: np.trace(x, 1),
        lambda x, v: np.tril(x),
        lambda x, v: np.triu(x, 1),
        lambda x, v: np.tril(v),
        lambda x, v: np.broadcast_arrays(x, v)[1],
        lambda x, v: np.meshgrid(v, x[0, :2])[0],
        lambda x, v: np.column_stack([v, v]),
        lambda x, v: np.dstack([x, x]),
        lambda x, v: np.hsplit(x, 3)[1],
        lambda x, v: np.resize(v, (2, 4)),
        lambda x, v: np.compress(K, x, axis=1),
        lambda x, v: np.extract(v > 1, v),
        lambda x, v: x.ravel("F"),
        lambda x, v: x.flatten("F"),
        lambda x, v: x.T.flat[1:4],
        lambda x, v: x + True,
        lambda x, v: np.True_ * v,
    ],
)
def test_results_are_those_of_numpy(function):
    found, expected = function(codes(X), codes(V)), function(X, V)
    assert found.format == numera.format("posit16") and found.shape == expected.shape
    assert found.tolist() == expected.tolist()


def test_what_is_no_number_is_equal_nowhere():
    x, z = codes(X), codes(3.0)
    for other in (None, "x", b"x"):
        assert not (x == other).any() and (x != other).all()
        assert (x == other).shape == (other == x).shape == x.shape
        assert (bool(z == other), bool(z != other)) == (False, True)
    assert (bool(z == 3), bool(z != 3)) == (True, False)
    with pytest.raises(TypeError, match="unhashable type"):
        hash(z)


def test_elements_are_written_where_they_lie():
    x = codes(X)
    x.T.flat[1] = 9
    x.flat[2:4] = codes([7.0, 8.0])
    assert x.tolist() == [[1.0, 2.0, 7.0], [8.0, 0.5, 6.0]]
    assert len(x.flat) == 6 and [each.item() for each in x.flat][:2] == [1.0, 2.0]
    np.copyto(x, V[1], where=K)
    assert x.tolist() == [[0.5, 2.0, 0.5], [0.5, 0.5, 0.5]]
    np.copyto(x, codes(X))
    assert x.tolist() == X.tolist()
    row = x[0]
    assert np.shares_memory(x, row) and np.may_share_memory(row, x.codes)
    assert not np.shares_memory(x, x.copy())
    assert x.fill(0.1) is None and (x == numera.array(0.1, "posit16")).all()
    for call, message in (
        (lambda: np.copyto(X, x), "dst is an array of float64, expected one of codes"),
        (lambda: np.copyto(x, X), "float64 to 'posit16'; cast it with"),
        (lambda: x.flat.__setitem__(0, X), "float64 assigned to 'posit16'; cast it"),
    ):
        with pytest.raises(numera.Error, match=message):
            call()


def test_arrays_are_shown():
    assert repr(codes(np.zeros((0, 3)))) == "numera.array([], 'posit16', shape=(0, 3))"
    assert repr(codes([])) == "numera.array([], 'posit16')"
    assert np.array2string(codes(V), separator=";") == "[1. ;0.5;2. ]"
    assert codes(V).itemsize == 2


def test_numbers_are_rounded_to_integers():
    for value in (2.5, 3.5, -1.25):
        assert round(codes(value)) == round(value) and type(round(codes(value))) is int
    assert round(codes(2.5), 0).item() == 2.0
    with pytest.raises(ValueError, match="can only convert an array of size 1"):
        round(codes(V))


def test_functions_that_are_not_there_are_one_error():
    wanted = (
        "np.save is not for arrays of codes; it takes their .values(), and does not"
    )
    with pytest.raises(numera.Error, match=re.escape(wanted)):
        np.save("x.npy", codes(X))


def odd(name):
    """Values in no order, with a NaN, twice, where the format has one."""
    nans = [np.nan, np.nan] if numera.format(name).family != "fixed" else []
    return np.array([3.0, -1.0, 0.5, 3.0, -0.0, 0.0, -7.0, *nans, 2.0], "f4")


ORDERED = ["f32", "f8E4M3FN", "posit16", "fixed<7,8>", "posit<64,2>", "takum<64>"]
"""The last two have numbers that f64 has not, and are in order by their codes."""


def alike(found, expected):
    if isinstance(found, numera.Array):
        found = found.values()
    assert found.shape == expected.shape
    assert np.array_equal(found, expected, equal_nan=expected.dtype.kind == "f")


@pytest.mark.parametrize("name", ORDERED)
def test_sets_and_places_are_those_of_numpy(name):
    a = odd(name)
    x = numera.array(a, name)
    for f in (
        lambda y: np.isin(y, [3, 0, 9]),
        lambda y: np.isin(y, y[4:], invert=True),
        lambda y: np.isin(y[:0], y),
        lambda y: np.isin(y[0], 3.0),
        lambda y: np.isin(y[:6].reshape(2, 3), y[:2]),
        lambda y: np.searchsorted(np.sort(y), y),
        lambda y: np.searchsorted(np.sort(y), [0.25, 3], side="right"),
        lambda y: np.searchsorted(y, 0.25, sorter=np.argsort(y, kind="stable")),
        lambda y: np.searchsorted(y[:0], y[0]),
        lambda y: np.partition(y, 3)[3],
        lambda y: np.partition(y, (0, -1))[[0, -1]],
        lambda y: np.partition(y[:6].reshape(2, 3), 1, axis=0),
        lambda y: np.partition(y.reshape(-1, 1), 2, axis=None)[2],
        lambda y: y[np.argpartition(y, 4)][4],
        lambda y: np.sort(np.unique_values(y)),
        lambda y: np.unique(y, equal_nan=False),
        lambda y: np.unique(y, return_counts=True)[1],
    ):
        alike(f(x), f(a))
    for f in (np.unique_counts, np.unique_inverse, np.unique_all):
        for y, b in (
            (x, a),
            (x[:6].reshape(2, 3), a[:6].reshape(2, 3)),
            (x[:0], a[:0]),
        ):
            found, expected = f(y), f(b)
            assert type(found) is type(expected)
            for one, other in zip(found, expected):
                alike(one, other)
    y = x.copy()
    assert y.partition(2) is None and y[2].item() == np.sort(a)[2]
    assert x[x.argpartition(2)][2].item() == np.sort(a)[2]
    assert np.sort(x).searchsorted(0.25) == np.sort(a).searchsorted(0.25)


def test_places_keep_the_codes():
    # -0 is equal to 0 and stays what it is.
    x = numera.array([1.0, -0.0, -2.0], "f32")
    assert np.partition(x, 1).codes.tolist() == [0xC0000000, 0x80000000, 0x3F800000]
    assert np.isin(x, [0]).tolist() == [False, True, False]
    wide = numera.array([2**60 + 1, 2**60], "fixed<63,0>")
    assert np.isin(wide, wide[:1]).tolist() == [True, False]


@pytest.mark.parametrize("name", ["f32", "posit16", "f8E4M3FN"])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.block([[x, x], [x[:1], x[1:]]]),
        lambda x: np.block([x[0], 7]),
        lambda x: np.block(x),
        lambda x: np.block([[x[:, :0]], [x[:, :0]]]),
        lambda x: np.select([x > 2, x > 0.5], [x, -x]),
        lambda x: np.select([x > 2, x > 1], [x, 5], default=x[0, 0]),
        lambda x: x.repeat(2, axis=0),
        lambda x: x.repeat([1, 0, 2], 1),
        lambda x: x.repeat(3),
        lambda x: x[0, 0].repeat(2),
        lambda x: x[:0].repeat(2),
        lambda x: np.repeat(x, 2, axis=-1),
        lambda x: x[None].mT,
        lambda x: np.matrix_transpose(x),
        lambda x: np.unstack(x, axis=1)[2],
    ],
)
def test_elements_move_as_codes_in_any_format(function, name):
    x = numera.array(X, name)
    found, expected = function(x), function(X)
    assert found.format == x.format and found.shape == expected.shape
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("name", ["f32", "posit16", "f8E4M3FN", "fixed<7,8>"])
def test_logical_functions_are_of_what_is_not_zero(name):
    a = odd(name)
    x = numera.array(a, name)
    for f in (
        lambda y: np.logical_and(y, y[::-1]),
        lambda y: np.logical_or(y, 0),
        lambda y: np.logical_xor(y, y > 0),
        lambda y: np.logical_not(y),
        lambda y: np.logical_not(y[4]),
        lambda y: np.logical_and(y[:0], y[:0]),
        lambda y: np.logical_and.reduce(y[:6].reshape(2, 3), axis=1, keepdims=True),
        lambda y: np.logical_or.accumulate(y),
    ):
        found, expected = f(x), f(a)
        assert found.dtype == bool and found.tolist() == expected.tolist()
    out = np.zeros(a.shape, bool)
    assert np.logical_not(x, out=out, where=a > 0) is out and not out.any()
    with pytest.raises(numera.Error) as error:
        np.logical_not(x, out=x)
    assert str(error.value) == f"out is of '{x.format}', expected truth values"


def test_other_functions_of_order_refuse_in_one_line():
    x = codes(X)
    for call, message in (
        (lambda: np.isin(x, X), "float64 with 'posit16'; cast it with numera.array"),
        (lambda: np.searchsorted(x[0], x.astype("bf16")), "'bf16' with 'posit16'; ca"),
        (lambda: np.block([x, V]), "float64 with 'posit16'; cast it with numera.arr"),
        (lambda: np.select([x > 1, x > 0], [x, X]), "float64 with 'posit16'; cast it"),
        (lambda: x[0].mT, "mT is of matrices, found 1 dimensions"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value).startswith(message)
    assert not hasattr(x, "__array_namespace__")  # NumPy's zeros would be no codes


def test_scaled_codes_are_decoded_to_what_is_wanted():
    x = np.array([1, 2, 3, 4], "f4")
    codes = numera.encode(x, "mxfp8e4m3")
    out = np.zeros(4, "f4")
    assert numera.decode(codes, "mxfp8e4m3", out=out) is out
    np.testing.assert_array_equal(out, x)
    half = numera.decode(codes, "mxfp8e4m3", "f16")
    assert half.dtype == np.float16 and half.tolist() == [1, 2, 3, 4]
    assert codes.values("bf16").tolist() == [1, 2, 3, 4]
    with pytest.raises(numera.Error, match="found the format 'posit16'"):
        numera.decode(codes, "posit16")
    with pytest.raises(numera.Error, match="out is float64 of shape"):
        numera.decode(codes, "mxfp8e4m3", out=out.astype("f8"))


def test_an_empty_array_is_resized_to_zeros():
    for name in ("lns<4,3>", "posit16"):
        assert np.resize(numera.array([], name), (2, 1)).tolist() == [[0], [0]]
        assert np.resize(numera.array([], name), 0).shape == (0,)
        assert np.resize(numera.array([1, 2], name), 3).tolist() == [1, 2, 1]


def test_lists_of_elements_keep_all_of_their_bits():
    x = numera.array([1.0, 2.0], "posit<64,2>") / 3
    y = np.zeros_like(x)
    y[:] = [x[0], x[1]]
    assert y.codes.tolist() == x.codes.tolist()
    for made in (numera.array(list(x), x.format), numera.array(tuple(x))):
        assert made.codes.tolist() == x.codes.tolist() and made.format == x.format
    nested = numera.array([list(x), [x[1], x[0]]], "posit<64,2>")
    assert nested.codes.tolist() == [x.codes.tolist(), x.codes.tolist()[::-1]]
    wide = numera.array([2**60 + 1], "fixed<63,0>")
    assert numera.array(list(wide), wide.format).tolist() == [2**60 + 1]
    y[:] = [x[0], 2]
    assert y[0].codes == x[0].codes and y[1].item() == 2
    assert numera.array([x[0], 2], "bf16").tolist() == [0.333984375, 2]
    assert numera.array(list(x), "bf16", rounding="up").tolist() == [
        0.333984375,
        0.66796875,
    ]
    assert np.searchsorted(x, [x[1], x[0]]).tolist() == [1, 0]


def test_lists_mix_no_formats():
    x, other = codes(V), numera.array([1.0], "bf16")
    cast = "cast one of them with .astype"
    for call, message in (
        (lambda: x.__setitem__(0, [other[0]]), f"'bf16' assigned to 'posit16'; {cast}"),
        (lambda: np.isin(x, [1, other[0]]), f"'bf16' with 'posit16'; {cast}"),
        (
            lambda: numera.array([x[0], other[0]]),
            "a list of elements of several formats, or beside numbers; name a format",
        ),
        (
            lambda: numera.array([x[0], x], "posit16"),
            "a list of arrays: all input arrays must have the same shape",
        ),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value) == message
