# SPDX-License-Identifier: MIT
"""Look at a page of a format: page.py FILE NAME CODES."""

import re
import sys
from html.parser import HTMLParser


class Reader(HTMLParser):
    """The tags that are open, and what is in cells and code."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], {}

    def handle_starttag(self, tag, attributes):
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if self.open.pop() != tag:
            sys.exit(f"</{tag}> closes another element")

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)


path, name, codes = sys.argv[1:]
reader = Reader()
with open(path) as file:
    page = file.read()
reader.feed(page)
if reader.open or reader.text["h1"] != [name] or name not in reader.text["td"]:
    sys.exit(f"{reader.open} {reader.text['h1']}")
if "<svg" not in page or re.search(r"(src|href)=.http", page):
    sys.exit("no picture, or one from elsewhere")
found = "".join(reader.text.get("pre", [])).strip().splitlines()
if len(found) != int(codes):
    sys.exit(f"{len(found)} codes, expected {codes}")
