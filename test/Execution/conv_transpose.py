# SPDX-License-Identifier: MIT
"""conv_transpose.py FOLDER: ONNX's ConvTranspose of every kind.

Results have the bits of its definition: each element of the image times the
kernel is added to the result at the element's place, by input channel and then
element by element. Prints how many were compared.
"""
import itertools
import pathlib
import subprocess
import sys

import numpy as np
from node_cases import save_model
from onnx import TensorProto, helper, numpy_helper

from chosen import chosen
from reference_formats import parse, parse_accumulator
from reference_operators import Arithmetic

# Input channels, output channels of a group, sizes, kernel, attributes.
MODELS = [
    (2, 3, [5], [3], {}),
    (2, 1, [4], [5], {"strides": [2], "pads": [1, 2]}),
    (1, 2, [3], [2], {"strides": [5]}),
    (2, 1, [3], [2], {"strides": [3], "output_padding": [4]}),
    (2, 2, [4], [4], {"strides": [2]}),
    (1, 1, [5], [3], {"dilations": [3], "pads": [2, 3]}),
    (2, 1, [4], [5], {"strides": [4], "dilations": [6]}),
    (1, 1, [3], [4], {"strides": [6], "dilations": [4], "pads": [7, 5]}),
    (2, 1, [3], [3], {"strides": [3], "dilations": [3]}),
    (1, 1, [2], [1], {"strides": [4], "pads": [2, 0]}),
    (1, 1, [6], [3], {"strides": [2], "pads": [9, 0]}),
    (4, 2, [4], [3], {"strides": [2], "group": 2}),
    (3, 1, [4], [4], {"strides": [2], "pads": [1, 1], "group": 3}),
    (2, 1, [4], [3], {"strides": [2], "auto_pad": "SAME_UPPER"}),
    (2, 1, [4], [3], {"strides": [2], "auto_pad": "SAME_LOWER"}),
    (1, 1, [4], [2], {"strides": [3], "auto_pad": "SAME_LOWER"}),
    (1, 1, [4], [3], {"strides": [2], "auto_pad": "VALID"}),
    (1, 1, [4], [4], {"strides": [3], "output_shape": [10]}),
    (1, 1, [4], [4], {"strides": [3], "output_shape": [10], "pads": [1, 2],
                      "auto_pad": "SAME_UPPER"}),
    (1, 1, [3], [2], {"strides": [2], "output_shape": [9]}),
    (2, 3, [4, 5], [3, 3], {}),
    (2, 2, [4, 3], [4, 4], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    (2, 2, [3, 4], [2, 2], {"strides": [2, 2], "kernel_shape": [2, 2]}),
    (2, 2, [3, 4], [3, 2], {"strides": [2, 3], "output_padding": [1, 0]}),
    (1, 1, [3, 4], [3, 4], {"strides": [2, 3], "dilations": [3, 2],
                            "pads": [1, 0, 2, 3]}),
    (4, 1, [3, 3], [3, 3], {"strides": [2, 2], "group": 4,
                            "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    (4, 3, [3, 2], [2, 3], {"strides": [1, 2], "group": 2}),
    (2, 1, [3, 3], [3, 2], {"strides": [3, 2], "output_shape": [10, 8]}),
    (2, 2, [2, 3, 2], [2, 3, 2], {"strides": [2, 2, 1]}),
    (2, 1, [2, 2, 3], [2, 2, 3], {"strides": [3, 2, 2], "dilations": [2, 1, 3],
                                  "pads": [1, 0, 2, 0, 1, 1], "group": 2}),
]
# Format and accumulator: of the reference, and as it is asked for.
FORMATS = [
    ("f32", "f32"), ("posit16", "same"), ("bf16", "f32"), ("f8E4M3FN", "same"),
    ("posit8", "quire"), ("f16", "f32"), ("f8E5M2", "posit16"), ("posit16", "quire"),
]


def places(sizes, kernel, attributes):
    """Where the first element of the result is, and its size."""
    rank = len(sizes)
    strides = attributes.get("strides", [1] * rank)
    steps = attributes.get("dilations", [1] * rank)
    mode = attributes.get("auto_pad", "NOTSET")
    first, extents = [], []
    for i in range(rank):
        pads = attributes.get("pads", [0] * 2 * rank)
        more = attributes.get("output_padding", [0] * rank)[i]
        whole = (sizes[i] - 1) * strides[i] + (kernel[i] - 1) * steps[i] + 1 + more
        extent = None
        if "output_shape" in attributes:
            extent = attributes["output_shape"][i]
        elif mode.startswith("SAME"):
            extent = sizes[i] * strides[i]
        if extent is None:
            low = pads[i]
            extent = whole - low - pads[rank + i]
        else:
            total = max(0, whole - extent)
            low = total // 2 if mode == "SAME_UPPER" else total - total // 2
        first.append(low)
        extents.append(extent)
    return first, extents


def expected(on, x, w, bias, attributes):
    sizes, kernel = x.shape[2:], w.shape[2:]
    rank, groups = len(sizes), attributes.get("group", 1)
    strides = attributes.get("strides", [1] * rank)
    steps = attributes.get("dilations", [1] * rank)
    first, extents = places(sizes, kernel, attributes)
    x, w, bias = (on.target.round(a.astype(np.float64)) for a in (x, w, bias))
    # Batch, group, output channel, space; a channel of each group at a time.
    x = x.reshape(x.shape[0], groups, -1, *sizes)
    w = w.reshape(groups, -1, *w.shape[1:])
    acc = on.start((x.shape[0], groups, w.shape[2], *extents))
    for channel in range(x.shape[2]):
        for at in np.ndindex(*sizes):
            # The kernel at this element's place, and zeros elsewhere.
            plane = np.zeros((groups, w.shape[2], *extents))
            for tap in np.ndindex(*kernel):
                place = [a * s + t * d - f
                         for a, s, t, d, f in zip(at, strides, tap, steps, first)]
                if all(0 <= p < n for p, n in zip(place, extents)):
                    plane[(..., *place)] = w[(slice(None), channel, ..., *tap)]
            element = x[(slice(None), slice(None), channel, *at)]
            acc = on.mac(acc, element.reshape(*element.shape, *[1] * (rank + 1)),
                         plane[None])
    sums = on.finish(acc).reshape(x.shape[0], -1, *extents)
    return on.target.add(sums, bias.reshape(-1, *[1] * rank))


def write_model(path, models, arrays, batch, opset):
    """All models in one, each with an input and an output of its number; the
    weights of every second one are inputs."""
    nodes, inputs, outputs, constants = [], [], [], []
    for i, (x, w, bias, attributes) in zip(models, arrays):
        nodes.append(helper.make_node(
            "ConvTranspose", [f"x{i}", f"w{i}", f"b{i}"], [f"y{i}"], **attributes))
        inputs.append(helper.make_tensor_value_info(
            f"x{i}", TensorProto.FLOAT, [batch, *x.shape[1:]]))
        if i % 2:
            inputs.append(helper.make_tensor_value_info(
                f"w{i}", TensorProto.FLOAT, w.shape))
        else:
            constants.append(numpy_helper.from_array(w, f"w{i}"))
        constants.append(numpy_helper.from_array(bias, f"b{i}"))
        outputs.append(helper.make_tensor_value_info(
            f"y{i}", TensorProto.FLOAT, [batch] + [None] * (x.ndim - 1)))
    graph = helper.make_graph(nodes, "transposed", inputs, outputs, constants)
    save_model(path, graph, opset)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(7)
    models = chosen(range(len(MODELS)), mirrored=slice(None, None, 4),
                    quick=slice(None))
    arrays = []
    for inputs, outputs, sizes, kernel, attributes in (MODELS[i] for i in models):
        groups = attributes.get("group", 1)
        x = random.standard_normal((2, inputs, *sizes)).astype(np.float32)
        w = random.standard_normal((inputs, outputs, *kernel)).astype(np.float32)
        bias = random.standard_normal(outputs * groups).astype(np.float32)
        arrays.append((x, w, bias, attributes))
    arguments = []
    for i, (x, w, *_) in zip(models, arrays):
        for name, array in [(f"x{i}", x)] + [(f"w{i}", w)] * (i % 2):
            np.save(folder / f"{name}.npy", array)
            arguments += ["--input", f"{name}={folder / name}.npy"]
    compared = 0
    formats = chosen(FORMATS, long=slice(6), mirrored=slice(1, 2), quick=slice(1, 3))
    for (spelling, accumulator), batch, opset in zip(
            formats, itertools.cycle([2, "N"]), itertools.cycle([11, 22, 7])):
        write_model(folder / "model.onnx", models, arrays, batch, opset)
        subprocess.run(["numera", "run", folder / "model.onnx", "--format", spelling,
                        "--accumulate", accumulator, *arguments, "--output-dir",
                        folder / "out"], check=True, stdout=subprocess.DEVNULL)
        on = Arithmetic(parse(spelling), parse_accumulator(accumulator))
        for i, (x, w, bias, attributes) in zip(models, arrays):
            y = np.load(folder / "out" / f"y{i}.npy")
            z = parse("f32").round(expected(on, x, w, bias, attributes)).astype("f4")
            assert y.shape == z.shape, f"{MODELS[i]}: {y.shape}, not {z.shape}"
            same = np.array_equal(y.view("i4"), z.view("i4"))
            assert same, f"{MODELS[i]} in {spelling}: {y.ravel()}, not {z.ravel()}"
            compared += y.size
    print(f"{len(models)} models, {len(formats)} formats, {compared} results")


main()
