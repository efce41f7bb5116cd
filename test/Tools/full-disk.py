# SPDX-License-Identifier: MIT
"""One line and nothing else is left by a command on a full disk: full-disk.py FOLDER
KIBIBYTES COMMAND ... mounts one there, whose files are as they were afterwards. It runs
where a user may mount, by unshare -rm."""

import pathlib
import re
import subprocess
import sys

folder, size, *command = sys.argv[1:]
subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}k", "none", folder], check=True)
output = pathlib.Path(command[command.index("-o") + 1])
for before in ({}, {output: b"what was there"}):
    for path, content in before.items():
        path.write_bytes(content)
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    message = rf"numera: error: cannot write {re.escape(str(output))}: No space left on device\n"
    assert done.returncode == 1 and re.fullmatch(message, done.stderr), done
    after = {path: path.read_bytes() for path in pathlib.Path(folder).iterdir()}
    assert after == before, after
