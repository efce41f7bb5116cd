# SPDX-License-Identifier: MIT
"""Formats of more than 64 bits: double-double and binary128 of C libraries.

The oracle is Python's integers and fractions.
"""

import pathlib
from fractions import Fraction

import numera
import numpy as np
import pytest

WIDE = pathlib.Path(__file__).parent.parent / "Execution" / "Inputs" / "wide"
PAIR = np.dtype([("hi", "f8"), ("lo", "f8")])
SUM = """
func.func @sum(%x: tensor<?xf64>, %y: tensor<?xf64>) -> tensor<?xf64> {
  %s = arith.addf %x, %y : tensor<?xf64>
  return %s : tensor<?xf64>
}
"""
CODES = """
!dd = !numera.num<opaque<"dd", 128>>
func.func @product(%x: tensor<?x?x!dd>, %y: tensor<?x?x!dd>)
    -> (tensor<?x?x!dd>, tensor<?x?xf64>) {
  %p = numera.mul %x, %y : tensor<?x?x!dd>
  %v = numera.cast %p : tensor<?x?x!dd> to tensor<?x?xf64>
  return %p, %v : tensor<?x?x!dd>, tensor<?x?xf64>
}
"""


@pytest.fixture(scope="module")
def dd():
    names = ("from_f32", "from_f64", "to_f32", "to_f64", "add", "neg", "mul", "max")
    operations = {name: f"dd_{name}" for name in names}
    return numera.register(
        "dd",
        bits=128,
        source=WIDE / "dd.c",
        operations={**operations, "cmp olt": "dd_lt"},
        derive=["sub", "cmp"],
    )


@pytest.fixture(scope="module")
def quad(tmp_path_factory):
    source = tmp_path_factory.mktemp("quad") / "quad.c"
    source.write_text("""
__float128 quad_from_f32(float x) { return x; }
__float128 quad_from_f64(double x) { return x; }
double quad_to_f64(__float128 x) { return x; }
__float128 quad_add(__float128 x, __float128 y) { return x + y; }
__float128 quad_mul(__float128 x, __float128 y) { return x * y; }
""")
    # The compiler's functions for it, which a process need not have.
    return numera.register("quad", bits=128, source=source, link="gcc_s")


def fractions(codes):
    return [Fraction(hi) + Fraction(lo) for hi, lo in codes.view(PAIR).ravel().tolist()]


def of_quad(code):
    """The number of a code of binary128, by its definition."""
    bits = int.from_bytes(bytes(code), "little")
    sign, exponent, rest = bits >> 127, bits >> 112 & 0x7FFF, bits & (1 << 112) - 1
    if exponent == 0:
        return (-1) ** sign * Fraction(rest) * Fraction(2) ** (1 - 16383 - 112)
    scale = Fraction(2) ** (exponent - 16383 - 112)
    return (-1) ** sign * Fraction(rest + (1 << 112)) * scale


def test_codes_are_bytes(dd):
    assert (dd.width, dd.storage_bits, dd.dtype) == (128, 128, np.dtype("V16"))
    codes = numera.encode([1.5, -2.0], "dd")
    assert codes.dtype == np.dtype("V16")
    assert codes.view(PAIR).tolist() == [(1.5, 0.0), (-2.0, 0.0)]
    np.testing.assert_array_equal(numera.decode(codes, "dd"), [1.5, -2])
    back = numera.decode([0x3FF8 << 48, 0], "dd")  # codes as Python's integers
    np.testing.assert_array_equal(back, [1.5, 0])
    with pytest.raises(numera.Error, match="codes of 'dd' are bytes, 'V', of 128 bits"):
        numera.decode(np.zeros(2, np.uint64), "dd")


def test_strided_arrays_of_codes(dd):
    x = np.arange(24.0).reshape(4, 6)
    codes = numera.encode(x.T[::2], "dd")
    np.testing.assert_array_equal(codes.view(PAIR)["hi"], x.T[::2])
    values = numera.decode(codes[::-1, 1::2], "dd")
    np.testing.assert_array_equal(values, x.T[::2][::-1, 1::2])


