# SPDX-License-Identifier: MIT
"""What models of other packages are made of: values and gradients are eager mode's."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

from numera.torch import _experts
from torch import nn
from torch.nn import functional as F
from torch_calls import call, compiled

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def values_and_gradients(function, inputs):
    given = [x.detach().clone().requires_grad_(x.is_floating_point()) for x in inputs]
    torch.manual_seed(0)
    results = function(*given)
    torch.manual_seed(1)
    loss = sum((torch.randn(each.shape) * each).sum() for each in results)
    loss.backward()
    return [*results, *(x.grad for x in given if x.requires_grad)]


def agree(function, *inputs):
    """The function, compiled in f32, has the values and gradients of eager mode."""
    found = values_and_gradients(compiled(function)[0], inputs)
    wanted = values_and_gradients(function, inputs)
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


def test_edges_take_away_as_much_as_they_add():
    def model(x):
        shifted = F.pad(x, (0, 0, 1, -1), value=2.0)  # the steps before, in RWKV
        return shifted, F.pad(x, (-1, 1)), F.pad(x, (-2, 3, 1, -1)), F.pad(x, (-1, -1))

    agree(model, torch.randn(2, 5, 4))


def test_edges_repeat_what_is_nearest_and_elements_move():
    def model(x):
        y = F.pad(x, (2, -1, -1, 3), mode="replicate")
        return y, F.pad(x[0], (1, 2), mode="replicate"), x.roll(7)

    agree(model, torch.randn(2, 3, 4, 5))


def test_elements_are_dropped_between_recurrent_layers():
    both = nn.LSTM(3, 4, 2, dropout=0.5, bidirectional=True, batch_first=True)
    plain = nn.GRU(8, 4, 3, dropout=0.3)

    def model(x, hidden):
        y, (_, cell) = both(x)
        return cell, *plain(y, hidden)

    agree(model, torch.randn(2, 3, 3), torch.randn(3, 3, 4))


def test_slices_are_assigned_step_by_step():
    def model(x):
        turned = x.transpose(1, 2).exp()
        states, state = torch.zeros_like(turned), turned[:, 0]
        for step in range(3):
            state = state * 0.5 + turned[:, step]
            states[:, step] = state
        return (states.transpose(1, 2) * x,)

    agree(model, torch.randn(2, 4, 3))


def test_numbers_come_before_tensors():
    def model(x, i):
        quotients = [torch.div(n, x, rounding_mode="floor") for n in (256, 7.5)]
        rests = torch.cat([7 % x, 7 % i, (i << 2) >> 1])
        return torch.cat([*quotients, torch.xlogy(2, x.abs()), rests])

    x, i = torch.tensor([3.0, -2.5, 7.0, 0.3, -8.0]), torch.tensor([3, -2, 7])
    torch.testing.assert_close(call(model, x, i), model(x, i))


def test_lengths_of_vectors():
    agree(lambda x: (torch.hypot(x, x.roll(1)),), torch.randn(5))
    x = torch.tensor([math.inf, math.nan, 0.0, 1e30, -math.inf])
    y = torch.tensor([1.0, 1.0, 0.0, 1e30, math.nan])
    found = call(torch.hypot, x, y)
    torch.testing.assert_close(found, torch.hypot(x, y), equal_nan=True)


def test_tensors_that_a_model_makes_of_numbers():
    def model(x):
        sigma = torch.tensor([[1.5]])  # as a Gaussian kernel has it
        kept = torch.tensor([True, False, True])
        return (x / (2 * sigma * sigma) + torch.cat([sigma, sigma]), x * kept)

    agree(model, torch.randn(2, 3))


def by_expert(x, weights, ends):
    """Rows times the matrix of their expert."""
    starts = [0, *ends.tolist()]
    parts = [x[starts[e] : starts[e + 1]] @ weights[e] for e in range(len(weights))]
    return torch.cat([*parts, x.new_zeros(len(x) - starts[-1], weights.shape[2])])


@pytest.fixture
def experts():
    """The operators as the package `transformers` registers them."""
    schema = "(Tensor input, Tensor weight, Tensor offs) -> Tensor"
    with torch.library._scoped_library("transformers", "DEF") as library:
        library.define(f"grouped_mm_fallback{schema}")
        library.impl("grouped_mm_fallback", by_expert, "CPU")
        yield torch.ops.transformers.grouped_mm_fallback


def test_rows_go_to_the_matrices_of_experts(experts):
    """The second expert has no row, and the last two rows have no expert."""
    x, weights, slope = torch.randn(6, 3), torch.randn(3, 3, 4), torch.randn(6, 4)
    ends = torch.tensor([1, 1, 4], dtype=torch.int32)
    found = call(experts, x, weights, ends)
    torch.testing.assert_close(found, by_expert(x, weights, ends))
    found = call(_experts.grouped_mm, x.T, slope, ends)
    kept = torch.zeros(3, 6, 1)
    kept[0, :1] = kept[2, 1:4] = 1
    torch.testing.assert_close(found, x.T @ (kept * slope))
    found = call(lambda *given: _experts.backward(*given)[0], x, weights, ends, slope)
    torch.testing.assert_close(found, by_expert(slope, weights.mT, ends))


def test_labels_end_at_the_first_that_is_negative():
    labels = torch.tensor([[1, 2, -1, 0], [3, -1, 0, 0], [0, 1, 2, 3], [-1, 0, 0, 0]])

    def model(x):
        loss = F.multilabel_margin_loss
        sums = [loss(x, labels, reduction=each) for each in ("mean", "sum", "none")]
        return *sums, loss(x[0], labels[0])

    agree(model, torch.randn(4, 4))


@pytest.mark.parametrize("norm_first", [False, True])
def test_layers_of_transformers_in_evaluation(norm_first):
    layer = nn.TransformerEncoderLayer(
        8, 2, 16, batch_first=True, norm_first=norm_first, activation="gelu"
    )
    x, padding = (
        torch.randn(2, 5, 8),
        torch.tensor([[False] * 5, [False] * 3 + [True] * 2]),
    )
    plain = nn.MultiheadAttention(8, 2, batch_first=True).eval()

    def model(x):
        y = layer(x, src_key_padding_mask=padding)
        return y, *plain(y, y, y, average_attn_weights=False)

    layer.eval()
    with torch.no_grad():
        wanted = model(x)
        found = compiled(model)[0](x)
    torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)


def test_what_is_computed_again_drops_the_same_elements():
    def part(x):
        return F.dropout(x.exp(), 0.5).sin() * torch.rand_like(x)

    def model(x):
        return (torch.utils.checkpoint.checkpoint(part, x, use_reentrant=False) * x,)

    agree(model, torch.randn(3, 4))


def test_distances_of_rows():
    def model(x, y):
        return [torch.cdist(x, y, p=p) for p in (0.0, 1.0, 2.0, 3.0, math.inf)]

    x = torch.randn(2, 3, 4)
    agree(model, x, torch.cat([x[:, :1], torch.randn(2, 4, 4)], 1))


def test_distances_of_pairs_of_rows():
    """Two of which are equal."""

    def model(x):
        x = torch.cat([x, x[:1]])
        return [F.pdist(x, p) for p in (0.0, 1.0, 2.0, 3.0, math.inf)]

    agree(model, torch.randn(4, 3))


def test_elements_move_more_than_once_around():
    x = torch.randn(4, 5)
    agree(lambda x: (x.roll(12, 1), x.roll((-11, 3), (0, 1)), x.roll(-27)), x)


def test_a_convolution_of_time_batch_and_channels():
    def model(x, weight, bias):
        return (torch.conv_tbc(x, weight, bias, 1),)

    agree(model, torch.randn(5, 2, 3), torch.randn(3, 3, 4), torch.randn(4))


def test_indices_with_a_dimension_between():
    """Negative ones count from the end, and equal ones are added up."""
    first, second = torch.tensor([[0], [-1]]), torch.tensor([1, 2, 1])

    def model(x, y):
        placed = x.clone()
        placed[first, :, second] = y
        added = x.index_put((first[0], second), y[0, 0, 0], accumulate=True)
        return placed, added, x[:, first, :, second], x[first, :, second]

    agree(model, torch.randn(2, 3, 4, 5), torch.randn(2, 3, 3, 5))


def test_indices_of_several_integer_types():
    first, second = torch.tensor([0, 2]), torch.tensor([3, -1], dtype=torch.int32)

    def model(x):
        placed = x.clone()
        placed[first, second] = 1.0
        return placed * x, x[first, second], x[:, second, first]

    agree(model, torch.randn(4, 5, 4))


def test_normal_numbers_by_their_mean_and_deviation():
    def model(x):
        drawn = torch.normal(x, 2.0), torch.normal(1.0, x.exp())
        return *drawn, torch.normal(x, x[:1].exp())

    x = torch.randn(4, 5)
    net, _ = compiled(model)
    torch.manual_seed(4)
    found = net(x)
    torch.manual_seed(4)
    torch.testing.assert_close(found, model(x))
