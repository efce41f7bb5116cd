# SPDX-License-Identifier: MIT
"""Pictures of formats, where matplotlib is installed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from numera._errors import Error

if TYPE_CHECKING:
    from numera._formats import Format


def plot(format: Format, ax: Any, style: dict[str, Any]) -> Any:
    """Significant bits of the numbers above zero, and a mark for each of few."""
    values = np.unique(format.values())
    values = values[np.isfinite(values) & (values > 0)]
    try:
        from matplotlib import pyplot
    except ImportError:
        raise Error("a plot needs matplotlib: pip install matplotlib") from None
    if ax is None:
        ax = pyplot.subplots()[1]
        ax.set_xlabel("magnitude")
        ax.set_ylabel("significant bits")
    gaps = np.diff(values)
    # A number of p significant bits is 2^(1 - p) of its binade from the next.
    binades = np.exp2(np.floor(np.log2(values[:-1])))
    bits = np.maximum(1 + np.log2(binades / gaps), 0)
    style = {"where": "post", "label": format.name} | style
    (line,) = ax.step(values, np.append(bits, bits[-1:]), **style)
    if len(values) <= 256:
        ax.plot(values, np.zeros(len(values)), "|", color=line.get_color())
    ax.set_xscale("log", base=2)
    ax.legend()
    return ax
