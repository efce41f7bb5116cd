# SPDX-License-Identifier: MIT
"""Masks of Attention in every type of numbers, which are added to the scores: attention_masks.py FOLDER"""
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import helper, mapping

KEYS = 5
random = np.random.default_rng(0)
ARRAYS = {name: random.standard_normal((1, 2, length, 8)).astype("f4")
          for name, length in (("q", 3), ("k", KEYS), ("v", KEYS))}


def run(folder, mask, opset):
    arrays = {**ARRAYS, "mask": mask}
    inputs = [helper.make_tensor_value_info(name, mapping.NP_TYPE_TO_TENSOR_TYPE[array.dtype], array.shape)
              for name, array in arrays.items()]
    result = helper.make_tensor_value_info("y", 1, ARRAYS["q"].shape)
    node = helper.make_node("Attention", list(arrays), ["y"])
    model = helper.make_model(helper.make_graph([node], "g", inputs, [result]),
                              opset_imports=[helper.make_opsetid("", opset)])
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    command = ["numera", "run", folder / "model.onnx", "--output-dir", folder]
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        command += ["--input", f"{name}={folder / name}.npy"]
    subprocess.run(command, check=True)
    return np.load(folder / "y.npy")


def reference(mask):
    """In f64; keys behind a short mask are not seen."""
    bias = np.full((3, KEYS), -np.inf)
    bias[:, :mask.shape[1]] = np.where(mask, 0, -np.inf) if mask.dtype == bool else mask
    q, k, v = (array.astype("f8") for array in ARRAYS.values())
    powers = np.exp(q @ k.swapaxes(2, 3) / np.sqrt(8) + bias)
    return powers / powers.sum(-1, keepdims=True) @ v


folder = Path(sys.argv[1])
folder.mkdir(exist_ok=True)
# One number for all keys is a mask of the first since opset 24.
for length, opset in ((KEYS, 23), (KEYS - 1, 23), (1, 24)):
    numbers = random.integers(-3, 3, (3, length))
    numbers[:, 0] = 1
    for dtype in ("f4", "f2", "f8", "i1", "i4", "i8", "u1", "?"):
        given = (abs(numbers) if dtype == "u1" else numbers).astype(dtype)
        worst = abs(run(folder, given, opset) - reference(given)).max()
        assert worst < 1e-5, (length, dtype, worst)
everywhere = np.full((3, KEYS), 2, "f4")
assert np.array_equal(run(folder, everywhere[:, :1], 23), run(folder, everywhere, 23))
print("masks of all types as in NumPy")
