# SPDX-License-Identifier: MIT
"""FlexAttention, Det, Col2Im with computed blocks and loops whose length is
declared, in f32 against NumPy: flex_attention.py FOLDER"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from node_cases import write
from onnx import TensorProto, helper

GENERATOR = np.random.default_rng(14)


def numbers(*shape):
    return GENERATOR.standard_normal(shape).astype("f4")


def graph(name, op, number):
    """x op number, of four dimensions."""
    info = [
        helper.make_tensor_value_info(n, TensorProto.FLOAT, list("BHLS")) for n in ("a", "z")
    ]
    constant = helper.make_node("Constant", [], ["n"], value_float=number)
    node = helper.make_node(op, ["a", "n"], ["z"])
    return helper.make_graph([constant, node], name, info[:1], info[1:])


def attend(q, k, v, scale=None, added=0.0, factor=1.0):
    group = q.shape[1] // k.shape[1]
    k, v = (np.repeat(x, group, 1).astype("f8") for x in (k, v))
    scale = q.shape[3] ** -0.5 if scale is None else scale
    scores = np.maximum(q @ np.swapaxes(k, 2, 3) * scale, added)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    return factor * powers / powers.sum(-1, keepdims=True) @ v


def unfold(image, block, stride):
    """What Col2Im takes: the blocks of an image as columns, and their sums."""
    h, w = image
    columns, sums = [], np.zeros((1, 2, h, w))
    places = [
        (i, j)
        for i in range(0, h - block[0] + 1, stride)
        for j in range(0, w - block[1] + 1, stride)
    ]
    x = numbers(1, 2 * block[0] * block[1], len(places))
    for n, (i, j) in enumerate(places):
        part = x[0, :, n].reshape(2, *block)
        sums[0, :, i : i + block[0], j : j + block[1]] += part
    return x, sums


def loop_body():
    """Puts out the square of the step; carries the sum of the steps."""
    infos = {
        name: helper.make_tensor_value_info(name, kind, [])
        for name, kind in {
            "i": TensorProto.INT64,
            "go": TensorProto.BOOL,
            "sum": TensorProto.INT64,
            "on": TensorProto.BOOL,
            "next": TensorProto.INT64,
            "square": TensorProto.INT64,
        }.items()
    }
    nodes = [
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Add", ["sum", "i"], ["next"]),
        helper.make_node("Mul", ["i", "i"], ["square"]),
    ]
    names = list(infos.values())
    return helper.make_graph(nodes, "body", names[:3], names[3:])


def cases():
    q, k, v = numbers(2, 4, 3, 6), numbers(2, 2, 5, 6), numbers(2, 2, 5, 4)
    preview = {"domain": "ai.onnx.preview"}
    yield "FlexAttention", preview, [q, k, v], [attend(q, k, v, added=-np.inf)]
    bodies = {
        "score_mod": graph("score", "Max", 0.25),
        "prob_mod": graph("prob", "Mul", 0.5),
        "scale": 0.75,
    }
    y = attend(q, k, v, 0.75, 0.25, 0.5)
    yield "FlexAttention", preview | bodies, [q, k, v], [y]
    for shape in (3, 3), (2, 5, 5), (2, 2, 1, 1), (4, 2, 2):
        x = numbers(*shape)
        yield "Det", {}, [x], [np.linalg.det(x.astype("f8"))]
    swapped = np.array([[0, 2, 1], [3, 0, 0], [0, 0, 4]], "f4")
    singular = np.array([[1, 2, 3], [2, 4, 6], [0, 0, 0]], "f4")
    both = np.stack([swapped, singular])
    yield "Det", {}, [both], [np.array([-24.0, 0])]
    for block in (2, 3), (3, 2), (1, 6):
        x, y = unfold((6, 8), block, 1)
        yield "Col2Im", {}, [x, np.array([6, 8]), np.array(block)], [y]
    for steps, goes in (4, True), (3, True):
        given = [np.array(steps), np.array(goes), np.array(10)]
        squares = np.arange(steps) ** 2
        result = [np.array(10 + sum(range(steps))), squares]
        yield "Loop", {"body": loop_body()}, given, result


def run(folder, names):
    command = ["numera", "run", folder / "model.onnx", "--output-dir", folder]
    for each in names:
        command += ["--input", folder / f"{each}.npy"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main(folder):
    several = list(cases())
    results = [[np.asarray(y) for y in case[3]] for case in several]
    ran = run(folder, write(folder, several, 21, results))
    assert ran.returncode == 0, ran.stderr
    for n, expected in enumerate(results):
        for i, y in enumerate(expected):
            found = np.load(folder / f"y{n}_{i}.npy")
            assert found.shape == y.shape, (several[n][0], found.shape, y.shape)
            assert np.allclose(found, y, 1e-5, 1e-5), (several[n], found, y)
    print(f"{len(results)} results, the same")
    *_, loop = several
    names = write(folder, [loop], 21, [results[-1]])
    np.save(folder / f"{names[0]}.npy", np.array(4))
    print(run(folder, names).stderr, end="")
    x, y = unfold((6, 8), (2, 3), 1)
    case = ("Col2Im", {}, [x, np.array([6, 8]), np.array([2, 2])], None)
    print(run(folder, write(folder, [case], 21, [[y]])).stderr, end="")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
