# SPDX-License-Identifier: MIT
"""Write models whose outputs hang on the order of sums, and an input for them:
make-sums.py DIRECTORY. Windows, whole images and rows longer than 32 are
summed: average pooling and global average pooling, and a softmax."""

import sys

import numpy as np
from onnx import TensorProto, helper, save


def write(name, nodes, shape):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, name,
        [value("x", TensorProto.FLOAT, ["batch", 3, 13, 11])],
        [value("y", TensorProto.FLOAT, ["batch", *shape])])
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    save(model, f"{sys.argv[1]}/{name}.onnx")


write("pool", [
    helper.make_node("AveragePool", ["x"], ["p"], "pool", kernel_shape=[3, 3],
                     pads=[1, 1, 1, 1], strides=[2, 2]),
    helper.make_node("GlobalAveragePool", ["p"], ["g"], "global"),
    helper.make_node("Flatten", ["g"], ["y"], "flatten"),
], [3])
write("softmax", [
    helper.make_node("Flatten", ["x"], ["h"], "rows"),
    helper.make_node("Softmax", ["h"], ["y"], "softmax", axis=1),
], [429])
x = np.random.default_rng(3).normal(0, 2, (2, 3, 13, 11)).astype("f4")
np.save(sys.argv[1] + "/x.npy", x)
