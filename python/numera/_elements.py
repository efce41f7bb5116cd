# SPDX-License-Identifier: MIT
"""NumPy's functions of truth values, differences and edges of arrays of codes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from numera import _dtypes, _functions
from numera._array import Array, operand
from numera._errors import Error
from numera._functions import formatted, stored
from numera._operands import truths


def _truths(a: Array) -> np.ndarray[Any, Any]:
    """Whether elements are not zero; NaN is not."""
    formatted("a function of truth values", a)
    return truths(a)  # type: ignore[no-any-return]


def _of_truths(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduce(a: Any, axis: Any = None, out: Any = None, **options: Any) -> Any:
        if isinstance(out, Array):
            raise Error("out is an array of codes, expected one of truth values")
        return function(_truths(a), axis, out, **options)

    return reduce


def sign(x: Array) -> Array:
    """1, -1, 0, or NaN."""
    if not _dtypes.has_zero(x._format):
        signs: Any = np.where(np.isnan(x), x, 1)
        return signs
    one, zero = operand(1, x._format, "with"), operand(0, x._format, "with")
    signs = np.where(x > 0, one, np.where(x < 0, -one, zero))
    signs = np.where(np.isnan(x), x, signs)
    return signs


def _rest(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """What is left of a division, with the divisor's sign, and where that turned it."""
    rest: Any = np.fmod(a, b)
    turned = (rest != 0) & ((rest < 0) != (b < 0))
    signed = np.where(rest == 0, np.copysign(rest, b), rest)
    return rest, np.where(turned, rest + b, signed), turned


def remainder(a: Array, b: Array) -> Any:
    """``a % b`` as of NumPy: ``fmod``, plus the divisor where the signs differ, each
    step rounded. In floats and fixed point ``fmod`` is exact, so that the remainder
    is rounded once."""
    return _rest(a, b)[1]


def divmod(a: Array, b: Array) -> tuple[Any, Any]:
    """``a // b`` and ``a % b`` in NumPy's steps, each rounded: without what is left,
    ``a`` is divided, and the quotient brought to the next whole number."""
    rest, signed, turned = _rest(a, b)
    quotient: Any = (a - rest) / b
    quotient = np.where(turned, quotient - 1, quotient)
    whole: Any = np.floor(quotient)
    whole = np.where(quotient - whole > 0.5, whole + 1, whole)
    plain: Any = a / b
    whole = np.where(quotient == 0, np.copysign(quotient, plain), whole)
    return np.where(b == 0, plain, whole), signed


def diff(a: Array, n: int = 1, axis: int = -1) -> Array:
    """Differences of elements that follow one another, each rounded."""
    if n < 0:
        raise Error(f"n is {n}, expected a number of differences from 0 on")
    if not a.ndim:
        raise Error("a number has no differences; expected an array")
    (axis,) = _functions.axes_of(axis, a.ndim)
    before = (slice(None),) * axis
    for _ in range(n):
        a = a[(*before, slice(1, None))] - a[(*before, slice(None, -1))]
    return a


def pad(
    array: Array,
    pad_width: Any,
    mode: str = "constant",
    *,
    constant_values: Any = 0,
    reflect_type: str = "even",
) -> Array:
    """With a number around the elements, or with elements in NumPy's modes."""
    if mode == "constant":
        value = operand(constant_values, array._format, "around")._codes
        padded = np.pad(array._codes, pad_width, constant_values=value[()])
    elif mode in ("edge", "reflect", "symmetric", "wrap") and reflect_type == "even":
        padded = np.pad(array._codes, pad_width, mode)  # type: ignore[call-overload]
    else:
        raise Error(
            f"np.pad of codes computes nothing, as {mode!r} would; use .values()"
        )
    return array._with(padded)


def round(a: Array, decimals: int = 0, out: Any = None) -> Any:
    """To whole numbers, ties to even; the format has no decimal places."""
    if decimals:
        raise Error(f"decimals is {decimals}, expected 0 of arrays of codes")
    return stored(np.rint(a), out)


def isclose(a: Any, b: Any, *tolerances: Any, **options: Any) -> Any:
    """Of the values, which may be those of any formats, or NumPy's."""
    return np.isclose(np.asarray(a), np.asarray(b), *tolerances, **options)


def allclose(a: Any, b: Any, *tolerances: Any, **options: Any) -> bool:
    """As :func:`isclose`, of all."""
    return bool(np.all(isclose(a, b, *tolerances, **options)))


def outer(a: Any, b: Any, out: Any = None) -> Any:
    """The products of each with each."""
    return stored(np.multiply.outer(np.ravel(a), np.ravel(b)), out)


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.any: _of_truths(np.any),
    np.all: _of_truths(np.all),
    np.nonzero: lambda a: np.nonzero(_truths(a)),
    np.flatnonzero: lambda a: np.flatnonzero(_truths(a)),
    np.argwhere: lambda a: np.argwhere(_truths(a)),
    np.count_nonzero: lambda a, *args, **options: np.count_nonzero(
        _truths(a), *args, **options
    ),
    np.diff: diff,
    np.pad: pad,
    np.round: round,
    np.around: round,
    np.isclose: isclose,
    np.allclose: allclose,
    np.outer: outer,
}
"""Ours, for NumPy's."""
