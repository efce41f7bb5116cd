# SPDX-License-Identifier: MIT
"""grid_sample.py FOLDER: ONNX's GridSample in every mode.

Results have the bits of clause E10's steps, computed here with NumPy. Prints how
many were compared.
"""
import itertools
import pathlib
import subprocess
import sys

import numpy as np
from node_cases import save_model
from onnx import TensorProto, helper

from chosen import chosen
from reference_formats import parse

# Sizes of the image, and of what is sampled; how far the coordinates go.
SHAPES = [([7], [9], 1.2), ([4, 5], [3, 4], 1.2), ([3, 2], [4, 4], 3.5),
          ([1, 3], [3, 3], 2.0), ([2, 3, 4], [2, 3, 2], 1.4)]
MODELS = chosen(
    [(*shape, *rest) for shape in SHAPES for rest in itertools.product(
        ["nearest", "linear", "cubic"], ["zeros", "border", "reflection"], [0, 1])],
    mirrored=slice(None, None, 17), quick=slice(None, None, 5))
FORMATS = ["posit16", "bf16", "f32", "f16", "f8E4M3FN", "posit8"]


class Steps:
    """Rounded operations of a format."""

    def __init__(self, name):
        self.format = parse(name)

    def number(self, x):
        return self.format.round(np.asarray(x, np.float64))

    def add(self, x, y):
        return self.format.add(x, np.broadcast_to(self.number(y), x.shape))

    def subtract(self, x, y):
        return self.format.add(x, -np.broadcast_to(self.number(y), x.shape))

    def multiply(self, x, y):
        return self.format.multiply(x, np.broadcast_to(self.number(y), x.shape))

    def divide(self, x, y):
        return self.format.divide(x, np.broadcast_to(self.number(y), x.shape))

    def difference(self, number, x):
        return self.format.add(np.broadcast_to(self.number(number), x.shape), -x)


def reflected(on, x, low, high):
    below, above = x < low, x > high
    beyond = np.where(below, on.difference(low, x), on.subtract(x, high))
    turns = on.number(np.trunc(on.divide(beyond, high - low)))
    rest = on.format.add(beyond, -on.multiply(turns, high - low))
    odd = turns % 2 == 1
    first = on.add(rest, low)
    last = on.difference(high, rest)
    turned = np.where(below != odd, first, last)
    return np.where(below | above, turned, x)


def place(on, n, size, mode, padding, aligns):
    low, high = (0, size - 1) if aligns else (-0.5, size - 0.5)
    x = on.add(n, 1)
    if aligns:
        x = on.multiply(on.divide(x, 2), size - 1)
    else:
        x = on.divide(on.subtract(on.multiply(x, size), 1), 2)
    if mode == "nearest":
        return on.number(np.rint(x))
    if padding == "reflection" and high > low:
        return reflected(on, x, *on.number([low, high]))
    if padding == "border" and mode != "cubic":
        ends = on.number([low, high])
        return np.where((x < ends[0]) | (x > ends[1]), np.clip(x, 0, size - 1), x)
    return x


def weights(on, x, mode):
    if mode == "nearest":
        return [None]
    t = on.format.add(x, -on.number(np.floor(x)))
    rest = on.difference(1, t)
    if mode == "linear":
        return [rest, t]

    def times(x, y):
        return on.format.multiply(x, y)

    def outer(d):
        sum1 = on.add(on.multiply(d, -0.75), 3.75)
        sum2 = on.add(times(sum1, d), -6)
        return on.add(times(sum2, d), 3)

    def inner(d):
        return on.add(times(times(on.subtract(on.multiply(d, 1.25), 2.25), d), d), 1)

    return [outer(on.add(t, 1)), inner(t), inner(rest), outer(on.difference(2, t))]


def inside(i, size, padding, aligns):
    """An index within the image, for each."""
    if padding != "reflection":
        return np.clip(i, 0, size - 1)
    if aligns and size == 1:
        return np.zeros_like(i)
    ends = 2 * size - 2 if aligns else 2 * size
    i = i % ends
    return np.where(i < size, i, ends - i if aligns else ends - 1 - i)


