# SPDX-License-Identifier: MIT
"""The command ``numera report``."""

from __future__ import annotations

from typing import Any

from numera._errors import Error
from numera.reports._report import report
from numera.study import _options
from numera.study._output import check_page, say

__all__ = ["add"]


def add(commands: Any) -> None:
    """Adds it to the others."""
    option = _options.add_command(
        commands,
        "report",
        _run,
        help="say what a format did to a model, as a page",
        description="Run a model in a format and in f32, and say where it goes wrong.",
    )
    _options.add_model(option, "--formats")
    _options.add_labels(option, None)
    _options.add_format(option)
    option("--rows", type=int, default=64, metavar="N",
           help="run only the first N rows, 64 by default")  # fmt: skip
    option("--hints", type=int, default=5, metavar="N",
           help="layers to try changes of, 5 by default")  # fmt: skip
    option("-o", metavar="OUT.html", dest="path", help="the page to write")


def _run(*, as_json: bool, rows: int, path: str | None, **given: Any) -> int:
    if rows < 1:
        raise Error(f"--rows is {rows}, expected at least 1")
    if path:
        check_page(path)
    options = _options.arguments(as_run=True, **given)
    found = report(options.pop("model"), rows=rows, **options)
    say(found.json() if as_json else found)
    if path:
        found.save(path)
    return 0
