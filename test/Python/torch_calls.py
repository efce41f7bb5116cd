# SPDX-License-Identifier: MIT
"""How tests compile and call models of PyTorch."""

import os
import socket
import subprocess
import sys

import numera.torch
import torch
from numera.torch._decompositions import table
from numera.torch._passes import INFERENCE
from torch.fx.experimental.proxy_tensor import make_fx


def compiled(model, *args, **options):
    backend = numera.torch.backend(*args, **options)
    return torch.compile(model, backend=backend, dynamic=False), backend


def normal(*shape, seed=0, dtype=None):
    """Numbers that are the same each time."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=dtype)


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


def tensors(results):
    if isinstance(results, torch.Tensor):
        return [results]
    return [tensor for each in results for tensor in tensors(each)]


def run(function, inputs):
    """Results of a function and gradients of what it is given, weighed at random."""
    given = [
        x.detach().requires_grad_() if x.is_floating_point() or x.is_complex() else x
        for x in inputs
    ]
    torch.manual_seed(1)
    results = tensors(function(*given))
    torch.manual_seed(2)
    ends = [each for each in results if each.requires_grad]
    slopes = [
        torch.randn(each.shape, dtype=each.dtype if each.is_complex() else None)
        for each in ends
    ]
    leaves = [x for x in given if x.requires_grad]
    found = torch.autograd.grad(ends, leaves, slopes, allow_unused=True) if ends else ()
    return results, list(found)


def agree(function, *inputs):
    """The function, compiled in f32, does what it does in eager mode."""
    wanted, gradients = run(function, inputs)
    net = torch.compile(function, backend=numera.torch.backend("f32"))
    found, slopes = run(net, inputs)
    assert len(found) == len(wanted)
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5, equal_nan=True)
    assert [each is None for each in slopes] == [each is None for each in gradients]
    for got, want in zip(slopes, gradients):
        if want is not None:
            torch.testing.assert_close(got, want, rtol=2e-5, atol=2e-5, equal_nan=True)


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
