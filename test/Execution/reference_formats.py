# SPDX-License-Identifier: MIT
"""Number formats of the reference: every operation is exact, then rounded once.

Nothing here comes from Numera. A value of a format is held as a float64, NaN
and NaR as NaN. Formats of at most 16 bits round by searching a sorted table of
boundaries; wider floats by scaling and rint. All rounding is to nearest, ties
to the even code, with each family's default overflow.

Why float64 suffices. A format is admitted only if its significand has at most
26 bits and its nonzero magnitudes lie in [2^-500, 2^500]. Then:

1. A product of two values has at most 52 bits and a magnitude in [2^-1000,
   2^1000]: it is exact.
2. A sum x of two float64 numbers is not always exact. TwoSum (Knuth) yields
   s = nearest(x) and the error x - s exactly; from both, `odd_sum` makes o(x),
   x rounded to odd: x itself if x is a float64, else the neighbour whose last
   significand bit is 1. A boundary b (a value of the format, or the point that
   separates two of them) has at most 27 bits, so as a float64 its last bit is
   0. If x < b then o(x) <= b, because b is a float64, and o(x) != b, because
   an inexact o(x) is odd and b is even; the same holds for x > b, and x = b
   gives o(x) = b. So o(x) compares with every boundary as x does, and
   rounding o(x) rounds x.
3. A quotient a/c of values with p bits against a boundary b with p + 1 bits:
   a - b c is zero or at least 2^-(2p + 2) of a, so a/c differs from b by more
   than 2^-53 relatively if 2p + 2 <= 52, float64 division (monotone, and exact
   on b) keeps the order, and rounding its result rounds the quotient.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

NAMES = {
    "f32": "float<8,23>",
    "tf32": "float<8,10>",
    "bf16": "float<8,7>",
    "f16": "float<5,10>",
    "f8E5M2": "float<5,2>",
    "f8E4M3": "float<4,3>",
    "f8E3M4": "float<3,4>",
    "f8E4M3FN": "float<4,3,fn>",
    "f8E4M3FNUZ": "float<4,3,fnuz>",
    "f8E5M2FNUZ": "float<5,2,fnuz>",
    "f6E3M2FN": "float<3,2,finite>",
    "f6E2M3FN": "float<2,3,finite>",
    "f4E2M1FN": "float<2,1,finite>",
    "posit8": "posit<8,2>",
    "posit16": "posit<16,2>",
}


def odd_sum(a: Array, b: Array) -> Array:
    """a + b rounded to odd: step 2 of the proof above."""
    total = a + b
    b_part = total - a
    error = (a - (total - b_part)) + (b - b_part)
    # An infinite or NaN total is exact; its "error" is NaN and compares false.
    inexact = np.isfinite(total) & ((error > 0) | (error < 0))
    bits = total.view(np.int64)
    away = np.where((error > 0) == (total > 0), 1, -1)
    # Where nearest chose the even neighbour, x lies towards the odd one that
    # is adjacent in the direction of the error. total is nonzero there.
    move = np.where(inexact & (bits & 1 == 0), away, 0)
    return np.asarray((bits + move).view(np.float64))


def maximum(a: Array, b: Array) -> Array:
    """The larger; NaN propagates, -0 is below +0."""
    first = (a > b) | ((a == b) & ~np.signbit(a))
    return np.where(np.isnan(a) | np.isnan(b), np.nan, np.where(first, a, b))


def minimum(a: Array, b: Array) -> Array:
    """The smaller; NaN propagates, -0 is below +0."""
    return -maximum(-a, -b)


@dataclass(frozen=True)
class FloatLayout:
    """A signed float by its fields; codes here are magnitudes, without sign."""

    exponent: int
    mantissa: int
    specials: str
    bias: int

    @property
    def bits(self) -> int:
        return 1 + self.exponent + self.mantissa

    @property
    def precision(self) -> int:
        return self.mantissa + 1

    @property
    def top(self) -> int:
        """The code of the largest finite value."""
        count = 1 << (self.exponent + self.mantissa)
        infinities = 1 << self.mantissa
        return count - 1 - {"ieee": infinities, "fn": 1}.get(self.specials, 0)

    @property
    def overflows(self) -> bool:
        """Whether what is too large becomes infinite; else it saturates."""
        return self.specials == "ieee"

    @property
    def signed_zero(self) -> bool:
        return self.specials != "fnuz"

    @property
    def nan(self) -> float:
        """What an invalid operation yields."""
        return 0.0 if self.specials == "finite" else math.nan

    @property
    def quantum(self) -> int:
        """The exponent of the smallest subnormal number."""
        return 1 - self.bias - self.mantissa

    def value(self, code: int) -> float:
        """The value of a finite code, or of the one after the last."""
        field, trailing = code >> self.mantissa, code % (1 << self.mantissa)
        if field == 0:
            return math.ldexp(trailing, self.quantum)
        return math.ldexp((1 << self.mantissa) + trailing, self.quantum + field - 1)


@dataclass(frozen=True)
class PositLayout:
    """A posit; codes here are those of zero and the positive numbers."""

    bits: int
    es: int

    @property
    def precision(self) -> int:
        return max(1, self.bits - 2 - self.es)

    @property
    def top(self) -> int:
        return (1 << (self.bits - 1)) - 1

    def value(self, code: int) -> float:
        """Regime (a run of equal bits), exponent, fraction; what is cut off
        on the right is zeros."""
        if code == 0:
            return 0.0
        left = self.bits - 1
        first = code >> (left - 1)
        ones = (1 << left) - 1
        run = left - ((code ^ ones) if first else code).bit_length()
        regime = run - 1 if first else -run
        left = max(0, left - run - 1)
        rest = code % (1 << left)
        # Zeros appended until the exponent field is whole.
        rest, left = rest << self.es, left + self.es
        exponent, fraction = divmod(rest, 1 << (left - self.es))
        significand = (1 << (left - self.es)) + fraction
        scale = regime * (1 << self.es) + exponent - (left - self.es)
        return math.ldexp(significand, scale)


Layout = FloatLayout | PositLayout


class Format:
    """A number format: `round` maps exact values to the format's."""

    def __init__(self, name: str, bits: int, precision: int) -> None:
        self.name, self.bits, self.precision = name, bits, precision

    def round(self, exact: Array) -> Array:
        """`exact`, or any number that no boundary separates from it."""
        raise NotImplementedError

    def add(self, a: Array, b: Array) -> Array:
        return self.round(odd_sum(a, b))

    def multiply(self, a: Array, b: Array) -> Array:
        return self.round(a * b)

    def divide(self, a: Array, b: Array) -> Array:
        if 2 * self.precision + 2 > 52:
            raise ValueError(f"{self.name}: no proof that its division is exact")
        return self.round(a / b)


