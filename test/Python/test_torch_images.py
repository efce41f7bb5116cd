# SPDX-License-Identifier: MIT
"""Images in other sizes, and samples of volumes, as in eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numera.torch")

from torch.nn import functional as F  # noqa: E402
from torch_calls import agree  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_torch")


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_images_are_smoothed_before_they_are_made_smaller(mode):
    def model(x):
        sizes = [F.interpolate(x, (3, 20), mode=mode, antialias=True)]
        sizes += [F.interpolate(x, None, (0.6, 1.7), mode=mode, antialias=True)]
        if mode != "lanczos":
            sizes += [F.interpolate(x, (4, 5), None, mode, True, antialias=True)]
        return sizes

    agree(model, torch.randn(2, 3, 7, 9))


@pytest.mark.parametrize("mode", ["area", "nearest-exact"])
def test_images_without_a_filter(mode):
    def model(x):
        sizes = [F.interpolate(x, size, mode=mode) for size in ((4, 5), (12, 15))]
        return *sizes, F.interpolate(x, scale_factor=(0.6, 1.7), mode=mode)

    agree(model, torch.randn(2, 3, 7, 9))


@pytest.mark.parametrize("corners", [False, True])
@pytest.mark.parametrize("edges", ["zeros", "border", "reflection"])
def test_samples_of_volumes(edges, corners):
    def model(x, grid):
        modes = ("bilinear", "nearest")
        return [F.grid_sample(x, grid, mode, edges, corners) for mode in modes]

    agree(model, torch.randn(1, 2, 3, 5, 6), torch.randn(1, 2, 2, 3, 3) * 0.9)


def test_grids_of_volumes():
    def model(theta):
        shape = (2, 3, 4, 2, 3)
        return F.affine_grid(theta, shape, False), F.affine_grid(theta, shape, True)

    agree(model, torch.randn(2, 3, 4))
