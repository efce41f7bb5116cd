# SPDX-License-Identifier: MIT
"""Arrays of floats in a format's numbers, and of its codes."""

from __future__ import annotations

from typing import Any

import numpy as np

from numera import _casts, _dtypes, _kinds, _numera, _scaled
from numera._bounded import PROGRAMS, Bounded
from numera._errors import Error, check_whole
from numera._formats import Format

__all__ = ["decode", "encode", "quantize"]

_Key = tuple[Any, ...]
_quick: dict[_Key, _numera.Cast] = _casts.by_name(Bounded(PROGRAMS))
"""Of NumPy's own floats through a format, by the arguments of ``quantize``."""
_direct: dict[_Key, tuple[_numera.Cast, np.dtype[Any], int]] = _casts.by_name(
    Bounded(PROGRAMS)
)
"""Of NumPy's own numbers to another type, by those of ``encode`` and ``decode``."""


def _into(
    out: Any,
    array: np.ndarray[Any, Any],
    dtype: np.dtype[Any],
    format: str | None,
    fill: Any,
) -> Any:
    """Has ``fill`` write results to the memory of an array that the user gave.

    ``dtype`` and ``format`` are what its elements have to be.
    """
    opened = _kinds.open(out)
    target = opened.array
    # PyTorch's bf16 is lent as integers, NumPy's is not.
    is_same = opened.format == format
    if format and is_same and target.dtype.itemsize == dtype.itemsize:
        target = target.view(dtype)
    if target.shape != array.shape or target.dtype != dtype or not is_same:
        wanted = format if format and dtype.kind == "u" else dtype
        raise Error(
            f"out is {_named(out, opened)} of shape {target.shape}, "
            f"expected {wanted} of shape {array.shape}"
        )
    # Of lists and of what JAX has, the memory is another's, or not to be changed.
    lends = isinstance(out, np.ndarray) or hasattr(out, "data_ptr")
    if not lends or not target.flags.writeable:
        raise Error("out is read-only")
    native = not isinstance(out, np.ndarray) or out.dtype.isnative
    fill(target)
    if not native:
        out[...] = target
    return out


def _named(out: Any, opened: _kinds.Opened) -> str:
    """What the user calls the type of an array's elements."""
    return str(getattr(out, "dtype", opened.array.dtype))


def _opened(x: Any, what: str, integers: bool = False) -> _kinds.Opened:
    """The numbers of an array; not the codes of one that has a format."""
    from numera._array import Array

    if isinstance(x, Array):
        raise Error(
            f"{what} takes arrays of numbers, found one of '{x.format}'; "
            f"cast it with .astype, or use its .values()"
        )
    return _kinds.open(x, integers)


def _floats(opened: _kinds.Opened, what: str) -> str:
    if opened.format is None:
        raise Error(
            f"{what} takes floats (f16, bf16, f32, f64), found {opened.array.dtype}"
        )
    return opened.format


