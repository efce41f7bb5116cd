# SPDX-License-Identifier: MIT
"""Arrays of floats in a format's numbers, and of its codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numera import _formats, _kinds, _numera, _scaled, _sources
from numera._errors import Error, check_whole
from numera._formats import Format

__all__ = ["decode", "encode", "quantize"]

_Key = tuple[Any, ...]
_named: dict[str, Format] = {}
_casts: dict[_Key, _numera.Cast] = {}
_quick: dict[_Key, _numera.Cast] = {}
"""Of NumPy's own floats through a format, by the arguments of ``quantize``."""
_direct: dict[_Key, tuple[_numera.Cast, np.dtype[Any]]] = {}
"""Of NumPy's own numbers to another type, by those of ``encode`` and ``decode``."""
_seen: Any = None
"""The sources that the names in these were looked up in."""


def _forget() -> None:
    """Drops what was found by name when names may mean something else."""
    global _seen
    if _seen is not _sources.known():
        _named.clear()
        _casts.clear()
        _quick.clear()
        _direct.clear()
        _seen = _sources.known()


def chosen(spec: str | Format) -> Format:
    """As :func:`numera.format`, which looks names up each time."""
    if isinstance(spec, Format):
        return spec
    if not isinstance(spec, str):
        return _formats.format(spec)
    _forget()
    found = _named.get(spec)
    if found is None:
        found = _named[spec] = _formats.format(spec)
    return found


def _cast(
    source: str | Format,
    through: str | Format | None,
    target: str | Format,
    *options: Any,
) -> _numera.Cast:
    """A conversion, compiled or found. Options: rounding, overflow, random_bits."""
    _forget()
    key = (source, through, target, *options)
    found = _casts.get(key)
    if found is None:
        found = _casts[key] = _compile(source, through, target, *options)
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
    return _numera.Cast(
        registry,
        source_name,
        through_name,
        target_name,
        [f"{key}={value}" for key, value in named.items() if value is not None],
    )


