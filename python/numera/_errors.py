# SPDX-License-Identifier: MIT
"""The exception of the package."""


class Error(Exception):
    """What Numera refuses, in one line: what was found and what was expected.

    The line is the one that the command line prints.
    """


# As users know it.
Error.__module__ = "numera"