def quantize(
    x: Any,
    format: str | Format,
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
    format    a format, or a scaled one such as ``mxfp8`` or ``scaled<i8>``.
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
    if type(x) is np.ndarray and axis is None and _casts.names_hold():
        # What calls on few elements go through.
        cast = _quick.get((x.dtype, format, rounding, overflow, random_bits))
        if cast is not None and (
            out is None
            or type(out) is np.ndarray
            and out.dtype == x.dtype
            and out.shape == x.shape
            and out.flags.writeable
        ):
            result = np.empty_like(x) if out is None else out
            _casts.start(cast, x, result, threads, seed, step)
            return result
    opened = _opened(x, "quantize")
    source = _floats(opened, "quantize")
    scaled = _scaled.find(_casts.chosen(format))
    if scaled is not None:
        _scaled.refuse(rounding=rounding, overflow=overflow, random_bits=random_bits)
        check_whole(threads=threads)

        def fill(target: np.ndarray[Any, Any]) -> None:
            _scaled.quantize(opened.array, source, scaled, axis, target, threads)

    else:
        if axis is not None:
            raise Error(f"axis is for scaled formats, found '{format}'")
        name = _casts.way_in(source, format)
        cast = _casts.find(name, format, name, rounding, overflow, random_bits)
        own = name == source and type(x) is np.ndarray and x.dtype.kind == "f"
        if own and x.dtype.isnative:
            _quick[x.dtype, format, rounding, overflow, random_bits] = cast

        def fill(target: np.ndarray[Any, Any]) -> None:
            if name == source:
                _casts.run(cast, opened.array, target, threads, seed, step)
                return
            steps = _casts.narrowed(opened.array, source, name, format)
            _casts.run(cast, steps, steps, threads, seed, step)
            _casts.encode_as(steps, name, source, target)

    if out is not None:
        return _into(out, opened.array, opened.array.dtype, source, fill)
    result = np.empty_like(opened.array)
    fill(result)
    return opened.close(result)


def _directly(x: Any, key: _Key, threads: int, seed: int = 0, step: int = 0) -> Any:
    """What was converted like this before is again; None for the rest.

    What calls on few elements go through.
    """
    if type(x) is not np.ndarray or not _casts.names_hold():
        return None
    found = _direct.get((x.dtype, *key))
    if found is None:
        return None
    cast, dtype, width = found
    if width and _most(x) >> width:
        return None
    result = np.empty_like(x, dtype=dtype)
    _casts.start(cast, x, result, threads, seed, step)
    return result


def _most(codes: np.ndarray[Any, Any]) -> int:
    """The greatest of codes, or one that is negative."""
    most = int(np.maximum.reduce(codes, axis=None, initial=0))
    if codes.dtype.kind == "i":
        least = int(np.minimum.reduce(codes, axis=None, initial=0))
        return least if least < 0 else most
    return most


def _remember(
    x: Any, key: _Key, cast: _numera.Cast, dtype: np.dtype[Any], width: int = 0
) -> None:
    """``width``: that of codes whose storage has more bits."""
    if (
        type(x) is np.ndarray
        and x.dtype.kind in "fiu"
        and x.dtype.isbuiltin == 1
        and x.dtype.isnative
        and dtype.isbuiltin == 1
    ):
        _direct[(x.dtype, *key)] = cast, dtype, width


def encode(
    x: Any,
    format: str | Format,
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
    key = ("encode", format, rounding, overflow, random_bits)
    if axis is None and out is None:
        found = _directly(x, key, threads, seed, step)
        if found is not None:
            return found
    scaled = _scaled.find(_casts.chosen(format))
    opened = _opened(x, "encode", integers=scaled is None)
    array = opened.array.view(np.uint8) if opened.array.dtype == bool else opened.array
    if scaled is not None:
        _scaled.refuse(
            rounding=rounding, overflow=overflow, random_bits=random_bits, out=out
        )
        check_whole(threads=threads)
        return _scaled.encode(array, _floats(opened, "encode"), scaled, axis, threads)
    if axis is not None:
        raise Error(f"axis is for scaled formats, found '{format}'")
    source = opened.format or _kinds.format_of(array.dtype, integers=True)
    if source is None:
        raise Error(f"encode takes floats and integers, found {array.dtype}")
    name = _casts.way_in(source, format)
    cast = _casts.find(name, None, format, rounding, overflow, random_bits)
    dtype = _casts.chosen(format).dtype
    if name == source:
        _remember(x, key, cast, dtype)
    else:
        array = _casts.narrowed(array, source, name, format)

    def fill(target: np.ndarray[Any, Any]) -> None:
        _casts.run(cast, array, target, threads, seed, step)

    if out is not None:
        return _into(out, array, dtype, None, fill)
    result = np.empty_like(array, dtype=dtype, subok=False)
    fill(result)
    return _plain(x, opened, result)


def _plain(x: Any, opened: _kinds.Opened, result: np.ndarray[Any, Any]) -> Any:
    """An array of the same library, of another element type."""
    if type(x).__module__.partition(".")[0] == "torch":
        import torch

        if _kinds.format_of(result.dtype) == "bf16":  # which from_numpy knows not
            return torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(result)
    return opened.close(result)


def decode(
    codes: Any,
    format: str | Format,
    dtype: Any = None,
    *,
    out: Any = None,
    threads: int = 0,
) -> Any:
    """The values of codes.

    codes  an array of integers of the format's storage bits, an integer or a list
           of them, or what ``encode`` returned. Bits above the width are zero.
    dtype  a type of NumPy or ml_dtypes that is f16, bf16, f32 or f64, or one of these
           names; each value is rounded once. None: the first of f32 and f64 that has
           all of the format's values.

    >>> import numera
    >>> numera.decode(numera.encode([1.0, -0.1], "posit16"), "posit16")
    array([ 1.       , -0.1000061], dtype=float32)
    """
    key = ("decode", format, dtype)
    plain = dtype is None or isinstance(dtype, (type, np.dtype))
    if plain and out is None:
        found = _directly(codes, key, threads)
        if found is not None:
            return found
    of = _casts.chosen(format)
    if isinstance(codes, _scaled.Scaled):
        if of != codes.format:
            raise Error(f"codes of '{codes.format}', found the format '{of}'")
        dtype = _dtypes.floating(np.float32 if dtype is None else dtype)
        values = codes.values(dtype, threads=threads)
        if out is None:
            return values
        return _into(
            out,
            values,
            dtype,
            _kinds.format_of(dtype),
            lambda result: np.copyto(result, values),
        )
    if dtype is None:
        dtype = _casts.carrier_dtype(of)
    dtype = _dtypes.floating(dtype)
    target = _kinds.format_of(dtype)
    if target is None or not dtype.isnative:
        raise Error(f"dtype is {dtype}, expected {_dtypes.FLOATS}")
    if isinstance(codes, (int, list, tuple)) and not isinstance(codes, bool):
        codes = _listed(codes, of)
    opened = _kinds.open(codes)
    array = opened.array
    is_wide = of.storage_bits > 64
    kinds = "V" if is_wide else "iu"
    if array.dtype.kind not in kinds or array.dtype.itemsize != of.dtype.itemsize:
        what = "bytes, 'V'," if is_wide else "integers"
        raise Error(
            f"codes of '{of}' are {what} of {of.storage_bits} bits, found {array.dtype}"
        )
    width = of.width if of.width < of.storage_bits <= 64 else 0
    if width and (most := _most(array)) >> width:
        raise Error(f"codes of '{of}' are 0 to {(1 << width) - 1}, found {most}")
    name = _casts.way_out(of, target)
    cast = _casts.find(of, None, name)
    if plain and name == target:
        _remember(codes, key, cast, dtype, width)

    def fill(result: np.ndarray[Any, Any]) -> None:
        if name == target:
            _casts.run(cast, array, result, threads, 0, 0)
            return
        exact = np.empty(array.shape, np.float32 if name == "f32" else np.float64)
        _casts.run(cast, array, exact, threads, 0, 0)
        _casts.encode_as(exact, name, target, result)

    if out is not None:
        return _into(out, array, dtype, target, fill)
    result = np.empty_like(array, dtype=dtype, subok=False)
    fill(result)
    return _plain(codes, opened, result)


def _listed(codes: Any, of: Format) -> Any:
    """Codes that are written as integers of Python, which have no width."""
    array = np.asarray(codes, dtype=object)
    for code in array.flat:
        if isinstance(code, bool) or not isinstance(code, (int, np.integer)):
            raise Error(f"codes of '{of}' are integers, found {code!r}")
        if not 0 <= code < 1 << of.width:
            raise Error(f"codes of '{of}' are 0 to {(1 << of.width) - 1}, found {code}")
    if of.storage_bits <= 64:
        return array.astype(of.dtype)[()]
    size = of.dtype.itemsize
    words = b"".join(int(code).to_bytes(size, "little") for code in array.flat)
    return np.frombuffer(words, of.dtype).reshape(array.shape)
