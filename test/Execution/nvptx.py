# SPDX-License-Identifier: MIT
"""Runs models on the CPU and on an emulated GPU (test/Emulation), and compares
the bits of all results.

    nvptx.py FOLDER MODEL [option…] [-- MODEL [option…]]…

The options are those of `numera run`, `--gpu` the GPU's alone; inputs are drawn
by the seed of the model's name. Prints one line a model.
"""
import ctypes
import json
import os
import shutil
import subprocess
import sys
import zlib

import numpy as np

DTYPES = {"f32": "f4", "f64": "f8", "i8": "i1", "i16": "i2", "i32": "i4",
          "i64": "i8", "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8",
          "bool": "?"}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 3e38, -1e-38, 1e-45,
           448.0, 0.5, -700.0, 88.7, 65504.0, 2.0 ** -130]


def run(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}: {done.stderr.strip()}")


def signature(path, function):
    """The inputs of the function, as its metadata have them."""
    text = ctypes.c_char_p.in_dll(ctypes.CDLL(path), "numera_metadata")
    data = json.loads(ctypes.string_at(ctypes.addressof(text)))
    for entry in data["functions"]:
        if function in ("", entry["name"]):
            return entry["inputs"]
    sys.exit(f"{path}: no function {function}")


def draw(random, entry):
    shape = [3 if size < 0 else size for size in entry["shape"]]
    if entry["dtype"] in ("f32", "f64"):
        values = random.normal(size=shape) * np.exp2(random.integers(-3, 4, shape))
        if values.size >= 2 * len(SPECIAL):  # in another order each time
            np.put(values, random.permutation(2 * len(SPECIAL)), SPECIAL)
    elif entry["dtype"][0] == "u":  # codes
        values = random.integers(0, 1 << int(entry["dtype"][1:]), shape,
                                 dtype=np.uint64)
    else:
        values = random.integers(0, 2, shape)
    return np.asarray(values).astype(DTYPES[entry["dtype"]])


def outputs(folder):
    return {name: np.load(os.path.join(folder, name))
            for name in sorted(os.listdir(folder)) if name.endswith(".npy")}


def compare(folder, number, model, options):
    folder = os.path.join(folder, str(number))
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    program = os.path.join(folder, "cpu.so")
    at = options.index("--gpu") if "--gpu" in options else len(options)
    for_cpu = options[:at] + options[at + 2:]
    function = options[options.index("--function") + 1] \
        if "--function" in options else ""
    run("numera", "compile", model, *for_cpu, "--emit", "so", "-o", program)
    random = np.random.default_rng(zlib.crc32(os.path.basename(model).encode()))
    inputs = []
    for i, entry in enumerate(signature(program, function)):
        path = os.path.join(folder, f"in{i}.npy")
        np.save(path, draw(random, entry))
        inputs += ["--input", path]
    results = []
    for target, given in (("cpu", [program] + (["--function", function] if function else [])),
                          ("nvptx", [model, *options, "--target", "nvptx"])):
        out = os.path.join(folder, target)
        run("numera", "run", *given, "--output-dir", out, *inputs)
        results.append(outputs(out))
    cpu, gpu = results
    assert cpu and cpu.keys() == gpu.keys(), (model, cpu.keys(), gpu.keys())
    count = 0
    for name, expected in cpu.items():
        got = gpu[name]
        assert got.shape == expected.shape and got.dtype == expected.dtype, name
        same = got.tobytes() == expected.tobytes()
        if not same:
            bits = f"u{expected.dtype.itemsize}"
            wrong = np.flatnonzero(np.ravel(got).view(bits)
                                   != np.ravel(expected).view(bits))
            i = wrong[0]
            sys.exit(f"{model} {' '.join(options)}: {name}: {len(wrong)} of "
                     f"{expected.size} differ, first [{i}]: {np.ravel(got)[i]!r}, "
                     f"on the CPU {np.ravel(expected)[i]!r}")
        count += expected.size
    print(f"same {count} {' '.join([os.path.basename(model), *options])}", flush=True)


def main():
    folder, job, number = sys.argv[1], [], 0
    for word in sys.argv[2:] + ["--"]:
        if word != "--":
            job.append(word)
        elif job:
            compare(folder, number, job[0], job[1:])
            job, number = [], number + 1


if __name__ == "__main__":
    main()
