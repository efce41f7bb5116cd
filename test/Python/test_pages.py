# SPDX-License-Identifier: MIT
"""The examples of pages that need packages of others."""

import doctest
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


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
