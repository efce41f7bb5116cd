# SPDX-License-Identifier: MIT
"""Interrupt `numera compile` at many moments: interrupt.py FOLDER COMMAND...

After each, FOLDER holds nothing, or the complete object and header; and so does
the folder for temporary files. One that is killed may leave one of the two.
"""

import os
import signal
import subprocess
import sys
import tempfile
import time


def run(folder, command, number, delay, disposition=signal.SIG_DFL):
    temporary = tempfile.mkdtemp(dir=os.path.dirname(folder))
    environment = dict(os.environ, TMPDIR=temporary)
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=lambda: (
            signal.signal(number, disposition)
            if number not in (0, signal.SIGKILL)
            else None
        ),
    )
    if delay is None:
        process.communicate()
    else:
        time.sleep(delay)
        process.send_signal(number)
        output = process.communicate()[0].decode()
        if process.returncode not in (0, -number):
            sys.exit(f"{delay:.2f} s: status {process.returncode}: {output}")
        # What would have gone on without its parent is done after this.
        time.sleep(0.2)
    found = sorted(os.listdir(folder)), os.listdir(temporary)
    for name in found[0]:
        os.remove(os.path.join(folder, name))
    return process.returncode, found


def main(folder, command):
    os.makedirs(folder, exist_ok=True)
    # The second finds the first one's machine code, as those do that are interrupted.
    for _ in range(2):
        start = time.monotonic()
        status, (whole, left) = run(folder, command, 0, None)
        length = time.monotonic() - start
        if status != 0 or left or len(whole) != 2:
            sys.exit(f"undisturbed: status {status}, found {whole} and {left}")
    ended = 0
    # More of the last part, where the linker writes.
    parts = [0.2, 0.5] + [0.6 + 0.02 * i for i in range(20)]
    for i, part in enumerate(parts):
        number = (signal.SIGINT, signal.SIGTERM)[i % 2]
        status, found = run(folder, command, number, part * length)
        ended += status == -number
        if found[0] not in ([], whole) or found[1]:
            sys.exit(f"after {part:.2f} of the time: status {status}, found {found}")
        status, found = run(folder, command, signal.SIGKILL, part * length)
        if not set(found[0]) <= set(whole) or found[1]:
            sys.exit(f"killed after {part:.2f} of the time: found {found}")
    # One that ignores the signal, as jobs in the background do, goes on.
    for part in parts[::5]:
        status, found = run(
            folder, command, signal.SIGINT, part * length, signal.SIG_IGN
        )
        if status != 0 or found != (whole, []):
            sys.exit(f"ignored: status {status}, found {found}")
    if ended == 0:
        sys.exit("no run was interrupted")


main(os.path.abspath(sys.argv[1]), sys.argv[2:])
