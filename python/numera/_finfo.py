# SPDX-License-Identifier: MIT
"""The limits of a format, under the names that ``numpy.finfo`` has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from numera._errors import Error

__all__ = ["FormatInfo"]


def nearest(text: str) -> float:
    """The nearest of Python's floats; infinite above their range, 0 below it."""
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def is_beyond(text: str) -> bool:
    """Whether a finite number other than 0 is out of the range of Python's floats."""
    if text.lstrip("-").startswith(("inf", "nan")):
        return False
    found = nearest(text)
    digits = text.lstrip("-").removeprefix("0x").partition("p")[0]
    return math.isinf(found) or (found == 0 and digits.strip("0.") != "")


def limits(
    name: str, width: int, values: np.ndarray[Any, np.dtype[np.float64]]
) -> dict[str, Any]:
    """The facts that a :class:`FormatInfo` has, of a format whose values are known.

    Which of its numbers are normal is not.
    """
    finite = np.unique(values[np.isfinite(values)])
    if not len(finite):
        raise Error(f"none of the codes of format '{name}' is a finite number")
    above = finite[finite > 0]
    next_to_one = finite[finite > 1]
    has_eps = 1 in finite and len(next_to_one) > 0
    return {
        "name": name,
        "width": width,
        "epsilon": (next_to_one[0] - 1).hex() if has_eps else None,
        "largest": finite[-1].hex(),
        "lowest": finite[0].hex(),
        "smallest_normal": None,
        "smallest": (above[0] if len(above) else np.float64(0)).hex(),
        "precision": max(map(_significant_bits, finite)),
        "has_nan": bool(np.isnan(values).any()),
        "has_infinity": bool(np.isinf(values).any()),
    }


def _significant_bits(value: float) -> int:
    numerator, _ = float(abs(value)).as_integer_ratio()
    return (numerator // (numerator & -numerator or 1)).bit_length()


class BeyondError(Error, AttributeError):
    """A limit that none of Python's floats is."""


class FormatInfo:
    """Limits of a format. What a format does not have is None.

    A limit out of the range of Python's floats is an error that has it as text, in
    hexadecimal, exact; :meth:`nearest` has infinity or 0 in its place.
    """

    bits: int
    """Bits of a code."""
    eps: float | None
    """From 1 to the next number."""
    max: float
    """The largest finite number."""
    min: float
    """The lowest finite number: ``-max``, 0 in an unsigned format."""
    smallest_normal: float | None
    """The least number with a hidden bit; None where precision tapers."""
    tiny: float | None
    """The same: NumPy's other name of it."""
    smallest_subnormal: float
    """The least number above zero."""
    precision: int | None
    """Decimal digits to which a number near 1 is good."""
    resolution: float | None
    """10**-precision."""
    significant_bits: int
    """The most that a number has."""
    has_nan: bool
    has_infinity: bool

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self._name = facts["name"]
        self.bits = facts["width"]
        self._texts = {key: facts[fact] for key, fact in _FACTS.items()}
        for key, text in self._texts.items():
            if text is None or not is_beyond(text):
                setattr(self, key, self.nearest(key))
        # As NumPy has it.
        self.precision = None if self.eps is None else int(-math.log10(self.eps))
        self.resolution = None if self.precision is None else 10.0**-self.precision
        self.significant_bits = facts["precision"]
        self.has_nan = facts["has_nan"]
        self.has_infinity = facts["has_infinity"]

    def nearest(self, key: str) -> float | None:
        """A limit, ``"max"`` or the like, as the nearest of Python's floats, which
        is infinite above their range and 0 below it.

        >>> import numera
        >>> info = numera.float(15, 48).finfo
        >>> info.nearest("max"), info.nearest("smallest_normal")
        (inf, 0.0)
        """
        if key not in self._texts:
            raise Error(f"found '{key}', expected one of {', '.join(self._texts)}")
        text = self._texts[key]
        return None if text is None else nearest(text)

    def __getattr__(self, key: str) -> Any:
        # Of limits, those that are out of range alone come here.
        text = self.__dict__.get("_texts", {}).get(key)
        if text is None:
            raise AttributeError(f"'FormatInfo' has no '{key}'")
        raise BeyondError(
            f"{key} of '{self._name}' is {text}, out of the range of Python's "
            f"floats; .nearest('{key}') is the nearest of them"
        )

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{key}={self.__dict__.get(key, self._texts.get(key))}"
            for key in self.__annotations__
        )
        return f"FormatInfo({self._name}: {shown})"


_FACTS = {
    "eps": "epsilon",
    "max": "largest",
    "min": "lowest",
    "smallest_normal": "smallest_normal",
    "tiny": "smallest_normal",
    "smallest_subnormal": "smallest",
}
"""Limits that are numbers, and their names among the facts."""
