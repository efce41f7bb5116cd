# SPDX-License-Identifier: MIT
"""Run what a page says: pages.py PAGE FOLDER.

A block of code that begins with a comment of a file's name is written to that
file. In a block of `console`, or an indented one that begins with `$ `, such a line
is a command, and what follows is what it prints, on both streams; `…` stands for
anything.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INDENTED = re.compile(r"(?<=\n\n)    \$ .*\n(?:    .*\n)*")
NAMED = re.compile(r"(?:#|//|/\*) ([\w.-]+\.\w+)(?: \*/)?\n")


def matches(expected, found):
    pattern = re.escape(expected.strip()).replace("…", ".*")
    return re.fullmatch(pattern, found.strip(), re.DOTALL)


def main(page, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(page) as file:
        text = file.read()
    tried = 0
    blocks = BLOCK.findall(text)
    for block in INDENTED.findall(text):
        blocks.append(("console", re.sub("^    ", "", block, flags=re.MULTILINE)))
    for language, block in blocks:
        if name := NAMED.match(block):
            with open(os.path.join(folder, name[1]), "w") as file:
                file.write(block)
        if language != "console":
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, expected = part.partition("\n")
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            tried += 1
            if done.returncode or not matches(expected, done.stdout):
                sys.stdout.writelines(
                    difflib.unified_diff(
                        expected.splitlines(True),
                        done.stdout.splitlines(True),
                        page,
                        "printed",
                    )
                )
                sys.exit(f"{page}: '{command}' exits with {done.returncode}, see above")
    if not tried:
        sys.exit(f"{page}: no command")


main(*sys.argv[1:])
