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
from torch_calls import agree, call, compiled, gradients

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


# ---- models -----------------------------------------------------------------


class Spectral1d(nn.Module):
    """A layer of a Fourier neural operator."""

    def __init__(self, inner, outer, modes):
        super().__init__()
        self.outer, self.modes = outer, modes
        shape = (inner, outer, modes)
        self.weight = nn.Parameter(torch.rand(shape, dtype=torch.cfloat) / inner)

    def forward(self, x):
        spectrum = fft.rfft(x)
        count = x.size(-1) // 2 + 1
        out = torch.zeros(x.shape[0], self.outer, count, dtype=torch.cfloat)
        out[:, :, : self.modes] = torch.einsum(
            "bix,iox->box", spectrum[:, :, : self.modes], self.weight
        )
        return fft.irfft(out, n=x.size(-1))


class Spectral2d(nn.Module):
    def __init__(self, inner, outer, modes):
        super().__init__()
        self.outer, self.modes = outer, modes
        shape = (inner, outer, modes, modes)
        self.first = nn.Parameter(torch.rand(shape, dtype=torch.cfloat) / inner)
        self.second = nn.Parameter(torch.rand(shape, dtype=torch.cfloat) / inner)

    def forward(self, x):
        m, size = self.modes, x.shape[-2:]
        spectrum = fft.rfft2(x)
        out = torch.zeros(
            *(x.shape[0], self.outer, size[0], size[1] // 2 + 1), dtype=torch.cfloat
        )
        for rows, weight in ((slice(m), self.first), (slice(-m, None), self.second)):
            out[:, :, rows, :m] = torch.einsum(
                "bixy,ioxy->boxy", spectrum[:, :, rows, :m], weight
            )
        return fft.irfft2(out, s=size)


class Operator(nn.Module):
    def __init__(self, spectral, convolution):
        super().__init__()
        self.lift = convolution(1, 4, 1)
        self.spectral, self.local = spectral(4, 4, 3), convolution(4, 4, 1)
        self.end = convolution(4, 1, 1)

    def forward(self, x):
        x = self.lift(x)
        x = nn.functional.gelu(self.spectral(x) + self.local(x))
        return self.end(x)


class FNet(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.norm, self.inner = nn.LayerNorm(size), nn.Linear(size, size)

    def forward(self, x):
        x = self.norm(x + fft.fft2(x).real)
        return x + nn.functional.gelu(self.inner(x))


class GlobalFilter(nn.Module):
    """Of GFNet: weights are pairs of real numbers."""

    def __init__(self, height, width, size):
        super().__init__()
        weight = torch.randn(height, width // 2 + 1, size, 2) * 0.02
        self.weight = nn.Parameter(weight)

    def forward(self, x):
        height, width = x.shape[1:3]
        x = fft.rfft2(x, dim=(1, 2), norm="ortho")
        x = x * torch.view_as_complex(self.weight)
        return fft.irfft2(x, s=(height, width), dim=(1, 2), norm="ortho")


class Afno(nn.Module):
    """Mixes frequencies by a small network on real and imaginary parts."""

    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, size, size) * 0.1)

    def forward(self, x):
        z = fft.rfft2(x, dim=(1, 2), norm="ortho")
        a, b = self.weight
        real = (z.real @ a - z.imag @ b).relu()
        imaginary = (z.imag @ a + z.real @ b).relu()
        z = torch.view_as_complex(
            nn.functional.softshrink(torch.stack([real, imaginary], -1), 0.01)
        )
        return fft.irfft2(z, s=x.shape[1:3], dim=(1, 2), norm="ortho") + x


class Rotary(nn.Module):
    """Attention with positions as rotations, as LLaMA was written."""

    def __init__(self, size, length):
        super().__init__()
        self.query, self.key = nn.Linear(size, size), nn.Linear(size, size)
        frequencies = 1 / 100 ** (torch.arange(0, size, 2) / size)
        angles = torch.outer(torch.arange(length), frequencies)
        turns = torch.polar(torch.ones_like(angles), angles)
        self.register_buffer("turns", turns, persistent=False)

    def turned(self, x):
        pairs = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(pairs * self.turns).flatten(-2).type_as(x)

    def forward(self, x):
        query, key = self.turned(self.query(x)), self.turned(self.key(x))
        return (query @ key.mT).softmax(-1) @ x


def spectrogram(x):
    window = torch.hann_window(8)
    return torch.stft(x, 8, hop_length=4, window=window, return_complex=True).abs()


MODELS = {
    "FNO in one dimension": (lambda: Operator(Spectral1d, nn.Conv1d), (2, 1, 9)),
    "FNO in two": (lambda: Operator(Spectral2d, nn.Conv2d), (2, 1, 8, 6)),
    "FNet": (lambda: FNet(6), (2, 5, 6)),
    "GFNet": (lambda: GlobalFilter(5, 6, 3), (2, 5, 6, 3)),
    "AFNO": (lambda: Afno(3), (2, 5, 6, 3)),
    "rotary embedding": (lambda: Rotary(8, 5), (2, 5, 8)),
}


def trained(make, shape, backend=None):
    """A model after some steps, its losses, and the backend."""
    torch.manual_seed(0)
    model, x = make(), normal(*shape)
    net = model if backend is None else torch.compile(model, backend=backend)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = (net(x) - x.roll(1, -1)).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return model, losses


@pytest.mark.parametrize("name", MODELS)
def test_models_train_as_in_eager_mode(name):
    wanted, losses = trained(*MODELS[name])
    model, found = trained(*MODELS[name], numera.torch.backend("f32"))
    assert found == pytest.approx(losses, rel=1e-5)
    for one, two in zip(gradients(model), gradients(wanted)):
        assert one.dtype == two.dtype
        torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("format", ["bf16", "posit16"])
def test_operators_train_in_formats(format):
    _, losses = trained(*MODELS["FNO in one dimension"])
    backend = numera.torch.backend(format, policy={"spectral": "f32"})
    model, found = trained(*MODELS["FNO in one dimension"], backend)
    assert found == pytest.approx(losses, rel=1e-2)
    for program in backend.programs:  # the module's operators are those of its parts
        assert {rule["format"] for rule in program.policy["rules"]} == {"f32"}
    backend = numera.torch.backend(format)
    model, found = trained(*MODELS["FNO in one dimension"], backend)
    assert found == pytest.approx(losses, rel=1e-2)
    numbers = torch.view_as_real(model.spectral.weight.grad).numpy()
    np.testing.assert_array_equal(numera.quantize(numbers, format), numbers)


def test_rules_and_passes_are_those_of_operators():
    x = normal(2, 5, 6, 3)
    make = MODELS["GFNet"][0]
    backend = numera.torch.backend("posit16", gradients="f32")
    torch.compile(make(), backend=backend)(x).square().sum().backward()
    forward, rest = (each.policy.get("rules", []) for each in backend.programs)
    assert not forward and [rule["format"] for rule in rest] == ["f32"]
    policy = {"op:fft_*2c": "bf16", "op:mul": "posit8"}
    backend = numera.torch.backend("f32", policy=policy)
    torch.compile(make(), backend=backend)(x)
    (program,) = backend.programs
    formats = {rule["format"] for rule in program.policy["rules"]}
    assert formats | {program.policy["format"]} == {"f32", "bf16", "posit8"}


def test_spectrograms():
    def spectrogram(x, z):
        window = torch.hann_window(8)
        own = {"hop_length": 4, "window": window, "return_complex": True}
        return torch.stft(x, 8, **own).abs(), torch.stft(z, 8, **own)

    agree(spectrogram, normal(2, 24), normal(2, 24, dtype=torch.cfloat))


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


def test_exported_models_hold_complex_numbers(tmp_path):
    model, x = MODELS["FNO in one dimension"][0]().eval(), normal(2, 1, 9)
    exported = torch.export.export(model, (x,))
    torch.testing.assert_close(numera.torch.compile(exported)(x), model(x))
    torch.export.save(exported, str(tmp_path / "model.pt2"))
    numera.import_model(str(tmp_path / "model.pt2"), str(tmp_path / "model.mlir"))
    program = numera.compile(str(tmp_path / "model.mlir"))
    torch.testing.assert_close(torch.from_numpy(program(x.numpy())), model(x).detach())

    class Doubled(nn.Module):
        def forward(self, x):
            return fft.rfft(x)

    torch.export.save(torch.export.export(Doubled(), (x,)), str(tmp_path / "out.pt2"))
    with pytest.raises(
        numera.Error, match="result 0 is complex, expected real numbers"
    ):
        numera.import_model(str(tmp_path / "out.pt2"), str(tmp_path / "out.mlir"))


def test_gradients_of_complex_parameters_are_measured_and_added_up():
    make, shape = MODELS["FNO in one dimension"]
    backend = numera.torch.backend("bf16", stats=True)
    trained(make, shape, backend)
    (row, *_) = [r for r in backend.gradients if r["name"] == "spectral.weight"]
    assert row["count"] == 2 * 4 * 4 * 3 and row["sqnr_db"] > 30
    backend = numera.torch.backend("f32", gradients={"format": "f32"})
    model, x = make(), normal(*shape)
    net = torch.compile(model, backend=backend)

    def accumulate():
        with backend.accumulate(model):
            for part in x.split(1):
                net(part).square().sum().backward()

    with pytest.warns(UserWarning, match="not one sum"):
        accumulate()
    found = gradients(model)
    model.zero_grad()
    model(x).square().sum().backward()
    torch.testing.assert_close(found, gradients(model), rtol=1e-4, atol=1e-5)


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
