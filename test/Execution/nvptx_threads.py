# SPDX-License-Identifier: MIT
"""Calls the `take` of nvptx.test from several threads at once: those whose indices
are wrong fail, each time, and no other does. nvptx_threads.py TAKE.so"""
import ctypes
import sys
import threading

import numpy as np

import entries

CALLS = 40


def run(entry, indices, outcomes):
    x = np.arange(4, dtype="f4")
    for _ in range(CALLS):
        result = np.full(4, -1, dtype="f4")
        try:
            entries.call(entry, [x, np.array(indices)], [result])
            outcomes.append(result.tolist())
        except RuntimeError as error:
            outcomes.append(str(error))


def main():
    entry = getattr(ctypes.CDLL(sys.argv[1]), entries.names(sys.argv[1])[0])
    work = [(indices, []) for indices in ([0, 3, 2, 1], [0, 3, 7, 1]) * 2]
    threads = [threading.Thread(target=run, args=(entry, *each)) for each in work]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for indices, outcomes in work:
        wanted = [float(i) for i in indices] if max(indices) < 4 else \
            "take: the shapes do not agree: out-of-bounds access"
        assert outcomes == [wanted] * CALLS, (indices, outcomes)


main()
