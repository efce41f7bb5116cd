# SPDX-License-Identifier: MIT
"""Functions of `torch.special`, and reductions of segments, as in eager mode."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("numera.torch")

import numera
from torch import special
from torch_calls import agree, compiled

pytestmark = pytest.mark.usefixtures("fresh_torch")

NAN, INF = math.nan, math.inf


def same(function, *inputs):
    """Without gradients, of which these have none."""
    net, _ = compiled(function)
    with torch.no_grad():
        found, wanted = net(*inputs), function(*inputs)
    torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("format", ["f16", "bf16", "posit16"])
def test_sigmoid_and_hypot_round_each_step(format):
    def rounded(x):
        return numera.quantize(x, format)

    x, y = rounded(torch.randn(2, 300, dtype=torch.float64) * 6)
    share = rounded(torch.minimum(x.abs(), y.abs()) / torch.maximum(x.abs(), y.abs()))
    root = rounded(rounded(1 + rounded(share * share)).sqrt())
    wanted = [
        rounded(1 / rounded(rounded((-x).exp()) + 1)),
        rounded(torch.maximum(x.abs(), y.abs()) * root),
    ]
    net, _ = compiled(lambda x, y: (x.sigmoid(), torch.hypot(x, y)), format)
    for found, right in zip(net(x.float(), y.float()), wanted, strict=True):
        assert torch.equal(found.double(), right)


def test_bessel_functions():
    x = torch.cat([torch.linspace(0.01, 60, 99), torch.tensor([0, 1e-6, -1, NAN])])

    def model(x):
        names = ["bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1"]
        names += [f"modified_bessel_k{n}" for n in (0, 1)]
        names += [f"scaled_modified_bessel_k{n}" for n in (0, 1)]
        found = [getattr(special, name)(x) for name in names]
        return *found, special.bessel_j1(-x), special.spherical_bessel_j0(x)

    same(model, x)


def test_modified_bessel_functions_have_gradients():
    def model(x):
        return special.i0(x), special.i1(x), special.i0e(x * 4), special.i1e(x * 4)

    agree(model, torch.tensor([-4.0, -1, -0.3, 0, 0.4, 2, 3.5]))
    same(special.i0e, torch.tensor([-4.0, 0.3, 12, 99], dtype=torch.float64))


def test_the_normal_distribution():
    def model(x, p):
        return special.log_ndtr(x), special.erfcx(x / 9), special.ndtri(p)

    x = torch.tensor([-30.0, -12, -5, -1, -0.99, 0, 2, 9])
    agree(model, x, torch.tensor([0.001, 0.1, 0.2, 0.5, 0.8, 0.9, 0.999]))
    same(special.ndtri, torch.tensor([0.0, 1, -1, 2, 1e-30, 1e-5, NAN]))


def test_polynomials():
    names = [f"chebyshev_polynomial_{name}" for name in "tuvw"]
    names += ["hermite_polynomial_h", "hermite_polynomial_he"]
    names += ["laguerre_polynomial_l", "legendre_polynomial_p"]

    def model(x):
        counts = [(name, n) for name in names for n in (-1, 0, 1, 4)]
        return [getattr(special, name)(x, n) for name, n in counts]

    same(model, torch.tensor([-0.7, 0, 0.3, 0.9]))


def test_parts_of_numbers():
    near = [2.0**k * (1 - 2**-20) for k in range(-30, 30)]
    powers = [2.0**k for k in range(-120, 120, 7)]
    special = [0.0, -0.0, -3.3, 1e30, INF, -INF, NAN]
    net, _ = compiled(torch.frexp)
    x = torch.tensor(near + powers + special)
    for found, wanted in zip(net(x), torch.frexp(x)):
        assert found.dtype == wanted.dtype
        assert torch.equal(found.nan_to_num(), wanted.nan_to_num())
    agree(lambda x: torch.frexp(x)[0], torch.randn(5))


# ---- what meets in one place ------------------------------------------------

LENGTHS = torch.tensor([2, 0, 3, 1])
NAMES = ["sum", "mean", "max", "min", "prod"]


def test_reductions_of_segments():
    def model(x, lengths):
        found = [torch.segment_reduce(x, name, lengths=lengths) for name in NAMES]
        ends = torch.tensor([0, 2, 5])
        zeros = torch.cat([x[:3] * 0, x[3:]])
        found += [torch.segment_reduce(zeros, "prod", lengths=lengths)]
        return *found, torch.segment_reduce(x, "sum", offsets=ends)

    agree(model, torch.randn(6, 2), LENGTHS)


@pytest.mark.parametrize("keeps", [True, False])
def test_reductions_of_rows_by_index(keeps):
    index = torch.tensor([0, 2, 0])

    def model(x, source):
        names = ["prod", "mean", "amax", "amin"]
        return [x.index_reduce(0, index, source, n, include_self=keeps) for n in names]

    agree(model, torch.randn(4, 5), torch.randn(3, 5))


def test_scatters_that_multiply_and_rows_that_are_made_shorter():
    places = torch.tensor([[0, 1, 0], [2, 0, 2]])

    def model(x, y):
        scatters = [
            y.scatter(0, places, x, reduce=name) for name in ("add", "multiply")
        ]
        scatters += [y.scatter(0, places, 3.0, reduce="multiply")]
        rows = torch.nn.functional.embedding(places, y.clone(), max_norm=1.0)
        lower, upper = torch.tril_indices(3, 3), torch.triu_indices(3, 3, 1)
        return *scatters, rows, y[lower[0], lower[1]], y[upper[0], upper[1]]

    same(model, torch.randn(2, 3), torch.randn(3, 3))
