# SPDX-License-Identifier: MIT
"""Holds the reference's rounding against exact fractions.

The oracle is a second construction: floats round a Fraction to a multiple of
the last place, posits write it as a bit string, cut the string and look at what
was cut off. Formats of 8 bits are checked on all pairs, wider ones on all
boundaries with their neighbours and on random operands.
"""

import itertools
import math
from fractions import Fraction

import numpy as np

from reference_formats import (
    Array,
    Exact,
    FloatLayout,
    Format,
    Layout,
    PositLayout,
    Table,
    WideFloat,
    parse,
)
from reference_operators import Arithmetic

SMALL = (
    "posit8", "posit<7,1>", "posit<6,4>", "f8E4M3FN", "f8E5M2", "f8E4M3FNUZ",
    "f6E3M2FN", "f4E2M1FN", "float<3,3,bias=5>",
)  # fmt: skip
MIDDLE = ("posit16", "posit<12,0>", "bf16", "float<5,7>")
WIDE = ("f32", "tf32", "float<8,12,fn>")


def floor_log2(x: Fraction) -> int:
    """The exponent of the largest power of two that is not above x > 0."""
    guess = x.numerator.bit_length() - x.denominator.bit_length()
    return guess if Fraction(2) ** guess <= x else guess - 1


def round_float(layout: FloatLayout, x: Fraction) -> float:
    """x > 0 to nearest; Python's round takes ties to even."""
    quantum = max(floor_log2(x) - layout.mantissa, layout.quantum)
    result = round(x / Fraction(2) ** quantum) * Fraction(2) ** quantum
    largest = Fraction(layout.value(layout.top))
    if result > largest:
        return math.inf if layout.overflows else float(largest)
    return float(result)


def posit_code(layout: PositLayout, x: Fraction) -> int:
    """The code of x > 0, rounded as a bit string."""
    scale = floor_log2(x)
    regime, exponent = divmod(scale, 1 << layout.es)
    text = "1" * (regime + 1) + "0" if regime >= 0 else "0" * -regime + "1"
    if layout.es:
        text += format(exponent, f"0{layout.es}b")
    fraction = x / Fraction(2) ** scale - 1
    digits = math.floor(fraction * 2**layout.bits)
    text += format(digits, f"0{layout.bits}b")
    text += "0" if fraction * 2**layout.bits == digits else "1"
    kept, cut = text[: layout.bits - 1], text[layout.bits - 1 :]
    code = int(kept, 2)
    half = cut[0] == "1"
    more = "1" in cut[1:]
    code += half and (more or code % 2 == 1)
    return min(max(code, 1), layout.top)


def oracle(layout: Layout, x: Fraction) -> float:
    """x rounded to the format."""
    if x == 0:
        return 0.0
    if isinstance(layout, PositLayout):
        size = layout.value(posit_code(layout, abs(x)))
    else:
        size = round_float(layout, abs(x))
    return math.copysign(size, x)


def expect(what: str, actual: float, expected: float) -> None:
    if not (actual == expected or (math.isnan(actual) and math.isnan(expected))):
        raise AssertionError(f"{what}: {actual.hex()}, expected {expected.hex()}")


def layout_of(target: Format) -> Layout:
    assert isinstance(target, (Table, WideFloat))
    return target.layout


def finite_values(target: Table) -> Array:
    """All finite values of a format, negative ones too."""
    sizes = target.values[np.isfinite(target.values)]
    return np.concatenate([-sizes[::-1], sizes])


def check_operations(target: Format, a: Array, b: Array) -> None:
    """a + b, a b and a / b, element by element."""
    layout = layout_of(target)
    sums, products = target.add(a, b), target.multiply(a, b)
    quotients = target.divide(a, b)
    for i, (x, y) in enumerate(zip(a.tolist(), b.tolist())):
        p, q = Fraction(x), Fraction(y)
        names = f"{target.name}: {x.hex()} {{}} {y.hex()}"
        expect(names.format("+"), float(sums[i]), oracle(layout, p + q))
        expect(names.format("*"), float(products[i]), oracle(layout, p * q))
        if q:
            expect(names.format("/"), float(quotients[i]), oracle(layout, p / q))


