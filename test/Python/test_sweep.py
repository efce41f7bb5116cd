# SPDX-License-Identifier: MIT
"""Sweeps: a model in many formats, measured, kept and drawn."""

import csv
import gzip
import json
import pathlib
import signal
import sqlite3
import subprocess
import sys

import numera
import numpy as np
import pytest
from numera import study
from numera.study import Row, Sweep
from numera.study import _run as run

# A layer of 4 classes: rows of 6 numbers, any number of them.
LAYER = """
func.func @layer(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %rows = tensor.dim %x, %i : tensor<?x6xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>)
      outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""
SQUARE = """
func.func @square(%x: tensor<SIZE>) -> tensor<SIZE> {
  %y = arith.mulf %x, %x : tensor<SIZE>
  return %y : tensor<SIZE>
}
"""
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((150, 6)).astype("f4")
W = RANDOM.standard_normal((6, 4)).astype("f4")
LABELS = (X.astype("f8") @ W.astype("f8")).argmax(1)


def square(size):
    return SQUARE.replace("SIZE", f"{size}xf32")


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
        ("posit61", "unknown format 'posit61', did you mean 'posit8'?"),
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


CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
from test_sweep import kept
def stop(done, total, row):
    if done == 3:
        print(done, flush=True)
        time.sleep(60)
kept(sys.argv[2], stop)
"""


def kept(store, progress=None, **changes):
    given = {"formats": "float<4..5,1..4>", "inputs": [X, W], "labels": LABELS}
    return numera.sweep(
        LAYER, store=store, progress=progress, **{"workers": 1, **given, **changes}
    )


@pytest.fixture
def compiled(monkeypatch):
    """Formats that were compiled, but for the model in f32."""
    found = []

    def compile(*arguments, **options):
        if options["format"] != "f32":
            found.append(options["format"].name)
        return numera.compile(*arguments, **options)

    monkeypatch.setattr(run, "compile", compile)
    return found


def test_a_sweep_that_was_killed_goes_on(tmp_path, compiled):
    store = tmp_path / "sweep.sqlite"
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, pathlib.Path(__file__).parent, store],
        stdout=subprocess.PIPE,
    )
    with child:
        assert child.stdout.readline() == b"3\n"
        child.send_signal(signal.SIGKILL)
    with sqlite3.connect(store) as database:
        before = dict(database.execute("SELECT format, seconds FROM results"))
    # The fourth may be done in the meantime, but is not written.
    assert len(before) == 3
    found = kept(store)
    assert found.computed == len(compiled) == 5
    assert not before.keys() & set(compiled)
    assert {r.format: r.seconds for r in found if r.format in before} == before
    assert [row[:6] for row in found] == [row[:6] for row in kept(None)]
    assert kept(store).computed == 0


def test_a_store_knows_what_a_result_depends_on(tmp_path):
    store = tmp_path / "sweep.sqlite"
    total = kept(store).computed
    other = LABELS.copy()
    other[0] += 1
    other[0] %= 4
    for changes in (
        {"labels": other},
        {"inputs": [X + 1, W]},
        {"limit": 100},
        {"batch": 10},
        {"accumulate": "same"},
        {"rounding": "up"},
        {"overflow": "saturate"},
        {"metric": "top5"},
    ):
        assert kept(store, **changes).computed == total, changes
        assert kept(store, **changes).computed == 0
    assert kept(store, formats=["float<4,1..2>", "posit8"]).computed == 1
    # An accumulator that is asked for is another task than the default.
    assert kept(store, workers=2, optimization=0).computed == 0


def test_a_function_is_known_by_its_code(tmp_path):
    store = tmp_path / "sweep.sqlite"

    def share(threshold):
        return lambda outputs, labels: (outputs > threshold).mean()

    def computed(metric):
        return kept(store, metric=metric, formats="posit8").computed

    assert [computed(share(t)) for t in (0, 0, 1, 1)] == [1, 0, 1, 0]
    assert computed(lambda outputs, labels: outputs.max()) == 1
    with pytest.raises(numera.Error, match="tells metrics by their code"):
        computed(np.mean)


