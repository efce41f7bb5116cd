# SPDX-License-Identifier: MIT
"""Operations on arrays of codes, against ml_dtypes and exact fractions."""

import ml_dtypes
import numera
import numpy as np
import oracle
import pytest

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

E4M3 = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
BRAINS = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("f4")


def e4m3(values):
    """Rounded to nearest even and saturated; f64 is wide enough to do it in two."""
    with np.errstate(all="ignore"):
        return np.clip(values, -448, 448).astype(ml_dtypes.float8_e4m3fn).astype("f4")


ARITHMETIC = [np.add, np.subtract, np.multiply, np.divide, np.minimum, np.maximum]


@pytest.mark.parametrize("ufunc", ARITHMETIC, ids=lambda f: f.__name__)
def test_all_pairs_of_8_bits(ufunc):
    x, y = (a.ravel() for a in np.meshgrid(E4M3, E4M3))
    if ufunc is np.divide:
        # By zero a format without infinities has NaN.
        keep = y.astype("f4") != 0
        x, y = x[keep], y[keep]
    values = [a.astype("f8") for a in (x, y)]
    expected = e4m3(ufunc(*values))
    result = ufunc(numera.array(x), numera.array(y))
    assert result.format == numera.format("f8E4M3FN")
    if ufunc in (np.minimum, np.maximum):  # NumPy takes either of two zeros
        assert np.array_equal(result.values(), expected, equal_nan=True)
    else:
        oracle.same_bits(result.values(), expected)


@pytest.mark.parametrize("ufunc", ARITHMETIC[:4], ids=lambda f: f.__name__)
def test_bf16_is_that_of_ml_dtypes(ufunc):
    x, y = (np.random.default_rng(s).permutation(BRAINS) for s in (1, 2))
    expected = ufunc(x, y)
    result = ufunc(numera.array(x), numera.array(y))
    oracle.same_bits(result.values(), expected.astype("f4"))
    assert result.view(ml_dtypes.bfloat16).dtype == expected.dtype


@pytest.mark.parametrize("name", ["posit8", "posit16"])
@pytest.mark.parametrize("ufunc", ARITHMETIC[:4], ids=lambda f: f.__name__)
def test_posits_round_exact_results(name, ufunc):
    fmt = numera.format(name)
    values = oracle.posit_values(fmt.width)
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, len(values), (2, 20000), dtype=fmt.dtype)
    exact = ufunc(values[a], values[b])
    exact = np.where(np.isinf(exact), np.nan, exact)
    # Where f64 has rounded already: sums of numbers that are far apart.
    if ufunc in (np.add, np.subtract):
        big, small = (
            f(abs(values[a]), abs(values[b])) for f in (np.maximum, np.minimum)
        )
        keep = ~(big > small * 2.0**35) | (small == 0)
        a, b, exact = a[keep], b[keep], exact[keep]
    result = ufunc(numera.Array(a, fmt), numera.Array(b, fmt))
    assert (result.codes == oracle.posit_codes(exact, fmt.width)).all()


