# SPDX-License-Identifier: MIT
"""Status flags of operations against rational arithmetic: status_flags.py FOLDER [TARGET]

Clauses: N1 N2 N3 N4 N5.

Formats are decoded and results judged by the clauses alone, with fractions;
irrational results are decimals of 60 digits. A program of `numera.status_flags` gives
the status flags of every pair of operands, one by one.
"""
import subprocess
import sys
from decimal import Decimal, getcontext
from fractions import Fraction
from functools import lru_cache
from pathlib import Path

import numpy as np
from chosen import IS_LONG, IS_SLOW, chosen

getcontext().prec = 60
getcontext().Emax, getcontext().Emin = 10**9, -(10**9)
OVERFLOW, UNDERFLOW, INVALID, DIVISION = 1, 2, 4, 8
MODES = ["nearest-even", "nearest-away", "nearest-zero", "toward-zero", "up", "down", "to-odd"]
NAN, INF = "nan", "inf"  # an infinity is (INF, sign)


def floor_log2(x):
    """Of a positive fraction."""
    e = x.numerator.bit_length() - x.denominator.bit_length()
    return e if Fraction(2) ** e <= x else e - 1


def rounded(x, mode, odd_base, negative, draw=None):
    """A positive multiple of the unit, by the mode; `odd_base` adds to parity."""
    low, rest = int(x), x - int(x)
    if rest == 0:
        return low
    odd = (low + odd_base) % 2 == 1
    half = Fraction(1, 2)
    if mode == "stochastic":
        return low + (draw < int(rest * 2**32))
    up = {
        "nearest-even": rest > half or (rest == half and odd),
        "nearest-away": rest >= half,
        "nearest-zero": rest > half,
        "toward-zero": False,
        "up": not negative,
        "down": negative,
        "to-odd": not odd,
    }[mode]
    return low + up


class Float:
    def __init__(self, e, m, specials="ieee", signed=True, flush=False, saturate=False, mode="nearest-even", bias=None):
        self.e, self.m, self.specials, self.signed, self.flush, self.mode = e, m, specials, signed, flush, mode
        self.bias = bias if bias is not None else 2 ** (e - 1) - 1
        if bias is None and specials in ("fnuz", "p3109"):
            self.bias += 1
        self.bits = e + m + signed
        self.saturate = saturate
        count = 1 << (e + m)
        self.infinity = {"ieee": ((1 << e) - 1) << m, "p3109": count - 1}.get(specials)
        self.top = {"ieee": (self.infinity or 0) - 1, "fn": count - 2, "fnu": count - 2, "fnuz": count - 1,
                    "finite": count - 1, "p3109": count - 2}[specials]
        self.normal = Fraction(2) ** (1 - self.bias if specials != "fnu" else -self.bias)
        self.unit = self.normal / 2**m
        self.has_nan = specials != "finite"
        words = [str(e), str(m)]
        if bias is not None:
            words.append(f"bias={bias}")
        words += [specials] if specials != "ieee" else []
        words += ["unsigned"] if not signed and specials != "fnu" else []
        words += ["flush"] if flush else []
        words += [f'"{mode}"'] if mode != "nearest-even" else []
        default = "infinity" if specials in ("ieee", "p3109") else "saturate"
        words += ["saturate"] if saturate and default == "infinity" else []
        self.saturates = saturate or default == "saturate"
        self.spelling = f"float<{','.join(words)}>"

    def magnitude(self, code):
        field, rest = code >> self.m, code % (1 << self.m)
        if field == 0 and self.specials != "fnu":
            return Fraction(0) if self.flush else rest * self.unit
        base = field - 1 if self.specials != "fnu" else field
        return ((1 << self.m) + rest) * self.unit * Fraction(2) ** base

    def decode(self, code):
        sign = code >> (self.e + self.m) & 1 if self.signed else 0
        code &= (1 << (self.e + self.m)) - 1
        nan = {"ieee": self.infinity is not None and code > self.infinity, "fn": code == self.top + 1,
               "fnu": code == self.top + 1, "fnuz": sign and code == 0, "p3109": sign and code == 0,
               "finite": False}[self.specials]
        if nan:
            return NAN
        if self.infinity is not None and code == self.infinity:
            return (INF, sign)
        return -self.magnitude(code) if sign else self.magnitude(code)

    def finite(self, x, draw=None):
        if x == 0:
            return UNDERFLOW if self.specials == "fnu" else 0
        if x < 0 and not self.signed:
            return OVERFLOW
        size = abs(x)
        if size < self.normal:
            exact = not self.flush and self.specials != "fnu" and (size / self.unit).denominator == 1
            return 0 if exact else UNDERFLOW
        field = floor_log2(size / self.normal)
        unit = self.unit * Fraction(2) ** field
        # Without significand bits the parity is the exponent field's (R3).
        odd_base = field - (self.specials == "fnu") if self.m == 0 else 0
        kept = rounded(size / unit, self.mode, odd_base, x < 0, draw)
        return OVERFLOW if kept * unit > self.magnitude(self.top) else 0

    def infinite(self, sign, pole):
        if sign and not self.signed:
            return OVERFLOW
        if pole and self.specials == "p3109":
            return INVALID
        return 0 if self.infinity is not None and not self.saturates else OVERFLOW


