# SPDX-License-Identifier: MIT
"""Sweeps: a model in many formats, measured."""

import numera
import numpy as np
import pytest
from numera import study
from numera.study import Row, Sweep
from studies import LABELS, LAYER, WEIGHTED, W, X, kept, square


def names(*patterns):
    return [each.name for each in study.expand(*patterns)]


def test_ranges_are_every_member_that_is_a_format():
    assert names("float<4..5,1..2>") == [
        "float<4,1>",
        "float<4,2>",
        "float<5,1>",
        "float<5,2>",
    ]
    assert names("posit<6..8,4..9>") == ["posit<6,4>", "posit<7,4>", "posit<8,4>"]
    assert names("float<4,3,bias=-1..1>") == [
        f"float<4,3,bias={bias}>" for bias in (-1, 0, 1)
    ]
    assert names("block<float<2..3,1>,16..17>")[-1] == "block<float<3,1>,17>"
    assert names("i8", "u4", "scaled<i8>") == [
        "fixed<7,0>",
        "fixed<4,0,unsigned>",
        "scaled<i8>",
    ]
    # The sweep of the documentation: 3 · 10 and 11 · 3.
    assert len(names("float<4..6,1..10>", "posit<6..16,0..2>")) == 63


def test_a_format_is_listed_once():
    assert names("f16", "float<5,10>", numera.posit(8), "posit<8,2>") == [
        "f16",
        "posit<8,2>",
    ]


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        (
            "flaot<4..6,1>",
            "no member of 'flaot<4..6,1>' is a format: in 'flaot<4,1>': unknown family",
        ),
        ("float<6..4,1>", "in 'float<6..4,1>': the range 6..4 is empty"),
        (
            "float<4..,1>",
            "in 'float<4..,1>': a range is two whole numbers with '..' between them",
        ),
        ("float<4...6,1>", "a range is two whole numbers"),
        ("float<1..200,1..200>", "has 40000 members, expected at most 10000"),
        ("posit61", "unknown format 'posit61', did you mean 'posit<61,2>'?"),
    ],
)
def test_a_wrong_pattern_is_one_line(pattern, line):
    with pytest.raises(numera.Error) as error:
        study.expand(pattern)
    assert line in str(error.value)
    assert "\n" not in str(error.value)


def test_values_are_those_of_programs_that_are_called():
    found = numera.sweep(
        LAYER,
        formats=["float<4,2..3>", "posit8", "mxfp8"],
        inputs=[X, W],
        labels=LABELS,
        accumulate=["same", "f32"],
        rounding=[None, "toward-zero"],
        batch=40,
        workers=2,
    )
    assert len(found) == found.computed == 4 * 2 * 2
    for row in found:
        assert row.error is None
        plain = row.rounding == "nearest-even"
        layer = numera.compile(
            LAYER,
            format=row.format,
            accumulate=row.accumulate,
            rounding=None if plain else row.rounding,
        )
        assert row.value == np.mean(layer(X, W).argmax(1) == LABELS)
    assert {row.format: row.bits for row in found} == {
        "float<4,2>": 7,
        "float<4,3>": 8,
        "posit8": 8,
        "mxfp8": 8.25,
    }
    assert [row.accumulate for row in found[:4]] == ["same", "same", "f32", "f32"]


def test_a_stochastic_row_does_not_depend_on_the_batch():
    values = {
        numera.sweep(
            LAYER,
            formats="float<4,3>",
            inputs=[X, W],
            metric="rmse",
            rounding="stochastic",
            batch=batch,
            seed=3,
        )[0].value
        for batch in (150, 64, 7)
    }
    layer = numera.compile(LAYER, format="float<4,3>", rounding="stochastic", seed=3)
    error = layer(X, W).astype("f8") - numera.compile(LAYER)(X, W).astype("f8")
    assert values == {np.sqrt(np.mean(error**2))}


