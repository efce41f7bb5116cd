# SPDX-License-Identifier: MIT
"""Quires that programs return: their words, sums of them, and roundings."""

from fractions import Fraction

import numera
import numpy as np
import pytest

DOT = """
func.func @dot(%a: tensor<?x3x5xf32>, %b: tensor<?x3x5xf32>) -> (tensor<?x3xf32>, tensor<3x?xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x3x5xf32>
  %e = tensor.empty(%n) : tensor<?x3xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x3xf32>) -> tensor<?x3xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(n, i, k) -> (n, i, k)>,
                                        affine_map<(n, i, k) -> (n, i, k)>,
                                        affine_map<(n, i, k) -> (n, i)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<?x3x5xf32>, tensor<?x3x5xf32>) outs(%z : tensor<?x3xf32>) {
  ^bb0(%x: f32, %y: f32, %acc: f32):
    %p = arith.mulf %x, %y : f32
    %q = arith.addf %acc, %p : f32
    linalg.yield %q : f32
  } -> tensor<?x3xf32>
  %t = tensor.empty(%n) : tensor<3x?xf32>
  %u = linalg.transpose ins(%s : tensor<?x3xf32>) outs(%t : tensor<3x?xf32>) permutation = [1, 0]
  return %s, %u : tensor<?x3xf32>, tensor<3x?xf32>
}
"""
FORMATS = ("posit16", "bf16", "f8E4M3FN", "f8E5M2", "f16", "f32", "fixed<4,11>", "fixed<5,3,unsigned>", "posit32")


def program(fmt):
    return numera.compile(DOT, format=fmt, accumulate="quire", quires=[0, 1])


def exact(fmt, a, b):
    """The sums, as fractions, of the numbers that are multiplied."""
    a, b = (np.asarray(numera.quantize(x, fmt), "f8") for x in (a, b))
    number = np.vectorize(lambda x: Fraction(float(x)), otypes=[object])
    return (number(a) * number(b)).sum(-1)


def number_of(words, fmt):
    """What the words of a quire say, by clauses Q1, Q2 and Q4."""
    facts = numera.format(fmt).facts
    has_flags = facts["has_infinity"]
    if has_flags:
        assert words[-1] == 0
        words = words[:-1]
    value = sum(int(word) % 2**64 << 64 * i for i, word in enumerate(words))
    if value >> (64 * len(words) - 1):
        value -= 1 << 64 * len(words)
    return value


@pytest.mark.parametrize("fmt", FORMATS)
def test_words_are_the_sum(fmt):
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 4, 3, 5)).astype("f4") * 4
    if "unsigned" in fmt:
        a, b = abs(a), abs(b)
    y, turned, words, turned_words = program(fmt)(a, b)
    assert words.shape == (4, 3, numera.quire_words(fmt)) and words.dtype == np.int64
    assert np.array_equal(words.transpose(1, 0, 2), turned_words)
    # All by the same power of two.
    sums = exact(fmt, a, b)
    scales = {
        Fraction(number_of(words[at], fmt)) / sums[at]
        for at in np.ndindex(4, 3)
        if sums[at]
    }
    assert len(scales) == 1
    (scale,) = scales
    assert scale.denominator == 1 and scale.numerator & (scale.numerator - 1) == 0
    assert np.array_equal(numera.round_quires(words, fmt).astype("f4"), y)
    assert np.array_equal(numera.round_quires(turned_words, fmt).astype("f4"), turned)


@pytest.mark.parametrize("fmt", [f for f in FORMATS if f not in ("f32", "posit32")])
def test_sums_of_parts_are_the_whole(fmt):
    random = np.random.default_rng(1)
    a, b = random.standard_normal((2, 6, 3, 5)).astype("f4")
    if "unsigned" in fmt:
        a, b = abs(a), abs(b)
    words = program(fmt)(a, b)[2]
    total = words[0]
    for part in words[1:]:
        total = numera.merge_quires(total, part, fmt)
    wanted = exact(fmt, a, b).sum(0)
    got = numera.round_quires(total, fmt)
    # The sums fit in f64, from which the format rounds once.
    assert all(Fraction(float(each)) == each for each in wanted)
    rounded = numera.quantize(wanted.astype("f8"), fmt)
    assert np.array_equal(got, rounded.astype(got.dtype))


