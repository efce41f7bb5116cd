# SPDX-License-Identifier: MIT
"""Check every code of a table against the format's definition, in fractions.

table.py float E M fn|ieee|finite <table.json, or table.py posit N ES.
"""

import json
import sys
from fractions import Fraction as Rational


def power(exponent):
    return Rational(2) ** exponent


def float_value(code, e, m, specials):
    """A number, or a word."""
    sign = -1 if code >> (e + m) else 1
    biased, fraction = code >> m & (1 << e) - 1, code & (1 << m) - 1
    bias = (1 << e - 1) - 1
    if biased == (1 << e) - 1:
        if specials == "ieee":
            return "nan" if fraction else "inf" if sign == 1 else "-inf"
        if specials == "fn" and fraction == (1 << m) - 1:
            return "nan"
    if biased == 0:
        if fraction == 0:
            return "0x0p+0" if sign == 1 else "-0x0p+0"
        return sign * fraction * power(1 - bias - m)
    return sign * ((1 << m) + fraction) * power(biased - bias - m)


def posit_value(code, n, es):
    if code == 0:
        return "0x0p+0"
    if code == 1 << n - 1:
        return "nan"
    sign = -1 if code >> n - 1 else 1
    bits = f"{code if sign == 1 else (1 << n) - code:0{n}b}"[1:]
    run = len(bits) - len(bits.lstrip(bits[0]))
    regime = run - 1 if bits[0] == "1" else -run
    rest = bits[run + 1 :] + "0" * es
    exponent = int(rest[:es] or "0", 2)
    fraction = rest[es:]
    significand = 1 + Rational(int(fraction or "0", 2), 1 << len(fraction))
    return sign * significand * power(regime * (1 << es) + exponent)


def parse(text):
    """Notation as C's %a has it for a normal number: one digit 1, no zeros
    behind the last digit."""
    sign, digits = (-1, text[1:]) if text.startswith("-") else (1, text)
    significand, exponent = digits.split("p")
    if significand != "0x1" and (significand[:4] != "0x1." or significand[-1] in "0."):
        sys.exit(f"notation: {text}")
    fraction = significand[4:]
    value = Rational(int("1" + fraction, 16), 16 ** len(fraction))
    return sign * value * power(int(exponent))


def main(family, *words):
    table = json.load(sys.stdin)
    if family == "float":
        e, m = int(words[0]), int(words[1])
        expected = [float_value(code, e, m, words[2]) for code in range(2 << e + m)]
    else:
        n, es = map(int, words)
        expected = [posit_value(code, n, es) for code in range(1 << n)]
    digits = (len(bin(len(expected) - 1)) - 2 + 3) // 4
    if len(table) != len(expected):
        sys.exit(f"{len(table)} codes, expected {len(expected)}")
    for code, (entry, value) in enumerate(zip(table, expected)):
        text = entry["value"]
        found = text if isinstance(value, str) else parse(text)
        if entry["code"] != f"0x{code:0{digits}x}" or found != value:
            sys.exit(f"{entry}, expected code {code:#x} and {value}")
        width = (len(table) - 1).bit_length()
        if entry["bits"].replace(" ", "") != f"{code:0{width}b}":
            sys.exit(f"{entry}, expected the bits of {code:#x}")
        if not isinstance(value, str) and Rational(entry["decimal"]) != value:
            sys.exit(f"{entry}, expected all digits of {value}")


main(*sys.argv[1:])
