# SPDX-License-Identifier: MIT
"""Arrays of codes that compute in their format."""

from __future__ import annotations

from typing import Any

import numpy as np

from numera import _arrays, _casts, _dtypes, _kinds
from numera._errors import Error
from numera._formats import Format, ScaledFormat
from numera._methods import Methods

__all__ = ["Array", "array"]


class Array(Methods, np.lib.mixins.NDArrayOperatorsMixin):
    """Codes of a format, with its arithmetic. Made by :func:`numera.array`.

    Operators, NumPy's ufuncs and functions compute in the format, each operation
    rounded once. Numbers of Python join in, rounded to the format first; arrays of
    other types and formats do not: cast them with ``numera.array(x, format)`` or
    ``x.astype(format)``. ``np.asarray(x)`` has the values.

    >>> import numpy as np, numera
    >>> x = numera.array([1.0, 2.0, 3.0], "posit16")
    >>> x / 3
    numera.array([0.33337402, 0.66674805, 1.        ], 'posit16')
    >>> np.sum(np.exp(x) * x).item()
    77.75
    >>> x.codes
    array([16384, 18432, 19456], dtype=uint16)
    """

    __slots__ = ("_codes", "_format")

    def __init__(self, codes: np.ndarray[Any, Any], format: str | Format) -> None:
        """Takes codes as they are: unsigned integers of the format's storage, whose
        bits above its width are zero (A11), or, above 64 bits, so many bytes or
        structures of these."""
        self._format = _casts.chosen(format)
        codes = np.asarray(codes)
        wanted = self._format.dtype
        if wanted.kind == codes.dtype.kind == "V":
            codes = codes.view(wanted)
        if not codes.dtype.isnative:
            codes = codes.astype(codes.dtype.newbyteorder("="))
        if codes.dtype != wanted:
            raise Error(f"codes of '{self._format}' are {wanted}, found {codes.dtype}")
        width = self._format.width
        if wanted.kind == "u" and width < 8 * wanted.itemsize and codes.size:
            most = codes.max()
            if most >> width:
                raise Error(
                    f"codes of '{self._format}' are 0 to {(1 << width) - 1}, "
                    f"found {most}"
                )
        self._codes = codes

    # ---- what it is ----

    @property
    def codes(self) -> np.ndarray[Any, Any]:
        """The codes, an array of unsigned integers on the same memory."""
        return self._codes

    @property
    def format(self) -> Format:
        """The format."""
        return self._format

    @property
    def shape(self) -> tuple[int, ...]:
        """As of NumPy's arrays."""
        return self._codes.shape

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self._codes.ndim

    @property
    def size(self) -> int:
        """The number of elements."""
        return self._codes.size

    @property
    def itemsize(self) -> int:
        """Bytes that one code takes."""
        return self._codes.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes that the codes take."""
        return self._codes.nbytes

    def tobytes(self) -> bytes:
        """The bytes of the codes, in row-major order."""
        return self._codes.tobytes()

    @property
    def flat(self) -> Flat:
        """The elements in row-major order, on the same memory."""
        return Flat(self)

    @property
    def T(self) -> Array:
        """With its axes in the other order."""
        return self._with(self._codes.T)

    @property
    def mT(self) -> Array:
        """With its last two axes in the other order."""
        if self.ndim < 2:
            raise Error(f"mT is of matrices, found {self.ndim} dimensions")
        return self.swapaxes(-1, -2)

    def _with(self, codes: Any) -> Array:
        """Other codes of the format."""
        made = object.__new__(Array)
        made._codes = codes if type(codes) is np.ndarray else np.asarray(codes)
        made._format = self._format
        return made

    # ---- values ----

    def values(self, dtype: Any = None) -> np.ndarray[Any, Any]:
        """The values, by default in the first of f32 and f64 that has them all."""
        return _arrays.decode(self._codes, self._format, dtype)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("the values are not in memory; use .values() or .codes")
        if dtype is None:
            return self.values()
        if np.dtype(dtype) == bool:
            return truths(self)
        native = np.dtype(dtype).newbyteorder("=")
        if _kinds.format_of(native):
            return self.values(native).astype(dtype, copy=False)
        if _dtypes.has_integers(np.dtype(dtype)):
            return _dtypes.integers(self._codes, self._format, np.dtype(dtype))
        return self.values().astype(dtype)

    def __dlpack__(self, **options: Any) -> Any:
        """The codes, for ``torch.from_dlpack`` and others; the memory is shared."""
        return self._codes.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._codes.__dlpack_device__()

    def astype(
        self,
        format: Any,
        *,
        rounding: str | None = None,
        copy: bool = True,
        **options: Any,
    ) -> Any:
        """The values in another format, each rounded once; an array, which without
        ``copy`` is this one where the format is the same.

        Of a type of NumPy, the values as an array of that type: to integers they are
        truncated and saturated, and NaN is 0. ``rounding`` is for types that are
        formats. ``options`` are ``overflow``, ``random_bits``, ``seed``, ``step`` and
        ``threads``, as of :func:`numera.encode`.
        """
        dtype = _dtypes.named(format)
        if dtype is not None:
            if options:
                raise Error(f"{next(iter(options))} goes with a format, found {dtype}")
            return self._to_dtype(dtype, rounding)
        target = _casts.chosen(format)
        if not copy and target == self._format:
            return self
        codes = _dtypes.recoded(self._codes, self._format, target, rounding, **options)
        return Array(codes, target)

    def _to_dtype(self, dtype: np.dtype[Any], rounding: str | None) -> Any:
        if rounding is None:
            return self.__array__(dtype)
        name = _kinds.format_of(dtype)
        if name is None:
            raise Error(f"rounding goes with a format, found {dtype}")
        native = dtype.newbyteorder("=")
        return self.astype(name, rounding=rounding).view(native).astype(dtype)

    def view(self, dtype: Any) -> np.ndarray[Any, Any]:
        """The same memory as a type with these bits: ``ml_dtypes.bfloat16``."""
        dtype = _dtypes.given(dtype, "a type of NumPy or ml_dtypes")
        name = _kinds.format_of(dtype)
        if name is not None and not _dtypes.same_codes(
            _casts.chosen(name), self._format
        ):
            raise Error(f"{dtype} has other codes than '{self._format}'; use .astype")
        if name is None and (
            dtype.kind not in "iu" or dtype.itemsize != self._codes.itemsize
        ):
            raise Error(f"no view of '{self._format}' as {dtype}")
        return self._codes.view(dtype)

    def item(self, *index: Any) -> float:
        """One value, as a number of Python; of integers that f64 has not, an int."""
        return self._numbers(np.float64).item(*index)

    def tolist(self) -> Any:
        """The values, as numbers of Python, like :meth:`item`."""
        return self._numbers().tolist()

    def _numbers(self, dtype: Any = None) -> np.ndarray[Any, Any]:
        """The values; integers of a format that has nothing else and more than f64."""
        wide = _dtypes.wide_integers(self._format)
        return self.values(dtype) if wide is None else self.__array__(wide)

    def __format__(self, spec: str) -> str:
        # Like NumPy's, which formats arrays of one number alone.
        if not spec:
            return str(self)
        return format(self.item() if self.ndim == 0 else self.values(), spec)

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return _dtypes.whole(self)

    def __bool__(self) -> bool:
        if _casts.carrier(self._format) and _dtypes.has_zero(self._format):
            return bool(self.values())
        return bool(truths(self))

    def __repr__(self) -> str:
        text = np.array2string(self._numbers(), separator=", ", prefix="numera.array(")
        shape = f", shape={self.shape}" if not self.size and self.shape != (0,) else ""
        return f"numera.array({text}, '{self._format}'{shape})"

    def __str__(self) -> str:
        return str(self._numbers())

    # ---- elements ----

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __len__(self) -> int:
        return len(self._codes)

    def __iter__(self) -> Any:
        return (self._with(codes) for codes in self._codes)

    def __getitem__(self, index: Any) -> Array:
        return self._with(self._codes[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._codes[index] = operand(value, self._format, "assigned to")._codes

    def fill(self, value: Any) -> None:
        """Sets all elements to one number, rounded to the format."""
        self[...] = value

    # ---- NumPy ----

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any
    ) -> Any:
        return _ufuncs.call(ufunc, method, inputs, options)

    def __array_function__(
        self, function: Any, types: Any, args: Any, options: Any
    ) -> Any:
        from numera import _functions

        return _functions.call(function, args, options)

    def __eq__(self, other: object) -> Any:
        if _is_no_number(other):
            return np.zeros(self.shape, bool)[()]
        return super().__eq__(other)

    def __ne__(self, other: object) -> Any:
        if _is_no_number(other):
            return np.ones(self.shape, bool)[()]
        return super().__ne__(other)

    __hash__ = None  # type: ignore[assignment] # as of NumPy's arrays

    def __add__(self, other: Any) -> Any:
        return _operated(np.add, self, other, super().__add__)

    def __sub__(self, other: Any) -> Any:
        return _operated(np.subtract, self, other, super().__sub__)

    def __mul__(self, other: Any) -> Any:
        return _operated(np.multiply, self, other, super().__mul__)

    def __truediv__(self, other: Any) -> Any:
        return _operated(np.divide, self, other, super().__truediv__)

    def reshape(self, *shape: Any, **options: Any) -> Array:
        """As NumPy's."""
        return self._with(self._codes.reshape(*shape, **options))

    def transpose(self, *axes: Any) -> Array:
        """As NumPy's."""
        return self._with(self._codes.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> Array:
        """As NumPy's."""
        return self._with(self._codes.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> Array:
        """As NumPy's."""
        return self._with(self._codes.squeeze(axis))

    def repeat(self, repeats: Any, axis: int | None = None) -> Array:
        """As NumPy's."""
        return self._with(self._codes.repeat(repeats, axis))

    def ravel(self, order: Any = "C") -> Array:
        """As NumPy's."""
        return self._with(self._codes.ravel(order))

    def flatten(self, order: Any = "C") -> Array:
        """As NumPy's, a copy."""
        return self._with(self._codes.flatten(order))

    def copy(self) -> Array:
        """As NumPy's."""
        return self._with(self._codes.copy())

    __copy__ = copy

    def __reduce__(self) -> tuple[Any, ...]:
        return Array, (self._codes, self._format)


class Flat:
    """The elements in row-major order, on the array's memory."""

    def __init__(self, array: Any) -> None:
        self._array = array

    def __len__(self) -> int:
        return int(self._array.size)

    def __iter__(self) -> Any:
        return iter(self._array.ravel())

    def __getitem__(self, index: Any) -> Any:
        return self._array._with(self._array._codes.flat[index])

    def __setitem__(self, index: Any, value: Any) -> None:
        value = operand(value, self._array._format, "assigned to")
        self._array._codes.flat[index] = value._codes


def _operated(ufunc: np.ufunc, x: Array, y: Any, usual: Any) -> Any:
    """An operator, without the way through NumPy where it has been before."""
    result = _ufuncs.call_again(ufunc, (x, y))
    return usual(y) if result is None else result


def _is_no_number(x: Any) -> bool:
    """Whether x is what NumPy's arrays equal nowhere."""
    return x is None or isinstance(x, (str, bytes))


def array(x: Any, format: str | Format | None = None, **options: Any) -> Array:
    """An array of codes that computes in its format.

    x       an array, a list or a number. Another :class:`Array` is cast.
    format  the format; None: that of ``x``, an array of ``ml_dtypes`` or NumPy, whose
            memory is kept.
    The other arguments are those of :func:`numera.encode`.

    >>> import ml_dtypes, numpy as np, numera
    >>> x = numera.array(np.arange(3).astype(ml_dtypes.bfloat16))
    >>> print((x + x).view(ml_dtypes.bfloat16))
    [0 2 4]
    """
    if isinstance(x, np.ma.MaskedArray) and np.ma.is_masked(x):
        raise Error("x has masked elements, which no array of a format has; fill them")
    if options and format is None:
        raise Error(f"{next(iter(options))} goes with a format, which x is rounded to")
    x = joined(x, format, **options)
    if isinstance(x, Array):
        return x if format is None else x.astype(format, **options)
    if format is not None:
        if isinstance(_casts.chosen(format), ScaledFormat):
            raise Error(f"'{format}' is a scaled format, which numera.encode makes")
        codes = _arrays.encode(x, format, **options)
        if not isinstance(codes, (np.ndarray, np.generic)):
            codes = _kinds.open(codes).array
        return Array(codes, format)
    opened = _kinds.open(x)
    if opened.format is None:
        raise Error(f"an array of {opened.array.dtype} names no format; name one")
    chosen = _casts.chosen(opened.format)
    return Array(opened.array.view(chosen.dtype), chosen)


from numera import _ufuncs  # which has to know Array
from numera._operands import joined, operand, truths
