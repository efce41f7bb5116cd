# SPDX-License-Identifier: MIT
"""Models with random weights, as ONNX files. The spread of the weights keeps
activations near 1 through any number of layers (He)."""

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Net:
    """Builds one model; `shape` is that of the current activation, and `gemms`
    lists what its layers multiply: rows, columns, depth, how many times."""

    def __init__(self, shape):
        self.inputs = self.shape = list(shape)
        self.nodes, self.weights, self.gemms = [], [], []
        self.last, self.count = "input", 0

    def _weight(self, shape, spread):
        """Its values are made when they are wanted: models are large."""
        self.weights.append((shape, spread))
        return f"w{len(self.weights) - 1}"

    def values(self, index):
        shape, spread = self.weights[index]
        random = np.random.default_rng(index)
        return (random.standard_normal(shape) * spread).astype("f4")

    def _node(self, op, operands, shape=None, **attributes):
        self.count += 1
        self.last = f"t{self.count}"
        self.nodes.append(helper.make_node(op, operands, [self.last],
                                           **attributes))
        self.shape = shape or self.shape
        return self.last

    def conv(self, out, window, stride=1, pad=None, bias=True):
        batch, channels, height, width = self.shape
        pad = window // 2 if pad is None else pad
        depth = channels * window * window
        operands = [self.last, self._weight((out, channels, window, window),
                                            (2 / depth) ** 0.5)]
        if bias:
            operands.append(self._weight((out,), 0.1))
        size = [(extent + 2 * pad - window) // stride + 1
                for extent in (height, width)]
        self.gemms.append((out, size[0] * size[1], depth, batch))
        return self._node("Conv", operands, [batch, out, *size],
                          kernel_shape=[window] * 2, strides=[stride] * 2,
                          pads=[pad] * 4)

    def relu(self):
        return self._node("Relu", [self.last])

    def pool(self, window=2, stride=2, pad=0):
        size = [(extent + 2 * pad - window) // stride + 1
                for extent in self.shape[2:]]
        return self._node("MaxPool", [self.last], self.shape[:2] + size,
                          kernel_shape=[window] * 2, strides=[stride] * 2,
                          pads=[pad] * 4)

    def mean(self):
        return self._node("GlobalAveragePool", [self.last],
                          self.shape[:2] + [1, 1])

    def add(self, other):
        return self._node("Add", [self.last, other])

    def flatten(self):
        return self._node("Flatten", [self.last],
                          [self.shape[0], int(np.prod(self.shape[1:]))])

    def dense(self, out):
        batch, depth = self.shape
        operands = [self.last, self._weight((depth, out), (2 / depth) ** 0.5),
                    self._weight((out,), 0.1)]
        self.gemms.append((batch, out, depth, 1))
        return self._node("Gemm", operands, [batch, out])

    def save(self, path):
        graph = helper.make_graph(
            self.nodes, "run",
            [helper.make_tensor_value_info("input", 1, self.inputs)],
            [helper.make_tensor_value_info(self.last, 1, self.shape)],
            [numpy_helper.from_array(self.values(i), f"w{i}")
             for i in range(len(self.weights))])
        onnx.save(helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", 13)]), str(path))
        return path


def conv(inputs, out, size, window, stride):
    """A single convolution; its weights are the first initializer."""
    net = Net([1, inputs, size, size])
    net.conv(out, window, stride, bias=False)
    return net


def lenet(batch=1):
    net = Net([batch, 1, 28, 28])
    net.conv(6, 5), net.relu(), net.pool()
    net.conv(16, 5, pad=0), net.relu(), net.pool()
    net.flatten()
    net.dense(120), net.relu(), net.dense(84), net.relu(), net.dense(10)
    return net


def wide(batch=64):
    """A CNN for 32 × 32 images with convolutions of 32 to 128 channels."""
    net = Net([batch, 3, 32, 32])
    net.conv(32, 3), net.relu()
    net.conv(64, 3), net.relu(), net.pool()
    net.conv(64, 3), net.relu(), net.pool()
    net.conv(128, 3), net.relu(), net.pool()
    net.flatten()
    net.dense(10)
    return net


def wide_layers(batch=64):
    """The convolutions of `wide` with 32 channels or more, each by itself."""
    for inputs, out, size in ((32, 64, 32), (64, 64, 16), (64, 128, 8)):
        net = Net([batch, inputs, size, size])
        net.conv(out, 3)
        yield f"{inputs}×{size}×{size} → {out}", net


def resnet50(batch=1):
    """Batch normalisation is folded into the convolutions, as exporters do."""
    net = Net([batch, 3, 224, 224])
    net.conv(64, 7, 2), net.relu(), net.pool(3, 2, 1)
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            stride = 2 if block == 0 and width > 64 else 1
            start, shape = net.last, net.shape
            net.conv(width, 1), net.relu()
            net.conv(width, 3, stride), net.relu()
            main, main_shape = net.conv(4 * width, 1), net.shape
            if block == 0:
                net.last, net.shape = start, shape
                start = net.conv(4 * width, 1, stride)
            net.last, net.shape = main, main_shape
            net.add(start), net.relu()
    net.mean(), net.flatten(), net.dense(1000)
    return net
