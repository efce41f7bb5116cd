# SPDX-License-Identifier: MIT
"""Run a command that has to fail: one-line.py REGEX COMMAND...

It has to exit with 1 and to print nothing but one line on stderr, all of which
REGEX matches.
"""

import re
import subprocess
import sys


def main(pattern, command):
    done = subprocess.run(command, capture_output=True, text=True)
    faults = []
    if done.returncode != 1:
        faults.append(f"exit status {done.returncode}, expected 1")
    if done.stdout:
        faults.append(f"on stdout: {done.stdout!r}")
    if done.stderr.count("\n") != 1 or not done.stderr.endswith("\n"):
        faults.append("expected one line on stderr")
    if not re.fullmatch(pattern, done.stderr.rstrip("\n")):
        faults.append(f"expected the line\n  {pattern}")
    if faults:
        sys.exit("\n".join(faults + [f"stderr:\n{done.stderr}"]))


main(sys.argv[1], sys.argv[2:])
