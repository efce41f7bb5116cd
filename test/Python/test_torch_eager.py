# SPDX-License-Identifier: MIT
"""Operators of PyTorch in f32: values and gradients are those of eager mode."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn
from torch.nn import functional as F
from torch_calls import agree, call


pytestmark = pytest.mark.usefixtures("fresh_torch")


def test_random_numbers_are_drawn_in_the_order_of_memory():
    square, images = torch.randn(4, 3), torch.randn(2, 3, 4, 5)
    apart = images.to(memory_format=torch.channels_last)

    def model(x, y, z):
        drawn = [F.dropout(each, 0.5) for each in (x, y * 2, z, z[:, ::2])]
        return [*drawn, torch.rand_like(x) * x]

    agree(model, square.t(), apart, square)


def test_an_activation_in_evaluation():
    agree(lambda x: F.rrelu(x, training=False), torch.randn(3, 4))


SPECIAL = [math.nan, math.inf, -math.inf, 1.0, -0.0, 5.5, -7.3]


def test_nan_and_infinity_are_told_apart():
    """Also from numbers of a format that has neither."""

    def model(x, i):
        kinds = [torch.isnan, torch.isinf, torch.isfinite]
        kinds += [torch.isposinf, torch.isneginf]
        told = [each(x) for each in kinds] + [each(i) for each in kinds]
        compared = [x == 1.0, torch.eq(x, x), torch.ne(x, x), x < 1, x >= 1, i == 1]
        return *told, *compared, torch.where(torch.isfinite(x), x, 0.0)

    agree(model, torch.tensor(SPECIAL), torch.arange(3))
    net = torch.compile(
        lambda x: (x.isinf(), x.isnan()), backend=numera.torch.backend("posit8")
    )
    infinite, absent = net(torch.tensor([1e30, 1.0, math.nan]))
    assert not infinite.any()
    assert absent.tolist() == [False, False, True]


def test_remainders_quotients_and_powers():
    numbers = torch.cat([torch.tensor(SPECIAL), torch.randn(20) * 5])
    whole = torch.arange(-6, 6)

    def model(x, y, i):
        floors = (3.0, -3.0, 0.1, math.inf, 0.0)
        results = [each for d in floors for each in (torch.fmod(x, d), x % d)]
        with torch.no_grad():
            results += [x // d for d in floors] + [x // y, x // 2]
        results += [torch.fmod(x, y), torch.remainder(x, y)]
        results += [torch.div(x, 0.7, rounding_mode=how) for how in ("floor", "trunc")]
        results += [i // 2, i % 3, i // -3, i // 2.0, torch.fmod(i, 3), i**2]
        results += [i**2.5, y[:12].abs() ** i, 3.0**i, i.short() ** y[:12].abs()]
        return *results, x**0, x**0.0, x**4, x**-3, y.abs() ** 1.5

    agree(model, numbers, torch.randn(27), whole)


@pytest.mark.parametrize("kind", [torch.int64, torch.int8])
def test_powers_of_whole_numbers(kind):
    i = torch.tensor([0, 1, 2, 3, 5, 31, 63, 64, -1, -2]).to(kind)
    j = torch.tensor([-3, -1, 0, 1, 2, 3, 7]).to(kind)

    def model(i, j):
        powers = [2**i, 3**i, (-1) ** i, 2.5**i, j.unsqueeze(1) ** i, j ** i[3]]
        return *powers, j**5, j**0, j.unsqueeze(1).long() ** i, torch.float_power(j, 3)

    agree(model, i, j)


def test_logarithms_of_sums_and_the_complementary_error_function():
    x = torch.tensor([1.0, 60.0, -200.0, math.inf, -math.inf, math.inf])
    y = torch.tensor([1.0, -60.0, -201.0, math.inf, -math.inf, 2.0])

    def model(x, y, z):
        error = torch.erfc(z).log() + torch.erf(z)
        return torch.logaddexp(x, y), torch.logaddexp2(x, y), error

    agree(model, x[:3], y[:3], torch.linspace(-2, 9, 20))
    torch._dynamo.reset()
    agree(lambda x, y: (torch.logaddexp(x, y), torch.logaddexp2(x, y)), x, y)


def test_operations_do_not_depend_on_those_beside_them():
    """torch-mlir has neither erfc nor an exact remainder, whatever else a graph has."""
    x = (torch.randn(500) * torch.randn(500).exp()).bfloat16().float()
    y = torch.randn(500).bfloat16().float()

    def own(x, y):
        rests = torch.fmod(x, y), torch.fmod(y, x), torch.remainder(x, 0.75)
        return *rests, torch.special.log_ndtr(x), torch.erfc(y), torch.erfc(x)

    def beside(x, y):
        signs = torch.atan2(x, y), torch.copysign(x, y)
        return *own(x, y), *signs, x.tan(), y.erf(), x.atan(), y**0.3, x**3

    net = torch.compile(beside, backend=numera.torch.backend("bf16"))
    alone = torch.compile(own, backend=numera.torch.backend("bf16"))
    found = net(x, y)
    assert torch.equal(found[0], torch.fmod(x, y).bfloat16().float())
    assert torch.equal(found[1], torch.fmod(y, x).bfloat16().float())
    for one, other in zip(alone(x, y), found):
        assert torch.equal(one, other)
    torch._dynamo.reset()
    agree(beside, x[:50], y[:50])


@pytest.mark.parametrize(
    "name, largest", [("bf16", 0xFF * 2.0**120), ("f16", 65504), ("f8E4M3FN", 448)]
)
def test_finite_constants_stay_finite(name, largest):
    """As those that mask attention: 0 times an infinity is NaN."""
    least = torch.finfo(torch.float32).min

    def model(x, mask):
        kept = mask > 0
        held = torch.tensor([least, 2.0, -math.inf])
        return (
            *((1 - mask) * least, torch.where(kept, x, torch.tensor(least))),
            *(x.masked_fill(kept, least) == least, torch.full((3,), least) * mask),
            *(held * mask, x.sum() * 1e5),
        )

    net = torch.compile(model, backend=numera.torch.backend(name))
    x, mask = torch.tensor([1.0, 5.0, -3.0]), torch.tensor([1.0, 0.0, 1.0])
    added, chosen, equal, full, held, scaled = net(x, mask)
    end = -largest if name == "f8E4M3FN" else -math.inf
    assert added.tolist() == [0, -largest, 0]
    assert chosen.tolist() == [1, -largest, -3]
    assert equal.tolist() == [True, False, True]
    assert full.tolist() == [-largest, 0, -largest]
    assert held.tolist() == [-largest, 0, end]
    assert scaled.item() == 3e5  # as a loss, which is in f32


def test_cumulative_logarithms_of_sums_stay_finite():
    def model(x, y, z):
        return x.logcumsumexp(0), y.logcumsumexp(1), z.logcumsumexp(-1)

    least = -math.inf
    agree(
        model,
        torch.tensor([0.0, 100.0, 300.0, -300.0]),
        torch.randn(3, 5, 2) * 80,
        torch.tensor([[1.0, 2.0, 2.0], [7.0, -2.0, 100.0]]),
    )
    torch._dynamo.reset()
    x = torch.tensor([least, least, 2.0, math.inf, 1.0, math.nan, 1.0])
    with torch.no_grad():
        agree(lambda x: (x.logcumsumexp(0), x[:0].logcumsumexp(0)), x)
        agree(lambda x: x.logcumsumexp(0), torch.tensor(3.0))


def test_results_lie_in_memory_as_in_eager_mode():
    def model(x):
        return [
            *((x + 1).contiguous(), x.contiguous(), x.softmax(1).view(-1)),
            *(F.layer_norm(x, (6,)).view(-1), x.topk(2)[0].view(-1)),
            *(F.group_norm(x, 2), F.adaptive_avg_pool2d(x, (1, 3))),
            *F.adaptive_max_pool2d(x, (1, 4), return_indices=True),
            F.interpolate(x, scale_factor=2),
        ]

    x = torch.randn(2, 4, 2, 6).to(memory_format=torch.channels_last)
    net = torch.compile(model, backend=numera.torch.backend("f32"))
    for found, wanted in zip(net(x), model(x)):
        torch.testing.assert_close(found, wanted, rtol=2e-5, atol=2e-5)
        assert found.stride() == wanted.stride()


def test_a_copy_is_another_tensor():
    x = torch.ones(3)
    net = torch.compile(lambda x: x.clone(), backend=numera.torch.backend("f32"))
    net(x).zero_()
    assert x.tolist() == [1, 1, 1]


def test_elements_that_a_mask_says():
    def model(x, rows, mask):
        x, y, z = x * 2, x.clone(), x.clone()
        x[x < 0] = 0.0
        y[mask] = 0.5
        z[mask] = rows
        w = torch.zeros_like(z).index_put((mask,), torch.tensor(2.0), accumulate=True)
        return x, y, z, w

    with torch.no_grad():
        agree(
            model, torch.randn(3, 4), torch.randn(4), torch.tensor([True, False, True])
        )
    torch._dynamo.reset()

    def masked(x):
        x = x * 2
        x[x < 0] = 0.1
        return x

    agree(masked, torch.randn(3, 4))


@pytest.mark.parametrize("dims", [1, 2])
def test_a_number_for_each_element_that_a_mask_says(dims):
    """How many there are may change, to none."""

    def model(x, mask, numbers):
        x = x * 2
        x[mask] = numbers
        added = x.index_put((mask,), numbers, accumulate=True)
        return x, added

    net = torch.compile(model, backend=numera.torch.backend("f32"))
    for seed, share in enumerate((0.5, 0.2, 0.0)):
        torch.manual_seed(seed)
        x = torch.randn(3, 4, 2)
        mask = torch.rand(x.shape[:dims]) < share
        numbers = torch.randn(int(mask.sum()), *x.shape[dims:])
        with torch.no_grad():
            for found, expected in zip(
                net(x, mask, numbers), model(x, mask, numbers), strict=True
            ):
                assert torch.allclose(found, expected)
    mask = torch.zeros(x.shape[:dims], dtype=torch.bool)
    mask.view(-1)[:3] = True
    for count in (2, 5):
        numbers = torch.randn(count, *x.shape[dims:])
        with torch.no_grad(), pytest.raises(numera.Error, match="out-of-bounds"):
            net(x, mask, numbers)


def test_tensors_without_elements():
    def model(x, mask, numbers):
        y = x.clone()
        y[mask] = numbers
        return y, x.reshape(1, 0, 3) * 2, x.cumsum(0), x.sum(0), x.sum(1)

    x, mask, numbers = torch.randn(0, 3), torch.zeros(0, dtype=bool), torch.randn(0, 3)
    net = torch.compile(model, backend=numera.torch.backend("f32"))
    with torch.no_grad():
        for found, expected in zip(net(x, mask, numbers), model(x, mask, numbers)):
            assert found.shape == expected.shape and torch.equal(found, expected)


def test_windows_of_a_tensor():
    def model(x):
        turned = x.unfold(1, 4, 2).unfold(2, 3, 3).reshape(4, -1)
        return x.unfold(-1, 2, 3), turned, x[0, 0, 0].unfold(0, 1, 1)

    agree(model, torch.randn(4, 8, 9))


def test_indices_count_from_the_end():
    def model(x, y, rows, columns):
        y = y * 2
        y[:, columns] = x[0, :, :3]
        y[rows, columns] = 3.0
        added = y.index_put((rows,), x[0], accumulate=True)
        return x[:, :, [-1]], x[:, rows, columns], x.take(rows), y, added

    rows, columns = torch.tensor([-1, 2, -1]), torch.tensor([-2, 0, 1])
    agree(model, torch.randn(2, 3, 4), torch.randn(3, 4), rows, columns)


def test_indices_that_do_not_count_from_the_end():
    for name in ("index_add", "index_copy"):
        net = torch.compile(
            lambda x, i, y, name=name: getattr(x, name)(0, i, y),
            backend=numera.torch.backend("f32"),
        )
        with pytest.raises(numera.Error, match="out-of-bounds"):
            net(torch.zeros(5, 3), torch.tensor([1, -1]), torch.ones(2, 3))


def test_sorts_and_what_comes_first():
    def model(x, y, i):
        return [
            *(*x.sort(-1), *x.sort(0, descending=True), *i.sort(dim=1, stable=True)),
            *(x.argsort(1), *x.topk(2), *x.topk(3, 0, largest=False), *y.sort(1)),
            *(*x.kthvalue(2, 1), *x.median(1), x.median(), y.median(), *y.median(1)),
            *(*x[:, :1].sort(1), *x[0, 0].topk(1), *(x > 0).sort(dim=0, stable=True)),
        ]

    y = torch.tensor([[1.0, math.nan, -math.inf, 3.0], [3.0, -0.0, 0.0, math.inf]])
    x = torch.randn(5, 7)
    agree(model, x, y, torch.randint(-3, 3, (2, 19)))
    torch._dynamo.reset()
    net = torch.compile(lambda x: x.sort(), backend=numera.torch.backend("bf16"))
    found, places = net(torch.randn(33))
    assert (found.diff() >= 0).all() and places.sort()[0].equal(torch.arange(33))


def test_narrow_types_of_models():
    model = nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)).bfloat16()
    x = torch.randn(3, 4).bfloat16()
    net = torch.compile(model, backend=numera.torch.backend("f32"))
    wanted, found = model(x), net(x)
    torch.testing.assert_close(found, wanted, rtol=0.03, atol=0.03)
    found.sum().backward()
    assert {each.grad.dtype for each in model.parameters()} == {torch.bfloat16}
    torch._dynamo.reset()
    layer = nn.Linear(4, 3)

    def mixed(x):
        with torch.autocast("cpu", torch.bfloat16):
            y = layer(x)
        loss = F.cross_entropy(y.float(), torch.tensor([0, 1, 0]))
        return y, y.half().t(), loss

    wanted = mixed(x.float())
    found = torch.compile(mixed, backend=numera.torch.backend("f32"))(x.float())
    torch.testing.assert_close(found, wanted, rtol=0.03, atol=0.03)


def test_bernoulli_and_histograms():
    """They compare in the accumulator, however narrow the format."""

    def model(x, p, turned):
        with torch.no_grad():
            counts = [torch.histc(each, bins=5, min=-2, max=2) for each in (x, turned)]
        drawn = [torch.bernoulli(p), torch.bernoulli(turned.detach().sigmoid())]
        return [*counts, *drawn, p * torch.empty_like(p).bernoulli_(0.5)]

    x = torch.tensor([-2.0, 2.0, 3.0, -3.0, 0.4, math.nan])
    agree(model, x, torch.rand(3, 4), torch.randn(5, 2).t())
    torch._dynamo.reset()
    experts, share = torch.randint(0, 128, (300,)).float(), torch.full((10000,), 0.3)

    def narrow(i, p):
        return torch.histc(i, bins=128, min=0, max=127), torch.bernoulli(p)

    net = torch.compile(narrow, backend=numera.torch.backend("bf16"))
    counts, drawn = net(experts, share)
    assert counts.equal(torch.histc(experts, bins=128, min=0, max=127))
    assert abs(drawn.mean() - 0.3) < 0.015


def test_the_first_nan_is_the_largest_and_the_smallest():
    x = torch.randn(5, 6)
    x[0, 3] = x[1, 0] = x[1, 4] = x[2, 5] = math.nan
    x[3, 1], x[3, 2] = math.inf, -math.inf

    def model(x):
        some = [
            *x.max(1),
            *x.min(0),
            x.argmax(1),
            x.argmin(1),
            x.argmax(),
            x[3:].argmax(),
        ]
        return some + [x.amax(1), *torch.aminmax(x[3:])]

    agree(model, x)
    x = x[:3]
    for found in (call(lambda x: x.max(1)[1], x, format="posit16"), x.argmax(1)):
        assert found.tolist() == [3, 0, 5]


def test_signs_sizes_and_truths():
    x, y = (
        torch.tensor([*SPECIAL, 0.0]),
        torch.tensor([1.0, -2, 0, -0.0, 3, -1, 2, -0.0]),
    )
    x, y = x.repeat_interleave(8), y.repeat(8)
    whole = torch.arange(-3, 4)

    def model(x, y, i):
        results = [torch.signbit(x), torch.copysign(x, y), torch.copysign(y, -2.0)]
        results += [torch.hypot(x, y), torch.angle(y), y.logical_not(), torch.sgn(y)]
        results += [
            torch.logical_and(x, y),
            torch.logical_or(x > 0, y),
            x.logical_xor(y),
        ]
        results += [i & 3, i | 4, i ^ 1, ~i, i << 2, i >> 1, torch.signbit(i)]
        return *results, torch.full_like(x, 2).fill_(3.0) + y

    agree(model, x, y, whole)


def test_elements_that_are_put_elsewhere():
    def model(x, y, v):
        results = [torch.block_diag(x, v, y[:2]), torch.diagonal_scatter(x, v[:4], 1)]
        results += [
            torch.diagonal_scatter(x, v[:2], -2),
            x.masked_scatter(y > 0, v.repeat(4)),
        ]
        results += [F.pad(x[None], (2, 1), "replicate")]
        results += [F.pad(x[None], (1, 1, 0, 2), "replicate")]
        return *results, torch.addmv(v[:4], x, v, beta=0.5, alpha=2)

    agree(model, torch.randn(4, 5), torch.randn(4, 5), torch.randn(5))


def test_distances_and_norms():
    def model(x, y):
        kinds = (0, 0.5, 1, 2, 3, math.inf)
        results = [torch.cdist(x, y, p) for p in kinds] + [torch.dist(x, y[:4], 3)]
        orders = (0, 1, 3, math.inf, -math.inf)
        return results + [torch.linalg.vector_norm(x, p, 1) for p in orders]

    agree(model, torch.randn(4, 5), torch.randn(6, 5))


def test_gammas_and_quantiles():
    x = torch.cat([torch.rand(20) * 9, -torch.rand(9) * 5, torch.tensor([1.0, 2.0])])

    def model(x, u, n):
        results = [torch.lgamma(x), torch.digamma(x), torch.lgamma(n)]
        results += [torch.polygamma(2, x.abs()), torch.mvlgamma(x.abs() + 2, 3)]
        with torch.no_grad():
            results += [torch.special.zeta(x.abs() + 1.5, 1.0)]
        return (
            *results,
            torch.erfinv(u),
            torch.distributions.Beta(x.abs(), 2).log_prob(u),
        )

    agree(model, x, torch.rand(31) * 0.98 + 0.01, torch.arange(1, 5))
