#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""An LSTM as exporters write it, batch first: stochastic_recurrent.py OUT

Its steps are computed at once in one product, the batch behind the steps. The bits
of a sequence are the same whatever the batch of the model is, and whether the
number of steps is known.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, STEPS, WIDTH, HIDDEN = 12, 6, 5, 7


def model(batch, steps, random):
    """Transpose, a bidirectional LSTM, and a Loop that halves until the sum is small."""
    shapes = {"w": (2, 4 * HIDDEN, WIDTH), "r": (2, 4 * HIDDEN, HIDDEN), "b": (2, 8 * HIDDEN)}
    weights = {k: random.normal(size=v).astype("f4") / 2 for k, v in shapes.items()}
    weights |= {"half": np.float32(0.3), "most": np.int64(4), "goes": np.bool_(True)}
    state = helper.make_tensor_value_info("s", TensorProto.FLOAT, None)
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["s", "half"], ["next"]),
            helper.make_node("Less", ["i", "two"], ["on"]),
        ],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
            state,
        ],
        [
            helper.make_tensor_value_info("on", TensorProto.BOOL, []),
            helper.make_tensor_value_info("next", TensorProto.FLOAT, None),
        ],
    )
    weights["two"] = np.int64(2)
    graph = helper.make_graph(
        [
            helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0, 2]),
            helper.make_node(
                "LSTM",
                ["t", "w", "r", "b"],
                ["", "h"],
                hidden_size=HIDDEN,
                direction="bidirectional",
            ),
            helper.make_node("Loop", ["most", "goes", "h"], ["l"], body=body),
            helper.make_node("Transpose", ["l"], ["y"], perm=[1, 0, 2]),
        ],
        "lstm",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, steps, WIDTH])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 2, HIDDEN])],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in weights.items()],
    )
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 14)], ir_version=8
    )


def main():
    out = Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / "x.npy", np.random.default_rng(4).normal(size=(ROWS, STEPS, WIDTH)).astype("f4"))
    for accumulate in "f32", "same":
        first = None
        for batch, steps in (4, STEPS), (1, STEPS), ("n", STEPS), ("n", "s"):
            path = out / f"{batch}-{steps}.onnx"
            onnx.save(model(batch, steps, np.random.default_rng(3)), path)
            flags = ["--format", "float<4,3,stochastic>", "--accumulate", accumulate]
            command = ["numera", "run", path, "--input", out / "x.npy", "--output-dir", out, *flags]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            y = np.load(out / "y.npy")
            first = y if first is None else first
            if y.shape != (ROWS, 2, HIDDEN) or len(np.unique(y)) < 20:
                sys.exit(f"{path.name}: results are {y}")
            if (y != first).any():
                sys.exit(f"{path.name}, {accumulate}: {(y != first).sum()} of {y.size} differ")


if __name__ == "__main__":
    main()
