# SPDX-License-Identifier: MIT
"""Operators on tensors of unknown sizes, against those of fixed ones: open_sizes.py FOLDER"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from node_cases import save_model
from onnx import helper, numpy_helper

random = np.random.default_rng(6)
WEIGHTS = {
    "scale": np.array(0.1, "f4"), "zero": np.array(3, "u1"), "scales": np.array([0.1, 0.2, 0.1, 0.3], "f4"),
    "zeros": np.array([1, 2, 3, 4], "u1"), "w": random.integers(-9, 9, (4, 4)).astype("i1"),
    "zero1": np.array(0, "i1"), "k": np.array([2], "i8"), "depth": np.array(4, "i8"),
    "values": np.array([0, 1], "f4"), "squares": np.array([1, 2, 0.5, 4], "f4"), "four": np.array([1, -1, 2, 0.5], "f4"),
}  # fmt: skip
NODES = [
    ("Dropout", ["x"], {}, 1),
    ("ArgMax", ["x"], {"axis": -1}, 7),
    ("TopK", ["x", "k"], {"axis": -1}, 1),
    ("Hardmax", ["x"], {}, 1),
    ("LpNormalization", ["x"], {"axis": -1}, 1),
    ("MeanVarianceNormalization", ["x"], {"axes": [-1]}, 1),
    ("BatchNormalization", ["t", "four", "scales", "four", "squares"], {}, 1),
    ("InstanceNormalization", ["t", "four", "scales"], {}, 1),
    ("GlobalAveragePool", ["t"], {}, 1),
    ("GlobalMaxPool", ["t"], {}, 1),
    ("OneHot", ["indices", "depth", "values"], {}, 1),
    ("QuantizeLinear", ["x", "scales", "zeros"], {"axis": 2}, 2),
    ("DequantizeLinear", ["codes", "scales", "zeros"], {"axis": 2}, 1),
    ("QuantizeLinear", ["x", "scale", "zero"], {}, 2),
    ("DynamicQuantizeLinear", ["x"], {}, 2),
    ("MatMulInteger", ["codes", "w", "zero"], {}, 6),
    ("QLinearMatMul", ["codes", "scale", "zero", "w", "scale", "zero1", "scale", "zero"], {}, 2),
]


def model(shape):
    """Of x, its whole numbers, its codes and its transpose."""
    nodes = [
        helper.make_node("Cast", ["x"], ["indices"], to=7),
        helper.make_node("QuantizeLinear", ["x", "scale", "zero"], ["codes"]),
        helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]),
    ]
    outputs = []
    for n, (op, inputs, attributes, kind) in enumerate(NODES):
        more = {"TopK": 2, "DynamicQuantizeLinear": 3}.get(op, 1)
        names = [f"y{n}", *(f"more{n}_{i}" for i in range(1, more))]
        nodes.append(helper.make_node(op, inputs, names, **attributes))
        outputs.append(helper.make_tensor_value_info(names[0], kind, None))
    x = helper.make_tensor_value_info("x", 1, shape)
    constants = [numpy_helper.from_array(array, name) for name, array in WEIGHTS.items()]
    return helper.make_graph(nodes, "open", [x], outputs, constants)


def results(folder, shape):
    save_model(folder / "model.onnx", model(shape), 18)
    command = ["numera", "run", folder / "model.onnx", "--input", folder / "x.npy"]
    subprocess.run([*command, "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
    return [np.load(folder / f"y{n}.npy") for n in range(len(NODES))]


def main(folder):
    for shape in (2, 3, 4), (1, 5, 4):
        np.save(folder / "x.npy", (random.standard_normal(shape) * 2).astype("f4"))
        pairs = zip(NODES, results(folder, ["N", "s", 4]), results(folder, shape), strict=True)
        for node, found, wanted in pairs:
            assert found.dtype == wanted.dtype and np.array_equal(found, wanted), (node, found, wanted)
        print(f"{shape}: {len(NODES)} operators, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
