# SPDX-License-Identifier: MIT
"""A hook of mkdocs (mkdocs.yml): pages and files outside docs/.

On GitHub, pages link to files anywhere in the tree. On the site, the README, the
changelog and the examples are pages, and any other file that a page links to is
copied to source/. Links are rewritten; the files stay as they are.
"""

import posixpath
import re
from pathlib import Path

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
# Pages outside docs/, by their places on the site.
PAGES = {"index.md": "README.md"} | {
    path: path
    for path in [
        "CHANGELOG.md",
        "CONTRIBUTING.md",
        "bench/README.md",
        "test/Emulation/README.md",
    ]
    + sorted(str(each.relative_to(ROOT)) for each in ROOT.glob("examples/*/README.md"))
}
PLACES = {source: place for place, source in PAGES.items()}
LINK = re.compile(r"(?<!\!)\[([^\]]*)\]\(([^)\s#]*)(#[^)\s]*)?\)")
CODE = re.compile(r"^(```|~~~)")

added = {}


def source_of(place):
    """The file in the tree that is a page of the site."""
    return PAGES.get(place) or "docs/" + place


def place_of(source):
    """Where a file of the tree is on the site; None for a folder without a page."""
    if (ROOT / source).is_dir():
        source = posixpath.join(source, "README.md")
        if not (ROOT / source).exists():
            return None
    if source in PLACES:
        return PLACES[source]
    if source.startswith("docs/"):
        return source.removeprefix("docs/")
    return "source/" + source + (".txt" if source.endswith(".md") else "")


def on_files(files, config):
    added.clear()
    for place, source in PAGES.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text()))
    for file in files.documentation_pages():
        for link in links_of((ROOT / source_of(file.src_uri)).read_text()):
            target = target_of(file.src_uri, link)
            place = target and place_of(target)
            if place and place.startswith("source/") and place not in added:
                added[place] = target
    for place, source in added.items():
        files.append(File.generated(config, place, abs_src_path=str(ROOT / source)))
    return files


def links_of(text):
    return [match[2] for match in LINK.finditer(text) if match[2]]


def target_of(place, link):
    """The file in the tree that a link means; None of one to elsewhere."""
    if re.match(r"[a-z]+:", link) or not link:
        return None
    folder = posixpath.dirname(source_of(place))
    target = posixpath.normpath(posixpath.join(folder, link))
    if not (ROOT / target).exists():
        raise PluginError(f"{source_of(place)}: '{link}' is no file of the tree")
    return target


def on_page_markdown(markdown, page, **_):
    """Links as they are on the site."""
    place = page.file.src_uri

    def rewritten(match):
        text, link, anchor = match[1], match[2], match[3] or ""
        target = target_of(place, link)
        if target is None:
            return match[0]
        new = place_of(target)
        if new is None:
            return text
        return f"[{text}]({posixpath.relpath(new, posixpath.dirname(place) or '.')}{anchor})"

    lines, is_code = [], False
    for line in markdown.split("\n"):
        if CODE.match(line):
            is_code = not is_code
        indented = line.startswith("    ")
        lines.append(line if is_code or indented else LINK.sub(rewritten, line))
    return "\n".join(lines)
