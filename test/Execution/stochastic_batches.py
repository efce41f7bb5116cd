#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What does not change a bit, and what does: stochastic_batches.py MODEL.onnx OUT

The model's image network in formats that round stochastically: `numera run`
over a data set, and shared objects for three CPUs that are called through the
C interface, in batches of several sizes.
"""

import ctypes
import re
import subprocess
import sys
from pathlib import Path

import numpy as np

ROWS = 44


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
    ]


def tensor(array):
    shape = (ctypes.c_int64 * 16)(*array.shape)
    return Tensor(array.ctypes.data, array.nbytes, 1, array.ndim, shape)


def call(entry, x, sample, seed, step):
    """The ten logits of each row of x."""
    result = np.zeros((len(x), 10), np.float32)
    outputs, error = tensor(result), ctypes.create_string_buffer(256)
    options = None
    if seed is not None:
        options = Options(ctypes.sizeof(Options), 0, seed, step, sample, None, 0)
    status = entry(
        ctypes.byref(tensor(x)),
        ctypes.c_size_t(1),
        ctypes.byref(outputs),
        ctypes.c_size_t(1),
        ctypes.byref(options) if options else None,
        error,
        ctypes.c_size_t(256),
    )
    if status:
        sys.exit(error.value.decode())
    return result


def in_batches(entry, x, batch, seed):
    parts = [
        call(entry, np.ascontiguousarray(x[i : i + batch]), i, seed, 0)
        for i in range(0, len(x), batch)
    ]
    return np.concatenate(parts)


def bits(array):
    return np.ascontiguousarray(array).view(np.uint32)


def check(what, condition):
    if not condition:
        sys.exit(f"not so: {what}")


def run(model, out, flags):
    command = ["numera", "run", model, "--input", f"{out}/x.npy", "--output-dir", out, *flags]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return bits(np.load(f"{out}/logits.npy"))


def judge(model, out, x, name, accumulate, cpus):
    flags = ["--format", name, "--accumulate", accumulate, "--rounding", "stochastic"]
    expected = run(model, out, [*flags, "--seed", "7"])
    for cpu in cpus:
        library = f"{out}/{name}-{accumulate}-{cpu}.so"
        command = ["numera", "compile", model, *flags, "--cpu", cpu, "--seed", "7", "-o", library]
        subprocess.run(command, check=True)
        entry = getattr(ctypes.CDLL(library), entry_name(library))
        for batch in 1, 7, 40, ROWS:
            same = (bits(in_batches(entry, x, batch, 7)) == expected).all()
            check(f"{name}, {cpu}: batches of {batch} give the bits of run", same)
        default = bits(call(entry, x, 0, None, 0))
        check(f"{name}, {cpu}: the compiler's seed is the default", (default == expected).all())
    again = run(library, out, ["--seed", "7"])
    check(f"{name}: run takes the shared object", (again == expected).all())
    for other in ["--seed", "8"], ["--seed", "7", "--step", "1"]:
        share = (run(library, out, other) == expected).mean()
        check(f"{name}: {other} gives other bits ({share} are the same)", share < 0.5)


def entry_name(library):
    """The function that the header beside the library declares."""
    header = Path(library).with_suffix(".h").read_text()
    return re.findall(r"^numera_entry (\w+);", header, re.MULTILINE)[0]


def main():
    model, out = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(3).uniform(0, 1, (ROWS, 1, 28, 28)).astype(np.float32)
    np.save(f"{out}/x.npy", x)
    judge(model, out, x, "posit16", "f32", ["x86-64-v2", "x86-64-v3", "native"])
    judge(model, out, x, "bf16", "same", ["x86-64-v2", "native"])


if __name__ == "__main__":
    main()
