# SPDX-License-Identifier: MIT
"""The command that pip installs, beside the tool of the same name."""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import numera
import numpy as np
import pytest
from numera.study import _command
from studies import X, perceptron

ROOT = pathlib.Path(__file__).parents[2]
WEIGHTS = [np.ones(shape, "f4") for shape in ((6, 5), (5, 4))]
TOOL = pathlib.Path(numera.__file__).parents[2] / "bin" / "numera"


def script(folder):
    """What pip makes of the entry in pyproject.toml."""
    text = (ROOT / "pyproject.toml").read_text()
    entry = re.search(r'\[project.scripts\]\nnumera = "([\w.]+):(\w+)"', text)
    assert callable(getattr(importlib.import_module(entry[1]), entry[2]))
    path = folder / "numera"
    path.write_text(
        f"#!{sys.executable}\nimport sys\nfrom {entry[1]} import {entry[2]}\n"
        f"sys.exit({entry[2]}())\n"
    )
    path.chmod(0o755)
    return path


def run(*words, path):
    environment = {**os.environ, "PATH": path}
    return subprocess.run(
        list(map(str, words)), env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def test_it_is_python_m_numera(tmp_path):
    own = run(script(tmp_path), "sweep", "--help", path=str(tmp_path))
    module = run(sys.executable, "-m", "numera", "sweep", "--help", path="/usr/bin")
    assert own.returncode == module.returncode == 0
    assert own.stdout.startswith("usage: numera sweep ")
    assert own.stdout.split() == module.stdout.replace("python3 -m ", "").replace(
        "python -m ", ""
    ).split()  # fmt: skip


def test_commands_of_the_tool_are_handed_on(tmp_path):
    own = script(tmp_path)
    alone = run(own, "eval", "posit8: 1/3", path=str(tmp_path))
    assert (alone.returncode, alone.stdout) == (1, "")
    assert alone.stderr == (
        "numera: error: 'eval' is a command of the tool numera, which is not in PATH; "
        "the Python package has sweep, search, report, cost and import\n"
    )
    if not TOOL.exists():
        pytest.skip("the tool is not built")
    # The script itself comes first in PATH.
    path = f"{tmp_path}:{TOOL.parent}"
    both = run(own, "eval", "posit8: 1/3", path=path)
    tool = run(TOOL, "eval", "posit8: 1/3", path=path)
    assert (both.returncode, both.stdout) == (0, tool.stdout) and tool.stdout
    version = run(own, "--version", path=path)
    assert version.stdout == run(TOOL, "--version", path=path).stdout != ""


def test_each_command_of_the_tool_is_known():
    if not TOOL.exists():
        pytest.skip("the tool is not built")
    text = run(TOOL, "--help", path="/usr/bin").stdout
    ours = text.partition("\nWith the Python package")[0]
    listed = re.findall(r"^  ([a-z]+) ", ours, re.MULTILINE)
    assert {*listed, "completion", "--version"} == set(_command._TOOL)


def test_what_is_no_command_is_one_line(tmp_path):
    for words in ([], ["frobnicate"], ["sweep"], ["cost", "--xyzzy"]):
        done = run(script(tmp_path), *words, path=str(tmp_path))
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith("numera: error: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "page"),
    [
        ("sweep", "Sweeps.md"),
        ("search", "Search.md"),
        ("report", "Reports.md"),
        ("cost", "Costs.md"),
        ("import", "Importing.md"),
    ],
)
def test_a_page_has_each_option(command, page):
    done = run(sys.executable, "-m", "numera", command, "--help", path="/usr/bin")
    text = (ROOT / "docs" / page).read_text()
    options = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", done.stdout))
    for option in options - {"-h", "--help", "-m"}:
        assert re.search(rf"(?<![\w-]){option}(?![\w-])", text), option


def test_limits(tmp_path):
    model, x, formats = tmp_path / "f.mlir", tmp_path / "x.npy", tmp_path / "own.yaml"
    model.write_text(
        "func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n"
        "  %y = math.exp %x : tensor<?x4xf32>\n"
        "  return %y : tensor<?x4xf32>\n}\n"
    )
    np.save(x, np.zeros((2, 4), "f4"))
    formats.write_text(
        "formats:\n  own: {family: opaque, bits: 16}\n"
        "libraries:\n  own: {path: none.c}\n"
        'lowerings:\n  - {op: exp, format: own, target: "*", call: own_exp}\n'
    )

    def sweep(*words):
        return run(
            sys.executable, "-m", "numera", "sweep", model, "--input", x, "--metric", "rmse",
            "--labels", x, *words, path=os.environ["PATH"],
        )  # fmt: skip

    refused = sweep("--formats", "bf16", "--load", formats, "--no-libraries")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == (
        f"numera: error: {formats}: library 'own' is code to be run here, which --no-libraries refuses\n"
    )
    assert sweep("--formats", "bf16", "--no-libraries", "--max-time", 600, "--max-memory", 8000).returncode == 0
    # Whatever finds no memory first: Python, NumPy or the compiler.
    for most in (1, 10, 25, 60, 90):
        small = sweep("--formats", "bf16", "--max-memory", most)
        assert (small.returncode, small.stdout) == (1, "")
        line = rf"numera: error: out of memory: --max-memory is {most} MiB( \(\w+: .*\))?\n"
        assert re.fullmatch(line, small.stderr), small.stderr
    wrong = sweep("--formats", "bf16", "--max-time", 0)
    assert wrong.stderr == "numera: error: option '--max-time' is '0', expected 1 to 2147483647 seconds\n"
    # The data never come.
    os.mkfifo(tmp_path / "pipe.npy")
    late = run(
        sys.executable, "-m", "numera", "sweep", model, "--input", tmp_path / "pipe.npy", "--metric", "rmse",
        "--formats", "bf16", "--max-time", 1, path=os.environ["PATH"],
    )  # fmt: skip
    assert (late.returncode, late.stderr) == (1, "numera: error: not done after 1 s, which --max-time is\n")


def keys(value, inside=("rows", "layers", "trials")):
    """Those of an object, and of objects in lists in it."""
    found = set(value)
    for name in inside:
        for each in value.get(name, []):
            found |= keys(each) if isinstance(each, dict) else set()
    return found


def test_pages_name_the_keys_of_json(tmp_path, capsys):
    (tmp_path / "net.onnx").write_bytes(perceptron(*WEIGHTS))
    np.save(tmp_path / "x.npy", X)
    labels = numera.compile(perceptron(*WEIGHTS))(X).argmax(axis=1)
    np.save(tmp_path / "y.npy", labels)
    given = [tmp_path / "net.onnx", "--input", tmp_path / "x.npy", "--json"]
    study = [*given, "--labels", tmp_path / "y.npy", "--formats", "bf16"]
    every = ["--weights", "bf16", "--activations", "f16", "--accumulate", "f32"]
    for command, words in {
        "Sweeps": ["sweep", *study],
        "Costs": ["cost", *given, "--format", "f16", "--table", "horowitz2014"],
        "Search": ["search", *study, *every, "--floor", "0.1", "--trials", "1"],
    }.items():
        if command == "Search":
            pytest.importorskip("optuna")
        assert _command.main(list(map(str, words))) == 0
        found = keys(json.loads(capsys.readouterr().out))
        text = (ROOT / "docs" / f"{command}.md").read_text()
        text = text if command == "Costs" else text[text.rindex("`--json`") :]
        named = set(re.findall(r"`(?:\w+\[\]\.)?([\w-]+)`", text))
        assert len(found) > 9 and found <= named, found - named
