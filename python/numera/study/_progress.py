# SPDX-License-Identifier: MIT
"""How far a sweep is: a line on a terminal, or a function of the caller's."""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
from collections.abc import Callable, Iterator

from numera.study._result import Row

__all__ = ["Progress", "watch"]

Progress = Callable[[int, int, Row], None]
"""Takes how many rows are done, how many there are, and the last one."""


@contextlib.contextmanager
def watch(
    progress: Progress | bool | None, done: int, total: int
) -> Iterator[Progress]:
    """What is called after each row; `done` of them were there before."""
    if callable(progress):
        yield progress
    elif progress or progress is None and sys.stderr.isatty():
        line = _Line(done)
        try:
            yield line
        finally:
            line.write("")
    else:
        yield lambda *_: None


class _Line:
    """A line on stderr that is written over."""

    def __init__(self, before: int) -> None:
        self._before = before
        self._start = time.monotonic()

    def __call__(self, done: int, total: int, row: Row) -> None:
        passed = time.monotonic() - self._start
        left = passed / max(1, done - self._before) * (total - done)
        value = "refused" if row.value is None else f"{row.value:.5g}"
        clock = f"{int(left) // 60}:{int(left) % 60:02}"
        self.write(f"{done}/{total}  {row.format} {value}  {clock} left")

    def write(self, text: str) -> None:
        text = text[: shutil.get_terminal_size().columns - 1]
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()
