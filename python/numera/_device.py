# SPDX-License-Identifier: MIT
"""Calls of programs for GPUs on arrays that lie there."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from numera import _numera
from numera._errors import Error

if TYPE_CHECKING:
    from numera._calls import Function, Tensor

__all__ = ["DeviceArray", "code_of", "device_array", "run_on_device", "stream_of"]

_NUMBERS = {
    name: number
    for number, name in enumerate(
        ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1"), 1
    )
} | {"f2": 12, "bfloat16": 13}
"""Numbers of the element types that programs have (`numera.h`)."""


class DeviceArray(NamedTuple):
    """Memory of a GPU; `owner` keeps it."""

    address: int
    shape: tuple[int, ...]
    dtype: str
    """As in `_NUMBERS`."""
    is_writeable: bool
    owner: Any


def code_of(dtype: np.dtype[Any]) -> str:
    """The type as messages and `DeviceArray` name it."""
    return dtype.name if dtype.name == "bfloat16" else dtype.str[1:]


def device_array(value: Any, name: str) -> DeviceArray | None:
    """What ``__cuda_array_interface__`` says of an array; None for one of the host.

    name  what messages call it.
    """
    torch = sys.modules.get("torch")
    is_brain = False
    if torch and isinstance(value, torch.Tensor):
        if value.device.type != "cuda":
            return None
        value = value.detach()
        is_brain = value.dtype == torch.bfloat16
        if is_brain:  # which the interface has no word for
            value = value.view(torch.int16)
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return None
    shape = tuple(interface["shape"])
    dtype = np.dtype(interface["typestr"])
    strides = interface.get("strides")
    dense = _dense_strides(shape, dtype.itemsize)
    if strides is not None and 0 not in shape and tuple(strides) != dense:
        raise Error(f"{name} is strided, expected a dense array")
    address, is_read_only = interface["data"]
    code = "bfloat16" if is_brain else code_of(dtype)
    return DeviceArray(address, shape, code, not is_read_only, value)


def _dense_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides = [itemsize][: len(shape)]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * size)
    return tuple(reversed(strides))


def stream_of(stream: Any, owners: Sequence[Any]) -> int:
    """The number of a stream of CUDA, for `numera_options`; 0: none was named.

    stream  its number, PyTorch's or CuPy's object, or None: the current one of
            whichever of the two an array belongs to.
    """
    if stream is None:
        torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
        for owner in owners:
            if torch and isinstance(owner, torch.Tensor):
                stream = torch.cuda.current_stream(owner.device)
                break
            if cupy and isinstance(owner, cupy.ndarray):
                stream = cupy.cuda.get_current_stream()
                break
        else:
            return 0
    number = getattr(stream, "cuda_stream", getattr(stream, "ptr", stream))
    if isinstance(number, bool) or not isinstance(number, int) or number < 0:
        raise Error(
            f"stream is {stream!r}, expected a stream of PyTorch or CuPy, or the "
            f"number of one"
        )
    return number or 1  # CUDA's default stream has two names


def _of_host(array: np.ndarray[Any, Any]) -> DeviceArray:
    address, is_read_only = array.__array_interface__["data"]
    return DeviceArray(
        address, array.shape, code_of(array.dtype), not is_read_only, array
    )


def run_on_device(
    function: Function,
    inputs: Sequence[DeviceArray | np.ndarray[Any, Any]],
    out: Sequence[DeviceArray | np.ndarray[Any, Any]] | None,
    seed: int,
    step: int,
    sample: int,
    stream: Any = None,
) -> list[Any]:
    """Calls a function with memory of the GPU, of the host, or of both. Without
    `out`, results are PyTorch's or CuPy's where the first array on the GPU is,
    else NumPy's. `stream` is as in `stream_of`."""
    arrays = [_described(each) for each in inputs]
    owner = next((e.owner for e in inputs if isinstance(e, DeviceArray)), None)
    owners = [e.owner for e in [*inputs, *(out or [])] if isinstance(e, DeviceArray)]
    results: list[Any] = [None] * len(function.outputs)
    if out is None:
        for place, tensor in enumerate(function.outputs):
            if None not in tensor.shape:
                results[place] = _empty(owner, tensor, function.brains[1][place])
        out = [
            _later(tensor) if result is None else _described(result)
            for result, tensor in zip(results, function.outputs)
        ]
    arrays += [_described(each) for each in out]
    tensors = [
        (_NUMBERS["bfloat16" if is_brain else each.dtype], list(each.shape))
        for each, is_brain in zip(arrays, function.brains[0] + function.brains[1])
    ]
    count = len(inputs)
    call = _numera.Call(
        function.program, function.name, tensors[:count], tensors[count:]
    )
    addresses = [each.address for each in arrays]
    number = stream_of(stream, owners)
    made = iter(call.run(addresses, 0, seed, step, sample, number))
    for place, tensor in enumerate(function.outputs):
        if results[place] is None and arrays[count + place].address == 0:
            is_brain = function.brains[1][place]
            results[place] = _beside(owner, next(made), tensor, is_brain)
    return results


def _described(value: Any) -> DeviceArray:
    if isinstance(value, DeviceArray):
        return value
    return device_array(value, "a result") or _of_host(value)


def _later(tensor: Tensor) -> DeviceArray:
    """A result whose size the call decides: without memory."""
    return DeviceArray(0, (0,) * len(tensor.shape), code_of(tensor.dtype), True, None)


def _torch_type(tensor: Tensor, is_brain: bool) -> Any:
    torch = sys.modules["torch"]
    return getattr(torch, "bfloat16" if is_brain else tensor.dtype.name)


def _empty(owner: Any, tensor: Tensor, is_brain: bool) -> Any:
    """Memory for a result, of the kind of an array on the GPU."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch and isinstance(owner, torch.Tensor):
        dtype = _torch_type(tensor, is_brain)
        return torch.empty(tensor.shape, dtype=dtype, device=owner.device)
    if cupy and not is_brain and isinstance(owner, cupy.ndarray):
        return cupy.empty(tensor.shape, tensor.dtype)
    return np.empty(tensor.shape, tensor.dtype)


def _beside(
    owner: Any, array: np.ndarray[Any, Any], tensor: Tensor, is_brain: bool
) -> Any:
    """A result in the host's memory as that of `_empty`."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch and isinstance(owner, torch.Tensor):
        if is_brain:
            array = array.view(np.int16)
        there = torch.from_numpy(array).to(owner.device)
        return there.view(torch.bfloat16) if is_brain else there
    if cupy and not is_brain and isinstance(owner, cupy.ndarray):
        return cupy.asarray(array)
    return array.view(tensor.dtype)
