# SPDX-License-Identifier: MIT
"""Rounding between the layers of a model, and gradients that go straight through."""

import copy
import sys
from pathlib import Path

import ml_dtypes
import numera
import numpy as np
import pytest

torch = pytest.importorskip("torch")

sys.path.append(str(Path(__file__).parents[1] / "Execution"))

import rounding as r
from numera.torch import _quantize as module
from numera.torch._quantize import Quantizer, quantize


def normal(*shape, seed=0):
    values = np.random.default_rng(seed).standard_normal(shape)
    return torch.tensor(values.astype("f4"))


def through(x, weights, *formats, **options):
    """What comes of x, and its gradient when that of the result is ``weights``."""
    x = x.clone().requires_grad_()
    y = quantize(x, *formats, **options)
    y.backward(weights)
    return y.detach(), x.grad


def test_numbers_and_gradients_are_rounded_each_to_its_format():
    x, w = normal(3, 50), normal(3, 50, seed=1)
    for forward, backward, kinds in (
        ("bf16", "f8E5M2", (ml_dtypes.bfloat16, ml_dtypes.float8_e5m2)),
        ("f8E4M3FN", "bf16", (ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16)),
    ):
        y, g = through(x, w, forward, backward=backward)
        for found, given, kind in zip((y, g), (x, w), kinds):
            expected = given.numpy().astype(kind).astype("f4")
            assert (found.numpy() == expected).all()


def test_the_gradient_goes_straight_through():
    # Where the number saturates as well.
    x, w = torch.tensor([1e6, 0.01, -0.3]), normal(3)
    y, g = through(x, w, "f8E4M3FN")
    assert y[0] == 448 and torch.equal(g, w)
    y, g = through(x, w, None, backward="bf16")
    assert torch.equal(y, x) and not torch.equal(g, w)
    # Of gradients too.
    x = x.clone().requires_grad_()
    (g,) = torch.autograd.grad((quantize(x, "bf16") ** 3).sum(), x, create_graph=True)
    (h,) = torch.autograd.grad(g[2], x)
    assert h[2].item() == 6 * quantize(x, "bf16")[2].item()


def test_numbers_and_gradients_draw_apart():
    x, w = normal(200), normal(200, seed=1)
    y, g = through(
        x, w, "bf16", backward="posit16", rounding="stochastic",
        backward_rounding="stochastic", seed=7, step=3,
    )  # fmt: skip
    expected = r.stochastic("bf16", x.double().numpy(), 7, 3, 0, 1)
    assert (y.numpy() == expected).all()
    expected = r.stochastic("posit16", w.double().numpy(), 7 + 2**63, 3, 0, 1)
    assert (g.numpy() == expected).all()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_types_and_strides_stay(dtype):
    x = normal(6, 10).to(getattr(torch, dtype))
    expected = quantize(x, "posit8")
    assert expected.dtype == x.dtype
    for view in (x.t(), x[::2], x[:, 1::3], x[0, 0], x[:0]):
        y = quantize(view, "posit8")
        assert y.shape == view.shape
        assert torch.equal(y, numera.quantize(view, "posit8"))


def test_scaled_formats_have_blocks_along_an_axis():
    x, w = normal(64, 40), normal(64, 40, seed=1)
    y, g = through(x, w, "mxfp8", backward="mxfp4", axis=0)
    assert torch.equal(y, numera.quantize(x, "mxfp8", axis=0))
    assert torch.equal(g, numera.quantize(w, "mxfp4", axis=0))
    assert not torch.equal(y, quantize(x, "mxfp8"))


def test_torch_knows_the_operator():
    draw = torch.tensor([1, 2])
    x = normal(5, 8).requires_grad_()
    for options in (
        ("bf16", "f8E5M2", "stochastic", "stochastic", None, None),
        ("mxfp8", None, None, None, None, 0),
        (None, "bf16", None, None, None, None),
    ):
        torch.library.opcheck(module._quantize, (x, draw, *options))


def test_it_is_part_of_compiled_graphs():
    def f(x, step):
        y = quantize(x * 2, "bf16", rounding="stochastic", backward="f8E5M2", step=step)
        return y.square().sum()

    compiled = torch.compile(f, backend="aot_eager", fullgraph=True)
    for step in range(4):
        x, y = (normal(30).requires_grad_() for _ in range(2))
        f(x, step).backward()
        compiled(y, step).backward()
        assert torch.equal(x.grad, y.grad)


