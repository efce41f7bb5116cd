# SPDX-License-Identifier: MIT
"""The command ``python -m numera report``."""

from __future__ import annotations

import argparse
from typing import Any

from numera._errors import Error
from numera._formats import load
from numera.reports._report import report
from numera.study._data import read_inputs

__all__ = ["add"]


def add(commands: Any) -> None:
    """Adds it to the commands of ``python -m numera``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "report",
        help="say what a format did to a model, as a page",
        description="Run a model in a format and in f32, and say where it goes wrong.",
        allow_abbrev=False,
    )
    parser.set_defaults(run=_run)
    option = parser.add_argument
    option("model", metavar="MODEL", help="an .onnx or .mlir file")
    option("--format", metavar="F", help="the format of all layers")
    option("--policy", metavar="F.yaml", help="formats for parts of the model")
    option("--input", action="append", required=True, metavar="[NAME=]X", dest="inputs",
        help=".npy, .npz, idx, .csv, .parquet or images; one an input")  # fmt: skip
    option("--labels", metavar="Y", help="such a file, too")
    option("--metric", help="top1, top5, perplexity or rmse")
    option("--divide", type=float, metavar="N", help="inputs by N: 255 for pixels")
    option("--rows", type=int, default=64, metavar="N", help="only the first N rows")
    option("--hints", type=int, default=5, metavar="N", help="layers to try changes of")
    option("--accumulate", metavar="F", help="same, quire, a format")
    option("--rounding", metavar="M", help="nearest-even, stochastic…")
    option("--overflow", metavar="O", help="infinity, saturate…")
    option("--seed", type=int, metavar="S", help="of stochastic rounding")
    option("--function", metavar="NAME", help="of a model with several")
    option("--optimization", type=int, metavar="L", help="0 to 3")
    option("--load", action="append", default=[], metavar="F.yaml", dest="files",
        help="read formats from this file")  # fmt: skip
    option("-o", metavar="OUT.html", dest="path", help="the page to write")
    option("--json", action="store_true", dest="as_json",
        help="print JSON in place of a summary")  # fmt: skip


def _run(
    *,
    inputs: list[str],
    divide: float | None,
    files: list[str],
    as_json: bool,
    rows: int,
    **given: Any,
) -> int:
    if rows < 1:
        raise Error(f"--rows is {rows}, expected at least 1")
    if files:
        load(*files)
    options = {key: value for key, value in given.items() if value is not None}
    arrays = read_inputs(inputs, divide)
    found = report(options.pop("model"), inputs=arrays, rows=rows, **options)
    print(found.json() if as_json else found)
    return 0
