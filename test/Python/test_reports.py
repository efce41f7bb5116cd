# SPDX-License-Identifier: MIT
"""numera.report: faults that were put in are named first."""

import json
import os
import pathlib
import re
import sys
import warnings

import numera
import numpy as np
import pytest
from chains import NAMES, T, X, chain
from numera.reports import _policy
from numera.study._command import main
from studies import LAYER

MODEL = chain(NAMES)
BASE = {"default": "posit16", "accumulate": "f32"}
FAULTS = {
    "overflow": (
        "second",
        {**BASE, "rules": [{"match": {"name": "second"}, "format": "float<2,5>"}]},
        "overflows",
        "give it posit16",
    ),
    "accumulator": (
        "third",
        {
            **BASE,
            "rules": [
                {
                    "match": {"name": "third"},
                    "format": "posit16",
                    "accumulate": "posit<8,0>",
                }
            ],
        },
        "adds noise",
        "add up its products in f32",
    ),
    "scale": (
        "second",
        {
            "default": "f32",
            "weights": "f8E4M3FN",
            "activations": "f8E4M3FN",
            "scale": "per-tensor",
            "scales": {"second.lhs": 1e-5},
        },
        "adds noise",
        "compute its scales as the model runs",
    ),
    "zero point": (
        "second",
        {
            "default": "f32",
            "weights": "scaled<i8>",
            "activations": "scaled<u8,rule=min-max>",
            "scales": {"second.lhs": 1e-5},
            "zero-points": {"second.lhs": 3},
        },
        "adds noise",
        "compute its scales as the model runs",
    ),
    "rule among scales": (
        "third",
        {
            "default": "f32",
            "weights": "f8E4M3FN",
            "activations": "f8E4M3FN",
            "scale": "per-tensor",
            "rules": [{"match": {"name": "third"}, "format": "float<2,1>"}],
        },
        "",
        "compute it like the other layers",
    ),
}


def sqnr(found, expected):
    r, v = expected.astype("f8"), found.astype("f8")
    v = np.where(np.isfinite(v), v, 0)
    return 10 * np.log10((r * r).sum() / ((v - r) ** 2).sum())


