# SPDX-License-Identifier: MIT
"""Arguments and buffers that share memory of which some is written to, and views by
strides."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera.torch
from torch import nn
from torch_calls import agree, normal

pytestmark = pytest.mark.usefixtures("fresh_torch")


def whole(turn, dtype=None):
    def views():
        base = (normal(6, 8) * 10).to(dtype)
        return turn(base), base

    return views


def add_one(x, base):
    x.add_(1)
    return base * 2


def write_both(x, y):
    x.add_(1)
    y.mul_(2)
    return x, y * x.sum()


def fill(x, base):
    x.zero_()
    return base + 1


WRITTEN = {
    "rows": (whole(lambda base: base[1:3]), add_one),
    "a row": (whole(lambda base: base[2]), fill),
    "steps": (whole(lambda base: base[::2, 1::3]), add_one),
    "steps, and the whole": (whole(lambda base: base[::2, 1::3]), write_both),
    "turned": (whole(lambda base: base.t()), add_one),
    "in a row": (whole(lambda base: base.view(-1)), add_one),
    "columns": (lambda: normal(6, 8).unbind(1)[:2], write_both),
    "whole numbers": (whole(lambda base: base[:, 3], torch.int64), add_one),
}


@pytest.mark.parametrize(("views", "function"), WRITTEN.values(), ids=WRITTEN)
def test_arguments_that_share_memory(views, function):
    given, wanted = views(), views()
    net = torch.compile(function, backend=numera.torch.backend("f32"))
    found, expected = net(*given), function(*wanted)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    for each, right in zip(given, wanted, strict=True):
        torch.testing.assert_close(each, right, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dynamic", [None, True])
def test_sizes_of_arguments_that_share_memory(dynamic):
    backend = numera.torch.backend("f32")
    net = torch.compile(write_both, backend=backend, dynamic=dynamic)
    for rows in 4, 6, 8:
        given, wanted = normal(rows, 6), normal(rows, 6)
        net(given[:, 1], given[1:])
        write_both(wanted[:, 1], wanted[1:])
        torch.testing.assert_close(given, wanted)


class Cache(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("cache", torch.zeros(4, 6))
        self.row = self.cache[1]

    def forward(self, x):
        self.row.add_(x)
        return self.cache * 2


def test_a_buffer_and_a_row_of_it():
    model, eager = Cache(), Cache()
    net = torch.compile(model, backend=numera.torch.backend("bf16"))
    for _ in range(2):
        assert torch.equal(net(torch.ones(6)), eager(torch.ones(6)))
    assert torch.equal(model.cache, eager.cache)


def write_by_strides(x):
    y = x.clone()
    y.as_strided((3, 3), (3, 1), 1).add_(1)
    y.as_strided((3,), (4,), 2).zero_()
    y.as_strided((0, 3), (3, 1), 1).add_(1)
    return y * 2


def test_views_by_strides():
    agree(
        lambda x: (
            x.as_strided((3, 4), (2, 1), 1) * 2,
            x.as_strided((3, 3), (1, 2), 1).sin(),
            x.as_strided((2, 3), (0, 5)).cos(),
            write_by_strides(x),
        ),
        torch.randn(20),
    )
    agree(lambda x: x.as_strided((2, 3), (3, 1), 2) + 1, torch.arange(9))
