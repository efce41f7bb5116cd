# SPDX-License-Identifier: MIT
"""Number formats as objects."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping
from decimal import Context, Decimal
from typing import Any, NamedTuple

import numpy as np

from numera import _sources
from numera._errors import Error
from numera._finfo import FormatInfo, is_beyond, limits, nearest
from numera._sources import Source, Sources

__all__ = ["Code", "Format", "ScaledFormat", "Table", "format", "formats", "load"]

WIDEST_TABLE = 16
"""Bits of the widest format whose codes are listed, here and on the command line."""


class Code(NamedTuple):
    """A code of a format, and what it means."""

    code: int
    bits: str
    """By field: ``0 1000 001``."""
    value: float
    """The nearest of Python's floats; infinite or 0 out of their range."""
    decimal: str
    """All digits of the value."""


class Table(list[Code]):
    """Every code of a format, in order. Prints as ``numera formats --table``."""

    def __str__(self) -> str:
        digits = (len(self).bit_length() + 2) // 4
        width = max(len(row.bits) for row in self)
        return "\n".join(
            f"0x{row.code:0{digits}x}  {row.bits:{width}}  {row.decimal}"
            for row in self
        )


class Format:
    """A number format. Made by :func:`numera.format` and its like.

    Formats are equal if their canonical spellings are, whatever their names:

    >>> import numera
    >>> numera.format("posit16") == numera.posit(16, 2)
    True
    """

    __slots__ = ("__weakref__", "_facts", "_finfo", "_registry", "_sources")

    def __init__(self, facts: Mapping[str, Any], sources: Sources) -> None:
        self._facts = facts
        self._sources = sources
        self._registry = _sources.registry(sources)
        self._finfo: FormatInfo | None = None

    @property
    def name(self) -> str:
        """What the user called it: a name or a spelling."""
        return self._facts["name"]

    @property
    def spelling(self) -> str:
        """The canonical spelling, which is the format's identity."""
        return self._facts["spelling"]

    @property
    def family(self) -> str:
        """``float``, ``posit``, ``fixed``, ``takum``, ``lns``, ``opaque``…"""
        return self._facts["family"]

    @property
    def width(self) -> int:
        """Bits of a code."""
        return self._facts["width"]

    @property
    def storage_bits(self) -> int:
        """Bits that store a code: 8, 16, 32, 64, 128 or 256."""
        return self._facts["storage_bits"]

    @property
    def dtype(self) -> np.dtype[Any]:
        """What stores a code: an unsigned integer; above 64 bits, which NumPy's have
        not, so many bytes, ``V16`` or ``V32``."""
        kind = "V" if self.storage_bits > 64 else "u"
        return np.dtype(f"{kind}{self.storage_bits // 8}")

    @property
    def rounding(self) -> str:
        """How its operations round."""
        return self._known("rounding")

    @property
    def overflow(self) -> str:
        """What becomes of numbers too large."""
        return self._known("overflow")

    @property
    def facts(self) -> dict[str, Any]:
        """What follows from the format: ``numera formats NAME --json``.

        Numbers are exact, in hexadecimal, where :attr:`finfo` has Python's floats.
        """
        return json.loads(json.dumps(self._facts))

    @property
    def finfo(self) -> FormatInfo:
        """Its limits, under the names that ``numpy.finfo`` has.

        Those of an opaque format, of at most 16 bits, are found among the values of
        its codes. The error of a limit beyond Python's floats has it exactly.

        >>> import numera
        >>> info = numera.format("f8E4M3FN").finfo
        >>> info.max, info.eps, info.smallest_subnormal
        (448.0, 0.125, 0.001953125)
        """
        if self._finfo is None:
            facts = self._facts
            if self.family == "opaque":
                facts = limits(self.name, self.width, self.values())
            else:
                self._known("precision")
            self._finfo = FormatInfo(facts)
        return self._finfo

    def _known(self, key: str) -> Any:
        if key not in self._facts:
            raise Error(
                f"format '{self.name}' is opaque: only its library defines its values"
            )
        return self._facts[key]

    def table(self) -> Table:
        """Every code of a format of at most 16 bits, with its value.

        >>> import numera
        >>> numera.format("f4E2M1FN").table()[3]
        Code(code=3, bits='0 01 1', value=1.5, decimal='1.5')
        >>> print(numera.posit(3).table())
        0x0  0 00  0
        0x1  0 01  0.0625
        0x2  0 10  1
        0x3  0 11  16
        0x4  1 00  nan
        0x5  1 01  -16
        0x6  1 10  -1
        0x7  1 11  -0.0625
        """
        if self._facts.get("family") == "opaque":
            return Table(
                Code(code, f"{code:0{self.width}b}", value, _decimal(value))
                for code, value in enumerate(self.values().tolist())
            )
        return Table(
            Code(
                int(row["code"], 16),
                row["bits"],
                nearest(row["value"]),
                row["decimal"],
            )
            for row in json.loads(self._registry.table(self.name))
        )

    def values(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """The value of every code, for formats of at most 16 bits.

        >>> import numera
        >>> numera.format("f4E2M1FN").values()[:8]
        array([0. , 0.5, 1. , 1.5, 2. , 3. , 4. , 6. ])
        """
        is_opaque = self._facts.get("family") == "opaque"
        if not is_opaque:
            self._known("precision")
        if self.width > WIDEST_TABLE:
            raise Error(
                f"format '{self.name}' has {self.width} bits, values are listed for "
                f"at most {WIDEST_TABLE}"
            )
        codes = np.arange(2**self.width, dtype=np.uint64)
        if is_opaque:
            from numera import _arrays

            return _arrays.decode(codes.astype(self.dtype), self, np.float64)
        if any(is_beyond(self._facts[key]) for key in ("largest", "smallest")):
            raise Error(
                f"format '{self.name}' has values out of the range of f64; its "
                f".table() has them"
            )
        values = np.empty(len(codes))
        self._registry.decode(self.name, codes, values)
        return values

    def plot(self, ax: Any = None, **style: Any) -> Any:
        """Draws significant bits over the range with matplotlib; returns the axes.

        For formats of at most 16 bits. ``ax``: the axes to draw on; None: new ones.
        ``style``: for ``Axes.step``.
        """
        from numera._plot import plot

        return plot(self, ax, style)

    def __repr__(self) -> str:
        if self.name == self.spelling:
            return f"<numera.Format {self.spelling}>"
        return f"<numera.Format {self.name}: {self.spelling}>"

    def __str__(self) -> str:
        return self.name

    def _identity(self) -> tuple[str, Sources]:
        # Of what a library computes, the library is a part.
        return self.spelling, self._sources if self._facts.get("lowerings") else ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Format):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (self.name, tuple(map(tuple, self._sources)))


