# SPDX-License-Identifier: MIT
"""Fourier transforms and complex numbers within models of PyTorch."""

import re

import ml_dtypes
import numpy as np
import oracle
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn
from torch.utils.checkpoint import checkpoint
from torch_calls import agree, call, compiled, normal

pytestmark = pytest.mark.usefixtures("fresh_torch")

fft = torch.fft


X, Y = normal(4, 7), normal(4, 7, seed=1)
Z, W = normal(4, 7, dtype=torch.cfloat), normal(4, 7, seed=1, dtype=torch.cfloat)


# ---- transforms -------------------------------------------------------------

TRANSFORMS = {
    "of real numbers": (
        lambda x: [fft.fft(x), fft.rfft(x), fft.ifft(x, dim=0), fft.rfft(x, 12)],
        X,
    ),
    "of complex ones": (
        lambda z: [fft.fft(z), fft.fft(z, dim=0), fft.ifft(z, 5), fft.ifft(z, 9)],
        Z,
    ),
    "with real results": (
        lambda z: [fft.irfft(z), fft.irfft(z, 9), fft.irfft(z, dim=0), fft.hfft(z)],
        Z,
    ),
    "norms": (
        lambda x: [
            (fft.rfft(x, norm=n), fft.irfft(fft.fft(x, norm=n), norm=n))
            for n in ("forward", "backward", "ortho")
        ],
        X,
    ),
    "of two dimensions": (
        lambda x: [
            *(fft.fft2(x), fft.ifft2(x), fft.rfft2(x), fft.irfft2(fft.rfft2(x))),
            fft.rfft2(x, dim=(0, 1)),
        ],
        normal(3, 4, 5),
    ),
    "of many": (
        lambda x: [
            *(fft.fftn(x), fft.rfftn(x, dim=(0, 2)), fft.ifftn(fft.fftn(x))),
            fft.irfftn(fft.rfftn(x), s=x.shape),
        ],
        normal(3, 4, 5),
    ),
    "moved": (lambda x: fft.ifftshift(fft.fftshift(fft.fft(x)) * 2), X),
    "derivatives": (
        lambda x: [
            fft.irfft(fft.rfft(x) * (2j * np.pi * fft.rfftfreq(7, 0.5)), n=7),
            fft.ifft(fft.fft(x) * fft.fftfreq(7)).real + fft.fftfreq(7),
        ],
        X,
    ),
    "lengths from one on": (
        lambda x: [fft.irfft(fft.rfft(x[:n]), n) for n in (1, 2, 3, 8)],
        normal(8),
    ),
    "a length whose matrix is gathered": (
        lambda x: [fft.rfft(x).imag, fft.irfft(fft.rfft(x), 300)],
        normal(300),
    ),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transforms_are_those_of_eager_mode(name):
    agree(*TRANSFORMS[name])


PARTS = {
    "few results": lambda x: fft.rfft(x)[:, 1:3],
    "few of two dimensions": lambda x: fft.fft2(x)[:3, -2:],
    "few in two places": lambda x: [fft.fft(x)[:, :2], fft.fft(x)[:1, 3:5]],
    "zeros behind": lambda x: fft.irfft(nn.functional.pad(fft.rfft(x)[:, :2], (0, 3))),
    "zeros that are assigned to": lambda x: assigned(x, slice(0, 2)),
    "zeros before": lambda x: assigned(x, slice(2, 4)),
    "zeros between": lambda x: assigned(x, slice(0, 4, 2)),
    "zeros alone": lambda x: assigned(x, slice(0, 0)),
}


def assigned(x, places):
    out = torch.zeros(4, 5, dtype=torch.cfloat)
    out[:, places] = fft.rfft(x)[:, places]
    out[2:, :1] += 2
    return [fft.irfft(out, 9), fft.irfft(out, 8), fft.ifft2(out), fft.fft(out, dim=0)]


def test_few_frequencies_of_many_are_small_products():
    def layer(x):
        out = torch.zeros(2, 101, dtype=torch.cfloat)
        out[:, :3] = fft.rfft(x)[:, :3] * 2j
        return fft.irfft(out, n=200)

    net, backend = compiled(layer)
    net(normal(2, 200).requires_grad_()).sum().backward()
    for program in backend.programs:
        sizes = re.findall(r"tensor<(\d+)x(\d+)xf32>", program.mlir())
        assert max(min(int(each) for each in size) for size in sizes) <= 6


@pytest.mark.parametrize("name", PARTS)
def test_what_is_zero_or_not_read_is_not_computed_with(name):
    agree(PARTS[name], normal(4, 8))


# ---- complex numbers --------------------------------------------------------


def arithmetic(a, b):
    return [
        *(a + b, a - 1j, a * b, a * 2, 2j * a, a / b, a / 3, a / (1 + 3j), 2 / b),
        *(-a, a.conj(), a.conj() * b, a - b.conj(), 1 - a),
        torch.sub(a, b, alpha=2),
    ]


def beside_real_ones(a, x):
    places, out = torch.arange(7), a.clone()
    out[0], out[1:3, 2] = places, x.detach()[0, 0]
    return [
        *(out, a * places, a + (x > 0), torch.cat([a, places[None]]), a == places),
        *(a + x, x * a, x / a, a / x, x - a, x * 1j, x[:1] * a, a[0] + x),
    ]


def parts(a, x, y):
    b = torch.complex(x, y)
    c = torch.view_as_complex(torch.stack([x, y], -1))
    d = torch.polar(x.abs(), y)
    return [
        *(b, c * a, d, a.real, a.imag, a.conj().imag * x, (a * b).conj().real),
        *(torch.view_as_real(a * c), torch.view_as_real(a), torch.real(d)),
        *(a.view(torch.float32) * 2, a + a.real),
    ]


def functions(a, b):
    return [
        *(a.abs(), a.angle(), a.exp(), a.log(), a.sqrt(), a.reciprocal()),
        *(a.sgn(), a**2, a**3, a**-1, a**0.5, a.sin(), a.cos(), a.square()),
        *(torch.linalg.norm(a), torch.linalg.vector_norm(a, dim=0)),
        *(a.sum(), a.sum(1), a.mean(), a.mean(0, keepdim=True), a.cumsum(0)),
        *((a * b).abs().square().mean(), (a == b.conj()), a != 1),
    ]


def changed(a):
    a = a.clone()
    a.real.mul_(2)
    a[0] *= 1j
    a.imag[1] = 0
    a[torch.tensor([1, 1, 3]), 2:] = 2j
    return a.index_add_(0, torch.tensor([0, 0]), a[:2].clone())


def moves(a, b):
    places = torch.tensor([[0, 3], [1, 2], [5, 6], [6, 0]])
    out = torch.zeros(4, 9, dtype=torch.cfloat)
    out[:, :7] = a
    out[1, 2:4] += b[0, :2]
    return [
        *(a.t().reshape(-1), a[1:, ::2], a.flip(0), torch.roll(a, 1), out),
        *(a[torch.tensor([2, 0, 2])], torch.cat([a, b]), torch.stack([a, b], 1)),
        *(torch.where(a.real > 0, a, b), nn.functional.pad(a, (1, 2)), a[:, 2]),
        *(a.unbind(0)[1], a.split(3, 1)[2] * 2, a.expand(2, 4, 7), a[None, ..., None]),
        *(
            a.masked_fill(b.imag > 0, 0),
            torch.zeros_like(a) + b,
            a.unflatten(0, (2, 2)),
        ),
        *(changed(a), a.gather(1, places), a.scatter(1, places, b[:, :2])),
        *(a.scatter(1, places, 2j), a.scatter_add(1, places, b[:, :2])),
        *(torch.ones_like(a) * b, torch.full_like(a, 2 - 1j), a.clone(), a.tril()),
    ]


def products(a, b):
    c, d = a.reshape(2, 2, 7), b.reshape(2, 7, 2)
    return [
        *(a @ b.T, a @ b.mH, torch.bmm(c, d), torch.einsum("bik,oik->bok", c, c)),
        *(torch.addmm(a[:, :4], a, b.T), a @ b[0], torch.vdot(a[0], b[0])),
        *(torch.outer(a[0], b[0]), nn.functional.linear(a, b, b[:, 0])),
    ]


COMPLEX = {
    "arithmetic": (arithmetic, Z, W),
    "beside real numbers": (beside_real_ones, Z, X),
    "parts": (parts, Z, X, Y),
    "functions": (functions, Z, W),
    "moves": (moves, Z, W),
    "products": (products, Z, W),
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_those_of_eager_mode(name):
    agree(*COMPLEX[name])


EVERYWHERE = torch.tensor(
    [0, 1, 1j, -1j, 2, 2j, 1 + 1e-4j, -0.5, 1e-5 + 1e-5j, 3 - 4j, 0.3 - 0.7j, 20 + 1j]
)


def test_elementary_functions_are_those_of_eager_mode():
    def functions(a):
        return [
            *(a.sqrt(), a.exp(), a.log(), a.log10(), a.sin(), a.cos(), a.tan()),
            *(a.sinh(), a.cosh(), a.tanh(), a.sigmoid(), a.rsqrt(), a.var(), a.std()),
            *(a**1.5, a ** (2 - 1j), a**EVERYWHERE, 2**a, a.abs(), a.sgn(), a**7),
            *((a / 0).isfinite(), a.isnan(), a.isinf()),
        ]

    net, _ = compiled(functions)
    for found, wanted in zip(net(EVERYWHERE), functions(EVERYWHERE), strict=True):
        finite = torch.where(wanted.isfinite(), wanted, 0)
        found = torch.where(wanted.isfinite(), found, 0)
        torch.testing.assert_close(found, finite, rtol=2e-5, atol=2e-6)


# ---- where graphs begin and end ---------------------------------------------


@pytest.mark.parametrize(
    "z", [Z.conj(), Z.t(), Z[:, ::2], Z[0].expand(3, 7), Z[0, 0], Z.conj().imag, Z[:0]]
)
def test_arguments_lie_in_memory_as_they_do(z):
    agree(lambda z: [z * 2, z.conj(), z.sum()], z)


def test_results_are_what_they_are_in_eager_mode():
    def results(z, w):
        return [
            *(z, z.conj(), z.T, z.clone(), z.real, z.imag, torch.view_as_real(z)),
            *((z * w).T, (z * w).conj(), (z * w).T.contiguous(), z.detach()),
        ]

    agree(results, Z, W)
    wanted, found = results(Z, W), torch.compile(
        results, backend=numera.torch.backend("f32")
    )(Z, W)  # fmt: skip
    for one, two in zip(found, wanted):
        assert one.stride() == two.stride() and one.dtype == two.dtype


def test_a_model_holds_and_draws_complex_numbers():
    def model(z):
        held = torch.tensor([1 + 2j, 0, 1, 2, 3, 4j, 5])
        return z * held * torch.randn(4, 7, dtype=torch.cfloat)

    torch.manual_seed(3)
    wanted = model(Z)
    torch.manual_seed(3)
    net, _ = compiled(model)
    torch.testing.assert_close(net(Z), wanted)


def test_a_model_changes_what_it_holds_and_computes_anew():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(4, dtype=torch.cfloat))

        def spectrum(self, x):
            return fft.rfft(x).abs() * torch.rand(4)

        def forward(self, x):
            self.mean.mul_(0.5).add_(fft.rfft(x).mean(0).detach())
            return checkpoint(self.spectrum, x, use_reentrant=False) + self.mean.real

    results = []
    for compile in (lambda model: model, lambda model: compiled(model)[0]):
        model, x = Model(), X.clone().requires_grad_()
        net = compile(model)
        torch.manual_seed(1)
        for _ in range(2):
            y = net(x)
            y.square().sum().backward()
        results.append((y, x.grad, model.mean))
    torch.testing.assert_close(*results, rtol=2e-5, atol=2e-5)


def test_complex128_is_f64():
    z = Z.to(torch.complex128)
    found = call(lambda z: fft.fft(z * 2), z, format="f64")
    torch.testing.assert_close(found, fft.fft(z * 2), rtol=1e-13, atol=1e-13)
    agree(lambda z: (z.to(torch.complex128) * 2j).to(torch.complex64), Z)


def test_sizes_may_change():
    net = torch.compile(
        lambda x: fft.rfft(x).abs() * 2,
        backend=numera.torch.backend("f32"),
        dynamic=True,
    )
    for size in (5, 6, 9):
        x = normal(2, size)
        torch.testing.assert_close(net(x), fft.rfft(x).abs() * 2)


# ---- what is rounded --------------------------------------------------------


def bf16(x):
    return np.asarray(x).astype(ml_dtypes.bfloat16).astype("f4")


def test_a_transform_is_one_product():
    x, y = bf16(X), bf16(Y)
    z = torch.complex(torch.from_numpy(x), torch.from_numpy(y))
    found = torch.view_as_real(call(fft.ifft, z, format="bf16")).numpy()
    turns = 2 * np.pi * np.outer(np.arange(7), np.arange(7)) / 7
    cosines, sines = bf16(np.cos(turns) / 7), bf16(np.sin(turns) / 7)
    for part, rows in enumerate(([cosines, -sines], [sines, cosines])):
        total = np.zeros((4, 7), "f4")  # sums in f32, of products that f32 has
        for number, row in zip(np.hstack([x, y]).T, np.vstack(rows)):
            total += number[:, None] * row
        oracle.same_bits(found[..., part], bf16(total))


def test_each_operation_on_parts_is_rounded():
    x, y, r = bf16(X), bf16(Y), bf16

    def f(x, y):
        a, b = torch.complex(x, y), torch.complex(y, x)
        return torch.stack([(a * b).real, (a * b).imag, (a / 3).imag, (a + b).real])

    found = call(f, torch.from_numpy(x), torch.from_numpy(y), format="bf16")
    expected = [
        r(r(x * y) - r(y * x)),
        r(r(x * x) + r(y * y)),
        r(y / np.float32(3)),
        r(x + y),
    ]
    np.testing.assert_array_equal(found, expected)


# ---- what is refused --------------------------------------------------------

NONE = "it has no counterpart in linalg for complex numbers"
REFUSED = {
    "an operator": (lambda z: torch.cumprod(z, 0).abs(), "aten.cumprod.default", NONE),
    "a function": (lambda z: z.acos() + 1, "aten.acos.default", NONE),
    "a length": (
        lambda z: fft.fft(z, 8193).abs(),
        "aten._fft_c2c.default",
        "a transform of 8193 points, expected 8192 at most",
    ),
    "a type": (
        lambda z: z.to(torch.complex32) * 2,
        "aten._to_copy.default",
        "it has numbers of torch.complex32, which no program has",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.filterwarnings("ignore:ComplexHalf support")
def test_what_is_refused_names_itself(name):
    function, operator, reason = REFUSED[name]
    net, _ = compiled(lambda z: function(z))
    with pytest.raises(Exception, match="cannot compile") as caught:
        net(Z)
    (line,) = re.findall(r"cannot compile .*", str(caught.value))
    assert line.startswith(f"cannot compile '{operator}' at ")
    assert "test_torch_complex.py:" in line
    assert line.endswith(f': {reason}; fallback="torch" has PyTorch run it')


def test_pytorch_runs_what_is_refused():
    def model(x):
        z = torch.cumprod(fft.fft(x * 2) / 4, 0)
        return fft.ifft(z * 3).abs() * 2

    net, backend = compiled(model, fallback="torch")
    x, y = X.clone().requires_grad_(), X.clone().requires_grad_()
    found, wanted = net(x), model(y)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-5)
    found.sum().backward()
    wanted.sum().backward()
    torch.testing.assert_close(x.grad, y.grad, rtol=1e-3, atol=1e-4)
    assert backend.fallbacks[0].operator == "aten.cumprod.default"
