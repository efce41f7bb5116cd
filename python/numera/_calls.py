# SPDX-License-Identifier: MIT
"""Calls of compiled functions on arrays."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numera import _kinds, _numera
from numera._device import DeviceArray, code_of, device_array, run_on_device
from numera._errors import Error, check_whole

__all__ = ["Function", "Tensor"]

_DTYPES = {
    "f16": "f2",
    "f32": "f4",
    "f64": "f8",
    "bool": "?",
    **{f"{kind}{8 * n}": f"{kind}{n}" for kind in "iu" for n in (1, 2, 4, 8)},
    "u128": "V16",
    "u256": "V32",
}
_LENT = {"bf16": 13, "u128": 14, "u256": 15}
"""The numbers of types whose arrays are lent as integers."""


def _bfloat16() -> np.dtype[Any]:
    """NumPy's type for bf16, which ml_dtypes adds; without it, the codes."""
    try:
        import ml_dtypes
    except ImportError:
        return np.dtype(np.uint16)
    return np.dtype(ml_dtypes.bfloat16)


def _dtype(name: str) -> np.dtype[Any]:
    return _bfloat16() if name == "bf16" else np.dtype(_DTYPES[name])


class Tensor(NamedTuple):
    """What a function takes or returns."""

    name: str
    """The model's; ``arg0`` and ``result0`` where it has none."""
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    """None for a dimension that calls decide."""

    def __str__(self) -> str:
        sizes = ", ".join("?" if size is None else str(size) for size in self.shape)
        return f"{self.name}: {self.dtype}[{sizes}]"


def _tensors(entries: Sequence[Mapping[str, Any]], kind: str) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(
            entry["name"] or f"{kind}{place}",
            _dtype(entry["dtype"]),
            tuple(None if size < 0 else size for size in entry["shape"]),
        )
        for place, entry in enumerate(entries)
    )


