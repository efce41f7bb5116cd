# SPDX-License-Identifier: MIT
"""Means, medians and their like of arrays of codes, against exact ones."""

from fractions import Fraction

import numera
import numpy as np
import pytest

BETWEEN = [
    *("float<4,3,fn>", "float<8,7,up>", "float<5,10,to-odd>", "float<8,0,fnu>"),
    *("posit<8,2,down>", "takum<8,up>", "fixed<3,4>", "fixed<0,8,unsigned,down>"),
    *("fixed<7,0,wrap>", "fixed<3,4,toward-zero>", "fixed<2,3,nearest-away>"),
]


def odd(x):
    """A float whose last bit is 1, unless it is exact: it may be rounded again."""
    near = float(x)
    if Fraction(near) == x or np.float64(near).view(np.uint64) & np.uint64(1):
        return near
    return float(np.nextafter(near, np.inf if x > near else -np.inf))


def quotient(a, b, mode):
    """The integer that a / b is rounded to."""
    low = a // b
    if mode == "nearest-even":
        return round(Fraction(a, b))
    return low if mode == "down" or mode == "toward-zero" and a > 0 else -(-a // b)


@pytest.mark.parametrize("name", BETWEEN)
def test_what_lies_between_two_is_rounded_once(name):
    values = numera.format(name).values()
    values = values[np.isfinite(values)]
    pairs = np.sort(np.random.default_rng(2).choice(values, (40, 2)), axis=1)
    a = numera.array(pairs, name)
    for part in (0.5, 0.25, 0.3, 0.9):
        t = Fraction(part)
        exact = [Fraction(x) + (Fraction(y) - Fraction(x)) * t for x, y in pairs]
        found = np.quantile(a, part, 1)
        expected = numera.array([odd(x) for x in exact], name)
        assert np.array_equal(found, expected)
        assert np.array_equal(np.percentile(a, 100 * part, 1)[:1], found[:1])
    assert np.array_equal(np.median(a, 1), np.quantile(a, 0.5, 1))


def test_between_numbers_far_apart_and_of_wide_formats():
    big, small = 2.0**100, 2.0**-100
    a = numera.array([big, small + big / 2**60], "float<8,23,up>")
    assert np.median(a).item() == big / 2 * (1 + 2.0**-23)
    a = numera.array([-1.7e308, 1.7e308, np.inf], "f64")
    assert np.median(a[:2]).item() == 0 and np.quantile(a[:2], 0.75).item() == 8.5e307
    assert np.median(a[1:]).item() == np.quantile(a[1:], 0.5).item() == np.inf
    assert np.median(a[2:]).item() == np.quantile(a[[2, 2]], 0.5).item() == np.inf
    for name in ("posit<64,2>", "takum<64>", "float<15,48>", "lns<4,3>"):
        most = abs(numera.array([1e300], name))
        assert np.median(np.concatenate([-most, most])).item() == 0
        ends = numera.array([100, 120], name)
        for part in (0.1, 0.5, 0.8):
            assert ends[0] <= np.quantile(ends, part) <= ends[1]


@pytest.mark.parametrize("mode", ["nearest-even", "down", "up", "toward-zero"])
@pytest.mark.parametrize(
    "name", ["fixed<31,32,{}>", "fixed<63,0,{}>", "fixed<64,0,{},unsigned>"]
)
def test_fixed_point_of_64_bits_has_exact_means_and_medians(name, mode):
    name = name.format(mode)
    codes = np.random.default_rng(4).integers(0, 2**64, (20, 8), np.uint64)
    a = numera.Array(codes, name)
    signed = codes if "unsigned" in name else codes.view(np.int64)
    ints = [sorted(row) for row in signed.tolist()]
    mask = 2**64 - 1
    mean = [quotient(sum(row), 8, mode) & mask for row in ints]
    assert np.mean(a, 1).codes.tolist() == mean
    assert np.mean(a.T, 0, keepdims=True).codes.tolist() == [mean]
    some = np.arange(8) < 5
    part = [quotient(sum(row[:5]), 5, mode) & mask for row in signed.tolist()]
    assert np.mean(a, 1, where=some).codes.tolist() == part
    median = [quotient(row[3] + row[4], 2, mode) & mask for row in ints]
    assert np.median(a, 1).codes.tolist() == median
    assert np.array_equal(np.quantile(a, 0.5, 1), np.median(a, 1))


@pytest.mark.parametrize("rule", ["", ",wrap", ",unsigned", ",stochastic", ",down"])
def test_statistics_of_fixed_point_are_within_its_numbers(rule):
    a = numera.array([[100.0, 120.0], [90.0, 126.0]], f"fixed<7,0{rule}>")
    for function in (np.mean, np.median, np.average, np.nanmean):
        assert function(a[0]).item() == 110
        assert function(a, 1).tolist() == [110, 108]
    assert np.mean(a, 1, where=[True, False]).tolist() == [100, 90]
    assert np.mean(a, where=[[True, False], [True, True]]).item() in (105, 106)
    assert a[0].mean().item() == numera.mean(a[0], accumulate="quire").item() == 110
    assert np.average(a[0], weights=[100, 100]).item() == 110
    assert np.std(a[0]).item() == 10 and np.std(a[1]).item() == 18
    assert np.linalg.norm(a[0] - 40).item() == 100
    assert np.percentile(a[0], 50).item() == 110
    # Where each step is to be rounded, the sum is.
    if rule != ",stochastic":
        mean = {",wrap": -18, ",down": 63}.get(rule, 64)
        assert a[0].mean(accumulate="same").item() == mean


def test_the_exact_sum_of_a_mean_is_divided():
    a = numera.array([2.0**56] * 3, "posit16")
    assert numera.mean(a, accumulate="quire").item() == 2.0**56
    a = numera.array([448.0] * 5, "f8E4M3FN")
    assert numera.mean(a, accumulate="quire").item() == 448
    assert a.mean(accumulate="quire", where=np.arange(5) > 0).item() == 448


def test_the_variance_of_an_unsigned_format_is_of_distances():
    for name in ("fixed<3,4,unsigned>", "float<4,3,unsigned>"):
        a = numera.array([[1.0, 3.0], [2.0, 2.0]], name)
        assert np.var(a, 1).tolist() == [1, 0] and np.std(a[0]).item() == 1
        assert np.nanvar(a[0]).item() == 1 and np.var(a[0], ddof=1).item() == 2
