# SPDX-License-Identifier: MIT
"""Calls that are repeated, as CUDA graphs. nvptx_graphs.py PROGRAM.so [none | random]:
none is to be made; the program rounds at random."""
import _ctypes
import ctypes
import sys
import threading

import numpy as np

import entries

cuda = ctypes.CDLL("libcuda.so.1")
library = ctypes.CDLL(sys.argv[1])
expects_none, is_random = sys.argv[2:] == ["none"], sys.argv[2:] == ["random"]


def alive(kind):
    return cuda.numera_emulated_alive(kind.encode())


def launched(call):
    before = alive("graph launches")
    call()
    return alive("graph launches") - before


def twice(n, start=0, **more):
    x = (np.arange(n) % 64 + start).astype("f4")  # which f16 has
    y = np.zeros_like(x)
    entries.call(library.twice, [x], [y], entries.options(**more) if more else None)
    assert np.array_equal(y, 2 * x + (x > 3))


def matrix(step):
    x, y = np.full((5, 7), step, "f4"), np.zeros((5, 7), "f4")
    total = np.zeros((), "f4")
    entries.call(library.both, [x], [y, total])
    assert np.array_equal(y, x + x) and total == 35 * step


def first(count):
    y = np.zeros(10, "f4")
    entries.call(library.first, [np.arange(10, dtype="f4"), np.array([count], "i8")], [y])
    assert np.array_equal(y[:count], np.arange(count))


# The second call of a kind is the first by a graph; what it reads and writes is this
# call's.
assert [launched(lambda: twice(40, start)) for start in (0, 5, 7, 0)] == ([0] * 4 if expects_none else [0, 1, 1, 1])
assert [launched(lambda: matrix(step)) for step in (1, 2, 3)] == ([0] * 3 if expects_none else [0, 1, 1])
if expects_none:
    assert alive("launchable graphs") == 0
else:
    # Another size is another graph, and each stays.
    assert [launched(lambda: twice(n)) for n in (8, 40, 8, 40, 8)] == [0, 1, 1, 1, 1]
    assert alive("launchable graphs") == 3
    # So is another step where rounding is random.
    assert [launched(lambda: twice(8, step=step)) for step in (1, 2, 3, 1)] == ([0, 0, 0, 1] if is_random else [1] * 4)
    # Nothing, more than the staging memory holds, and a size that is read on the
    # device are asked for one by one.
    assert [launched(lambda: twice((1 << 18) + 1)) for _ in range(3)] == [0] * 3
    assert [launched(lambda: first(count)) for count in (3, 7, 7)] == [0] * 3
    # Those that were not used for longest go.
    for n in range(20, 40):
        assert [launched(lambda: twice(n)) for _ in range(3)] == [0, 1, 1]
    assert alive("launchable graphs") <= 8
    assert launched(lambda: twice(40)) == 0


def many():
    for i in range(20):
        twice(16, i)
        twice(17, i)


threads = [threading.Thread(target=many) for _ in range(24)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert alive("graphs") == 0 and alive("launchable graphs") <= 8
_ctypes.dlclose(library._handle)
kinds = ("buffers", "modules", "streams", "pools", "page-locked", "graphs", "launchable graphs")
assert not any(alive(kind) for kind in kinds), {kind: alive(kind) for kind in kinds}
print("released")