def test_arrays_compute(dd):
    some, more = [1e16, 3.0, 1 / 3], [1.0, 1e-20, 2.0**-60]
    x, y = numera.array(some, dd), numera.array(more, dd)
    total = x + y
    exact = [Fraction(a) + Fraction(b) for a, b in zip(some, more)]
    assert fractions(total.codes) == exact
    assert ((total - x).values() == y.values()).all()
    assert (x < y).tolist() == [False] * 3
    made = numera.Array(total.codes.view(PAIR), dd)
    assert fractions(made.codes) == exact
    assert repr(total).startswith("numera.array([1.")


def test_a_model_in_f64_computes_in_it(dd):
    total = numera.compile(SUM, format=dd, replace="f64", output_as="storage")
    (tensor,) = total.outputs
    assert tensor.dtype == np.dtype("V16")
    x, y = np.array([1e16, 0.1]), np.array([1.0, 1e-20])
    assert fractions(total(x, y)) == [Fraction(a) + Fraction(b) for a, b in zip(x, y)]
    rounded = numera.compile(SUM, format=dd, replace="f64")
    np.testing.assert_array_equal(rounded(x, y), x + y)


def test_programs_take_and_give_codes():
    product = numera.compile(CODES, formats=WIDE / "dd.yaml")
    x = np.zeros((2, 3), PAIR)
    x["hi"], x["lo"] = 1 / 3, 2.0**-60
    codes, values = product(x, x)
    assert codes.shape == values.shape == (2, 3)
    exact = (Fraction(1 / 3) + Fraction(2) ** -60) ** 2
    for found in fractions(codes):
        assert abs(found / exact - 1) < Fraction(2) ** -100
    assert (values == float(exact)).all()
    # Memory that is given, strided and badly aligned arrays.
    out = np.zeros((2, 3), PAIR), np.zeros((2, 3))
    product(x[::-1], x, out=out)
    assert fractions(out[0]) == fractions(codes)
    memory = np.zeros(6 * 16 + 8, np.uint8)
    start = 8 if memory.ctypes.data % 16 == 0 else 0
    odd = memory[start:][: 6 * 16].view(PAIR).reshape(2, 3)
    odd[...] = x
    assert odd.ctypes.data % 16 == 8
    assert fractions(product(odd, x)[0]) == fractions(codes)
    product(x, odd, out=(odd, out[1]))
    assert fractions(odd) == fractions(codes)
    for wrong in (np.zeros((2, 3)), [[1.0]]):
        line = r"expected codes of 16 bytes, '\|V16' or a structure"
        with pytest.raises(numera.Error, match=line):
            product(wrong, x)


def test_a_library_in_machine_code():
    casts = {"from_f32": "__extendsftf2", "to_f32": "__trunctfsf2"}
    library = "/usr/lib/x86_64-linux-gnu/libgcc_s.so.1"
    if not pathlib.Path(library).exists():
        pytest.skip("no libgcc here")
    machine = numera.register(
        "machine",
        bits=128,
        source=library,
        operations={**casts, "add": "__addtf3"},
        target="cpu",
        wide_codes="float128",
    )
    x = numera.array([1.0, 3.0], machine)
    x = x + numera.array([2.0**-100, 2.0**-110], machine)
    exact = [1 + Fraction(2) ** -100, 3 + Fraction(2) ** -110]
    assert [of_quad(code) for code in x.codes] == exact


def test_binary128(quad):
    x = numera.array([1.0, 1 / 3], quad)
    y = numera.array([2.0**-100, 1e-20], quad)
    for code, a, b in zip((x + y).codes.ravel(), [1.0, 1 / 3], [2.0**-100, 1e-20]):
        exact = Fraction(a) + Fraction(b)
        assert abs(of_quad(code) / exact - 1) <= Fraction(2) ** -113
