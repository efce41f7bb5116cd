# SPDX-License-Identifier: MIT
"""Cast and QuantizeLinear to integers of 2 and 4 bits, against NumPy: small_integers.py FOLDER

Types are numbers of TensorProto.DataType: older onnx packages lack their names.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from node_cases import save_model
from onnx import TensorProto, helper

# The bits and whether there is a sign.
TYPES = {"u4": (21, 4, False), "i4": (22, 4, True), "u2": (25, 2, False), "i2": (26, 2, True)}
WHOLE = np.concatenate([np.arange(-40, 41), [2**31 - 1, -(2**31), 1 << 20]]).astype("i4")
REAL = np.array(
    [-9, -8.5, -7.99, -0.5, 0.99, 7.5, 8, 15.9, 16, 200.25, -200.75, 3e9, -3e9, np.nan],
    "f4",
)
HALVES = np.array([0.24, 0.25, -5, 9, np.inf, -np.inf, np.nan, -0.0], "f4")


def wrapped(x, bits, is_signed):
    """Toward zero, saturated to i32, of which the low bits stay."""
    whole = np.clip(np.trunc(np.nan_to_num(x.astype("f8"))), -(2**31), 2**31 - 1)
    low = whole.astype("i8") & (2**bits - 1)
    return low - (low >> (bits - 1) << bits) * is_signed


def main(folder):
    nodes, outputs, expected = [], [], {}

    def cast(name, source, to):
        nodes.append(helper.make_node("Cast", [source], [f"{name}_c"], to=to))
        nodes.append(helper.make_node("Cast", [f"{name}_c"], [name], to=1))

    for name, (to, bits, is_signed) in TYPES.items():
        for source, x in ("real", REAL), ("whole", WHOLE):
            cast(f"{source}_{name}", source, to)
            expected[f"{source}_{name}"] = wrapped(x, bits, is_signed)
    # Quantised numbers are saturated.
    half = helper.make_node("Constant", [], ["half"], value_float=0.5)
    nodes.append(half)
    for name, (to, bits, is_signed) in TYPES.items():
        given = ["halves", "half"]
        node = helper.make_node("QuantizeLinear", given, [f"q_{name}_c"], output_dtype=to)
        nodes.append(node)
        nodes.append(helper.make_node("Cast", [f"q_{name}_c"], [f"q_{name}"], to=1))
        low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
        numbers = np.nan_to_num(np.rint(HALVES.astype("f8") / 0.5), posinf=99, neginf=-99)
        expected[f"q_{name}"] = np.clip(numbers, low, high).astype("i8")
    cast("f4", "halves", 23)
    expected["f4"] = np.array([0, 0, -4, 6, 6, -6, -0.0, -0.0])
    inputs = []
    command = ["numera", "run", str(folder / "model.onnx"), "--output-dir", str(folder)]
    for name, x in ("real", REAL), ("whole", WHOLE), ("halves", HALVES):
        kind = TensorProto.FLOAT if x.dtype.kind == "f" else TensorProto.INT32
        inputs.append(helper.make_tensor_value_info(name, kind, x.shape))
        np.save(folder / f"{name}.npy", x)
        command += ["--input", str(folder / f"{name}.npy")]
    for name, y in expected.items():
        outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, y.shape))
    graph = helper.make_graph(nodes, "casts", inputs, outputs)
    save_model(folder / "model.onnx", graph, 25)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    for name, y in expected.items():
        found = np.load(folder / f"{name}.npy")
        assert np.array_equal(found, y), (name, found, y)
        assert np.array_equal(np.signbit(found), np.signbit(y)), (name, found, y)
    print(f"{sum(y.size for y in expected.values())} numbers, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
