# SPDX-License-Identifier: MIT
"""Formats by their parameters: a function a family."""

from __future__ import annotations

from typing import Any

from numera._formats import Format, format

__all__ = ["fixed", "float", "lns", "posit", "takum"]


def _make(family: str, *positional: Any, **named: Any) -> Format:
    """The format of a spelling; what is None is left to the family."""
    words = [str(value) for value in positional]
    for key, value in named.items():
        if value is None:
            continue
        if isinstance(value, bool):
            value = "true" if value else "false"
        words.append(f"{key.replace('_', '-')}={value}")
    return format(f"{family}<{','.join(words)}>")


def float(
    exponent: int,
    mantissa: int,
    *,
    bias: int | None = None,
    specials: str | None = None,
    infinities: bool | None = None,
    subnormals: str | None = None,
    signed: bool | None = None,
    overflow: str | None = None,
    rounding: str | None = None,
    random_bits: int | None = None,
) -> Format:
    """A binary float of any width.

    exponent    0 to 16 bits.
    mantissa    0 to 52 bits.
    bias        None: 2**(exponent - 1) - 1; one higher with fnuz and p3109.
    specials    ``ieee`` (None), ``fn``, ``fnuz``, ``finite``, ``fnu``, ``p3109``.
    subnormals  ``on`` (None) or ``flush``.
    overflow    ``infinity``, ``saturate`` or ``propagate``.

    >>> import numera
    >>> numera.float(5, 7, bias=9, rounding="stochastic").spelling
    'float<5,7,bias=9,stochastic>'
    """
    return _make(
        "float",
        exponent,
        mantissa,
        bias=bias,
        specials=specials,
        infinities=infinities,
        subnormals=subnormals,
        signed=signed,
        overflow=overflow,
        rounding=rounding,
        random_bits=random_bits,
    )


def posit(
    bits: int,
    es: int = 2,
    *,
    rounding: str | None = None,
    random_bits: int | None = None,
) -> Format:
    """A posit; es = 2 is the standard of 2022.

    >>> import numera
    >>> numera.posit(16) == numera.format("posit16")
    True
    """
    return _make("posit", bits, es, rounding=rounding, random_bits=random_bits)


def fixed(
    integer: int,
    fraction: int,
    *,
    signed: bool | None = None,
    overflow: str | None = None,
    rounding: str | None = None,
    random_bits: int | None = None,
) -> Format:
    """A fixed-point number: so many bits before and behind the point.

    overflow  ``saturate`` (None) or ``wrap``.

    >>> import numera
    >>> numera.fixed(4, 11).width
    16
    """
    return _make(
        "fixed",
        integer,
        fraction,
        signed=signed,
        overflow=overflow,
        rounding=rounding,
        random_bits=random_bits,
    )


def takum(
    bits: int, *, rounding: str | None = None, random_bits: int | None = None
) -> Format:
    """A takum.

    >>> import numera
    >>> numera.takum(16).spelling
    'takum<16>'
    """
    return _make("takum", bits, rounding=rounding, random_bits=random_bits)


def lns(
    integer: int,
    fraction: int,
    *,
    rounding: str | None = None,
    random_bits: int | None = None,
) -> Format:
    """A logarithmic number, whose base-2 logarithm is a fixed-point number.

    >>> import numera
    >>> numera.lns(4, 3).width
    9
    """
    return _make("lns", integer, fraction, rounding=rounding, random_bits=random_bits)