class Table(Format):
    """A format of at most 16 bits. `values[i]` is the magnitude of code i, and
    a magnitude x has `boundaries[i - 1] < x < boundaries[i]` where it rounds
    to code i; on a boundary the even code wins. Both families are symmetric
    about zero, and so is rounding to nearest."""

    def __init__(self, name: str, layout: Layout) -> None:
        super().__init__(name, layout.bits, layout.precision)
        top = layout.top
        values = [layout.value(code) for code in range(top + 1)]
        if isinstance(layout, PositLayout):
            # The boundary is the posit between the two that is a bit longer.
            # Only zero rounds to zero, and everything large to the largest.
            longer = PositLayout(layout.bits + 1, layout.es)
            boundaries = [0.0] + [longer.value(2 * i + 1) for i in range(1, top)]
            self.nan, self.signed_zero, self.has_infinity = math.nan, False, False
        else:
            # Midpoints; the last one lies below the value that would follow.
            ends = values + [layout.value(top + 1)]
            boundaries = [(low + high) / 2 for low, high in zip(ends, ends[1:])]
            if layout.overflows:
                values.append(math.inf)
            else:
                boundaries.pop()
            self.nan, self.signed_zero = layout.nan, layout.signed_zero
            self.has_infinity = True
        self.layout = layout
        self.values, self.boundaries = np.array(values), np.array(boundaries)

    def round(self, exact: Array) -> Array:
        size = np.abs(exact)
        code = np.searchsorted(self.boundaries, size, side="left")
        bound = np.append(self.boundaries, np.nan)[code]
        code += (bound == size) & (code & 1 == 1)
        result = np.copysign(self.values[code], exact)
        if not self.signed_zero:
            result += 0.0  # -0 + 0 = +0
        # An infinity saturates in a float without one; to a posit it is NaR.
        invalid = np.isnan(exact)
        if not self.has_infinity:
            invalid |= np.isinf(exact)
        return np.where(invalid, self.nan, result)


