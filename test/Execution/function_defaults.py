# SPDX-License-Identifier: MIT
"""A function of a model whose attribute has a default: function_defaults.py FOLDER"""
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import AttributeProto, FunctionProto, helper

X = np.array([-1, 2], "f4")


def function():
    leaky = helper.make_node("LeakyRelu", ["a"], ["b"])
    leaky.attribute.append(AttributeProto(name="alpha", ref_attr_name="slope", type=1))
    made = FunctionProto(name="Leaky", domain="own", input=["a"], output=["b"], node=[leaky],
                         opset_import=[helper.make_opsetid("", 18)])
    # attribute_proto, field 11, which older onnx packages lack.
    default = helper.make_attribute("slope", 0.75).SerializeToString()
    made.MergeFromString(bytes([11 << 3 | 2, len(default)]) + default)
    return made


def main(folder):
    np.save(folder / "x.npy", X)
    infos = [helper.make_tensor_value_info(name, 1, X.shape) for name in "xy"]
    for given, slope in ({}, 0.75), ({"slope": 0.25}, 0.25):
        node = helper.make_node("Leaky", ["x"], ["y"], domain="own", **given)
        graph = helper.make_graph([node], "defaults", infos[:1], infos[1:])
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid("own", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        model.functions.append(function())
        (folder / "model.onnx").write_bytes(model.SerializeToString())
        subprocess.run(["numera", "run", folder / "model.onnx", "--input", folder / "x.npy",
                        "--output-dir", folder], check=True, stdout=subprocess.DEVNULL)
        print(slope, np.array_equal(np.load(folder / "y.npy"), np.where(X < 0, X * slope, X)))


main(Path(sys.argv[1]))
