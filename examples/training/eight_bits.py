# SPDX-License-Identifier: MIT
"""Eight-bit floats: E4M3 forward, E5M2 backward, with scaled losses.

Micikevicius et al.: FP8 Formats for Deep Learning (2022). Factors of products are
E4M3, and errors, whose range is wider, E5M2; with scaling, networks reach the accuracy
of 16-bit formats.

Here: Fashion-MNIST, LeNet, SGD with momentum. Errors of a mean over 64 pictures are
small: E4M3 holds nothing below 2^-9 but zero, and E5M2 nothing below 2^-16.
"""

import torch
from common import Table, arguments, fashion
from layers import lenet, rounded, train
from numera.torch import optim

FORWARD, BACKWARD = "f8E4M3FN", "f8E5M2"
ROWS = {
    "f32": (None, None, 1),
    "E4M3, errors E5M2, scaled": (FORWARD, BACKWARD, 1024),
    "E4M3, errors E5M2": (FORWARD, BACKWARD, 1),
    "E4M3, errors E4M3, scaled": (FORWARD, FORWARD, 1024),
    "E4M3, errors E4M3": (FORWARD, FORWARD, 1),
    "E5M2, errors E5M2, scaled": (BACKWARD, BACKWARD, 1024),
}


def main() -> None:
    options = arguments(__doc__, steps=1000)
    pictures = [torch.tensor(each) for each in fashion(options.data)]
    pictures[1::2] = [labels.long() for labels in pictures[1::2]]
    table = Table(options)
    for name, (forward, backward, scale) in ROWS.items():
        if not table.wants(name):
            continue
        torch.manual_seed(options.seed)
        net = lenet(*rounded(forward, backward))
        sgd = optim.SGD(net.parameters(), 0.02, 0.9)
        scaler = torch.amp.GradScaler("cpu", scale, enabled=scale > 1)
        table.row(name, *train(options, pictures, net, sgd, scaler))
    table.close()


if __name__ == "__main__":
    main()
