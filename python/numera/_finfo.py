# SPDX-License-Identifier: MIT
"""The limits of a format, under the names that ``numpy.finfo`` has."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

__all__ = ["FormatInfo"]


def _number(text: str) -> float:
    """The nearest of Python's floats; infinite above their range."""
    try:
        return float.fromhex(text)
    except OverflowError:
        return -math.inf if text.startswith("-") else math.inf


def _optional(text: str | None) -> float | None:
    return None if text is None else _number(text)


class FormatInfo:
    """Limits of a format. What a format does not have is None."""

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
        self.eps = _optional(facts["epsilon"])
        self.max = _number(facts["largest"])
        self.min = _number(facts["lowest"])
        self.smallest_normal = self.tiny = _optional(facts["smallest_normal"])
        self.smallest_subnormal = _number(facts["smallest"])
        # As NumPy has it.
        self.precision = None if self.eps is None else int(-math.log10(self.eps))
        self.resolution = None if self.precision is None else 10.0**-self.precision
        self.significant_bits = facts["precision"]
        self.has_nan = facts["has_nan"]
        self.has_infinity = facts["has_infinity"]

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={getattr(self, key)}" for key in self.__annotations__)
        return f"FormatInfo({self._name}: {shown})"