def check_boundaries(target: Table) -> None:
    """Every boundary, the float64 numbers beside it, and every value."""
    middle = target.boundaries
    numbers = np.concatenate(
        [middle, np.nextafter(middle, 0), np.nextafter(middle, np.inf), -target.values]
    )
    numbers = numbers[np.isfinite(numbers)]
    for x, rounded in zip(numbers.tolist(), target.round(numbers).tolist()):
        if 0 < abs(x) < 1e-300:
            continue  # What lies beside zero is no sum of values.
        expect(f"{target.name}: {x.hex()}", rounded, oracle(target.layout, Fraction(x)))


def random_values(target: Format, count: int, random: np.random.Generator) -> Array:
    """Values of a format: uniform codes where there is a table, else random
    significands on exponents of which many meet or cancel."""
    if isinstance(target, Table):
        return random.choice(finite_values(target), count)
    scale = random.integers(-40, 40, count) * random.integers(0, 2, count)
    return target.round(np.ldexp(random.uniform(-2, 2, count), scale))


def check_accumulation(source: Format, target: Format, random: np.random.Generator) -> None:
    """acc + a b in the accumulator, with one rounding."""
    count = 2000
    a, b = random_values(source, count, random), random_values(source, count, random)
    acc = random_values(target, count, random)
    # Half of the sums cancel or almost do.
    acc[::2] = target.round(-(a * b))[::2]
    kept = np.isfinite(acc)
    a, b, acc = a[kept], b[kept], acc[kept]
    actual = target.add(acc, a * b).tolist()
    for x, y, z, result in zip(a.tolist(), b.tolist(), acc.tolist(), actual):
        exact = Fraction(z) + Fraction(x) * Fraction(y)
        what = f"{target.name}: {z.hex()} + {x.hex()} * {y.hex()}"
        expect(what, result, oracle(layout_of(target), exact))


def check_exact_sums(target: Format, random: np.random.Generator) -> None:
    """Sums of products that cancel against fractions."""
    on = Arithmetic(target, Exact())
    a, b = random_values(target, 600, random), random_values(target, 600, random)
    a[200:400], b[200:400] = a[:200], -b[:200]
    a, b = a.reshape(-1, 20), b.reshape(-1, 20)
    acc, exact = on.start((20,)), [Fraction(0)] * 20
    for x, y in zip(a, b):
        acc = on.mac(acc, x, y)
        exact = [e + Fraction(p) * Fraction(q) for e, p, q in zip(exact, x.tolist(), y.tolist())]
    for result, fraction in zip(on.finish(acc).tolist(), exact):
        expect(f"{target.name}: a sum", result, oracle(layout_of(target), fraction))
    ends = on.start((3,))
    for term in ([math.inf, math.inf, 1.0], [1.0, -math.inf, -1.0]):
        ends = on.accumulate(ends, np.array(term))
    rounded = Arithmetic(parse("f32"), Exact()).finish(ends)
    for result, known in zip(rounded.tolist(), (math.inf, math.nan, 0.0)):
        expect("a sum of infinities", result, known)


