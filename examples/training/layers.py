# SPDX-License-Identifier: MIT
"""Layers whose products take rounded factors: inputs, weights, and errors."""

from collections.abc import Callable

import torch
from numera.torch import Quantizer

Make = Callable[[], torch.nn.Module]


class Product(torch.nn.Module):
    """A layer whose input and weight go through ``forward`` before it multiplies
    them, and whose error comes back through ``backward``. Sums are in f32."""

    def __init__(self, layer: torch.nn.Module, forward: Make, backward: Make) -> None:
        super().__init__()
        self.layer, self.input, self.error = layer, forward(), backward()
        torch.nn.utils.parametrize.register_parametrization(layer, "weight", forward())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.error(self.layer(self.input(x)))


def rounded(forward: str | None, backward: str | None, **options) -> tuple[Make, Make]:
    """What products' factors and errors go through; None: nothing."""
    return (
        lambda: Quantizer(forward, **options),
        lambda: Quantizer(None, backward, **options),
    )


def lenet(forward: Make, backward: Make) -> torch.nn.Module:
    nn = torch.nn

    def product(layer: torch.nn.Module) -> Product:
        return Product(layer, forward, backward)

    return nn.Sequential(
        nn.Unflatten(1, (1, 28, 28)),
        product(nn.Conv2d(1, 6, 5)), nn.ReLU(), nn.MaxPool2d(2),
        product(nn.Conv2d(6, 16, 5)), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(),
        product(nn.Linear(256, 120)), nn.ReLU(),
        product(nn.Linear(120, 84)), nn.ReLU(),
        product(nn.Linear(84, 10)),
    )  # fmt: skip


def train(options, pictures, net, optimizer, scaler=None):
    """The losses, and the accuracy."""
    x, y, test, labels = pictures
    chosen = torch.Generator().manual_seed(options.seed)
    scaler = scaler or torch.amp.GradScaler("cpu", enabled=False)
    losses = []
    for _ in range(options.steps):
        rows = torch.randint(len(x), (64,), generator=chosen)
        loss = torch.nn.functional.cross_entropy(net(x[rows]), y[rows])
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    with torch.no_grad():
        accuracy = (net(test).argmax(1) == labels).float().mean().item()
    return losses, f"{100 * accuracy:.2f} %"
