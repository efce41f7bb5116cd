# SPDX-License-Identifier: MIT
"""Numera: number formats, and models computed in them.

>>> import numera
>>> numera.format("posit16").spelling
'posit<16,2>'
"""

from numera import _numera
from numera._errors import Error
from numera._families import fixed, float, lns, posit, takum
from numera._formats import Format, format, load
from numera._programs import Function, Program, Tensor, compile, open

__version__: str = _numera.version()

__all__ = [
    "Error",
    "Format",
    "Function",
    "Program",
    "Tensor",
    "compile",
    "fixed",
    "float",
    "format",
    "lns",
    "load",
    "open",
    "posit",
    "takum",
]
