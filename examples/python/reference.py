# SPDX-License-Identifier: MIT
"""Holds formats against ml_dtypes and gfloat, bit for bit.

Every code is decoded, and a million numbers are rounded. Exits with 1 where a bit
differs.
"""

import sys

import gfloat
import gfloat.formats
import ml_dtypes
import numera
import numpy as np

# Numera's name, that of ml_dtypes, and gfloat's where it has the format.
FORMATS = [
    ("bf16", "bfloat16", "bfloat16"),
    ("f8E4M3FN", "float8_e4m3fn", "ocp_e4m3"),
    ("f8E5M2", "float8_e5m2", "ocp_e5m2"),
    ("f8E4M3FNUZ", "float8_e4m3fnuz", None),
    ("f6E3M2FN", "float6_e3m2fn", "ocp_e3m2"),
    ("f4E2M1FN", "float4_e2m1fn", "ocp_e2m1"),
]


def differences(found: np.ndarray, expected: np.ndarray) -> int:
    same = (found == expected) & (np.signbit(found) == np.signbit(expected))
    return np.count_nonzero(~(same | np.isnan(found) & np.isnan(expected)))


def main() -> int:
    numbers = np.random.default_rng(0).normal(size=1_000_000).astype(np.float32)
    numbers *= np.float32(10)
    total = 0
    for name, theirs, of_gfloat in FORMATS:
        format = numera.format(name)
        dtype = np.dtype(getattr(ml_dtypes, theirs))
        codes = np.arange(2**format.width, dtype=format.dtype)
        with np.errstate(invalid="ignore"):  # NaNs that signal
            decoded = codes.view(dtype).astype(np.float64)
        found = {"codes": differences(format.values(), decoded)}
        if of_gfloat:
            info = getattr(gfloat.formats, f"format_info_{of_gfloat}")
            values = gfloat.decode_ndarray(info, codes.astype(np.int64))
            found["codes of gfloat"] = differences(format.values(), values)
        # Numbers too large become the largest, or what ml_dtypes makes of them.
        limit = np.float32(format.finfo.max)
        inside = np.clip(numbers, -limit, limit)
        rounded = numera.quantize(inside, format)
        found["roundings"] = differences(rounded, inside.astype(dtype).astype("f4"))
        print(f"{name:11}", *(f"{count} {what}" for what, count in found.items()))
        total += sum(found.values())
    print("all bits agree" if total == 0 else f"{total} differ")
    return int(total != 0)


if __name__ == "__main__":
    sys.exit(main())
