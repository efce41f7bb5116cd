# SPDX-License-Identifier: MIT
"""Exact sums that are kept in floats have the bits of those in quires."""

import numera
import numpy as np
import pytest

# Where run time tells how many products a sum has, it is in a quire.
MODEL = """
func.func @product(%a: tensor<AxKxf32>, %b: tensor<KxBxf32>, %c: tensor<Bxf32>)
    -> tensor<AxBxf32> {
  %i = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<AxBxf32>
  BEGIN
  %y = linalg.matmul ins(%a, %b : tensor<AxKxf32>, tensor<KxBxf32>)
      outs(%s : tensor<AxBxf32>) -> tensor<AxBxf32>
  return %y : tensor<AxBxf32>
}
"""
BIAS = (
    "%s = linalg.broadcast ins(%c : tensor<Bxf32>) outs(%e : tensor<AxBxf32>) "
    "dimensions = [0]"
)
EMPTY = (
    "%s = linalg.fill ins(%zero : f32) outs(%e : tensor<AxBxf32>) -> tensor<AxBxf32>"
)


def program(format, rows, columns, terms, begin=BIAS):
    text = MODEL.replace("BEGIN", begin).replace("AxB", f"{rows}x{columns}")
    text = text.replace("Ax", f"{rows}x").replace("Bx", f"{columns}x")
    text = text.replace("xB", f"x{columns}").replace("Kx", f"{terms}x")
    text = text.replace("xKx", f"x{terms}x")
    return numera.compile(text, format=format, accumulate="quire")


def sums_of(compiled):
    """Whether sums are quires in what is computed."""
    return "quire" in compiled.mlir("lowered")


FORMATS = [
    "fixed<3,4>", "fixed<7,0>", "fixed<7,8>", "fixed<0,8,unsigned>", "fixed<2,1>",
    "fixed<3,4,toward-zero>", "fixed<15,0,wrap>", "f8E4M3FN", "float<2,3>",
    "float<4,3>", "f4E2M1FN", "float<3,2,finite>", "posit<8,0>", "posit<6,1>",
    "f8E4M3FNUZ", "float<2,1,unsigned>",
]  # fmt: skip


def known(name):
    try:
        return numera.format(name)
    except numera.Error:
        pytest.skip(f"no format {name}")


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize(("terms", "begin"), [(5, BIAS), (300, EMPTY)])
def test_bits_are_those_of_quires(name, terms, begin):
    format = known(name)
    random = np.random.default_rng(terms)
    values = format.values()
    special = values[~np.isfinite(values)] if name[0] != "p" else values[:0]
    a, b, c = (
        random.choice(values[np.isfinite(values)], size).astype("f4")
        for size in ((17, terms), (terms, 19), (19,))
    )
    for number in special:
        a[random.integers(17), random.integers(terms)] = number
    a[3], b[:, 4], c[7] = 0, -0.0, -0.0
    floats = program(format, 17, 19, terms, begin)
    quires = program(format, 17, 19, "?", begin)
    np.testing.assert_array_equal(
        np.asarray(floats(a, b, c)).view("u4"), np.asarray(quires(a, b, c)).view("u4")
    )


@pytest.mark.parametrize("terms", [1023, 1024, 1025, 4000])
@pytest.mark.parametrize("begin", [BIAS, EMPTY])
def test_sums_of_the_largest_products(terms, begin):
    """Up to and beyond what f32 holds, by integers: in units of 1/16, rounded to
    nearest, ties to even."""
    random = np.random.default_rng(terms)
    a = np.full((4, terms), -128)
    a[1:] = random.integers(-128, 128, (3, terms))
    b = np.where(random.random((terms, 3)) < 0.5, -128, 127)
    b[-3:, 0], b[:-3, 0] = random.integers(-128, 128, 3), -a[1, :-3]
    b[terms // 2 :, 0] *= -1
    b = b.clip(-128, 127)
    c = np.array([-128, 127, 1])
    exact = a.astype(object) @ b.astype(object)
    if begin is BIAS:
        exact = exact + c.astype(object) * 16
    near = np.vectorize(lambda n: (n + 7 + (n >> 4 & 1)) >> 4, otypes=[int])(exact)
    expected = near.clip(-128, 127) / 16
    given = ((x / 16).astype("f4") for x in (a, b, c))
    found = program("fixed<3,4>", 4, 3, terms, begin)(*given)
    np.testing.assert_array_equal(found, expected)


def test_all_bits_of_a_sum_count_in_another_format():
    """A sum beyond a format that wraps, rounded to one that has it, and to one that
    wraps later or sooner."""
    words = np.array([[300], [-300], [70]])
    for to, expected in {
        "fixed<63,0>": [300, -300, 70],
        "f32": [300, -300, 70],
        "fixed<8,0,wrap>": [300 - 512, 512 - 300, 70],
        "fixed<7,0,wrap>": [44, -44, 70],
        "fixed<5,0,wrap>": [-20, 20, 6],
    }.items():
        found = numera.round_quires(words, "fixed<7,0,wrap>", to)
        np.testing.assert_array_equal(np.asarray(found, "f8"), expected, to)


def test_what_stays_in_quires():
    assert not sums_of(program("fixed<3,4>", 4, 3, 100))
    assert not sums_of(program("fixed<7,8>", 4, 3, 100))
    assert sums_of(program("fixed<7,8>", 4, 3, "?"))
    for name in ("posit16", "bf16", "fixed<23,8>", "fixed<3,4,stochastic>"):
        assert sums_of(program(name, 4, 3, 100)), name


@pytest.mark.parametrize(
    "name", ["fixed<3,4>", "fixed<7,8>", "fixed<3,4,wrap>", "f8E4M3FN", "posit<8,0>"]
)
def test_flags_and_layers_are_counted_alike(name):
    values = numera.format(name).values()
    values = values[np.isfinite(values)]
    random = np.random.default_rng(1)
    shapes = (17, 300), (300, 19), (19,)
    given = [random.choice(values, size).astype("f4") for size in shapes]
    found = [program(name, 17, 19, terms) for terms in (300, "?")]
    floats, quires = (each.stats(*given).operations for each in found)
    assert floats == quires and any(row["overflow"] for row in floats)
    floats, quires = (each.layers(*given) for each in found)
    assert floats == quires
