# SPDX-License-Identifier: MIT
"""Operators of ONNX on integers and bits, against NumPy: onnx_integers.py FOLDER

Types are numbers of TensorProto.DataType: older onnx packages lack their names.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from node_cases import save_model
from onnx import helper, numpy_helper

TYPES = {"f4": 1, "u1": 2, "i1": 3, "u2": 4, "i2": 5, "i4": 6, "i8": 7, "?": 9, "f2": 10,
         "f8": 11, "u4": 12, "u8": 13}  # fmt: skip
# Those that NumPy lacks, with the bits: floats first.
BF16, F8, F8E5M2, UINT4, INT4 = 16, 17, 19, 21, 22


def type_of(array):
    return TYPES[array.dtype.str[1:].replace("b1", "?")]


def resized(x, scale, kernel):
    """The last axis, half-pixel, in f64; rounded to nearest even and saturated."""
    size = x.shape[-1]
    matrix = np.zeros((int(size * scale), size))
    for i, row in enumerate(matrix):
        place = (i + 0.5) / scale - 0.5
        for k in range(-4 * size, 5 * size):
            row[np.clip(k, 0, size - 1)] += kernel(abs(k - place))
    limits = np.iinfo(x.dtype)
    return np.clip(np.rint(x @ matrix.T), limits.min, limits.max).astype(x.dtype)


def linear(d):
    return max(0, 1 - d)


def cubic(d, a=-0.75):
    if d <= 1:
        return (a + 2) * d**3 - (a + 3) * d**2 + 1
    return a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a if d < 2 else 0


class Model:
    def __init__(self):
        self.nodes, self.inputs, self.outputs, self.constants = [], {}, {}, []

    def input(self, array):
        name = f"x{len(self.inputs)}"
        self.inputs[name] = array
        return name

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(array, f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, places, **attributes):
        name = f"n{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, places, [name], f"node{name}", **attributes))
        return name

    def output(self, name, expected):
        self.outputs[name] = expected

    def run(self, folder, opset):
        command = ["numera", "run", folder / "model.onnx", "--output-dir", folder]
        for name, array in self.inputs.items():
            np.save(folder / f"{name}.npy", array)
            command += ["--input", folder / f"{name}.npy"]
        infos = [
            [helper.make_tensor_value_info(name, type_of(array), array.shape)
             for name, array in arrays.items()] for arrays in (self.inputs, self.outputs)
        ]  # fmt: skip
        graph = helper.make_graph(self.nodes, "integers", *infos, self.constants)
        save_model(folder / "model.onnx", graph, opset)
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        for name, expected in self.outputs.items():
            found = np.load(folder / f"{name}.npy")
            node = next(n for n in self.nodes if n.output[0] == name)
            assert found.dtype == expected.dtype, (node, found.dtype)
            assert np.array_equal(found, expected), (node, found, expected)
        return sum(y.size for y in self.outputs.values())


def arithmetic():
    model = Model()
    whole = np.array([[3, -4, 1, 100], [-7, 0, 2, 50]])
    for dtype in "i4", "i8", "u4", "u8":
        x = abs(whole).astype(dtype) if dtype[0] == "u" else whole.astype(dtype)
        name, axes = model.input(x), model.constant(np.array([1], "i8"))
        total = (x.astype("f8") ** 2).sum(1)
        model.output(model.node("ReduceL2", [name, axes], keepdims=0), np.sqrt(total).astype(dtype))
        model.output(model.node("ReduceLogSum", [model.input(abs(x)), axes], keepdims=0),
                     np.log(abs(x).astype("f8").sum(1)).astype(dtype))  # fmt: skip
    large = np.array([[2**31 - 8, 2**31, 1, 3], [5, 6, 7, 8]])
    for dtype in "u4", "u8":
        name, axes = model.input(large.astype(dtype)), model.constant(np.array([1], "i8"))
        model.output(model.node("ReduceMean", [name, axes], keepdims=0), (large.sum(1) // 4).astype(dtype))
    for dtype in "i1", "i4", "u1", "u8":
        x = (whole % 128 if dtype[0] == "u" else whole).astype(dtype)
        for bias, lambd in (0, 1), (1.5, 2.5), (0.25, 0.5):
            real = x.astype("f8")
            y = np.where(real < -lambd, real + bias, np.where(real > lambd, real - bias, 0))
            node = model.node("Shrink", [model.input(x)], bias=float(bias), lambd=float(lambd))
            model.output(node, y.astype(dtype))
    for dtype, values in ("u1", [0, 10, 20, 40, 255, 255]), ("i1", [-128, 127, 127, -128, 3, 4]), \
            ("i4", [10, 20, 40, -70, 2**31 - 1, 2**31 - 1]):  # fmt: skip
        x = np.array([[values]], dtype)
        for mode, kernel in ("linear", linear), ("cubic", cubic):
            for scale in 2, 0.5, 1.5:
                scales = model.constant(np.array([1, 1, scale], "f4"))
                node = model.node("Resize", [model.input(x), "", scales], mode=mode)
                model.output(node, resized(x, scale, kernel))
    return model


def bits():
    model = Model()
    words = np.array([0, 1, 0x3C00, 0x7C00, 0x8001, 0xC248, 0xFBFF], "u2")
    half = words.view("f2")
    for dtype in "u2", "i2":
        model.output(model.node("BitCast", [model.input(half)], to=TYPES[dtype]), words.view(dtype))
        model.output(model.node("BitCast", [model.input(words.view(dtype))], to=10), half)
    # bf16 is the first half of an f32.
    brain = (words.astype("u4") << 16).view("f4")
    name = model.node("Cast", [model.input(brain)], to=BF16)
    model.output(model.node("BitCast", [name], to=TYPES["u2"]), words)
    model.output(model.node("BitCast", [name], to=10), half)
    name = model.node("BitCast", [model.input(words)], to=BF16)
    model.output(model.node("Cast", [name], to=1), brain)
    codes = np.array([0, 0x38, 0x7E, 0xB8, 1], "u1")
    name = model.node("BitCast", [model.input(codes)], to=F8)
    model.output(model.node("Cast", [name], to=1), np.array([0, 1, 448, -1, 2**-9], "f4"))
    model.output(model.node("BitCast", [name], to=TYPES["i1"]), codes.view("i1"))
    # What overflows is saturated, or NaN or infinity on request.
    x, one = model.input(np.array([600, np.inf, 1, -1e9], "f4")), model.input(np.array(1, "f4"))
    for to, saturate, expected in (F8, 1, [0x7E, 0x7E, 0x38, 0xFE]), (F8, 0, [0x7F, 0x7F, 0x38, 0x7F]), \
            (F8E5M2, 1, [0x61, 0x7B, 0x3C, 0xFB]), (F8E5M2, 0, [0x61, 0x7C, 0x3C, 0xFC]):  # fmt: skip
        name = model.node("QuantizeLinear", [x, one], output_dtype=to, saturate=saturate)
        model.output(model.node("BitCast", [name], to=TYPES["u1"]), np.array(expected, "u1"))
    # Of 4 bits, -1 is 15.
    x = np.array([0, 7, 8, 15], "i4")
    name = model.node("Cast", [model.input(x)], to=UINT4)
    name = model.node("BitCast", [name], to=INT4)
    model.output(model.node("Cast", [name], to=TYPES["i4"]), np.array([0, 7, -8, -1], "i4"))
    name = model.node("BitCast", [name], to=UINT4)
    model.output(model.node("Cast", [name], to=TYPES["i4"]), x)
    return model


def blocks():
    """Blocks of 2 along 5, whose last one is not full."""
    model = Model()
    x = np.arange(30).reshape(2, 5, 3).astype("f4")
    scale = 2.0 ** np.arange(18).reshape(2, 3, 3).astype("f4") / 256
    zero = np.arange(18).reshape(2, 3, 3).astype("u1")
    each, offset = (np.repeat(v, 2, 1)[:, :5] for v in (scale, zero))
    for place in model.input, model.constant:
        names = [place(scale), place(zero)]
        y = np.clip(np.rint(x / each) + offset, 0, 255).astype("u1")
        model.output(model.node("QuantizeLinear", [model.input(x), *names], axis=1, block_size=2), y)
        for source in model.input, model.constant:
            name = source(x.astype("u1"))
            real = (x - offset) * each
            model.output(model.node("DequantizeLinear", [name, *names], axis=1, block_size=2), real)
    return model


def loops():
    """While the largest number is below a limit, with and without a count of steps."""
    model = Model()
    info = helper.make_tensor_value_info
    body = helper.make_graph(
        [helper.make_node("Add", ["a", "a"], ["b"]), helper.make_node("ReduceMax", ["b"], ["m"], keepdims=0),
         helper.make_node("Less", ["m", "limit"], ["on"])], "body",
        [info("i", TYPES["i8"], []), info("c", TYPES["?"], []), info("a", TYPES["i8"], [3])],
        [info("on", TYPES["?"], []), info("b", TYPES["i8"], [3])])  # fmt: skip
    x = np.array([1, 2, 3], "i8")
    model.constants.append(numpy_helper.from_array(np.array(1000, "i8"), "limit"))
    true, three = model.input(np.array(True)), model.input(np.array(3, "i8"))
    for steps, condition, expected in ("", true, 512), (three, true, 8), (three, "", 8):
        name = model.node("Loop", [steps, condition, model.input(x)], body=body)
        model.output(name, x * expected)
    return model


def main(folder):
    print(f"loops: {loops().run(folder, 16)} numbers, the same")
    print(f"arithmetic: {arithmetic().run(folder, 18)} numbers, the same")
    print(f"bits: {bits().run(folder, 26)} numbers, the same")
    print(f"blocks: {blocks().run(folder, 21)} numbers, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
