# SPDX-License-Identifier: MIT
"""Numera: number formats, and models computed in them.

>>> import numera
>>> numera.format("posit16").spelling
'posit<16,2>'
"""

from numera import _numera
from numera._calls import Function, Tensor
from numera._errors import Error
from numera._families import block, fixed, float, lns, posit, scaled, takum
from numera._finfo import FormatInfo
from numera._formats import Code, Format, ScaledFormat, Table, format, formats, load
from numera._programs import Program, Statistics, compile, open
from numera._register import register

__version__: str = _numera.version()

__all__ = [
    "Code",
    "Error",
    "Format",
    "FormatInfo",
    "Function",
    "Program",
    "ScaledFormat",
    "Statistics",
    "Table",
    "Tensor",
    "block",
    "compile",
    "fixed",
    "float",
    "format",
    "formats",
    "lns",
    "load",
    "open",
    "posit",
    "register",
    "scaled",
    "takum",
]