def done(hint, policy, model=MODEL):
    """The dB that the outputs gain where a user does what the hint says."""
    exact = numera.compile(model, format="f32")(X)
    before = sqnr(numera.compile(model, policy=policy)(X), exact)
    rules = hint.policy.get("rules", []) + policy.get("rules", [])
    mended = {**policy, **hint.policy, "rules": rules}
    with warnings.catch_warnings():  # the fault's rule is for nothing now
        warnings.simplefilter("ignore")
        return sqnr(numera.compile(model, policy=mended)(X), exact) - before


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_named_first(fault, tmp_path):
    layer, policy, finding, change = FAULTS[fault]
    found = numera.report(MODEL, inputs=X, policy=policy)
    hint = found.hints[0]
    assert hint.layer == layer and finding in hint.finding, found
    assert hint.change == change, found
    exact = numera.compile(MODEL, format="f32")(X)
    before = sqnr(numera.compile(MODEL, policy=policy)(X), exact)
    assert found.found.sqnr_db == pytest.approx(before, abs=1e-9)
    gained = done(hint, policy)
    assert gained > 10 and hint.gain_db == pytest.approx(gained, abs=1e-9)
    # As a page shows it, for a file.
    text = _policy.text(_policy.changed(policy, [hint.policy]))
    (tmp_path / "policy.yaml").write_text(text)
    mended = _policy.read(tmp_path / "policy.yaml", None, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        after = numera.compile(MODEL, policy=mended)(X)
    assert sqnr(after, exact) - before == pytest.approx(gained, abs=1e-9)


WIDE = chain(NAMES, "math.absf", scale=40)
KINDS = {
    "give it float<3,2>": (MODEL, {"default": "float<2,2>", "accumulate": "f32"}),
    "give it f32": (MODEL, {"default": "bf16", "accumulate": "f32"}),
    "scale weights": (WIDE, {"default": "f8E4M3FN"}),
}


@pytest.mark.parametrize("change", KINDS)
def test_a_hint_gains_what_it_says(change):
    model, policy = KINDS[change]
    found = numera.report(model, inputs=X, policy=policy, hints=2)
    hints = [hint for hint in found.hints if hint.change.startswith(change)]
    assert hints, found
    for hint in hints:
        gained = done(hint, policy, model)
        assert hint.gain_db == pytest.approx(gained, abs=1e-9)


def test_what_hints_gain_beside_the_others_and_together():
    policy = {"default": "posit<8,0>", "accumulate": "f32"}
    found = numera.report(MODEL, inputs=X, policy=policy, hints=2)
    layers = [hint for hint in found.hints if hint.layer]
    assert len(layers) == 2, found
    rules = [rule for hint in layers for rule in hint.policy["rules"]]
    both = layers[0]._replace(policy={"rules": rules})
    together = done(both, policy)
    assert found.together_db == pytest.approx(together, abs=1e-9)
    for one, other in (layers, layers[::-1]):
        beside = together - done(other, policy)
        assert one.beside_db == pytest.approx(beside, abs=1e-9)


CNN = pathlib.Path(__file__).parents[2] / "examples/fashion/model.onnx"


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_a_network_are_named_first(fault):
    layer = "dense1"
    other, policy, _, change = FAULTS[fault]
    policy = json.loads(json.dumps(policy).replace(f'"{other}', f'"{layer}'))
    images = np.random.default_rng(3).random((4, 1, 28, 28), "f4")
    found = numera.report(CNN, inputs=images, policy=policy, hints=2)
    hint = found.hints[0]
    assert (hint.layer, hint.change) == (layer, change), found
    assert hint.gain_db > 10, found


@pytest.mark.parametrize("default", ["bf16", "f8E4M3FN", "f8E5M2"])
def test_a_layer_is_named_before_the_whole_model(default):
    # Its large numbers are lost, of which the Relu keeps a few: the noise is small
    # against all of them.
    rule = {"match": {"name": "conv1"}, "format": "float<2,5>"}
    policy = {"default": default, "accumulate": "f32", "rules": [rule]}
    images = np.random.default_rng(3).random((4, 1, 28, 28), "f4")
    found = numera.report(CNN, inputs=images, policy=policy, hints=3)
    assert found.hints[0].layer == "conv1", found
    assert "overflows" in found.hints[0].finding


def test_where_a_saturating_overflow_begins_is_named_first():
    # What reads its outputs casts those of the reference to the format, where they
    # saturate: noise of its own and, of the activation, an overflow of its own.
    model = chain(["first", "second"], "math.absf", random=np.random.default_rng(5))
    model = re.sub(r"%w1 = (.*)", r"%v1 = \1\n%c = arith.constant dense<30.0> : T\n"
        r"%w1 = arith.mulf %v1, %c : T", model)  # fmt: skip
    model = re.sub("return .*", "%d = arith.constant dense<0.03125> : U\n"
        '%y = arith.mulf %a1, %d : U loc("small")\nreturn %y : U', model)  # fmt: skip
    model = model.replace(": T", f": tensor<8x8xf32>").replace(": U", f": {T}")
    found = numera.report(model, inputs=X, format="fixed<7,8>", hints=4)
    rows = {layer["name"]: layer for layer in found.layers}
    assert rows["second.act"]["overflow"] > 0.3 and rows["small"]["own_sqnr_db"] < 10
    assert found.hints[0].layer == "second", found
    assert "overflows" in found.hints[0].finding


def test_a_few_infinities_are_named_before_the_many_that_come_of_them():
    # A fifth of one row in 32 overflows; the next product spoils that row.
    first, model = (
        chain(NAMES[:n], "math.absf", random=np.random.default_rng(9)) for n in (1, 2)
    )
    exact = numera.compile(first, format="f32")(X)
    x = X.copy()
    x[0] *= 65504 / np.quantile(np.abs(exact[0]), 0.8)
    found = numera.report(model, inputs=x, format="f16", hints=4)
    rows = {layer["name"]: layer for layer in found.layers}
    assert 0 < rows["first"]["own_lost"] < 0.01 <= rows["second"]["own_lost"]
    assert found.hints[0].layer == "first", found
    assert "overflows" in found.hints[0].finding


def test_what_is_not_known_of_an_opaque_format_is_no_fault():
    images = np.random.default_rng(3).random((2, 1, 28, 28), "f4")
    files = [CNN.with_name("formats.yaml")]
    found = numera.report(CNN, inputs=images, format="mybf16", formats=files, hints=0)
    assert {layer["format"] for layer in found.layers} == {"mybf16"}
    for layer in found.layers:
        assert layer["overflow"] == layer["underflow"] == layer["own_lost"] == 0
        assert layer["own_sqnr_db"] > 40


def test_a_format_that_only_the_options_know(tmp_path):
    names = tmp_path / "mine.yaml"
    names.write_text("formats:\n  mine7: {family: float, exponent: 4, mantissa: 2}\n")
    found = numera.report(MODEL, inputs=X, format="mine7", formats=[names], hints=2)
    assert {layer["format"] for layer in found.layers} == {"mine7"}
    assert any(hint.change == "give it bf16" for hint in found.hints), found
    for package in ("jinja2", "grandalf", "vl_convert"):
        pytest.importorskip(package)
    assert "in mine7</span>" in found.html()


class ModelProto:
    """A model of ONNX, as its package has it."""

    def SerializeToString(self):
        return CNN.read_bytes()


def test_a_model_of_onnx_is_a_file_or_an_object():
    images = np.random.default_rng(3).random((2, 1, 28, 28), "f4")
    given = {"inputs": images, "format": "bf16", "hints": 0}
    file, loaded = (numera.report(each, **given) for each in (CNN, ModelProto()))
    assert (file.model, loaded.model) == ("model.onnx", "ModelProto")
    assert loaded.layers == file.layers and loaded.digest == file.digest


def test_an_argument_that_is_unknown_is_an_error():
    with pytest.raises(
        numera.Error, match="report has no argument 'row', did you mean 'rows'"
    ):
        numera.report(MODEL, inputs=X, format="bf16", row=3)
    with pytest.raises(
        numera.Error, match="no argument 'acumulate', did you mean 'accumulate'"
    ):
        numera.report(MODEL, inputs=X, format="bf16", acumulate="f32")


def test_inputs_without_a_finite_output_are_an_error():
    with pytest.raises(numera.Error, match="no output of the model in f32 is finite"):
        numera.report(CNN, inputs=np.full((2, 1, 28, 28), np.nan, "f4"), format="bf16")


def test_where_infinities_begin_is_named_first():
    # What the layer keeps is right, and all behind it is infinite or NaN.
    model = chain([f"layer{i}" for i in range(8)], "math.absf", scale=120)
    rule = {"match": {"name": "layer1"}, "format": "f16"}
    policy = {"default": "bf16", "rules": [rule]}
    found = numera.report(model, inputs=X, policy=policy, hints=3)
    hint = found.hints[0]
    assert (hint.layer, hint.change) == ("layer1", "give it bf16"), found
    assert "overflows" in hint.finding and hint.gain_db > 20
    rows = {layer["name"]: layer for layer in found.layers}
    assert rows["layer1"]["own_lost"] > 0.2 and rows["layer1"]["own_sqnr_db"] > 50
    assert rows["layer7"]["own_lost"] == 0
    exact = numera.compile(model, format="f32")(X)
    values = numera.compile(model, policy=policy)(X)
    lost = np.isfinite(exact) & ~np.isfinite(values)
    assert found.layers[-1]["lost"] == lost.mean() > 0


def test_a_layer_without_a_name_is_known_by_its_operation():
    model = re.sub(r' loc\("[^"]*"\)', "", MODEL)
    found = numera.report(model, inputs=X, policy={"default": "bf16"}, hints=2)
    changes = [hint.change for hint in found.hints]
    assert "give all 3 layers matmul f32" in changes, found


def test_what_was_given_is_described():
    """However it was given, and as it can be given again."""
    x, w = np.ones((3, 6), "f4"), np.ones((6, 4), "f4")
    shapes = ["an array [3, 6]", "an array [6, 4]"]
    for inputs, expected in (
        ([x, w], shapes),
        ([x.tolist(), w.tolist()], shapes),
        ({"arg1": w, "arg0": x}, {"arg0": shapes[0], "arg1": shapes[1]}),
    ):
        found = numera.report(LAYER, inputs=inputs, format="f8E4M3FN", hints=0)
        assert found.data["inputs"] == expected
    policy = {"default": "f8E4M3FN", "scale": "per-tensor"}
    text = str(numera.report(LAYER, inputs=[x, w], policy=policy, hints=0))
    assert text.startswith("MLIR in f8E4M3FN with factors scaled per-tensor: ")


def test_one_layer_that_is_lost():
    model = chain(["only"], "math.absf", scale=1e5)
    found = numera.report(model, inputs=X + 10, format="f16")
    assert (found.hints[0].layer, found.hints[0].change) == ("only", "give it f32")
    assert "f64" in str(numera.report(model, inputs=X, format="f64"))


def test_scales_are_a_hint_for_the_whole_model():
    found = numera.report(WIDE, inputs=X, format="f8E4M3FN")
    whole = [hint for hint in found.hints if hint.layer is None]
    assert whole and whole[0].gain_db > 5, found


def test_scales_are_no_hint_where_they_would_be_1():
    # What is gained comes from what is left in f32.
    found = numera.report(MODEL, inputs=X, format="bf16")
    changes = [hint.change for hint in found.hints]
    assert changes and not any("scale" in each for each in changes), found


def test_layers_of_a_kind_are_changed_at_once():
    # Each root loses the least of the numbers; mended alone, it gains little.
    names = [f"root{i}" for i in range(4)]
    lines = [
        f"%a{i} = math.sqrt %{f'b{i - 1}' if i else 'x'} : {T} loc({json.dumps(name)})\n"
        f"  %b{i} = arith.mulf %a{i}, %a{i} : {T} loc({json.dumps('square' + str(i))})"
        for i, name in enumerate(names)
    ]
    body = "\n  ".join(lines)
    model = f"func.func @net(%x: {T}) -> {T} {{\n  {body}\n  return %b3 : {T}\n}}"
    rule = {"match": {"op": "sqrt"}, "format": "float<4,2>"}
    policy = {"default": "bf16", "rules": [rule]}
    found = numera.report(model, inputs=np.abs(X) + 1, policy=policy, hints=2)
    (kind,) = (hint for hint in found.hints if "all" in hint.change)
    assert kind.change == "give all 4 layers sqrt f32"
    rules = [*kind.policy["rules"], rule]
    exact, before, after = (
        numera.compile(model, **given)(np.abs(X) + 1)
        for given in (
            {"format": "f32"},
            {"policy": policy},
            {"policy": {**policy, "rules": rules[:1]}},
        )
    )
    gained = sqnr(after, exact) - sqnr(before, exact)
    assert kind.gain_db == pytest.approx(gained, abs=1e-9) and gained > 10


def test_numbers_that_are_lost_are_the_worst():
    for package in ("jinja2", "grandalf", "vl_convert"):
        pytest.importorskip(package)
    from numera.reports._charts import noise

    model = f"""func.func @net(%x: {T}) -> {T} {{
      %a = arith.subf %x, %x : {T} loc("nothing")
      %b = arith.mulf %x, %x : {T} loc("square")
      %c = arith.divf %b, %b : {T} loc("one")
      %d = arith.mulf %a, %c : {T} loc("product")
      return %d : {T}
    }}"""
    # Squares overflow, and infinity over infinity is NaN; in f32 the outputs are 0.
    found = numera.report(model, inputs=X + 100, format="float<4,3>", hints=1)
    assert found.found.nan == 1 and found.found.sqnr_db == -np.inf
    assert "all outputs of the model in f32 are 0" in str(found)
    assert found.tried > 0
    rows = {layer["name"]: layer for layer in found.layers}
    cells = {
        name: [noise(row, p).text for p in ("own_", "")] for name, row in rows.items()
    }
    assert cells["nothing"] == ["exact", "exact"]
    assert cells["product"] == ["exact", "lost"]
    assert noise(rows["one"], "").level < noise(rows["nothing"], "").level


def test_nothing_helps_what_is_exact():
    found = numera.report(MODEL, inputs=X, format="f32")
    assert found.found.sqnr_db == np.inf and not found.hints and not found.tried
    assert json.loads(found.json())["found"]["sqnr_db"] is None


def test_rows_and_metrics():
    dynamic = """func.func @net(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
      %y = arith.mulf %x, %x : tensor<?x4xf32> loc("square")
      return %y : tensor<?x4xf32>
    }"""
    x = np.array([[1, 2, 1.9, 0], [1, 0, 0, 0.25], [0, 1, 0, 0]], "f4")
    labels = np.array([1, 0, 1])
    # Powers of two alone: 1.9 becomes 2, and its square is no longer smaller.
    fmt = "float<4,0,finite>"
    found = numera.report(dynamic, inputs=x, labels=labels, format=fmt, hints=0)
    assert found.reference_metric == 1 and found.found.metric == 1
    assert [row.place for row in found.worst] == [0]
    assert found.worst[0].label == 1 and found.worst[0].reference == 1
    own = 10 * np.log10((1 + 16 + 1.9**4) / (4 - 1.9**2) ** 2)
    assert found.worst[0].sqnr_db == pytest.approx(own, rel=1e-6)
    assert found.rows == 3
    # What the model gives in f32 is right where nothing else is.
    found = numera.report(dynamic, inputs=x, format=fmt, metric="rmse", hints=0)
    rmse = (4 - 1.9**2) / np.sqrt(x.size)
    assert found.found.metric == pytest.approx(rmse) and found.reference_metric == 0
    first = numera.report(dynamic, inputs=x, format=fmt, rows=1, hints=0)
    assert first.rows == 1 and first.layers[0]["count"] == 4
    assert "(the first 1 of 3 rows were run; `rows` takes more)" in str(first)
    rule = {"match": {"name": "square"}, "format": "bf16"}
    policy = {"default": "float<5,2>", "rules": [rule]}
    text = str(numera.report(dynamic, inputs=x, policy=policy, hints=0))
    assert text.startswith("MLIR in float<5,2> (f8E5M2) and 1 rule of a policy: ")


def test_a_fixed_batch_is_run_in_slices():
    one = MODEL.replace(f"tensor<{len(X)}x", "tensor<4x")
    parts = numera.report(one, inputs=X, format="posit8", hints=0)
    whole = numera.report(MODEL, inputs=X, format="posit8", hints=0)
    assert parts.found.sqnr_db == whole.found.sqnr_db
    for a, b in zip(parts.layers, whole.layers):
        for key in ("count", "exponents", "zeros", "used_codes", "max_abs_error"):
            assert a[key] == b[key]
        assert a["sqnr_db"] == pytest.approx(b["sqnr_db"], rel=1e-12)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.mlir").write_text(MODEL)
    np.save(tmp_path / "x.npy", X)

    def command(*arguments):
        status = main(["report", "net.mlir", "--input", "x.npy", *arguments])
        return status, *capsys.readouterr()

    status, out, err = command("--format", "posit8", "--json")
    assert status == 0 and not err
    found = json.loads(out)
    assert [each["name"] for each in found["layers"]][:2] == ["first", "first.act"]
    for arguments, message in (
        (["--format", "posit99"], "numera: error: unknown format 'posit99'"),
        ([], "a report needs a format or a policy"),
        (["--format", "bf16", "--rows", "0"], "--rows is 0, expected at least 1"),
        (["--format", "bf16", "--hints", "-1"], "hints is -1, expected a whole number"),
        (["--format", "bf16", "--policy", "no.yaml"], "cannot read no.yaml: No such"),
        (["--format", "bf16", "--metric", "top1"], "metric 'top1' needs labels; 'rmse'"),
        (["--format", "bf16", "-o", "no/x.html"], "cannot write no/x.html: no folder"),
        (
            ["--format", "bf16", "--labels", "x.npy"],
            "256 labels, expected one for each",
        ),
    ):
        status, out, err = command(*arguments)
        assert status == 1 and not out
        assert message in err and err.count("\n") == 1, err
    assert sorted(os.listdir(tmp_path)) == ["net.mlir", "x.npy"]
    monkeypatch.setitem(sys.modules, "grandalf", None)
    status, out, err = command("--format", "bf16", "-o", "x.html")
    assert status == 1 and err == (
        f"numera: error: a page needs the package grandalf, which {sys.executable} has "
        f"not: pip install 'numera-mlir[report]', or name another Python in "
        f"NUMERA_PYTHON\n"
    )
