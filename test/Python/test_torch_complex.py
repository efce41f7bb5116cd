# SPDX-License-Identifier: MIT
"""Fourier transforms and complex numbers within models of PyTorch."""

import re

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera  # noqa: E402
import numera.torch  # noqa: E402
from torch import nn  # noqa: E402
from torch_calls import agree, call, compiled, gradients  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_torch")

fft = torch.fft


def normal(*shape, seed=0, dtype=None):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=dtype)


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


# ---- complex numbers --------------------------------------------------------


def arithmetic(a, b):
    return [
        *(a + b, a - 1j, a * b, a * 2, 2j * a, a / b, a / 3, a / (1 + 3j), 2 / b),
        *(-a, a.conj(), a.conj() * b, a - b.conj(), 1 - a),
        torch.sub(a, b, alpha=2),
    ]


def beside_real_ones(a, x):
    return [a + x, x * a, x / a, a / x, x - a, x * 1j, x[:1] * a, a[0] + x]


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


def moves(a, b):
    out = torch.zeros(4, 9, dtype=torch.cfloat)
    out[:, :7] = a
    out[1, 2:4] += b[0, :2]
    return [
        *(a.t().reshape(-1), a[1:, ::2], a.flip(0), torch.roll(a, 1), out),
        *(a[torch.tensor([2, 0, 2])], torch.cat([a, b]), torch.stack([a, b], 1)),
        *(torch.where(a.real > 0, a, b), nn.functional.pad(a, (1, 2)), a[:, 2]),
        *(a.unbind(0)[1], a.split(3, 1)[2] * 2, a.expand(2, 4, 7), a[None, ..., None]),
        *(a.masked_fill(b.imag > 0, 0), torch.zeros_like(a) + b, a.unflatten(0, (2, 2))),
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
