# SPDX-License-Identifier: MIT
"""Programs on f16, bf16 and f64 against NumPy, which rounds f32 and f64 once.

Usage: float_types.py write|check FOLDER
"""

import sys

import numpy as np

GENERATOR = np.random.default_rng(7)
X = GENERATOR.standard_normal((5, 24))
Y = GENERATOR.standard_normal((24, 3))


def brain(x):
    """Codes of bf16: the first half of an f32's bits, to nearest even."""
    bits = np.asarray(x, "f4").view("u4")
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype("u2")


def numbers(codes):
    return (codes.astype("u4") << 16).view("f4")


def rounded(dtype, x):
    return numbers(brain(x)) if dtype == "bf16" else x.astype(dtype).astype(x.dtype)


def write(folder):
    for name, dtype in ("f16", "f2"), ("f64", "f8"):
        np.save(f"{folder}/x.{name}.npy", X.astype(dtype))
        np.save(f"{folder}/y.{name}.npy", Y.astype(dtype))
    for name, array in ("x", X), ("y", Y):
        np.save(f"{folder}/{name}.bf16.npy", brain(array).view("V2"))
    np.save(f"{folder}/n.npy", np.array([0, 1, 2, -3, 7], "i4"))


def load(folder, name):
    array = np.load(f"{folder}/{name}.npy")
    return numbers(array.view("u2")) if array.dtype.kind == "V" else array


def check(folder):
    for name, dtype, wide in ("f16", "f2", "f4"), ("bf16", "bf16", "f4"), ("f64", "f8", "f8"):
        x, y = (load(folder, f"{n}.{name}").astype(wide) for n in "xy")
        # A product of f16 or bf16 is exact in f32, and so is the step in f64; the
        # product of f64 is not.
        total = np.zeros((5, 3), wide)
        for k in range(24):
            if name == "f64":
                step = np.longdouble(x[:, k : k + 1]) * y[k] + total
            else:
                step = np.float64(x[:, k : k + 1]) * y[k] + total
            total = step.astype(wide)
        product = rounded(dtype, total)
        result = rounded(dtype, rounded(dtype, product * product) + product)
        out = np.load(f"{folder}/out.{name}/output_0.npy")
        kind = out.dtype.str
        found = load(folder, f"out.{name}/output_0").astype(wide)
        same = found == result
        # numpy's longdouble rounds twice: a few bits of f64 may differ.
        print(name, kind, "same" if same.all() or (name == "f64" and np.allclose(found, result, rtol=1e-15)) else found - result)


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
