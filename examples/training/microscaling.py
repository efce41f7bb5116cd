# SPDX-License-Identifier: MIT
"""Microscaling formats: blocks of 32 numbers of 8, 6 or 4 bits share a scale.

Rouhani et al.: Microscaling Data Formats for Deep Learning (2023). MXFP8 and MXFP6
train networks to nearly f32's accuracy without another recipe, and no scaling of the
loss; MXFP4 loses some.

Here: Fashion-MNIST, LeNet, AdamW. Inputs, weights and errors of products are rounded in
blocks along their last dimension.
"""

import torch
from common import Table, arguments, fashion
from layers import lenet, rounded, train
from numera.torch import optim

FORMATS = (None, "mxfp8", "mxfp6", "mxfp4", "nvfp4")


def main() -> None:
    options = arguments(__doc__, steps=1000)
    pictures = [torch.tensor(each) for each in fashion(options.data)]
    pictures[1::2] = [labels.long() for labels in pictures[1::2]]
    table = Table(options)
    for fmt in FORMATS:
        if not table.wants(fmt or "f32"):
            continue
        torch.manual_seed(options.seed)
        net = lenet(*rounded(fmt, fmt))
        adam = optim.AdamW(net.parameters(), 1e-3)
        table.row(fmt or "f32", *train(options, pictures, net, adam))
    table.close()


if __name__ == "__main__":
    main()
