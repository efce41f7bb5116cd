# SPDX-License-Identifier: MIT
"""Options that commands have in common, and what they mean."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any, NoReturn

from numera import _sources
from numera._errors import Error
from numera._formats import load
from numera.study import _yaml
from numera.study._data import read_inputs

__all__ = ["Parser", "add_command", "add_model", "arguments"]

_NUMBER = re.compile(
    r"argument (?P<name>\S+): invalid (?P<kind>int|float) value: (?P<value>.*)"
)
METRICS = "top1, top5, perplexity, rmse, map or map50"


class Parser(argparse.ArgumentParser):
    """Refuses in one line."""

    def error(self, message: str) -> NoReturn:
        if wrong := _NUMBER.fullmatch(message):
            wanted = "a whole number" if wrong["kind"] == "int" else "a number"
            message = f"option '{wrong['name']}' is {wrong['value']}, expected {wanted}"
        raise Error(f"{message}; see {self.prog} --help")


def add_command(
    commands: Any, name: str, run: Callable[..., int], help: str, description: str
) -> Any:
    """A command's function that adds options."""
    command = commands.add_parser(
        name, help=help, description=description, allow_abbrev=False
    )
    command.set_defaults(run=run)
    return command.add_argument


def add_model(add: Any, *load: str) -> None:
    """A model, and data for its inputs. `load` are other names of ``--load``."""
    add("model", metavar="MODEL", help="an .onnx or .mlir file")
    add("--input", action="append", required=True, metavar="[NAME=]X", dest="inputs",
        help=".npy, .npz, idx, .csv, .parquet or images; one an input")  # fmt: skip
    add("--divide", type=float, metavar="N", help="inputs by N: 255 for pixels")
    add("--function", metavar="NAME", help="of a model with several")
    add("--optimization", type=int, metavar="L", help="0 to 3")
    add("--load", *load, action="append", default=[], metavar="F.yaml", dest="files",
        help="read formats from this file")  # fmt: skip
    add("--json", action="store_true", dest="as_json",
        help="print JSON in place of words")  # fmt: skip


def add_labels(add: Any, metric: str | None) -> None:
    """What is compared with outputs; `metric` is the default."""
    add("--labels", metavar="Y", help="what is expected: such a file, too")
    add("--metric", default=metric, help=METRICS)


def add_format(add: Any) -> None:
    """One format, or a policy."""
    add("--format", metavar="F", help="the format of all layers; default of --policy")
    add("--policy", metavar="F.yaml", help="formats for parts of the model")
    add("--accumulate", metavar="F", help="same, quire, a format")
    add("--rounding", metavar="M", help="nearest-even, stochastic…")
    add("--overflow", metavar="O", help="infinity, saturate…")
    add("--seed", type=int, metavar="S", help="of stochastic rounding")


def arguments(
    *,
    inputs: list[str],
    divide: float | None,
    files: list[str],
    as_run: bool = False,
    **given: Any,
) -> dict[str, Any]:
    """Those of a function of the library: formats of files are known, arrays are
    read, and what was not given is left out.

    as_run      a file may have a policy as well, as for ``numera run``.
    """
    options = {key: value for key, value in given.items() if value is not None}
    for path in filter(_has_policy, files):
        if path == options.get("policy"):
            continue
        if not as_run or "policy" in options:
            raise Error(f"{path} has a policy; name it with --policy, and no other one")
        options["policy"] = path
    if others := [path for path in files if path != options.get("policy")]:
        load(*others)
    return {"inputs": read_inputs(inputs, divide), **options}


def _has_policy(path: str) -> bool:
    """Whether a configuration has one beside formats."""
    if "policy" not in _sources.read(path).text:
        return False
    found = _yaml.read(path)
    return isinstance(found, dict) and "policy" in found