class ScaledFormat(Format):
    """Elements of a format that share scales: ``mxfp8``, ``scaled<i8>``.

    ``width`` and ``storage_bits`` are those of an element.

    >>> import numera
    >>> mx = numera.format("mxfp4")
    >>> mx.element, mx.scale, mx.block, mx.bits_per_element
    (<numera.Format f4E2M1FN: float<2,1,finite>>, \
<numera.Format f8E8M0FNU: float<8,0,fnu>>, 32, 4.25)
    """

    __slots__ = ()

    @property
    def width(self) -> int:
        return self._facts["element_width"]

    @property
    def storage_bits(self) -> int:
        return self._facts["element_storage_bits"]

    @property
    def element(self) -> Format:
        """The format of the elements."""
        return _make(self._facts["element"], self._sources)

    @property
    def scale(self) -> Format:
        """What scales are stored in."""
        return _make(self._facts["scale"], self._sources)

    @property
    def block(self) -> int | None:
        """How many elements share a scale; None: all of a tensor or channel."""
        return self._facts.get("block")

    @property
    def rule(self) -> str:
        """How a scale follows from the largest magnitude."""
        return self._facts["rule"]

    @property
    def bits_per_element(self) -> float:
        """Bits that an element takes, with its part of the scale."""
        return float(self._facts["bits_per_element"])

    def _known(self, key: str) -> Any:
        raise Error(
            f"'{self.name}' is a scaled format, whose codes mean something only with "
            f"a scale; see its .element, {self._facts['element']}"
        )

    def table(self) -> Table:
        return self._known("table")


