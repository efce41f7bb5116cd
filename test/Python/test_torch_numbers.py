# SPDX-License-Identifier: MIT
"""Numbers of Python that are arguments of models: what is computed of them outside of
tensors, and what they decide."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera.torch

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def check(function, numbers):
    """Calls of a model in f32 agree with those of eager mode; counts its programs."""
    backend = numera.torch.backend("f32")
    net = torch.compile(function, backend=backend)
    x = torch.arange(1.0, 9.0)
    for number in numbers:
        torch.testing.assert_close(net(x, number), function(x, number))
    return len(backend.programs)


DIVIDED = {
    "inverse": lambda x, t: x * (1 / t),
    "third": lambda x, t: x + t / 3,
    "floor": lambda x, t: x * (t // 0.3),
    "warm-up": lambda x, t: x / (1 - 0.9**t),
    "cosine": lambda x, t: x * (0.5 * (1 + math.cos(math.pi * t / 3))),
    "larger": lambda x, t: x * max(t, 1 / t),
    "size": lambda x, t: x * (x.shape[0] / t),
}


@pytest.mark.parametrize("function", DIVIDED.values(), ids=DIVIDED)
def test_floats_are_divided_outside_of_tensors(function):
    assert check(function, (1.0, 0.9, 0.7, 0.3)) == 2


POWERS = {
    "operator": lambda x, n: x**n,
    "function": lambda x, n: torch.pow(x, n),
    "of a size": lambda x, n: x ** (n + x.shape[0] - 8),
}


@pytest.mark.parametrize("function", POWERS.values(), ids=POWERS)
def test_powers_whose_exponent_is_an_int(function):
    assert check(function, (2, 3, 5, 2)) == 3
    torch._dynamo.reset()
    net = torch.compile(function, backend=numera.torch.backend("f32"), dynamic=True)
    x = torch.arange(1.0, 9.0)
    assert torch.equal(net(x, 4), function(x, 4))
