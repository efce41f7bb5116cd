# SPDX-License-Identifier: MIT
"""How tests compile and call models of PyTorch."""

import os
import socket
import subprocess
import sys

import numera.torch
import pytest
import torch
from numera.torch._backend import INFERENCE
from numera.torch._decompositions import table
from torch.fx.experimental.proxy_tensor import make_fx

slow = pytest.mark.skipif(
    "NUMERA_SLOW_TESTS" not in os.environ, reason="NUMERA_SLOW_TESTS is not set"
)
long = pytest.mark.skipif(
    os.environ.get("NUMERA_TESTS") != "all" and "NUMERA_SLOW_TESTS" not in os.environ,
    reason="NUMERA_TESTS is not all",
)


def compiled(model, *args, **options):
    backend = numera.torch.backend(*args, **options)
    return torch.compile(model, backend=backend, dynamic=False), backend


def gradients(model):
    return [p.grad.clone() for p in model.parameters()]


def graph_of(function, *inputs):
    """A graph as AOTAutograd would hand it over."""
    return make_fx(function, decomposition_table=table(), tracing_mode="fake")(*inputs)


def call(function, *inputs, format="f32", **options):
    """What a function of tensors returns in a format."""
    graph = graph_of(lambda *args: (function(*args),), *inputs)
    backend = numera.torch.backend(format, **options)
    return backend._compile(graph, INFERENCE)(*inputs)[0]


def leave_group():
    """Ends a process of a group. The interpreter is not torn down: a thread of gloo
    that still waits for it, to free a tensor, would abort the process (PyTorch's pull
    request 179291)."""
    torch.distributed.destroy_process_group()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def run_in_processes(script, folder):
    """Runs the text of a script, which starts processes of its own, with a free port
    as its argument. It imports what is beside this file."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    path = folder / "parallel.py"
    path.write_text(script)
    here = os.path.dirname(__file__)
    paths = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
    subprocess.run(
        [sys.executable, path, str(port)],
        check=True,
        env={**os.environ, "PYTHONPATH": paths, "PYTHONFAULTHANDLER": "1"},
        timeout=600,
    )