def _bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same memory as a type that has the buffer protocol."""
    if array.dtype.kind in "fiu" and array.dtype.isbuiltin == 1:
        return array
    return array.view(f"u{array.dtype.itemsize}")


def _run(
    cast: _numera.Cast,
    array: np.ndarray[Any, Any],
    result: np.ndarray[Any, Any],
    threads: int,
    seed: int,
    step: int,
) -> None:
    _start(cast, _bits(array), _bits(result), threads, seed, step)


def _start(
    cast: _numera.Cast, x: Any, result: Any, threads: int, seed: int, step: int
) -> None:
    try:
        cast.run(x, result, threads, seed, step)
    except TypeError:
        check_whole(threads=threads, seed=seed, step=step)
        raise


def _into(
    out: Any,
    array: np.ndarray[Any, Any],
    dtype: np.dtype[Any],
    fmt: str | None,
    fill: Any,
) -> Any:
    """Has ``fill`` write results to the memory of an array that the user gave.

    ``dtype`` and ``fmt`` are what its elements have to be; PyTorch's bf16 is lent
    as integers.
    """
    opened = _kinds.open(out)
    target = opened.array
    if target.shape != array.shape or target.dtype != dtype:
        raise Error(
            f"out is {target.dtype} of shape {target.shape}, "
            f"expected {dtype} of shape {array.shape}"
        )
    if opened.format != fmt:
        raise Error(f"out has elements of {opened.format or dtype}, expected {fmt}")
    # Of lists and of what JAX has, the memory is another's, or not to be changed.
    lends = isinstance(out, np.ndarray) or hasattr(out, "data_ptr")
    if not lends or not target.flags.writeable:
        raise Error("out is read-only")
    native = not isinstance(out, np.ndarray) or out.dtype.isnative
    fill(target)
    if not native:
        out[...] = target
    return out


def _opened(x: Any, what: str) -> _kinds.Opened:
    """The numbers of an array; not the codes of one that has a format."""
    from numera._array import Array

    if isinstance(x, Array):
        raise Error(
            f"{what} takes arrays of numbers, found one of '{x.format}'; "
            f"cast it with .astype, or use its .values()"
        )
    return _kinds.open(x)


def _floats(opened: _kinds.Opened, what: str) -> str:
    if opened.format is None:
        raise Error(
            f"{what} takes floats (f16, bf16, f32, f64), found {opened.array.dtype}"
        )
    return opened.format


def quantize(
    x: Any,
    fmt: str | Format,
    *,
    rounding: str | None = None,
    overflow: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    step: int = 0,
    axis: int | None = None,
    out: Any = None,
    threads: int = 0,
) -> Any:
    """Rounds every element to a number of a format; the type stays.

    x         an array of NumPy, PyTorch, JAX or what speaks DLPack, of f16, bf16,
              f32 or f64, with any strides. It is read where it is.
    fmt       a format, or a scaled one such as ``mxfp8`` or ``scaled<i8>``.
    rounding, overflow, random_bits
              instead of the format's.
    seed, step
              of stochastic rounding. An element draws by its place in row-major
              order: the bits depend on neither threads nor strides.
    axis      of scaled formats: blocks lie along it (the last one if it is None),
              or each of its indices has a scale (None: the array has one).
    out       an array to write to, which may be ``x`` itself.
    threads   0: as many as there are processors.

    >>> import numpy as np, numera
    >>> numera.quantize(np.float32([0.1, 3.3, 1e6]), "f8E4M3FN")
    array([1.015625e-01, 3.250000e+00, 4.480000e+02], dtype=float32)
    >>> numera.quantize([1.0, 100.0], "mxfp4").tolist()
    [0.0, 96.0]
    """
    if type(x) is np.ndarray and axis is None and _seen is _sources.known():
        # What calls on few elements go through.
        cast = _quick.get((x.dtype, fmt, rounding, overflow, random_bits))
        if cast is not None and (
            out is None
            or type(out) is np.ndarray
            and out.dtype == x.dtype
            and out.shape == x.shape
            and out.flags.writeable
        ):
            result = np.empty_like(x) if out is None else out
            _start(cast, x, result, threads, seed, step)
            return result
    opened = _opened(x, "quantize")
    source = _floats(opened, "quantize")
    scaled = _scaled.find(chosen(fmt))
    if scaled is not None:
        _scaled.refuse(rounding=rounding, overflow=overflow, random_bits=random_bits)
        check_whole(threads=threads)

        def fill(target: np.ndarray[Any, Any]) -> None:
            _scaled.quantize(opened.array, source, scaled, axis, target, threads)

    else:
        if axis is not None:
            raise Error(f"axis is for scaled formats, found '{fmt}'")
        cast = _cast(source, fmt, source, rounding, overflow, random_bits)
        if type(x) is np.ndarray and x.dtype.kind == "f" and x.dtype.isnative:
            _quick[x.dtype, fmt, rounding, overflow, random_bits] = cast

        def fill(target: np.ndarray[Any, Any]) -> None:
            _run(cast, opened.array, target, threads, seed, step)

    if out is not None:
        return _into(out, opened.array, opened.array.dtype, source, fill)
    result = np.empty_like(opened.array)
    fill(result)
    return opened.close(result)


def _directly(x: Any, key: _Key, threads: int, seed: int = 0, step: int = 0) -> Any:
    """What was converted like this before is again; None for the rest.

    What calls on few elements go through.
    """
    if type(x) is not np.ndarray or _seen is not _sources.known():
        return None
    found = _direct.get((x.dtype, *key))
    if found is None:
        return None
    cast, dtype = found
    result = np.empty_like(x, dtype=dtype)
    _start(cast, x, result, threads, seed, step)
    return result


def _remember(x: Any, key: _Key, cast: _numera.Cast, dtype: np.dtype[Any]) -> None:
    if (
        type(x) is np.ndarray
        and x.dtype.kind in "fiu"
        and x.dtype.isbuiltin == 1
        and x.dtype.isnative
        and dtype.isbuiltin == 1
    ):
        _direct[(x.dtype, *key)] = cast, dtype


def encode(
    x: Any,
    fmt: str | Format,
    *,
    rounding: str | None = None,
    overflow: str | None = None,
    random_bits: int | None = None,
    seed: int = 0,
    step: int = 0,
    axis: int | None = None,
    out: Any = None,
    threads: int = 0,
) -> Any:
    """The codes of every element, as unsigned integers of the format's storage.

    Arguments are those of :func:`quantize`; integers are encoded as well, each
    rounded once. Of a scaled format the result is a :class:`Scaled`, whose codes
    and scales are arrays.

    >>> import numpy as np, numera
    >>> [hex(code) for code in numera.encode([1.0, -0.1], "posit16")]
    ['0x4000', '0xdb33']
    """
    key = ("encode", fmt, rounding, overflow, random_bits)
    if axis is None and out is None:
        found = _directly(x, key, threads, seed, step)
        if found is not None:
            return found
    opened = _opened(x, "encode")
    array = opened.array.view(np.uint8) if opened.array.dtype == bool else opened.array
    scaled = _scaled.find(chosen(fmt))
    if scaled is not None:
        _scaled.refuse(
            rounding=rounding, overflow=overflow, random_bits=random_bits, out=out
        )
        check_whole(threads=threads)
        return _scaled.encode(array, _floats(opened, "encode"), scaled, axis, threads)
    if axis is not None:
        raise Error(f"axis is for scaled formats, found '{fmt}'")
    source = opened.format or _kinds.format_of(array.dtype, integers=True)
    if source is None:
        raise Error(f"encode takes floats and integers, found {array.dtype}")
    cast = _cast(source, None, fmt, rounding, overflow, random_bits)
    dtype = chosen(fmt).dtype
    _remember(x, key, cast, dtype)

    def fill(target: np.ndarray[Any, Any]) -> None:
        _run(cast, array, target, threads, seed, step)

    if out is not None:
        return _into(out, array, dtype, None, fill)
    result = np.empty_like(array, dtype=dtype, subok=False)
    fill(result)
    return _plain(x, opened, result)


def _plain(x: Any, opened: _kinds.Opened, result: np.ndarray[Any, Any]) -> Any:
    """An array of the same library, of another element type."""
    if type(x).__module__.partition(".")[0] == "torch":
        import torch

        return torch.from_numpy(result)
    return opened.close(result)


def decode(
    codes: Any,
    fmt: str | Format,
    dtype: Any = None,
    *,
    out: Any = None,
    threads: int = 0,
) -> Any:
    """The values of codes.

    codes  integers of the format's storage bits, or what ``encode`` returned.
    dtype  f16, bf16 (``ml_dtypes.bfloat16``), f32 or f64, each value rounded once;
           None: the first of f32 and f64 that has all of the format's values.

    >>> import numera
    >>> numera.decode(numera.encode([1.0, -0.1], "posit16"), "posit16")
    array([ 1.       , -0.1000061], dtype=float32)
    """
    key = ("decode", fmt, dtype)
    plain = dtype is None or isinstance(dtype, (type, np.dtype))
    if plain and out is None:
        found = _directly(codes, key, threads)
        if found is not None:
            return found
    if isinstance(codes, _scaled.Scaled):
        return codes.values(dtype, threads=threads)
    of = chosen(fmt)
    if dtype is None:
        dtype = carrier_dtype(of)
    dtype = np.dtype(dtype)
    target = _kinds.format_of(dtype)
    if target is None or not dtype.isnative:
        raise Error(f"dtype is {dtype}, expected f16, bf16, f32 or f64")
    opened = _kinds.open(codes)
    array = opened.array
    if array.dtype.kind not in "iu" or array.dtype.itemsize != of.dtype.itemsize:
        raise Error(
            f"codes of '{of}' are integers of {of.storage_bits} bits, "
            f"found {array.dtype}"
        )
    cast = _cast(of, None, target)
    if plain:
        _remember(codes, key, cast, dtype)

    def fill(result: np.ndarray[Any, Any]) -> None:
        _run(cast, array, result, threads, 0, 0)

    if out is not None:
        return _into(out, array, dtype, target, fill)
    result = np.empty_like(array, dtype=dtype, subok=False)
    fill(result)
    return _plain(codes, opened, result)


def decode_as(
    array: np.ndarray[Any, Any], source: str, dtype: np.dtype[Any]
) -> np.ndarray[Any, Any]:
    """Elements of a format as floats of another."""
    result = np.empty_like(array, dtype=dtype, subok=False)
    target = _kinds.format_of(dtype)
    assert target is not None
    _run(_cast(source, None, target), array, result, 0, 0, 0)
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
        _run(_cast(source, None, target), array, result, 0, 0, 0)


_carriers: dict[Format, int] = {}


def carrier(fmt: Format) -> int:
    """Bits of the first of f32 and f64 that has all values; 0: neither has."""
    found = _carriers.get(fmt)
    if found is None:
        found = _carriers[fmt] = _numera.carrier(fmt._registry, fmt.name)
    return found


def carrier_dtype(fmt: Format) -> np.dtype[Any]:
    """What values are decoded to where nobody says."""
    return np.dtype(np.float32 if carrier(fmt) == 32 else np.float64)
