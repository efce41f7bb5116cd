# SPDX-License-Identifier: MIT
"""Arrays of codes as arrays of NumPy: order, elements, in and out, errors."""

import copy
import math
import pickle
import threading

import ml_dtypes
import numera
import numpy as np
import oracle
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


# ---- other functions of NumPy -----------------------------------------------


@pytest.mark.parametrize(
    "name",
    ["bf16", "posit16", "posit<64,2>", "fixed<7,8>", "lns<4,3>", "lns<7,40>",
     "fixed<63,0>", "fixed<32,20,unsigned>", "float<16,40>"],
)  # fmt: skip
def test_order_is_that_of_the_values(name):
    values = normal(40, 3) * 10
    values[3, 1] = np.nan if not name.startswith("fixed") else 0
    x = numera.array(values, name)
    a = x.values("f8")
    assert np.array_equal(np.sort(x, 0).values("f8"), np.sort(a, 0), equal_nan=True)
    assert np.array_equal(
        np.sort(x, None).values("f8"), np.sort(a, None), equal_nan=True
    )
    for f in (np.argmax, np.argmin):
        for axis in (0, 1, None):
            assert np.array_equal(f(x, axis), f(a, axis))
    for f in (np.max, np.min):
        for axis in (0, 1, None):
            assert np.array_equal(f(x, axis).values("f8"), f(a, axis), equal_nan=True)
    assert np.array_equal(
        a.ravel()[np.argsort(x, None)], np.sort(a, None), equal_nan=True
    )


@pytest.mark.parametrize("name", ["bf16", "float<16,40>"])
def test_of_two_zeros_the_negative_one_is_less(name):
    x = numera.array([0.0, -0.0, 0.0], name)
    assert np.argmin(x) == 0 and np.unique(x).tolist() == [0.0]
    assert np.signbit(x.min().values()) and not np.signbit(x.max().values())


def test_order_is_that_of_numbers_that_f64_has_not():
    x = numera.array([2**60 + 1, 2**60, -(2**60) - 1, -(2**60)], "fixed<63,0>")
    assert np.argsort(x).tolist() == [2, 3, 1, 0]
    assert np.max(x).item() == 2**60 + 1 and np.min(x).item() == -(2**60) - 1
    assert np.unique(np.concatenate([x, x])).tolist() == sorted(x.tolist())
    most = numera.Array(np.uint64([2**63 - 1, 2**63, 0, 2**63 + 1]), "posit<64,2>")
    assert np.argsort(most).tolist() == [3, 2, 0, 1]
    assert np.argmax(most) == np.argmin(most) == 1
    y = numera.array([1.0, -1.0, math.nan, math.inf, -math.inf], "float<16,40>")
    y = np.concatenate(
        [y, y[:2] * 2.0**1000 * 2.0**1000, y[:2] / 2.0**1000 / 2.0**1000]
    )
    assert np.argsort(y).tolist() == [4, 6, 1, 8, 7, 0, 5, 3, 2]
    assert np.argmin(y) == np.argmax(y) == 2
    assert np.argmin(y[3:]) == 1 and np.argmax(y[3:]) == 0


@pytest.mark.parametrize(
    "name",
    ["f4E2M1FN", "f8E8M0FNU", "f8E4M3FNUZ", "f8E4M3FN", "f8E5M2", "posit8", "fixed<3,4>",
     "fixed<4,4,unsigned>", "takum<12>", "lns<3,3>"],
)  # fmt: skip
def test_neighbours_of_all_numbers(name):
    fmt = numera.format(name)
    values = np.unique(fmt.values()[~np.isnan(fmt.values())])
    x = numera.array(values, fmt)
    up, down = np.nextafter(x, x[-1]), np.nextafter(x, x[0])
    assert up.tolist() == [*values[1:], values[-1]]
    assert down.tolist() == [values[0], *values[:-1]]
    beyond = [np.nextafter(x[-1:], 2.0**999), np.nextafter(x[:1], -(2.0**999))]
    assert [y.item() for y in beyond] == [values[-1], values[0]]


