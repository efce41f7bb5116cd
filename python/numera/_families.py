# SPDX-License-Identifier: MIT
"""Formats by their parameters: a function a family."""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any

from numera._formats import Format, format

__all__ = ["block", "fixed", "float", "lns", "posit", "scaled", "takum"]


Operations = Mapping[str, Mapping[str, Any]]


def _make(
    family: str, *positional: Any, operations: Operations | None = None, **named: Any
) -> Format:
    """The format of a spelling; what is None is left to the family."""
    words = [_word(value) for value in positional]
    words += _words("", named)
    for operation, changes in (operations or {}).items():
        words += _words(f"{operation}.", changes)
    return format(f"{family}<{','.join(words)}>")


def _words(prefix: str, named: Mapping[str, Any]) -> list[str]:
    return [
        f"{prefix}{key.replace('_', '-')}={_word(value)}"
        for key, value in named.items()
        if value is not None
    ]


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.spelling if isinstance(value, Format) else str(value)


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
    operations: Operations | None = None,
) -> Format:
    """A binary float of any width.

    exponent    0 to 16 bits.
    mantissa    0 to 52 bits.
    bias        None: 2**(exponent - 1) - 1; one higher with fnuz and p3109.
    specials    ``ieee`` (None), ``fn``, ``fnuz``, ``finite``, ``fnu``, ``p3109``.
    subnormals  ``on`` (None) or ``flush``.
    overflow    ``infinity``, ``saturate`` or ``propagate``.
    operations  what is different in single operations, in every family:
                ``{"mul": {"truncate_operands": 3}}``.

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
        operations=operations,
    )


def posit(
    bits: int,
    es: int = 2,
    *,
    rounding: str | None = None,
    random_bits: int | None = None,
    operations: Operations | None = None,
) -> Format:
    """A posit; es = 2 is the standard of 2022.

    >>> import numera
    >>> numera.posit(16) == numera.format("posit16")
    True
    """
    return _make(
        "posit",
        bits,
        es,
        rounding=rounding,
        random_bits=random_bits,
        operations=operations,
    )


def fixed(
    integer: int,
    fraction: int,
    *,
    signed: bool | None = None,
    overflow: str | None = None,
    rounding: str | None = None,
    random_bits: int | None = None,
    operations: Operations | None = None,
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
        operations=operations,
    )


def takum(
    bits: int,
    *,
    rounding: str | None = None,
    random_bits: int | None = None,
    operations: Operations | None = None,
) -> Format:
    """A takum.

    >>> import numera
    >>> numera.takum(16).spelling
    'takum<16>'
    """
    return _make(
        "takum", bits, rounding=rounding, random_bits=random_bits, operations=operations
    )


def lns(
    integer: int,
    fraction: int,
    *,
    rounding: str | None = None,
    random_bits: int | None = None,
    operations: Operations | None = None,
) -> Format:
    """A logarithmic number, whose base-2 logarithm is a fixed-point number.

    >>> import numera
    >>> numera.lns(4, 3).width
    9
    """
    return _make(
        "lns",
        integer,
        fraction,
        rounding=rounding,
        random_bits=random_bits,
        operations=operations,
    )


def block(
    element: str | Format,
    size: int,
    *,
    scale: str | Format | None = None,
    rule: str | None = None,
    tensor_scale: bool | None = None,
    full_scale: builtins.float | None = None,
    storage: str | None = None,
) -> Format:
    """Blocks of elements that share a scale: OCP MX, NVFP4, block floating point.

    scale         ``power-of-two`` (None) or a format.
    rule          ``floor``, ``ceil``, ``even``, ``round-up-ceil``, ``absmax``.
    tensor_scale  scales are relative to one of the whole tensor.
    storage       ``packed``: elements without gaps between them; ``plain``.

    >>> import numera
    >>> numera.block("f8E4M3FN", 32) == numera.format("mxfp8")
    True
    >>> nvfp4 = numera.block("f4E2M1FN", 16, scale="f8E4M3FN", tensor_scale=True)
    >>> nvfp4 == numera.format("nvfp4")
    True
    """
    return _make(
        "block",
        element,
        size,
        *(["tensor-scale"] if tensor_scale else []),
        scale=scale,
        rule=rule,
        full_scale=full_scale,
        storage=storage,
    )


def scaled(
    element: str | Format,
    *,
    scale: str | Format | None = None,
    rule: str | None = None,
    full_scale: builtins.float | None = None,
    storage: str | None = None,
) -> Format:
    """Tensors, or channels, whose elements share a scale.

    rule  as of :func:`block`, ``range``, or ``min-max`` with a zero point.

    >>> import numera
    >>> numera.scaled("i8").bits_per_element
    8.0
    """
    return _make(
        "scaled",
        element,
        scale=scale,
        rule=rule,
        full_scale=full_scale,
        storage=storage,
    )
