# SPDX-License-Identifier: MIT
"""The examples of docs/Training.md."""

import doctest
from pathlib import Path

import pytest

pytest.importorskip("torch")

PAGE = Path(__file__).parents[2] / "docs" / "Training.md"


def test_the_examples_print_what_the_page_says():
    failed, tried = doctest.testfile(str(PAGE), module_relative=False)
    assert tried and not failed
