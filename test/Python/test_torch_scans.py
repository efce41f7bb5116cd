# SPDX-License-Identifier: MIT
"""What other people's models of PyTorch use: cumulative sums, weight norms, constants,
NaN, results that share elements, exported programs given other shapes."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn
from torch_calls import agree


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


@pytest.mark.parametrize("function", [torch.cummax, torch.cummin])
def test_what_is_largest_or_smallest_so_far(function):
    """Of equal ones the later, and each NaN anew."""
    nan, inf = float("nan"), float("inf")
    x = [[1.0, 3, 3, 2, 5], [nan, 1, 2, nan, 3], [-inf, inf, 1, inf, nan]]

    def model(x, i, flags):
        found = *function(x, 1), *function(i, -1), *function(flags, 0)
        return *found, *function(x.nan_to_num(posinf=9), 0), *function(x[0, 0], 0)

    flags = torch.tensor([False, True, False])
    agree(model, torch.tensor(x), torch.tensor([3, 1, 4, 1, 5, 9, 2]), flags)


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


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.clamp(-1, 1) + x.clamp(min=0.5) + x.clamp(max=2.0),
        torch.nn.functional.relu6,
        torch.nn.functional.hardtanh,
        lambda x: 1 / x,
        lambda x: x.nan_to_num().long().clamp(0, 2) + x,
        lambda x: torch.maximum(x, torch.ones_like(x)),
        lambda x: torch.minimum(torch.ones_like(x), x),
    ],
)
def test_nan_and_infinity_stay_what_they_are(function):
    x = torch.tensor([float("nan"), -2.0, 0.5, 0.0, 7.0], requires_grad=True)
    wanted, found = function(x), compiled(function)(x)
    torch.testing.assert_close(found, wanted, equal_nan=True)
    (slope,) = torch.autograd.grad(wanted.sum(), x)
    (got,) = torch.autograd.grad(found.sum(), x)
    torch.testing.assert_close(got, slope, equal_nan=True)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * torch.tensor(2.0),
        lambda x: x[[0, 2]],
        nn.functional.normalize,
        lambda x: x.sum().expand(3, 2),
    ],
)
def test_constants_and_expanded_results_in_training(function):
    x = torch.randn(3, 4, requires_grad=True)
    wanted, found = function(x), compiled(function)(x)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-6)
    (slope,) = torch.autograd.grad((wanted * wanted).sum(), x)
    (got,) = torch.autograd.grad((found * found).sum(), x)
    torch.testing.assert_close(got, slope, rtol=1e-5, atol=1e-5)


def test_an_exported_program_checks_what_it_is_given():
    model = nn.Linear(8, 4)
    net = numera.torch.compile(model, (torch.randn(16, 8),), format="f32")
    for given, message in [
        (torch.randn(5, 8), r"'input': shape \(5, 8\); expected \(16, 8\)"),
        (torch.randn(16), r"'input': shape \(16,\); expected \(16, 8\)"),
        (torch.randn(16, 8).double(), "is torch.float64; expected torch.float32"),
        (np.ones((16, 8), "f4"), "is of type ndarray; expected a tensor"),
    ]:
        with pytest.raises(numera.Error, match=message):
            net(given)
