# SPDX-License-Identifier: MIT
"""Compares the options that `numera COMMAND --help` lists with those of the man
page and the completions in a folder, and lets each program that is installed
read its own.
"""

import pathlib
import re
import shutil
import subprocess
import sys

folder = pathlib.Path(sys.argv[1])


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def part(name, begin, end):
    """The text of a file from one mark to another."""
    text = (folder / name).read_text()
    start = text.index(begin)
    return text[start:text.index(end, start + len(begin))]


listed, ours, others = output("numera", "--help").partition("\nWith the Python package")
assert ours
# As the build puts them together (tools/numera/CMakeLists.txt).
page = folder / "numera.1"
sections = pathlib.Path(__file__).parents[2] / "docs/man/python-commands.1"
page.write_text(page.read_text().replace(
    '.SH "EXIT STATUS"', sections.read_text() + '.SH "EXIT STATUS"'))
for other in re.findall(r"^  (\w+) ", others, re.M):
    options = part("numera.1", f".SH NUMERA {other.upper()}\n", "\n.SH ")
    assert options.count("\n.TP\n") >= 4, options
    for name in ("numera.bash", "_numera", "numera.fish", "numera.1"):
        assert other in (folder / name).read_text(), (other, name)
commands = re.findall(r"^  (\w+) ", listed, re.M)
assert len(commands) == 10, commands
for command in commands:
    page = output("numera", command, "--help")
    options = re.findall(r"^  (--?[a-z-]+)", page, re.M)
    assert "--help" in options and len(options) >= 2, options
    bash = part("numera.bash", f"\n  {command})", ";;\n  ").split('"')[1].split()
    assert sorted(bash) == sorted(options), (bash, options)
    zsh = part("_numera", f"\n  {command})\n", "\n    ;;")
    zsh = re.findall(r"^      '\*?(--?[a-z-]+)=?\[", zsh, re.M)
    assert sorted(zsh) == sorted(options), (zsh, options)
    fish = re.findall(rf"_from {command}' (?:-s|-l) ([a-z-]+)",
                      (folder / "numera.fish").read_text())
    assert sorted(fish) == sorted(o.lstrip("-") for o in options), fish
    man = part("numera.1", f".SH NUMERA {command.upper()}\n", "\n.SH ")
    man = re.findall(r"^\\fB((?:\\-)+[a-z\\-]+)\\fR", man, re.M)
    assert [o.replace("\\", "") for o in man] + ["--help"] == options, man

for shell, name in (("bash", "numera.bash"), ("zsh", "_numera"), ("fish", "numera.fish")):
    if shutil.which(shell):
        output(shell, "-n", str(folder / name))
if shutil.which("man"):
    said = subprocess.run(["man", "--warnings", "-l", str(folder / "numera.1")],
                          capture_output=True, text=True,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"})
    assert said.returncode == 0 and not said.stderr, said.stderr
    assert "numera run MODEL --input FILE.npy [options]" in said.stdout