def test_modules_count_their_calls():
    torch.manual_seed(3)
    net = torch.nn.Sequential(
        torch.nn.Linear(6, 6),
        Quantizer("bf16", "f8E5M2", forward_rounding="stochastic"),
        Quantizer("posit8"),
    )
    again = copy.deepcopy(net)
    graphs = []

    def count(graph, inputs):
        graphs.append(graph)
        return graph

    compiled = torch.compile(again, backend=count, fullgraph=True)
    x = normal(4, 6)
    results = [net(x) for _ in range(4)]
    assert not torch.equal(results[0], results[1])
    for result in results:
        assert torch.equal(result, compiled(x))
    assert len(graphs) == 1
    # What only rounds to nearest has nothing to keep.
    assert [key for key in net.state_dict() if "draw" in key] == ["1.draw"]
    assert net[1].draw[1] == 4
    other = copy.deepcopy(net)
    third = net(x)
    other.load_state_dict(again.state_dict())
    assert torch.equal(other(x), third)


def test_modules_draw_apart_and_repeatably():
    def pair():
        torch.manual_seed(1)
        q = [Quantizer("bf16", forward_rounding="stochastic") for _ in range(2)]
        return [each(normal(500)) for each in q]

    first, second = pair(), pair()
    assert torch.equal(first[0], second[0]) and torch.equal(first[1], second[1])
    assert not torch.equal(first[0], first[1])


@pytest.mark.parametrize("reentrant", [False, True])
@pytest.mark.parametrize("compiles", [False, True])
def test_what_is_computed_again_draws_as_before(reentrant, compiles):
    def train(layer, call):
        q = Quantizer(
            "f8E4M3FN", "f8E5M2", forward_rounding="stochastic",
            backward_rounding="stochastic", seed=1,
        )  # fmt: skip

        def model(x):
            for _ in range(2):
                x = call(lambda v: q(layer(v)).square(), x)
            return x

        if compiles:
            torch._dynamo.reset()
            model = torch.compile(model, backend=numera.torch.backend("f32"))
        x = normal(8, 16).requires_grad_()
        # As microbatches, whose calls are computed again in another order.
        for loss in [model(x * each).sum() for each in (1, 2)]:
            loss.backward()
        weight, layer.weight.grad = layer.weight.grad, None
        return x.grad, weight, q.draw

    if compiles:
        pytest.importorskip("torch_mlir")
        import numera.torch
    layer = torch.nn.Linear(16, 16)
    wanted = train(layer, lambda f, x: f(x))

    def again(f, x):
        return torch.utils.checkpoint.checkpoint(f, x, use_reentrant=reentrant)

    found = train(layer, again)
    assert found[2].tolist() == [1, 4]
    for one, other in zip(found, wanted):
        torch.testing.assert_close(one, other)  # parts are added in another order


def test_selective_checkpoints_draw_the_same():
    from torch.utils import checkpoint

    def gradient(call):
        q = Quantizer("f8E4M3FN", "f8E5M2", forward_rounding="stochastic", seed=1)
        x = normal(200).requires_grad_()
        call(lambda v: q(v).square(), x).sum().backward()
        return x.grad

    def again(f, x):
        kept = [torch.ops.numera.quantize.default]
        return checkpoint.checkpoint(
            f,
            x,
            use_reentrant=False,
            context_fn=lambda: checkpoint.create_selective_checkpoint_contexts(kept),
        )

    assert torch.equal(gradient(again), gradient(lambda f, x: f(x)))


def test_graphs_are_made_without_gradients():
    from torch.fx.experimental.proxy_tensor import make_fx

    q = Quantizer("f8E4M3FN", forward_rounding="stochastic", seed=1)
    with torch.no_grad():
        graph = make_fx(q)(normal(3))
    assert [str(node.target) for node in graph.graph.nodes].count(
        "numera.quantize.default"
    ) == 1


def test_weights_are_rounded_by_a_parametrization():
    layer = torch.nn.Linear(8, 3)
    torch.nn.utils.parametrize.register_parametrization(
        layer, "weight", Quantizer("f8E4M3FN", "f8E5M2")
    )
    layer(normal(2, 8)).sum().backward()
    raw = layer.parametrizations.weight.original
    assert torch.equal(layer.weight, numera.quantize(raw.detach(), "f8E4M3FN"))
    assert torch.equal(raw.grad, numera.quantize(raw.grad, "f8E5M2"))


@pytest.mark.parametrize("fmt", ["bf16", "mxfp8", "scaled<i8>"])
def test_vmap_rounds_each(fmt):
    x = normal(3, 64)
    each = torch.stack([quantize(row, fmt) for row in x])
    assert torch.equal(torch.vmap(lambda row: quantize(row, fmt))(x), each)
    columns = torch.vmap(lambda row: quantize(row, fmt), 1, 1)(x.t())
    assert torch.equal(columns, each.t())


