# SPDX-License-Identifier: MIT
"""What a report says in words: of each layer, and whether a format suffices."""

import json
import math

import numera
import numpy as np
import pytest
from chains import NAMES, X, chain
from numera.reports._measure import Measured, measure
from numera.reports._words import about, own_ulps, verdict

MODEL = chain(NAMES, random=np.random.default_rng(5))
ROUNDS = """func.func @net(%x: tensor<?xf32>) -> tensor<?xf32> {
  %y = math.absf %x : tensor<?xf32> loc("rounds")
  return %y : tensor<?xf32>
}"""


def said(policy, **options):
    found = numera.report(MODEL, inputs=X, policy=policy, hints=0, **options)
    return found, {layer["name"]: about(layer) for layer in found.layers}


@pytest.mark.parametrize("format", ["bf16", "posit16", "f8E4M3FN", "lns<6,9>"])
def test_rounding_alone_makes_29_hundredths_of_an_ulp(format):
    x = np.random.default_rng(2).uniform(0.5, 16, 5000).astype("f4")
    (layer,) = numera.compile(ROUNDS, format=format).layers(x)
    # 1 over the root of 12; more where small numbers of a binade have large errors.
    assert own_ulps(layer) == pytest.approx(1 / math.sqrt(12), rel=0.1)
    assert about(layer).endswith(f" ulp of {layer['format']}: as good as it allows")


def test_a_layer_is_as_good_as_its_format_allows_but_for_a_wrong_accumulator():
    policy = {"default": "posit16", "accumulate": "f32"}
    found, words = said(policy)
    for layer in found.layers:
        assert own_ulps(layer) <= 1
        assert "as good as it allows" in words[layer["name"]]
    rule = {"match": "third", "format": "posit16", "accumulate": "posit<8,0>"}
    found, words = said({**policy, "rules": [rule]})
    (third,) = (layer for layer in found.layers if layer["name"] == "third")
    lost = third["input_sqnr_db"] - third["sqnr_db"]
    assert lost > 20
    assert words["third"].endswith(f" ulp of posit16, loses {lost:.0f} dB here")
    assert "as good as it allows" in words["second"]


def test_of_numbers_out_of_range_that_is_said():
    rule = {"match": "second", "format": "float<2,5>"}
    policy = {"default": "posit16", "accumulate": "f32", "rules": [rule]}
    assert said(policy)[1]["second"].startswith("overflows in ")
    exact = numera.compile(ROUNDS, format="f32").layers(np.ones(4, "f4"))
    assert about(exact[0]) == "exact"


@pytest.mark.parametrize(
    ("sqnr", "nan", "same", "start"),
    [
        (20, 0, (98, 100), "suffices: 98 of 100 rows have their largest output where"),
        (19.9, 0, (100, 100), "nearly suffices: 100 of 100"),
        (50, 0, (97, 100), "nearly suffices: 97 of 100"),
        (9, 0, (100, 100), "does not suffice: 100 of 100"),
        (50, 0, (94, 100), "does not suffice: 94 of 100"),
        (50, 0.001, (100, 100), "does not suffice: 0.10% of the outputs are NaN or"),
        (30, 0, None, "suffices: SQNR of the outputs 30.0 dB"),
        (29.9, 0, None, "nearly suffices: SQNR of the outputs 29.9 dB"),
        (19, 0, None, "does not suffice: SQNR"),
        (math.inf, 0, None, "suffices: SQNR of the outputs inf dB"),
        (-math.inf, 1, None, "does not suffice: 100.00% of"),
    ],
)
def test_a_verdict_is_by_the_outputs(sqnr, nan, same, start):
    assert verdict(Measured(sqnr, nan, None, same)).startswith(start)


def test_rows_with_the_same_answer_are_counted():
    exact = np.array([[1, 2], [2, 1], [np.nan, 1], [0, 3]], "f4")
    found = np.array([[1, 2], [1, 2], [5, np.nan], [np.inf, 3]], "f4")
    assert measure((found,), (exact,), None, None).same == (1, 4)
    for shape in [(4,), (4, 1), (4, 2, 2)]:
        ones = np.ones(shape, "f4")
        assert measure((ones,), (ones,), None, None).same is None


def test_a_report_has_the_verdict_in_print_in_json_and_on_its_page():
    found, words = said({"default": "bf16"})
    rows = (found.found.same or ())[0]
    start = ("suffices", "nearly suffices", "does not suffice")
    assert found.verdict().startswith(start) and f"{rows} of 32 rows" in found.verdict()
    assert str(found).splitlines()[1] == f"  {found.verdict()}"
    assert json.loads(found.json())["verdict"] == found.verdict()
    for package in ("jinja2", "grandalf", "vl_convert"):
        pytest.importorskip(package)
    page = found.html()
    assert f"<strong>This {found.verdict()}.</strong>" in page
    for text in words.values():
        assert f'<td class="words">{text}</td>' in page


def test_rows_without_numbers_in_f32_are_said():
    dynamic = """func.func @net(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %y = arith.mulf %x, %x : tensor<?x4xf32> loc("square")
      return %y : tensor<?x4xf32>
    }"""
    x = np.arange(12, dtype="f4").reshape(3, 4)
    assert numera.report(dynamic, inputs=x, format="bf16", hints=0).notes == []
    x[1] = np.nan
    found = numera.report(dynamic, inputs=x, format="bf16", hints=0)
    end = "have NaN or infinities in f32, which are compared with nothing"
    assert found.notes == [f"1 of 3 rows {end}; look at the inputs"]
    assert found.found.same == (2, 2)
    x = X.copy()
    x[3] = np.nan
    whole = numera.report(MODEL, inputs=x, format="bf16", hints=0)
    assert whole.notes == [f"the outputs {end}; look at the inputs"]


def test_a_hint_of_json_is_a_whole_policy():
    found = numera.report(MODEL, inputs=X, format="posit8", hints=2)
    for said, hint in zip(json.loads(found.json())["hints"], found.hints, strict=True):
        assert said["policy"] == {"default": "posit8", **hint.policy}
