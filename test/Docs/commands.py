# SPDX-License-Identifier: MIT
"""Runs the commands of every page: commands.py ROOT LIST FILES BUILD FOLDER.

A page is run as a reader would, in one shell that begins in a checkout: here a
folder that has `examples`, what was built, and the FILES and arrays that pages take
for granted. LIST, a file of TOML, has a table for a page that needs more:

    tested    the test that has its blocks of a language, by the language; `script` is
              Python without prompts
    instead   what is run in place of a command, which is `{}`, by how that begins
    prints    the command that prints a block, by how that begins
    left-out  why a command is not run, by how it begins
    text      what a block is that is neither run nor printed, by how that begins
    varies    a pattern of what a block may print otherwise

`["*"]` is for all pages. A block that is none of these is an error, and so are lines
of LIST that no page needs.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import zlib

import numpy as np
import tomllib
from blocks import blocks

OTHERS = {"build", "shared"}
DATASET = "/usr/share/datasets/fashion-mnist"
# `long` is for what takes minutes, which in continuous integration every fifth page
# has its turn for (test/lit.cfg.py), `data` for what reads Fashion-MNIST.
BEGIN = f"""
set -eEo pipefail
trap 'status=$?; echo "$at: $BASH_COMMAND: exit status $status" >&2' ERR
long() {{ [ "$takes_long" != yes ] || "$@"; }}
data() {{ [ ! -d {DATASET} ] || "$@"; }}
"""


class Failure(Exception):
    pass


class Page:
    def __init__(self, root, path, listed):
        self.path, self.listed, self.root = path, listed, root
        self.own, self.used = listed.get(path, {}), set()
        self.script, self.printed, self.files = [], [], []
        for block in blocks((root / path).read_text()):
            self.add(block)
        if self.printed and "varies" in self.own:
            self.used.add((path, "varies", self.own["varies"]))

    def find(self, table, text):
        """The entry of a table by how a text begins, the page's own first."""
        for page in (self.path, "*"):
            for key, value in self.listed.get(page, {}).get(table, {}).items():
                if text == key or text.startswith(key) and table != "tested":
                    self.used.add((page, table, key))
                    return value
        return None

    def add(self, block):
        where = f"{self.path}:{block.line}"
        if block.name():
            self.files.append((block.name(), block.text))
        # A test of what Python prints sees nothing else.
        prints = block.language != "python" or ">>>" in block.text or block.name()
        if test := self.find("tested", block.language if prints else "script"):
            test = self.root / test
            if pathlib.PurePath(self.path).name not in test.read_text():
                raise Failure(f"{where}: {test} does not name the page")
        elif self.find("text", block.text):
            pass
        elif command := self.find("prints", block.text):
            self.printed.append((where, block.text, command))
            output = f"$outputs/{len(self.printed) - 1}"
            # One that has to fail is called by LLVM's `not`.
            self.script.append(
                f"at='{where}'\n{{ {command}; }} >{output} 2>&1 || "
                f"{{ cat {output}; echo $at: failed; exit 1; }}\n"
            )
        elif block.language == "yaml":
            name = block.name() or f"{block.line}.yaml"
            self.files.append((name, block.text))
            self.add_command(where, f"numera formats --formats ~/{name}")
        elif block.language == "indented":
            # A line that ends in \ goes on in the next one.
            for command in re.findall(r"(?:.*\\\n)*.*\n", block.text):
                self.add_command(where, command.strip())
        else:
            raise Failure(
                f"{where}: no test of this block of {block.language}:\n{block.text}"
            )

    def add_command(self, where, command):
        if self.find("left-out", command):
            return
        instead = self.find("instead", command)
        if instead is not None:
            command = instead.replace("{}", re.sub(r" +#.*", "", command))
        self.script.append(f"at='{where}'\n{command}\n")

    def run(self, folder, files, build):
        if not self.script:
            return
        checkout(folder, self.root, files, build)
        for name, text in self.files:
            (folder / name).write_text(text)
        outputs = folder / "outputs"
        outputs.mkdir()
        # What pages write to /tmp goes to a folder of the test's own.
        script = re.sub(r"(?<![\w/])/tmp/", f"{folder}/tmp/", "".join(self.script))
        # The name of a format of the reader's own.
        script = script.replace("@NAME@", "mine")
        done = subprocess.run(
            ["bash", "-c", self.begin() + f"outputs={outputs}\n" + script],
            cwd=folder,
            env=os.environ | {"HOME": str(folder), "TMPDIR": str(folder / "tmp")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failure(done.stdout[-2000:])
        for number, (where, text, command) in enumerate(self.printed):
            found = (outputs / str(number)).read_text()
            skipped = not found and command.startswith(("long ", "data "))
            if not skipped and not self.matches(text, found):
                raise Failure(
                    f"{where}: '{command}' prints\n{found}\nthe page has\n{text}"
                )

    def begin(self):
        turn = os.environ.get("NUMERA_TURN")
        comes = turn is None or zlib.crc32(self.path.encode()) % 5 == int(turn) % 5
        takes_long = os.environ.get("NUMERA_TESTS") == "all" and comes
        return f"takes_long={'yes' if takes_long else 'no'}\n" + BEGIN

    def matches(self, text, found):
        """Whether a block is a part of an output, whatever the spaces."""
        if varies := self.own.get("varies"):
            text = re.sub(varies, "…", text, flags=re.MULTILINE)
        pattern = re.escape(" ".join(text.split())).replace("…", ".*?")
        return re.search(pattern, " ".join(found.split()))


def checkout(folder, root, files, build):
    """What a reader has: a checkout where Numera is built, a model, and arrays."""
    shutil.copytree(files, folder)
    shutil.copytree(root / "examples", folder / "examples")
    shutil.copy(root / "examples/fashion/model.onnx", folder)
    fashion = folder / "build/fashion"
    fashion.mkdir(parents=True)
    (folder / "tmp").mkdir()
    (folder / "build/release").symlink_to(build)
    images = np.random.default_rng(1).random((64, 1, 28, 28), "f4")
    for place in (folder, fashion):
        np.save(place / "images.npy", images)
        np.save(place / "labels.npy", np.arange(64) % 10)
    for name in ("x", "X", "samples"):
        np.save(folder / f"{name}.npy", images)


def pages(root):
    found = list(root.glob("*.md"))
    for folder in root.iterdir():
        if folder.is_dir() and folder.name[0] != "." and folder.name not in OTHERS:
            found += folder.rglob("*.md")
    return sorted(str(path.relative_to(root)) for path in found)


def entries(listed):
    for page, tables in listed.items():
        for table, rows in tables.items():
            for key in [rows] if isinstance(rows, str) else rows:
                yield page, table, key


def main(root, listed_at, files, build, folder):
    text = pathlib.Path(listed_at).read_text()
    listed, root = tomllib.loads(text), pathlib.Path(root).resolve()
    folder = pathlib.Path(folder).resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    used, failures, ran = set(), [], 0
    for number, path in enumerate(pages(root)):
        try:
            page = Page(root, path, listed)
            used |= page.used
            page.run(folder / str(number), files, build)
            ran += len(page.script)
        except Failure as failure:
            failures.append(str(failure))
    # A page that fails may not have come to all that it needs.
    if not failures:
        for page, table, key in entries(listed):
            if (page, table, key) not in used:
                failures.append(f"{page}: no page needs '{key}' of '{table}'")
    # Reasons name other tests.
    for test in re.findall(r"\btest/[\w/-]+\.\w+", text):
        if not (root / test).exists():
            failures.append(f"{listed_at}: no file '{test}'")
    for failure in failures:
        print(failure)
    print(f"{ran} commands")
    sys.exit(bool(failures))


main(*sys.argv[1:])
