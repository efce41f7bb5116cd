# SPDX-License-Identifier: MIT
"""The ONNX project's node tests on an emulated GPU (test/Emulation).

    onnx_nodes.py NODES FOLDER [EVERY]

Of the models in NODES that `numera` imports, each EVERYth is compiled for the GPU,
through NVIDIA's assembler where there is one, and run on its test data, with the
bits of the CPU. Prints the number of models and of results compared.
"""
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper


def numera(*arguments):
    return subprocess.run(["numera", *map(str, arguments)], capture_output=True,
                          text=True, check=False)


def inputs_of(node, folder):
    """The test data as .npy, for the inputs that are no initializers."""
    arrays = []
    data = sorted((node / "test_data_set_0").glob("input_*.pb"),
                  key=lambda path: int(path.stem.split("_")[1]))
    for i, path in enumerate(data):
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        array = numpy_helper.to_array(tensor)
        np.save(folder / f"in{i}.npy", np.asarray(array, order="C"))
        arrays += ["--input", folder / f"in{i}.npy"]
    return arrays


def results(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.npy"))}


def check(node, folder):
    """Results compared; none for what the CPU does not take either."""
    model = node / "model.onnx"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        inputs = inputs_of(node, folder)
    except (KeyError, TypeError, ValueError):  # sequences, strings, newer types
        return None
    options = ["--format", "posit16", *inputs]
    cpu = numera("run", model, *options, "--output-dir", folder / "cpu")
    if cpu.returncode != 0:
        return None
    gpu = numera("run", model, *options, "--target", "nvptx", "--output-dir",
                 folder / "nvptx")
    assert gpu.returncode == 0, f"{node.name}: {gpu.stderr}"
    expected, got = results(folder / "cpu"), results(folder / "nvptx")
    assert expected.keys() == got.keys(), node.name
    for name, text in expected.items():
        assert got[name] == text, f"{node.name}: {name} differs"
    return len(expected)


def main():
    nodes, folder = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    every = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    counts = []
    for node in sorted(nodes.iterdir())[::every]:
        if (node / "model.onnx").exists():
            count = check(node, folder)
            if count is not None:
                counts.append(count)
                if os.environ.get("VERBOSE"):
                    print(node.name, flush=True)
    print(f"{len(counts)} models, {sum(counts)} results")


main()
