# SPDX-License-Identifier: MIT
"""What is compiled while the caller goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["Awaited", "begin", "raising"]

Made = TypeVar("Made")


def begin(work: Callable[[], Made]) -> Future[Made]:
    """Has another thread do it. A process that ends waits for it."""
    pool = ThreadPoolExecutor(1)
    begun = pool.submit(work)
    pool.shutdown(wait=False)
    return begun


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
