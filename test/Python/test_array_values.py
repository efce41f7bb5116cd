# SPDX-License-Identifier: MIT
"""Values of quantize, encode, decode: those of gfloat, ml_dtypes, the definitions."""

import math
import sys
from pathlib import Path

import gfloat
import ml_dtypes
import numera
import numpy as np
import oracle
import pytest

sys.path.append(str(Path(__file__).parents[1] / "Execution"))

# NumPy's own casts warn of what overflows.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
BRAINS = np.arange(1 << 16, dtype=np.uint16).view(ml_dtypes.bfloat16)
ALL16 = {"f16": HALVES, "bf16": BRAINS}


def normal(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# ---- values -----------------------------------------------------------------


@pytest.mark.parametrize("source", ALL16)
@pytest.mark.parametrize("name", oracle.ML_DTYPES)
def test_all_inputs_of_16_bits_are_rounded_as_by_ml_dtypes(name, source):
    x = ALL16[source]
    dtype = np.dtype(getattr(ml_dtypes, oracle.ML_DTYPES[name]))
    with np.errstate(all="ignore"):
        expected = x.astype(np.float32).astype(dtype)
        if name == "f8E8M0FNU":
            # Of numbers that it holds. Half way between two powers of two ml_dtypes
            # goes up, Numera to the even code (R3); below 2^-126 ml_dtypes goes up
            # from anywhere.
            wide = x.astype("f8")
            x = x[(wide >= 2.0**-126) & (np.frexp(wide)[0] != 0.75)]
            expected = x.astype(np.float32).astype(dtype)
    # Formats without infinities saturate; ml_dtypes has NaN there, if there is one.
    has_nan = not name.startswith(("f4", "f6"))
    codes = numera.encode(x, name, overflow="infinity" if has_nan else None)
    if not has_nan:
        finite = ~np.isnan(x.astype(np.float32))
        codes, expected = codes[finite], expected[finite]
    oracle.same_bits(codes.view(dtype).astype("f4"), expected.astype("f4"))


MODES = {
    "nearest-even": gfloat.RoundMode.TiesToEven,
    "nearest-away": gfloat.RoundMode.TiesToAway,
    "toward-zero": gfloat.RoundMode.TowardZero,
    "up": gfloat.RoundMode.TowardPositive,
    "down": gfloat.RoundMode.TowardNegative,
}


@pytest.mark.parametrize("rounding", MODES)
@pytest.mark.parametrize("name", oracle.GFLOAT)
def test_every_rounding_is_that_of_gfloat(name, rounding):
    x = np.concatenate([HALVES.astype("f8"), BRAINS.astype("f8")])
    x = x[np.isfinite(x)]
    expected = gfloat.round_ndarray(oracle.GFLOAT[name], x, MODES[rounding], sat=True)
    for dtype in ("f4", "f8") if rounding in ("nearest-even", "up") else ("f8",):
        y = numera.quantize(
            x.astype(dtype), name, rounding=rounding, overflow="saturate"
        )
        oracle.same_bits(y, expected.astype(dtype))


@pytest.mark.parametrize("name", oracle.GFLOAT)
def test_every_code_has_the_value_that_gfloat_reads(name):
    info = oracle.GFLOAT[name]
    codes = np.arange(1 << info.bits, dtype=numera.format(name).dtype)
    expected = gfloat.decode_ndarray(info, codes.astype(np.int64))
    values = numera.decode(codes, name, "f8")
    oracle.same_bits(values, expected)
    oracle.same_bits(numera.decode(codes, name), expected.astype("f4"))
    # Back to the codes, but for NaNs, of which there is one.
    number = ~np.isnan(expected)
    assert (numera.encode(values, name)[number] == codes[number]).all()


@pytest.mark.parametrize("bits", [6, 8, 16])
@pytest.mark.parametrize("source", ALL16)
def test_posits_are_those_of_the_standard(bits, source):
    x = ALL16[source].astype("f8")
    x = x[np.isfinite(x)]
    expected = oracle.posit_codes(x, bits)
    name = f"posit<{bits},2>"
    for dtype in (ml_dtypes.bfloat16, "f2", "f4", "f8"):
        some = x.astype(dtype).astype("f8") == x
        codes = numera.encode(x[some].astype(dtype), name)
        assert (codes == expected[some]).all()
    values = oracle.posit_values(bits)
    codes = np.arange(1 << bits, dtype=numera.format(name).dtype)
    oracle.same_bits(numera.decode(codes, name, "f8"), values)
    oracle.same_bits(numera.quantize(x, name), values[expected])


def test_the_type_of_the_input_rounds_nothing_more():
    # 1 + 2^-8 + 2^-30 is above the middle of two bf16; its f32 is on it.
    x = np.array([1 + 2**-8 + 2**-30, 1 + 2**-8])
    assert numera.quantize(x, "bf16").tolist() == [1 + 2**-7, 1]
    assert numera.encode(np.array([2**53 + 1]), "f64").view("f8")[0] == 2**53
    assert numera.decode(numera.encode([2**-24 * 3], "bf16"), "bf16", "f2")[0] == (
        2**-24 * 3
    )


def test_integers_are_rounded_once():
    assert numera.decode(
        numera.encode(np.int8([-128, 127]), "f16"), "f16"
    ).tolist() == [
        -128,
        127,
    ]
    x = np.array([2**63 - 1, -(2**63), 257, 2**24 + 1])
    values = numera.decode(numera.encode(x, "bf16"), "bf16")
    assert values.tolist() == [2.0**63, -(2.0**63), 256, 2.0**24]
    unsigned = np.array([2**64 - 1], np.uint64)
    assert numera.decode(numera.encode(unsigned, "f32"), "f32")[0] == 2.0**64


ODD = 2**60 + 1
"""No number of f64."""


def test_integers_of_python_are_exact():
    for x in ([ODD, -ODD], (ODD, -ODD), [np.int64(ODD), -ODD], np.array([ODD, -ODD])):
        codes = numera.encode(x, "fixed<63,0>")
        assert codes.view("i8").tolist() == [ODD, -ODD]
        assert numera.array(x, "fixed<63,0>").codes.tolist() == codes.tolist()
    assert numera.encode(ODD, "fixed<63,0>") == ODD
    most = 2**64 - 1
    for x in ([most, 1], [[most], [1]], np.array([most, 1], "u8")):
        codes = numera.encode(x, "fixed<64,0,unsigned>")
        assert codes.ravel().tolist() == [most, 1]
    zero = numera.array([0], "fixed<64,0,unsigned>")
    assert (zero + most).codes.tolist() == [most]
    # 2^62 + 2^38 + 1 is above the middle of two f32, and its f64 is on it.
    above = 2**62 + 2**38 + 1
    assert numera.array([above], "f32").item() == 2.0**62 + 2.0**39
    # With floats beside them they are f64, if that has them.
    assert numera.array([2**60, 0.5], "posit32").tolist() == [2.0**60, 0.5]
    assert numera.array(2**70, "bf16").item() == 2.0**70
    for x, what, number in (
        ([ODD, 0.5], "a list", ODD),
        ([2**64 + 1, 1], "a list", 2**64 + 1),
        ([-1, 2**64 - 1], "a list", 2**64 - 1),
        (2**70 + 1, "a number", 2**70 + 1),
    ):
        with pytest.raises(numera.Error) as error:
            numera.encode(x, "bf16")
        assert str(error.value) == (
            f"{what} has {number}, which is no number of f64; "
            f"round it first, as float({number})"
        )


def test_integers_leave_exactly():
    x = numera.array([ODD, -ODD], "fixed<63,0>")
    assert x.tolist() == [ODD, -ODD] and x.item(1) == x[1].item() == -ODD
    assert int(x[0]) == ODD and f"{x[0]}" == str(ODD)
    for dtype in ("i8", ">i8", np.int64):
        for found in (x.astype(dtype), np.asarray(x, dtype)):
            assert found.dtype == np.dtype(dtype) and found.tolist() == [ODD, -ODD]
    assert repr(x[:1]) == f"numera.array([{ODD}], 'fixed<63,0>')"
    wide = numera.array([2**64 - 1], "fixed<64,0,unsigned>")
    assert wide.tolist() == wide.astype("u8").tolist() == [2**64 - 1]
    takum = numera.array([2**54 + 2], "takum<64>")  # which has 55 bits there
    assert int(takum[0]) == takum.astype("i8")[0] == 2**54 + 2
    posits = numera.array([-2.5, 2.0**100], "posit<64,2>")
    assert [int(x) for x in posits] == [-2, 2**100]
    assert type(numera.array([3], "fixed<7,0>").item()) is float


@pytest.mark.parametrize("name", ["f32", "posit32", "posit<64,2>", "takum<64>"])
def test_integers_of_codes_are_truncated_and_saturated(name):
    x = numera.array([math.nan, 300, -3.75, 1e30, -1e30, -0.5], name)
    for kind in ("u1", "i1", "u2", "i4", "i8", "u8", ">i4"):
        limits = np.iinfo(kind)
        expected = [0, 300, -3, limits.max, limits.min, 0]
        found = x.astype(kind)
        assert found.dtype == np.dtype(kind)
        assert found.tolist() == [min(max(v, limits.min), limits.max) for v in expected]
        assert np.array_equal(np.asarray(x, kind), found)


def test_stochastic_rounding_draws_by_the_place_in_row_major_order():
    import stochastic_reference

    x = normal(13, 21)
    draws = stochastic_reference.Draws(seed=5, step=9, bits=32)
    bits = x.view(np.uint32)
    random = np.array([draws(1, 0, i) for i in range(x.size)]).reshape(x.shape)
    up = random < (bits.astype(np.int64) & 0xFFFF) << 16
    expected = ((bits >> 16) + up).astype(np.uint16)
    options = {"rounding": "stochastic", "seed": 5, "step": 9}
    assert (numera.encode(x, "bf16", **options) == expected).all()
    values = (expected.astype(np.uint32) << 16).view(np.float32)
    layouts = [
        x,
        np.asfortranarray(x),
        np.repeat(x, 2, 1)[:, ::2],
        x[::-1].copy()[::-1],
    ]
    for y in layouts:
        assert (numera.quantize(y, "bf16", **options) == values).all()
        assert (numera.quantize(y, "bf16", threads=1, **options) == values).all()
    few = numera.quantize(x, "bf16", rounding="stochastic", random_bits=3, seed=1)
    assert set(np.unique(np.abs(few - x) < np.abs(x) * 2.0**-7)) == {True}
    assert (few != numera.quantize(x, "bf16")).any()


# ---- scaled formats ---------------------------------------------------------


def test_mx_blocks_have_the_scales_of_the_specification():
    x = normal(5, 80) * 9
    x[1, 32:64] = 0
    q = numera.encode(x, "mxfp8")
    blocks = np.zeros((5, 96), "f4")
    blocks[:, :80] = x
    blocks = blocks.reshape(5, 3, 32)
    amax = np.abs(blocks).max(2)
    scales = np.where(amax == 0, 2.0**-127, 2.0 ** (np.frexp(amax)[1] - 9.0))
    assert q.scales.shape == (5, 3) and (q.scales == scales).all()
    assert q.codes.shape == x.shape and q.format == numera.format("mxfp8")
    scaled = (
        (blocks / scales[..., None]).clip(-448, 448).astype(ml_dtypes.float8_e4m3fn)
    )
    expected = (scaled.astype("f4") * scales[..., None]).reshape(5, 96)[:, :80]
    expected = expected.astype("f4")
    oracle.same_bits(q.values(), expected)
    oracle.same_bits(numera.quantize(x, "mxfp8"), expected)
    oracle.same_bits(numera.decode(q, "mxfp8"), expected)
    # Along another axis, which need not be the last one; in other types.
    turned = np.ascontiguousarray(x.T)
    oracle.same_bits(numera.quantize(turned, "mxfp8", axis=0), expected.T)
    oracle.same_bits(numera.quantize(x.T, "mxfp8", axis=0), expected.T)
    oracle.same_bits(numera.quantize(x.astype("f8"), "mxfp8"), expected.astype("f8"))
    both = np.stack([x, x])
    oracle.same_bits(numera.quantize(both, "mxfp8", axis=-1)[1], expected)
    oracle.same_bits(numera.quantize(both, "mxfp8", out=both)[0], expected)


def test_integers_with_one_scale_and_with_one_for_each_channel():
    x = normal(6, 8)
    for axis, amax in ((None, np.abs(x).max()), (1, np.abs(x).max(0))):
        q = numera.encode(x, "scaled<i8,rule=absmax>", axis=axis)
        scale = (amax / np.float32(127)).astype("f4")
        assert (q.scales == scale).all() and q.codes.dtype == np.uint8
        codes = np.rint(x / scale).astype(np.int8)
        assert (q.codes.view(np.int8) == codes).all()
        oracle.same_bits(q.values(), codes.astype("f4") * scale)
        oracle.same_bits(
            numera.quantize(x, "scaled<i8,rule=absmax>", axis=axis),
            codes.astype("f4") * scale,
        )


def test_zero_points_and_scales_of_a_tensor_are_there():
    x = normal(3, 40) + 1
    q = numera.encode(x, "scaled<u8,rule=min-max>")
    assert q.zero_codes.shape == () and q.tensor_scale is None
    assert np.abs(q.values() - x).max() < np.ptp(x) / 255
    q = numera.encode(x, "nvfp4")
    assert q.scales.shape == (3, 3) and q.tensor_scale.shape == ()
    assert (q.values() == numera.quantize(x, "nvfp4")).all()
    with pytest.raises(numera.Error, match="rounding is not for scaled formats"):
        numera.quantize(x, "mxfp8", rounding="up")
    with pytest.raises(numera.Error, match="axis is 2, expected one of an array of 2"):
        numera.quantize(x, "mxfp8", axis=2)
    assert numera.quantize(x[:0], "mxfp8").shape == (0, 40)


def test_methods_move_codes_as_numpys():
    x = numera.array(np.arange(12.0).reshape(3, 1, 4), "posit16")
    for move in (
        lambda a: a.squeeze(1),
        lambda a: a.swapaxes(0, 2),
        lambda a: a.take([2, 0], axis=0),
        lambda a: a.take(5),
    ):
        moved = move(x)
        assert (moved.values() == move(x.values())).all()
        assert moved.format == x.format
    with pytest.raises(numera.Error, match=r"np\.linalg\.svd is not for arrays"):
        np.linalg.svd(x)


# ---- codes and integers of other types --------------------------------------


@pytest.mark.parametrize("name", ["fixed<2,0,unsigned>", "f4E2M1FN", "float<5,4>"])
def test_codes_with_bits_above_the_width_are_refused(name):
    fmt = numera.format(name)
    codes = np.array([1, 1 << fmt.width, 3], fmt.dtype)
    message = f"codes of '{name}' are 0 to {(1 << fmt.width) - 1}, found"
    for _ in range(2):  # also when such codes were decoded before
        assert numera.decode(codes[::2], name).shape == (2,)
        for given in (codes, codes.tolist(), codes[1]):
            with pytest.raises(numera.Error) as error:
                numera.decode(given, name)
            assert str(error.value) == f"{message} {1 << fmt.width}"
    signed = np.array([-1], f"i{fmt.dtype.itemsize}")
    with pytest.raises(numera.Error) as error:
        numera.decode(signed, name)
    assert str(error.value) == f"{message} -1"
    assert numera.decode(codes[:0], name).size == 0


def test_integers_of_few_bits_are_saturated():
    x = numera.array([300.0, -300, np.nan, 7.9, -1.5], "bf16")
    for name, expected in (
        ("int4", [7, -8, 0, 7, -1]),
        ("uint4", [15, 0, 0, 7, 0]),
        ("int2", [1, -2, 0, 1, -1]),
        ("uint2", [3, 0, 0, 3, 0]),
    ):
        dtype = np.dtype(getattr(ml_dtypes, name))
        assert x.astype(dtype).dtype == dtype
        assert x.astype(dtype).astype(int).tolist() == expected
        assert np.asarray(x, dtype).astype(int).tolist() == expected


def test_tensors_of_codes_are_decoded_to_bf16():
    torch = pytest.importorskip("torch")
    codes = torch.tensor([0, 56], dtype=torch.uint8)
    expected = torch.tensor([0.0, 1.0], dtype=torch.bfloat16)
    for dtype in ("bf16", ml_dtypes.bfloat16):
        found = numera.decode(codes, "f8E4M3FN", dtype)
        assert found.dtype == torch.bfloat16 and torch.equal(found, expected)
        out = torch.empty_like(expected)
        for given in (codes, codes.numpy()):
            assert numera.decode(given, "f8E4M3FN", dtype, out=out) is out
            assert torch.equal(out, expected)
