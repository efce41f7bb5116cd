# SPDX-License-Identifier: MIT
"""Models whose graphs begin with weights, in stochastic rounding: there is no batch to
be followed, and a call is one sample."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera.torch
from torch import nn

MODELS = {
    "GLU": (lambda: nn.Sequential(nn.Linear(16, 16), nn.GLU()), (12, 16)),
    "GRU": (lambda: nn.GRU(8, 8), (5, 3, 8)),
    "LSTM": (lambda: nn.LSTM(8, 8), (5, 3, 8)),
    "attention": (lambda: nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True), (3, 5, 8)),
    "groups": (lambda: nn.Conv2d(4, 4, 3, groups=2), (2, 4, 8, 8)),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear"), (2, 3, 4, 4)),
}


def results(model, shape, threads, seed):
    torch._dynamo.reset()
    torch.manual_seed(0)
    net = model()
    x = torch.randn(shape, requires_grad=True)
    backend = numera.torch.backend("bf16", rounding="stochastic", seed=seed, threads=threads)
    with torch._dynamo.config.patch(allow_rnn=True):
        y = torch.compile(lambda x: net(x), backend=backend)(x)
    y = y[0] if isinstance(y, tuple) else y
    y.sum().backward()
    return torch.cat([each.flatten() for each in (y, x.grad)]).detach()


@pytest.mark.parametrize("name", MODELS)
def test_models_round_stochastically(name):
    one = results(*MODELS[name], threads=1, seed=1)
    assert torch.equal(one, results(*MODELS[name], threads=2, seed=1))
    other = results(*MODELS[name], threads=1, seed=2)
    assert not torch.equal(one, other)
    assert (one - other).abs().max() < 0.2 * one.abs().max()


def test_scaled_roles_keep_their_rounding():
    """Elements of scaled tensors do not round stochastically; the format does."""
    net, x = nn.Linear(32, 8), torch.randn(4, 32)
    outputs = []
    for seed in 1, 2:
        torch._dynamo.reset()
        options = {"rounding": "stochastic", "seed": seed, "weights": "mxfp4"}
        outputs.append(torch.compile(net, backend=numera.torch.backend("bf16", **options))(x))
    assert not torch.equal(*outputs)
    with pytest.raises(numera.Error, match="'mxfp4' is a scaled format, .* leave out rounding"):
        numera.torch.backend("mxfp4", rounding="stochastic")