def test_what_is_rounded_to():
    words = program("bf16")(np.full((1, 3, 5), 1.1, "f4"), np.full((1, 3, 5), 1.3, "f4"))[2]
    exactly = 5 * float(numera.quantize(np.float32(1.1), "bf16")) * float(
        numera.quantize(np.float32(1.3), "bf16")
    )
    for to in ("bf16", "f8E4M3FN", "posit8", "f32", numera.float(8, 7, rounding="down")):
        got = numera.round_quires(words, "bf16", to=to)
        assert got.ravel()[0] == numera.quantize(np.float64(exactly), to), to
    to = numera.float(8, 7, rounding="stochastic")
    many = np.repeat(words, 2000, 0)
    with numera.stochastic(seed=1):
        got = numera.round_quires(many, "bf16", to=to)
    with numera.stochastic(seed=1):
        assert np.array_equal(got, numera.round_quires(many, "bf16", to=to))
    assert len(np.unique(got)) == 2
    assert abs(got.mean() - exactly) < 3e-4 * exactly


def test_specials():
    def sums(x, fmt):
        a = np.zeros((x.size, 3, 5), "f4")
        a[:, :, 0], a[:, :, 1] = x[:, None], 1
        return program(fmt)(a, np.ones_like(a))[2]

    x = np.array([np.inf, -np.inf, np.nan, 1, 0], "f4")
    for fmt in ("bf16", "f32", "f8E5M2", "posit16"):
        total = numera.merge_quires(sums(x, fmt), sums(-x, fmt), fmt)
        got = numera.round_quires(total, fmt)[:, 0]
        assert np.isnan(got[:3]).all() and list(got[3:]) == [2, 2], fmt
        total = numera.merge_quires(sums(x, fmt), sums(np.ones(5, "f4"), fmt), fmt)
        got = numera.round_quires(total, fmt)[:, 0]
        infinity = np.nan if fmt == "posit16" else np.inf
        wanted = np.array([infinity, -infinity, np.nan, 4, 3])
        assert np.array_equal(got, wanted, equal_nan=True), fmt


def test_what_is_no_sum():
    text = """func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
      %y = math.exp %x : tensor<?xf32>
      return %y : tensor<?xf32>
    }"""
    with pytest.warns(UserWarning, match="result 0 of function 'f' is not one sum"):
        f = numera.compile(text, format="posit8", quires=[0])
    y, words = f(np.arange(4, dtype="f4"))
    assert f.outputs[1].name == "value posit<8,2>"
    assert np.array_equal(numera.round_quires(words, "posit8"), y)


def test_the_value_is_that_of_the_result():
    text = """func.func @f(%x: tensor<3x2xf32>) -> tensor<3xf32> {
      %z = arith.constant dense<0.0> : tensor<3xf32>
      %s = linalg.reduce ins(%x : tensor<3x2xf32>) outs(%z : tensor<3xf32>) dimensions = [1]
        (%a: f32, %b: f32) { %k = arith.addf %a, %b : f32 linalg.yield %k : f32 }
      return %s : tensor<3xf32>
    }"""
    x = np.array([[1, 2**-9], [0.5, 2**-10], [3, 4]], "f4")
    with pytest.warns(UserWarning, match="is not one sum"):
        f = numera.compile(text, format="bf16", accumulate="f32", output_as="storage", quires=[0])
    codes, words = f(x)
    assert np.array_equal(numera.round_quires(words, "bf16", to="f32"), numera.decode(codes, "bf16"))
    with pytest.warns(UserWarning, match="is not one sum"):
        f = numera.compile(text, format="f32", accumulate="f64", quires=[0])
    assert f(x)[1].shape == (3, numera.quire_words("f32"))


def test_refusals(tmp_path):
    with pytest.raises(numera.Error, match="the quire of result 2 was asked for"):
        numera.compile(DOT, format="bf16", quires=[2])
    with pytest.raises(numera.Error, match="option 'quires' is '-1', expected numbers"):
        numera.compile(DOT, format="bf16", quires=[-1])
    words = np.zeros((2, 4), "i8")
    with pytest.raises(numera.Error, match="shapes .* and .*, expected one shape"):
        numera.merge_quires(words, words[:1], "posit16")
    with pytest.raises(numera.Error, match=r"int64\[2, 4\], expected int64 with 10 words"):
        numera.round_quires(words, "bf16")
    with pytest.raises(numera.Error, match="has no quire"):
        numera.quire_words("lns<5,10>")
    with pytest.raises(numera.Error, match="format mxfp4 has no quire"):
        numera.quire_words("mxfp4")
    with pytest.raises(numera.Error, match="'mxfp4' is a scaled format, expected one"):
        numera.round_quires(words, "posit16", to="mxfp4")
    assert numera.merge_quires(words[:0], words[:0], "posit16").shape == (0, 4)
    assert numera.round_quires(words[:0], "posit16").shape == (0,)
