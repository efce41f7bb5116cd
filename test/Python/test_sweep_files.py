# SPDX-License-Identifier: MIT
"""What sweeps read and write: data, stores, tables, pictures, and the command."""

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
from numera.study import _run as run
from numera.study._result import Row, Sweep
from studies import LABELS, LAYER, RANDOM, W, X, kept, square

CHILD = """
import sys, time
sys.path.insert(0, sys.argv[1])
from studies import kept
def stop(done, total, row):
    if done == 3:
        print(done, flush=True)
        time.sleep(60)
kept(sys.argv[2], stop)
"""


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


def test_a_disk_that_is_full_leaves_no_file(tmp_path):
    # No file may have more than some bytes, as on such a disk.
    script = (
        "import resource, sys\n"
        "from numera.study._command import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, resource.RLIM_INFINITY))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    (tmp_path / "net.mlir").write_text(LAYER)
    for name, array in (("x", X), ("w", W), ("y", LABELS)):
        np.save(tmp_path / f"{name}.npy", array)
    words = "sweep net.mlir --input x.npy --input w.npy --labels y.npy --formats bf16"
    store = tmp_path / "sweep.sqlite"
    for kept_before in (False, True):
        if kept_before:
            store.touch()
        done = subprocess.run(
            [sys.executable, "-c", script, *words.split(), "--store", store.name],
            cwd=tmp_path, check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("numera: error: store sweep.sqlite: ")
        assert done.stderr.count("\n") == 1
        left = {path.name for path in tmp_path.iterdir() if path.suffix != ".npy"}
        assert left == {"net.mlir", *(["sweep.sqlite"] if kept_before else [])}


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
        (
            "text",
            "neither .npy, .npz nor idx, nor does its name end in .csv or .parquet",
        ),
        ("cut.gz", "Compressed file ended"),
        ("object.npy", "Object arrays cannot be loaded"),
        ("two.npz", "it has several arrays; name one of x, y: "),
        ("two.npz:z", "it has no array 'z'; name one of x, y: "),
        ("", "it has no images"),
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


def test_labels_of_a_plot_lie_apart(tmp_path):
    """Of a front of which all but the first row have nearly the same value."""
    pytest.importorskip("matplotlib")
    rows = [
        Row(name, name, 8 + n / 8, "", "", 0.9 + n / 1e4 if n else 0.1, 0)
        for n, name in enumerate(f"posit<{n},1>" for n in range(8, 24))
    ]
    axes = Sweep(rows, "top1", "higher", 0).plot(tmp_path / "rows.png")
    axes.figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in axes.texts]
    assert len(boxes) == len(rows)
    for n, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:n])


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
        (["--csv", "-"], "cannot write -: standard output has the words, expected a"),
        (["--csv", "/none/x.csv"], "cannot write /none/x.csv: no folder /none"),
        (
            ["--workers", "many"],
            "option '--workers' is 'many', expected a whole number",
        ),
        (["--max-time", "0.5"], "option '--max-time' is '0.5', expected a whole"),
        (["--load", "none.yaml"], "cannot read none.yaml: No such file"),
        (["--rounding", "odd"], "numera: error: 'odd' does not go with"),
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


def test_weights_of_a_file_are_those_of_the_reference_too(tmp_path):
    save_file = pytest.importorskip("safetensors.numpy").save_file
    model, weights = tmp_path / "m.mlir", tmp_path / "other.safetensors"
    model.write_text("""
func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %w = arith.constant dense_resource<w> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %b = linalg.broadcast ins(%w : tensor<4xf32>) outs(%e : tensor<?x4xf32>) dimensions = [0]
  %y = arith.mulf %x, %b : tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
""")
    save_file({"w": np.ones(4, "f4")}, tmp_path / "m.safetensors")
    x = np.full((3, 4), 1.1, "f4")
    given = {"inputs": x, "metric": "rmse", "safetensors": weights,
             "store": tmp_path / "s.sqlite", "workers": 1}  # fmt: skip
    found = []
    for factor in (1, 10):
        save_file({"w": np.full(4, factor * 3.0, "f4")}, weights)
        exact, rounded = numera.sweep(str(model), formats=["f32", "f8E4M3FN"], **given)
        assert exact.value == 0
        found.append(rounded.value)
    assert 0 < 2 * found[0] < found[1]


RULE = """# a policy first
policy:
  rules:
    - {match: {op: linalg.matmul}, format: mine}
formats:
  mine: {family: float, exponent: 2, mantissa: 1}
"""
RULE_IN_JSON = """{
  "policy": {"rules": [{"match": {"op": "linalg.matmul"}, "format": "mine"}]},
  "formats": {"mine": {"family": "float", "exponent": 2, "mantissa": 1}}
}"""


@pytest.mark.parametrize("text", [RULE, RULE_IN_JSON], ids=["YAML", "JSON"])
def test_a_policy_keeps_its_rules_and_the_formats_of_its_file(tmp_path, text):
    path = tmp_path / "own.yaml"
    path.write_text(text)
    wanted = numera.compile(LAYER, policy=path)(X, W)
    value = np.mean(wanted.argmax(1) == LABELS)
    given = {"formats": "posit16", "inputs": [X, W], "labels": LABELS, "policy": path}
    for scale, roles in ((None, None), ("none", None), (None, "activations")):
        (row,) = numera.sweep(LAYER, scale=scale, roles=roles, **given)
        assert (row.error, row.value) == (None, value)
    report = numera.report(LAYER, inputs=[X, W], format="posit16", policy=path, hints=0)
    assert report.chosen["rules"][0]["format"] == "mine"


def test_errors_of_a_policy_have_the_lines_of_its_file(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text(RULE.replace("exponent", "exponnet"))
    with pytest.raises(
        numera.Error, match=r"own.yaml:6:\d+: error: unknown .*exponnet"
    ):
        numera.sweep(LAYER, formats="f16", inputs=[X, W], labels=LABELS, policy=path)
