# SPDX-License-Identifier: MIT
"""Run what a page says: pages.py PAGE FOLDER.

A block of code begins with a comment of a file's name, and is written to that file.
In a block of `console`, or an indented one that begins with `$ `, such a line
is a command, and what follows is what it prints, on both streams; `…` stands for
anything.
"""

import difflib
import os
import re
import shutil
import subprocess
import sys

from blocks import blocks


def matches(expected, found):
    pattern = re.escape(expected.strip()).replace("…", ".*")
    return re.fullmatch(pattern, found.strip(), re.DOTALL)


def main(page, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(page) as file:
        text = file.read()
    tried = 0
    for block in blocks(text):
        if block.language == "indented":
            continue  # commands.test has it
        if block.language != "console":
            if not block.name():
                sys.exit(f"{page}:{block.line}: no file has this block:\n{block.text}")
            with open(os.path.join(folder, block.name()), "w") as file:
                file.write(block.text)
            continue
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
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
