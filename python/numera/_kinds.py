# SPDX-License-Identifier: MIT
"""Arrays of NumPy, PyTorch, JAX and their like, as NumPy arrays on their memory.

``open`` lends the memory of an array, ``Opened.close`` makes an array of the
same kind of a result. Nothing is copied on the way in.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from numera._errors import Error

__all__ = ["Opened", "format_of", "numbers", "open"]

_FORMATS = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
    "float8_e3m4": "f8E3M4",
    "float8_e4m3": "f8E4M3",
    "float8_e4m3b11fnuz": "float<4,3,fnuz,bias=11>",
    "float8_e4m3fn": "f8E4M3FN",
    "float8_e4m3fnuz": "f8E4M3FNUZ",
    "float8_e5m2": "f8E5M2",
    "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "float6_e2m3fn": "f6E2M3FN",
    "float6_e3m2fn": "f6E3M2FN",
    "float4_e2m1fn": "f4E2M1FN",
}
"""The formats of NumPy's, ml_dtypes' and PyTorch's types, by their names."""

_INTEGERS = {f"int{n}": f"fixed<{n - 1},0>" for n in (8, 16, 32, 64)} | {
    f"uint{n}": f"fixed<{n},0,unsigned>" for n in (8, 16, 32, 64)
}


def of_torch(dtype: Any) -> str | None:
    """The format that elements of PyTorch's type are in; None if there is none."""
    return _FORMATS.get(str(dtype).removeprefix("torch."))


_found: dict[tuple[np.dtype[Any], bool], str | None] = {}


def format_of(dtype: np.dtype[Any], integers: bool = False) -> str | None:
    """The format that elements of a type are in; None if there is none."""
    key = (dtype, integers)
    if key not in _found:
        found = _FORMATS.get(dtype.name)
        if found is None and integers:
            found = _INTEGERS.get(dtype.name)
        _found[key] = found
    return _found[key]


class Opened(NamedTuple):
    """An array whose memory is lent."""

    array: np.ndarray[Any, Any]
    """The elements, in the machine's byte order."""
    format: str | None
    """The format that they are in; None of integers, which may be codes."""
    close: Callable[[np.ndarray[Any, Any]], Any]
    """Makes an array of the same kind of a new one, which it may keep."""


def open(x: Any, integers: bool = False) -> Opened:
    """Lends the memory of an array, or makes one of numbers and lists: of f64, or,
    with ``integers``, of these where there are no others."""
    make = _exact_numbers if integers else numbers
    if isinstance(x, np.ndarray):
        return _open_numpy(x)
    module = type(x).__module__.partition(".")[0]
    if module == "torch" and "torch" in sys.modules:
        return _open_torch(x)
    if module in ("jax", "jaxlib") and "jax" in sys.modules:
        return _open_jax(x)
    if isinstance(x, np.generic):
        return _opened(np.asarray(x), lambda y: y[()])
    if isinstance(x, (int, float)) and not isinstance(x, bool):
        return _opened(make(x, "a number", np.dtype("f8")), lambda y: y[()])
    if isinstance(x, (list, tuple)):
        array = make(x, "a list", np.dtype("f8"))
        return _opened(array, lambda y: y)
    if hasattr(x, "__array_interface__"):
        return _opened(np.asarray(x), lambda y: y)
    if hasattr(x, "__dlpack__"):
        return _opened(_from_dlpack(x), lambda y: y)
    if hasattr(x, "__array__"):
        return _opened(np.asarray(x), lambda y: y)
    try:
        array = np.asarray(memoryview(x))
    except (TypeError, ValueError):
        raise Error(f"expected an array, found {type(x).__name__}") from None
    return _opened(array, lambda y: y)


def _opened(array: np.ndarray[Any, Any], close: Callable[..., Any]) -> Opened:
    return Opened(array, format_of(array.dtype), close)


