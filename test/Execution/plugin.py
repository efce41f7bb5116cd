# SPDX-License-Identifier: MIT
"""The codes of a bounded posit against its definition, in exact arithmetic.

usage: plugin.py NUMERA PLUGIN.so BITS REGIME ES
"""

import json
import subprocess
import sys
from fractions import Fraction


def value(code, bits, regime, es):
    """By the definition: sign by two's complement, a run of at most `regime`
    bits, its end unless it is that long, exponent, fraction."""
    if code == 0:
        return Fraction(0)
    if code >> (bits - 1):
        magnitude = -value(2**bits - code, bits, regime, es)
        return magnitude
    string = format(code, f"0{bits}b")[1:]
    first = string[0]
    run = 0
    while run < regime and string[run] == first:
        run += 1
    rest = string[run + (run < regime):]
    r = run - 1 if first == "1" else -run
    exponent = int(rest[:es] or "0", 2)
    fraction = rest[es:]
    significand = 1 + Fraction(int(fraction or "0", 2), 2 ** len(fraction))
    return significand * Fraction(2) ** (r * 2**es + exponent)


def main():
    numera, plugin = sys.argv[1:3]
    bits, regime, es = map(int, sys.argv[3:])
    spelling = f"bposit<{bits},{regime},{es}>"
    table = json.loads(subprocess.run(
        [numera, "formats", spelling, "--load-plugin", plugin, "--table",
         "--json"], check=True, capture_output=True, text=True).stdout)
    assert len(table) == 2**bits
    for row in table:
        code = int(row["code"], 16)
        if code == 2 ** (bits - 1):
            assert row["value"] == "nan", row
        else:
            found = Fraction(float.fromhex(row["value"]))
            assert found == value(code, bits, regime, es), row
    print(spelling, len(table), "codes agree")


main()
