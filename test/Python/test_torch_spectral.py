# SPDX-License-Identifier: MIT
"""Models of PyTorch with Fourier transforms and complex numbers: neural operators,
filters, mixers of tokens, rotary embeddings, spectrograms."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("torch_mlir")

import numera
import numera.torch
from torch import nn
from torch_calls import agree, gradients, normal

pytestmark = pytest.mark.usefixtures("fresh_torch")

fft = torch.fft


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
