#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What does not change a bit, and what does: stochastic_batches.py MODEL.onnx OUT

The model's image network in formats that round stochastically: `numera run`
over a data set, and shared objects for three CPUs that are called through the
C interface, in batches of several sizes.
"""

import ctypes
import subprocess
import sys
from pathlib import Path

import numpy as np
from entries import bits, call, names, options

ROWS = 44


def logits(entry, x, sample, seed, step):
    """The ten logits of each row of x."""
    result = np.zeros((len(x), 10), np.float32)
    given = None if seed is None else options(seed=seed, step=step, sample=sample)
    call(entry, [x], [result], given)
    return result


def in_batches(entry, x, batch, seed):
    parts = [
        logits(entry, np.ascontiguousarray(x[i : i + batch]), i, seed, 0)
        for i in range(0, len(x), batch)
    ]
    return np.concatenate(parts)


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
        entry = getattr(ctypes.CDLL(library), names(library)[0])
        for batch in 1, 7, 40, ROWS:
            same = (bits(in_batches(entry, x, batch, 7)) == expected).all()
            check(f"{name}, {cpu}: batches of {batch} give the bits of run", same)
        default = bits(logits(entry, x, 0, None, 0))
        check(f"{name}, {cpu}: the compiler's seed is the default", (default == expected).all())
    again = run(library, out, ["--seed", "7"])
    check(f"{name}: run takes the shared object", (again == expected).all())
    for other in ["--seed", "8"], ["--seed", "7", "--step", "1"]:
        share = (run(library, out, other) == expected).mean()
        check(f"{name}: {other} gives other bits ({share} are the same)", share < 0.5)


def main():
    model, out = sys.argv[1:]
    Path(out).mkdir(parents=True, exist_ok=True)
    x = np.random.default_rng(3).uniform(0, 1, (ROWS, 1, 28, 28)).astype(np.float32)
    np.save(f"{out}/x.npy", x)
    judge(model, out, x, "posit16", "f32", ["x86-64-v2", "x86-64-v3", "native"])
    judge(model, out, x, "bf16", "same", ["x86-64-v2", "native"])


if __name__ == "__main__":
    main()
