# SPDX-License-Identifier: MIT
"""Number formats as objects."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np

from numera import _sources
from numera._errors import Error
from numera._sources import Source, Sources

__all__ = ["Format", "format", "load"]


class Format:
    """A number format. Made by :func:`numera.format` and its like.

    Formats are equal if their canonical spellings are, whatever their names:

    >>> import numera
    >>> numera.format("posit16") == numera.posit(16, 2)
    True
    """

    __slots__ = (
        "_has_arithmetic",
        "_name",
        "_registry",
        "_sources",
        "_spelling",
        "_storage_bits",
        "_width",
    )

    def __init__(self, name: str, sources: Sources = ()) -> None:
        self._registry = _sources.registry(sources)
        self._sources = sources
        self._name = name
        self._width, self._storage_bits, self._has_arithmetic = self._registry.describe(
            name
        )
        self._spelling = self._registry.spelling(name)

    @property
    def name(self) -> str:
        """What the user called it: a name or a spelling."""
        return self._name

    @property
    def spelling(self) -> str:
        """The canonical spelling, which is the format's identity."""
        return self._spelling

    @property
    def width(self) -> int:
        """Bits of a code."""
        return self._width

    @property
    def storage_bits(self) -> int:
        """Bits of the integer that stores a code: 8, 16, 32 or 64."""
        return self._storage_bits

    @property
    def dtype(self) -> np.dtype[Any]:
        """The unsigned integer that stores a code."""
        return np.dtype(f"u{self._storage_bits // 8}")

    def __repr__(self) -> str:
        if self._name == self._spelling:
            return f"numera.format({self._name!r})"
        return f"numera.format({self._name!r})  # {self._spelling}"

    def __str__(self) -> str:
        return self._name

    def _identity(self) -> tuple[str, Sources]:
        # Of a library's format, the library is a part.
        return self._spelling, () if self._has_arithmetic else self._sources

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Format):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self._name, tuple(map(tuple, self._sources)))


def _restore(name: str, sources: Iterable[tuple[str, str, str]]) -> Format:
    return Format(name, tuple(Source(*source) for source in sources))


def format(spec: str | Format) -> Format:
    """The format of a name or spelling: ``"posit16"``, ``"float<5,7>"``.

    Names are those that are built in, and those that were loaded or registered.

    >>> import numera
    >>> numera.format("float<5,7>").width
    13
    """
    if isinstance(spec, Format):
        return spec
    if not isinstance(spec, str):
        raise Error(
            f"a format is a name, a spelling or a Format, found {type(spec).__name__}"
        )
    for sources in _sources.known():
        try:
            return Format(spec, sources)
        except Error:
            continue
    return Format(spec)


def load(*paths: str | os.PathLike[str]) -> None:
    """Reads formats, libraries and lowerings from YAML files.

    Their names are known from then on, to all that takes names of formats.
    """
    sources = tuple(_sources.read(path) for path in paths)
    _sources.registry(sources)
    _sources.learn(sources)