def test_neighbours_are_those_of_numpy():
    for name, dtype in (("f32", "f4"), ("f64", "f8")):
        tiny = np.finfo(dtype).smallest_subnormal
        x = np.array([0, -0.0, tiny, -tiny, 1, np.inf, -np.inf, np.nan, 3], dtype)
        for y in (*x, *x[::-1]):
            found = np.nextafter(numera.array(x, name), numera.array(y, name))
            oracle.same_bits(found.astype(dtype), np.nextafter(x, y))
    x = numera.array([2**60 + 1], "fixed<63,0>")
    assert np.nextafter(x, 2**61).tolist() == [2**60 + 2]
    assert np.nextafter(1, x).tolist() == [2]
    with pytest.raises(numera.Error, match="^np.nextafter is not for 'float<3,2,flush"):
        np.nextafter(numera.array([1.0], "float<3,2,flush>"), 2)


@pytest.mark.parametrize("name", ["bf16", "posit16", "fixed<7,8>"])
def test_functions_of_truth_and_of_neighbours_are_those_of_numpy(name):
    odd = np.nan if not name.startswith("fixed") else 9.0
    x = numera.array([[1.0, -2.0, 0.0], [odd, 4.0, -0.5], [0.0, 0.0, 4.0]], name)
    a = x.values()
    for f in (np.any, np.all, np.count_nonzero):
        for axis in (None, 0, 1):
            assert np.array_equal(f(x, axis), f(a, axis))
    assert np.array_equal(np.any(x, 1, keepdims=True), a.any(1, keepdims=True))
    assert np.array_equal(x.any(0), a.any(0)) and np.array_equal(x.all(1), a.all(1))
    for f in (np.nonzero, np.flatnonzero, np.argwhere):
        assert np.array_equal(f(x), f(a))
    assert np.array_equal(x.nonzero(), a.nonzero())
    number = x[2]
    for f in (
        np.sign, np.diff, lambda y: np.diff(y, axis=0), lambda y: np.diff(y, 2),
        np.round, lambda y: np.pad(y, ((1, 0), (0, 2)), constant_values=2),
        lambda y: np.pad(y, 1), lambda y: np.pad(y, 1, mode="edge"), np.unique,
        lambda y: np.unique(y, return_counts=True)[0],
    ):  # fmt: skip
        found = f(x)
        assert found.format == x.format
        assert np.array_equal(found.values(), f(a), equal_nan=True)
    assert x.round().codes.tolist() == np.rint(x).codes.tolist()
    _, _, _, counts = np.unique(x, True, True, True)
    assert counts.tolist() == [1, 1, 3, 1, 2, 1]
    assert np.outer(number, number).tolist() == np.outer(a[2], a[2]).tolist()
    assert np.allclose(x, a, equal_nan=True) and not np.allclose(number, 1)
    other = numera.array([0.0, 1.0, 4.0], "f32")
    assert np.array_equal(np.isclose(number, other), [True, False, True])
    assert x.tobytes() == x.codes.tobytes()
    with pytest.raises(ValueError, match=r"Use a.any\(\) or a.all\(\)"):
        bool(x)
    for call, message in (
        (lambda: np.diff(x, append=1), "np.diff of codes: append= is not for arrays"),
        (lambda: np.round(x, 2), "decimals is 2, expected 0 of arrays of codes"),
        (lambda: np.pad(x, 1, mode="mean"), "np.pad of codes computes nothing, as 'm"),
    ):
        with pytest.raises(numera.Error, match=message):
            call()


def test_elements_move_as_codes():
    x = numera.array(normal(4, 6), "posit16")
    a = x.codes
    for result, expected in (
        (x.reshape(6, 4), a.reshape(6, 4)),
        (np.transpose(x), a.T),
        (x[1:, ::-2], a[1:, ::-2]),
        (x[x > 0], a[x.values() > 0]),
        (np.concatenate([x, x[:1]]), np.concatenate([a, a[:1]])),
        (np.stack([x, x], 1), np.stack([a, a], 1)),
        (np.where(x > 0, x, 0), np.where(x.values() > 0, a, 0)),
        (np.flip(x, 0), a[::-1]),
        (np.broadcast_to(x[0], (3, 6)), np.broadcast_to(a[0], (3, 6))),
        (np.take(x, [2, 0], 1), a[:, [2, 0]]),
        (np.split(x, 2)[1], a[2:]),
        (np.full_like(x, 1), np.full_like(a, 0x4000)),
        (np.clip(x, -1, 1), np.where(x.values() > 1, 0x4000, np.where(x.values() < -1, 0xC000, a))),
    ):  # fmt: skip
        assert isinstance(result, numera.Array) and result.format == x.format
        assert np.array_equal(result.codes, expected)
    y = x.copy()
    y[0] = 1
    y[1, 2:4] = x[0, 2:4]
    assert y[0].tolist() == [1.0] * 6 and (y[1, 2:4] == x[0, 2:4]).all()
    assert len(x) == 4 and [row.shape for row in x] == [(6,)] * 4
    assert float(x[0, 0]) == x[0, 0].item() == x.values()[0, 0]
    assert np.array_equal(x, x.copy()) and not np.array_equal(x, y)


