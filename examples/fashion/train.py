#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Train the example's network on Fashion-MNIST and write it as ONNX.

The network is LeNet's shape: two 5×5 convolutions, each with relu and a 2×2
max-pool, then three dense layers. Its input is an image scaled to 0…1 and its
output the ten logits. Training adds mirrored and shifted images; seeds are
fixed. Needs torch, onnx and numpy (`pip install torch==2.13.0 onnx numpy`).
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional

import data

CHANNELS = (10, 20)
HIDDEN = (100, 60)
BATCH = 128


class Net(nn.Module):
    """image [n, 1, 28, 28] → conv 24² → pool 12² → conv 8² → pool 4² → logits [n, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, CHANNELS[0], 5)
        self.conv2 = nn.Conv2d(CHANNELS[0], CHANNELS[1], 5)
        self.dense1 = nn.Linear(16 * CHANNELS[1], HIDDEN[0])
        self.dense2 = nn.Linear(HIDDEN[0], HIDDEN[1])
        self.dense3 = nn.Linear(HIDDEN[1], 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        x = functional.max_pool2d(functional.relu(self.conv1(image)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.dense1(x.flatten(1)))
        return self.dense3(functional.relu(self.dense2(x)))


def augment(images: torch.Tensor) -> torch.Tensor:
    """Mirror half of the images, and shift the batch by at most a pixel each way."""
    mirrored = torch.rand(len(images), 1, 1, 1) < 0.5
    images = torch.where(mirrored, images.flip(3), images)
    down, right = torch.randint(0, 3, (2,)).tolist()
    padded = functional.pad(images, (1, 1, 1, 1))
    return padded[:, :, down : down + 28, right : right + 28]


@torch.no_grad()
def accuracy(net: Net, images: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of images whose largest logit stands at the label."""
    net.eval()
    hits = sum(
        int((net(x).argmax(1) == y).sum())
        for x, y in zip(images.split(1000), labels.split(1000))
    )
    return hits / len(labels)


def train(net: Net, images: torch.Tensor, labels: torch.Tensor, epochs: int) -> None:
    """AdamW under a one-cycle learning rate. Weight decay keeps the weights in
    the range where narrow formats are dense."""
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3, weight_decay=0.05)
    steps = (len(images) + BATCH - 1) // BATCH
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=4e-3, epochs=epochs, steps_per_epoch=steps
    )
    for epoch in range(epochs):
        begin = time.monotonic()
        net.train()
        total = 0.0
        for batch in torch.randperm(len(images)).split(BATCH):
            loss = functional.cross_entropy(
                net(augment(images[batch])), labels[batch], label_smoothing=0.05
            )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            total += loss.item()
        seconds = time.monotonic() - begin
        print(f"epoch {epoch + 1}/{epochs}: loss {total / steps:.4f}, {seconds:.0f} s", flush=True)


def build_onnx(net: Net) -> onnx.ModelProto:
    """The graph, node by node, with the names that policies match on."""
    nodes = []
    value = "image"

    def node(op: str, name: str, *weights: str, **attributes: object) -> None:
        nonlocal value
        output = "logits" if name == "dense3" else f"{name}_out"
        nodes.append(helper.make_node(op, [value, *weights], [output], name=name, **attributes))
        value = output

    window = {"pads": [0, 0, 0, 0], "strides": [1, 1]}
    halve = {"kernel_shape": [2, 2], "pads": [0, 0, 0, 0], "strides": [2, 2]}
    for i in ("1", "2"):
        weights = (f"conv{i}.weight", f"conv{i}.bias")
        node("Conv", f"conv{i}", *weights, kernel_shape=[5, 5], **window)
        node("Relu", f"relu{i}")
        node("MaxPool", f"pool{i}", **halve)
    node("Flatten", "flatten", axis=1)
    node("Gemm", "dense1", "dense1.weight", "dense1.bias", transB=1)
    node("Relu", "relu3")
    node("Gemm", "dense2", "dense2.weight", "dense2.bias", transB=1)
    node("Relu", "relu4")
    node("Gemm", "dense3", "dense3.weight", "dense3.bias", transB=1)

    graph = helper.make_graph(
        nodes,
        "fashion",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["batch", 1, 28, 28])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", 10])],
        [numpy_helper.from_array(w.detach().numpy(), n) for n, w in net.state_dict().items()],
    )
    opset = [helper.make_opsetid("", 13)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=8, producer_name="numera")
    onnx.checker.check_model(model, full_check=True)
    return model


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = Path(__file__).resolve().parent
    parser.add_argument("--output", type=Path, default=here / "model.onnx")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()

    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    torch.use_deterministic_algorithms(True)

    train_images, train_labels = map(torch.from_numpy, data.load("train"))
    test_images, test_labels = map(torch.from_numpy, data.load("t10k"))
    net = Net()
    train(net, train_images, train_labels, args.epochs)

    model = build_onnx(net)
    onnx.save(model, args.output)
    parameters = sum(int(np.prod(p.shape)) for p in net.parameters())
    print(f"{args.output}: {parameters} parameters, {args.output.stat().st_size} bytes")
    print(f"f32 test accuracy {100 * accuracy(net, test_images, test_labels):.2f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