class Function:
    """A function of a program."""

    def __init__(
        self,
        program: _numera.Program,
        entry: Mapping[str, Any],
        seed: int,
        target: str,
    ) -> None:
        self.program = program
        self._target = target
        self._seed = seed
        self.layers: _numera.Layers | None = None
        """Collects what calls show of layers."""
        self.name: str = entry["name"]
        self.inputs = _tensors(entry["inputs"], "arg")
        self.outputs = _tensors(entry["outputs"], "result")
        self.independent_rows: bool = entry.get("independent_rows", False)
        """Whether the rows of a batch are known not to need each other."""
        brains = [
            [tensor["dtype"] == "bf16" for tensor in entry[kind]]
            for kind in ("inputs", "outputs")
        ]
        self.brains: list[list[bool]] = brains
        """Which inputs and outputs are bf16."""
        types = [
            [_LENT.get(tensor["dtype"], 0) for tensor in entry[kind]]
            for kind in ("inputs", "outputs")
        ]
        self._types: list[list[int]] = types if any(map(any, types)) else []
        """The types of those that are lent as integers, if there are any."""

    def __call__(
        self,
        *inputs: Any,
        out: Any = None,
        threads: int = 0,
        seed: int | None = None,
        step: int = 0,
        sample: int = 0,
        stream: Any = None,
    ) -> Any:
        """Runs the function.

        Arrays of NumPy, and of whatever else speaks DLPack and lies in the CPU's
        memory, are read where they are if they are dense and of the input's dtype.
        Strided ones are copied; of another dtype they are converted where no
        number changes, and refused otherwise. Lists and numbers are rounded.
        Arrays of :func:`numera.array` are their values.

        The result is an array, or a tuple of them where there are several: NumPy's,
        or PyTorch's where an input is. A program for a GPU takes arrays that lie
        there, PyTorch's and whatever has ``__cuda_array_interface__``, where they
        are. It works on `stream`, and may return before the GPU is done. Without
        one, the call begins when what was asked of the GPU is done, and waits.

        out      an array, or a tuple of them, to write the results to.
        threads  0: as many as there are processors. The bits are the same.
        seed     of stochastic rounding; None: the one given to ``compile``.
        step     of stochastic rounding: the training step, say.
        sample   the place in the data set of the inputs' first row.
        stream   of a program for a GPU: PyTorch's or CuPy's stream, or the number of
                 one; None: the current one where arrays on the GPU are theirs.
        """
        if len(inputs) != len(self.inputs):
            raise Error(
                f"'{self.name}' takes {_count(len(self.inputs), 'input')}, "
                f"found {len(inputs)}"
            )
        seed = self._seed if seed is None else seed
        wanted = out if isinstance(out, (tuple, list)) else [out]
        if stream is not None or any(map(_may_be_on_device, [*inputs, *wanted])):
            given = [
                device_array(value, f"input '{tensor.name}'")
                for value, tensor in zip(inputs, self.inputs)
            ]
            return self._call_on_device(inputs, given, out, seed, step, sample, stream)
        arrays = [
            value
            if type(value) is np.ndarray
            and value.dtype is tensor.dtype
            and value.flags.c_contiguous
            else _dense(value, tensor)
            for value, tensor in zip(inputs, self.inputs)
        ]
        outputs = [] if out is None else self._destinations(out)
        if self._types:
            arrays = _as_integers(arrays, self._types[0])
            outputs = _as_integers(outputs, self._types[1])
        try:
            results = self.program.call(
                self.name,
                arrays,
                outputs,
                len(self.outputs),
                self._types,
                threads,
                seed,
                step,
                sample,
                self.layers,
            )
        except TypeError:
            check_whole(threads=threads, seed=seed, step=step, sample=sample)
            raise
        if out is not None:
            return out
        if self._types:
            results = [
                result.view(tensor.dtype)[..., 0]
                if _is_wide(tensor.dtype)
                else result.view(tensor.dtype)
                for result, tensor in zip(results, self.outputs)
            ]
        torch = sys.modules.get("torch")
        if torch and any(isinstance(value, torch.Tensor) for value in inputs):
            results = [
                torch.from_numpy(result.view(np.int16)).view(torch.bfloat16)
                if is_brain
                else result  # of a type that PyTorch lacks
                if _is_wide(result.dtype)
                else torch.from_numpy(result)
                for result, is_brain in zip(results, self.brains[1])
            ]
        return results[0] if len(results) == 1 else tuple(results)

    def _call_on_device(
        self,
        inputs: Sequence[Any],
        given: Sequence[DeviceArray | None],
        out: Any,
        seed: int,
        step: int,
        sample: int,
        stream: Any,
    ) -> Any:
        if not self._target.startswith("nvptx"):
            place = next((i for i, array in enumerate(given) if array is not None), -1)
            if place < 0:
                raise Error("a program for the CPU has no stream, found stream=")
            raise Error(
                f"input '{self.inputs[place].name}' lies on a device, expected memory "
                f'of the CPU; or compile with target="nvptx"'
            )
        arrays: list[DeviceArray | np.ndarray[Any, Any]] = []
        for value, array, tensor, is_brain in zip(
            inputs, given, self.inputs, self.brains[0]
        ):
            if array is not None:
                _check_dtype(array, tensor, f"input '{tensor.name}'", is_brain)
            arrays.append(_dense(value, tensor) if array is None else array)
        outputs = None if out is None else self._destinations(out)
        results = run_on_device(self, arrays, outputs, seed, step, sample, stream)
        if out is not None:
            return out
        return results[0] if len(results) == 1 else tuple(results)

    def _destinations(self, out: Any) -> list[Any]:
        """Arrays that results can be written to as they are."""
        arrays = list(out) if isinstance(out, (tuple, list)) else [out]
        if len(arrays) != len(self.outputs):
            raise Error(
                f"'{self.name}' has {_count(len(self.outputs), 'output')}, "
                f"found {len(arrays)} in out"
            )
        views: list[Any] = []
        for value, tensor, is_brain in zip(arrays, self.outputs, self.brains[1]):
            there = device_array(value, f"out '{tensor.name}'")
            if there is not None:
                _check_dtype(there, tensor, f"out '{tensor.name}'", is_brain)
                if not there.is_writeable:
                    raise Error(f"out '{tensor.name}' is read-only")
                views.append(there)
                continue
            view = _view(value, f"out '{tensor.name}'")
            if view is None:
                raise Error(
                    f"out '{tensor.name}' is no array, found {type(value).__name__}"
                )
            if _is_wide(tensor.dtype) and view.dtype.itemsize == tensor.dtype.itemsize:
                view = view.view(tensor.dtype)
            if view.dtype != tensor.dtype:
                raise Error(
                    f"out '{tensor.name}' has dtype {view.dtype}, "
                    f"expected {tensor.dtype}"
                )
            if not (view.flags.c_contiguous and view.flags.writeable):
                what = "strided" if view.flags.writeable else "read-only"
                raise Error(
                    f"out '{tensor.name}' is {what}, expected a dense array to write to"
                )
            views.append(view)
        return views

    def __str__(self) -> str:
        inputs, outputs = (
            ", ".join(map(str, tensors)) for tensors in (self.inputs, self.outputs)
        )
        return f"{self.name}({inputs}) -> ({outputs})"

    def __repr__(self) -> str:
        return f"<numera.Function {self}>"


