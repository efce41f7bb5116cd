# SPDX-License-Identifier: MIT
"""What models of other packages are made of: values and gradients are eager mode's."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

from torch.nn import functional as F
from torch_calls import compiled

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def values_and_gradients(function, inputs):
    given = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    results = function(*given)
    torch.manual_seed(1)
    loss = sum((torch.randn(each.shape) * each).sum() for each in results)
    loss.backward()
    return [*results, *(x.grad for x in given if x.requires_grad)]


def agree(function, *inputs):
    """The function, compiled in f32, has the values and gradients of eager mode."""
    found = values_and_gradients(compiled(function)[0], inputs)
    wanted = values_and_gradients(function, inputs)
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


def test_edges_take_away_as_much_as_they_add():
    def model(x):
        shifted = F.pad(x, (0, 0, 1, -1), value=2.0)  # the steps before, in RWKV
        return shifted, F.pad(x, (-1, 1)), F.pad(x, (-2, 3, 1, -1)), F.pad(x, (-1, -1))

    agree(model, torch.randn(2, 5, 4))


def test_edges_repeat_what_is_nearest():
    def model(x):
        y = F.pad(x, (2, -1, -1, 3), mode="replicate")
        return y, F.pad(x[0], (1, 2), mode="replicate")

    agree(model, torch.randn(2, 3, 4, 5))
