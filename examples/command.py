# SPDX-License-Identifier: MIT
"""How the examples call commands."""

import subprocess


class CommandFailed(Exception):
    """A command that exited with an error, which it has printed itself."""


def run(command: list[str]) -> str:
    """The standard output of `command`. Its stderr, where numera shows progress
    and errors, goes to ours."""
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    except OSError as error:
        raise CommandFailed(f"cannot run {command[0]}: {error.strerror}") from None
    except subprocess.CalledProcessError:
        raise CommandFailed(f"failed: {' '.join(command)}") from None
