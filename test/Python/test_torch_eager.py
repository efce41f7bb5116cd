# SPDX-License-Identifier: MIT
"""Operators of PyTorch in f32: values and gradients are those of eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    torch.manual_seed(0)


def tensors(results):
    if isinstance(results, torch.Tensor):
        return [results]
    return [tensor for each in results for tensor in tensors(each)]


def run(function, inputs):
    """Results of a function and gradients of what it is given, weighed at random."""
    given = [
        x.detach().requires_grad_() if x.is_floating_point() else x for x in inputs
    ]
    torch.manual_seed(1)
    results = tensors(function(*given))
    torch.manual_seed(2)
    ends = [each for each in results if each.requires_grad]
    slopes = [torch.randn(each.shape) for each in ends]
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


def test_random_numbers_are_drawn_in_the_order_of_memory():
    square, images = torch.randn(4, 3), torch.randn(2, 3, 4, 5)
    apart = images.to(memory_format=torch.channels_last)

    def model(x, y, z):
        drawn = [F.dropout(each, 0.5) for each in (x, y * 2, z, z[:, ::2])]
        return [*drawn, torch.rand_like(x) * x]

    agree(model, square.t(), apart, square)