def numbers(x: Any, what: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """An array of a number or of lists of them."""
    try:
        array = np.asarray(x, dtype)
        given = np.asarray(x) if dtype.kind in "iu" else array
    except (TypeError, ValueError, OverflowError) as error:
        raise Error(f"{what} is no array of {dtype}: {error}") from None
    # NumPy cuts off fractions.
    if given.dtype.kind == "f" and dtype.kind in "iu" and (array != given).any():
        raise Error(f"{what} is no array of {dtype}: it has {given[array != given][0]}")
    # NumPy makes a NaN of None.
    suspect = dtype.kind == "f" and np.isnan(array).any()
    if suspect and any(each is None for each in np.asarray(x, object).flat):
        raise Error(f"{what} is no array of {dtype}: it has None; use math.nan")
    return array


def _exact_numbers(x: Any, what: str, dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Integers as they are, where 64 bits have all of them; otherwise numbers of a
    float type, and an error for an integer that it has not."""
    try:
        found = np.asarray(x)
    except (TypeError, ValueError):
        return numbers(x, what, dtype)
    if found.dtype.kind in "iu":
        return found
    array = found if found.dtype == dtype else numbers(x, what, dtype)
    if not np.any(np.abs(array) >= 2.0**53):
        return array
    each = np.asarray(x, object)
    whole = [int(v) for v in each.flat if isinstance(v, (int, np.integer))]
    if len(whole) == each.size:  # NumPy makes floats of what is 2^63 and more
        for kind in (np.int64, np.uint64):
            limits = np.iinfo(kind)
            if limits.min <= min(whole) and max(whole) <= limits.max:
                return np.array(whole, kind).reshape(each.shape)
    for number in whole:
        if int(float(number)) != number:
            raise Error(
                f"{what} has {number}, which is no number of f64; "
                f"round it first, as float({number})"
            )
    return array


# ---- NumPy ------------------------------------------------------------------


def _open_numpy(x: np.ndarray[Any, Any]) -> Opened:
    native = x
    if not x.dtype.isnative:
        native = x.astype(x.dtype.newbyteorder("="))

    def close(y: np.ndarray[Any, Any]) -> Any:
        if not x.dtype.isnative:
            y = y.astype(y.dtype.newbyteorder(x.dtype.byteorder))
        if isinstance(x, np.ma.MaskedArray):
            return np.ma.MaskedArray(y, mask=x.mask.copy())
        return y if type(x) is np.ndarray else x.__array_wrap__(y)

    return _opened(native.view(np.ndarray), close)


# ---- PyTorch ----------------------------------------------------------------


def _open_torch(x: Any) -> Opened:
    import torch

    if not isinstance(x, torch.Tensor):
        raise Error(f"expected an array, found {type(x).__name__}")
    if x.device.type != "cpu":
        raise Error(f"the tensor lies on {x.device}, expected cpu; use .cpu()")
    if x.is_quantized:
        raise Error(f"the tensor is quantized, {x.dtype}; use .dequantize()")
    if x.layout != torch.strided:
        raise Error(f"the tensor has the layout {x.layout}, expected a dense one")
    if x.requires_grad:
        raise Error("the tensor requires a gradient, which this has not; use .detach()")
    if x.is_neg() or x.is_conj():
        x = x.resolve_neg().resolve_conj()
    name = str(x.dtype).removeprefix("torch.")
    if name in ("float16", "float32", "float64"):
        return Opened(x.numpy(), _FORMATS[name], torch.from_numpy)
    if name not in _FORMATS:
        try:
            return Opened(x.numpy(), None, torch.from_numpy)
        except TypeError as error:
            raise Error(f"a tensor of {name}: {error}") from None
    bits = torch.int16 if x.element_size() == 2 else torch.uint8
    array = x.view(bits).numpy().view(f"u{x.element_size()}")

    def close(y: np.ndarray[Any, Any]) -> Any:
        if y.dtype == array.dtype and bits == torch.int16:
            y = y.view(np.int16)
        return torch.from_numpy(y)

    def close_floats(y: np.ndarray[Any, Any]) -> Any:
        return close(y).view(x.dtype)

    return Opened(array, _FORMATS[name], close_floats)


# ---- JAX and others ---------------------------------------------------------


def _open_jax(x: Any) -> Opened:
    import jax

    if isinstance(x, jax.core.Tracer):
        raise Error("the array is traced by jax.jit and has no memory yet")
    if not isinstance(x, jax.Array):
        raise Error(f"expected an array, found {type(x).__name__}")
    devices = x.devices()
    if any(device.platform != "cpu" for device in devices):
        raise Error(f"the array lies on {next(iter(devices))}, expected cpu")

    def close(y: np.ndarray[Any, Any]) -> Any:
        z = jax.numpy.asarray(y)
        if z.dtype != y.dtype:
            raise Error(f"JAX has no {y.dtype} unless jax_enable_x64 is set")
        return z

    return _opened(np.asarray(x), close)


def _from_dlpack(x: Any) -> np.ndarray[Any, Any]:
    if x.__dlpack_device__()[0] != 1:  # kDLCPU
        raise Error(f"the {type(x).__name__} does not lie in the memory of the CPU")
    try:
        return np.from_dlpack(x)
    except (BufferError, RuntimeError, TypeError) as error:
        raise Error(f"a {type(x).__name__} that NumPy cannot read: {error}") from None
