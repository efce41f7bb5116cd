# SPDX-License-Identifier: MIT
"""What is compiled while the caller goes on."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

__all__ = ["Awaited", "Begun", "raising"]

Made = TypeVar("Made")


class Begun(Generic[Made]):
    """What another thread does. A process that ends waits for it."""

    def __init__(self, work: Callable[[], Made]) -> None:
        pool = ThreadPoolExecutor(1)
        self._future = pool.submit(work)
        pool.shutdown(wait=False)
        self._work, self._owner = work, os.getpid()

    def result(self) -> Made:
        """What it comes to, or raises. A process that was forked meanwhile, and does
        not have the thread, does it itself."""
        if os.getpid() != self._owner and not self._future.done():
            return self._work()
        return self._future.result()

    def then(self, call: Callable[[], None]) -> None:
        """Has `call` made when it is done, however it ends."""
        self._future.add_done_callback(lambda _: call())


class Awaited:
    """A function that another one makes, which waits for what it needs."""

    def __init__(self, make: Callable[[], Callable[..., Any]]) -> None:
        self._make: Callable[[], Callable[..., Any]] | None = make
        self._made: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    def ready(self) -> Callable[..., Any]:
        """The function; raises what making it raised."""
        with self._lock:
            if self._made is None:
                assert self._make is not None
                self._made = self._make()
                self._make = None  # and what it holds
            return self._made

    def __call__(self, *arguments: Any) -> Any:
        return (self._made or self.ready())(*arguments)


def raising(error: Exception) -> Awaited:
    """A function that raises what making it raised."""

    def make() -> Callable[..., Any]:
        raise error

    return Awaited(make)
