# SPDX-License-Identifier: MIT
"""The commands of ``numera``, as of ``python -m numera``."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from numera._errors import Error
from numera._import import add as add_import
from numera._programs import compile
from numera.reports._command import add as add_report
from numera.study import _limits, _options, _yaml
from numera.study._costs import cost
from numera.study._data import DataSet
from numera.study._output import check_page, check_path, plain, say
from numera.study._result import Sweep
from numera.study._run import sweep
from numera.study._search import search

__all__ = ["described", "main"]

_TOOL = (
    "compile",
    "run",
    "formats",
    "eval",
    "check",
    "vectors",
    "calibrate",
    "new",
    "schema",
    "doctor",
    "completion",
    "--version",
)
"""Commands of the tool in C++."""


def _parser(program: str) -> _options.Parser:
    parser = _options.Parser(
        prog=program,
        allow_abbrev=False,
        epilog="Where the tool numera is in PATH, its commands are taken as well: "
        f"{', '.join(_TOOL[:-1])}.",
    )
    _commands(parser)
    return parser


def _commands(parser: _options.Parser) -> dict[str, argparse.ArgumentParser]:
    """Adds all commands; returns them by name."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_sweep(commands)
    _add_search(commands)
    add_report(commands)
    _add_cost(commands)
    add_import(commands)
    for command in commands.choices.values():
        _limits.add(command)
    return dict(commands.choices)


def described(style: Callable[[str, argparse.ArgumentParser], str]) -> str:
    """All commands in a style of `_describe`."""
    found = _commands(_options.Parser(prog="numera"))
    return "".join(style(name, command) for name, command in found.items())


def _add_cost(commands: Any) -> None:
    add = _options.add_command(
        commands,
        "cost",
        _cost,
        help="count operations, and add up energy and area by a table",
        description="Count the operations of a model by kind and format, and add up "
        "what they cost.",
    )
    _options.add_model(add, "--formats")
    _options.add_format(add)
    add("--table", required=True, metavar="T",
        help="horowitz2014, jouppi2021, or a file of YAML or JSON")  # fmt: skip
    add(
        "--rows",
        type=int,
        default=1,
        metavar="N",
        help="of the data, where the model leaves them open; 1",
    )


def _add_sweep(commands: Any) -> None:
    add = _options.add_command(
        commands,
        "sweep",
        _sweep,
        help="run a model in many formats and compare",
        description="Compile and run a model in many formats, and measure each.",
    )
    _add_study(add)
    add("--rounding", nargs="+", metavar="M", help="nearest-even, stochastic…")
    add("--scale", nargs="+", metavar="S", help="none, per-tensor, block(32)…")
    add(
        "--scale-rule", nargs="+", metavar="R", help="of scaled formats: floor, absmax…"
    )
    add("--roles", nargs="+", metavar="R", help="weights, activations, outputs, with +")
    add("--overflow", metavar="O", help="infinity, saturate…")
    add("--seed", type=int, metavar="S", help="of stochastic rounding")
    add("--policy", metavar="F.yaml", help="formats for parts of the model")
    add("--workers", type=int, metavar="N", help="formats at a time")
    add("--csv", metavar="OUT.csv", help="write the rows")


def _add_search(commands: Any) -> None:
    add = _options.add_command(
        commands,
        "search",
        _search,
        help="look for a format for each layer of a model",
        description="Look for the formats of a model's layers: the best metric "
        "within a budget or, without one, the least cost that keeps a floor.",
    )
    _add_study(add)
    add("--budget", type=float, metavar="N", help="the most that the policy costs")
    add(
        "--cost",
        metavar="C",
        help="weight-bits, element-bits, or a table: its name or file",
    )
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
    add("--report", metavar="OUT.html", help="write a page about the search")


def _add_study(add: Any) -> None:
    """What sweeps and searches take."""
    _options.add_model(add)
    _options.add_labels(add, "top1")
    add("--formats", nargs="+", required=True, metavar="F",
        help="names, spellings and ranges of formats: float<4..6,1..10>")  # fmt: skip
    add("--limit", type=int, metavar="N", help="only the first N rows")
    add("--batch", type=int, metavar="N", help="rows of a call")
    add("--accumulate", nargs="+", metavar="F", help="same, quire, a format")
    add("--store", metavar="S.sqlite", help="keep results, and go on with them")
    add("--cluster", nargs="?", const=True, default=False, metavar="ADDRESS",
        help="compute on a cluster of Ray: ray://host:10001; alone, a local one")  # fmt: skip
    add("--plot", metavar="OUT.png", help="draw the metric over bits")


