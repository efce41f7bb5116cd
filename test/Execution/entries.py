# SPDX-License-Identifier: MIT
"""Compiled functions through their C interface (numera/Runtime/numera.h)."""

import ctypes
import re
from pathlib import Path

import numpy as np

DTYPES = {"f4": 1, "f8": 2, "i1": 3, "i2": 4, "i4": 5, "i8": 6, "u1": 7, "u2": 8, "u4": 9, "u8": 10}


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("capacity", ctypes.c_uint64),
        ("dtype", ctypes.c_int32),
        ("rank", ctypes.c_int32),
        ("shape", ctypes.c_int64 * 16),
    ]


class Options(ctypes.Structure):
    _fields_ = [
        ("size", ctypes.c_uint32),
        ("threads", ctypes.c_uint32),
        ("seed", ctypes.c_uint64),
        ("step", ctypes.c_uint64),
        ("sample", ctypes.c_uint64),
        ("workspace", ctypes.c_void_p),
        ("workspace_size", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
    ]


def options(threads=0, seed=0, step=0, sample=0, stream=None):
    return Options(ctypes.sizeof(Options), threads, seed, step, sample, None, 0, stream)


def tensors(arrays):
    """The arrays are to outlive what is returned."""
    described = (Tensor * len(arrays))()
    for slot, array in zip(described, arrays, strict=True):
        shape = (ctypes.c_int64 * 16)(*array.shape)
        dtype = DTYPES[array.dtype.str[1:]]
        slot.__init__(array.ctypes.data, array.nbytes, dtype, array.ndim, shape)
    return described


def call(entry, inputs, results, given=None):
    """Fills the arrays `results`; raises with the program's message."""
    error = ctypes.create_string_buffer(256)
    status = entry(
        tensors(inputs),
        ctypes.c_size_t(len(inputs)),
        tensors(results),
        ctypes.c_size_t(len(results)),
        ctypes.byref(given) if given else None,
        error,
        ctypes.c_size_t(256),
    )
    if status:
        raise RuntimeError(error.value.decode())


def names(library):
    """The functions that the header beside the library declares."""
    header = Path(library).with_suffix(".h").read_text()
    return re.findall(r"^numera_entry (\w+);", header, re.MULTILINE)


def bits(array):
    return np.ascontiguousarray(array).view(f"u{array.itemsize}")
