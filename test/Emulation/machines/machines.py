# SPDX-License-Identifier: MIT
"""Programs for CPUs that this machine does not have: compiled to an object, linked with
caller.c, and called. QEMU runs those for 64-bit Arm, against Debian's C library for that
machine, without shared objects; those for AVX-512 run here (avx512.py)."""

import json
import pathlib
import re
import shutil
import subprocess

import avx512
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
LIBRARY = pathlib.Path("/usr/aarch64-linux-gnu/lib/libc.a")
EMULATOR = shutil.which("qemu-aarch64-static") if LIBRARY.exists() else None
# The CPUs, by how they compute: of AVX-512 with what no other has (binary16), without
# look-ups of bytes, without instructions for bfloat16, and with sums in two steps.
ARM = ["aarch64", "neoverse-n1", "neoverse-v1"]
AVX512 = ["sapphirerapids", "cooperlake", "skylake-avx512", "znver4"]
# As numera.h numbers them.
TYPES = ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?", "f2", "u2",
         "V16", "V32"]


def runs_avx512():
    """Whether this machine has what stands in for AVX-512."""
    with open("/proc/cpuinfo", encoding="utf-8") as cpus:
        return {"avx2", "bmi2", "f16c", "fma"} <= set(cpus.read().split())


def write_tensors(path, arrays):
    with open(path, "wb") as file:
        file.write(np.int64(len(arrays)).tobytes())
        for array in arrays:
            dtype = TYPES.index(array.dtype.str[1:].replace("b1", "?")) + 1
            file.write(np.array([dtype, array.ndim, *array.shape], "i8").tobytes())
            file.write(np.ascontiguousarray(array).tobytes())


def read_tensors(path):
    data, at = path.read_bytes(), 0

    def numbers(count):
        nonlocal at
        at += 8 * count
        return [int(number) for number in np.frombuffer(data[at - 8 * count:at], "i8")]

    arrays = []
    for _ in range(*numbers(1)):
        dtype, rank = numbers(2)
        shape, dtype = numbers(rank), np.dtype(TYPES[dtype - 1])
        size = dtype.itemsize * int(np.prod(shape, dtype="i8"))
        arrays.append(np.frombuffer(data[at:at + size], dtype).reshape(shape))
        at += size
    return arrays


def target(cpu, folder, name):
    """What `numera compile` takes to write FOLDER/NAME for the CPU."""
    written = ["-o", str(folder / f"{name}.o")] if cpu in ARM else ["--emit", "llvm", "-o", str(folder / f"{name}.ll")]
    return ["--cpu", cpu, *written]


def assemble(cpu, folder, name):
    """FOLDER/NAME.o, if it is not what `numera compile` has written; or what LLVM said."""
    return "" if cpu in ARM else avx512.compile_object(folder / f"{name}.ll", folder / f"{name}.o")


def signature_of(folder, name, options=()):
    """What the metadata of FOLDER/NAME.o say of its only function."""
    text = (folder / f"{name}.o").read_bytes()
    found = re.search(rb'\{"abi":[^\0]*', text)
    functions = json.loads(found[0])["functions"] if found else []
    wanted = options[options.index("--function") + 1] if "--function" in options else None
    for function in functions:
        if len(functions) == 1 or function["name"] == wanted:
            for kind in ("input", "output"):
                for i, tensor in enumerate(function[f"{kind}s"]):
                    tensor["name"] = tensor["name"] or f"{kind}_{i}"
            return function
    return f"{len(functions)} functions"


def link(cpu, folder, name, symbol="f"):
    """FOLDER/NAME.o with the caller as FOLDER/NAME; what the linker said, if it failed."""
    machine = (["--target=aarch64-linux-gnu", "-static"] if cpu in ARM
               else [f"-march={avx512.HOST}", "-ffp-contract=off", str(HERE / "avx512.c")])
    done = subprocess.run(
        ["clang", *machine, "-O1", f"-DENTRY={symbol}", f"-I{HERE.parents[2] / 'include/numera/Runtime'}",
         str(HERE / "caller.c"), str(folder / f"{name}.o"), "-fuse-ld=lld", "-pthread", "-lm",
         "-o", str(folder / name)], stderr=subprocess.PIPE, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def call(cpu, folder, name, inputs, outputs):
    """The results, of which there are `outputs`, or the line of its error."""
    write_tensors(folder / f"{name}.in", inputs)
    done = subprocess.run(
        [*([EMULATOR] if cpu in ARM else []), str(folder / name), str(folder / f"{name}.in"),
         str(folder / f"{name}.out"), str(outputs)], stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    if done.returncode:
        return done.stderr.strip() or f"broke: status {done.returncode}"
    return read_tensors(folder / f"{name}.out")
