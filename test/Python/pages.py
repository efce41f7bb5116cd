# SPDX-License-Identifier: MIT
"""Pages, as a parser and as a browser see them."""

import html
import html.parser
import json
import os
import re
import shutil
import subprocess

import pytest

THEMES = [(1, "rgb(252, 252, 253)"), (0, "rgb(17, 17, 19)")]
"""Light and dark, as Chromium's setting has it, and the colour of the paper."""


class Reader(html.parser.HTMLParser):
    """What a page loads, its ids, and the text of its headings of rows."""

    def __init__(self, text):
        super().__init__()
        self.loaded, self.ids, self.rows, self.data = [], [], [], ""
        self._inside = None
        self.text = text
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.loaded += [v for k, v in given.items() if k in ("src", "srcset")]
        if tag == "link":
            self.loaded.append(given.get("href"))
        if "id" in given:
            self.ids.append(given["id"])
        self._inside = tag
        if tag == "script" and given.get("type") == "application/json":
            self._inside = "data"
        if tag == "button" and "aria-controls" in given:
            self._inside = "row"

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside == "row":
            self.rows.append(data)
        if self._inside == "data":
            self.data += data

    def check(self):
        """Nothing is loaded, and ids are different."""
        assert all(each.startswith("data:") for each in self.loaded)
        style = self.text[: self.text.index("</style>")]
        assert not re.search(r"@import|url\(", style)
        assert len(self.ids) == len(set(self.ids))


def browsed(page, script, theme, folder):
    """What a script finds that is put at the end of a page: an object, in the text of
    an element `found`."""
    browser = shutil.which("chromium")
    if not browser:
        pytest.skip("no chromium")
    # Vega has "</body>" in a string.
    head, end, tail = page.read_text().rpartition("</body>")
    (folder / "checked.html").write_text(head + script + end + tail)
    # Chromium takes no sanitizer.
    environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
    done = subprocess.run(
        [
            browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'profile'}",
            f"--blink-settings=preferredColorScheme={theme}",
            "--virtual-time-budget=20000", "--dump-dom",
            f"file://{folder / 'checked.html'}",
        ],
        capture_output=True, text=True, check=True, timeout=120, env=environment,
    )  # fmt: skip
    match = re.search(r'<pre id="found">(.*?)</pre>', done.stdout)
    assert match, done.stdout[-2000:]
    return json.loads(html.unescape(match[1]))
