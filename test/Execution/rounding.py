#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Opaque formats in their carriers: rounding.py FORMATS OUT

Carried programs against uncarried ones, and both against the built-in format of
the same codes, bit for bit: all pairs of 8 bits, random ones above."""

import sys
from pathlib import Path

import promotion
import numpy as np
from chosen import chosen

# Name, bits, the built-in format.
FORMATS = [
    ("whole", 8, "float<5,2>"),
    ("casts", 16, "float<8,7>"),
    ("wide", 24, "float<8,15>"),
    ("plain", 16, "float<5,10>"),
]


def inputs(bits):
    z = promotion.codes(bits, 3)
    if bits > 8:
        return [promotion.codes(bits, 1), promotion.codes(bits, 2), z]
    pairs = np.arange(1 << 16)
    return [(pairs & 255).astype("u1"), (pairs >> 8).astype("u1"), z]


def main():
    formats, out = sys.argv[1], Path(sys.argv[2])
    out.mkdir(parents=True, exist_ok=True)
    promotion.COUNT = 1 << 16
    for name, bits, builtin in chosen(FORMATS, mirrored=slice(None, None, 2)):
        arrays = inputs(bits)
        own = promotion.check(
            out / f"{name}.mlir", f'opaque<"{name}",{bits}>', arrays, "--formats", formats
        )
        other = promotion.check(out / f"{name}-builtin.mlir", builtin, arrays)
        # An fma of the carrier is rounded twice.
        for chain in own.keys() - {"fused"}:
            operands = arrays if chain in promotion.CHAINS else [np.zeros(promotion.COUNT, "u1")]
            promotion.compare(f"{name} and {builtin}, {chain}", operands, own[chain], other[chain])


main()
