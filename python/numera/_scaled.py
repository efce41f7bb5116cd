# SPDX-License-Identifier: MIT
"""Scaled formats: arrays whose elements share scales (mxfp8, nvfp4, scaled<i8>).

Programs go through three dimensions, those before the axis, the axis, and those
behind it, so that one of a format serves arrays of any rank.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from numera import _dtypes, _numera
from numera._bounded import PROGRAMS, Bounded
from numera._errors import Error
from numera._formats import Format, ScaledFormat

__all__ = ["Scaled"]

_VALUES = "tensor<?x?x?xf32>"


class Scaling:
    """A scaled format, and its programs."""

    def __init__(self, fmt: ScaledFormat) -> None:
        self.format = fmt
        self.element, self.scale = fmt.element, fmt.scale
        self.rule = fmt.rule
        self.block = fmt.block or 0
        """Elements that share a scale; 0: all, or those of a channel."""
        self.has_tensor_scale: bool = fmt._facts["tensor_scale"]

    def _type(self, has_axis: bool) -> str:
        fmt = self.format
        return _numera.tensor_type(fmt._registry, fmt.name, 3, 1 if has_axis else -1)

    def kernel(self, task: str, has_axis: bool) -> _numera.Kernel:
        """The program that does ``quantize``, ``encode`` or ``decode``."""
        key = (self.format, task, has_axis)
        found = _kernels.get(key)
        if found is None:
            found = _kernels[key] = self._compile(task, has_axis)
        return found

    def _compile(self, task: str, has_axis: bool) -> _numera.Kernel:
        kind = self._type(has_axis)
        quantize = f"%q = numera.quantize %x : {_VALUES} to {kind}"
        decode = f"%y = numera.dequantize %q : {kind} to {_VALUES}"
        parts = [code_dtype(self.element), code_dtype(self.scale)]
        if self.rule == "min-max":
            parts.append(code_dtype(self.element))
        if self.has_tensor_scale:
            parts.append(1)
        text, inputs, outputs = {
            "quantize": (
                (
                    f"(%x: {_VALUES}) -> {_VALUES} {{\n{quantize}\n{decode}\n"
                    f"return %y : {_VALUES}"
                ),
                [1],
                [1],
            ),
            "encode": (
                f"(%x: {_VALUES}) -> {kind} {{\n{quantize}\nreturn %q : {kind}",
                [1],
                parts,
            ),
            "decode": (
                f"(%q: {kind}) -> {_VALUES} {{\n{decode}\nreturn %y : {_VALUES}",
                parts,
                [1],
            ),
        }[task]
        return _numera.Kernel(
            self.format._registry, f"func.func @kernel{text}\n}}\n", inputs, outputs
        )


_kernels: dict[tuple[Any, ...], _numera.Kernel] = Bounded(PROGRAMS)


def code_dtype(fmt: Format) -> int:
    """The number of the element type by which programs take codes."""
    machine = {"float<8,23>": 1, "float<11,52>": 2}
    others = {8: 7, 16: 8, 32: 9, 64: 10, 128: 14, 256: 15}
    return machine.get(fmt.spelling, others[fmt.storage_bits])


_found: dict[ScaledFormat, Scaling] = Bounded(PROGRAMS)


def find(fmt: Format) -> Scaling | None:
    """What a format's arrays are like, if it is a scaled one."""
    if not isinstance(fmt, ScaledFormat):
        return None
    found = _found.get(fmt)
    if found is None:
        found = _found[fmt] = Scaling(fmt)
    return found


def refuse(**named: Any) -> None:
    """What scaled formats do not take."""
    for name, value in named.items():
        if value is not None:
            raise Error(f"{name.replace('_', '-')} is not for scaled formats")


def _normal_axis(fmt: Scaling, axis: int | None, rank: int) -> int | None:
    if axis is None:
        return rank - 1 if fmt.block and rank else None
    if not isinstance(axis, (int, np.integer)) or not -rank <= axis < rank:
        raise Error(f"axis is {axis!r}, expected one of an array of {rank} dimensions")
    return axis % rank


def _folded(shape: tuple[int, ...], axis: int | None) -> tuple[int, int, int]:
    if axis is None:
        return (1, math.prod(shape), 1)
    return (math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :]))


def _values(array: np.ndarray[Any, Any], source: str) -> np.ndarray[Any, Any]:
    """f32 without gaps, which the steps of scaling are in (Z2, Z5)."""
    if source == "f32":
        return np.asarray(array, order="C")
    from numera import _casts

    values = _casts.decode_as(array, source, np.dtype("f4"))
    return np.asarray(values, order="C")


