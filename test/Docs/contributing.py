# SPDX-License-Identifier: MIT
"""Carries out the recipes of CONTRIBUTING.md on a copy of the tree.

    contributing.py SOURCE COPY

A step is an item of a list: a file, where the text goes (`behind` a piece of a
line, `at the end`, or `new`), and a block of the text. A step whose file or
line is not there is an error. Prints what every recipe added, a line a step.
"""

import pathlib
import re
import shutil
import sys

STEP = re.compile(r"^\d+\. `([^`]+)`, (new|at the end|behind `([^`]+)`)")
BLOCK = re.compile(r"^ +```\w+\n(.*?)^ +```$", re.MULTILINE | re.DOTALL)
# What a build needs.
PARTS = ["CMakeLists.txt", "CMakePresets.json", "LICENSE", "cmake", "docs",
         "include", "lib", "runtime", "tools"]


def recipes(text):
    """The recipes' names, each with its steps."""
    chapter = text.split("\n## Recipes\n", 1)[1].split("\n## ", 1)[0]
    for part in chapter.split("\n### ")[1:]:
        name, body = part.split("\n", 1)
        yield name, re.findall(r"^\d+\. .*?(?=^\d+\. |^Its tests|\Z)", body,
                               re.MULTILINE | re.DOTALL)


def carry_out(step, root):
    """Changes a file of `root` as a step says; its path."""
    head = STEP.match(step)
    block = BLOCK.search(step)
    if not head or not block:
        sys.exit(f"contributing.py: no file, place or block in: {step}")
    path, place, anchor = head.groups()
    # A block is indented as its item; what else its lines have is theirs.
    text = re.sub(r"^ {3}", "", block.group(1), flags=re.MULTILINE)
    file = root / path
    if place == "new":
        if file.exists():
            sys.exit(f"contributing.py: {path} is there already")
        file.write_text(text)
        return path
    lines = file.read_text().splitlines(keepends=True)
    at = len(lines)
    if anchor:
        found = [i for i, line in enumerate(lines) if anchor in line]
        if not found:
            sys.exit(f"contributing.py: {path} has no line with '{anchor}'")
        at = found[0] + 1
    lines.insert(at, text)
    file.write_text("".join(lines))
    return path


def main():
    source, root = map(pathlib.Path, sys.argv[1:])
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    for part in PARTS:
        if (source / part).is_dir():
            shutil.copytree(source / part, root / part)
        else:
            shutil.copy(source / part, root)
    for name, steps in recipes((source / "CONTRIBUTING.md").read_text()):
        for step in steps:
            print(f"{name}: {carry_out(step, root)}")


main()
