# SPDX-License-Identifier: MIT
"""Compile each example of C in docs/Embedding.md, in the order of the page:
embedding.py PAGE INCLUDE CLANG."""

import re
import subprocess
import sys

# What the page's text says of the reader's own program.
BEGIN = """#include <stdio.h>
#include <numera-c/Numera.h>
int example(float *pixels, const int64_t *shape, const float *x,
            const int64_t *x_strides, float *y, const int64_t *y_strides) {
"""
END = "  return program != NULL && cast != NULL;\n}\n"


def main(page, include, clang):
    with open(page) as file:
        blocks = re.findall(r"^```c\n(.*?)^```", file.read(), re.MULTILINE | re.DOTALL)
    text = "".join(blocks).replace("#include <numera-c/Numera.h>", "")
    subprocess.run(
        [clang, "-fsyntax-only", "-Wall", "-Werror", "-I", include, "-x", "c", "-"],
        input=BEGIN + text + END,
        text=True,
        check=True,
    )
    print(f"{len(blocks)} examples")


main(*sys.argv[1:])
