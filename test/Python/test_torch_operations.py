# SPDX-License-Identifier: MIT
"""Models of PyTorch: each operation of a step against an independent reference."""

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
import torch.nn.functional as F
from numera.torch._passes import INFERENCE
from torch import fx
from torch_calls import call, compiled, graph_of

aten = torch.ops.aten


pytestmark = pytest.mark.usefixtures("fresh_dynamo")


class Reference(fx.Interpreter):
    """Each node in f64, rounded by `numera.quantize`. Sums, in f32, are in the
    order of the clauses C4 and C7 of docs/Semantics/Contractions.md; numbers that
    stand alone and means are in f32."""

    def __init__(self, module, format):
        super().__init__(module)
        self.format = format

    def rounded(self, value, format=None):
        if not value.is_floating_point():
            return value
        return numera.quantize(value.double(), format or self.format)

    def placeholder(self, target, args, kwargs):
        return self.rounded(super().placeholder(target, args, kwargs))

    def run_node(self, node):
        self.own = "f32" if self.is_wide(node) else self.format
        value = super().run_node(node)
        return self.rounded(value, self.own) if node.op == "call_function" else value

    @staticmethod
    def is_wide(node):
        def is_mean(node):
            return (
                node.target is aten.div.Tensor
                and node.args[0].target is aten.sum.dim_IntList
                and not isinstance(node.args[1], fx.Node)
            )

        if node.op != "call_function":
            return False
        users = [user for user in node.users if user.op == "call_function"]
        return node.meta["val"].dim() == 0 or any(map(is_mean, [node, *users]))

    def call_function(self, target, args, kwargs):
        if kwargs.get("dtype") is torch.float32:
            kwargs = {**kwargs, "dtype": torch.float64}
        if target is aten.mm.default:
            return torch.from_numpy(self.product(*(each.numpy() for each in args)))
        if target is aten.sum.dim_IntList:
            return torch.from_numpy(self.sum(args[0].numpy(), *args[1:]))
        args = fx.node.map_aggregate(args, self.constant)
        return super().call_function(target, args, kwargs)

    def constant(self, value):
        """Python's numbers are rounded to the format first."""
        if not isinstance(value, float):
            return value
        return self.rounded(torch.tensor(value).double(), self.own).item()

    @staticmethod
    def product(left, right):
        total = np.zeros((left.shape[0], right.shape[1]))
        for k in range(left.shape[1]):
            total = np.float32(total + left[:, k : k + 1] * right[k : k + 1])
            total = total.astype(np.float64)
        return total

    @staticmethod
    def sum(values, axes, keepdim=False):
        axes = [axis % values.ndim for axis in axes] or list(range(values.ndim))
        rest = [axis for axis in range(values.ndim) if axis not in axes]
        terms = values.transpose([*rest, *axes])
        terms = terms.reshape([values.shape[axis] for axis in rest] + [-1])
        partial = [np.zeros(terms.shape[:-1]) for _ in range(32)]
        for i in range(terms.shape[-1]):
            added = np.float32(partial[i % 32] + terms[..., i])
            partial[i % 32] = added.astype(np.float64)
        while len(partial) > 1:
            partial = [
                np.float32(a + b).astype(np.float64)
                for a, b in zip(partial[::2], partial[1::2])
            ]
        shape = [1 if axis in axes else n for axis, n in enumerate(values.shape)]
        return np.asarray(partial[0].reshape(shape) if keepdim else partial[0])


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_each_operation_of_a_training_step_is_rounded_once(format):
    torch.manual_seed(1)
    x, y = torch.randn(6, 40), torch.randn(6, 3)
    weights = torch.randn(5, 40) * 0.2, torch.randn(5), torch.randn(3, 5)

    def training_step(x, y, *weights):
        leaves = [each.detach().requires_grad_() for each in weights]
        hidden = F.relu(F.linear(x, leaves[0], leaves[1]))
        loss = F.mse_loss(F.linear(hidden, leaves[2]), y)
        return [loss.detach(), *torch.autograd.grad(loss, leaves)]

    graph = graph_of(training_step, x, y, *weights)
    found = numera.torch.backend(format)._compile(graph, INFERENCE)(x, y, *weights)
    wanted = Reference(graph, format).run(x, y, *weights)
    for mine, reference in zip(found, wanted):
        assert torch.equal(mine, reference.float())


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_gradients_of_an_embedding_add_up_in_f32(format):
    tokens = torch.tensor([[3, 1, 3], [3, 0, 1]])
    grad = torch.randn(2, 3, 5)

    def backward(grad, tokens):
        return aten.embedding_dense_backward(grad, tokens, 6, 0, False)

    rows = numera.quantize(grad, format).reshape(6, 5)
    total = torch.zeros(6, 5)
    for token, row in zip(tokens.reshape(-1), rows):
        if token != 0:  # the padding
            total[token] += row
    assert torch.equal(
        call(backward, grad, tokens, format=format), numera.quantize(total, format)
    )
    rounded = torch.zeros(6, 5)
    for token, row in zip(tokens.reshape(-1), rows):
        if token != 0:
            rounded[token] = numera.quantize(rounded[token] + row, format)
    assert torch.equal(
        call(backward, grad, tokens, format=format, accumulate="same"), rounded
    )


