# SPDX-License-Identifier: MIT
"""Marks of tests that take long, which not every run has."""

import os

import pytest

slow = pytest.mark.skipif(
    "NUMERA_SLOW_TESTS" not in os.environ, reason="NUMERA_SLOW_TESTS is not set"
)
long = pytest.mark.skipif(
    os.environ.get("NUMERA_TESTS") != "all" and "NUMERA_SLOW_TESTS" not in os.environ,
    reason="NUMERA_TESTS is not all",
)
