# SPDX-License-Identifier: MIT
"""Statistics of gradients, against eager mode."""

import copy
import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(8, 16), nn.Linear(16, 3)])
        self.scale = nn.Parameter(torch.ones(3))

    def forward(self, x):
        hidden = torch.dropout(torch.tanh(self.layers[0](x)), 0.3, self.training)
        return self.layers[1](hidden) * self.scale


def steps(format, factor=1.0, count=1, **options):
    """The backend after some steps, and gradients in the format and in eager mode, by
    name, of the last one."""
    torch.manual_seed(0)
    model = Net()
    exact = copy.deepcopy(model)
    x, y = torch.randn(32, 8), torch.randint(0, 3, (32,))

    def loss_of(net):
        return nn.functional.cross_entropy(net(x), y) * factor

    backend = numera.torch.backend(format, **options)
    compiled = torch.compile(loss_of, backend=backend)
    for step in range(count):
        for net, loss in ((model, compiled), (exact, loss_of)):
            net.zero_grad()
            torch.manual_seed(step)
            loss(net).backward()
    found = {name: p.grad for name, p in model.named_parameters()}
    return backend, found, {name: p.grad for name, p in exact.named_parameters()}


def sqnr(found, expected):
    noise = (found.double() - expected.double()).square().sum()
    return 10 * math.log10(expected.double().square().sum() / noise)


def short(name):
    """Without the variable that has the model."""
    return name.split(".", 1)[1] if name.startswith("net.") else name


@pytest.mark.parametrize("format", ["f8E4M3FN", "posit16"])
def test_gradients_are_compared_with_those_of_f32(format):
    backend, found, expected = steps(format, stats=True)
    rows = {short(row["name"]): row for row in backend.gradients}
    assert rows.keys() == found.keys()
    for name, row in rows.items():
        # f32 there is rounded in another order.
        assert row["sqnr_db"] == pytest.approx(
            sqnr(found[name], expected[name]), abs=0.01
        )
        assert (row["step"], row["count"]) == (1, found[name].numel())
        assert row["max_abs"] == pytest.approx(
            expected[name].abs().max().item(), rel=1e-4
        )


@pytest.mark.parametrize("factor", [1e-3, 3e5])
def test_shares_beyond_the_range_of_the_format(factor):
    backend, found, expected = steps(
        "f32", factor, stats=True, backward="float<4,3,finite>", overflow="saturate"
    )
    info = numera.format("float<4,3,finite>").finfo
    some = 0
    for row in backend.gradients:
        value, size = found[short(row["name"])], expected[short(row["name"])].abs()
        over, under = size > info.max, (size < info.smallest_normal) & (size > 0)
        zeros, full = (value == 0) & (size > 0), value.abs() == info.max
        assert row["format"].startswith("float<4,3,finite")
        for key, where in [
            ("overflow", over),
            ("saturated", over & full),
            ("underflow", under),
            ("zeros", zeros),
        ]:
            # A number at the edge may be rounded to its other side.
            share = where.double().mean().item()
            assert row[key] == pytest.approx(share, abs=2.5 / size.numel()), (key, row)
        some += (over if factor > 1 else under).sum()
    assert some > 100


def test_bits_are_those_without_statistics():
    options = {"rounding": "stochastic", "seed": 3, "count": 3}
    _, plain, _ = steps("bf16", **options)
    torch._dynamo.reset()
    backend, found, _ = steps("bf16", stats=2, **options)
    for name, value in plain.items():
        assert torch.equal(value, found[name])
    # Every second step.
    assert sorted({row["step"] for row in backend.gradients}) == [1, 3]


def test_what_pytorch_runs_between_programs_rounds_nothing_in_the_shadow():
    torch.manual_seed(0)
    rounds = numera.torch.Quantizer("f8E4M3FN", "f8E5M2")
    first, second = nn.Embedding(9, 8, sparse=True), nn.Linear(8, 3)
    model = nn.Sequential(first, rounds, nn.Tanh(), second)
    exact = copy.deepcopy(nn.Sequential(first, nn.Tanh(), second))
    x, y = torch.randint(0, 9, (32,)), torch.randint(0, 3, (32,))

    def loss_of(net):
        return nn.functional.cross_entropy(net(x), y)

    backend = numera.torch.backend("bf16", stats=2)
    net = torch.compile(lambda: loss_of(model), backend=backend)
    for _ in range(3):
        model.zero_grad()
        net().backward()
    loss_of(exact).backward()
    assert backend.step == 3
    wanted = ["0.weight", "3.bias", "3.weight"]
    for step in (1, 3):
        rows = {r["name"]: r for r in backend.gradients if r["step"] == step}
        assert sorted(rows) == wanted
    found, other = dict(model.named_parameters()), dict(exact.named_parameters())
    for name, twin in zip(wanted, ("0.weight", "2.bias", "2.weight")):
        g, h = found[name].grad, other[twin].grad
        if g.is_sparse:
            g, h = g._values(), h._values()
        assert rows[name]["count"] == g.numel()
        assert rows[name]["sqnr_db"] == pytest.approx(sqnr(g, h), abs=0.05)


def test_layers_of_both_passes():
    backend, _, _ = steps("f8E4M3FN", stats=True)
    rows = backend.layers()
    assert {row["pass"] for row in rows} == {"forward", "backward"}
    head = next(row for row in rows if row["name"].startswith("layers.0#"))
    assert head["pass"] == "forward" and head["count"] == 32 * 16
    assert 15 < head["sqnr_db"] < 40 and head["codes"] > 200


def test_what_is_wrong_is_one_line():
    with pytest.raises(numera.Error, match="stats goes without fallback"):
        numera.torch.backend("bf16", stats=True, fallback="torch")
    with pytest.raises(numera.Error, match="stats is -1, expected True or a number"):
        numera.torch.backend("bf16", stats=-1)
    with pytest.raises(numera.Error, match="no statistics; make it with stats=True"):
        numera.torch.backend("bf16").layers()