def test_methods_are_functions_of_numpy():
    x = numera.array(normal(4, 6), "posit16")
    a = x.values()
    for name, args in (
        ("cumsum", (1,)), ("cumprod", (0,)), ("prod", (1,)), ("var", (0,)),
        ("std", ()), ("clip", (-0.5, 0.5)),
    ):  # fmt: skip
        result = getattr(x, name)(*args)
        assert result.format == x.format
        assert np.array_equal(result, getattr(np, name)(x, *args)), name
    assert np.array_equal(x.dot(x.T), x @ x.T)
    assert x.argmax() == a.argmax() and x.argmin() == a.argmin()
    assert np.array_equal(x.argmax(1, keepdims=True), a.argmax(1, keepdims=True))
    assert np.array_equal(x.argsort(0), a.argsort(0))
    flat = x.flatten()
    assert not np.shares_memory(flat.codes, x.codes)
    assert flat.sort() is None and flat.tolist() == sorted(a.ravel())
    assert not hasattr(x, "dtype")  # NumPy would take a format's for that of codes


def test_one_number_is_formatted_as_a_number():
    x = numera.array([1.0, 2.5], "posit16")
    assert f"{x[1]:.2f} {x.sum():+.1e} {x[1]} {x}" == "2.50 +3.5e+00 2.5 [1.  2.5]"
    with pytest.raises(TypeError, match="unsupported format string"):
        f"{x:.2f}"


def test_a_spelling_with_a_comma_is_a_format():
    x = numera.array([1.0, 2.5], "bf16").astype("posit<16,2>")
    assert x.format == numera.format("posit16") and x.tolist() == [1.0, 2.5]


@pytest.mark.parametrize("name", ["f4", "<f4", "float32", "i4", "int32", "f8", "bool"])
def test_names_of_types_of_numpy_are_types_where_no_format_has_them(name):
    x = numera.array([1.0, 2.5], "posit16").astype(name)
    assert type(x) is np.ndarray and x.dtype == np.dtype(name)


def test_a_name_of_a_format_is_the_format():
    x = numera.array([1.0, 2.5], "posit16")
    assert x.astype("f16").format == numera.format("f16")  # NumPy's is f128
    for name in ("O", "S2", "f5"):
        with pytest.raises(numera.Error, match=f"unknown format '{name}'"):
            x.astype(name)


def test_the_array_itself_has_the_format_that_is_asked_for():
    x = numera.array([1.0, 2.0], "posit16")
    assert x.astype("posit16", copy=False) is x.astype("posit<16,2>", copy=False) is x
    assert x.astype("posit16") is not x and x.astype("f16", copy=False) is not x
    assert x.astype(int, copy=False).tolist() == [1, 2]


def test_a_sum_of_einstein_without_dimensions_has_none():
    x = numera.array([1.0, 2.0], "posit16")
    assert np.einsum("i,i", x, x).shape == ()