class WideFloat(Format):
    """A float of more than 16 bits: rint counts multiples of the last place."""

    def __init__(self, name: str, layout: FloatLayout) -> None:
        super().__init__(name, layout.bits, layout.precision)
        self.layout = layout
        self.largest = layout.value(layout.top)

    def round(self, exact: Array) -> Array:
        finite = np.where(np.isfinite(exact), exact, 0.0)
        # |finite| = f 2^e with f in [1/2, 1), so its last place is 2^(e - p).
        exponent = np.frexp(finite)[1]
        place = np.maximum(exponent - self.precision, self.layout.quantum)
        result = np.ldexp(np.rint(np.ldexp(finite, -place)), place)
        result = np.where(np.isfinite(exact), result, exact)
        too_large = np.abs(result) > self.largest
        limit = math.inf if self.layout.overflows else self.largest
        result = np.where(too_large, np.copysign(limit, result), result)
        if not self.layout.signed_zero:
            result += 0.0
        return np.where(np.isnan(exact), self.layout.nan, result)


class Fixed(Format):
    """Signed fixed point that saturates: rint counts multiples of the unit."""

    def __init__(self, name: str, integer: int, fraction: int) -> None:
        super().__init__(name, 1 + integer + fraction, integer + fraction)
        self.fraction, self.limit = fraction, 1 << (integer + fraction)

    def round(self, exact: Array) -> Array:
        units = np.rint(np.ldexp(np.where(np.isnan(exact), 0.0, exact), self.fraction))
        units = np.clip(units, -self.limit, self.limit - 1)
        return np.ldexp(units, -self.fraction) + 0.0  # -0 + 0 = +0


class Double(Format):
    """f64, as an accumulator only: its own addition rounds correctly."""

    def __init__(self) -> None:
        super().__init__("f64", 64, 53)

    def round(self, exact: Array) -> Array:
        return exact

    def add(self, a: Array, b: Array) -> Array:
        return a + b


class Exact(Format):
    """The quire, as an accumulator only: nothing is rounded before the end."""

    def __init__(self) -> None:
        super().__init__("quire", 0, 0)


def parse_layout(name: str) -> Layout | None:
    """The layout that a built-in name or the spelling of a type stands for."""
    spelling = NAMES.get(name, name).replace(" ", "")
    posit = re.fullmatch(r"posit<(\d+),(\d+)>", spelling)
    if posit:
        return PositLayout(int(posit[1]), int(posit[2]))
    number = re.fullmatch(
        r"float<(\d+),(\d+)(?:,(ieee|fn|fnuz|finite))?(?:,bias=(-?\d+))?>", spelling
    )
    if not number:
        return None
    exponent, mantissa = int(number[1]), int(number[2])
    specials = number[3] or "ieee"
    if exponent < 1 or mantissa < 1:
        return None
    bias = (1 << (exponent - 1)) - (0 if specials == "fnuz" else 1)
    return FloatLayout(exponent, mantissa, specials, int(number[4] or bias))


def parse(name: str) -> Format:
    """The format called `name`, as Numera's command line writes it."""
    fixed = re.fullmatch(r"fixed<(\d+),(\d+)>", name)
    if fixed and int(fixed[1]) + int(fixed[2]) <= 16:
        return Fixed(name, int(fixed[1]), int(fixed[2]))
    layout = parse_layout(name)
    if layout is None:
        raise ValueError(f"{name} is not a format that the reference knows")
    wide = layout.bits > 16
    if layout.precision > 26 or (wide and isinstance(layout, PositLayout)):
        raise ValueError(f"{name} is too wide for the reference")
    ends = (layout.value(1), layout.value(layout.top))
    if ends[0] < 2.0**-500 or ends[1] > 2.0**500:
        raise ValueError(f"{name} has values outside 2^-500 to 2^500")
    if wide and isinstance(layout, FloatLayout):
        return WideFloat(name, layout)
    return Table(name, layout)


def parse_accumulator(name: str) -> Format | None:
    """The accumulator called `name`; none for `same`."""
    if name == "same":
        return None
    if name == "quire":
        return Exact()
    return Double() if name == "f64" else parse(name)