def quantize(
    array: np.ndarray[Any, Any],
    source: str,
    fmt: Scaling,
    axis: int | None,
    target: np.ndarray[Any, Any],
    threads: int,
) -> None:
    """Writes the values that are left of an array."""
    from numera import _casts

    axis = _normal_axis(fmt, axis, array.ndim)
    x = _values(array, source)
    if x.size == 0:
        return
    folded = _folded(x.shape, axis)
    y = np.empty(folded, np.float32)
    kernel = fmt.kernel("quantize", axis is not None or bool(fmt.block))
    kernel.run([x.reshape(folded)], [y], threads, 0, 0, 0)
    _casts.encode_as(y.reshape(x.shape), "f32", source, target)


def encode(
    array: np.ndarray[Any, Any],
    source: str,
    fmt: Scaling,
    axis: int | None,
    threads: int,
) -> Scaled:
    """The codes and scales of an array."""
    axis = _normal_axis(fmt, axis, array.ndim)
    has_axis = axis is not None or bool(fmt.block)
    x = _values(array, source)
    shape = x.shape
    folded = _folded(shape, axis)
    before, count, behind = folded
    scale_shape: tuple[int, ...] = ()
    folded_scales: tuple[int, ...] = ()
    if fmt.block:
        blocks = -(-count // fmt.block)
        folded_scales = (before, blocks, behind)
        scale_shape = (
            (blocks,) if axis is None else shape[:axis] + (blocks,) + shape[axis + 1 :]
        )
    elif has_axis:
        folded_scales = scale_shape = (count,)
    codes = np.zeros(folded, fmt.element.dtype)
    scales = np.zeros(folded_scales, fmt.scale.dtype)
    zeros = (
        np.zeros(folded_scales, fmt.element.dtype) if fmt.rule == "min-max" else None
    )
    tensor = np.ones((), np.float32) if fmt.has_tensor_scale else None
    parts = [part for part in (codes, scales, zeros, tensor) if part is not None]
    if x.size:
        fmt.kernel("encode", has_axis).run([x.reshape(folded)], parts, threads, 0, 0, 0)
    return Scaled(
        fmt,
        axis,
        codes.reshape(shape),
        scales.reshape(scale_shape),
        None if zeros is None else zeros.reshape(scale_shape),
        tensor,
    )


class Scaled:
    """What :func:`numera.encode` makes with a scaled format.

    >>> import numera
    >>> x = numera.encode([1.0, 100.0], "mxfp4")
    >>> x.codes, x.scales
    (array([0, 7], dtype=uint8), array([16.], dtype=float32))
    >>> x.values()
    array([ 0., 96.], dtype=float32)
    """

    def __init__(
        self,
        fmt: Scaling,
        axis: int | None,
        codes: np.ndarray[Any, Any],
        scale_codes: np.ndarray[Any, Any],
        zero_codes: np.ndarray[Any, Any] | None,
        tensor_scale: np.ndarray[Any, Any] | None,
    ) -> None:
        self._format = fmt
        self.axis = axis
        """Along which blocks lie, or whose indices have a scale each."""
        self.codes = codes
        """Of elements, in the array's shape."""
        self.scale_codes = scale_codes
        """Of scales, in their own format."""
        self.zero_codes = zero_codes
        """Of zero points, which are elements; None if the format has none."""
        self.tensor_scale = tensor_scale
        """The f32 that scales of blocks are relative to; None if there is none."""

    @property
    def format(self) -> ScaledFormat:
        """The scaled format."""
        return self._format.format

    @property
    def shape(self) -> tuple[int, ...]:
        """The array's."""
        return self.codes.shape

    @property
    def scales(self) -> np.ndarray[Any, Any]:
        """The values of the scales."""
        from numera import _arrays

        return _arrays.decode(self.scale_codes, self._format.scale)

    def values(self, dtype: Any = None, *, threads: int = 0) -> np.ndarray[Any, Any]:
        """The values, in f32 or what ``dtype`` says."""
        fmt = self._format
        folded = _folded(self.shape, self.axis)
        y = np.zeros(folded, np.float32)
        has_axis = self.axis is not None or bool(fmt.block)
        scales, zeros = self.scale_codes, self.zero_codes
        if fmt.block:
            before, count, behind = folded
            scales = scales.reshape(before, -(-count // fmt.block), behind)
            zeros = None if zeros is None else zeros.reshape(scales.shape)
        parts = [self.codes.reshape(folded), scales, zeros, self.tensor_scale]
        if y.size:
            fmt.kernel("decode", has_axis).run(
                [np.asarray(part, order="C") for part in parts if part is not None],
                [y],
                threads,
                0,
                0,
                0,
            )
        y = y.reshape(self.shape)
        return y if dtype is None else y.astype(_dtypes.floating(dtype))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False:
            raise ValueError("the values are not in memory: they are computed")
        return self.values(dtype)

    def __repr__(self) -> str:
        return f"numera.Scaled({self.shape}, format='{self.format}', axis={self.axis})"
