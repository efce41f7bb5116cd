# SPDX-License-Identifier: MIT
"""The man page and docs/Options.md have the options of the package's commands, which
tools/dev/generate-docs writes from their parsers."""

import pathlib
import re

import pytest
from numera.study import _command, _describe, _options

DOCS = pathlib.Path(__file__).parents[2] / "docs"
HINT = "tools/dev/generate-docs writes it, with NUMERA_PYTHON"
COMMANDS = _command._commands(_options.Parser(prog="numera"))


def test_the_man_page_is_current():
    page = (DOCS / "man/python-commands.1").read_text()
    head = re.match(r'(\.\\".*\n)+', page)[0]
    assert page.removeprefix(head) == _command.described(_describe.man), HINT


def test_the_page_of_options_is_current():
    page = (DOCS / "Options.md").read_text()
    begin, end = (
        "<!-- of the Python package -->\n",
        "<!-- end of the Python package -->\n",
    )
    text = page.partition(begin)[2].partition(end)[0]
    assert text == _command.described(_describe.markdown), HINT


@pytest.mark.parametrize("name", COMMANDS)
def test_each_option_is_there_once(name):
    text = COMMANDS[name].format_help().partition("\noptions:\n")[2]
    listed = re.findall(r"^  (-.*?)(?:  |$)", text, re.MULTILINE)
    # `--load F, --formats F` is one.
    last = [each.split(", ")[-1].split()[0] for each in listed]
    assert "--help" in last and len(last) >= 4
    page = _describe.man(name, COMMANDS[name])
    found = re.findall(r"^\\fB((?:\\-)+[a-z\\-]+)\\fR", page, re.MULTILINE)
    found = [each.replace("\\", "") for each in found]
    assert [*found, "--help"] == [
        *(each for each in last if each != "--help"),
        "--help",
    ]
    synopsis = page.splitlines()[1].replace("\\", "")
    assert synopsis.startswith(f".B numera {name} MODEL -")


def test_text_is_escaped():
    parser = _options.Parser(prog="numera")
    parser.description = ".a' b\\c\n'd"
    parser.add_argument("-x", "--ex", nargs="?", metavar="A|B", help="100%% of <b>|c…")
    page = _describe.man("one", parser)
    assert "\n\\&.a\\(aq b\\ec\n\\&\\(aqd\n" in page
    assert "\\fB\\-\\-ex\\fR \\fI[A|B]\\fR\n100% of <b>|c...; also \\-x\n" in page
    page = _describe.markdown("one", parser)
    assert "| `--ex [A or B]` | 100% of \\<b>\\|c…; also -x |" in page
