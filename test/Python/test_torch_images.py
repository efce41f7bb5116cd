# SPDX-License-Identifier: MIT
"""Images in other sizes, and samples of volumes, as in eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch.nn import functional as F
from torch_calls import agree

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


def test_exported_programs_hold_the_matrices_of_filters(tmp_path):
    class Smaller(torch.nn.Module):
        def forward(self, x):
            small = F.interpolate(x, (3, 5), mode="bicubic", antialias=True)
            return small, F.pdist(x[0, 0])

    x = torch.randn(1, 2, 6, 7)
    exported = torch.export.export(Smaller(), (x,))
    for _ in range(2):
        net = numera.torch.compile(exported, format="f32")
        torch.testing.assert_close(net(x), Smaller()(x), rtol=1e-5, atol=1e-5)
    path, text = str(tmp_path / "smaller.pt2"), str(tmp_path / "smaller.mlir")
    torch.export.save(exported, path)
    numera.import_model(path, text)
    found = [torch.from_numpy(each) for each in numera.compile(text)(x.numpy())]
    torch.testing.assert_close(found, [*Smaller()(x)], rtol=1e-5, atol=1e-5)
