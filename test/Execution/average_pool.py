# SPDX-License-Identifier: MIT
"""average_pool.py FOLDER: ONNX's AveragePool over windows of every kind.

In f32 and bf16 results have the bits that clause C7 gives, computed here with
NumPy; in formats without one there they are near. Prints how many were compared.
"""
import itertools
import pathlib
import subprocess
import sys

import numpy as np
from onnx import TensorProto, helper

# Name, spatial sizes, attributes.
POOLS = [
    ("1d", [32], {"kernel_shape": [2]}),
    ("1d_whole", [4], {"kernel_shape": [4]}),
    ("1d_one", [5], {"kernel_shape": [1]}),
    ("2d", [32, 32], {"kernel_shape": [2, 2]}),
    ("2d_rows", [9, 7], {"kernel_shape": [3, 1]}),
    ("2d_pads", [28, 28], {"kernel_shape": [3, 3], "pads": [2, 2, 2, 2]}),
    ("2d_count_pads", [28, 28], {"kernel_shape": [3, 3], "pads": [2, 2, 2, 2],
                                 "count_include_pad": 1}),
    ("2d_same_upper", [32, 32], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}),
    ("2d_same_lower", [32, 32], {"kernel_shape": [2, 2], "auto_pad": "SAME_LOWER"}),
    ("2d_valid", [6, 6], {"kernel_shape": [4, 4], "auto_pad": "VALID"}),
    ("2d_one_stride", [9, 9], {"kernel_shape": [3, 3], "strides": [1, 2]}),
    ("2d_strides", [9, 9], {"kernel_shape": [3, 3], "strides": [2, 3]}),
    ("2d_dilations", [9, 9], {"kernel_shape": [2, 2], "dilations": [2, 3]}),
    ("2d_ceil", [4, 4], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("2d_long", [9, 9], {"kernel_shape": [6, 6]}),
    ("3d", [9, 8, 7], {"kernel_shape": [2, 2, 2]}),
]


def write_model(path, batch):
    """All pools in one model, each with an input and an output of its name."""
    nodes, inputs, outputs = [], [], []
    for name, sizes, attributes in POOLS:
        nodes.append(helper.make_node("AveragePool", ["x" + name], ["y" + name],
                                      **attributes))
        inputs.append(helper.make_tensor_value_info(
            "x" + name, TensorProto.FLOAT, [batch, 2, *sizes]))
        outputs.append(helper.make_tensor_value_info(
            "y" + name, TensorProto.FLOAT, [batch, 2] + [None] * len(sizes)))
    graph = helper.make_graph(nodes, "pools", inputs, outputs)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())


def to_bf16(x):
    word = x.astype(np.float32).view(np.uint32)
    return ((word + 0x7fff + (word >> 16 & 1)) & 0xffff0000).astype(
        np.uint32).view(np.float32)


def blocked_sum(terms):
    """Clause C7 along the last axis, in f32."""
    count = terms.shape[-1]
    partial = np.zeros(terms.shape[:-1] + (32,), np.float32)
    for i in range(count):
        partial[..., i % 32] += terms[..., i]
    while partial.shape[-1] > 1:
        partial = partial[..., ::2] + partial[..., 1::2]
    return partial[..., 0]


def window_sizes(size, i, attributes):
    """Pad before and behind, and how many windows there are."""
    rank = len(attributes["kernel_shape"])
    kernel = attributes["kernel_shape"][i]
    stride = attributes.get("strides", [1] * rank)[i]
    step = attributes.get("dilations", [1] * rank)[i]
    extent = (kernel - 1) * step + 1
    mode = attributes.get("auto_pad", "NOTSET")
    if mode.startswith("SAME"):
        count = -(-size // stride)
        total = max(0, (count - 1) * stride + extent - size)
        low, high = total // 2, total - total // 2
        return (low, high, count) if mode == "SAME_UPPER" else (high, low, count)
    pads = attributes.get("pads", [0] * 2 * rank)
    low, high = pads[i], pads[rank + i]
    room = size + low + high - extent
    count = -(-room // stride) if attributes.get("ceil_mode") else room // stride
    return low, high, count + 1


def expected(x, attributes, rounded):
    rank = x.ndim - 2
    kernel = attributes["kernel_shape"]
    strides = attributes.get("strides", [1] * rank)
    steps = attributes.get("dilations", [1] * rank)
    windows = [window_sizes(x.shape[i + 2], i, attributes) for i in range(rank)]
    # Room for windows that ceil_mode lets go beyond the pad.
    pads = [(0, 0), (0, 0)] + [(low, high + kernel[i] * steps[i] + strides[i])
                               for i, (low, high, _) in enumerate(windows)]
    padded = np.pad(x, pads)
    inside = np.zeros(x.shape[2:], np.float32)
    if attributes.get("count_include_pad"):
        inside = np.pad(inside + 1, [w[:2] for w in windows], constant_values=1)
        inside = np.pad(inside, [(0, kernel[i] * steps[i] + strides[i])
                                 for i in range(rank)])
    else:
        inside = np.pad(inside + 1, pads[2:])
    terms, counts = [], 0
    for place in itertools.product(*map(range, kernel)):
        tap = tuple(slice(k * steps[i], k * steps[i] + (windows[i][2] - 1) *
                          strides[i] + 1, strides[i]) for i, k in enumerate(place))
        terms.append(padded[(slice(None), slice(None)) + tap])
        counts = counts + inside[tap]
    return rounded(rounded(blocked_sum(np.stack(terms, -1))) / counts)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(3)
    inputs, arguments = {}, []
    for name, sizes, _ in POOLS:
        inputs[name] = to_bf16(random.standard_normal((3, 2, *sizes)))
        np.save(folder / f"x{name}.npy", inputs[name])
        arguments += ["--input", folder / f"x{name}.npy"]
    compared = 0
    for spelling, batch in [("f32", 3), ("bf16", "N"), ("posit16", 3),
                            ("f8E4M3FN", "N")]:
        write_model(folder / "model.onnx", batch)
        subprocess.run(["numera", "run", folder / "model.onnx", "--format", spelling,
                        *arguments, "--output-dir", folder / "out"], check=True)
        for name, _, attributes in POOLS:
            y = np.load(folder / "out" / f"y{name}.npy")
            exact = spelling in ("f32", "bf16")
            rounded = to_bf16 if spelling == "bf16" else np.float32
            z = expected(inputs[name], attributes, rounded)
            same = np.array_equal(y, z) if exact else (
                y.shape == z.shape and np.allclose(y, z, rtol=0.13, atol=0.15))
            assert same, f"{name} in {spelling}: {y.ravel()[:8]}, not {z.ravel()[:8]}"
            compared += y.size
    print(f"{len(POOLS)} pools, {compared} results")


main()
