# SPDX-License-Identifier: MIT
"""The page of a search: what was tried, and what was chosen."""

import itertools
import json

import numera
import numpy as np
import pytest
from numera.study._command import main
from pages import THEMES, Reader, browsed
from studies import perceptron

for package in ("optuna", "jinja2", "grandalf", "vl_convert"):
    pytest.importorskip(package)

RANDOM = np.random.default_rng(2)
SIZES = (6, 8, 5, 4)
WEIGHTS = [RANDOM.normal(size=pair).astype("f4") for pair in itertools.pairwise(SIZES)]
X = RANDOM.normal(size=(60, 6)).astype("f4")
FORMATS = ["float<4,1..3>", "f16"]


@pytest.fixture(scope="module")
def found():
    return numera.search(
        perceptron(*WEIGHTS), formats=FORMATS, inputs=X, metric="rmse", budget=9,
        trials=6, optimization=0,
    )  # fmt: skip


@pytest.fixture(scope="module")
def page(found, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    found.page(folder / "page.html")
    assert list(folder.iterdir()) == [folder / "page.html"]
    return folder / "page.html"


def test_a_page_has_what_was_found_and_needs_nothing_else(page, found):
    read = Reader(page.read_text())
    read.check()
    assert read.rows == [str(n + 1) for n in range(len(found))]
    data = json.loads(read.data)
    (line, points) = (each["data"]["values"] for each in data["trials"]["layer"])
    assert [(p["cost"], p["value"]) for p in points] == [
        (trial.cost, trial.value) for trial in found
    ]
    assert [p["trial"] for p in points if p["what"] == "best"] == [
        found.trials.index(found.best)
    ]
    assert [(p["cost"], p["value"]) for p in line] == [
        (trial.cost, trial.value) for trial in found.pareto()
    ]
    cells = data["noises"]["data"]["values"]
    assert len(cells) == 3 * 4
    chosen = {cell["layer"]: cell["format"] for cell in cells if cell["chosen"]}
    assert chosen == {row["name"]: row["format"] for row in found.layers()}
    own = {cell["layer"]: cell["own"] for cell in cells if cell["chosen"]}
    assert own == {row["name"]: row["own_sqnr_db"] for row in found.layers()}
    assert page.stat().st_size < 2e6


def test_a_page_tells_how_to_do_it_again(page, found):
    text = page.read_text()
    policy = text.partition('aria-label="policy">')[2].partition("</pre>")[0]
    assert (
        policy.replace("&#34;", '"').replace("&lt;", "<").replace("&gt;", ">")
        == found.yaml()
    )
    for words in (found.origin.digest, "<dt>seed</dt><dd>0</dd>", "<dt>budget</dt>"):
        assert words in text


CHECK = """<script>
setTimeout(() => {
  const button = table.tBodies[0].querySelector("th button");
  button.focus();
  button.click();
  const metric = table.tHead.rows[0].cells[2];
  metric.querySelector("button").click();
  const shown = [...table.tBodies].map((body) =>
    Number(body.rows[0].cells[2].dataset.value));
  const points = document.querySelectorAll("#trials .mark-symbol.role-mark path");
  const found = {
    points: points.length,
    fronts: document.querySelectorAll("#trials .mark-line path").length,
    cells: document.querySelectorAll("#noises .mark-rect.role-mark path").length,
    expanded: button.getAttribute("aria-expanded"),
    layers: document.getElementById(button.getAttribute("aria-controls")).innerText,
    sorted: shown.every((value, i) => i === 0 || shown[i - 1] <= value),
    paper: getComputedStyle(document.body).backgroundColor,
    wide: document.documentElement.scrollWidth <= innerWidth,
    nameless: [...document.querySelectorAll("button, select, img, [role=img]")]
      .filter((each) => !(each.textContent || each.ariaLabel || each.alt)).length,
  };
  document.body.innerHTML = "<pre id=found></pre>";
  document.getElementById("found").textContent = JSON.stringify(found);
}, 2500);
</script>"""


@pytest.mark.parametrize("theme, paper", THEMES)
def test_a_browser_draws_it(page, found, tmp_path, theme, paper):
    seen = browsed(page, CHECK, theme, tmp_path)
    assert seen["points"] == len(found)
    assert seen["fronts"] == 1
    assert seen["cells"] == 3 * 4 + 3  # with a frame for each layer
    assert seen["expanded"] == "true" and "fc1: " in seen["layers"]
    assert seen["sorted"] and seen["wide"] and not seen["nameless"]
    assert seen["paper"] == paper


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.onnx").write_bytes(perceptron(*WEIGHTS))
    np.save(tmp_path / "x.npy", X)

    def command(*words):
        given = ["--input", "x.npy", "--formats", "float<4,2..3>", "--metric", "rmse"]
        more = ["--budget", "7.5", "--trials", "2", "--optimization", "0"]
        return main(["search", "net.onnx", *given, *more, *words])

    assert command("--report", "page.html") == 0
    text = (tmp_path / "page.html").read_text()
    assert "<h1>net.onnx" in text and "with at most 7.5 bits of a weight" in text
    assert command("--report", "no/page.html") == 1
    said = capsys.readouterr().err
    assert "cannot write no/page.html: no folder no" in said and said.count("\n") == 1