def _decimal(value: float) -> str:
    """All digits, as tables of other formats have them."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    exact = Decimal(value).normalize(Context(prec=1100))
    if -5 < exact.adjusted() <= 20:
        return f"{exact:f}"
    digits, _, exponent = f"{exact:e}".partition("e")
    return f"{digits}e{int(exponent):+03d}"


def _make(name: str, sources: Sources) -> Format:
    registry = _sources.registry(sources)
    facts = json.loads(registry.facts(name))
    kind = ScaledFormat if "element" in facts else Format
    return kind(facts, sources)


def _restore(name: str, sources: Iterable[tuple[str, str, str]]) -> Format:
    return _make(name, tuple(Source(*source) for source in sources))


_made: dict[tuple[str, tuple[Sources, ...]], Format] = {}


def _find(spec: str) -> Format:
    """What a name or spelling means now."""
    key = spec, _sources.known()
    found = _made.get(key)
    if found is None:
        if spec.endswith((".yaml", ".yml")):
            raise Error(
                f"'{spec}' is a file and no format; --load, or numera.load, reads formats"
            )
        # What only Numera knows comes first: a file cannot take its names.
        groups = ((), *key[1])
        found = next(filter(None, (_try(spec, group) for group in groups)), None)
        if found is None:
            found = _make(spec, groups[min(1, len(groups) - 1)])  # an error
        if len(_made) >= 4096:  # a sweep over formats
            _made.clear()
        _made[key] = found
    return found


def _try(spec: str, sources: Sources) -> Format | None:
    try:
        return _make(spec, sources)
    except Error:
        return None


def _name_of_type(dtype: Any) -> str:
    """The name of the format that elements of a type are in."""
    from numera import _kinds

    refused = Error(
        "a format is a name, a spelling, a Format or a dtype, found "
        f"{type(dtype).__name__}"
    )
    kind = type(dtype)
    if kind.__module__ == "torch" and kind.__name__ == "dtype":
        name = _kinds.of_torch(dtype)
    elif not isinstance(dtype, (type, np.dtype)):
        raise refused  # NumPy takes None for f64, and arrays for their types
    else:
        try:
            name = _kinds.format_of(np.dtype(dtype))
        except TypeError:
            raise refused from None
    if name is None:
        raise Error(f"{dtype} is no dtype of a format's numbers; name a format")
    return name


def format(
    spec: str | Format,
    *,
    rounding: str | None = None,
    random_bits: int | None = None,
    overflow: str | None = None,
) -> Format:
    """The format of a name or spelling: ``"posit16"``, ``"float<5,7>"``.

    Names are those that are built in, and those that were loaded or registered.
    A type of PyTorch, NumPy, JAX or ml_dtypes is the format that its elements are in.
    ``rounding`` and ``overflow`` are in place of the format's own.

    >>> import numera, numpy as np
    >>> numera.format(np.float16)
    <numera.Format f16: float<5,10>>
    >>> numera.format("float<5,7>").width
    13
    >>> numera.format("bf16", rounding="stochastic", random_bits=8)
    <numera.Format float<8,7,stochastic,random-bits=8>>
    """
    if isinstance(spec, Format):
        found = spec
    elif isinstance(spec, str):
        found = _find(spec)
    else:
        found = _find(_name_of_type(spec))
    named = {"rounding": rounding, "random-bits": random_bits, "overflow": overflow}
    options = [f"{key}={value}" for key, value in named.items() if value is not None]
    if not options:
        return found
    if isinstance(found, ScaledFormat):
        raise Error(
            f"'{found.name}' is a scaled format, whose elements round as its spelling "
            f"'{found.spelling}' says, and never stochastically; leave out "
            f"{', '.join(option.split('=')[0] for option in options)}, or change the spelling"
        )
    return _make(found._registry.variant(found.name, options), found._sources)


def formats() -> dict[str, str]:
    """Names and spellings of the formats that are built in, loaded or registered.

    >>> import numera
    >>> numera.formats()["tf32"]
    'float<8,10>'
    """
    groups = ((), *reversed(_sources.known()))
    return {name: spelling for group in groups for name, spelling in _list(group)}


def _list(sources: Sources) -> list[tuple[str, str]]:
    rows = json.loads(_sources.registry(sources).list())
    return [(row["name"], row["spelling"]) for row in rows]


def own_names(sources: Sources) -> list[str]:
    """What sources have beside the built-in formats."""
    builtin = dict(_list(()))
    return [name for name, _ in _list(sources) if name not in builtin]


def load(*paths: str | os.PathLike[str]) -> dict[str, Format]:
    """Reads formats, libraries and lowerings from YAML files (Configuration.md).

    Returns the formats that they have, by name. Their names are known from then
    on, to all that takes names of formats. A file that is read again takes its
    own place; formats that came from it stay as they were.
    """
    sources = tuple(_sources.read(path) for path in paths)
    _sources.forget(sources)  # libraries may have changed
    _made.clear()
    found = {name: _make(name, sources) for name in own_names(sources)}
    _sources.learn(sources)
    return found
