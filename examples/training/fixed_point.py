# SPDX-License-Identifier: MIT
"""Stochastic rounding rescues training in 16-bit fixed point.

Gupta, Agrawal, Gopalakrishnan, Narayanan: Deep Learning with Limited Numerical
Precision (ICML 2015). Weights, results of layers, and their gradients are fixed-point
numbers of 16 bits, 8 to 14 of them behind the point; sums of products are wide,
and rounded once. Rounded to nearest, networks with few bits behind the point do not
learn, since updates are lost; rounded stochastically, they come close to f32.

Here: Fashion-MNIST, 784-128-10, 100 pictures a step, without momentum. With 14 bits
behind the point, or 12, numbers end at 2 or 8, which is too small for these scores.
"""

import numera
import torch
from common import Table, arguments, fashion
from numera.torch import Quantizer, optim

BATCH = 100


def network(fmt: numera.Format | None, rounding: str | None) -> torch.nn.Module:
    def rounded() -> torch.nn.Module:
        if fmt is None:
            return torch.nn.Identity()
        return Quantizer(
            fmt, fmt, forward_rounding=rounding, backward_rounding=rounding
        )

    return torch.nn.Sequential(
        torch.nn.Linear(784, 128), rounded(), torch.nn.ReLU(),
        torch.nn.Linear(128, 10), rounded(),
    )  # fmt: skip


def train(options, pictures, fmt, rounding, table, name):
    x, y, test, labels = pictures
    torch.manual_seed(options.seed)
    net = network(fmt, rounding)
    weights = (
        {"weights": fmt, "rounding": rounding, "seed": options.seed} if fmt else {}
    )
    sgd = optim.SGD(net.parameters(), 0.1, **weights)
    chosen = torch.Generator().manual_seed(options.seed)
    losses = []
    for step in range(options.steps):
        rows = torch.randint(len(x), (BATCH,), generator=chosen)
        # Errors are of each picture, gradients of weights are means.
        loss = torch.nn.functional.cross_entropy(net(x[rows]), y[rows], reduction="sum")
        sgd.zero_grad()
        loss.backward()
        for place, p in enumerate(net.parameters()):
            p.grad /= BATCH
            if fmt:
                seed = options.seed + 1 + place
                numera.quantize(
                    p.grad, fmt, rounding=rounding, seed=seed, step=step, out=p.grad
                )
        sgd.step()
        losses.append(loss.item() / BATCH)
    with torch.no_grad():
        accuracy = (net(test).argmax(1) == labels).float().mean().item()
    table.row(name, losses, f"{100 * accuracy:.2f} %")


def main() -> None:
    options = arguments(__doc__, steps=3000)
    pictures = [torch.tensor(each) for each in fashion(options.data)]
    pictures[1::2] = [labels.long() for labels in pictures[1::2]]
    table = Table(options)
    if table.wants("f32"):
        train(options, pictures, None, None, table, "f32")
    for behind in (10, 8):
        fmt = numera.fixed(15 - behind, behind)
        for rounding in ("nearest-even", "stochastic"):
            name = f"{fmt.spelling} {rounding}"
            if table.wants(name):
                train(options, pictures, fmt, rounding, table, name)
    table.close()


if __name__ == "__main__":
    main()
