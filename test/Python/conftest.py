# SPDX-License-Identifier: MIT
"""What all tests of the package begin with."""

import os
import signal
import zlib

import pytest

# A shell that starts a command in the background has it ignore interrupts, and
# tests of interrupts would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


_BY_TURN = (
    "accumulate",
    "complex",
    "images",
    "linear_algebra",
    "operations",
    "reach",
    "scans",
    "special",
    "spectral",
)
"""Tests of PyTorch that compile much: single operators, models by parts."""


def pytest_collection_modifyitems(config, items):
    """In continuous integration a third of them has its turn (test/lit.cfg.py), and a
    tenth of all with sanitizers, as of the lit suite (`./dev test sanitized`)."""
    turn = os.environ.get("NUMERA_TURN")
    if turn is None:
        return
    shards = int(os.environ.get("LIT_NUM_SHARDS", 1))
    shard = int(os.environ.get("LIT_RUN_SHARD", 1)) - 1

    def waits(item):
        place = zlib.crc32(item.name.encode())
        if shards > 1:
            return place % shards != shard
        listed = item.path.stem.removeprefix("test_torch_") in _BY_TURN
        return listed and place % 3 != int(turn) % 3

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
