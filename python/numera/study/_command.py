# SPDX-License-Identifier: MIT
"""The commands of ``python -m numera``."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from numera._errors import Error
from numera._formats import load
from numera._import import add as add_import
from numera._sources import read as source
from numera.reports._command import add as add_report
from numera.study._costs import parse
from numera.study._data import read_inputs
from numera.study._result import Sweep
from numera.study._run import sweep
from numera.study._search import search

__all__ = ["main"]


class _Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        raise Error(f"{message}; see {self.prog} --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m numera", allow_abbrev=False)
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    command = commands.add_parser(
        "sweep",
        help="run a model in many formats and compare",
        description="Compile and run a model in many formats, and measure each.",
        allow_abbrev=False,
    )
    command.set_defaults(run=_sweep)
    add = command.add_argument
    _add_data(add)
    add("--rounding", nargs="+", metavar="M", help="nearest-even, stochastic…")
    add("--overflow", metavar="O", help="infinity, saturate…")
    add("--seed", type=int, metavar="S", help="of stochastic rounding")
    add("--policy", metavar="F.yaml", help="formats for parts of the model")
    add("--workers", type=int, metavar="N", help="formats at a time")
    add("--cluster", nargs="?", const=True, default=False, metavar="ADDRESS",
        help="compute on a cluster of Ray: ray://host:10001; alone, a local one")  # fmt: skip
    add("--csv", metavar="OUT.csv", help="write the rows")

    command = commands.add_parser(
        "search",
        help="look for a format for each layer of a model",
        description="Look for the formats of a model's layers: the best metric "
        "within a budget or, without one, the least cost that keeps a floor.",
        allow_abbrev=False,
    )
    command.set_defaults(run=_search)
    add = command.add_argument
    _add_data(add)
    add("--budget", type=float, metavar="N", help="the most that the policy costs")
    add("--cost", metavar="C", help="weight-bits, element-bits, or a table's file")
    add("--floor", type=float, metavar="V", help="what the metric has to reach")
    add("--sqnr", type=float, metavar="DB", help="what the outputs have to reach")
    add("--weights", nargs="+", metavar="F", help="for weights alone")
    add("--activations", nargs="+", metavar="F", help="for activations alone")
    add("--policy", metavar="F.yaml", help="rules that go before those found")
    add("--every", action="store_true", help="every layer apart")
    add("--trials", type=int, metavar="N", help="policies that are measured")
    add("--seed", type=int, metavar="S", help="of the search")
    add("--workers", type=int, metavar="N", help="policies at a time")
    add("-o", metavar="OUT.yaml", dest="output", help="write the policy")

    add_report(commands)
    add_import(commands)
    return parser


def _add_data(add: Any) -> None:
    """What sweeps and searches take."""
    add("model", metavar="MODEL", help="an .onnx or .mlir file")
    add("--formats", nargs="+", required=True, metavar="F", help="float<4..6,1..10>")
    add("--input", action="append", required=True, metavar="[NAME=]X", dest="inputs",
        help=".npy, .npz, idx, .csv, .parquet or images; one an input")  # fmt: skip
    add("--labels", metavar="Y", help="such a file, too")
    add("--metric", default="top1", help="top1, top5, perplexity or rmse")
    add("--divide", type=float, metavar="N", help="inputs by N: 255 for pixels")
    add("--limit", type=int, metavar="N", help="only the first N rows")
    add("--batch", type=int, metavar="N", help="rows of a call")
    add("--accumulate", nargs="+", metavar="F", help="same, quire, a format")
    add("--function", metavar="NAME", help="of a model with several")
    add("--optimization", type=int, metavar="L", help="0 to 3")
    add("--load", action="append", default=[], metavar="F.yaml", dest="files",
        help="read formats from this file")  # fmt: skip
    add("--store", metavar="S.sqlite", help="keep results, and go on with them")
    add("--plot", metavar="OUT.png", help="draw the metric over bits")
    add("--json", action="store_true", dest="as_json",
        help="print JSON in place of a table")  # fmt: skip


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit status."""
    warnings.showwarning = _warn
    try:
        given = vars(_parser().parse_args(arguments))
        run: Callable[..., int] = given.pop("run")
        return run(**given)
    except (Error, OSError) as error:
        print(f"numera: error: {_unprefixed(error)}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("numera: interrupted", file=sys.stderr)
        return 130


def _warn(message: Any, *_: Any, **__: Any) -> None:
    print(f"numera: warning: {message}", file=sys.stderr)


def _unprefixed(error: Exception) -> str:
    return str(error).removeprefix("error: ")


def _sweep(
    *,
    inputs: list[str],
    divide: float | None,
    files: list[str],
    csv: str | None,
    plot: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    _check_outputs(csv, plot)
    if files:
        load(*files)
    arrays = read_inputs(inputs, divide)
    options = {key: value for key, value in given.items() if value is not None}
    found = sweep(options.pop("model"), inputs=arrays, **options)
    print(_json(found) if as_json else found)
    if csv:
        found.csv(csv)
    if plot:
        found.plot(plot)
    if all(row.error for row in found):
        raise Error(f"no format takes the model: {_unprefixed(Error(found[0].error))}")
    return 0


def _search(
    *,
    inputs: list[str],
    divide: float | None,
    files: list[str],
    policy: str | None,
    output: str | None,
    plot: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    _check_outputs(output, plot)
    if files:
        load(*files)
    options = {key: value for key, value in given.items() if value is not None}
    if policy:
        options["policy"] = _policy(policy)
    found = search(options.pop("model"), inputs=read_inputs(inputs, divide), **options)
    if output:
        found.save(output)
    if plot:
        found.plot(plot)
    if as_json:
        text = {
            "metric": found.metric,
            "better": found.better,
            "cost": found.cost,
            "runs": found.runs,
            "policy": found.policy,
            "layers": _finite(found.layers()),
            "trials": _finite(found.records()),
        }
        print(json.dumps(text, indent=2))
    else:
        print(found)
    return 0


def _policy(path: str) -> dict[str, Any]:
    """The section of a configuration, which has nothing else."""
    given = parse(source(path).text, path)
    if not isinstance(given, dict) or not isinstance(given.get("policy"), dict):
        raise Error(f"{path} has no policy")
    if len(given) > 1:
        raise Error(f"{path} has more than a policy; --load reads formats")
    return dict(given["policy"])


def _check_outputs(csv: str | None, plot: str | None) -> None:
    """Before hours are spent on what cannot be written."""
    for path in filter(None, (csv, plot)):
        folder = os.path.dirname(path) or "."
        if not os.path.isdir(folder):
            raise Error(f"cannot write {path}: no folder {folder}")
    if plot:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
        except ImportError:
            raise Error("--plot needs matplotlib: pip install matplotlib") from None
        end = os.path.splitext(plot)[1].removeprefix(".")
        if end not in FigureCanvasAgg.get_supported_filetypes():
            raise Error(f"cannot write {plot}: no picture ends in '.{end}'")


def _json(found: Sweep) -> str:
    rows = _finite(found.records())
    front = {id(row) for row in found.pareto()}
    for record, row in zip(rows, found):
        record["pareto"] = id(row) in front
    return json.dumps(
        {"metric": found.metric, "better": found.better, "rows": rows}, indent=2
    )


def _finite(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """NaN and infinities are null."""
    return [
        {
            key: None
            if isinstance(value, float) and not math.isfinite(value)
            else value
            for key, value in record.items()
        }
        for record in records
    ]
