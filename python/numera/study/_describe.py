# SPDX-License-Identifier: MIT
"""The options of a command as a section of the man page and of docs/Options.md, in the
form in which the tool in C++ describes its own (tools/numera/Support/Describe.cpp)."""

from __future__ import annotations

import argparse
import re

__all__ = ["man", "markdown"]


def man(name: str, parser: argparse.ArgumentParser) -> str:
    """A section in the language of man pages."""
    lines = [
        f".SH NUMERA {name.upper()}",
        f".B {_escaped(_synopsis(name, parser))}",
        ".PP",
        _escaped(parser.description or ""),
    ]
    for option in _options(parser):
        value = _value(option)
        shown = f"\\fB{_escaped(_name(option))}\\fR"
        lines += [
            ".TP",
            f"{shown} \\fI{_escaped(value)}\\fR" if value else shown,
            _escaped(_help(option)),
        ]
    return "\n".join(lines) + "\n"


def markdown(name: str, parser: argparse.ArgumentParser) -> str:
    """A section of a page, with a table."""
    lines = [
        "",
        f"## `numera {name}`",
        "",
        f"    {_synopsis(name, parser)}",
        "",
        _in_cell(parser.description or ""),
        "",
        "| option | meaning |",
        "|---|---|",
    ]
    for option in _options(parser):
        value = _value(option).replace("|", " or ")  # even in code
        shown = f"{_name(option)} {value}".strip()
        lines.append(f"| `{shown}` | {_in_cell(_help(option))} |")
    return "\n".join([*lines, "| `--help` | print these options |", ""])


def _options(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All but ``--help``."""
    return [
        each
        for each in parser._actions
        if each.option_strings and "--help" not in each.option_strings
    ]


def _synopsis(name: str, parser: argparse.ArgumentParser) -> str:
    """`numera import MODEL -o OUT.mlir [options]`."""
    words = [str(each.metavar) for each in parser._actions if not each.option_strings]
    for option in _options(parser):
        if option.required:
            words += [_name(option), _value(option)]
    return " ".join(["numera", name, *words, "[options]"])


def _name(option: argparse.Action) -> str:
    """The last one: an option may have an older name before it."""
    return option.option_strings[-1]


def _value(option: argparse.Action) -> str:
    if option.nargs == 0:
        return ""
    value = str(option.metavar or option.dest.upper())
    if option.nargs == "+":
        return f"{value} …"
    return f"[{value}]" if option.nargs == "?" else value


def _help(option: argparse.Action) -> str:
    also = ", ".join(option.option_strings[:-1])
    text = (option.help or "").replace("%%", "%")
    return f"{text}; also {also}" if also else text


def _escaped(text: str) -> str:
    """For man; at the start of a line, a point or a quote is a request."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = text.replace("…", "...")
    return re.sub(r"^(?=[.]|\\\(aq)", r"\\&", text, flags=re.MULTILINE)


def _in_cell(text: str) -> str:
    """A bar would end a cell of a table."""
    return re.sub(r"([|<])", r"\\\1", text)
