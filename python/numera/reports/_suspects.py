# SPDX-License-Identifier: MIT
"""Which layers are to blame, in what order, and what is wrong with each, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["SHARE", "faults", "finding", "suspects"]

Layer = Mapping[str, Any]

SHARE = 0.001
"""Shares below are not worth a word."""
_LOST = 0.3
"""Noise over the signal, from which on a layer's numbers are lost: 5 dB."""


def _noise(layer: Layer) -> float:
    """Of the layer by itself, against its signal; of what is finite."""
    own = layer["own_sqnr_db"]
    return 0.0 if own is None else min(10 ** (-own / 10), _LOST)


def _overflows(layer: Layer) -> bool:
    return (layer["overflow"] or 0) >= 10 * SHARE


def _fault(layer: Layer, layers: Sequence[Layer]) -> tuple[int, int, float]:
    lost = layer["own_lost"]
    if lost:
        return 2 if lost >= 10 * SHARE else 1, 0, 0.0
    begins = not any(_overflows(layers[place]) for place in layer["inputs"])
    return 0, (1 + begins) * _overflows(layer), _noise(layer)


def suspects(layers: Sequence[Layer], most: int) -> list[Layer]:
    """The layers that add the most noise. Before them those that lose numbers, the
    first one first, which is where it begins: an infinity goes a long way. Then those
    that overflow: what the next layer reads may be the very numbers that are lost,
    while noise is measured against all of them; of these, too, those where it begins."""
    causes = _causes(layers)

    def order(place: int) -> tuple[int, int, float]:
        return (2, 0, 0.0) if place in causes else _fault(layers[place], layers)

    noisy = [n for n, e in enumerate(layers) if e["own_lost"] or _noise(e) > 0]
    names: dict[str, Layer] = {}
    for place in sorted(noisy, key=order, reverse=True):
        names.setdefault(layers[place]["name"], layers[place])
    return list(names.values())[:most]


def _causes(layers: Sequence[Layer]) -> set[int]:
    """Layers that lose some numbers, where what reads them loses many for that: the
    sums of a row of pixels, say, of which one is infinite."""
    found: set[int] = set()
    left = [n for n, layer in enumerate(layers) if _fault(layer, layers)[0] == 2]
    while left:
        for place in layers[left.pop()]["inputs"]:
            if place not in found and layers[place]["own_lost"]:
                found.add(place)
                left.append(place)
    return found


def finding(layer: Layer) -> str:
    """What is wrong, in words."""
    parts = faults(layer)
    own = layer["own_sqnr_db"]
    if own is not None and not parts:
        parts.append(f"adds noise at {own:.1f} dB".replace("-0.0", "0.0"))
    return " and ".join(parts) or "differs"


def faults(layer: Layer) -> list[str]:
    """Numbers that are out of the format's range, in words."""
    parts = []
    overflow, lost = layer["overflow"] or 0, layer["own_lost"]
    if overflow >= SHARE:
        parts.append(f"overflows in {_percent(overflow)} of its outputs")
    if lost and (overflow < SHARE or lost > 2 * overflow):
        parts.append(f"makes {_percent(lost)} of its outputs infinite or NaN")
    zeros, below = layer["zeros"] or 0, layer["underflow"] or 0
    # Not where only the sign of what is nearly nothing is wrong.
    if zeros >= 10 * SHARE and below > zeros / 2:
        parts.append(f"loses {_percent(zeros)} of its outputs to zero")
    elif below >= 100 * SHARE:
        parts.append(f"has {_percent(below)} of its outputs below normal")
    return parts


def _percent(share: float) -> str:
    if share < 0.5 * SHARE:
        return "less than 0.1%"
    return f"{share:.0%}" if 0.1 <= share < 0.99 or share == 1 else f"{share:.1%}"
