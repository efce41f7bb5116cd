# SPDX-License-Identifier: MIT
"""Graphs of which PyTorch runs a part, against eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


def square(n=4):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, n, generator=generator)
    return x @ x.T + torch.eye(n)


def eigenvalues(x):
    """Complex numbers of PyTorch's in a program."""
    return torch.linalg.eigvals(x * 2).abs().sort()[0] * 3


def spectrum(x):
    """And a program's in PyTorch."""
    spectrum = torch.fft.fft(x * 2)
    return torch.cumprod(spectrum / 4, 0).transpose(0, 1).abs() * 3


def large(x):
    """More rows than a program solves for."""
    return torch.linalg.solve(x.repeat(9, 9) + torch.eye(36), x.repeat(9, 1)) * 3


def constant(x):
    """A part that reads nothing, and one that two others read."""
    ones = torch.igamma(torch.arange(1.0, 5), torch.full([4], 99.0))
    return torch.igamma(ones, x.abs() + ones) * ones + torch.igamma(ones, ones)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.igamma(torch.ones_like(x), x.abs() + 1) * 2,
        large,
        eigenvalues,
        spectrum,
        constant,
    ],
    ids=["igamma", "solve", "eigenvalues", "spectrum", "constant"],
)
def test_parts_of_graphs_give_eager_modes_results_and_gradients(function):
    backend = numera.torch.backend("f32", fallback="torch")
    net = torch.compile(function, backend=backend, dynamic=False)
    x, y = square().requires_grad_(), square().requires_grad_()
    result, wanted = net(x), function(y)
    assert torch.allclose(result, wanted, rtol=1e-4, atol=1e-5)
    result.square().sum().backward()
    wanted.square().sum().backward()
    assert torch.allclose(x.grad, y.grad, rtol=1e-2, atol=1e-3)
    assert backend.fallbacks and backend.programs


def test_complex_numbers_cross_borders():
    backend = numera.torch.backend("f32", fallback="torch")
    net = torch.compile(spectrum, backend=backend, dynamic=False)
    assert torch.allclose(net(square()), spectrum(square()), rtol=1e-4)
    assert [each.operator for each in backend.fallbacks] == ["aten.cumprod.default"]
    assert len(backend.programs) == 2