def _may_be_on_device(value: Any) -> bool:
    """Quick for NumPy's arrays."""
    if type(value) is np.ndarray:
        return False
    device = getattr(value, "device", None)  # PyTorch's bf16 has no interface
    return getattr(device, "type", "") == "cuda" or hasattr(
        value, "__cuda_array_interface__"
    )


def _check_dtype(array: DeviceArray, tensor: Tensor, name: str, is_brain: bool) -> None:
    wanted = "bfloat16" if is_brain else code_of(tensor.dtype)
    if array.dtype != wanted:
        raise Error(
            f"{name} has dtype {array.dtype} on the GPU, expected {tensor.dtype}"
        )


def _is_wide(dtype: np.dtype[Any]) -> bool:
    """Whether it is of codes of more than 64 bits: bytes without a meaning, which
    structures of them are, too."""
    return dtype.kind == "V" and dtype.itemsize in (16, 32)


def _as_integers(
    arrays: Sequence[np.ndarray[Any, Any]], types: Sequence[int]
) -> list[np.ndarray[Any, Any]]:
    """With the memory of bf16 and of wide codes as integers, which have the
    buffer protocol; of the latter, the words in a last dimension."""
    return [
        array[..., None].view(np.uint64)
        if _is_wide(array.dtype)
        else array.view(np.uint16)
        if of
        else array
        for array, of in zip(arrays, types)
    ]


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _view(value: Any, name: str) -> np.ndarray[Any, Any] | None:
    """The memory of an array as NumPy's; None for what is no array."""
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise Error(f"{name} has masked elements, which no program knows; fill them")
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    torch = sys.modules.get("torch")
    if torch and isinstance(value, torch.Tensor):
        value = value.detach()
        if value.dtype == torch.bfloat16 and value.device.type == "cpu":
            return value.view(torch.int16).numpy().view(_bfloat16())
    elif str(getattr(value, "dtype", "")) == "bfloat16":  # JAX's
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        return np.asarray(value) if hasattr(value, "__array__") else None
    device, _ = value.__dlpack_device__()
    if device not in (1, 3):  # the CPU's memory, and what CUDA pins of it
        raise Error(f"{name} lies on a device, expected memory of the CPU")
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError) as error:
        raise Error(f"{name} cannot be read: {error}") from None


def _dense(value: Any, tensor: Tensor) -> np.ndarray[Any, Any]:
    """The array of an argument that is none, or not as the function wants it."""
    from numera._array import Array

    name = f"input '{tensor.name}'"
    if value is None:  # of which NumPy would make a NaN
        raise Error(f"{name} is None, expected an array of {tensor.dtype}")
    # What an array of a format lends by DLPack are its codes.
    array = value.values() if isinstance(value, Array) else _view(value, name)
    if _is_wide(tensor.dtype):
        return _codes(np.asarray(value) if array is None else array, tensor, name)
    if array is None:
        return _kinds.numbers(value, name, tensor.dtype)
    if not np.can_cast(array.dtype, tensor.dtype, "safe"):
        raise Error(
            f"{name} has dtype {array.dtype}, expected {tensor.dtype}; "
            f"convert it with .astype if rounding is meant"
        )
    return np.require(array, tensor.dtype, "C")


def _codes(
    array: np.ndarray[Any, Any], tensor: Tensor, name: str
) -> np.ndarray[Any, Any]:
    """Codes of more than 64 bits: bytes, or structures of the same size."""
    if not (_is_wide(array.dtype) and array.dtype.itemsize == tensor.dtype.itemsize):
        raise Error(
            f"{name} has dtype {array.dtype}, expected codes of "
            f"{tensor.dtype.itemsize} bytes, {tensor.dtype.str!r} or a structure"
        )
    array = np.require(array, requirements="C")
    if array.ctypes.data % 16:
        array = array.copy()
    return array.view(tensor.dtype)
