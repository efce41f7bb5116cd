# SPDX-License-Identifier: MIT
"""Spellings with ranges, ``float<4..6,1..10>``, and the formats that they mean."""

from __future__ import annotations

import itertools
import math
import re

from numera._errors import Error
from numera._formats import Format, format

__all__ = ["expand", "spelled"]

_RANGE = re.compile(r"(?<![\w.])(-?\d+)\.\.(-?\d+)(?![\w.])")
_INTEGER = re.compile(r"([iu])(\d{1,2})")
_MOST = 10_000
"""Members of one pattern."""


def expand(*patterns: str | Format) -> list[Format]:
    """The formats that patterns mean, each once.

    A pattern is a format, its name, or a spelling with ranges of whole numbers,
    both ends included. The last range runs fastest. Of a pattern with ranges, the
    members that are no formats are left out.

    >>> import numera
    >>> [each.spelling for each in numera.study.expand("float<4,0..2>")]
    ['float<4,1>', 'float<4,2>']
    >>> numera.study.expand("posit<8,5..6>")
    Traceback (most recent call last):
    numera.Error: no member of 'posit<8,5..6>' is a format: in 'posit<8,5>': es is \
'5', expected an integer from 0 to 4
    """
    found: dict[Format, None] = {}
    for pattern in patterns:
        found.update(dict.fromkeys(_members(pattern)))
    if not found:
        raise Error("no formats, expected one or more")
    return list(found)


def spelled(pattern: str | Format) -> str | Format:
    """``i8`` is an integer, as in a policy. To ``numera.format`` it is none: NumPy
    calls one of 64 bits so."""
    found = _INTEGER.fullmatch(pattern) if isinstance(pattern, str) else None
    if found is None or not 2 <= (bits := int(found[2])) <= 32:
        return pattern
    return f"fixed<{bits - 1},0>" if found[1] == "i" else f"fixed<{bits},0,unsigned>"


def _members(pattern: str | Format) -> list[Format]:
    if not isinstance(pattern, str) or ".." not in pattern:
        return [format(spelled(pattern))]
    # Texts and ranges take turns: float< 4..6 , 1..10 >.
    parts = _RANGE.split(pattern)
    texts, firsts, lasts = parts[::3], parts[1::3], parts[2::3]
    if any(".." in text for text in texts):
        raise Error(
            f"in '{pattern}': a range is two whole numbers with '..' between them"
        )
    ranges = [range(int(a), int(b) + 1) for a, b in zip(firsts, lasts)]
    for place, each in enumerate(ranges):
        if not each:
            raise Error(
                f"in '{pattern}': the range {firsts[place]}..{lasts[place]} is empty"
            )
    if (count := math.prod(map(len, ranges))) > _MOST:
        raise Error(f"'{pattern}' has {count} members, expected at most {_MOST}")
    members, refused = [], None
    for numbers in itertools.product(*ranges):
        words = itertools.chain.from_iterable(zip(texts, map(str, numbers)))
        try:
            members.append(format("".join(words) + texts[-1]))
        except Error as error:
            refused = refused or error
    if not members:
        raise Error(f"no member of '{pattern}' is a format: {refused}")
    return members
