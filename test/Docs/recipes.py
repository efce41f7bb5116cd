# SPDX-License-Identifier: MIT
"""Run every recipe of docs/Libraries.md: recipes.py PAGE INPUTS FOLDER CLANG.

The YAML and the shims are taken from the page; the libraries are stand-ins with
the names and the types of the real headers.
"""

import os
import re
import shutil
import subprocess
import sys

import numpy as np

# What the page calls the library in machine code, and its stand-in.
SHARED = {
    "SoftPosit": ("softposit.c", "softposit.so"),
    "Berkeley SoftFloat": ("softfloat.c", "softfloat.so"),
    "libtakum": ("libtakum.c", "libtakum.so.1.0.1"),
}


def main(page, inputs, folder, clang):
    shutil.copytree(inputs, folder, dirs_exist_ok=True)
    with open(page) as file:
        sections = re.split(r"^## (.*)\n", file.read(), flags=re.MULTILINE)[1:]
    for source, library in SHARED.values():
        subprocess.run(
            [clang, "-O2", "-shared", "-fPIC", os.path.join(folder, source)]
            + ["-o", os.path.join(folder, library), "-lm"],
            check=True,
        )
    model = os.path.join(folder, "sum.mlir")
    with open(model, "w") as file:
        file.write(
            "func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
            "  %0 = arith.mulf %x, %x : tensor<4xf32>\n"
            "  %1 = arith.addf %0, %x : tensor<4xf32>\n"
            "  return %1 : tensor<4xf32>\n}\n"
        )
    x = np.array([0, 1, -2, 4], "f4")
    np.save(os.path.join(folder, "x.npy"), x)
    tried = 0
    for name, text in zip(sections[::2], sections[1::2]):
        blocks = re.findall(r"^```(\S+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        for language, block in blocks:
            shim = re.match(r"(?://|/\*) (\w+\.c\w*)", block)
            if shim:
                with open(os.path.join(folder, shim[1]), "w") as file:
                    file.write(block)
        for language, block in blocks:
            if language != "yaml":
                continue
            formats = os.path.join(folder, "recipe.yaml")
            with open(formats, "w") as file:
                file.write(block)
            for format in re.findall(r"^  (\w+): \{family", block, re.MULTILINE):
                command = f"numera run {model} --formats {formats} --format {format}"
                command += f" --input {folder}/x.npy --output-dir {folder}/out"
                print(name, format, flush=True)
                subprocess.run(command.split(), check=True)
                y = np.load(os.path.join(folder, "out", "output_0.npy"))
                if not np.array_equal(y, x * x + x):
                    sys.exit(f"{name}: {format} gives {y}")
                tried += 1
    if tried != 9:
        sys.exit(f"{tried} formats, expected 9: is a recipe gone?")


main(*sys.argv[1:])
