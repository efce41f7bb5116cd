#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Runs tests of the CPU with programs for the emulated GPU (test/lit.cfg.py):
mirror.py BUILD LOG TEST…

Prints how many commands each ran for the GPU. Fails if one fails, or ran none;
those that need what is not there are skipped.
"""
import pathlib
import subprocess
import sys


def main():
    build, log, *names = sys.argv[1:]
    log = pathlib.Path(log)
    wrong = []
    for name in names:
        log.unlink(missing_ok=True)
        done = subprocess.run(
            ["lit", "-v", "-j1", "--param", "mirror=nvptx", "--param", f"log={log}",
             f"{build}/test/Execution/{name}.test"],
            capture_output=True, text=True, check=False)
        count = len(log.read_text(encoding="utf-8").splitlines()) if log.exists() else 0
        skipped = "\nUNSUPPORTED: " in done.stdout
        print(f"{name}: {'skipped' if skipped else count}", flush=True)
        if done.returncode != 0:
            wrong.append(done.stdout + done.stderr)
        elif not skipped and count == 0:
            wrong.append(f"{name} ran nothing for the GPU\n")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
