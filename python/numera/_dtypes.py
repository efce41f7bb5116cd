# SPDX-License-Identifier: MIT
"""NumPy's types beside formats: which is meant, which has the codes, integers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from numera import _casts, _kinds
from numera._errors import Error
from numera._formats import Format

if TYPE_CHECKING:
    from numera._array import Array

__all__ = [
    "FLOATS",
    "floating",
    "given",
    "has_integers",
    "has_zero",
    "integers",
    "named",
    "recoded",
    "same_codes",
    "whole",
    "wide_integers",
]

_NUMPY_KINDS = "biufc"


def named(fmt: Any) -> np.dtype[Any] | None:
    """The type of NumPy that something is, or spells where no format is called so."""
    if isinstance(fmt, Format):
        return None
    try:
        dtype = np.dtype(fmt)
    except (TypeError, ValueError):  # the latter where it has a comma
        return None
    if not isinstance(fmt, str):
        return dtype
    if dtype.kind not in _NUMPY_KINDS:
        return None
    try:
        _casts.chosen(fmt)
    except Error:
        return dtype
    return None


def given(dtype: Any, wanted: str) -> np.dtype[Any]:
    """The type of NumPy that an argument is; an error where it is none."""
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError):
        raise Error(f"dtype is {dtype}, expected {wanted}") from None


FLOATS = "f16, bf16, f32 or f64"
"""What values are decoded to."""


def floating(dtype: Any) -> np.dtype[Any]:
    """The type that an argument is, or that has this name as a format: ``f16``, which
    NumPy takes for a number of 16 bytes."""
    name = dtype if isinstance(dtype, str) else ""
    if name == "bf16":
        try:
            from ml_dtypes import bfloat16
        except ImportError:
            raise Error("dtype bf16 needs ml_dtypes: pip install ml_dtypes") from None
        return np.dtype(bfloat16)
    words = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
    return given(words.get(name, dtype), FLOATS)


def same_codes(a: Format, b: Format) -> bool:
    """True for formats that differ in how they round at most."""
    return _plain(a.spelling) == _plain(b.spelling)


_RULES = {
    "nearest-even", "nearest-away", "nearest-zero", "toward-zero", "up", "down",
    "to-odd", "stochastic", "infinity", "saturate", "propagate",
}  # fmt: skip


def _plain(spelling: str) -> str:
    family, _, rest = spelling.partition("<")
    kept = [
        part
        for part in rest.rstrip(">").split(",")
        if part not in _RULES and not part.startswith("random-bits=")
    ]
    return f"{family}<{','.join(kept)}>"


# ---- codes of another format ------------------------------------------------


def recoded(
    codes: np.ndarray[Any, Any],
    source: Format,
    target: Format,
    rounding: str | None = None,
    *,
    overflow: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    step: int = 0,
    threads: int = 0,
) -> np.ndarray[Any, Any]:
    """The codes of the values in another format, each rounded once."""
    ways = rounding, overflow, random_bits
    if "opaque" in (source.family, target.family):
        # A library that casts floats alone; where they have all of the values.
        through = not _casts.casts(source, target, *ways)
        if through and _casts.casts(source, f"f{_casts.carrier(source)}"):
            from numera import _arrays

            found: np.ndarray[Any, Any] = _arrays.encode(
                np.asarray(_arrays.decode(codes, source)),
                target,
                rounding=rounding,
                overflow=overflow,
                random_bits=random_bits,
                seed=seed,
                step=step,
                threads=threads,
            )
            return found
    cast = _casts.find(source, None, target, *ways)
    result = np.empty_like(codes, dtype=target.dtype)
    _casts.run(cast, codes, result, threads, seed, step)
    return result


def has_zero(fmt: Format) -> bool:
    """Whether zero is one of its numbers (F12)."""
    spelling = fmt.spelling
    return "fnu" not in spelling or "fnu" not in spelling[:-1].split(",")


# ---- integers ---------------------------------------------------------------

_FEW_BITS = re.compile(r"(u?int)([1-7])")
"""Those of ml_dtypes, whose own casts wrap."""


def has_integers(dtype: np.dtype[Any]) -> bool:
    """Whether a type has integers, of at most 64 bits."""
    if _FEW_BITS.fullmatch(dtype.name):
        return True
    return _kinds.format_of(dtype, integers=True) is not None


def integers(
    codes: np.ndarray[Any, Any], fmt: Format, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """The values as integers: truncated, saturated, and 0 for NaN (V5)."""
    few = _FEW_BITS.fullmatch(dtype.name)
    if few:
        least = -(1 << (int(few[2]) - 1)) if few[1] == "int" else 0
        most = least + (1 << int(few[2])) - 1
        wide = integers(codes, fmt, np.dtype(np.int8))
        return np.clip(wide, least, most).astype(dtype)
    target = _kinds.format_of(dtype, integers=True)
    assert target is not None
    source: str | Format = fmt
    if fmt.family == "opaque":
        # A library knows floats, and integers at most in ways of its own.
        source = f"f{_casts.carrier(fmt) or 32}"
        wanted = np.dtype(np.float32 if source == "f32" else np.float64)
        values = np.empty_like(codes, dtype=wanted)
        _casts.run(_casts.find(fmt, None, source), codes, values, 0, 0, 0)
        codes = values
    result = np.empty_like(codes, dtype=dtype.newbyteorder("="))
    cast = _casts.find(source, None, target, "toward-zero", None, None)
    _casts.run(cast, codes, result, 0, 0, 0)
    return result if dtype.isnative else result.astype(dtype)


_INTEGERS_ALONE = re.compile(r"fixed<\d+,0[,>]")


def wide_integers(fmt: Format) -> np.dtype[Any] | None:
    """The type of the values of a format that has integers alone, more than f64."""
    if not _INTEGERS_ALONE.match(fmt.spelling) or _casts.carrier(fmt):
        return None
    return np.dtype(np.uint64 if "unsigned" in fmt.spelling else np.int64)


def whole(x: Array) -> int:
    """One value without its fraction, as an integer of Python."""
    value = x.item()
    if isinstance(value, float) and not _casts.carrier(x._format):
        # f64 may not have its last bits.
        if 0 <= value < 2.0**64:
            return int(x.astype(np.uint64).item())
        if -(2.0**63) < value < 0:
            return int(x.astype(np.int64).item())
    return int(value)
