# SPDX-License-Identifier: MIT
"""Modules of PyTorch in f32: values and gradients are those of eager mode."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn
from torch.nn import functional as F
from torch_calls import agree


pytestmark = pytest.mark.usefixtures("fresh_torch")


@pytest.fixture
def recurrent():
    with torch._dynamo.config.patch(allow_rnn=True):
        yield


def gradients_of(model, net, given):
    model.zero_grad()
    output, (hidden, cell) = net(*given)
    (output.square().sum() + (hidden * cell).sum()).backward()
    return output, hidden, cell, *(each.grad.clone() for each in model.parameters())


@pytest.mark.parametrize(
    "count, bias, fallback", [(3, True, None), (1, False, "torch")]
)
def test_an_lstm_whose_input_has_no_gradient(recurrent, count, bias, fallback):
    model = nn.LSTM(4, 3, bias=bias, bidirectional=count > 1)
    x, start = torch.randn(count, 2, 4), torch.randn(2, 2 if count > 1 else 1, 2, 3)
    start.requires_grad_()
    backend = numera.torch.backend("f32", fallback=fallback)
    net = torch.compile(model, backend=backend)
    wanted = gradients_of(model, model, (x, tuple(start)))
    slope, start.grad = start.grad, None
    found = gradients_of(model, net, (x, tuple(start)))
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)
    torch.testing.assert_close(start.grad, slope, rtol=2e-5, atol=2e-5)
    assert not backend.fallbacks
    with torch.no_grad():
        torch.testing.assert_close(net(x), model(x), rtol=2e-5, atol=2e-5)


def test_averages_of_windows():
    options = [
        {"ceil_mode": True},
        {"ceil_mode": True, "count_include_pad": False},
        {"count_include_pad": False},
        {"divisor_override": 5, "ceil_mode": True},
    ]

    def model(x, y):
        return [
            *(F.avg_pool2d(x, 3, 2, 1, **each) for each in options),
            *(F.avg_pool3d(y, 3, 2, 1, **each) for each in options[1:2]),
            *(F.avg_pool2d(x, 2, ceil_mode=True), F.avg_pool3d(y, 2)),
            F.avg_pool1d(x[0], 3, 2, 1, ceil_mode=True),
        ]

    agree(model, torch.randn(2, 3, 8, 7), torch.randn(1, 2, 5, 4, 3))


def test_averages_of_a_number_of_windows():
    def model(x, y, z):
        return [
            *(F.adaptive_avg_pool2d(x, each) for each in [(3, 2), (9, 7), (1, 7)]),
            *(F.adaptive_avg_pool2d(y, each) for each in [1, (3, 4)]),
            F.adaptive_avg_pool1d(x[0], 4),
            F.adaptive_avg_pool3d(z, (2, 3, 1)),
        ]

    last = torch.randn(2, 3, 6, 6).to(memory_format=torch.channels_last)
    agree(model, torch.randn(2, 3, 7, 7), last, torch.randn(1, 2, 5, 4, 3))


def test_largest_elements_of_windows():
    def model(x, y):
        return [
            *F.adaptive_max_pool2d(x, (3, 2), return_indices=True),
            *F.adaptive_max_pool2d(x, (4, 7), return_indices=True),
            *(F.adaptive_max_pool2d(x, 1), F.adaptive_max_pool1d(x[0], 3)),
            *(F.adaptive_max_pool3d(y, (2, 3, 1)), F.max_pool3d(y, 2)),
            *F.max_pool3d(y, 3, 2, 1, ceil_mode=True, return_indices=True),
        ]

    agree(model, torch.randn(2, 3, 7, 7), torch.randn(1, 2, 5, 4, 3))


def test_of_nan_the_last_one_of_a_window_is_the_largest():
    x = torch.randn(1, 2, 6, 6)
    x.view(-1)[[8, 9, 20, 36, 71]] = math.nan
    x[0, 1, 3] = -math.inf

    def model(x):
        results = []
        for size in ((2, 3), (4, 5), (6, 6)):
            results += F.adaptive_max_pool2d(x, size, return_indices=True)
        results += F.adaptive_max_pool3d(x, (1, 4, 2), return_indices=True)
        results += F.max_pool1d(x[0], 2, return_indices=True)
        results += F.max_pool3d(x, (1, 2, 3), return_indices=True)
        return results + list(F.max_pool2d(x, 3, 2, 1, return_indices=True))

    agree(model, x)


def test_activations_that_draw_by_their_elements():
    net = nn.Sequential(nn.Linear(5, 4), nn.RReLU(), nn.Linear(4, 3), nn.RReLU())
    parameters = dict(net.named_parameters())

    def model(x, *values):
        return torch.func.functional_call(net, dict(zip(parameters, values)), (x,))

    agree(model, torch.randn(30, 5), *parameters.values())
    x = torch.randn(40)
    agree(lambda x: F.rrelu(x, training=True) - F.rrelu(x, 0.1, 0.9, True), x)
    backend = numera.torch.backend("bf16")
    torch.manual_seed(7)
    found = torch.compile(F.rrelu, backend=backend)(x, training=True)
    torch.manual_seed(7)
    slopes = torch.ones(40)
    torch.ops.aten.rrelu_with_noise(x.bfloat16().float(), slopes, 1 / 8, 1 / 3, True)
    assert torch.equal(found, (x.bfloat16() * slopes.bfloat16()).float())


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_embeddings_in_bags(mode):
    def model(weight, rows, indices, starts, shares):
        bags = [
            F.embedding_bag(rows, weight, mode=mode, padding_idx=3),
            F.embedding_bag(indices, weight, starts, mode=mode),
            F.embedding_bag(
                *(indices, weight, starts), mode=mode, include_last_offset=True
            ),
            F.embedding_bag(indices[:0], weight, starts[:1], mode=mode),
        ]
        if mode == "sum":
            bags.append(
                F.embedding_bag(rows, weight, per_sample_weights=shares, mode=mode)
            )
        return bags

    rows, indices = torch.randint(0, 5, (4, 3)), torch.randint(0, 20, (9,))
    starts, shares = torch.tensor([0, 3, 3, 9]), torch.rand(4, 3)
    agree(model, torch.randn(20, 6), rows, indices, starts, shares)


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_whose_heads_share_keys(is_causal):
    mask = None if is_causal else torch.rand(2, 1, 5, 5) > 0.3

    def model(q, k, v):
        return F.scaled_dot_product_attention(
            q, k, v, mask, is_causal=is_causal, enable_gqa=True
        )

    agree(
        model, torch.randn(2, 6, 5, 4), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)
    )


def test_attention_whose_scores_functions_change():
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    bias, table = torch.randn(6), torch.randn(5, 5)
    blocks = create_block_mask(
        lambda b, h, i, j: (i >= j) & (j > 0), 1, 1, 5, 5, device="cpu"
    )

    def model(q, k, v):
        moved = flex_attention(
            q,
            k,
            v,
            score_mod=lambda s, b, h, i, j: s + bias[h] * (i - j) + table[i][j],
            enable_gqa=True,
        )
        return moved, flex_attention(q, k, v, block_mask=blocks, enable_gqa=True)

    q, k, v = torch.randn(2, 6, 5, 4), torch.randn(2, 2, 5, 4), torch.randn(2, 2, 5, 4)
    net = torch.compile(model, backend=numera.torch.backend("f32"))
    found, masked = net(q, k, v)  # Eager mode warns that it is slow.
    keys, values = (each.repeat_interleave(3, 1) for each in (k, v))
    scores = q @ keys.mT / 2
    row, column = torch.arange(5).unsqueeze(1), torch.arange(5)
    slopes = bias[:, None, None] * (row - column)
    torch.testing.assert_close(
        found, (scores + slopes + table).softmax(-1) @ values, rtol=2e-5, atol=2e-5
    )
    hidden = ~((row >= column) & (column > 0))
    expected = scores.masked_fill(hidden, -torch.inf).softmax(-1).nan_to_num() @ values
    torch.testing.assert_close(masked, expected, rtol=2e-5, atol=2e-5)


def sparse_of(function, table):
    table = table.clone().requires_grad_()
    y = function(table)
    (y * torch.arange(1.0, y.numel() + 1).view(y.shape)).sum().backward()
    return y.detach(), table.grad


INDICES = torch.tensor([[0, 2, 1, 2], [3, 1, 1, 0]])
SPARSE = {
    "rows": lambda w: F.embedding(INDICES, w, sparse=True),
    "without padding": lambda w: F.embedding(INDICES, w, -4, sparse=True),
    "sums": lambda w: F.embedding_bag(INDICES, w, mode="sum", sparse=True),
    "means without padding": lambda w: F.embedding_bag(
        INDICES, w, padding_idx=1, sparse=True
    ),
    "weighed": lambda w: F.embedding_bag(
        INDICES, w, mode="sum", sparse=True, per_sample_weights=INDICES / 3
    ),
}


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_gradients_have_the_rows_of_eager_mode(name):
    backend = numera.torch.backend("f32")
    net = torch.compile(SPARSE[name], backend=backend, fullgraph=True)
    table = torch.randn(5, 3)
    for found, wanted in zip(sparse_of(net, table), sparse_of(SPARSE[name], table)):
        assert found.layout == wanted.layout
        if found.is_sparse:
            assert found._indices().equal(wanted._indices())
            found, wanted = found._values(), wanted._values()
        torch.testing.assert_close(found, wanted)
    assert not backend.fallbacks


def test_rows_of_sparse_gradients_are_rounded():
    backend = numera.torch.backend("f32", backward="f8E5M2")
    net = torch.compile(
        lambda w: F.embedding(INDICES, w, sparse=True) / 3, backend=backend
    )
    _, gradient = sparse_of(net, torch.randn(5, 3))
    slopes = torch.arange(1.0, 25).view(-1, 3).to(torch.float8_e5m2).float()
    quotient = (slopes / torch.tensor(3.0)).to(torch.float8_e5m2).float()
    assert gradient._values().equal(quotient)


def test_quantizers_round_between_programs():
    model = nn.Sequential(
        *(nn.Linear(4, 5), numera.torch.Quantizer("f8E4M3FN", "f8E5M2"), nn.ReLU()),
        *(nn.Linear(5, 2), numera.torch.Quantizer("mxfp8")),
    )
    agree(model, torch.randn(32, 4))
    torch._dynamo.reset()
    draws = numera.torch.Quantizer("bf16", forward_rounding="stochastic", seed=3)
    x = torch.randn(3, 4)
    wanted = draws(x * 2) + 1
    draws.draw[1] = 0
    backend = numera.torch.backend("f32")
    net = torch.compile(lambda x: draws(x * 2) + 1, backend=backend)
    assert net(x).equal(wanted) and draws.draw[1] == 1
    assert not backend.fallbacks


def test_samples_at_the_places_of_a_grid():
    def model(x, y, grid):
        return [
            F.grid_sample(x, grid, "bilinear", "zeros", False),
            F.grid_sample(y, grid, "bilinear", "border", True),
            F.grid_sample(x, grid, "bilinear", "reflection", False),
            F.grid_sample(x, grid, "nearest", "reflection", True),
            F.grid_sample(x, grid, "bicubic", "zeros", False),
        ]

    images = torch.randn(2, 3, 5, 6), torch.randn(2, 2, 4, 1)
    agree(model, *images, torch.randn(2, 4, 3, 2))