def test_a_nan_is_kept_and_an_error_tried_again(tmp_path):
    store = tmp_path / "sweep.sqlite"
    given = {"formats": "posit8", "metric": lambda *_: float("nan")}
    assert [kept(store, **given).computed for _ in range(2)] == [1, 0]
    assert np.isnan(kept(store, **given)[0].value)
    given = {"formats": "lns<4,3>", "accumulate": "quire"}
    assert [kept(store, **given).computed for _ in range(2)] == [1, 1]


def test_what_is_no_store_is_left_alone(tmp_path):
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(numera.Error, match="is a database, but no store of sweeps"):
        kept(path)
    path.write_text("text" * 1000)
    with pytest.raises(numera.Error, match="file is not a database"):
        kept(path)
    with pytest.raises(numera.Error, match="unable to open database file"):
        kept(tmp_path / "none" / "sweep.sqlite")


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
        ({"metric": "top3"}, "unknown metric 'top3', expected top1, top5, rmse or a"),
        ({"labels": None}, "metric 'top1' needs labels; 'rmse' does without"),
        ({"labels": [1, 2]}, "2 labels, expected one for each of 150 rows"),
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


def idx(array, code):
    head = bytes([0, 0, code, array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return head + array.astype(array.dtype.newbyteorder(">")).tobytes()


def test_files_are_npy_npz_and_idx(tmp_path):
    images = np.arange(24, dtype="u1").reshape(2, 3, 4)
    shorts = np.array([[-2, 300]], "i2")
    np.save(tmp_path / "a.npy", images)
    np.savez(tmp_path / "one.npz", images)
    np.savez(tmp_path / "two.npz", x=images, y=shorts)
    (tmp_path / "a.idx").write_bytes(idx(images, 8))
    (tmp_path / "b.gz").write_bytes(gzip.compress(idx(shorts, 11)))
    for name, expected in [
        ("a.npy", images),
        ("one.npz", images),
        ("two.npz:y", shorts),
        ("a.idx", images),
        ("b.gz", shorts),
    ]:
        found = study.read(str(tmp_path / name))
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype
    # What NumPy saves of ml_dtypes.bfloat16: 1, -2.
    np.save(tmp_path / "brain.npy", np.array([0x3F80, 0xC000], "u2").view("V2"))
    assert study.read(tmp_path / "brain.npy").tolist() == [1, -2]
    (tmp_path / "short.idx").write_bytes(idx(images, 8)[:-1])
    (tmp_path / "text").write_text("text")
    (tmp_path / "cut.gz").write_bytes(gzip.compress(idx(shorts, 11))[:-9])
    np.save(tmp_path / "object.npy", np.array([None]), allow_pickle=True)
    for name, line in [
        ("short.idx", "it has 39 bytes, expected 40 by its head"),
        ("text", "it is neither .npy nor .npz nor idx"),
        ("cut.gz", "Compressed file ended"),
        ("object.npy", "Object arrays cannot be loaded"),
        ("two.npz", "it has several arrays; name one of x, y: "),
        ("two.npz:z", "it has no array 'z'; name one of x, y: "),
        ("", "Is a directory"),
    ]:
        with pytest.raises(numera.Error, match="cannot read .*: ") as error:
            study.read(str(tmp_path / name))
        assert line in str(error.value)
        assert "\n" not in str(error.value)


def test_images_of_one_channel_come_without_it():
    images = RANDOM.integers(0, 255, (5, 3, 4)).astype("u1")
    (row,) = numera.sweep(
        square("?x1x3x4"), formats="f64", inputs=images, metric=lambda y, _: y.sum()
    )
    assert row.value == (images.astype("f8") ** 2).sum()


def test_rows_are_a_table_a_file_and_a_picture(tmp_path):
    found = kept(None, formats=["posit8", "lns<4,3>"], accumulate="quire")
    head, first, second = str(found).splitlines()
    assert head.split() == [
        "format",
        "bits",
        "accumulate",
        "rounding",
        "top1",
        "seconds",
    ]
    assert first.split()[:5] == [
        "posit8",
        "8",
        "quire",
        "nearest-even",
        f"{found[0].value:.5g}",
    ]
    assert first.endswith("*")
    assert "has no quire" in second
    found.csv(tmp_path / "rows.csv")
    with open(tmp_path / "rows.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert (rows[0]["format"], float(rows[0]["top1"])) == ("posit8", found[0].value)
    assert (rows[1]["top1"], rows[1]["error"]) == ("", found[1].error)
    with pytest.raises(numera.Error, match="cannot write .*: No such file"):
        found.csv(tmp_path / "none" / "rows.csv")
    pandas = pytest.importorskip("pandas")
    table = found.to_pandas()
    assert isinstance(table, pandas.DataFrame)
    assert table["top1"][0] == found[0].value
    pytest.importorskip("matplotlib")
    axes = found.plot(tmp_path / "rows.png")
    assert (tmp_path / "rows.png").read_bytes().startswith(b"\x89PNG")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("bits", "top1")
    with pytest.raises(numera.Error, match="cannot write"):
        found.plot(tmp_path / "rows.none")


def command(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "numera", "sweep", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_command_does_the_same(tmp_path):
    model = tmp_path / "layer.mlir"
    model.write_text(LAYER)
    np.savez(tmp_path / "data.npz", x=X * 255, w=W, labels=LABELS)
    data = f"{tmp_path / 'data.npz'}:"
    arguments = [
        model,
        *("--formats", "float<4,2..3>", "posit8"),
        *("--input", f"arg0={data}x", "--input", f"arg1={data}w"),
        *("--labels", f"{data}labels", "--limit", 100, "--accumulate", "same", "f32"),
        *("--store", tmp_path / "store.sqlite", "--csv", tmp_path / "rows.csv"),
    ]
    done = command(*arguments, "--json")
    assert (done.returncode, done.stderr) == (0, "")  # silent in a pipe
    expected = kept(
        None,
        formats=["float<4,2..3>", "posit8"],
        inputs=[X * 255, W],
        limit=100,
        accumulate=["same", "f32"],
    )
    found = json.loads(done.stdout)
    assert (found["metric"], found["better"]) == ("top1", "higher")
    for row, record in zip(expected, found["rows"], strict=True):
        assert record["format"] == row.format
        assert record["top1"] == row.value
        assert record["pareto"] == (row in expected.pareto())
    assert (tmp_path / "rows.csv").read_text().count("\n") == 7
    table = command(*arguments).stdout.splitlines()
    assert len(table) == 7
    for more, line in [
        (["--metric", "top3"], "unknown metric 'top3'"),
        (["--formats", "float<9..8,1>"], "the range 9..8 is empty"),
        (["--divide", "0"], "--divide is 0, expected a number that is not 0"),
        (["--plot", tmp_path / "x.abc"], "no picture ends in '.abc'"),
        (["--csv", "/none/x.csv"], "cannot write /none/x.csv: no folder /none"),
        (["--workers", "many"], "argument --workers: invalid int value: 'many'"),
        (["--load", "none.yaml"], "cannot read none.yaml: No such file"),
        (["--rounding", "odd"], "no format takes the model: 'odd' does not go with"),
    ]:
        done = command(*arguments, *more)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1), done.stderr
        assert done.stderr.startswith("numera: error: ")
        assert line in done.stderr


def test_a_terminal_has_a_line_of_progress(capsys):
    kept(None, formats="posit8", progress=True)
    written = capsys.readouterr().err
    assert written.startswith("\r\x1b[K1/1  posit8 0.9")
    assert written.endswith("\r\x1b[K")
    kept(None, formats="posit8")
    assert capsys.readouterr().err == ""