def test_rows_that_need_each_other_stay_together():
    # x / sum of |x| of its column, for which 64 rows are not enough.
    text = """
    func.func @f(%x: tensor<?x6xf32>) -> tensor<?x6xf32> {
      %zero = arith.constant dense<0.0> : tensor<6xf32>
      %s = linalg.generic {
          indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>],
          iterator_types = ["reduction", "parallel"]}
          ins(%x : tensor<?x6xf32>) outs(%zero : tensor<6xf32>) {
      ^bb0(%e: f32, %sum: f32):
        %a = math.absf %e : f32
        %n = arith.addf %sum, %a : f32
        linalg.yield %n : f32
      } -> tensor<6xf32>
      %y = linalg.generic {
          indexing_maps = [affine_map<(r, c) -> (r, c)>, affine_map<(r, c) -> (c)>,
                           affine_map<(r, c) -> (r, c)>],
          iterator_types = ["parallel", "parallel"]}
          ins(%x, %s : tensor<?x6xf32>, tensor<6xf32>) outs(%x : tensor<?x6xf32>) {
      ^bb0(%e: f32, %sum: f32, %out: f32):
        %d = arith.divf %e, %sum : f32
        linalg.yield %d : f32
      } -> tensor<?x6xf32>
      return %y : tensor<?x6xf32>
    }
    """
    expected = X / np.abs(X).sum(0)
    given = {"formats": "f32", "inputs": X, "labels": expected, "metric": "rmse"}
    assert numera.sweep(text, **given)[0].value < 1e-6
    assert numera.sweep(text, batch=64, **given)[0].value > 1e-3  # as was asked


def test_scale_rules_and_scales_and_roles():
    # In one call, since scales are of all its rows.
    given = {"inputs": [X, W], "labels": LABELS, "batch": len(X)}
    found = numera.sweep(
        LAYER, formats=["mxfp4", "nvfp4", "posit8"],
        scale_rule=["floor", "ceil", "absmax"], **given,
    )  # fmt: skip
    # nvfp4 has scales of its tensor, which go with absmax alone.
    names = [row.spelling for row in found]
    block = "block<float<2,1,finite>,32"
    assert names[1:3] == [f"{block},rule=ceil>", f"{block},rule=absmax>"]
    assert names[0] == numera.format("mxfp4").spelling
    assert names[3:] == [numera.format(each).spelling for each in ("nvfp4", "posit8")]
    for row in found:
        layer = numera.compile(LAYER, format=row.spelling)
        assert row.value == np.mean(layer(X, W).argmax(1) == LABELS)
    assert len({row.value for row in found[:3]}) > 1

    found = numera.sweep(
        WEIGHTED, formats="f8E4M3FN", scale=["none", "per-channel", "block(3)"],
        roles=["weights", "activations+weights", None], accumulate="f32",
        rounding="toward-zero", **given,
    )  # fmt: skip
    assert [(row.scale, row.roles) for row in found[:4]] == [
        ("none", "weights"),
        ("none", "weights+activations"),
        ("none", None),
        ("per-channel", "weights"),
    ]
    assert [row.bits for row in found] == [8] * 6 + [8 + 8 / 3] * 3
    code = numera.format("f8E4M3FN", rounding="toward-zero")
    for row in found:
        if row.roles is None:
            policy = {"default": code, "scale": row.scale}
        else:
            roles = row.roles.split("+")
            scales = dict.fromkeys(roles, row.scale)
            policy = {"default": "f32", "scale": scales, **dict.fromkeys(roles, code)}
        layer = numera.compile(WEIGHTED, policy=policy, accumulate="f32")
        assert row.value == np.mean(layer(X, W).argmax(1) == LABELS), row
    # Weights alone in the format, by hand.
    assert found[0].value == np.mean((X @ numera.quantize(W, code)).argmax(1) == LABELS)
    assert "scale" in str(found) and "weights+activations" in str(found)