def expected(on, image, grid, mode, padding, aligns):
    image = on.format.round(image.astype(np.float64))
    grid = on.format.round(grid.astype(np.float64))
    rank = image.ndim - 2
    batch = np.arange(len(image)).reshape(-1, *[1] * rank)
    firsts, factors = [], []
    for i in range(rank):
        x = place(on, grid[..., rank - 1 - i], image.shape[2 + i], mode, padding, aligns)
        firsts.append(np.floor(x).astype(int) - (mode == "cubic"))
        factors.append(weights(on, x, mode))

    def total(chosen):
        dim = len(chosen)
        if dim == rank:
            known = np.ones(grid.shape[:-1], bool)
            for i, size in zip(chosen, image.shape[2:]):
                known &= (i >= 0) & (i < size)
            where = [inside(i, size, padding, aligns)
                     for i, size in zip(chosen, image.shape[2:])]
            values = np.stack([image[:, c][(batch, *where)]
                               for c in range(image.shape[1])], 1)
            return np.where(known[:, None], values, 0.0) if padding == "zeros" else values
        sums = None
        for tap, factor in enumerate(factors[dim]):
            part = total([*chosen, firsts[dim] + tap])
            if factor is not None:
                factor = np.broadcast_to(factor[:, None], part.shape)
                part = on.format.multiply(factor, part)
            sums = part if sums is None else on.format.add(sums, part)
        return sums

    return total([])


def write_model(path, arrays, batch, opset):
    nodes, inputs, outputs = [], [], []
    for i, ((*_, mode, padding, aligns), pair) in enumerate(zip(MODELS, arrays)):
        old = {"linear": "bilinear", "cubic": "bicubic"} if opset < 20 else {}
        nodes.append(helper.make_node(
            "GridSample", [f"x{i}", f"g{i}"], [f"y{i}"], mode=old.get(mode, mode),
            padding_mode=padding, align_corners=aligns))
        for name, array in zip("xg", pair):
            inputs.append(helper.make_tensor_value_info(
                f"{name}{i}", TensorProto.FLOAT, [batch, *array.shape[1:]]))
        outputs.append(helper.make_tensor_value_info(f"y{i}", TensorProto.FLOAT, None))
    graph = helper.make_graph(nodes, "samples", inputs, outputs)
    save_model(path, graph, opset)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True)
    random = np.random.default_rng(11)
    arrays, arguments = [], []
    for i, (sizes, sampled, reach, *_) in enumerate(MODELS):
        pair = (random.standard_normal((2, 2, *sizes)).astype("f4"),
                random.uniform(-reach, reach, (2, *sampled, len(sizes))).astype("f4"))
        arrays.append(pair)
        for name, array in zip("xg", pair):
            np.save(folder / f"{name}{i}.npy", array)
            arguments += ["--input", f"{name}{i}={folder / name}{i}.npy"]
    compared = 0
    formats = chosen(FORMATS, long=slice(3), mirrored=slice(1), quick=slice(2))
    for spelling, batch, opset in zip(formats, itertools.cycle([2, "N"]),
                                      itertools.cycle([20, 16])):
        write_model(folder / "model.onnx", arrays, batch, opset)
        subprocess.run(["numera", "run", folder / "model.onnx", "--format", spelling,
                        *arguments, "--output-dir", folder / "out"], check=True,
                       stdout=subprocess.DEVNULL)
        on = Steps(spelling)
        for i, ((*_, mode, padding, aligns), pair) in enumerate(zip(MODELS, arrays)):
            y = np.load(folder / "out" / f"y{i}.npy")
            z = parse("f32").round(expected(on, *pair, mode, padding, aligns)).astype("f4")
            assert y.shape == z.shape, f"{MODELS[i]}: {y.shape}, not {z.shape}"
            same = np.array_equal(y.view("i4"), z.view("i4"))
            assert same, f"{MODELS[i]} in {spelling}: {y.ravel()}, not {z.ravel()}"
            compared += y.size
    print(f"{len(MODELS)} models, {len(formats)} formats, {compared} results")


main()
