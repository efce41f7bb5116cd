# SPDX-License-Identifier: MIT
"""Weights in 16 bits or less stall when updates are rounded to nearest.

Zamirai, Zhang, Aberger, De Sa: Revisiting BFloat16 Training (2020). Updates smaller
than half of the distance between two weights are lost when they are rounded to
nearest; stochastic rounding or Kahan's compensated sums give f32's accuracy.

Here: Fashion-MNIST, 784-128-10, SGD with a small learning rate. Only weights and what
is kept beside them are in the format.
"""

import torch
from common import Table, arguments, fashion
from numera.torch import optim

RATE, BATCH = 0.002, 64
WAYS = {
    "nearest": {},
    "stochastic": {"rounding": "stochastic"},
    "compensated": {"compensated": True},
    "master f32": {"master": "f32"},
}


def train(options, pictures, table, name, **formats):
    x, y, test, labels = pictures
    torch.manual_seed(options.seed)
    net = torch.nn.Sequential(
        torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)
    )
    sgd = optim.SGD(net.parameters(), RATE, seed=options.seed, **formats)
    chosen = torch.Generator().manual_seed(options.seed)
    losses = []
    for _ in range(options.steps):
        rows = torch.randint(len(x), (BATCH,), generator=chosen)
        loss = torch.nn.functional.cross_entropy(net(x[rows]), y[rows])
        sgd.zero_grad()
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    with torch.no_grad():
        accuracy = (net(test).argmax(1) == labels).float().mean().item()
    table.row(name, losses, f"{100 * accuracy:.2f} %")


def main() -> None:
    options = arguments(__doc__, steps=6000)
    pictures = [torch.tensor(each) for each in fashion(options.data)]
    pictures[1::2] = [labels.long() for labels in pictures[1::2]]
    table = Table(options)
    if table.wants("f32"):
        train(options, pictures, table, "f32")
    for fmt in ("bf16", "float<5,5>", "posit<12,1>"):
        for way, formats in WAYS.items():
            if table.wants(f"{fmt} {way}"):
                train(options, pictures, table, f"{fmt} {way}", weights=fmt, **formats)
    table.close()


if __name__ == "__main__":
    main()
