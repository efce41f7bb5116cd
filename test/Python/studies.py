# SPDX-License-Identifier: MIT
"""A model and data that the tests of studies share."""

import numera
import numpy as np

# A layer of 4 classes: rows of 6 numbers, any number of them.
LAYER = """
func.func @layer(%x: tensor<?x6xf32>, %w: tensor<6x4xf32>) -> tensor<?x4xf32> {
  %zero = arith.constant 0.0 : f32
  %i = arith.constant 0 : index
  %rows = tensor.dim %x, %i : tensor<?x6xf32>
  %empty = tensor.empty(%rows) : tensor<?x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<?x4xf32>)
      -> tensor<?x4xf32>
  %y = linalg.matmul ins(%x, %w : tensor<?x6xf32>, tensor<6x4xf32>)
      outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}
"""
SQUARE = """
func.func @square(%x: tensor<SIZE>) -> tensor<SIZE> {
  %y = arith.mulf %x, %x : tensor<SIZE>
  return %y : tensor<SIZE>
}
"""
# Of an operation in a format.
TABLE = {
    "float<4,3>": {"mul": 1, "add": 0.5},
    "f16": {"mul": 4, "add": 2},
    "f32": {"mul": 16, "add": 3},
}
WEIGHTED = LAYER.replace("%w: tensor<6x4xf32>", "%w: tensor<6x4xf32> {numera.weight}")
UNNAMED = WEIGHTED.replace(
    "return %y",
    "%z = arith.mulf %y, %y : tensor<?x4xf32>\n  return %z",
)
RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((150, 6)).astype("f4")
W = RANDOM.standard_normal((6, 4)).astype("f4")
LABELS = (X.astype("f8") @ W.astype("f8")).argmax(1)


def square(size):
    return SQUARE.replace("SIZE", f"{size}xf32")


def kept(store, progress=None, **changes):
    given = {"formats": "float<4..5,1..4>", "inputs": [X, W], "labels": LABELS}
    return numera.sweep(
        LAYER, store=store, progress=progress, **{"workers": 1, **given, **changes}
    )


def _varint(number):
    found = bytearray()
    while number > 127:
        found.append(number & 127 | 128)
        number >>= 7
    return bytes([*found, number])


def _fields(*pairs):
    """A message of protobuf, of numbers, texts and messages."""
    found = b""
    for field, value in pairs:
        if isinstance(value, int):
            found += _varint(field << 3) + _varint(value)
        else:
            data = value.encode() if isinstance(value, str) else value
            found += _varint(field << 3 | 2) + _varint(len(data)) + data
    return found


def _value(name, columns):
    """A ValueInfoProto: f32, rows that are left open."""
    shape = _fields((1, _fields((2, "rows"))), (1, _fields((1, columns))))
    return _fields((1, name), (2, _fields((1, _fields((1, 1), (2, shape))))))


def perceptron(*weights):
    """A model of ONNX: matrix products, fc1, fc2…, with a Relu between two."""
    nodes, tensors, last = [], [], "x"
    for n, weight in enumerate(weights, 1):
        dims = [(1, size) for size in weight.shape]
        data = weight.astype("<f4").tobytes()
        tensors.append(_fields(*dims, (2, 1), (8, f"w{n}"), (9, data)))
        made = "y" if n == len(weights) else f"a{n}"
        product = [(1, last), (1, f"w{n}"), (2, made), (3, f"fc{n}"), (4, "MatMul")]
        nodes.append(_fields(*product))
        if n < len(weights):
            last = f"r{n}"
            relu = [(1, made), (2, last), (3, f"relu{n}"), (4, "Relu")]
            nodes.append(_fields(*relu))
    graph = _fields(
        *[(1, node) for node in nodes],
        (2, "perceptron"),
        *[(5, tensor) for tensor in tensors],
        (11, _value("x", weights[0].shape[0])),
        (12, _value("y", weights[-1].shape[1])),
    )
    return _fields((1, 8), (7, graph), (8, _fields((1, ""), (2, 17))))