def check_known_values() -> None:
    """Figures from the standards, and what each family does beyond its ends."""
    known = (
        ("posit16", 2.0**60, 2.0**56),
        ("posit16", 2.0**-70, 2.0**-56),
        ("posit16", -(2.0**-70), -(2.0**-56)),
        ("posit16", 2.0**54, 2.0**52),  # a tie of codes 0x7ffe and 0x7fff
        ("posit16", math.inf, math.nan),
        ("posit8", 1 / 3, 0.34375),
        ("posit8", 1e9, 2.0**24),
        ("f8E4M3FN", 464.0, 448.0),
        ("f8E4M3FN", math.inf, 448.0),
        ("f8E4M3FN", math.nan, math.nan),
        ("f8E4M3FNUZ", 1e9, 240.0),
        ("f8E5M2", 61440.0, math.inf),
        ("f8E5M2", 61439.0, 57344.0),
        ("f8E5M2FNUZ", 1e9, 57344.0),
        ("f6E3M2FN", 1e9, 28.0),
        ("f6E2M3FN", 1e9, 7.5),
        ("f4E2M1FN", math.nan, 0.0),
        ("f4E2M1FN", 2.5, 2.0),
        ("bf16", 1 + 2.0**-8, 1.0),
        ("bf16", 1 + 3 * 2.0**-8, 1 + 2.0**-6),
        ("f16", 65520.0, math.inf),
        ("fixed<7,8>", 2.0**-9, 0.0),  # ties go to the even code
        ("fixed<7,8>", 3 * 2.0**-9, 2.0**-7),
        ("fixed<7,8>", 200.0, 128 - 2.0**-8),
        ("fixed<7,8>", -200.0, -128.0),
        ("f32", 2.0**-150, 0.0),
        ("f32", 3 * 2.0**-150, 2.0**-148),
        ("f32", 2.0**128, math.inf),
    )
    for name, exact, rounded in known:
        result = float(parse(name).round(np.array([exact]))[0])
        expect(f"{name}: {exact.hex()}", result, rounded)
    for name, zero in (("bf16", -0.0), ("posit16", 0.0), ("f8E4M3FNUZ", 0.0)):
        result = float(parse(name).round(np.array([-0.0]))[0])
        if math.copysign(1, result) != math.copysign(1, zero):
            raise AssertionError(f"{name}: -0 becomes {result}, expected {zero}")


def check_harmonic_series() -> None:
    """Sums of 1/k until they stop: the total, and the first k that is lost."""
    known = (
        ("f16", 7.0859375, 513), ("bf16", 5.0625, 65), ("float<4,3>", 3.0, 9),
        ("float<5,2>", 2.0, 5), ("float<3,4>", 3.5, 16), ("posit<8,0>", 3.5, 16),
        ("posit<8,2>", 3.0, 9), ("posit<16,1>", 7.77734375, 1024),
        ("posit<16,2>", 7.78125, 1025),
    )  # fmt: skip
    for name, total, stop in known:
        target = parse(name)
        one, acc = np.ones(1), np.zeros(1)
        for k in itertools.count(1):
            term = target.divide(one, target.round(np.array([float(k)])))
            after = target.add(acc, term)
            if after == acc:
                break
            acc = after
        expect(f"{name}: the harmonic series", float(acc[0]), total)
        expect(f"{name}: the harmonic series stops", float(k), float(stop))


def main() -> None:
    """Raises AssertionError with the first number that is wrong."""
    random = np.random.default_rng(1)
    check_known_values()
    check_harmonic_series()
    for name in SMALL:
        target = parse(name)
        assert isinstance(target, Table)
        check_boundaries(target)
        values = finite_values(target)
        a, b = np.meshgrid(values, values)
        upper = a <= b  # add and multiply commute; divide sees both signs anyway
        check_operations(target, a[upper], b[upper])
    for name in MIDDLE + WIDE:
        target = parse(name)
        if isinstance(target, Table):
            check_boundaries(target)
        a, b = random_values(target, 5000, random), random_values(target, 5000, random)
        check_operations(target, a, b)
        for accumulator in ("f32", "posit16", "bf16", "f8E4M3FN"):
            check_accumulation(target, parse(accumulator), random)
        check_exact_sums(target, random)
    # A third way to f32: the processor's conversion.
    numbers = np.ldexp(random.uniform(-1, 1, 100000), random.integers(-160, 135, 100000))
    expected = numbers.astype(np.float32).astype(np.float64)
    if not np.array_equal(parse("f32").round(numbers), expected):
        raise AssertionError("f32 differs from the processor's conversion")
