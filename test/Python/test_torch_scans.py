# SPDX-License-Identifier: MIT
"""Operators of PyTorch that other people's models use: cumulative sums, weight
norms, constants of a graph."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def compiled(function, format="f32", **options):
    return torch.compile(function, backend=numera.torch.backend(format, **options))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("accumulate", ["f32", "same"])
def test_cumulative_sums_add_in_order(axis, accumulate):
    x = numera.quantize(torch.randn(3, 5, 4), "bf16")
    found = compiled(lambda x: x.cumsum(axis), "bf16", accumulate=accumulate)(x)
    rows = np.moveaxis(x.numpy(), axis, 0)
    sums, sum = [], np.zeros(rows[0].shape, "f4")
    for row in rows:
        sum = sum + row
        # In the accumulator, and rounded where it is a result; or at each step.
        rounded = numera.quantize(sum, "bf16")
        sum = sum if accumulate == "f32" else rounded
        sums.append(rounded)
    np.testing.assert_array_equal(found.numpy(), np.moveaxis(sums, 0, axis))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.exp().cumprod(0),
        lambda x: x.logcumsumexp(1),
        lambda x: x.cumsum(1) * x.flip(0).cumsum(0),
        lambda x: (x > 0).cumsum(-1) * x,
        lambda x: x[:, :0].cumsum(0).sum() + x,
    ],
)
def test_scans_and_their_gradients_are_those_of_eager_mode(function):
    x = torch.randn(4, 3, requires_grad=True)
    wanted = function(x)
    (slope,) = torch.autograd.grad((wanted * wanted).sum(), x)
    found = compiled(function)(x)
    (got,) = torch.autograd.grad((found * found).sum(), x)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(got, slope, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dim", [0, 2])
def test_a_norm_of_weights(dim):
    model = nn.utils.parametrizations.weight_norm(nn.Conv1d(3, 4, 5), dim=dim)
    x = torch.randn(2, 3, 9)
    model(x).square().sum().backward()
    wanted = [p.grad.clone() for p in model.parameters()]
    model.zero_grad()
    compiled(model)(x).square().sum().backward()
    for found, gradient in zip(model.parameters(), wanted):
        torch.testing.assert_close(found.grad, gradient, rtol=1e-5, atol=1e-5)


def test_numbers_that_a_model_makes_tensors_of():
    scale = torch.sqrt(torch.tensor(16.0))

    def model(x):
        return x / torch.sqrt(torch.tensor(16.0)) + torch.tensor([1.0, 2.0]) / scale

    x = torch.randn(3, 2)
    torch.testing.assert_close(compiled(model)(x), model(x))
