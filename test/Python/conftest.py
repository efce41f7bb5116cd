# SPDX-License-Identifier: MIT
"""What all tests of the package begin with."""

import signal

import pytest

# A shell that starts a command in the background has it ignore interrupts, and
# tests of interrupts would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)


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
