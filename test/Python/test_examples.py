# SPDX-License-Identifier: MIT
"""The scripts and the notebook of examples/python, run as a user does."""

import ast
import contextlib
import io
import json
import pathlib
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/python"


def run(script, *arguments):
    command = [sys.executable, EXAMPLES / script, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_quantize_prints_errors_and_draws_them(tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "errors.png"
    head, *rows = run("quantize.py", picture)
    assert head.split() == ["format", "bits", "SQNR", "dB", "largest", "error"]
    sqnr = {row.split()[0]: float(row.split()[2]) for row in rows}
    # 6.02 dB a bit, and 4 significant bits.
    assert 30 < sqnr["f8E4M3FN"] < 33
    assert sqnr.keys() == {"f8E4M3FN", "posit8", "takum<8>", "mxfp8"}
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_an_own_format_is_20_lines():
    first, bf16, mitchell = run("own_format.py")
    assert first == '<numera.Format mitchell: opaque<"mitchell",16>> from mitchell.c'
    # Mitchell's product is up to 11 % too small, 4 % on the average.
    assert float(bf16.split()[-1]) < 0.02 < float(mitchell.split()[-1]) < 0.12
    code = (EXAMPLES / "mitchell.c").read_text().partition("#include <string.h>")[2]
    assert len([line for line in code.splitlines() if line]) <= 20


def test_a_model_in_several_formats_is_a_table():
    pytest.importorskip("pandas")
    if not pathlib.Path("/usr/share/datasets/fashion-mnist").exists():
        pytest.skip("needs dataset-fashion-mnist")
    head, bf16, posit8 = run("ten_formats.py", "bf16", "posit8", "--count", "200")
    assert head.split()[:2] == ["format", "accumulate"]
    assert (bf16.split()[0], posit8.split()[0]) == ("bf16", "posit8")
    assert float(bf16.split()[2]) > 88
    assert float(posit8.split()[3]) > 95


def test_a_quire_alone_is_exact():
    rows = dict(line.split(maxsplit=1) for line in run("exact_sums.py"))
    assert rows["quire"].endswith("exact, rounded once")
    assert rows["same"].endswith("off")
    assert rows["bf16"].endswith("off")
    assert rows["quire"].split()[0] == rows["rounded"]


def test_all_bits_are_those_of_the_references():
    *rows, last = run("reference.py")
    assert last == "all bits agree"
    assert len(rows) == 6


def run_cell(source, names):
    """What a notebook shows below a cell: prints, and the last expression."""
    *body, last = ast.parse(source).body
    is_shown = isinstance(last, ast.Expr)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        body = ast.Module(body if is_shown else [*body, last], [])
        exec(compile(body, "cell", "exec"), names)  # noqa: S102, our own cells
        value = (
            eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if is_shown
            else None
        )
    return printed.getvalue() + ("" if value is None else repr(value))


def test_the_tour_shows_what_it_says(monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(EXAMPLES)
    names = {}
    cells = json.loads(pathlib.Path("tour.ipynb").read_text())["cells"]
    sources = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(sources) > 8
    for cell in sources:
        expected = "".join(
            "".join(output.get("text") or output["data"]["text/plain"])
            for output in cell["outputs"]
        )
        assert run_cell("".join(cell["source"]), names) == expected
