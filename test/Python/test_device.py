# SPDX-License-Identifier: MIT
"""Arrays on GPUs: an emulated one, and arrays that have nothing but the interface."""

import os
import pathlib
import subprocess
import sys

import pytest

EMULATION = os.environ.get("NUMERA_EMULATION", "")

SCRIPT = r"""
import ctypes

import numpy as np
import pytest

import numera

cuda = ctypes.CDLL("libcuda.so.1")
context = ctypes.c_void_p()
assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
assert cuda.cuCtxSetCurrent(context) == 0


class Array:
    # What CuPy, Numba and PyTorch have in common.

    def __init__(self, array, strides=None, read_only=False):
        array = np.asarray(array)
        self.like = array
        self.address = ctypes.c_uint64()
        size = ctypes.c_size_t(max(array.nbytes, 1))
        assert cuda.cuMemAlloc_v2(ctypes.byref(self.address), size) == 0
        data = array.ctypes.data_as(ctypes.c_void_p)
        assert cuda.cuMemcpyHtoD_v2(self.address, data, ctypes.c_size_t(array.nbytes)) == 0
        self.__cuda_array_interface__ = {
            "shape": array.shape, "typestr": array.dtype.str, "version": 3,
            "data": (self.address.value, read_only), "strides": strides}

    def read(self):
        array = np.empty_like(self.like)
        data = array.ctypes.data_as(ctypes.c_void_p)
        size = ctypes.c_size_t(array.nbytes)
        assert cuda.cuMemcpyDtoHAsync_v2(data, self.address, size, None) == 0
        return array


MODEL = '''
func.func @both(%x: tensor<?x3xf32>, %k: tensor<3xi32>) -> (tensor<?x3xf32>, tensor<3xi32>) {
  %0 = arith.addf %x, %x : tensor<?x3xf32>
  %1 = arith.addi %k, %k : tensor<3xi32>
  return %0, %1 : tensor<?x3xf32>, tensor<3xi32>
}'''
both = numera.compile(MODEL, target="nvptx")
x = np.arange(6, dtype=np.float32).reshape(2, 3)
k = np.arange(3, dtype=np.int32)

# All there, some there, and results where the caller wants them.
for first, second in ((Array(x), Array(k)), (x, Array(k)), (Array(x), k)):
    y, n = both(first, second)
    assert np.array_equal(y, 2 * x) and np.array_equal(n, 2 * k)
y, n = Array(np.zeros_like(x)), np.zeros_like(k)
assert both(Array(x), k, out=(y, n)) == (y, n)
assert np.array_equal(y.read(), 2 * x) and np.array_equal(n, 2 * k)
both(x, k, out=(y, Array(k)))
dense = Array(x, strides=(12, 4))
assert np.array_equal(both(dense, k)[0], 2 * x)

# Another type, another layout and memory that is not to be written are refused.
for inputs, out, message in [
    ((Array(x.astype(np.float64)), k), None, "input 'arg0' has dtype f8 on the GPU, expected float32"),
    ((Array(x, strides=(4, 8)), k), None, "input 'arg0' is strided, expected a dense array"),
    ((Array(x[0]), k), None, "both: input 0: rank 1; expected 2"),
    ((Array(x), k), (Array(x, read_only=True), k), "out 'result0' is read-only"),
    ((Array(x), k), (Array(k), k), "out 'result0' has dtype i4 on the GPU"),
]:
    with pytest.raises(numera.Error, match=message.replace("[", r"\[")):
        both(*inputs, out=out)

# A size that is known afterwards.
part = numera.compile('''
func.func @part(%x: tensor<6xf32>, %n: tensor<1xi64>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %n[%c0] : tensor<1xi64>
  %1 = arith.index_cast %0 : i64 to index
  %2 = tensor.extract_slice %x[0] [%1] [1] : tensor<6xf32> to tensor<?xf32>
  return %2 : tensor<?xf32>
}''', target="nvptx")
assert np.array_equal(part(Array(x.ravel()), [4]), x.ravel()[:4])
with pytest.raises(numera.Error, match=r"out 0 has shape \[6\], the result \[4\]"):
    part(Array(x.ravel()), [4], out=Array(x.ravel()))
y = Array(np.zeros(4, np.float32))
part(Array(x.ravel()), [4], out=y)
assert np.array_equal(y.read(), x.ravel()[:4])

# Numbers of 16 bits, and programs for the CPU.
half = numera.compile('''
func.func @half(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = arith.addf %x, %x : tensor<4xf16>
  return %0 : tensor<4xf16>
}''', target="nvptx")
h = np.arange(4, dtype=np.float16)
assert np.array_equal(half(Array(h)), 2 * h)
with pytest.raises(numera.Error, match="lies on a device, expected memory of the CPU"):
    numera.compile(MODEL)(Array(x), k)

# On a stream: nothing waits while everything lies on the GPU.
class Stream:
    ptr = 1  # as CuPy calls it

doubled = numera.compile(MODEL, target="nvptx")
doubled(Array(x), Array(k))
for stream in (0, 1, Stream()):
    y, n = Array(np.zeros_like(x)), Array(np.zeros_like(k))
    waits = cuda.numera_emulated_alive(b"waits")
    doubled(Array(x), Array(k), out=(y, n), stream=stream)
    assert cuda.numera_emulated_alive(b"waits") == waits
    assert np.array_equal(y.read(), 2 * x) and np.array_equal(n.read(), 2 * k)
y, n = doubled(x, k, stream=1)
assert np.array_equal(y, 2 * x) and np.array_equal(n, 2 * k)
assert cuda.numera_emulated_alive(b"waits") == waits + 1
for stream in ("default", -1, True):
    with pytest.raises(numera.Error, match="expected a stream of PyTorch or CuPy"):
        doubled(Array(x), Array(k), stream=stream)
with pytest.raises(numera.Error, match="a program for the CPU has no stream"):
    numera.compile(MODEL)(x, k, stream=1)
print("same")
"""


@pytest.mark.skipif(not EMULATION, reason="the build has no emulated GPU")
def test_arrays_on_a_gpu(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    package = str(pathlib.Path(__import__("numera").__file__).parents[1])
    environment = {
        **os.environ,
        "LD_LIBRARY_PATH": EMULATION,
        "PYTHONPATH": package,
        "NUMERA_CODE_CACHE": "off",
    }
    done = subprocess.run(
        [sys.executable, str(script)],
        check=False,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "same\n", done.stderr
