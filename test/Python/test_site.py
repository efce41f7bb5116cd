# SPDX-License-Identifier: MIT
"""The documentation as a site: every page, and no warning."""

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

ROOT = Path(__file__).parents[2]


class Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        if values.get("id"):
            self.anchors.add(values["id"])
        for key in ("href", "src"):
            if values.get(key):
                self.links.append(values[key])


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    pytest.importorskip("material", reason="mkdocs-material is not installed")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)],
        cwd=ROOT,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr, done.stderr
    return folder


def test_every_page_is_there(site):
    for page in (ROOT / "docs").rglob("*.md"):
        place = page.relative_to(ROOT / "docs").with_suffix(".html")
        # A README is the index of its folder.
        if place.name == "README.html":
            place = place.with_name("index.html")
        assert (site / place).exists(), page


def test_every_page_has_its_name_in_the_navigation(site):
    names = re.findall(
        r"^ +- ([^:\n]+): \S+\.md$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE
    )
    text = (site / "index.html").read_text()
    found = set(
        re.findall(r'class="md-nav__link[^>]*>\s*<span[^>]*>\s*([^<]*?)\s*<', text)
    )
    assert len(names) > 30 and set(names) <= found, set(names) - found


def test_links_lead_somewhere_and_nothing_is_loaded_from_elsewhere(site):
    pages = {page: Links(page.read_text()) for page in site.rglob("*.html")}
    assert len(pages) > 50
    for page, found in pages.items():
        if page.name == "404.html":
            continue
        for link in found.links:
            if re.match(r"(https?|mailto|data):", link):
                continue
            path, _, anchor = link.partition("#")
            target = (page.parent / unquote(path)).resolve() if path else page
            if target.is_dir():
                target /= "index.html"
            assert target.exists(), f"{page.relative_to(site)}: {link}"
            if anchor and target in pages and not anchor.startswith("__"):
                assert unquote(anchor) in pages[target].anchors, (
                    f"{page.relative_to(site)}: {link}"
                )
        loaded = re.findall(
            r'<(?:script|link|img)[^>]*(?:src|href)="(https?:[^"]*)', page.read_text()
        )
        assert not loaded, f"{page.relative_to(site)} loads {loaded}"


@pytest.mark.parametrize("word", ["takum", "numera-retype", "testfloat", "stochastic"])
def test_the_index_finds_pages(site, word):
    index = json.loads((site / "search/search_index.json").read_text())
    assert any(word in entry["text"].lower() for entry in index["docs"]), word