class Fixed:
    has_nan = False

    def __init__(self, i, f, signed=True, wrap=False, mode="nearest-even"):
        self.i, self.f, self.signed, self.mode = i, f, signed, mode
        self.bits = i + f + signed
        words = [str(i), str(f)] + ([] if signed else ["unsigned"]) + (["wrap"] if wrap else [])
        words += [f'"{mode}"'] if mode != "nearest-even" else []
        self.spelling = f"fixed<{','.join(words)}>"

    def decode(self, code):
        if self.signed and code >> (self.bits - 1):
            code -= 1 << self.bits
        return Fraction(code, 2**self.f)

    def finite(self, x, draw=None):
        kept = rounded(abs(x) * 2**self.f, self.mode, 0, x < 0, draw)
        limit = (1 << (self.i + self.f)) if x < 0 else (1 << (self.i + self.f)) - 1
        if x < 0 and not self.signed:
            limit = 0
        if kept > limit:
            return OVERFLOW
        return UNDERFLOW if 0 < abs(x) < Fraction(1, 2**self.f) else 0

    def infinite(self, sign, pole):
        return OVERFLOW


class Tapered:
    """Posits and takums: what lies between the least number and the largest."""

    has_nan = True

    def finite(self, x, draw=None):
        if abs(x) > self.decode((1 << (self.bits - 1)) - 1):
            return OVERFLOW
        return UNDERFLOW if 0 < abs(x) < self.decode(1) else 0

    def infinite(self, sign, pole):
        return INVALID

    def decode(self, code):
        if code == 0:
            return Fraction(0)
        if code == 1 << (self.bits - 1):
            return NAN
        if code >> (self.bits - 1):
            return -self.positive((1 << self.bits) - code)
        return self.positive(code)


class Posit(Tapered):
    def __init__(self, bits, es, mode="nearest-even"):
        self.bits, self.es = bits, es
        self.spelling = f'posit<{bits},{es}{"" if mode == "nearest-even" else f",{chr(34)}{mode}{chr(34)}"}>'

    def positive(self, code):
        text = format(code, f"0{self.bits}b")[1:]
        run = len(text) - len(text.lstrip(text[0]))
        regime = run - 1 if text[0] == "1" else -run
        rest = text[run + 1:]
        exponent = int((rest[: self.es] + "0" * self.es)[: self.es] or "0", 2)
        fraction = rest[self.es:]
        value = 1 + (Fraction(int(fraction, 2), 2 ** len(fraction)) if fraction else 0)
        return value * Fraction(2) ** (regime * 2**self.es + exponent)


