# SPDX-License-Identifier: MIT
"""Compile the examples of C and C++ in a page, in the order of the page:
compiled.py PAGE ROOT CLANG. Its CMake is what the projects of test/Consumer have."""

import pathlib
import subprocess
import sys

from blocks import blocks

# Of a page: the language, and what its text says of the reader's own program.
PAGES = {
    "Embedding.md": (
        "c",
        """#include <stdio.h>
#include <numera-c/Numera.h>
int example(float *pixels, const int64_t *shape, const float *x,
            const int64_t *x_strides, float *y, const int64_t *y_strides) {
""",
        "  return program != NULL && cast != NULL;\n}\n",
    ),
    # Functions that are there: another type would be an error.
    "RuntimeABI.md": (
        "c++",
        """#include "numera/Runtime/numera.h"
#include "../runtime/Random.cpp"
extern "C" {
numera_entry NAME;
""",
        "}\n",
    ),
    # Against the stand-in of the library (Inputs/universal).
    "Configuration.md": ("c++", "", ""),
}


def main(page, root, clang):
    page, root = pathlib.Path(page), pathlib.Path(root)
    language, begin, end = PAGES[page.name]
    found = list(blocks(page.read_text()))
    examples = [each.text for each in found if each.language in ("c", "c++")]
    # The beginning has it, outside of the function.
    text = "".join(examples).replace("#include <numera-c/Numera.h>", "")
    options = ["-std=c++20"] if language == "c++" else []
    subprocess.run(
        [clang, "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-function", *options]
        + ["-I", root / "include", "-I", root / "test/Docs/Inputs/universal/include/sw"]
        + ["-x", language, "-"],
        input=begin + text + end,
        text=True,
        check=True,
    )
    projects = [
        each.read_text() for each in root.glob("test/Consumer/*/CMakeLists.txt")
    ]
    for each in found:
        if each.language == "cmake":
            example = each.text.replace("(mine ", "(consumer ")
            if not any(
                set(example.splitlines()) <= set(it.splitlines()) for it in projects
            ):
                sys.exit(
                    f"{page}:{each.line}: test/Consumer has no project with\n{example}"
                )
            examples.append(example)
    print(f"{len(examples)} examples")


main(*sys.argv[1:])
