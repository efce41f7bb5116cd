# SPDX-License-Identifier: MIT
"""Nodes of ONNX against functions of numpy that round every operation to the format."""

import subprocess

import numpy as np
from chosen import IS_MIRRORED
from onnx import TensorProto, helper, numpy_helper, save
from recurrent import FORMATS


class Known:
    """A constant of the model."""

    def __init__(self, numbers):
        self.numbers = np.asarray(numbers)


def kind_of(array):
    kinds = {"f": TensorProto.FLOAT, "i": TensorProto.INT64, "b": TensorProto.BOOL}
    return kinds[array.dtype.kind]


STORED = {TensorProto.FLOAT: "f4", TensorProto.INT64: "i8", TensorProto.BOOL: "?"}


def save_model(path, graph, opset):
    """As onnx packages of every version read it."""
    opsets = [helper.make_opsetid("", opset)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


def write(folder, cases, opset, results, declares=True):
    """A model of all nodes; the names of its inputs. The shapes of results are
    declared, or only their ranks."""
    nodes, inputs, constants, outputs = [], [], [], []
    for n, (op, attributes, given, _) in enumerate(cases):
        places = []
        for i, array in enumerate(given):
            name = f"x{n}_{i}" if array is not None else ""
            places.append(name)
            if isinstance(array, Known):
                constants.append(numpy_helper.from_array(array.numbers, name))
            elif array is not None:
                kind = kind_of(array)
                inputs.append(helper.make_tensor_value_info(name, kind, array.shape))
                np.save(folder / f"{name}.npy", array.astype(STORED[kind]))
        while not places[-1]:
            places.pop()
        names = [f"y{n}_{i}" for i in range(len(results[n]))]
        nodes.append(helper.make_node(op, places, names, f"node{n}", **attributes))
        for name, result in zip(names, results[n], strict=True):
            shape = result.shape if declares else [None] * result.ndim
            outputs.append(helper.make_tensor_value_info(name, kind_of(result), shape))
    graph = helper.make_graph(nodes, "cases", inputs, outputs, constants)
    save_model(folder / "model.onnx", graph, opset)
    return [info.name for info in inputs]


def check(folder, cases, opset):
    """Cases are (operator, attributes, inputs, function of the rounding), whose
    results are a list. Prints a line for each format."""
    for name, rounded in FORMATS.items():
        if IS_MIRRORED and name != "bf16":
            continue
        results = [
            [np.asarray(y) for y in reference(rounded)] for *_, reference in cases
        ]
        names = write(folder, cases, opset, results)
        command = ["numera", "run", folder / "model.onnx", "--output-dir", folder]
        command += ["--format", name, "--accumulate", "same", "--optimization", "0"]
        for each in names:
            command += ["--input", folder / f"{each}.npy"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        count = 0
        for n, expected in enumerate(results):
            for i, wanted in enumerate(expected):
                found = np.load(folder / f"y{n}_{i}.npy")
                assert np.array_equal(
                    found, wanted, equal_nan=wanted.dtype.kind == "f"
                ), (name, n, i, found, wanted)
                count += wanted.size
        print(f"{name}: {count} numbers, the same")
