# SPDX-License-Identifier: MIT
"""Status flags where an operation's numbers tell that it raises none.

The counts of numbers together are those of each beside a NaN, for which every element
is asked (what that counts is checked against fractions, test/Execution/status_flags.py).
"""

import numpy as np
import pytest

import numera
from products import product

KINDS = ("overflow", "underflow", "invalid")
FORMATS = ["f8E4M3FN", "f8E5M2", "posit8", "bf16", "f16"]

CAST = """
func.func @f(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = arith.negf %x : tensor<?xf32>
  return %y : tensor<?xf32>
}"""
SUM = """
func.func @f(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %z = arith.addf %x, %y : tensor<?xf32>
  return %z : tensor<?xf32>
}"""
PRODUCT = product(2, 2, 1)


def counts(program, *inputs):
    """Of each operation and kind."""
    rows = program.stats(*inputs).operations
    return np.array([[row[kind] for kind in KINDS] for row in rows])


def edges(format):
    """Numbers around the format's limits, and around their square roots."""
    info = numera.format(format).finfo
    smallest = float(info.smallest_subnormal)
    least, most = np.frexp(smallest)[1], np.frexp(float(info.max))[1]
    normal = np.frexp(float(info.smallest_normal or smallest))[1]
    near = {e + d for e in (least, normal, most, 0) for d in range(-3, 3)}
    near |= {e // 2 + d for e in (least, normal, most) for d in range(-4, 4)}
    powers = sorted(e for e in near if -148 < e <= 127)
    return [np.float32(np.ldexp(m, e)) for e in powers for m in (0.5, 0.53125, 0.9375)]


@pytest.mark.parametrize("format", FORMATS)
def test_casts(format):
    program = numera.compile(CAST, format=format)
    found = 0
    for value in edges(format):
        together = counts(program, np.array([value, -value], "f4"))
        apart = sum(
            counts(program, np.array([v, np.nan], "f4")) for v in (value, -value)
        )
        assert (together == apart).all(), (value, together, apart)
        found += together.any()
    assert 0 < found < len(edges(format))


@pytest.mark.parametrize("format", FORMATS)
def test_sums(format):
    program = numera.compile(SUM, format=format)
    values = edges(format)
    for x in values:
        for y in (x, values[-1], values[-4], -values[-7], values[0]):
            together = counts(program, np.array([x, y], "f4"), np.array([y, x], "f4"))
            apart = sum(
                counts(
                    program, np.array([a, np.nan], "f4"), np.array([b, np.nan], "f4")
                )
                for a, b in ((x, y), (y, x))
            )
            assert (together == apart).all(), (x, y, together, apart)


@pytest.mark.parametrize("accumulate", ["f32", "same"])
@pytest.mark.parametrize("format", FORMATS)
def test_products(format, accumulate):
    program = numera.compile(PRODUCT, format=format, accumulate=accumulate)
    values = edges(format)
    for x in values[::2]:
        for y in (x, np.float32(1.5) * x, values[-1], values[2]):
            w = np.array([[y], [y]], "f4")
            together = counts(program, np.array([[x, x], [x, x]], "f4"), w)
            apart = 2 * counts(program, np.array([[x, x], [np.nan, np.nan]], "f4"), w)
            together[1] *= 2  # what y is cast to, in both
            assert (together == apart).all(), (x, y, together, apart)


MANY = 200


@pytest.mark.parametrize("isConstant", [False, True])
@pytest.mark.parametrize(
    "format",
    ["f8E4M3FN", "f8E5M2", "posit8", "posit<8,0>", "posit16", "posit<16,3>", "bf16", "float<3,2,finite>",
     "float<2,1,finite>", "float<4,3,p3109>", "float<4,3,fn,saturate>", "float<4,3,flush>"],
)
def test_products_of_many(format, isConstant):
    """Sums that grow until terms are half of their ulp, and products that underflow."""
    random = np.random.default_rng(1)
    info = numera.format(format).finfo
    low, high = np.log2(float(info.smallest_subnormal)), np.log2(float(info.max))
    w = np.ldexp(random.choice([0.5, 0.53125, 0.75, 0.9375], (MANY, 1)), random.integers(-3, 1, (MANY, 1))).astype("f4")
    if isConstant:  # terms may all be the largest
        w = np.full_like(w, 0.9375)
    model = product(2, MANY, 1, w.tolist() if isConstant else None)
    program = numera.compile(model, format=format, accumulate="same")
    found = set()
    for scale in sorted(set(np.linspace(low, high, 40).round().astype(int))):
        x = np.ldexp(random.choice([0.5, 0.625, 0.96875], (2, MANY)), scale + random.integers(-2, 1, (2, MANY))).astype("f4")
        if isConstant:
            x[:] = np.ldexp(0.96875, scale)
        elif scale % 2:
            x *= random.choice([-1, 1], x.shape)
        given = [] if isConstant else [w]
        # A row of the largest number has every step asked.
        large = np.full_like(x, float(info.max))
        together = counts(program, x, *given)
        apart = sum(counts(program, np.stack([row, large[0]]), *given) for row in x)
        apart -= counts(program, large, *given)
        assert (together == apart).all(), (scale, together, apart)
        found.add(tuple(together[-1] > 0))
    assert len(found) > 1


def test_sums_of_many():
    program = numera.compile(
        """
        func.func @f(%x: tensor<1x64xf32>) -> tensor<1xf32> {
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<1xf32>
          %i = linalg.fill ins(%zero : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
          %s = linalg.reduce {arith.addf}
              ins(%x : tensor<1x64xf32>) outs(%i : tensor<1xf32>) dimensions = [1]
          return %s : tensor<1xf32>
        }""",
        format="f16",
        accumulate="same",
    )
    rows = program.stats(np.full((1, 64), 2000, "f4")).operations
    # Of the sums of 2000, the 33rd is the first beyond 65504.
    assert [(row["operation"], row["overflow"]) for row in rows] == [("cast", 0), ("add", 1)]


@pytest.mark.parametrize("format", ["takum<12>", "takum<13>", "takum<16>", "posit<16,2>"])
def test_casts_from_f64(format):
    program = numera.compile(CAST.replace("f32", "f64"), format=format, replace="f64")
    least = np.log2(float(numera.format(format).finfo.smallest_subnormal))
    for value in np.exp2(np.floor(least) + np.arange(-3, 4))[:, None] * [1, 1.03125, 1.9375]:
        for x in value:
            together = counts(program, np.array([x, -x]))
            apart = sum(counts(program, np.array([v, np.nan])) for v in (x, -x))
            assert (together == apart).all(), (x, together, apart)


def test_products_of_f32_that_round_otherwise():
    dynamic = """
        func.func @f(%x: tensor<?x2xf32>, %y: tensor<2x1xf32>) -> tensor<?x1xf32> {
          %zero = arith.constant 0.0 : f32
          %c = arith.constant 0 : index
          %d = tensor.dim %x, %c : tensor<?x2xf32>
          %e = tensor.empty(%d) : tensor<?x1xf32>
          %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x1xf32>) -> tensor<?x1xf32>
          %z = linalg.matmul ins(%x, %y : tensor<?x2xf32>, tensor<2x1xf32>)
              outs(%i : tensor<?x1xf32>) -> tensor<?x1xf32>
          return %z : tensor<?x1xf32>
        }"""
    given = np.array([[1e20, 1e20], [1, 1]], "f4"), np.full((2, 1), 1e20, "f4")
    fixed, other = (
        counts(
            numera.compile(model, format="f32", rounding="nearest-away", accumulate="f32"),
            *given,
        )
        for model in (PRODUCT, dynamic)
    )
    assert (fixed == other).all() and fixed.any()


def test_a_loop_that_another_input_determines():
    """Squares of windows: the factors alone do not tell how long they are."""
    program = numera.compile(
        """
        func.func @f(%a: tensor<10xf32>, %window: tensor<3xf32>) -> tensor<8xf32> {
          %zero = arith.constant 0.0 : f32
          %e = tensor.empty() : tensor<8xf32>
          %c = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
          %s = linalg.generic {
              indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
              iterator_types = ["parallel", "reduction"]}
              ins(%a, %window : tensor<10xf32>, tensor<3xf32>) outs(%c : tensor<8xf32>) {
          ^bb0(%x: f32, %y: f32, %sum: f32):
            %m = arith.mulf %x, %x : f32
            %t = arith.addf %sum, %m : f32
            linalg.yield %t : f32
          } -> tensor<8xf32>
          return %s : tensor<8xf32>
        }""",
        format="f8E4M3FN",
        accumulate="same",
    )
    # 0.03125^2 and 0.0546875^2 are tiny, and no multiples of 2^-9; 0.0625^2 is one.
    x = np.array([1, 0.03125, 1, 0.0625, 1, 0.0546875, 1, 1, 1, 1], "f4")
    rows = program.stats(x, np.zeros(3, "f4")).operations
    (row,) = [row for row in rows if row["operation"] == "mac"]
    expected = sum(int(value in (0.03125, 0.0546875)) for i in range(8) for value in x[i : i + 3])
    assert (row["count"], row["underflow"], row["overflow"]) == (24, expected, 0)


@pytest.mark.parametrize("format", ["takum<8>", "takum<9>", "posit<16,4>"])
def test_products_of_a_format_with_smaller_numbers_than_f32(format):
    policy = {"default": format, "weights": "f8E4M3FN", "activations": "posit8", "accumulate": "same"}
    program = numera.compile(PRODUCT, policy=policy)
    for x in (1, 64, 2**-20):
        rows = program.stats(np.full((2, 2), x, "f4"), np.full((2, 1), 0.5, "f4")).operations
        (row,) = [row for row in rows if row["operation"] == "mac"]
        assert [row[kind] for kind in KINDS] == [0, 0, 0], (x, row)
