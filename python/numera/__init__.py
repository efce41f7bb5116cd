# SPDX-License-Identifier: MIT
"""Numera: number formats, and models computed in them.

>>> import numera
>>> numera.format("posit16").spelling
'posit<16,2>'
"""

from numera import _numera
from numera._array import Array, array
from numera._arrays import decode, encode, quantize
from numera._calls import Function, Tensor
from numera._errors import Error
from numera._families import block, fixed, float, lns, posit, scaled, takum
from numera._finfo import FormatInfo
from numera._formats import Code, Format, ScaledFormat, Table, format, formats, load
from numera._functions import mean, sum
from numera._import import import_model
from numera._kernels import stochastic
from numera._lowering import lowering
from numera._products import dot, matmul
from numera._programs import Program, Statistics, compile, open
from numera._quires import merge_quires, quire_words, round_quires
from numera._register import register
from numera._scaled import Scaled
from numera._scans import einsum
from numera.reports import Report, report
from numera.study import Cost, Search, Sweep, cost, search, sweep

__version__: str = _numera.version()

__all__ = [
    "Array",
    "Code",
    "Cost",
    "Error",
    "Format",
    "FormatInfo",
    "Function",
    "Program",
    "Report",
    "Scaled",
    "ScaledFormat",
    "Search",
    "Statistics",
    "Sweep",
    "Table",
    "Tensor",
    "array",
    "block",
    "compile",
    "cost",
    "decode",
    "dot",
    "einsum",
    "encode",
    "fixed",
    "float",
    "format",
    "formats",
    "import_model",
    "lns",
    "load",
    "lowering",
    "matmul",
    "mean",
    "merge_quires",
    "open",
    "posit",
    "quantize",
    "quire_words",
    "register",
    "report",
    "round_quires",
    "scaled",
    "search",
    "stochastic",
    "sum",
    "sweep",
    "takum",
]
