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
