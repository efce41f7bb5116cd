# SPDX-License-Identifier: MIT
"""Results on disk: a database of SQLite, with a row for each task."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from typing import Any

from numera._errors import Error
from numera._request import Path
from numera.study._result import Row

__all__ = ["Store"]

_APPLICATION = 0x4E756D61
"""Stands in the head of the file, and tells it from other databases."""
_VERSION = 2

_CREATE = """
CREATE TABLE results (
  key TEXT PRIMARY KEY, format TEXT, spelling TEXT, bits REAL, accumulate TEXT,
  rounding TEXT, metric TEXT, value REAL, seconds REAL, error TEXT, scale TEXT, roles TEXT,
  time REAL)
"""


class Store:
    """Keeps rows under the hashes of what they depend on.

    Each row is a transaction. Processes may share a file. A NaN is NULL, as is the
    value of a row with an error; such a row is kept for readers, and not found.
    """

    def __init__(self, path: Path) -> None:
        import sqlite3

        self._path = os.fspath(path)
        self._errors = sqlite3.Error
        is_new = not os.path.exists(self._path)
        with self._said():
            self._database = sqlite3.connect(
                self._path, timeout=60, isolation_level=None
            )
            try:
                self._prepare()
            except BaseException:
                self._database.close()
                if is_new:
                    self._remove_empty()
                raise

    def _prepare(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")
        if not self._pragma("schema_version"):
            self._database.execute(_CREATE)
            self._database.execute(f"PRAGMA application_id = {_APPLICATION}")
            self._database.execute(f"PRAGMA user_version = {_VERSION}")
        found = self._pragma("application_id"), self._pragma("user_version")
        if found != (_APPLICATION, _VERSION):
            raise Error(
                f"{self._path} is a database, but no store of sweeps of this version"
            )
        self._database.execute("COMMIT")

    def _remove_empty(self) -> None:
        """SQLite makes a file before it finds that the disk is full."""
        path = os.path.realpath(self._path)
        with contextlib.suppress(OSError):
            if os.path.getsize(path) == 0:
                os.remove(path)

    def _pragma(self, name: str) -> Any:
        return self._database.execute(f"PRAGMA {name}").fetchone()[0]

    @contextlib.contextmanager
    def _said(self) -> Iterator[None]:
        try:
            yield
        except self._errors as error:
            raise Error(f"store {self._path}: {error}") from None

    def find(self, key: str) -> Row | None:
        """The row that was computed."""
        with self._said():
            found = self._database.execute(
                "SELECT format, spelling, bits, accumulate, rounding, value, seconds, "
                "error, scale, roles FROM results WHERE key = ? AND error IS NULL",
                (key,),
            ).fetchone()
        if found is None:
            return None
        row = Row(*found)
        return row._replace(value=float("nan")) if row.value is None else row

    def put(self, key: str, row: Row, metric: str) -> None:
        """Writes a row, which is on the disk when this returns."""
        values = (key, *row[:5], metric, *row[5:], time.time())
        marks = ", ".join("?" * len(values))
        with self._said():
            self._database.execute(
                f"INSERT OR REPLACE INTO results VALUES ({marks})", values
            )

    def close(self) -> None:
        self._database.close()
