# SPDX-License-Identifier: MIT
"""Formats as objects."""

import pickle

import numera
import pytest


def test_a_name_and_a_spelling_are_one_format():
    assert numera.format("posit16") == numera.format("posit<16,2>")
    assert hash(numera.format("posit16")) == hash(numera.format("posit<16,2>"))
    assert numera.format("posit16") != numera.format("posit<16,1>")


def test_a_pickled_format_is_the_same():
    bf16 = numera.format("bf16")
    assert pickle.loads(pickle.dumps(bf16)) == bf16


def test_an_unknown_name_is_an_error_that_names_near_ones():
    with pytest.raises(numera.Error, match="did you mean"):
        numera.format("posit61")
