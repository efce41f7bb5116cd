# SPDX-License-Identifier: MIT
"""The blocks of a page: code between fences, and what is indented by four columns."""

import re
from typing import NamedTuple

FENCE = re.compile(r"( *)```(\S*)$")
# A list or a table inside of a list is indented, and is no code.
PROSE = re.compile(r"[|*] ")
NAMED = re.compile(r"(?:#|//|/\*|;;) ([\w.-]+\.\w+)(?: \*/)?\n")


class Block(NamedTuple):
    line: int
    language: str
    text: str

    def name(self):
        """The file that the block is, by the comment in its first line."""
        found = NAMED.match(self.text)
        return found and found[1]


def blocks(text):
    lines = text.splitlines(keepends=True)
    number = 0
    while number < len(lines):
        begin = number
        if fence := FENCE.match(lines[number].rstrip("\n")):
            number += 1
            while lines[number].strip() != "```":
                number += 1
            language, body = fence[2] or "plain", lines[begin + 1 : number]
            number += 1
            begin += 1
        elif lines[number].startswith("    ") and (
            not begin or lines[begin - 1] == "\n"
        ):
            while number < len(lines) and lines[number].startswith("    "):
                number += 1
            language, body = "indented", lines[begin:number]
        else:
            number += 1
            continue
        margin = len(fence[1]) if fence else 4
        inner = "".join(line[margin:] if line.strip() else line for line in body)
        if language == "indented":
            if PROSE.match(inner):
                continue
            language = "console" if inner.startswith("$ ") else language
        yield Block(begin + 1, language, inner)
