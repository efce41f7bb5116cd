# SPDX-License-Identifier: MIT
"""Rows of a data set, as pictures."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
from PIL import Image

__all__ = ["picture"]

_LEAST = 4
"""Pixels of a side. Smaller arrays are no images."""
_MOST = 512
_SHOWN = 168
"""Pixels of a side that a page shows, on screens with two to a unit of length."""


def picture(row: np.ndarray[Any, Any]) -> str | None:
    """A data URI of an image of one or three channels, wherever these are."""
    pixels = _pixels(row)
    if pixels is None or pixels.dtype.kind not in "fiu":
        return None
    values = np.nan_to_num(pixels.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = float(values.min()), float(values.max())
    values = (values - low) / (high - low if high > low else 1)
    image = Image.fromarray(np.rint(values * 255).astype(np.uint8))
    # Few pixels are shown as squares, and stay what they are.
    kind = "png" if max(image.size) <= _SHOWN else "jpeg"
    image.thumbnail((_SHOWN, _SHOWN))
    stream = io.BytesIO()
    image.save(stream, kind, **({"quality": 85} if kind == "jpeg" else {}))
    text = base64.b64encode(stream.getvalue()).decode()
    return f"data:image/{kind};base64,{text}"


def _pixels(row: np.ndarray[Any, Any]) -> np.ndarray[Any, Any] | None:
    if row.ndim == 3 and row.shape[0] == 3:
        row = np.moveaxis(row, 0, -1)
    if row.ndim == 3 and 1 in (row.shape[0], row.shape[-1]):
        row = row[0] if row.shape[0] == 1 else row[..., 0]
    sides = row.shape[:2]
    fits = row.ndim == 2 or row.ndim == 3 and row.shape[-1] == 3
    return row if fits and all(_LEAST <= side <= _MOST for side in sides) else None
