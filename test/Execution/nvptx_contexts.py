# SPDX-License-Identifier: MIT
"""A program for a GPU in a process that uses GPUs itself: its contexts, its
memory, and what is left when the program is gone. Memory of graphs (nvptx_graphs.py)
is not told apart from it: there are none. nvptx_contexts.py PROGRAM.so"""
import _ctypes
import ctypes
import sys

import numpy as np

import entries

cuda = ctypes.CDLL("libcuda.so.1")
X = np.arange(40, dtype="f4")


def context_of(device):
    context = ctypes.c_void_p()
    assert cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device) == 0
    return context


def current():
    context = ctypes.c_void_p()
    assert cuda.cuCtxGetCurrent(ctypes.byref(context)) == 0
    return context.value


class OnDevice:
    """An array in memory of the current device, as `entries.tensors` takes it."""

    def __init__(self, array, offset=0):
        self.dtype, self.shape, self.ndim, self.nbytes = \
            array.dtype, array.shape, array.ndim, array.nbytes
        address = ctypes.c_uint64()
        assert cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(array.nbytes + offset)) == 0
        self.memory = address
        self.address = ctypes.c_uint64(address.value + offset)
        self.ctypes = type("Pointer", (), {"data": self.address.value})
        assert cuda.cuMemcpyHtoD_v2(self.address, array.ctypes.data_as(ctypes.c_void_p),
                                    ctypes.c_size_t(array.nbytes)) == 0

    def read(self):
        array = np.empty(self.shape, self.dtype)
        assert cuda.cuMemcpyDtoHAsync_v2(array.ctypes.data_as(ctypes.c_void_p), self.address,
                                         ctypes.c_size_t(self.nbytes), None) == 0
        return array

    def free(self):
        assert cuda.cuMemFree_v2(self.memory) == 0


def alive():
    return {kind: cuda.numera_emulated_alive(kind.encode())
            for kind in ("buffers", "modules", "streams", "pools", "page-locked")}


def waits():
    return cuda.numera_emulated_alive(b"waits")


def own_stream():
    stream = ctypes.c_void_p()
    assert cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
    return stream


def scaled(library, x=X):
    result = np.zeros_like(X)
    entries.call(library.scaled, [x], [result])
    return result


def main(path):
    wanted = np.array([3 * x + i % 7 for i, x in enumerate(X)], "f4")
    none = alive()
    library = ctypes.CDLL(path)

    # Without a context of the caller's, that of the first device; it is not the
    # thread's afterwards.
    assert current() is None
    assert np.array_equal(scaled(library), wanted)
    assert current() is None
    assert alive() == {"buffers": 1, "modules": 1, "streams": 1, "pools": 1, "page-locked": 1}
    # A second call makes nothing anew.
    assert np.array_equal(scaled(library), wanted)
    assert alive() == {"buffers": 1, "modules": 1, "streams": 1, "pools": 1, "page-locked": 1}

    # The caller's, on another device: a module and constants of its own.
    second = context_of(1)
    assert cuda.cuCtxSetCurrent(second) == 0
    for _ in range(2):
        assert np.array_equal(scaled(library), wanted)
        assert current() == second.value
        assert alive() == {"buffers": 2, "modules": 2, "streams": 2, "pools": 2, "page-locked": 2}

    # Memory of that device is read and written where it is, whatever its
    # alignment; for outputs whose size the call finds out, too.
    for offset in (0, 4):
        x, y = OnDevice(X, offset), OnDevice(np.zeros_like(X), offset)
        entries.call(library.scaled, [x], [y])
        assert np.array_equal(y.read(), wanted)
        entries.call(library.scaled, [X], [y])
        assert np.array_equal(y.read(), wanted)
        assert np.array_equal(scaled(library, x), wanted)
        entries.call(library.scaled, [x], [x])
        assert np.array_equal(x.read(), wanted)
        kept = OnDevice(np.zeros_like(X), offset)
        entries.call(library.first, [y, np.array([7], "i8")], [kept])
        assert np.array_equal(kept.read()[:7], wanted[:7])
        for each in (x, y, kept):
            each.free()
    # On the caller's stream nothing waits while all tensors are on the device; with
    # memory of the host, or a size that the call finds out, it does.
    x, y, z = (OnDevice(X) for _ in range(3))
    own = own_stream()
    for stream in (ctypes.c_void_p(1), own):
        on = entries.options(stream=stream)
        launched, waited = cuda.numera_emulated_launches(stream), waits()
        entries.call(library.scaled, [x], [y], on)
        assert cuda.numera_emulated_launches(stream) > launched
        assert waits() == waited
        assert np.array_equal(y.read(), wanted)
        for given, output in (([X], y), ([x], np.zeros_like(X))):
            waited = waits()
            entries.call(library.scaled, given, [output], on)
            assert waits() == waited + 1
        entries.call(library.first, [y, np.array([7], "i8")], [z], on)
        assert np.array_equal(z.read()[:7], wanted[:7])
    assert cuda.cuStreamDestroy_v2(own) == 0
    for each in (x, y, z):
        each.free()
    # An empty tensor has no memory anywhere.
    empty = np.zeros(0, "f4")
    entries.call(library.any, [empty], [empty.copy()])

    # Memory of another device is refused.
    x = OnDevice(X)
    assert cuda.cuCtxSetCurrent(context_of(0)) == 0
    try:
        scaled(library, x)
        raise AssertionError("memory of another device was taken")
    except RuntimeError as error:
        print(error)
    # And nothing is left of that call.
    assert np.array_equal(scaled(library), wanted)
    assert cuda.cuCtxSetCurrent(second) == 0
    x.free()

    # A device that was reset has nothing of what was there.
    assert cuda.cuDevicePrimaryCtxReset_v2(1) == 0
    assert cuda.cuCtxSetCurrent(context_of(1)) == 0
    assert np.array_equal(scaled(library), wanted)
    assert cuda.cuCtxSetCurrent(None) == 0
    assert cuda.cuDevicePrimaryCtxReset_v2(0) == 0
    assert np.array_equal(scaled(library), wanted)

    # Contexts of the caller that come and go: their memory is gone with them.
    for _ in range(2):
        made = ctypes.c_void_p()
        assert cuda.cuCtxCreate_v2(ctypes.byref(made), 0, 0) == 0
        assert np.array_equal(scaled(library), wanted)
        assert current() == made.value
        assert cuda.cuCtxDestroy_v2(made) == 0
    assert current() is None
    assert np.array_equal(scaled(library), wanted)

    # When the program goes, so does all that it has; what a reset took is the
    # driver's to count.
    before = alive()
    _ctypes.dlclose(library._handle)
    after = alive()
    assert {kind: before[kind] - after[kind] for kind in before} == {
        "buffers": 2, "modules": 2, "streams": 2, "pools": 2, "page-locked": 2}
    assert after["buffers"] == none["buffers"] == 0
    print("released")


main(sys.argv[1])
