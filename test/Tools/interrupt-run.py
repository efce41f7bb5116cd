# SPDX-License-Identifier: MIT
"""Interrupt a run that does not end, with an input of 1, and see that FOLDER is not
made: interrupt-run.py FOLDER COMMAND... With an input of 0 it ends, and FOLDER is.
"""

import os
import signal
import subprocess
import sys
import time

import numpy as np

folder, command = sys.argv[1], sys.argv[2:]
array = command[command.index("--input") + 1]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
    np.save(array, np.float32(1))
    # Jobs in the background begin with signals that are ignored.
    process = subprocess.Popen(
        command,
        preexec_fn=lambda: [
            signal.signal(each, signal.SIG_DFL) for each in (signal.SIGINT, signal.SIGTERM)
        ],
    )
    time.sleep(1.5)
    process.send_signal(number)
    try:
        status = process.wait(timeout=30)
    except subprocess.TimeoutExpired:
        process.kill()
        sys.exit(f"{number}: goes on")
    if status != -number or os.path.exists(folder):
        sys.exit(f"{number}: status {status}, folder: {os.path.exists(folder)}")
np.save(array, np.float32(0))
subprocess.run(command, check=True, timeout=60)
if not os.path.exists(folder):
    sys.exit("no folder")
