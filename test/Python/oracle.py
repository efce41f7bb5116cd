# SPDX-License-Identifier: MIT
"""Values and roundings that share nothing with Numera.

Codes of floats are read by gfloat, those of posits by the definition of the
standard; roundings go to the nearest of all values of a format.
"""

import functools

import gfloat
import gfloat.formats
import numpy as np

GFLOAT = {
    "bf16": gfloat.formats.format_info_bfloat16,
    "f16": gfloat.formats.format_info_binary16,
    "f8E4M3FN": gfloat.formats.format_info_ocp_e4m3,
    "f8E5M2": gfloat.formats.format_info_ocp_e5m2,
    "f6E2M3FN": gfloat.formats.format_info_ocp_e2m3,
    "f6E3M2FN": gfloat.formats.format_info_ocp_e3m2,
    "f4E2M1FN": gfloat.formats.format_info_ocp_e2m1,
    "p3109_k8p3se": gfloat.formats.format_info_p3109(
        8, 3, gfloat.Signedness.Signed, gfloat.Domain.Extended
    ),
    "p3109_k8p4sf": gfloat.formats.format_info_p3109(
        8, 4, gfloat.Signedness.Signed, gfloat.Domain.Finite
    ),
}

ML_DTYPES = {
    "bf16": "bfloat16",
    "f8E3M4": "float8_e3m4",
    "f8E4M3": "float8_e4m3",
    "float<4,3,fnuz,bias=11>": "float8_e4m3b11fnuz",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f6E2M3FN": "float6_e2m3fn",
    "f6E3M2FN": "float6_e3m2fn",
    "f4E2M1FN": "float4_e2m1fn",
}


@functools.cache
def posit_values(bits: int) -> np.ndarray:
    """The values of all codes of posit<bits, 2>, in f64; NaR is NaN."""
    codes = np.arange(1 << bits, dtype=np.int64)
    negative = codes >> (bits - 1) != 0
    magnitudes = np.where(negative, (1 << bits) - codes, codes)
    values = np.array([_posit(bits, int(code)) for code in magnitudes])
    return np.where(negative, -values, values)


def _posit(bits: int, code: int) -> float:
    if code == 0:
        return 0.0
    if code == 1 << (bits - 1):
        return np.nan
    text = format(code, f"0{bits}b")[1:]
    run = len(text) - len(text.lstrip(text[0]))
    regime = run - 1 if text[0] == "1" else -run
    rest = text[run + 1 :]
    exponent = int((rest[:2] + "00")[:2], 2)
    fraction = rest[2:]
    significand = 1 + (int(fraction, 2) / (1 << len(fraction)) if fraction else 0)
    return float(significand * 2.0 ** (4 * regime + exponent))


def posit_codes(x: np.ndarray, bits: int) -> np.ndarray:
    """The code of the nearest posit: on the string of bits, ties to even.

    What lies half way between two codes is the posit with one bit more. Nothing
    but zero becomes zero, and nothing becomes NaR but NaN.
    """
    halves = posit_values(bits + 1)[1 : 1 << bits : 2]
    magnitude = np.abs(x)
    low = np.searchsorted(halves, magnitude, "left")
    high = np.searchsorted(halves, magnitude, "right")
    # On a tie the even one of the two.
    code = np.where((low != high) & (low % 2 == 1), high, low)
    code = np.where((code == 0) & (magnitude != 0), 1, code)
    code = np.minimum(code, (1 << (bits - 1)) - 1)
    code = np.where(x < 0, (1 << bits) - code, code)
    return np.where(np.isnan(x), 1 << (bits - 1), code)


def same_bits(a: np.ndarray, b: np.ndarray) -> None:
    """All values are equal, zeros in their signs as well, NaNs whatever their bits."""
    a, b = np.asarray(a), np.asarray(b)
    assert a.shape == b.shape and a.dtype == b.dtype
    unequal = ~((a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b))
    assert not unequal.any(), (a[unequal][:5], b[unequal][:5])
