# SPDX-License-Identifier: MIT
"""Functions of other packages in a process of their own.

What ends it, a parser of theirs that a hostile file breaks or an engine that finds no
memory, is an exception here and leaves this process alone. So does what they print.
"""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys

from numera._errors import Error

__all__ = ["Ended", "text_of"]

# The path first: the folder at hand is not on it, unless it is on that of this process.
_SCRIPT = """
import sys
module, function, *sys.path = sys.argv[1:]
import importlib, json, os
stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)
try:
    given = json.load(sys.stdin)
    found = getattr(importlib.import_module(module), function)(*given)
    said = {"text": found}
except Exception as error:
    said = {"kind": type(error).__name__, "error": str(error)}
with stream:
    json.dump(said, stream)
"""


_MEMORY = re.compile(
    "out of memory|memory allocation|bad_alloc|MemoryError|cannot allocate|spawn thread",
    re.IGNORECASE,
)
"""What processes say that have found none."""
_KNOWN = {
    "Error": Error,
    **{kind.__name__: kind for kind in (ImportError, MemoryError, SystemError)},
}


class Ended(Exception):
    """The process ended without an answer. The message is its signal or status."""


def text_of(module: str, function: str, *arguments: str | None) -> str:
    """The text that a function of a module returns. Errors of Numera and a lack of
    memory are raised as such."""
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT, module, function, *map(str, sys.path)],
        input=json.dumps(arguments).encode(),
        capture_output=True,
        check=False,
    )
    try:
        said = json.loads(done.stdout)
    except ValueError:
        if lack := _MEMORY.search(done.stderr.decode(errors="replace")):
            raise MemoryError(lack[0]) from None
        raise Ended(_name(done.returncode)) from None
    if "text" in said:
        return str(said["text"])
    if said["kind"] in _KNOWN:
        raise _KNOWN[said["kind"]](said["error"])
    raise RuntimeError(f"{said['kind']}: {said['error']}")


def _name(status: int) -> str:
    """`SIGTRAP`, `status 1`."""
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"status {status}"
