# SPDX-License-Identifier: MIT
"""What joins arrays of codes: numbers, and lists of them or of elements."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from numera import _casts, _dtypes
from numera._array import Array, array
from numera._errors import Error
from numera._formats import Format

__all__ = ["apart", "joined", "nearest", "operand", "truths"]


def operand(value: Any, fmt: Format, doing: str) -> Array:
    """What joins an array of a format: one of it, or a number, which is rounded."""
    if isinstance(value, Array):
        if value._format == fmt:
            return value
        found, wanted = apart(value._format, fmt)
        raise Error(f"{found} {doing} {wanted}; cast one of them with .astype")
    if isinstance(value, (int, float, np.number, np.bool_)):
        return _constant(value, fmt)
    if isinstance(value, list) and doing == "assigned to":
        return listed(value, fmt, doing)
    kind = getattr(value, "dtype", type(value).__name__)
    raise Error(
        f"{kind} {doing} '{fmt}'; cast it with numera.array(x, '{fmt}'), "
        f"or the codes with .values()"
    )


def apart(a: Format, b: Format) -> tuple[str, str]:
    """How an error calls two formats, which may have one name."""
    if a.name != b.name:
        return f"'{a}'", f"'{b}'"
    if a.spelling != b.spelling:
        return f"'{a}' ({a.spelling})", f"'{b}' ({b.spelling})"
    return f"'{a}'", f"another '{b}', of other operations"


def nearest(x: Any, fmt: Format) -> Array:
    """Numbers that are no data, rounded; to nearest where the format draws (R8)."""
    draws = fmt.family != "opaque" and fmt.rounding == "stochastic"
    return array(x, fmt, rounding="nearest-even" if draws else None)


_constants: dict[tuple[Any, ...], Array] = {}


def _constant(value: Any, fmt: Format) -> Array:
    """A number of Python, which is kept."""
    # By its bits: 0.0 equals -0.0, no NaN equals itself, and texts may be rounded.
    if isinstance(value, float):
        bits: Any = struct.pack("d", value)
    elif isinstance(value, int):
        bits = operator.index(value)
    else:
        bits = value.tobytes()
    key = (fmt, type(value), bits)
    found = _constants.get(key)
    if found is None:
        if isinstance(value, (bool, np.bool_)):
            value = int(value)
        found = Array(nearest(value, fmt)._codes, fmt)
        found._codes.flags.writeable = False
        if len(_constants) >= 256:
            _constants.clear()
        _constants[key] = found
    return found


# ---- lists ------------------------------------------------------------------


def _has_arrays(x: Any) -> bool:
    """Whether an array of codes is in a list, or in one of its lists."""
    if not isinstance(x, (list, tuple)):
        return False
    kinds = set(map(type, x))
    if Array in kinds:
        return True
    nests = any(issubclass(kind, (list, tuple)) for kind in kinds)
    return nests and any(map(_has_arrays, x))


def _stacked(x: Any, fmt: Format, made: Callable[[Any], Array]) -> Array:
    """The array of a list with elements of arrays, each made one of the format."""
    if not isinstance(x, (list, tuple)):
        return made(x)
    try:
        codes = np.stack([_stacked(each, fmt, made)._codes for each in x])
    except ValueError as error:
        raise Error(f"a list of arrays: {error}") from None
    return Array(codes, fmt)


def listed(x: Any, fmt: Format, doing: str) -> Array:
    """A list of numbers, which are rounded, or of elements of the format."""
    if not _has_arrays(x):
        return Array(nearest(x, fmt)._codes, fmt)
    return _stacked(x, fmt, lambda each: operand(each, fmt, doing))


def joined(x: Any, format: str | Format | None, **options: Any) -> Any:
    """An array in place of a list with elements of arrays, in their format if they
    have one, or else the named one; of anything else, what it is."""
    if not _has_arrays(x):
        return x
    kinds: set[Format] = set()
    _collect(x, kinds)
    if len(kinds) == 1 and None not in kinds:
        (fmt,) = kinds
        return _stacked(x, fmt, lambda each: each)
    if format is None:
        raise Error(
            "a list of elements of several formats, or beside numbers; name a format"
        )
    fmt = _casts.chosen(format)
    return _stacked(x, fmt, lambda each: array(each, fmt, **options))


def _collect(x: Any, kinds: set[Any]) -> None:
    """The formats of elements of arrays, and None for numbers beside them."""
    for each in x:
        if isinstance(each, (list, tuple)):
            _collect(each, kinds)
        else:
            kinds.add(each._format if isinstance(each, Array) else None)


# ---- truth ------------------------------------------------------------------


def truths(x: Any) -> Any:
    """Whether elements are not zero, which NaN is not, nor any number of a format
    without zero (F12); of other arrays and truth values, what they are."""
    if not isinstance(x, Array):
        return x
    fmt = x._format
    if not _dtypes.has_zero(fmt):
        return np.ones(x.shape, bool)
    if fmt.family != "opaque" and _casts.carrier(fmt):
        return x.values() != 0
    try:
        return x != 0  # f64 may have 0 for it
    except Error:
        return x.values() != 0
