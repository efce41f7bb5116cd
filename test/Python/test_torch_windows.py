# SPDX-License-Identifier: MIT
"""Pools of images that are no batch, and convolutions of volumes in groups."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera.torch
from torch import nn
from torch_calls import agree

pytestmark = pytest.mark.usefixtures("fresh_torch")

LINES = [
    nn.MaxPool1d(2),
    nn.MaxPool1d(3, 2, 1, return_indices=True),
    nn.AvgPool1d(3, 2),
]
IMAGES = [
    nn.MaxPool2d(2),
    nn.MaxPool2d(3, 2, 1, ceil_mode=True, return_indices=True),
    nn.AvgPool2d(2),
    nn.AvgPool2d(3, 2, 1, count_include_pad=False),
    nn.AdaptiveMaxPool2d(4),
]


def of_all(layers):
    return lambda x: [layer(x) for layer in layers]


def test_pools_of_one_image():
    agree(of_all(LINES), torch.randn(2, 8))
    agree(of_all(IMAGES), torch.randn(2, 8, 8))


@pytest.mark.parametrize("kind", [nn.Conv3d, nn.ConvTranspose3d])
@pytest.mark.parametrize(("channels", "batch"), [(4, 2), (8, 1)])
def test_volumes_in_groups_of_one_channel(kind, channels, batch):
    layer = kind(4, channels, 2, stride=2, padding=1, groups=4)

    def model(x, weight, bias):
        given = {"weight": weight, "bias": bias}
        return torch.func.functional_call(layer, given, (x,))

    agree(model, torch.randn(batch, 4, 5, 5, 5), *layer.parameters())


def test_the_gradient_of_such_a_weight_has_the_format_of_gradients():
    layer = nn.Conv3d(4, 4, 2, groups=4, bias=False)
    backend = numera.torch.backend("f32", gradients="f8E4M3FN")
    torch.compile(layer, backend=backend)(torch.randn(1, 4, 3, 3, 3)).sum().backward()
    slope = layer.weight.grad
    assert torch.equal(slope, slope.to(torch.float8_e4m3fn).float())