FUNCTIONS = [
    np.negative, np.absolute, np.sqrt, np.exp, np.exp2, np.expm1, np.log, np.log2,
    np.log1p, np.sin, np.cos, np.tanh, np.floor, np.ceil, np.trunc, np.rint,
    np.square, np.reciprocal, np.positive, np.tan, np.arcsin, np.arccos, np.arctan,
    np.sinh, np.cosh, np.arcsinh, np.arccosh, np.arctanh, np.log10, np.cbrt,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_functions_of_all_numbers_of_16_bits(function):
    x = BRAINS
    # f64's functions are within an ulp of it, far from any middle of two bf16.
    expected = function(x.astype("f8"))
    expected = expected.astype("f4").astype(ml_dtypes.bfloat16).astype("f4")
    result = function(numera.array(x)).values()
    if function in (np.sin, np.cos, np.tan):
        finite = np.isfinite(x.astype("f4"))
        result, expected = result[finite], expected[finite]
    same = (result == expected) | (np.isnan(result) & np.isnan(expected))
    # f64 to f32 to bf16 rounds twice, which shows in a few of them.
    assert (~same).sum() <= 2
    near = np.isclose(result, expected, rtol=2**-7, equal_nan=True)
    assert near.all()


@pytest.mark.parametrize("function", [np.arctan2, np.hypot, np.copysign, np.fmod])
def test_functions_of_two_numbers(function):
    x, y = (np.random.default_rng(s).permutation(BRAINS)[:20000] for s in (5, 6))
    expected = function(x.astype("f8"), y.astype("f8")).astype("f4")
    expected = expected.astype(ml_dtypes.bfloat16).astype("f4")
    result = function(numera.array(x), numera.array(y)).values()
    same = (result == expected) | (np.isnan(result) & np.isnan(expected))
    if function is np.copysign:  # a NaN has no sign here
        same |= np.isnan(y.astype("f4")) & (abs(result) == abs(expected))
    assert (~same).sum() <= 2


@pytest.mark.parametrize("name", ["bf16", "posit16", "f8E5M2"])
def test_comparisons_give_truth_values(name):
    fmt = numera.format(name)
    codes = np.random.default_rng(4).integers(0, 1 << fmt.width, (2, 5000))
    x, y = (numera.Array(c.astype(fmt.dtype), fmt) for c in codes)
    a, b = x.values("f8"), y.values("f8")
    if name == "posit16":  # NaR equals NaR and is below all
        a, b = (np.where(np.isnan(v), -np.inf, v) for v in (a, b))
    for relation in (
        "less",
        "less_equal",
        "equal",
        "not_equal",
        "greater",
        "greater_equal",
    ):
        ufunc = getattr(np, relation)
        result = ufunc(x, y)
        assert result.dtype == bool and (result == ufunc(a, b)).all()
    assert (np.isnan(x) == np.isnan(x.values())).all()
    assert (np.isfinite(x) == np.isfinite(x.values())).all()


def test_operands_are_broadcast():
    x, y = normal(4, 1, 5), normal(3, 1)
    a, b = numera.array(x, "posit16"), numera.array(y, "posit16")
    for left, right in ((a, b), (b, a), (a, a[0]), (a[:, :, 1], b[0]), (a, b[1, 0])):
        result = left + right
        whole = np.broadcast_shapes(left.shape, right.shape)
        dense = numera.Array(np.broadcast_to(left.codes, whole).copy(), "posit16") + (
            numera.Array(np.broadcast_to(right.codes, whole).copy(), "posit16")
        )
        assert result.shape == whole and (result.codes == dense.codes).all()
    with pytest.raises(numera.Error, match="shape mismatch"):
        a + numera.array(normal(7), "posit16")
    assert (a[:0] + a[:1]).shape == (0, 1, 5)


def test_any_strides():
    x = numera.array(normal(6, 8), "bf16")
    expected = (x.copy() + x.copy()).codes
    for codes in (np.asfortranarray(x.codes), np.repeat(x.codes, 2, 1)[:, ::2]):
        y = numera.Array(codes, "bf16")
        assert ((y + y).codes == expected).all()
    assert ((x.T + x.T).codes == expected.T).all()
    assert ((x[::-1, ::-1] + x[::-1, ::-1]).codes == expected[::-1, ::-1]).all()


def test_numbers_are_rounded_to_the_format_first():
    x = numera.array([1.0, 2.0], "f8E4M3FN")
    assert (x * 0.3).tolist() == (x * numera.array(0.3, "f8E4M3FN")).tolist()
    assert (1 - x).tolist() == [0.0, -1.0]
    assert (x + 2**63).tolist() == [448.0, 448.0]
    y = x * -0.0
    assert np.signbit(y.values()).all() and not np.signbit((x * 0.0).values()).any()
    assert (x > 1).tolist() == [False, True]


def test_results_may_go_to_arrays_that_are_there():
    x = numera.array(normal(5), "bf16")
    y = x.copy()
    z = np.add(x, x, out=y)
    assert z is y and (y == x * 2).all()
    y += x
    assert (y == x * 3).all()
    bits = np.empty(5, bool)
    assert np.less(x, y, out=bits) is bits
    with pytest.raises(numera.Error, match="out is of 'f16', which the result is not"):
        np.add(x, x, out=x.astype("f16"))
    with pytest.raises(numera.Error, match="out is an array of float32, expected one"):
        np.add(x, x, out=np.empty(5, "f4"))


def test_two_formats_of_one_name_are_told_apart():
    @numera.lowering("mul", "posit8")
    def other(x, y):
        return x + y

    a, b = numera.array([3.0], other), numera.array([3.0], "posit8")
    cast = "; cast one of them with .astype"
    for x, y, message in (
        (a, b, f"'posit8' with another 'posit8', of other operations{cast}"),
        (b, numera.array([3.0], "bf16"), f"'bf16' with 'posit8'{cast}"),
    ):
        with pytest.raises(numera.Error) as error:
            x + y
        assert str(error.value) == message
    with pytest.raises(numera.Error, match="out is of another 'posit8', of other op"):
        np.add(b, b, out=a)


def test_numbers_that_print_alike_are_not_one():
    class Percent(float):
        def __repr__(self):
            return f"{self:.0%}"

    a = numera.array([1.0], "bf16")
    found = [(a * Percent(x)).item() for x in (0.251, 0.254, -0.0, 0.0)]
    assert found[:2] == [0.251953125, 0.25390625]
    assert [np.signbit(x) for x in found[2:]] == [True, False]
    zero = numera.array([0.0], "f64")
    with np.printoptions(legacy="1.13"):
        x = np.float32(0.1)
        for _ in range(50):
            assert (zero + x).item() == float(x)
            x = np.nextafter(x, np.float32(1))
    assert (a * True).item() == (a * np.True_).item() == 1
    assert (a * 2**40).item() == 2.0**40 and np.isnan(a * float("nan")).all()
