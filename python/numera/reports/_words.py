# SPDX-License-Identifier: MIT
"""What numbers of a report mean, in words: of a layer, and whether a format suffices."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from numera._array import array
from numera._errors import Error
from numera._formats import format
from numera.reports._measure import Measured
from numera.reports._suspects import faults

__all__ = ["about", "own_ulps", "verdict"]

_ULPS = 1.0
"""Error of a layer that does nothing else than round, of products their factors, too:
those have .5 to .7, and what rounds once .29."""
_PLACES = np.random.default_rng(1).uniform(1, 2, 1000)
"""Numbers of a binade."""
_LOSS = 3.0
"""In dB, what a layer loses to be worth a word."""
_SAME = (0.98, 0.95)
"""Shares of rows whose largest output is where f32 has it: where a format suffices,
and where nearly."""
_SCORES = (20.0, 10.0)
"""In dB, the SQNR of such outputs."""
_NUMBERS = (30.0, 20.0)
"""In dB, that of other outputs, which are wanted as numbers."""


def about(layer: Mapping[str, Any]) -> str:
    """How well a layer does in its format."""
    parts = faults(layer)
    if layer["own_sqnr_db"] is None and not parts:
        parts.append("exact")
    elif not parts and (ulps := own_ulps(layer)) is not None:
        size = f"{ulps:.2f}" if ulps < 10 else f"{ulps:,.0f}"
        parts.append(f"error {size} ulp of {layer['format']}")
        if ulps <= _ULPS:
            parts[0] += ": as good as it allows"
    before, after = layer["input_sqnr_db"], layer["sqnr_db"]
    if before is not None and after is not None and before - after >= _LOSS:
        parts.append(f"loses {before - after:.0f} dB here")
    return ", ".join(parts)


def own_ulps(layer: Mapping[str, Any]) -> float | None:
    """The error that a layer makes by itself, root mean square, in ulps: those of its
    numbers, of which the largest count most, as they do in dB.

    None where the format is opaque, or where its numbers are scaled.
    """
    own, exponents = layer["own_sqnr_db"], layer["exponents"]
    if own is None or not exponents:
        return None
    signal = noise = 0.0
    for exponent, count in exponents.items():
        power, error = _rounded(layer["format"], int(exponent))
        signal += count * power
        noise += count * error
    if not noise or not signal:
        return None
    ratio: float = 10 ** (-own / 10) * signal / noise
    return math.sqrt(ratio / 12)


@functools.lru_cache(4096)
def _rounded(name: str, exponent: int) -> tuple[float, float]:
    """The mean squares of a binade's numbers, and of what rounding them adds."""
    values = np.ldexp(_PLACES, exponent)
    try:
        found = array(values, format(name)).values().astype(np.float64)
    except Error:
        return 0.0, 0.0
    errors = np.where(np.isfinite(found), found - values, 0.0)
    return float(np.mean(values**2)), float(np.mean(errors**2))


def verdict(found: Measured) -> str:
    """Whether the outputs are good enough, and why, in a sentence."""
    reasons = []
    scores = found.same is not None
    levels = [_level(found.sqnr_db, _SCORES if scores else _NUMBERS)]
    if found.nan:
        levels.append(2)
        reasons.append(f"{found.nan:.2%} of the outputs are NaN or infinite")
    if found.same is not None:
        same, rows = found.same
        levels.append(_level(same / rows, _SAME))
        reasons.append(f"{same} of {rows} rows have their largest output where f32 has it")
    reasons.append(f"SQNR of the outputs {found.sqnr_db:.1f} dB")
    words = ("suffices", "nearly suffices", "does not suffice")[max(levels)]
    return f"{words}: {', '.join(reasons)}"


def _level(value: float, least: tuple[float, float]) -> int:
    return sum(value < each for each in least)
