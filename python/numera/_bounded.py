# SPDX-License-Identifier: MIT
"""Caches of what was compiled, for processes that make formats without end."""

from __future__ import annotations

from typing import TypeVar

PROGRAMS = 512
"""Of compiled ones, each some 150 kB."""

Key = TypeVar("Key")
Value = TypeVar("Value")


class Bounded(dict[Key, Value]):
    """A dictionary that drops its oldest entries: lookups are those of `dict`."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __setitem__(self, key: Key, value: Value) -> None:
        super().__setitem__(key, value)
        while len(self) > self.most:
            # Another thread may drop the same one.
            self.pop(next(iter(self)), None)