class Takum(Tapered):
    def __init__(self, bits):
        self.bits, self.spelling = bits, f"takum<{bits}>"

    def positive(self, code):
        text = format(code, f"0{self.bits}b") + "0" * 20
        direction, regime = text[1] == "1", int(text[2:5], 2)
        r = regime if direction else 7 - regime
        field = int(text[5:5 + r] or "0", 2)
        c = 2**r - 1 + field if direction else -(2 ** (r + 1)) + 1 + field
        mantissa = text[5 + r:]
        return (1 + Fraction(int(mantissa, 2), 2 ** len(mantissa))) * Fraction(2) ** c


class Lns:
    """Values are irrational, known to 60 digits; near the ends they are those."""

    has_nan = True
    near = Fraction(1, 2**60)

    def __init__(self, i, f):
        self.i, self.f, self.bits, self.spelling = i, f, 2 + i + f, f"lns<{i},{f}>"
        self.top = (1 << (i + f)) - 1

    def power(self, k):
        whole, part = k >> self.f, k % (1 << self.f)
        root = Fraction(Decimal(2) ** (Decimal(part) / Decimal(1 << self.f))) if part else 1
        return Fraction(2) ** whole * root

    def decode(self, code):
        sign, k = code >> (self.bits - 1), code % (1 << (self.bits - 1))
        if k == self.top + 1:
            return NAN if sign else Fraction(0)
        value = self.power(k if k <= self.top else k - (1 << (self.bits - 1)))
        return -value if sign else value

    def finite(self, x, draw=None):
        if abs(x) > self.power(self.top) * (1 + self.near):
            return OVERFLOW
        return UNDERFLOW if 0 < abs(x) < self.power(-self.top) * (1 - self.near) else 0

    def infinite(self, sign, pole):
        return INVALID


def F(*arguments, **named):
    return Float(*arguments, **named)


# Every pair of operands; in every mode where there are few.
SMALL = (
    [F(3, 2, "finite", mode=mode) for mode in MODES]
    + [F(3, 2, mode=mode) for mode in MODES[3:6]]
    + [Fixed(2, 3, mode=mode) for mode in ("nearest-even", "up", "down")]
    + [Posit(6, 1, mode) for mode in ("nearest-even", "down")]
    + [F(2, 1, "finite"), F(3, 2, flush=True), F(3, 2, signed=False), F(3, 0, "finite"), Fixed(2, 3, signed=False),
       Fixed(2, 3, wrap=True), F(3, 2, saturate=True), F(3, 2, bias=9)]
)
PAIRS = [F(4, 3, "fn"), Posit(8, 2)]
# With NUMERA_SLOW_TESTS, all pairs of these too.
BYTES = [F(5, 2), Fixed(3, 4), F(4, 3, "fnuz", mode="to-odd"), F(4, 3, "p3109", mode="up"), F(8, 0, "fnu", signed=False), Takum(8),
         Lns(3, 3)]
WIDE = [F(5, 10), F(8, 7), Posit(16, 2), Fixed(4, 11), Takum(16)]


def is_infinite(x):
    return isinstance(x, tuple)


def irrational(function, x):
    return Fraction(function(Decimal(x.numerator) / Decimal(x.denominator)))


@lru_cache(maxsize=None)
def root(x):
    """The square root where it is rational, else 60 digits of it."""
    from math import isqrt
    a, b = isqrt(x.numerator), isqrt(x.denominator)
    if a * a == x.numerator and b * b == x.denominator:
        return Fraction(a, b)
    return irrational(Decimal.sqrt, x)


def exponential(x):
    if x > 3000:  # beyond every format
        return Fraction(2) ** 4000
    if x < -3000:
        return Fraction(1, 2**4000)
    return Fraction(1) if x == 0 else irrational(Decimal.exp, x)


