# SPDX-License-Identifier: MIT
"""Images in other sizes, and samples of volumes, as in eager mode."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from numera.torch._graph import prepare
from torch.nn import functional as F
from torch_calls import agree, graph_of

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


@pytest.mark.parametrize("format", ["f8E4M3FN", "posit8", "bf16"])
def test_places_and_shares_are_not_in_the_format(format):
    """Of zeros and ones, which are exact, as are the shares; places up to 319 are not."""
    backend = numera.torch.backend(format=format)

    def model(x):
        line, image = x[..., 0, :], x[:, :1]
        return (
            F.interpolate(line, 640),
            F.interpolate(line, 480, mode="nearest-exact"),
            F.interpolate(line, scale_factor=2, mode="linear"),
            F.interpolate(image, (3, 480)),
            F.interpolate(image, scale_factor=2, mode="bilinear"),
            F.interpolate(image[:, :, None], (2, 5, 640), mode="nearest"),
        )

    x = (torch.arange(2 * 3 * 320) * 7 % 3 % 2).reshape(1, 2, 3, 320).float()
    own, other = x.clone().requires_grad_(), x.clone().requires_grad_()
    found, expected = torch.compile(model, backend=backend)(own), model(other)
    for each, right in zip(found, expected, strict=True):
        assert torch.equal(each, right)
    sum(each.sum() for each in found).backward()
    sum(each.sum() for each in expected).backward()
    torch.testing.assert_close(own.grad, other.grad, rtol=0.13, atol=0.01)


def test_what_depends_on_no_input_is_a_constant():
    def model(x):
        places = torch.arange(7.0)[:, None] / torch.arange(1.0, 5.0)
        return x + torch.sin(places * 100), (places * 3.7).floor().long()

    backend = numera.torch.backend(format="float<4,3>")
    x = torch.zeros(7, 4)
    waves, places = torch.compile(model, backend=backend)(x)
    assert torch.equal(places, model(x)[1])
    rounded = numera.quantize(model(x)[0].numpy(), "float<4,3>")
    assert torch.equal(waves, torch.from_numpy(rounded))


def test_a_constant_that_is_a_result_is_its_caller_s():
    net = torch.compile(
        lambda x: (x + 1, torch.sin(torch.arange(3.0))), backend=numera.torch.backend()
    )
    net(torch.zeros(2))[1].add_(100)
    assert torch.equal(net(torch.zeros(2))[1], torch.sin(torch.arange(3.0)))


def test_large_constants_are_computed_as_the_rest_is():
    """Those of one size alike."""

    def model(x):
        small = torch.arange(9.0) / 7
        large = [torch.arange(700.0)[:, None] * n / torch.arange(1.0, 1001) for n in (1, 2)]
        return x * small, *(x[0] + each for each in large)

    graph = prepare(graph_of(model, torch.zeros(9))).module
    held = [tensor.numel() for tensor in graph.buffers()]
    assert held == [9]


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