def test_a_fixed_batch_is_filled_up():
    x = np.arange(10, dtype="f4").reshape(5, 2)
    seen = []

    def last(outputs, labels):
        seen.append(outputs)
        return outputs[-1, -1]

    (row,) = numera.sweep(square("2x2"), formats="f64", inputs=x, metric=last)
    assert row.value == 81
    np.testing.assert_array_equal(seen[0], x * x)
    whole = numera.sweep(square("5x2"), formats="f64", inputs=x, metric=last)
    assert whole[0].value == 81


def test_labels_are_found_among_the_largest():
    nan = float("nan")
    scores = np.array(
        [[1, 3, 3, 0, 0, 0], [3, 3, 1, 0, 0, 0], [nan, 1, 2, 3, 4, 5], [nan] * 6], "f4"
    )
    # Of equal ones the first counts; a NaN never does.
    for labels, top1, top5 in [
        ([1, 0, 5, 0], 3 / 4, 3 / 4),
        ([2, 1, 0, 1], 0, 2 / 4),
        ([5, 5, 1, 2], 0, 1 / 4),
    ]:
        for metric, share in (("top1", top1), ("top5", top5)):
            moves = "func.func @f(%x: tensor<?x6xf32>) -> tensor<?x6xf32> "
            (row,) = numera.sweep(
                moves + "{ return %x : tensor<?x6xf32> }",
                formats="f32",
                inputs=scores,
                labels=np.array(labels),
                metric=metric,
            )
            assert row.value == share, (metric, labels)


def test_one_batch_of_a_fixed_size_has_labels_for_its_rows():
    same = "func.func @f(%x: tensor<3x2xf32>) -> tensor<3x2xf32> "
    given = {"formats": "f32", "inputs": np.eye(3, 2, dtype="f4")}
    model = same + "{ return %x : tensor<3x2xf32> }"
    assert numera.sweep(model, labels=[0, 1, 1], **given)[0].value == 2 / 3
    with pytest.raises(numera.Error, match="^2 labels, expected one for each of 3 r"):
        numera.sweep(model, labels=[0, 1], **given)
    found = numera.report(model, labels=[0, 1, 1], metric="top1", format="bf16",
                          inputs=given["inputs"], hints=0)  # fmt: skip
    assert found.reference_metric == 2 / 3


def test_rmse_is_from_labels_or_from_f32():
    x = np.array([1.0625, 3, 500], "f4")
    # float<4,3> rounds 1.0625 to 1, and 500 to infinity; finite ones saturate.
    (row,) = numera.sweep(
        square("?"), formats="float<4,3,finite>", inputs=x[:2], metric="rmse"
    )
    assert row.value == np.sqrt((1.0625**2 - 1) ** 2 / 2)
    (row,) = numera.sweep(
        square("?"), formats="float<4,3>", inputs=x[:2], labels=[2, 9], metric="rmse"
    )
    assert row.value == np.sqrt(1 / 2)
    (row,) = numera.sweep(square("?"), formats="float<4,3>", inputs=x, metric="rmse")
    assert row.value == np.inf


def test_a_front_has_the_best_row_of_each_number_of_bits():
    nan, inf = float("nan"), float("inf")
    values = [(8, 5), (4, 2), (8, 6), (6, 2), (5, nan), (16, 6), (12, 7), (3, None)]
    rows = [Row(str(v), "", bits, "", "", v, 0) for bits, v in values]
    found = Sweep(rows, "metric", "higher", len(rows))
    assert [(r.bits, r.value) for r in found.pareto()] == [(4, 2), (8, 6), (12, 7)]
    found = Sweep(rows, "metric", "lower", len(rows))
    assert [(r.bits, r.value) for r in found.pareto()] == [(4, 2)]
    rows = [Row("", "", bits, "", "", v, 0) for bits, v in [(4, inf), (8, 1)]]
    found = Sweep(rows, "metric", "lower", 2)
    assert [r.bits for r in found.pareto()] == [4, 8]