def test_formats_that_no_name_finds():
    fmt = numera.format("f8E4M3FN", overflow="infinity")
    assert quantize(torch.tensor([1e6]), fmt).isnan().all()
    assert Quantizer(fmt)(torch.tensor([1e6])).isnan().all()


def test_what_is_refused():
    with pytest.raises(numera.Error, match="unknown format 'posit61'"):
        quantize(normal(2), "posit61")
    with pytest.raises(numera.Error, match="unknown format 'posit61'"):
        Quantizer(backward="posit61")
    with pytest.raises(numera.Error, match="takes floats"):
        quantize(torch.arange(3), "bf16")
    with pytest.raises(numera.Error, match="quantize takes a tensor, found list"):
        quantize([1.0], "bf16")
    with pytest.raises(numera.Error, match="rounding is not for scaled formats"):
        quantize(normal(2), "mxfp8", rounding="up")


def test_derivatives_in_forward_mode_go_straight_through():
    x, tangent = torch.tensor([0.1, 3.3]), torch.tensor([2.0, -1.0])
    y, dy = torch.func.jvp(lambda v: quantize(v, "posit8"), (x,), (tangent,))
    assert torch.equal(y, quantize(x, "posit8")) and torch.equal(dy, tangent)
    rows = torch.func.jacfwd(lambda v: quantize(v * v, "posit8"))(x)
    assert torch.equal(rows, torch.diag(2 * x))


@pytest.mark.parametrize("compiler", [None, "aot_eager"])
def test_transforms_of_torch_func_go_straight_through(compiler):
    def loss(v):
        return (quantize(v * v, "posit8", backward="f8E5M2") ** 3).sum()

    def tangent(v):
        return torch.func.jvp(lambda v: quantize(v * v, "posit8"), (v,), (v,))[1]

    x = normal(3, 4).requires_grad_()
    (wanted,) = torch.autograd.grad(loss(x), x, create_graph=True)
    (second,) = torch.autograd.grad(wanted.sum(), x)
    x = x.detach()
    for function, expected in (
        (torch.func.grad(loss), wanted),
        (torch.vmap(torch.func.grad(loss)), wanted),
        (torch.func.grad(lambda v: torch.vmap(loss)(v).sum()), wanted),
        (torch.func.grad(lambda v: torch.func.grad(loss)(v).sum()), second),
        (tangent, 2 * x * x),
    ):
        torch._dynamo.reset()
        if compiler:
            function = torch.compile(function, backend=compiler, fullgraph=True)
        assert torch.equal(function(x), expected)
    # A tangent is not rounded, as gradients of gradients are.
    rows = torch.func.jacfwd(torch.func.grad(loss))(x).sum((2, 3))
    torch.testing.assert_close(rows, second, rtol=0.15, atol=0)


def test_modules_count_below_transforms():
    q = Quantizer("bf16", "bf16", forward_rounding="stochastic", seed=1)
    x = normal(50)
    found = torch.func.grad(lambda v: q(v).square().sum())(x)
    y = quantize(x, "bf16", rounding="stochastic", seed=1, step=0)
    assert torch.equal(found, quantize(2 * y, "bf16"))
    assert q.draw.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("fmt", "options"), [("scaled<i8>", {"axis": 0}), ("nvfp4", {}), ("mxfp4", {})]
)
def test_each_of_a_batch_of_vmap_has_its_own_scales(fmt, options):
    x = torch.randn(3, 4, 32) * torch.tensor([1.0, 10.0, 100.0])[:, None, None]

    def rounded(row):
        return quantize(row, fmt, **options)

    assert torch.equal(torch.vmap(rounded)(x), torch.stack([rounded(row) for row in x]))


@pytest.mark.parametrize(
    "options, line",
    [
        ({"seed": "a"}, "seed is 'a', expected a whole number"),
        ({"seed": 1.5}, "seed is 1.5, expected a whole number"),
        ({"axis": "a"}, "axis is 'a', expected a whole number"),
        ({"overflow": 5}, "overflow is 5, expected a word such as 'nearest-even'"),
    ],
)
def test_what_is_no_option_is_one_line(options, line):
    for call in (
        lambda: quantize(torch.ones(2), "bf16", **options),
        lambda: Quantizer("bf16", **options),
    ):
        with pytest.raises(numera.Error) as error:
            call()
        assert str(error.value) == line
