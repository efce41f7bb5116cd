# SPDX-License-Identifier: MIT
"""Text in columns."""

from __future__ import annotations

from collections.abc import Collection, Sequence

__all__ = ["aligned"]


def aligned(lines: Sequence[Sequence[str]], left: Collection[int]) -> str:
    """A line for each, whose cells are as wide as their column; those of the columns
    `left` start at its left."""
    widths = [max(map(len, column)) for column in zip(*lines)]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    )