def exact(operation, x, y):
    """The exact result: a fraction, (INF, sign, is a pole) or NAN."""
    sign = lambda v: v[1] if is_infinite(v) else v < 0
    if operation == "sub":
        negative = (INF, 1 - y[1]) if is_infinite(y) else -y
        return exact("add", x, negative)
    if operation == "add":
        if is_infinite(x) and is_infinite(y):
            return (INF, x[1], False) if x[1] == y[1] else NAN
        if is_infinite(x) or is_infinite(y):
            return (INF, (x if is_infinite(x) else y)[1], False)
        return x + y
    if operation == "mul":
        if is_infinite(x) or is_infinite(y):
            return NAN if x == 0 or y == 0 else (INF, sign(x) != sign(y), False)
        return x * y
    if operation == "div":
        if is_infinite(y):
            return NAN if is_infinite(x) else Fraction(0)
        if y == 0:
            return NAN if x == 0 else (INF, sign(x), True)
        return (INF, sign(x) != sign(y), False) if is_infinite(x) else x / y
    if operation in ("sqrt", "rsqrt") and x != 0 and sign(x):
        return NAN
    if operation == "sqrt":
        return (INF, 0, False) if is_infinite(x) else root(x)
    if operation == "rsqrt":
        if x == 0:
            return (INF, 0, True)
        return Fraction(0) if is_infinite(x) else 1 / root(x)
    if operation == "exp":
        if is_infinite(x):
            return Fraction(0) if x[1] else (INF, 0, False)
        return exponential(x)
    if operation == "log":
        if x == 0:
            return (INF, 1, True)
        if sign(x):
            return NAN
        if is_infinite(x):
            return (INF, 0, False)
        return Fraction(0) if x == 1 else irrational(Decimal.ln, x)
    if operation == "atanh":
        if is_infinite(x) or abs(x) > 1:
            return NAN
        if abs(x) == 1:
            return (INF, sign(x), True)
        if abs(x) < Fraction(1, 2**40):
            return x + x**3 / 3
        return irrational(Decimal.ln, (1 + x) / (1 - x)) / 2
    if operation == "acosh":
        if is_infinite(x) or x < 1:
            return NAN if sign(x) or not is_infinite(x) else (INF, 0, False)
        return Fraction(0) if x == 1 else irrational(Decimal.ln, x + root(x * x - 1))
    if operation == "neg":
        return (INF, 1 - x[1], False) if is_infinite(x) else -x
    assert operation == "cast"
    return (INF, x[1], False) if is_infinite(x) else x


def judge(to, operation, operands, draw=None):
    if NAN in operands:
        return 0 if to.has_nan else INVALID
    result = exact(operation, *(list(operands) + [None])[:2])
    if result == NAN:
        return INVALID
    if is_infinite(result):
        if not any(is_infinite(x) for x in operands):
            return DIVISION
        return to.infinite(result[1], result[2])
    return to.finite(result, draw)


BINARY = ["add", "sub", "mul", "div"]
UNARY = ["sqrt", "rsqrt", "exp", "log", "atanh", "acosh", "neg"]


def storage(bits):
    return next(size for size in (8, 16, 32, 64) if bits <= size)


def flags(name, operands, kinds, result, mode, random=""):
    formats = ", ".join(f"#numera.format<{kind}>" for kind in kinds)
    types = [f"tensor<?x!{'t' if kind == result else 'u'}>" for kind in kinds] + ["tensor<?x!t>"]
    types += ["tensor<?xi32>"] if random else []
    given = f" random {random}" if random else ""
    bits = ", random_bits = 32 : i32" if random else ""
    return (f'%e_{name} = numera.status_flags "{name}"({", ".join(operands)}) gives %{name}{given} '
            f'{{format = #numera.format<{result}>, operand_formats = [{formats}], rounding = #numera.rounding<"{mode}">{bits}}} '
            f": ({', '.join(types)}) -> tensor<?xi8>")


