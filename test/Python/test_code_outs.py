# SPDX-License-Identifier: MIT
"""NumPy's arguments on arrays of codes: out=, where=, dtype=; casts with options."""

import numera
import numpy as np
import pytest

V = numera.array([3.0, 1.0, 0.0], "posit16")
M = numera.array([[1.0, 2.0], [3.0, 4.0]], "posit16")

WRITES = {
    "concatenate": lambda v, m, out: np.concatenate([v, v], out=out),
    "concatenate 0": lambda v, m, out: np.concatenate([m, m], 0, out),
    "stack": lambda v, m, out: np.stack([v, v], axis=1, out=out),
    "np.take": lambda v, m, out: np.take(v, [2, 0], out=out),
    "take": lambda v, m, out: m.take([5], 1, out, "wrap"),
    "matmul": lambda v, m, out: np.matmul(m, m, out=out),
    "np.dot": lambda v, m, out: np.dot(m, m, out=out),
    "dot": lambda v, m, out: m.dot(m, out),
    "sum": lambda v, m, out: m.sum(axis=1, out=out),
    "mean": lambda v, m, out: m.mean(0, None, out),
    "prod": lambda v, m, out: m.prod(0, out=out),
    "cumsum": lambda v, m, out: m.cumsum(axis=1, out=out),
    "clip": lambda v, m, out: m.clip(2, 3, out=out),
    "round": lambda v, m, out: m.round(out=out),
    "any": lambda v, m, out: m.any(axis=0, out=out),
    "argmax": lambda v, m, out: m.argmax(axis=0, out=out),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_results_are_written_to_out(write):
    expected = write(V, M, None)
    if isinstance(expected, numera.Array):
        out = numera.array(np.zeros(expected.shape), "posit16")
        assert write(V, M, out) is out and np.array_equal(out, expected)
        plain = write(V.values(), M.values(), None)
        assert (out.values() == plain).all() and out.shape == plain.shape
        with pytest.raises(numera.Error, match="out|float64"):
            write(V, M, np.zeros(expected.shape))
    else:
        out = np.zeros_like(expected)
        assert write(V, M, out) is out and (out == expected).all()
        with pytest.raises(numera.Error, match="out is an array of codes, expected"):
            write(V, M, numera.array(np.zeros(expected.shape), "posit16"))


def test_truths_of_a_part():
    for where in ([True, True, False], [False, False, True]):
        for function in (np.any, np.all):
            assert function(V, where=where) == function(V.values(), where=where)
        assert V.any(where=where) == V.values().any(where=where)
        assert V.all(where=where) == V.values().all(where=where)


def test_no_other_type_is_computed_in():
    for call in (
        lambda: V.mean(dtype="f4"),
        lambda: np.mean(V, dtype="f4"),
        lambda: V.sum(dtype="f4"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value) == (
            "dtype= is not for arrays of codes; cast them with .astype"
        )
    with pytest.raises(numera.Error, match="dtype= is not for arrays of codes"):
        np.concatenate([V, V], dtype="f4")


@pytest.mark.parametrize(
    "shapes", [((2, 3, 0), (2, 0, 4)), ((0, 3, 2), (2, 2, 0)), ((2, 3, 2), (0, 2, 4))]
)
def test_products_of_nothing_have_numpys_shapes(shapes):
    a, b = map(np.ones, shapes)
    x, y = (numera.array(each, "posit16") for each in (a, b))
    assert np.array_equal(np.dot(x, y).values(), np.dot(a, b))
    assert np.inner(x, x).shape == np.inner(a, a).shape


@pytest.mark.parametrize("dtype", [">f2", ">f4", ">f8", "<f4"])
def test_values_in_the_other_byte_order(dtype):
    for found in (np.asarray(M, dtype), M.astype(dtype)):
        assert found.dtype == dtype and found.tolist() == M.tolist()


def test_casts_take_the_options_of_encode():
    x = numera.array([1.3, 1e6, -1e6], "f32")
    for options in (
        {"overflow": "saturate"},
        {"overflow": "infinity"},
        {"rounding": "toward-zero", "overflow": "saturate"},
        {"rounding": "stochastic", "random_bits": 3, "seed": 5, "step": 2},
    ):
        cast = numera.array(x, "f8E5M2", **options)
        codes = numera.encode(x.values(), "f8E5M2", **options)
        assert cast.codes.tolist() == codes.tolist()
        assert x.astype("f8E5M2", **options).codes.tolist() == codes.tolist()
    with pytest.raises(numera.Error, match="overflow goes with a format, found float"):
        x.astype(np.float16, overflow="saturate")
    with pytest.raises(numera.Error, match="seed is 'a', expected a whole number"):
        numera.array(x, "bf16", seed="a")


def test_out_of_codes_takes_numbers_in_its_format():
    x = np.ones(3)
    for call in (
        lambda: np.add(x, 1, out=V.copy()),
        lambda: np.exp(x, out=V.copy()),
        lambda: np.matmul(np.ones((3, 3)), x, out=V.copy()),
    ):
        with pytest.raises(numera.Error, match="float64 with 'posit16'; cast it with"):
            call()
    out = V.copy()
    assert np.add(0.1, 2, out=out) is out
    assert out.tolist() == [(numera.array(0.1, "posit16") + 2).item()] * 3


def test_where_may_be_codes():
    where = numera.array([1.0, 0.0, -1.0], "bf16")
    out = V.copy()
    np.add(V, 1, where=where, out=out)
    assert out.tolist() == [4, 1, 1]
    plain = np.zeros(3)
    np.add(np.ones(3), 1, where=where, out=plain)
    assert plain.tolist() == [2, 0, 2]
    np.copyto(plain, 7, where=where)
    assert plain.tolist() == [7, 0, 7]
    np.copyto(out, 8, where=where)
    assert out.tolist() == [8, 1, 8]
    assert np.add.reduce(np.ones(3), where=where) == 2
    assert np.logical_not(V, where=where, out=np.ones(3, bool)).tolist() == [
        *(False, True, True)
    ]


def test_out_is_called_what_the_user_calls_it():
    torch = pytest.importorskip("torch")
    x, out = torch.ones(2), torch.empty(2, dtype=torch.bfloat16)
    shape = "of shape (2,)"
    for call, message in (
        (
            lambda: numera.quantize(x, "bf16", out=out),
            f"out is torch.bfloat16 {shape}, expected float32 {shape}",
        ),
        (
            lambda: numera.quantize(out, "bf16", out=x),
            f"out is torch.float32 {shape}, expected bf16 {shape}",
        ),
        (
            lambda: numera.encode(x, "bf16", out=out),
            f"out is torch.bfloat16 {shape}, expected uint16 {shape}",
        ),
        (
            lambda: numera.encode(x, "bf16", out=np.ones(2, "f2")),
            f"out is float16 {shape}, expected uint16 {shape}",
        ),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value) == message