def test_what_has_another_format_is_one_error():
    x = numera.array([1.0], "posit16")
    for other, message in (
        (numera.array([1.0], "bf16"), "'bf16' with 'posit16'; cast one of them with .astype"),
        (np.ones(1), "float64 with 'posit16'; cast it with numera.array(x, 'posit16')"),
        ([1.0], "list with 'posit16'; cast it"),
    ):  # fmt: skip
        for call in (lambda: x + other, lambda: other + x, lambda: x < other):  # noqa: B023
            with pytest.raises(numera.Error) as error:
                call()
            text = str(error.value)
            assert "with '" in text and "\n" not in text
        with pytest.raises(numera.Error) as error:
            np.add(x, other)
        assert message in str(error.value)
    for call, message in (
        (lambda: np.sinc(x), "np.sinc is not for arrays of codes"),
        (lambda: np.spacing(x), "np.spacing is not for arrays of codes"),
        (lambda: np.linalg.inv(x), "np.linalg.inv is not for arrays of codes"),
        (lambda: np.add.accumulate(x), "np.add.accumulate is not for arrays"),
        (lambda: np.add(x, x, dtype="f4"), "dtype= is not for arrays of codes"),
        (lambda: x @ x[0], "a factor of a matrix product is a number"),
        (lambda: np.ones((2, 3)) @ x, "cast it with numera.array"),
        (lambda: x.reshape(1, 1) @ np.broadcast_to(x, (2, 1)), "1 columns, 2 rows"),
        (lambda: numera.Array(np.zeros(2), "bf16"), "are uint16, found float64"),
        (lambda: x.view(ml_dtypes.bfloat16), "bfloat16 has other codes than 'posit16'"),
        (
            lambda: x.view("bf16"),
            "dtype is bf16, expected a type of NumPy or ml_dtypes",
        ),
        (lambda: x.values("posit8"), "dtype is posit8, expected f16, bf16, f32 or f64"),
        (lambda: numera.array(np.arange(3)), "an array of int64 names no format"),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert message in str(error.value)


def test_codes_have_no_bits_above_the_width_of_the_format():
    for name, code, most in (("f6E3M2FN", 0xC3, 63), ("posit<12,1>", 4096, 4095)):
        dtype = numera.format(name).dtype
        with pytest.raises(numera.Error) as error:
            numera.Array(np.array([[1, code]], dtype), name)
        line = f"codes of '{numera.format(name)}' are 0 to {most}, found {code}"
        assert str(error.value) == line
        for codes in ([most], [], most):
            x = numera.Array(np.array(codes, dtype), name)
            assert x.codes.tolist() == codes
    bits = np.array([0xC3], np.uint8).view(ml_dtypes.float6_e3m2fn)
    with pytest.raises(numera.Error, match="'f6E3M2FN' are 0 to 63, found 195"):
        numera.array(bits)


# ---- in and out -------------------------------------------------------------


@pytest.mark.parametrize("name", oracle.ML_DTYPES)
def test_ml_dtypes_share_memory_both_ways(name):
    dtype = np.dtype(getattr(ml_dtypes, oracle.ML_DTYPES[name]))
    x = np.arange(16, dtype=np.uint8).repeat(dtype.itemsize).view(dtype)
    y = numera.array(x)
    assert y.format == numera.format(name) and np.shares_memory(y.codes, x)
    back = y.view(dtype)
    assert back.dtype == dtype and np.shares_memory(back, x)
    assert np.array_equal(y.values(), x.astype("f4"), equal_nan=True)
    saturating = numera.Array(y.codes, "float<8,7,saturate>") if name == "bf16" else y
    assert saturating.view(dtype).dtype == dtype


def test_values_leave_as_arrays_of_numpy():
    x = numera.array([0.1, 2.0], "posit16")
    assert np.asarray(x).dtype == np.float32
    assert np.asarray(x, np.float64).dtype == np.float64
    assert x.astype(np.float64).dtype == np.float64
    assert x.astype(np.int64).tolist() == [0, 2]
    wide = numera.array([1 + 2**-40], "f64")
    up = np.float32(1 + 2**-23)
    for dtype in ("f4", np.float32, np.dtype(">f4")):
        found = wide.astype(dtype, rounding="up")
        assert found.dtype == np.dtype(dtype) and found.tolist() == [up]
        assert wide.astype(dtype, rounding="down").tolist() == [1.0]
    assert wide.astype(ml_dtypes.bfloat16, rounding="up").tolist() == [1.0078125]
    with pytest.raises(numera.Error, match="^rounding goes with a format, found int64"):
        wide.astype(np.int64, rounding="up")
    assert numera.array(x, "posit8").tolist() == [0.1015625, 2.0]
    assert x.astype("posit8", rounding="up").tolist()[0] >= 0.1015625
    assert numera.array(3, "posit32").values().dtype == np.float64
    assert repr(x) == "numera.array([0.1000061, 2.       ], 'posit16')"
    assert (str(x), str(x[1])) == ("[0.1000061 2.       ]", "2.0")
    assert bool(x[1]) and int(x[1]) == 2
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x)):
        assert (y == x).all() and y.format == x.format


