# SPDX-License-Identifier: MIT
"""Functions of a model whose attributes have defaults, and of one name: function_defaults.py FOLDER

Fields that older onnx packages lack are written as bytes.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import AttributeProto, FunctionProto, helper

X = np.array([-1, 2], "f4")


def add(message, field, content):
    message.MergeFromString(bytes([field << 3 | 2, len(content)]) + content)


def overload(name, op):
    made = FunctionProto(name="Either", domain="own", input=["a"], output=["b"],
                         node=[helper.make_node(op, ["a"], ["b"])], opset_import=[helper.make_opsetid("", 18)])
    add(made, 13, name)
    return made


def function():
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=1))
    made = FunctionProto(name="Leaky", domain="own", input=["a"], output=["b"], node=[leaky],
                         opset_import=[helper.make_opsetid("", 18)])
    add(made, 11, helper.make_attribute("slope", 0.75).SerializeToString())
    return made


def run(folder, node, functions):
    infos = [helper.make_tensor_value_info(name, 1, X.shape) for name in "xy"]
    graph = helper.make_graph([node], "defaults", infos[:1], infos[1:])
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    model.functions.extend(functions)
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    subprocess.run(["numera", "run", folder / "model.onnx", "--input", folder / "x.npy",
                    "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
    return np.load(folder / "y.npy").tolist()


def main(folder):
    np.save(folder / "x.npy", X)
    for given in {}, {"slope": 0.25}:
        node = helper.make_node("Leaky", ["x"], ["y"], domain="own", **given)
        print(given, run(folder, node, [function()]))
    for name in b"one", b"two":
        node = helper.make_node("Either", ["x"], ["y"], domain="own")
        add(node, 8, name)
        print(name.decode(), run(folder, node, [overload(b"one", "Neg"), overload(b"two", "Abs")]))


main(Path(sys.argv[1]))