def main(arguments: Sequence[str] | None = None, program: str = "numera") -> int:
    """Runs the command; returns the exit status."""
    warnings.showwarning = _warn
    # Those of other packages are for their authors.
    for kind in (DeprecationWarning, FutureWarning):
        warnings.simplefilter("ignore", kind)
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if words and words[0] in _TOOL:
            _become_tool(words)
        given = vars(_parser(program).parse_args(words))
        run: Callable[..., int] = given.pop("run")
        configurations = [*given.get("files", []), given.get("policy")]
        _limits.apply(
            files=[path for path in configurations if path],
            **{name: given.pop(name) for name in ("no_libraries", "max_memory", "max_time")},
        )
        return run(**given)
    except (Error, OSError) as error:
        print(f"numera: error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("numera: interrupted", file=sys.stderr)
        return 130
    except Exception as error:
        line = _limits.out_of_memory(error)
        if line is None:
            raise
        print(line, file=sys.stderr)
        return 1


def _become_tool(words: Sequence[str]) -> None:
    """Runs the tool of the same name, which pip's script may hide."""
    for folder in os.get_exec_path():
        path = shutil.which("numera", path=folder)
        if path is None:
            continue
        with open(path, "rb") as file:
            is_program = file.read(4) == b"\x7fELF"
        if is_program:
            os.execv(path, [path, *words])
    raise Error(
        f"'{words[0]}' is a command of the tool numera, which is not in PATH; the "
        f"Python package has sweep, search, report, cost and import"
    )


def _warn(message: Any, *_: Any, **__: Any) -> None:
    print(f"numera: warning: {message}", file=sys.stderr)


def _sweep(*, csv: str | None, plot: str | None, as_json: bool, **given: Any) -> int:
    _check_outputs(csv, plot)
    options = _options.arguments(**given)
    found = sweep(options.pop("model"), **options)
    say(_json(found) if as_json else found)
    if csv:
        found.csv(csv)
    if plot:
        found.plot(plot)
    if all(row.error for row in found):
        raise Error(f"no format takes the model: {found[0].error}")
    return 0


def _search(
    *,
    policy: str | None,
    output: str | None,
    plot: str | None,
    report: str | None,
    as_json: bool,
    **given: Any,
) -> int:
    _check_outputs(output, plot)
    options = _options.arguments(**given)
    if policy:
        options["policy"] = _yaml.policy(policy, alone=True)
    if report:
        check_page(report)
    found = search(options.pop("model"), **options)
    # First what took hours: a disk may be full.
    say(found.json() if as_json else found)
    if output:
        found.save(output)
    if plot:
        found.plot(plot)
    if report:
        found.page(report)
    return 0


def _cost(*, as_json: bool, rows: int, table: str, **given: Any) -> int:
    if rows < 1:
        raise Error(f"--rows is {rows}, expected at least 1")
    options = _options.arguments(as_run=True, **given)
    inputs = options.pop("inputs")
    program = compile(options.pop("model"), **options)
    is_open = any(each.shape[:1] == (None,) for each in program.inputs)
    data = DataSet(program._only, inputs, rows, rows if is_open else None)
    _, arrays = data.first()
    found = cost(program, *arrays, table=table)
    count = len(arrays[data.sliced.index(True)]) if data.rows else None
    if as_json:
        say(json.dumps({"data_rows": count, **found._asdict()}, indent=2))
    elif count in (None, 1):
        say(found)
    else:
        say(f"{found}\nfor {count} rows of the data")
    return 0


def _check_outputs(csv: str | None, plot: str | None) -> None:
    """Before hours are spent on what cannot be written."""
    for path in filter(None, (csv, plot)):
        check_path(path)
    if plot:
        try:
            from matplotlib.backends.backend_agg import FigureCanvasAgg
        except ImportError:
            raise Error("--plot needs matplotlib: pip install matplotlib") from None
        end = os.path.splitext(plot)[1].removeprefix(".")
        if end not in FigureCanvasAgg.get_supported_filetypes():
            raise Error(f"cannot write {plot}: no picture ends in '.{end}'")


def _json(found: Sweep) -> str:
    rows = plain(found.records())
    front = {id(row) for row in found.pareto()}
    for record, row in zip(rows, found):
        record["pareto"] = id(row) in front
    return json.dumps(
        {"metric": found.metric, "better": found.better, "rows": rows}, indent=2
    )