def test_a_format_that_refuses_the_model_has_an_error():
    found = numera.sweep(
        LAYER,
        formats=["lns<4,3>", "posit8"],
        accumulate="quire",
        inputs=[X, W],
        labels=LABELS,
    )
    refused, row = found
    assert "format 'lns<4,3>' has no quire" in refused.error
    assert (refused.value, refused.accumulate) == (None, "quire")
    assert row.value > 0.9 and row.error is None
    assert found.pareto() == [row]
    assert "has no quire" in str(found)


def test_an_exception_of_a_metric_ends_a_sweep(tmp_path):
    store = tmp_path / "sweep.sqlite"
    calls = []

    def metric(outputs, labels):
        calls.append(1)
        if len(calls) == 3:
            raise ZeroDivisionError
        return 1

    with pytest.raises(ZeroDivisionError):
        numera.sweep(
            square("?"),
            formats="posit<8..16,0..2>",
            inputs=np.ones(3, "f4"),
            metric=metric,
            workers=1,
            progress=lambda done, total, row: None,
        )
    assert len(calls) < 6
    assert not store.exists()


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        (
            {"metric": "top3"},
            "unknown metric 'top3', expected top1, top5, map, map50, perplexity, rmse or a",
        ),
        ({"labels": None}, "metric 'top1' needs labels; 'rmse' does without"),
        ({"labels": [1, 2]}, "2 labels, expected one for each of 150 rows"),
        (
            {"labels": LABELS[:140], "limit": 20},
            "140 labels, expected one for each of 150 rows",
        ),
        ({"rounding": "rne"}, "'rne' does not go with"),
        ({"formats": "f.yaml"}, "'f.yaml' is a file and no format; --load, or numera.load"),
        ({"labels": LABELS + 0.5}, "labels of float64, expected whole numbers"),
        ({"labels": LABELS + 1}, "label 4, expected 0 to 3"),
        ({"labels": X, "metric": "rmse"}, "labels have shape [150, 6], expected"),
        ({"inputs": X}, "found 1 arrays, expected 2: 'arg0', 'arg1'"),
        ({"inputs": {"arg0": X}}, "no array for input 'arg1'"),
        ({"inputs": {"x": X}}, "no input 'x', expected 'arg0', 'arg1'"),
        ({"inputs": [X, W[:5]]}, "'arg1' has shape [5, 4], expected [6, 4]"),
        ({"inputs": [X[:0], W]}, "the inputs have no rows"),
        ({"inputs": [X, "none.npy"]}, "cannot read none.npy: No such file"),
        ({"inputs": [X, W.astype("c8")]}, "input 'arg1' has dtype complex64"),
        ({"formats": []}, "no formats, expected one or more"),
        ({"accumulate": "posit61"}, "unknown format 'posit61'"),
        ({"better": "lower"}, "of metric 'top1', higher is better"),
        ({"workers": 0}, "workers is 0, expected 1 or more"),
        ({"workers": "a"}, "workers is 'a', expected a whole number"),
        ({"limit": 2.5}, "limit is 2.5, expected a whole number"),
        ({"scale_rule": "foo"}, "unknown scale rule 'foo', expected floor, ceil"),
        ({"scale_rule": 3}, "unknown scale rule '3', expected floor, ceil"),
        (
            {"formats": "mxfp4", "scale_rule": ["even", "foo"]},
            "unknown scale rule 'foo', expected floor, ceil",
        ),
        ({"roles": "weight"}, "roles are 'weight', expected weights, activations, out"),
        (
            {"formats": "nvfp4", "scale_rule": "floor"},
            "no scale rule is one of 'nvfp4': ",
        ),
        ({"metric": lambda *_: "a"}, "expected a number"),
        ({"policy": "none.yaml"}, "cannot read none.yaml: No such file"),
        ({"output_as": "storage"}, "output_as is 'storage', and no metric knows"),
    ],
)
def test_what_is_wrong_is_one_line(changes, line):
    with pytest.raises(numera.Error) as error:
        kept(None, **{"formats": "posit8", **changes})
    assert line in str(error.value)
    assert "\n" not in str(error.value)
