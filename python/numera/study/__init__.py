# SPDX-License-Identifier: MIT
"""Sweeps and searches: one model in many formats (docs/Sweeps.md, Search.md).

>>> from numera import study
>>> [str(each) for each in study.expand("posit<6..7,0..1>", "mxfp4")]
['posit<6,0>', 'posit<6,1>', 'posit<7,0>', 'posit<7,1>', 'mxfp4']
"""

from numera.study._costs import Cost, cost
from numera.study._data import read
from numera.study._found import Search, Trial
from numera.study._ranges import expand
from numera.study._result import Row, Sweep
from numera.study._run import sweep
from numera.study._search import search
from numera.study._tables import HOROWITZ_2014, JOUPPI_2021

__all__ = [
    "HOROWITZ_2014",
    "JOUPPI_2021",
    "Cost",
    "Row",
    "Search",
    "Sweep",
    "Trial",
    "cost",
    "expand",
    "read",
    "search",
    "sweep",
]
