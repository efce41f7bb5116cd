# SPDX-License-Identifier: MIT
"""The exception of the package."""

from __future__ import annotations

import operator
from typing import Any


class Error(Exception):
    """What Numera refuses, in one line: what was found and what was expected.

    The line is the one that the command line prints.
    """


def check_whole(**named: Any) -> None:
    """Refuses what is no number of threads, seed, step or sample."""
    for name, value in named.items():
        bits = 32 if name == "threads" else 64
        try:
            fits = 0 <= operator.index(value) < 1 << bits
        except TypeError:
            fits = False
        if not fits:
            raise Error(
                f"{name} is {value!r}, expected a whole number of {bits} bits from 0 on"
            )


def check_counts(**named: Any) -> None:
    """Refuses what is no number of things, of which there is one at least. None: what
    is usual."""
    for name, value in named.items():
        if value is None:
            continue
        try:
            fits = operator.index(value) >= 1
        except TypeError:
            raise Error(f"{name} is {value!r}, expected a whole number") from None
        if not fits:
            raise Error(f"{name} is {value}, expected 1 or more")


# As users know it.
Error.__module__ = "numera"
