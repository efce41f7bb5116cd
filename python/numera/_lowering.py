# SPDX-License-Identifier: MIT
"""Operations of formats of few bits as functions in Python, for experiments."""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import pathlib
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numera import _formats, _numera
from numera._errors import Error
from numera._formats import Format
from numera._kernels import is_stochastic
from numera._sources import Source

__all__ = ["lowering"]

WIDEST = 16
"""Bits of an operation's codes together: a table has 65,536 entries at most."""


def lowering(
    operation: str, format: str | Format
) -> Callable[[Callable[..., Any]], Format]:
    """Makes an operation of a format be what a function says: of two numbers of a
    format of at most 8 bits, or of one number of at most 16.

    The function takes and returns numbers. It is called here, once for every code
    or pair of codes; its results are rounded to the format and become a table that
    programs read; formats that round stochastically have none. What the decorated name becomes is the format that computes so;
    the one that was given stays as it is. Needs clang.

    >>> import numera
    >>> @numera.lowering("mul", "f8E4M3FN")
    ... def clumsy(x, y):
    ...     return 0.5 if x == y == 1 else x * y
    >>> square = '''
    ...   func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...     %y = arith.mulf %x, %x : tensor<?xf32>
    ...     return %y : tensor<?xf32>
    ...   }'''
    >>> numera.compile(square, format=clumsy)([1.0, 2.0]).tolist()
    [0.5, 4.0]
    """
    base = _formats.format(format)
    count = dict(_numera.operations()).get(operation)
    if count not in (1, 2) or operation in ("cast", "cmp", "isnan"):
        raise Error(
            f"a function in Python is for operations of one or two numbers that "
            f"give one, found '{operation}'"
        )
    if base.width * count > WIDEST:
        raise Error(
            f"format '{base.name}' has {base.width} bits, a function in Python of "
            f"{'one number' if count == 1 else 'two numbers'} is for at most "
            f"{WIDEST // count}"
        )
    if is_stochastic(base):
        raise Error(
            f"format '{base.name}' rounds stochastically, and a function in Python is "
            f"called once for its operands; name another rounding"
        )
    values = base.values()

    def register(function: Callable[..., Any]) -> Format:
        with np.errstate(all="ignore"):
            results = [
                _number(function, operands)
                for operands in itertools.product(values, repeat=count)
            ]
        codes = np.empty(len(results), np.uint64)
        base._registry.encode(base.name, np.array(results, np.float64), codes)
        path, symbol = _write(operation, base.width, count, codes)
        entry = {"op": operation, "format": base.name, "call": symbol}
        text = json.dumps(
            {"libraries": {symbol: {"path": path}}, "lowerings": [entry | _at(symbol)]}
        )
        source = Source(text, f"numera.lowering('{operation}')", os.getcwd())
        return _formats._make(base.name, (*base._sources, source))

    return register


def _number(function: Callable[..., Any], operands: Sequence[Any]) -> float:
    result = function(*operands)
    try:
        return float(result)  # of None NumPy would make a NaN
    except (TypeError, ValueError, OverflowError):
        name = getattr(function, "__name__", "the function")
        given = ", ".join(str(float(x)) for x in operands)
        raise Error(f"{name}({given}) is {result!r:.40}, expected a number") from None


def _at(symbol: str) -> dict[str, str]:
    return {"library": symbol, "target": "*"}


def _write(
    operation: str, width: int, count: int, codes: np.ndarray[Any, Any]
) -> tuple[str, str]:
    """A function in C that reads the table: the file, which is called after what
    is in it, and its name."""
    kind = "unsigned char" if width <= 8 else "unsigned short"
    parameters = ", ".join(f"{kind} {name}" for name in "xy"[:count])
    place = "x" if count == 1 else f"x << {width} | y"
    rows = ",\n".join(
        ", ".join(map(str, row)) for row in codes.reshape(-1, 2 ** min(width, 5))
    )
    text = f"static const {kind} table[] = {{\n{rows}}};\n"
    symbol = f"table_{operation}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"
    text += f"{kind} {symbol}({parameters}) {{ return table[{place}]; }}\n"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = pathlib.Path(cache, "numera", "python")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Complete or not at all: another process may write the same.
        with tempfile.NamedTemporaryFile("w", dir=folder, delete=False) as file:
            file.write(text)
        path = folder / f"{symbol}.c"
        os.replace(file.name, path)
    except OSError as error:
        raise Error(f"cannot write {folder}: {error.strerror}") from None
    return os.fspath(path), symbol
