# SPDX-License-Identifier: MIT
"""What all tests of the package begin with."""

import os
import signal
import zlib

import pytest

# A shell that starts a command in the background has it ignore interrupts, and
# tests of interrupts would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


_ALWAYS = ("test_torch.py", "test_jax.py", "test_torch_bits.py", "test_torch_policy.py")
"""What numera.torch and numera.jax are for."""

_BY_TURN = (
    "test_cluster.py",
    "test_flag_ranges.py",
    "test_import.py",
    "test_jax_*.py",
    "test_kept_programs.py",
    "test_report*.py",
    "test_search.py",
    "test_sweep_files.py",
    "test_torch_*.py",
    "test_training_examples.py",
)
"""Tests that compile much: single operators, models by parts, reports of many formats."""


def pytest_collection_modifyitems(config, items):
    """With NUMERA_TURN a fifth of them has its turn: in the quick suite always the same,
    in continuous integration by the number of the commit (test/lit.cfg.py). With
    sanitizers a tenth of all has, as of the lit suite (`./dev test sanitized`)."""
    turn = os.environ.get("NUMERA_TURN")
    if turn is None:
        return
    shards = int(os.environ.get("LIT_NUM_SHARDS", 1))
    shard = int(os.environ.get("LIT_RUN_SHARD", 1)) - 1

    def waits(item):
        place = zlib.crc32(item.name.encode())
        if shards > 1:
            return place % shards != shard
        if item.path.name in _ALWAYS or not any(map(item.path.match, _BY_TURN)):
            return False
        return place % 5 != int(turn) % 5

    later = [item for item in items if waits(item)]
    items[:] = [item for item in items if not waits(item)]
    config.hook.pytest_deselected(items=later)


@pytest.fixture
def fresh_dynamo():
    """PyTorch compiles anew, recurrent layers too."""
    import torch

    torch._dynamo.reset()
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


@pytest.fixture
def fresh_torch():
    """PyTorch compiles anew, and draws the same numbers."""
    import torch

    torch._dynamo.reset()
    torch.manual_seed(0)
