# SPDX-License-Identifier: MIT
"""The examples of pages that need packages of others."""

import doctest
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numera
import numpy as np
import pytest

DOCS = Path(__file__).parents[2] / "docs"
TOOL = Path(numera.__file__).parents[2] / "bin" / "numera"


@pytest.mark.parametrize(
    "page, needs",
    [
        ("Training.md", ["torch"]),
        ("JAX.md", ["jax", "torch_mlir"]),
        ("Search.md", ["optuna"]),
        ("Tutorials/TrainInF8.md", ["torch", "torch_mlir"]),
    ],
)
def test_the_examples_print_what_the_page_says(page, needs):
    for package in needs:
        pytest.importorskip(package)
    failed, tried = doctest.testfile(str(DOCS / page), module_relative=False)
    assert tried and not failed


BEGIN = """
import re, numera, numpy as np

images = np.ones((8, 1, 4, 4), "f4")

def same(value, text):
    pattern = re.escape("".join(text.split())).replace("…", ".*")
    assert re.fullmatch(pattern, "".join(repr(value).split())), repr(value)

"""
MODEL = """
  func.func @net(%x: tensor<?x1x4x4xf32>) -> tensor<?x10xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?x1x4x4xf32>
    %y = tensor.collapse_shape %x [[0], [1, 2, 3]]
        : tensor<?x1x4x4xf32> into tensor<?x16xf32>
    %w = arith.constant dense<0.3> : tensor<16x10xf32>
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty(%n) : tensor<?x10xf32>
    %i = linalg.fill ins(%zero : f32) outs(%e : tensor<?x10xf32>) -> tensor<?x10xf32>
    %z = linalg.matmul ins(%y, %w : tensor<?x16xf32>, tensor<16x10xf32>)
        outs(%i : tensor<?x10xf32>) -> tensor<?x10xf32> loc("dense")
    return %z : tensor<?x10xf32>
  }
"""


@pytest.mark.parametrize(
    "page, needs",
    [
        ("Costs.md", []),
        ("Reports.md", ["pandas", "jinja2", "grandalf", "vl_convert"]),
        ("Search.md", ["optuna"]),
        ("Sweeps.md", ["matplotlib"]),
        ("Start/MachineLearning.md", []),
    ],
)
def test_the_commands_run_as_the_page_has_them(page, needs, tmp_path):
    for package in needs:
        pytest.importorskip(package)
    if not TOOL.exists():
        pytest.skip("the tool is not built")
    (tmp_path / "model.mlir").write_text(MODEL)
    np.save(tmp_path / "images.npy", np.ones((8, 1, 4, 4), "f4") / 3)
    np.save(tmp_path / "labels.npy", np.arange(8))
    [block] = re.findall(
        r"^```sh\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL
    )
    # Another model and fewer formats do as well, and nothing is installed.
    block = block.replace("model.onnx", "model.mlir")
    block = block.replace("<4..6,1..10>", "<4,1..2>").replace("<6..16,0..2>", "<6,0>")
    block = re.sub("^pip .*\n", "", block)
    assert block.startswith("numera ")
    environment = {**os.environ, "NUMERA_PYTHON": sys.executable}
    environment["PATH"] = f"{TOOL.parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", block], cwd=tmp_path, env=environment, capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for name in re.findall(r"--(?:store|csv|plot|report) (\S+)| -o (\S+)", block):
        assert (tmp_path / "".join(name)).stat().st_size > 0


def test_the_table_of_costs_is_one():
    yaml = pytest.importorskip("yaml")
    text = (DOCS / "Costs.md").read_text()
    [table] = re.findall(r"\n\n    # table\.yaml\n((?:    .*\n)+)", text)
    program = numera.compile(MODEL, format="posit8")
    x = np.ones((1, 1, 4, 4), "f4")
    found = numera.cost(program, x, table=yaml.safe_load(table))
    # A mac is the mul of the operands' format and the add of the accumulator's.
    assert found.total == pytest.approx(16 * 10 * (0.4 + 0.9))


@pytest.mark.parametrize(
    "page, needs", [("Python.md", []), ("OtherPackages.md", ["torch"])]
)
def test_examples_that_print_nothing_run(page, needs, tmp_path):
    for package in needs:
        pytest.importorskip(package)
    blocks = re.findall(
        r"^```python\n(.*?)^```", (DOCS / page).read_text(), re.MULTILINE | re.DOTALL
    )
    text = "".join(each for each in blocks if ">>>" not in each)
    # What a line says of its value is compared.
    said = re.compile(r"^(\S.*?) +# (array\(.*)$", re.MULTILINE)
    text = said.sub(r"same(\1, '\2')", text).replace("model.onnx", "model.mlir")
    (tmp_path / "model.mlir").write_text(MODEL)
    shutil.copy(Path(__file__).parent / "mine.c", tmp_path)
    libraries = (DOCS / "Libraries.md").read_text()
    (tmp_path / "dd.c").write_text(
        re.search(
            r"^```c\n(/\* dd\.c \*/\n.*?)^```", libraries, re.MULTILINE | re.DOTALL
        )[1]
    )
    imports = "".join(f"import {package}\n" for package in needs)
    done = subprocess.run(
        [sys.executable, "-c", imports + BEGIN + text],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert text and done.returncode == 0, done.stderr