def test_an_embedding_costs_what_its_batch_has():
    tokens, grad = torch.zeros(4, dtype=torch.long), torch.ones(4, 2)
    graph = graph_of(
        lambda g, t: (aten.embedding_dense_backward(g, t, 50000, -1, False),),
        grad,
        tokens,
    )
    text = numera.torch.to_linalg(graph)
    assert "scf.for" in text
    assert "tensor<50000x4" not in text and "tensor<4x50000" not in text


def test_attention_is_masked_in_formats_without_infinities():
    torch.manual_seed(0)
    query, key, value = torch.randn(3, 1, 2, 6, 8)

    def attention(query, key, value):
        return F.scaled_dot_product_attention(query, key, value, is_causal=True)

    net, _ = compiled(attention, "posit16")
    found = net(query, key, value)
    assert torch.allclose(found, attention(query, key, value), atol=0.01)
    mask = torch.full((6, 6), -math.inf).triu(1)
    scores = query @ key.transpose(-2, -1)
    wanted = (scores + mask).softmax(-1)
    found = call(
        lambda s: (s + torch.full((6, 6), -math.inf).triu(1)).softmax(-1),
        scores,
        format="f8E4M3FN",
    )
    assert torch.isfinite(found).all()
    assert (found - wanted).abs().max() < 0.1


@pytest.mark.parametrize("kind", ["bool", "float", "computed"])
@pytest.mark.parametrize("name", ["f32", "posit16", "fixed<6,10>"])
def test_attention_of_queries_without_keys_is_zero(name, kind):
    """As those of a sequence that is padded on the left."""
    allowed = torch.ones(3, 3, dtype=torch.bool).tril()
    allowed[:, 0] = False
    penalty = torch.zeros(3, 3).masked_fill(~allowed, -torch.inf)

    def attention(query, key, value, mask):
        if kind == "computed":
            mask = torch.zeros(3, 3).masked_fill(~mask, -torch.inf)
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)

    mask = penalty if kind == "float" else allowed
    net, _ = compiled(attention, name)
    operands = torch.randn(3, 1, 2, 3, 4)
    found, expected = (
        [part.clone().requires_grad_() for part in operands] for _ in range(2)
    )
    result = net(*found, mask)
    reference = attention(*expected, mask)
    assert torch.equal(result[..., 0, :], torch.zeros(1, 2, 4))
    assert torch.allclose(result, reference, atol=0.02)
    result.sum().backward()
    reference.sum().backward()
    for one, other in zip(found, expected, strict=True):
        assert torch.allclose(one.grad, other.grad, atol=0.02)


@pytest.mark.parametrize("place", ["buffer", "argument"])
@pytest.mark.parametrize("format", ["posit16", "takum<16>", "lns<4,8>"])
def test_masks_that_a_model_is_given_mask_in_formats_without_infinities(place, format):
    net = torch.nn.MultiheadAttention(8, 2, batch_first=True)
    mask = torch.nn.Transformer.generate_square_subsequent_mask(5)
    if place == "buffer":
        net.register_buffer("mask", mask)

    def model(x, mask=None):
        return net(x, x, x, attn_mask=net.mask if mask is None else mask)[0]

    x = torch.randn(2, 5, 8, requires_grad=True)
    given = (x,) if place == "buffer" else (x, mask)
    backend = numera.torch.backend(format=format)
    y = torch.compile(model, backend=backend)(*given)
    y.sum().backward()
    torch.testing.assert_close(y, model(*given), rtol=0.02, atol=0.02)
    assert x.grad.isfinite().all()
    x = torch.full((2, 5, 8), torch.inf)
    assert torch.compile(lambda x: x + 1, backend=backend)(x).isnan().all()


@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16, torch.float16])
def test_minus_infinity_is_the_lowest_number_beside_others(kind):
    x = torch.tensor([[0, -math.inf, 1], [math.nan, -math.inf, 1]], dtype=kind)
    backend = numera.torch.backend(format="posit16")
    found = torch.compile(lambda x: x.softmax(-1), backend=backend)(x)
    assert found[1].isnan().all() and found.dtype == kind
    torch.testing.assert_close(found[0], x[0].softmax(-1), rtol=0.01, atol=0.01)


@pytest.mark.parametrize("kind", [torch.int32, torch.int64])
def test_integers_are_in_no_format(kind):
    def model(x):
        return -x, -(-x // 4), F.pad(x, (0, 2), value=50256), x.neg().abs()

    x = torch.tensor([1001, -257, 16777217, 5], dtype=kind)
    backend = numera.torch.backend(format="f8E4M3FN")
    for each, right in zip(torch.compile(model, backend=backend)(x), model(x)):
        assert torch.equal(each, right) and each.dtype == right.dtype
