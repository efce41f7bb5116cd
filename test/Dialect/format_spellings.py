# SPDX-License-Identifier: MIT
"""format_spellings.py: IR with every built-in format, every format of P3109 and
spellings with each parameter of each family; or, with --compare, a look at what
numera-opt printed: the spellings that were written, and no others."""

import itertools
import re
import subprocess
import sys

FAMILIES = [
    ("float<5,7", [["", ",fn", ",fnuz", ",finite", ",unsigned", ",fn,unsigned",
                    ",finite,unsigned", ",fnu"],
                   ["", ",bias=9", ",bias=-3"], ["", ",flush"], ["", ",propagate"]]),
    ("float<5,2,p3109", [["", ",infinities=false"], ["", ",unsigned"],
                         ["", ",bias=15"], ["", ",flush"], ["", ",saturate"]]),
    ("float<0,5,finite,bias=0", []),
    ("posit<12,1", []),
    ("takum<16", []),
    ("lns<4,6", []),
    ("fixed<4,11", [["", ",unsigned"], ["", ",wrap"]]),
]
ROUNDINGS = ["", ",nearest-away", ",nearest-zero", ",toward-zero", ",up", ",down",
             ",to-odd", ",stochastic", ",stochastic,random-bits=7"]
CHANGES = ["", ",mul.truncate-operands=1", ",add.rounding=toward-zero",
           ",add.rounding=stochastic,add.random-bits=4",
           ",add.rounding=up,add.overflow=saturate,mul.truncate-operands=1"]


def p3109():
    """Precision p of k bits: the exponent has k - p bits, and one more unsigned."""
    for k, isSigned, isExtended in itertools.product(
            range(3, 17), (True, False), (True, False)):
        for p in range(1, k if isSigned else k + 1):
            exponent = k - p + (not isSigned)
            # Formats in which nothing is left for numbers do not exist.
            yield (f"float<{exponent},{p - 1},p3109"
                   + ("" if isExtended else ",infinities=false")
                   + ("" if isSigned else ",unsigned") + ">")


def builtin():
    text = subprocess.run(["numera", "formats"], capture_output=True, text=True,
                          check=True).stdout
    spellings = [line.split()[1] for line in text.splitlines()[1:]]
    return [spelling for spelling in spellings if not spelling.startswith("block<")]


def spelled():
    for base, parameters in FAMILIES:
        for chosen in itertools.product(*parameters):
            if ",fnu" in chosen and ",flush" in chosen:
                continue
            yield base + "".join(chosen) + ">"
        for rounding, change in itertools.product(ROUNDINGS, CHANGES):
            if "overflow" in change and not base.startswith(("float", "fixed")):
                continue
            yield base + rounding + change + ">"


def all_spellings():
    texts = itertools.chain(builtin(), p3109(), spelled(), ['opaque<"mine",13>'])
    return sorted(set(texts))


def quoted(spelling):
    """As MLIR has it: a part with a hyphen is a string."""
    family, rest = spelling[:-1].split("<", 1)
    parts = [f'"{part}"' if "-" in part.replace("=-", "=") else part
             for part in rest.split(",")]
    return f"{family}<{', '.join(parts)}>"


def main():
    expected = sorted(map(quoted, all_spellings()))
    if "--compare" not in sys.argv:
        for i, spelling in enumerate(expected):
            print(f"func.func private @f{i}(!numera.num<{spelling}>)")
        return
    found = re.findall(r"= !numera\.num<(.*)>$", sys.stdin.read(), re.MULTILINE)
    for spelling in set(expected) ^ set(found):
        print("written or printed alone:", spelling)
    print(f"{len(found)} formats")


main()