def test_stochastic_formats_draw_for_each_operation():
    fmt = numera.float(8, 7, rounding="stochastic")
    x = numera.array(np.full(4000, 1.0), fmt)
    with numera.stochastic(seed=3):
        a, b = x / 3, x / 3
    with numera.stochastic(seed=3):
        again = x / 3
    with numera.stochastic(seed=3, step=1):
        later = x / 3
    assert (a == again).all() and (a != b).any() and (a != later).any()
    low, high = sorted(set(a.tolist()))
    share = (1 / 3 - low) / (high - low)
    assert abs((a == high).mean() - share) < 4 * math.sqrt(share * (1 - share) / 4000)
    # What is exact draws nothing, and numbers are rounded to nearest (R8).
    assert (x * 0.1 == numera.array(0.1, "bf16").item()).all()
    row = x[:40]
    for accumulate in (None, "same", "posit32"):
        with numera.stochastic(seed=1):
            first = numera.matmul(row / 3, row / 3, accumulate=accumulate)
        with numera.stochastic(seed=1):
            second = numera.matmul(row / 3, row / 3, accumulate=accumulate)
        assert first.item() == second.item() and abs(first.item() - 40 / 9) < 0.3


def test_threads_may_compute_at_once():
    x = numera.array(normal(20000), "posit16")
    expected = np.exp(x).codes
    failures = []

    def work():
        for _ in range(5):
            if (np.exp(x).codes != expected).any():
                failures.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_registered_names_are_those_that_were_loaded_last(tmp_path):
    path = tmp_path / "formats.yaml"
    x = np.float32([0.1])
    seen = []
    for mantissa in (3, 10):
        path.write_text(
            f"formats: {{mine: {{family: float, exponent: 5, mantissa: {mantissa}}}}}"
        )
        numera.load(path)
        seen.append(numera.quantize(x, "mine")[0])
    assert seen == [0.1015625, np.float32(0.1).astype("f2")]


def test_where_leaves_the_rest_of_out():
    x = numera.array([1.0, 2.0, 3.0], "posit16")
    out = numera.array([7.0, 7.0, 7.0], "posit16")
    mask = np.array([True, False, True])
    assert np.add(x, x, out=out, where=mask) is out
    assert out.tolist() == [2.0, 7.0, 6.0]
    flags = np.array([True, True, True])
    np.less(x, 2, out=flags, where=mask)
    assert flags.tolist() == [True, True, False]


def test_outer_is_each_with_each():
    x, y = numera.array([1.0, 2.0], "bf16"), numera.array([[3.0, 5.0]], "bf16")
    assert np.multiply.outer(x, y).tolist() == [[[3.0, 5.0]], [[6.0, 10.0]]]
    assert np.subtract.outer(1, x).tolist() == [0.0, -1.0]


def test_dlpack_shares_the_codes():
    x = numera.array([1.0, 2.0], "posit16")
    codes = np.from_dlpack(x)
    assert codes.dtype == np.uint16
    assert np.shares_memory(codes, x.codes)


def test_an_operation_takes_one_sample_whatever_was_done_before():
    fmt = "float<4,3,rounding=stochastic>"
    x = numera.array(np.full((4, 6), 0.3), fmt, rounding="nearest-even")
    x = numera.Array(x.codes, fmt)
    row, strided = x[0], x[::2, ::2]

    def draws():
        with numera.stochastic(7):
            results = [x + row, strided * strided, x + x, np.add(x, row)]
        return [result.codes.tolist() for result in results]

    first = draws()
    np.add(x, x), np.multiply(x, x)  # known from now on, for whole arrays
    assert draws() == first


def test_arrays_are_pickled_by_every_protocol():
    x = numera.array([[1.0, -0.0], [3.0, np.nan]], "bf16")
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        for each in (x, x.T, x[0, 0]):
            found = pickle.loads(pickle.dumps(each, protocol))
            assert found.codes.tolist() == each.codes.tolist()
            assert found.format == each.format and found.shape == each.shape
    assert copy.deepcopy(x).codes.tolist() == x.codes.tolist()
