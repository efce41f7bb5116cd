# SPDX-License-Identifier: MIT
"""Conversions between formats, compiled once for each kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from numera import _formats, _kinds, _numera, _register, _sources
from numera._bounded import PROGRAMS, Bounded
from numera._errors import Error, check_whole
from numera._formats import Format

_Key = tuple[Any, ...]
_named: dict[str, Format] = Bounded(4096)
_compiled: dict[_Key, _numera.Cast] = Bounded(PROGRAMS)
_ways: dict[tuple[str | Format, str | Format], str] = Bounded(4096)
"""The floats through which numbers come to an opaque format, and leave it."""
_by_name: list[dict[Any, Any]] = [_named, _compiled, _ways]
_seen: Any = None
"""The sources that the names in these were looked up in."""


def by_name(cache: dict[Any, Any]) -> dict[Any, Any]:
    """A cache that is emptied when names may mean something else."""
    _by_name.append(cache)
    return cache


def names_hold() -> bool:
    """Whether names mean what they meant when caches were filled."""
    return _seen is _sources.known()


def forget() -> None:
    """Drops what was found by name when names may mean something else."""
    global _seen
    if not names_hold():
        for cache in _by_name:
            cache.clear()
        _seen = _sources.known()


def chosen(spec: str | Format) -> Format:
    """As :func:`numera.format`, which looks names up each time."""
    if isinstance(spec, Format):
        return spec
    if not isinstance(spec, str):
        return _formats.format(spec)
    forget()
    found = _named.get(spec)
    if found is None:
        found = _named[spec] = _formats.format(spec)
    return found


def find(
    source: str | Format,
    through: str | Format | None,
    target: str | Format,
    *options: Any,
) -> _numera.Cast:
    """A conversion, compiled or found. Options: rounding, overflow, random_bits."""
    forget()
    key = (source, through, target, *options)
    found = _compiled.get(key)
    if found is None:
        found = _compiled[key] = _compile(source, through, target, *options)
    return found


def _compile(
    source: str | Format,
    through: str | Format | None,
    target: str | Format,
    rounding: str | None = None,
    overflow: str | None = None,
    random_bits: int | None = None,
) -> _numera.Cast:
    formats = [
        None if spec is None else chosen(spec) for spec in (source, through, target)
    ]
    named = {"rounding": rounding, "overflow": overflow, "random-bits": random_bits}
    registry = _sources.registry(
        _sources.merge(f._sources for f in formats if f is not None)
    )
    names = [None if f is None else f.name for f in formats]
    source_name, through_name, target_name = names
    assert source_name is not None and target_name is not None
    try:
        return _numera.Cast(
            registry,
            source_name,
            through_name,
            target_name,
            [f"{key}={value}" for key, value in named.items() if value is not None],
        )
    except Error as error:
        raise _register.explained(error, filter(None, formats)) from None


# ---- what a library has no cast for ------------------------------------------


def casts(source: str | Format, target: str | Format, *options: Any) -> bool:
    """Whether there is a conversion without a step between."""
    try:
        find(source, None, target, *options)
    except Error:
        return False
    return True


def way_in(source: str, fmt: str | Format) -> str:
    """What numbers become before they are cast to a format: mostly, what they are.

    A library may have casts from f32 alone. f64 comes first, since it has more
    numbers.
    """
    of = chosen(fmt)
    if of.family != "opaque":
        return source
    return _way((source, of), ((name, of) for name in (source, "f64", "f32")))


def way_out(fmt: str | Format, target: str) -> str:
    """What numbers of a format are cast to before they become what is wanted."""
    of = chosen(fmt)
    if of.family != "opaque":
        return target
    return _way((of, target), ((of, name) for name in (target, "f64", "f32")))


def _way(
    key: tuple[str | Format, str | Format],
    tries: Iterable[tuple[str | Format, str | Format]],
) -> str:
    forget()
    found = _ways.get(key)
    if found is None:
        for pair in tries:
            if casts(*pair):
                break
        # Without any, the last one, f32, is what the error is about.
        found = _ways[key] = next(name for name in pair if isinstance(name, str))
    return found


def narrowed(
    array: np.ndarray[Any, Any], source: str, name: str, fmt: str | Format
) -> np.ndarray[Any, Any]:
    """The same numbers as f32 or f64; an error if that has not all of them."""
    dtype, digits = (np.float32, 24) if name == "f32" else (np.float64, 53)
    if array.dtype.kind in "iu" and source.startswith("fixed"):
        same = _significant(array) < 2**digits
        result = array.astype(dtype)
    elif source != "f64":
        return decode_as(array, source, np.dtype(dtype))
    else:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            result = array.astype(dtype)
        same = (result == array) | np.isnan(array)
    if np.all(same):
        return result
    number = array[~same].flat[0].item() if array.ndim else array.item()
    raise Error(
        f"{number} is no number of {name}, the widest type that '{fmt}' has a cast "
        f"from; round it first, as np.{dtype.__name__}({number})"
    )


def _significant(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Magnitudes of integers without the zeros at their end."""
    size = x.astype(np.uint64)
    size = np.where(x < 0, np.uint64(0) - size, size)
    lowest = size & (np.uint64(0) - size)
    return size // np.maximum(lowest, np.uint64(1))


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory as a type that has the buffer protocol."""
    if array.dtype.kind in "fiu" and array.dtype.isbuiltin == 1:
        return array
    if array.dtype.itemsize > 8:  # codes of more than 64 bits
        return array
    return array.view(f"u{array.dtype.itemsize}")


def run(
    cast: _numera.Cast,
    array: np.ndarray[Any, Any],
    result: np.ndarray[Any, Any],
    threads: int,
    seed: int,
    step: int,
) -> None:
    start(cast, _bits(array), _bits(result), threads, seed, step)


def start(
    cast: _numera.Cast, x: Any, result: Any, threads: int, seed: int, step: int
) -> None:
    try:
        cast.run(x, result, threads, seed, step)
    except TypeError:
        check_whole(threads=threads, seed=seed, step=step)
        raise


def decode_as(
    array: np.ndarray[Any, Any], source: str, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """Elements of a format as floats of another."""
    result = np.empty_like(array, dtype=dtype, subok=False)
    target = _kinds.format_of(dtype)
    assert target is not None
    run(find(source, None, target), array, result, 0, 0, 0)
    return result


def encode_as(
    array: np.ndarray[Any, Any],
    source: str,
    target: str,
    result: np.ndarray[Any, Any],
) -> None:
    """The same into memory that is there."""
    if source == target:
        result[...] = array
    else:
        run(find(source, None, target), array, result, 0, 0, 0)


_carriers: dict[Format, int] = Bounded(4096)


def carrier(fmt: Format) -> int:
    """Bits of the first of f32 and f64 that has all values; 0: neither has."""
    found = _carriers.get(fmt)
    if found is None:
        found = _numera.carrier(fmt._registry, fmt.name)
        if not found and fmt.family == "opaque":
            # Values are what the library says that they are.
            found = next((n for n in (64, 32) if casts(fmt, f"f{n}")), 0)
        _carriers[fmt] = found
    return found


def carrier_dtype(fmt: Format) -> np.dtype[Any]:
    """What values are decoded to where nobody says."""
    return np.dtype(np.float32 if carrier(fmt) == 32 else np.float64)
