# SPDX-License-Identifier: MIT
"""Arrays of JAX as tensors of programs: complex numbers are pairs, and unsigned integers
have no sign."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from numera._errors import Error

__all__ = [
    "aval",
    "count",
    "floats",
    "is_float",
    "lent",
    "narrowed",
    "part",
    "parts",
    "signed",
    "signless",
    "struct",
    "typed",
    "wide",
]

_NARROW = ("bfloat16", "float16")


def count(dtype: Any) -> int:
    """How many tensors of a program a tensor is: complex numbers are pairs."""
    return 2 if dtype.kind == "c" else 1


def part(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type of each of them."""
    return np.empty(0, dtype).real.dtype if count(dtype) > 1 else signless(wide(dtype))


def wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What a function computes with in place of bf16 and f16: f32, which becomes the
    program's format."""
    return np.dtype("f4") if dtype.name in _NARROW else dtype


def parts(x: Any) -> tuple[Any, ...]:
    array = np.asarray(x)
    return (array.real, array.imag) if count(array.dtype) > 1 else (x,)


def lent(x: Any, tensor: Any) -> Any:
    """An array for a program: flat, and without what makes it unsigned."""
    array = np.asarray(x, order="C")
    if array.dtype != tensor.dtype:
        array = (
            array.view(tensor.dtype)
            if array.dtype.kind == "u"
            else array.astype(tensor.dtype)  # a number of Python
        )
    return array.reshape(-1) if array.ndim > 1 else array


def signless(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What a program takes and gives in place of unsigned integers."""
    return np.dtype(f"i{dtype.itemsize}") if dtype.kind == "u" else dtype


def signed(x: Any, dtype: np.dtype[Any]) -> Any:
    return x if x.dtype == dtype else jax.lax.bitcast_convert_type(x, dtype)


def aval(x: Any) -> tuple[tuple[int, ...], np.dtype[Any], bool]:
    aval = jax.typeof(x)
    dtype = aval.dtype
    # Integers of fewer than 8 bits are types of ml_dtypes.
    if not isinstance(dtype, np.dtype) or (
        dtype.itemsize < 4
        and (is_float(dtype) or dtype.kind == "V")
        and dtype.name not in _NARROW
    ):
        raise Error(
            f"an argument of {dtype}, expected f32, f64, complex numbers of them, bf16, "
            f"f16, integers of 8 bits or more, or booleans; cast it with .astype"
        )
    return aval.shape, dtype, aval.weak_type


def struct(x: Any) -> jax.ShapeDtypeStruct:
    weak = jax.typeof(x).weak_type
    return jax.ShapeDtypeStruct(x.shape, x.dtype, weak_type=weak)


def typed(x: Any, like: jax.ShapeDtypeStruct) -> Any:
    """With a weak type, as that of 2 * 3.0, which gives way to another array's. JAX has
    no function for it but the operation."""
    if not like.weak_type or jax.typeof(x).weak_type:
        return x
    return jax.lax.convert_element_type_p.bind(
        x, new_dtype=x.dtype, weak_type=True, sharding=None
    )


def is_float(dtype: Any) -> bool:
    """Whether a number has a gradient: also complex ones have."""
    return bool(jax.numpy.issubdtype(dtype, jax.numpy.inexact))


def floats(avals: Sequence[Any]) -> list[int]:
    return [place for place, (_, dtype, _) in enumerate(avals) if is_float(dtype)]


def narrowed(
    flat: Callable[..., Any],
    avals: Sequence[Any],
    found: Sequence[jax.ShapeDtypeStruct],
) -> tuple[jax.ShapeDtypeStruct, ...]:
    """Results as the function gives them for arguments of bf16 and f16, which it was
    traced without."""
    if all(wide(dtype) == dtype for _, dtype, _ in avals):
        return tuple(found)
    given = [
        jax.ShapeDtypeStruct(shape, dtype, weak_type=weak)
        for shape, dtype, weak in avals
    ]
    wanted = jax.eval_shape(flat, *given)
    return tuple(y if wide(y.dtype) == x.dtype else x for x, y in zip(found, wanted))
