# SPDX-License-Identifier: MIT
"""Ours against Python packages, in one process: reads rows as JSON from standard
input, and prints their results as numera-bench does. Runs in an environment of
its own (run.py); a row whose package is not there says so."""

import ctypes
import importlib
import json
import statistics
import sys
import time

import numpy as np

MAX_RANK = 16
DTYPES = {"f4": 1, "u1": 7, "u2": 8}


class Tensor(ctypes.Structure):  # numera_tensor of numera/Runtime/numera.h
    _fields_ = [("data", ctypes.c_void_p), ("capacity", ctypes.c_uint64),
                ("dtype", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("shape", ctypes.c_int64 * MAX_RANK)]


def tensor(array):
    return Tensor(array.ctypes.data, array.nbytes, DTYPES[array.dtype.str[1:]],
                  array.ndim, (ctypes.c_int64 * MAX_RANK)(*array.shape))


def program(path, inputs, output):
    """The compiled function as a Python function without arguments."""
    entry = ctypes.CDLL(path).run
    arguments = (Tensor * len(inputs))(*map(tensor, inputs))
    result = tensor(output)
    message = ctypes.create_string_buffer(256)

    def run(memory=(inputs, output)):  # which has to live as long
        if entry(arguments, ctypes.c_size_t(len(inputs)), ctypes.byref(result),
                 ctypes.c_size_t(1), None, message, ctypes.c_size_t(256)):
            raise RuntimeError(message.value.decode())
    return run


def elementwise(row, shape):
    """ml_dtypes' ufuncs on the same codes."""
    dtype = getattr(importlib.import_module("ml_dtypes"), row["dtype"])
    random = np.random.default_rng(0)
    x, y = (random.standard_normal(shape).astype("f4").astype(dtype)
            for _ in range(2))
    z, w = np.empty_like(x), np.empty_like(x)
    function = {"add": np.add, "mul": np.multiply, "div": np.divide}[row["op"]]
    code = f"u{x.dtype.itemsize}"
    ours = program(row["program"], [x.view(code), y.view(code)], z.view(code))
    peer = lambda: function(x, y, out=w)
    ours(), peer()
    # x / 0 and overflow are NaN there, and the largest value here.
    if np.mean(z.view(code) == w.view(code)) < 0.98:
        raise RuntimeError("results differ")
    return ours, peer


def quantizer(row):
    """A function of an f32 array that gives one rounded to the format."""
    exponent, mantissa = row.get("exponent"), row.get("mantissa")
    stochastic = row.get("stochastic", False)
    module = importlib.import_module(row["module"])
    if row["module"] == "ml_dtypes":
        dtype = getattr(module, row["dtype"])
        return lambda x: x.astype(dtype).astype("f4")
    if row["module"] == "pychop":
        module.backend("numpy")
        return module.Chop(exp_bits=exponent, sig_bits=mantissa,
                           rmode=5 if stochastic else 1)
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    number = module.FloatingPoint(exp=exponent, man=mantissa)
    round_to = importlib.import_module("qtorch.quant").quantizer(
        number, forward_rounding="stochastic" if stochastic else "nearest")
    return lambda x: round_to(torch.from_numpy(x))


def quantize(row, shape):
    x = np.random.default_rng(0).standard_normal(shape).astype("f4")
    z = np.empty_like(x)
    round_to = quantizer(row)
    ours = program(row["program"], [x], z)
    peer = lambda: round_to(x)
    ours()
    got = np.asarray(peer())
    # Ties may go another way, and stochastic rounding draws other numbers.
    if np.mean(got == z) < (0.2 if row.get("stochastic") else 0.99):
        raise RuntimeError("results differ")
    return ours, peer


def measure(run):
    start = time.process_time()
    run()
    return time.process_time() - start


def contest(ours, peer, seconds):
    slower = max(measure(ours) + measure(peer), 1e-6)
    rounds = int(min(max(seconds / slower, 3), 1001))
    times = [(measure(ours), measure(peer)) for _ in range(rounds)]
    ratios = sorted(b / a for a, b in times)
    return {"ours": statistics.median(a for a, _ in times),
            "peer": statistics.median(b for _, b in times),
            "ratio": statistics.median(ratios),
            "low": ratios[len(ratios) // 4], "high": ratios[3 * len(ratios) // 4]}


def main():
    results = {}
    np.seterr(all="ignore")
    for row in json.load(sys.stdin):
        try:
            how = quantize if row["op"] == "quantize" else elementwise
            results[row["name"]] = contest(*how(row, row["shape"]),
                                           row["seconds"])
        except Exception as error:  # whatever a package does, the others go on
            results[row["name"]] = {
                "error_occurred": True,
                "error_message": f"{row['module']}: {error}".split("\n")[0]}
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
