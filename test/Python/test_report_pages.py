# SPDX-License-Identifier: MIT
"""Pages of numera.report: they need nothing else, and a browser draws them."""

import json

import numera
import numpy as np
import pytest
from chains import X, chain
from marks import long
from pages import THEMES, Reader, browsed


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    for package in ("jinja2", "grandalf", "vl_convert"):
        pytest.importorskip(package)
    folder = tmp_path_factory.mktemp("page")
    names = ("conv <1>", "fc & 'co'", "</script>")
    numera.report(
        chain(names, random=np.random.default_rng(7)), inputs=X, format="posit8", accumulate="same",
        path=folder / "page.html",
    )  # fmt: skip
    return folder / "page.html"


def test_a_page_needs_nothing_else(page):
    read = Reader(page.read_text())
    read.check()
    assert read.rows == [
        "conv <1>", "conv <1>.act", "fc & 'co'", "fc & 'co'.act",
        "</script>", "</script>.act",
    ]  # fmt: skip
    assert [each["name"] for each in json.loads(read.data)["layers"]] == read.rows
    assert list(page.parent.iterdir()) == [page]


@long
def test_a_page_of_200_layers(page, tmp_path):
    names = [f"layer{i}" for i in range(100)]
    found = numera.report(
        chain(names, random=np.random.default_rng(7)),
        inputs=X,
        format="posit8",
        hints=0,
        path=tmp_path / "long.html",
    )
    assert len(found.layers) == 200
    assert (tmp_path / "long.html").stat().st_size < 2e6


def test_a_network_with_dense_connections_is_drawn_narrow():
    pytest.importorskip("grandalf")
    from numera.reports._graph import layout

    # Each layer of a block reads all before it.
    layers = [{"inputs": list(range(i // 20 * 20, i)) or [i - 1]} for i in range(1, 80)]
    layers.insert(0, {"inputs": []})
    places = layout(layers)
    assert max(place.x for place in places) < 15
    for i, layer in enumerate(layers):
        assert all(places[source].y < places[i].y for source in layer["inputs"])
    assert len(set(places)) == len(places)


CHECK = """<script>
setTimeout(() => {
  const rows = () => [...table.tBodies].map((body) => body.querySelector("th button"));
  const first = rows()[0];
  first.focus();
  first.click();
  const added = table.tHead.rows[0].cells[3];
  added.querySelector("button").click();
  const shown = rows().map((button) =>
    Number(button.closest("tr").cells[3].dataset.value));
  document.querySelector(".hints a").click();
  setTimeout(() => {
    const found = {
      boxes: document.querySelectorAll("#graph .role-mark.mark-rect path").length,
      expanded: first.getAttribute("aria-expanded"),
      bars: document.querySelectorAll(".histogram .mark-rect path").length,
      sorted: shown.every((value, i) => i === 0 || shown[i - 1] <= value),
      sort: added.getAttribute("aria-sort"),
      focused: document.activeElement.textContent,
      hint: document.querySelector(".hints a").textContent,
      paper: getComputedStyle(document.body).backgroundColor,
      nameless: [...document.querySelectorAll("button, select, img, [role=img]")]
        .filter((each) => !(each.textContent || each.ariaLabel || each.alt)).length,
    };
    document.body.innerHTML = "<pre id=found></pre>";
    document.getElementById("found").textContent = JSON.stringify(found);
  }, 1500);
}, 1500);
</script>"""


@pytest.mark.parametrize("theme, paper", THEMES)
def test_a_browser_draws_it(page, tmp_path, theme, paper):
    found = browsed(page, CHECK, theme, tmp_path)
    assert found["boxes"] == 6
    assert found["expanded"] == "true" and found["bars"] > 5
    assert found["sorted"] and found["sort"] == "ascending"
    assert found["focused"] == found["hint"]
    assert found["nameless"] == 0
    assert found["paper"] == paper
