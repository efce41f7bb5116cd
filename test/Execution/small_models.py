# SPDX-License-Identifier: MIT
"""Small models of ONNX against NumPy: small_models.py FOLDER

Nodes in any order, bodies among them; running sums along axes of one element and of
none; compositions in f64."""

import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save

FOLDER = Path(sys.argv[1])
node = helper.make_node


def run(nodes, x, constants=(), opset=15):
    """The result y."""
    kind = numpy_helper.from_array(x).data_type
    graph = helper.make_graph(
        nodes, "g", [helper.make_tensor_value_info("x", kind, x.shape)],
        [helper.make_tensor_value_info("y", kind, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants])
    opsets = [helper.make_opsetid("", opset)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), FOLDER / "m.onnx")
    np.save(FOLDER / "x.npy", x)
    subprocess.run(["numera", "run", "m.onnx", "--input", "x.npy", "--output-dir", "."],
                   cwd=FOLDER, check=True, stdout=subprocess.DEVNULL)
    return np.load(FOLDER / "y.npy")


def same(found, expected, most=0.0):
    assert found.dtype == expected.dtype and found.shape == expected.shape, found
    assert not found.size or np.abs(found - expected).max() <= most, (found, expected)


def orders():
    x = np.float32([-1, 2])
    scalar = helper.make_tensor_value_info("z", TensorProto.FLOAT, [2])
    body = helper.make_graph([node("Add", ["doubled", "half"], ["z"])], "b", [], [scalar])
    other = helper.make_graph([node("Neg", ["x"], ["z"])], "o", [], [scalar])
    nodes = [node("Add", ["chosen", "r"], ["y"]),
             node("If", ["c"], ["chosen"], then_branch=body, else_branch=other),
             node("Relu", ["half"], ["r"]),
             node("Mul", ["x", "two"], ["doubled"]),
             node("Mul", ["x", "h"], ["half"])]
    constants = [("two", np.float32(2)), ("h", np.float32(.5)), ("c", np.bool_(True))]
    same(run(nodes, x, constants), x * 2.5 + np.maximum(x / 2, 0))
    # Names of a body are its own: `half` is a later node's, too.
    body = helper.make_graph([node("Mul", ["x", "x"], ["half"]),
                              node("Add", ["half", "x"], ["z"])], "b", [], [scalar])
    nodes = [node("If", ["c"], ["chosen"], then_branch=body, else_branch=other),
             node("Mul", ["chosen", "h"], ["half"]),
             node("Add", ["half", "x"], ["y"])]
    same(run(nodes, x, constants[1:]), (x * x + x) / 2 + x)


def running_sums():
    for shape, axis in [((1, 2, 3, 1), 3), ((1, 3, 1), 2), ((2, 1, 1), 2), ((1, 1, 3), 1),
                        ((2, 0), 0), ((0, 3), 1)]:
        for dtype in "f4", "i4":
            x = np.arange(np.prod(shape), dtype=dtype).reshape(shape) + 1
            sums = run([node("CumSum", ["x", "a"], ["y"])], x.astype(dtype), [("a", axis)])
            same(sums, np.cumsum(x, axis, dtype))


def in_f64():
    x = np.random.default_rng(0).standard_normal((2, 3, 4, 5))
    centred = x - x.mean((2, 3), keepdims=True)
    deviation = np.sqrt((centred ** 2).mean((2, 3), keepdims=True) + np.float32(1e-5))
    factors = [("s", np.ones(3)), ("b", np.zeros(3))]
    found = run([node("InstanceNormalization", ["x", "s", "b"], ["y"])], x, factors)
    same(found, centred / deviation, 1e-14)
    found = run([node("LpNormalization", ["x"], ["y"], p=2)], x)
    same(found, x / np.sqrt((x ** 2).sum(-1, keepdims=True)), 1e-15)
    pool = node("AveragePool", ["x"], ["y"], kernel_shape=[2, 2], pads=[1, 0, 0, 0])
    found = run([pool], x)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (0, 0)))
    sums = sum(padded[:, :, i:i + 4, j:j + 4] for i in (0, 1) for j in (0, 1))
    same(found, sums / np.array([2, 4, 4, 4]).reshape(4, 1), 1e-15)


orders()
running_sums()
in_f64()
print("the same")