def program(form, other):
    """All operations on two tensors of codes, and casts from `other`."""
    mode = getattr(form, "mode", None)
    if mode is None:
        mode = form.spelling.split('"')[1] if '"' in form.spelling else "nearest-even"
    t, u = form.spelling, other.spelling
    lines = []
    for name in BINARY:
        lines.append(f"%{name} = numera.{name} %x, %y : tensor<?x!t>")
        lines.append(flags(name, ["%x", "%y"], [t, t], t, mode))
    for name in UNARY:
        lines.append(f"%{name} = numera.{name} %x : tensor<?x!t>")
        lines.append(flags(name, ["%x"], [t], t, mode))
    lines.append("%cast = numera.cast %z : tensor<?x!u> to tensor<?x!t>")
    lines.append(flags("cast", ["%z"], [u], t, mode))
    names = BINARY + UNARY + ["cast"]
    return (f"!t = !numera.num<{t}>\n!u = !numera.num<{u}>\n"
            f"func.func @flags(%x: tensor<?x!t>, %y: tensor<?x!t>, %z: tensor<?x!u>) -> ({', '.join(['tensor<?xi8>'] * len(names))}) {{\n  "
            + "\n  ".join(lines)
            + f"\n  return {', '.join('%e_' + n for n in names)} : {', '.join(['tensor<?xi8>'] * len(names))}\n}}\n")


def operands(form, count):
    if count is None:
        n = 1 << form.bits
        pairs = np.arange(n * n)
        x, y = pairs % n, pairs // n
    else:
        random = np.random.default_rng(count)
        x, y = random.integers(0, 1 << form.bits, (2, count))
        ends = np.array([0, 1, 2, (1 << form.bits) - 1, (1 << form.bits) - 2, 1 << (form.bits - 1),
                         (1 << (form.bits - 1)) - 1, (1 << (form.bits - 1)) + 1])
        x[: ends.size**2], y[: ends.size**2] = np.repeat(ends, ends.size), np.tile(ends, ends.size)
    return x, y


def check(folder, target, number, form, count=None):
    # Casts come from a format with more range and precision.
    other = F(6, 9) if not isinstance(form, Takum) and form.spelling not in ("float<8,0,fnu>", "float<8,7>") else F(9, 6)
    folder = folder / str(number)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "flags.mlir").write_text(program(form, other))
    x, y = operands(form, count)
    z = np.random.default_rng(number).integers(0, 1 << other.bits, x.size)
    arrays = {"x": (x, form.bits), "y": (y, form.bits), "z": (z, other.bits)}
    command = ["numera", "run", str(folder / "flags.mlir"), "--target", target, "--output-dir", str(folder)]
    for name, (codes, bits) in arrays.items():
        np.save(folder / f"{name}.npy", codes.astype(f"u{storage(bits) // 8}"))
        command += ["--input", str(folder / f"{name}.npy")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{form.spelling}: {done.stderr.strip()}")
    value = lru_cache(maxsize=None)(form.decode)
    found = {}
    for place, name in enumerate(BINARY + UNARY + ["cast"]):
        got = np.load(folder / f"output_{place}.npy").view("u1")
        seen = {}
        for i in range(x.size):
            a = int(z[i]) if name == "cast" else int(x[i])
            key = (a, int(y[i])) if name in BINARY else (a,)
            if key in seen:
                continue
            values = [other.decode(a)] if name == "cast" else [value(code) for code in key]
            seen[key] = judge(form, name, values)
            if got[i] != seen[key]:
                sys.exit(f"{form.spelling}, {name} of {[hex(k) for k in key]} {values}: "
                         f"flags {got[i]}, expected {seen[key]}")
        for kind in seen.values():
            found[kind] = found.get(kind, 0) + 1
    print(f"{form.spelling}: {sum(found.values())} as expected, status flags of each kind:",
          [sum(n for kind, n in found.items() if kind >> bit & 1) for bit in range(4)])


def main():
    folder, target = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "cpu"
    some = 5000 if IS_LONG else 300
    forms = [(form, None if IS_LONG else 500) for form in SMALL + PAIRS]
    forms += [(form, None if IS_SLOW else some) for form in BYTES]
    forms += [(form, 100000 if IS_SLOW else some) for form in WIDE]
    if target != "cpu":  # what is different there: the code, not the arithmetic
        BINARY[:], UNARY[:] = ["mul", "div"], ["sqrt"]
        forms = [(form, 300) for form in (F(4, 3, "fn"), Posit(16, 2), Fixed(3, 4, wrap=True))]
    if target == "cpu":
        forms = chosen(forms)
    for number, (form, count) in enumerate(forms):
        check(folder, target, number, form, count)


if __name__ == "__main__":
    main()
