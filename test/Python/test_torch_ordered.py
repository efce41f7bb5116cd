# SPDX-License-Identifier: MIT
"""Places in what is in order, divisors, and pools of windows that draws choose."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numera.torch")

from torch.nn import functional as F  # noqa: E402
from torch_calls import agree, call, compiled  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_dynamo")

NAN, INF = float("nan"), float("inf")
ORDERED = torch.tensor([-INF, -1.0, 0.0, 0.0, 0.0, 2.5, INF, NAN])
VALUES = torch.tensor([[-INF, -2, -1, -0.5], [0.0, -0.0, 1, 2.5], [3, INF, NAN, 9]])


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8])
def test_places_are_those_of_eager_mode(right, count):
    def places(known, values):
        return torch.searchsorted(known, values, right=right)

    known = ORDERED[:count].clone()
    assert torch.equal(call(places, known, VALUES), places(known, VALUES))


@pytest.mark.parametrize(
    "function",
    [
        lambda s, v: torch.searchsorted(s, v, out_int32=True, side="right"),
        lambda s, v: torch.searchsorted(s, v[:, :0]),
        lambda s, v: torch.searchsorted(
            s.flip(1), v, sorter=torch.arange(8).flip(0).repeat(3, 1)
        ),
        lambda s, v: torch.searchsorted(s[0], 0.5),
        lambda s, v: torch.searchsorted(
            (s * 4).long(), v.nan_to_num().clamp(-9, 9).long()
        ),
    ],
)
def test_rows_have_their_own_order(function):
    torch.manual_seed(0)
    rows = torch.randn(3, 8).sort(1)[0]
    found, wanted = call(function, rows, VALUES), function(rows, VALUES)
    assert found.dtype == wanted.dtype and torch.equal(found, wanted)


def test_medians_of_numbers_and_counts_of_what_is_in_a_range():
    x = torch.tensor([[3.0, NAN, 1, NAN, 2], [4, 8, 7, 6, 5], [NAN, 1, 1, NAN, 0]])

    def model(x):
        places = torch.bucketize(0.5, torch.tensor([-1.0, 0, 1]), out_int32=True)
        return *x.nanmedian(1), *x.nanmedian(0, True), x.nanmedian(), places

    agree(model, x)
    for each in (x[1], torch.ones(3)):
        assert torch.equal(call(lambda x: torch.histc(x, 5), each), each.histc(5))


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([[3, 1, 3, 1, 2], [5, 5, 5, 1, 1], [9, 8, 7, 6, 5]]),
        torch.tensor([[-0.0, 0.0, 1, 2], [INF, 3, INF, 1]]),
        torch.randint(0, 4, (3, 13), generator=torch.Generator().manual_seed(1)),
        torch.ones(3, 1),
    ],
)
@pytest.mark.parametrize("keepdim", [False, True])
def test_what_occurs_most_often(x, keepdim):
    for dim in (0, 1):
        for place in (0, 1):  # also that of the last one, as in eager mode
            wanted = torch.mode(x, dim, keepdim)[place]
            found = call(lambda x: torch.mode(x, dim, keepdim)[place], x)
            torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)


def test_gradients_of_modes():
    torch.manual_seed(0)
    x = torch.randn(3, 5)
    agree(lambda x: torch.mode(x, 1)[0] + torch.mode(x, 0)[0].sum(), x)


@pytest.mark.parametrize("kind", [torch.int8, torch.int16, torch.int32, torch.int64])
def test_divisors(kind):
    top = torch.iinfo(kind).max
    a = torch.tensor([0, 0, 12, -12, 7, top, 1, 18, 89, top - 1], dtype=kind)
    b = torch.tensor([0, 5, 18, 18, -7, top - 1, top, 12, 55, 2], dtype=kind)
    for function in (torch.gcd, torch.lcm):
        assert torch.equal(call(function, a, b), function(a, b))
    assert torch.equal(call(torch.gcd, a, b[:1]), torch.gcd(a, b[:1]))


def test_divisors_of_all_small_numbers():
    a = torch.arange(-127, 128, dtype=torch.int8)
    b = a.unsqueeze(1)
    assert torch.equal(call(torch.gcd, a, b), torch.gcd(a, b))


def test_divisors_that_take_the_most_steps():
    numbers = [1, 1]
    while numbers[-1] + numbers[-2] < 2**63:
        numbers.append(numbers[-1] + numbers[-2])
    for kind in (torch.int8, torch.int16, torch.int32, torch.int64):
        known = [n for n in numbers if n <= torch.iinfo(kind).max]
        a, b = torch.tensor(known[1:], dtype=kind), torch.tensor(known[:-1], dtype=kind)
        for one, other in ((a, b), (b, a)):
            assert torch.equal(call(torch.gcd, one, other), torch.ones_like(a))


@pytest.mark.parametrize("size", [(2, 2), (1, 3), (4, 1)])
@pytest.mark.parametrize("special", [False, True])
def test_pools_of_windows_that_draws_choose(size, special):
    torch.manual_seed(0)
    x, draws = torch.randn(2, 3, 7, 6), torch.randint(1024, (2, 3, 2))
    if special:
        x = x.round()
        x[0, 0, 2:4, 2:4], x[1, 1] = NAN, -INF

    def pool(x, draws):
        return F.fractional_max_pool2d(
            x, (3, 2), size, return_indices=True, _random_samples=draws / 1024
        )

    for place in (0, 1):
        found = call(lambda *given: pool(*given)[place], x, draws)
        wanted = pool(x, draws)[place]
        torch.testing.assert_close(found, wanted, rtol=0, atol=0, equal_nan=True)
    agree(lambda *given: pool(*given)[0], x.nan_to_num(), draws)


def test_places_of_windows_are_not_rounded():
    """Draws and sizes are computed in the accumulator, values chosen in the format."""
    torch.manual_seed(0)
    x = torch.randint(-8, 8, (1, 2, 40, 40)).float()
    draws = torch.randint(16, (1, 2, 2))

    def pool(x, draws):
        return F.fractional_max_pool2d(
            x, 2, (31, 29), return_indices=True, _random_samples=draws / 16
        )[0]

    net, _ = compiled(pool, "f8E4M3FN", accumulate="f32")
    assert torch.equal(net(x, draws), pool(x, draws))
