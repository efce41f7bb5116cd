# SPDX-License-Identifier: MIT
"""What commands may take and run (docs/Security.md), as options of the tool in C++ have it."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence

from numera import _numera
from numera._errors import Error
from numera.study import _yaml

__all__ = ["add", "apply", "out_of_memory"]

_line = "numera: error: out of memory"


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the options to a command."""
    parser.add_argument("--no-libraries", action="store_true",
        help="refuse libraries of configurations: run no code that is not Numera's")  # fmt: skip
    parser.add_argument("--max-memory", type=int, metavar="MIB",
        help="end with an error where a process needs more memory")  # fmt: skip
    parser.add_argument("--max-time", type=int, metavar="SECONDS",
        help="end with an error where it takes longer")  # fmt: skip


def apply(
    *, no_libraries: bool, max_memory: int | None, max_time: int | None, files: Sequence[str]
) -> None:
    """Refuses `files`, configurations, that have libraries; starts the limits."""
    for value, option, unit in ((max_memory, "--max-memory", "MiB"), (max_time, "--max-time", "seconds")):
        if value is not None and not 1 <= value < 2**31:
            raise Error(f"option '{option}' is '{value}', expected 1 to {2**31 - 1} {unit}")
    if no_libraries:
        for path in files:
            _refuse_libraries(path)
    if max_memory is not None:
        # What is written to, not what is mapped. Workers inherit it.
        _, most = resource.getrlimit(resource.RLIMIT_DATA)
        limit = max_memory << 20
        global _line
        _line = f"{_line}: --max-memory is {max_memory} MiB"
        _numera.end_without_memory(_line)
        resource.setrlimit(
            resource.RLIMIT_DATA, (limit if most == resource.RLIM_INFINITY else min(limit, most), most)
        )
    if max_time is not None:
        threading.Thread(target=_end_after, args=(max_time,), daemon=True).start()


def out_of_memory(error: Exception) -> str | None:
    """What to say of an error that a lack of memory explains; None of others.

    Where memory is limited, modules are not found whole, threads not started, and
    some packages forget what went wrong."""
    if isinstance(error, MemoryError):
        return _line
    limits = (resource.getrlimit(each)[0] for each in (resource.RLIMIT_DATA, resource.RLIMIT_AS))
    if all(limit == resource.RLIM_INFINITY for limit in limits) or not isinstance(error, (SystemError, ImportError, RuntimeError)):
        return None
    said = str(error).partition("\n")[0]
    return f"{_line} ({type(error).__name__}: {said})"


def _refuse_libraries(path: str) -> None:
    found = _yaml.read(path)
    libraries = found.get("libraries") if isinstance(found, Mapping) else None
    if libraries:
        name = f"library '{next(iter(libraries))}'" if isinstance(libraries, Mapping) else "a library"
        raise Error(f"{path}: {name} is code to be run here, which --no-libraries refuses")


def _end_after(seconds: int) -> None:
    time.sleep(seconds)
    print(f"numera: error: not done after {seconds} s, which --max-time is", file=sys.stderr, flush=True)
    for child in list(_children(os.getpid())):
        try:
            os.kill(child, signal.SIGKILL)
        except OSError:  # it has ended
            pass
    os._exit(1)


def _children(process: int) -> Iterator[int]:
    """Processes that it started, and that those started, last first."""
    try:
        tasks = os.listdir(f"/proc/{process}/task")
        found = [open(f"/proc/{process}/task/{task}/children").read().split() for task in tasks]
    except OSError:
        return
    for child in (int(each) for group in found for each in group):
        yield from _children(child)
        yield child
