# SPDX-License-Identifier: MIT
"""Writes one of the tiny ONNX models of this folder's tests, or several.

    make-model.py NAME OUT.onnx
    make-model.py NAME NAME… FOLDER

A model is a function below: it returns nodes, inputs, outputs and initializers.
Weights count up from 0 so that a test can read them in the IR.
"""
import sys

import numpy as np
from node_models import NODES
from onnx import TensorProto, helper, numpy_helper


def value(name, *shape, element=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, element, list(shape))


def weights(name, *shape):
    count = int(np.prod(shape))
    data = np.arange(count, dtype=np.float32).reshape(shape)
    return numpy_helper.from_array(data, name)


def ints(name, *elements):
    return numpy_helper.from_array(np.array(elements, np.int64), name)


def unary(op, shape, out, opset=13, inits=(), source=TensorProto.FLOAT,
          result=TensorProto.FLOAT, **attributes):
    """One node with the inputs x and `inits`."""
    node = helper.make_node(op, ["x"] + [i.name for i in inits], ["y"],
                            name="the_node", **attributes)
    return ([node], [value("x", *shape, element=source)],
            [value("y", *out, element=result)], list(inits), opset)


def chain(*ops):
    """One node after the other, each on the result of the one before."""
    names = ["x"] + [f"x{i}" for i in range(1, len(ops))] + ["y"]
    nodes = [helper.make_node(op, [names[i]], [names[i + 1]])
             for i, op in enumerate(ops)]
    return nodes, [value("x", "N", 2)], [value("y", "N", 2)], [], 13


def recurrent(op, opset=14, outputs=1, lengths=None, x=(100, 1, 3),
              element=TensorProto.FLOAT, counts=np.int32, **attributes):
    """Of 2 hidden numbers on 100 steps of a batch of 1, of 3 numbers. Keys in
    capitals are the shapes of inputs; None leaves one out."""
    rows = {"LSTM": 8, "GRU": 6, "RNN": 2}[op]
    shapes = {"W": [1, rows, 3], "R": [1, rows, 2], "B": [1, 2 * rows],
              "H": None, "C": None, "P": None}
    shapes |= {key: attributes.pop(key) for key in list(attributes) if key in shapes}
    inits = [weights(name, *shape) for name, shape in shapes.items() if shape]
    places = [name if shape else "" for name, shape in shapes.items()]
    if lengths:
        inits.append(numpy_helper.from_array(np.array(lengths, counts), "L"))
    places.insert(3, "L" if lengths else "")
    while not places[-1]:
        places.pop()
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(op, ["x", *places], results, name="the_node", **attributes)
    return ([node], [value("x", *x, element=element)], [helper.make_tensor_value_info(
        name, TensorProto.FLOAT, None) for name in results], inits, opset)


def dft_chosen(shape, declared, **attributes):
    """Along an axis that is an input."""
    node = helper.make_node("DFT", ["x", "", "axis"], ["y"], "the_node", **attributes)
    axis = value("axis", element=TensorProto.INT64)
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, declared)
    return [node], [value("x", *shape), axis], [out], [], 20


def select_boxes(boxes=(1, 6, 4), scores=(1, 2, 6), most=(1,), limit=(), count=3,
                 kind=TensorProto.INT64, element=TensorProto.FLOAT, **attributes):
    shapes = {"boxes": (boxes, 1), "scores": (scores, element), "most": (most, kind),
              "limit": (limit, 1)}
    inputs = [value(name, *shape, element=of) for name, (shape, of) in shapes.items()
              if shape is not None]
    places = [name if shape is not None else "" for name, (shape, _) in shapes.items()]
    node = helper.make_node(
        "NonMaxSuppression", places, ["y"], "the_node", **attributes)
    return [node], inputs, [value("y", count, 3, element=TensorProto.INT64)], [], 11


def stft(shape=None, parts=1, step=2, window=4, length=4, **kwargs):
    return unary("STFT", shape or [2, 8, parts], [2, 3, 3, 2], opset=17, source=kwargs.get(
        "element", TensorProto.FLOAT), inits=[
            ints("step", step), weights("window", window), ints("length", length)])


def cast(to, opset=19, source=TensorProto.FLOAT, **attributes):
    """Element types by number: older onnx packages lack the names."""
    return unary("Cast", ["N", 2], ["N", 2], opset=opset, source=source,
                 result=to, to=to, **attributes)


def einsum(equation, *shapes, elements=(), **attributes):
    """One node with an input for each shape, of f32 or of the elements given."""
    names = [f"x{i}" for i in range(len(shapes))]
    types = [*elements, *[TensorProto.FLOAT] * (len(shapes) - len(elements))]
    if equation is not None:
        attributes["equation"] = equation
    node = helper.make_node("Einsum", names, ["y"], name="the_node", **attributes)
    return ([node], [value(name, *shape, element=element)
                     for name, shape, element in zip(names, shapes, types)],
            [helper.make_tensor_value_info("y", types[0], None)], [], 12)


def grid_sample(image, grid, element=TensorProto.FLOAT, **attributes):
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], name="the_node",
                            **attributes)
    return ([node], [value("x", *image), value("grid", *grid, element=element)],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [], 20)


MODELS = {
    # Contractions.
    "conv": lambda: unary(
        "Conv", [1, 1, 4, 4], [1, 2, 2, 3],
        inits=[weights("w", 2, 1, 3, 2), weights("b", 2)],
        pads=[0, 1, 0, 0]),
    "conv-stride": lambda: unary(
        "Conv", [1, 1, 9, 9], [1, 1, 3, 3], inits=[weights("w", 1, 1, 3, 3)],
        strides=[2, 2], dilations=[2, 2]),
    "conv-same": lambda: unary(
        "Conv", ["N", 1, 4, 4], ["N", 1, 4, 4],
        inits=[weights("w", 1, 1, 2, 2)], auto_pad="SAME_UPPER"),
    "conv-groups": lambda: unary(
        "Conv", [1, 4, 3, 3], [1, 2, 2, 2], inits=[weights("w", 2, 2, 2, 2)],
        group=2),
    "conv-depthwise": lambda: unary(
        "Conv", [1, 2, 3, 3], [1, 2, 2, 2], inits=[weights("w", 2, 1, 2, 2)],
        group=2),
    "conv-1d": lambda: unary(
        "Conv", [1, 2, 5], [1, 3, 4], inits=[weights("w", 3, 2, 2)]),
    "conv-transpose": lambda: unary(
        "ConvTranspose", ["N", 3, 5, 5], ["N", 2, 10, 10],
        inits=[weights("w", 3, 2, 4, 4), weights("b", 2)], strides=[2, 2],
        pads=[1, 1, 1, 1]),
    "conv-transpose-odd": lambda: unary(
        "ConvTranspose", [1, 1, 2], [1, 1, 5], inits=[weights("w", 1, 1, 3)],
        strides=[2]),
    "conv-transpose-dilated": lambda: unary(
        "ConvTranspose", [1, 1, 2], [1, 1, 14], inits=[weights("w", 1, 1, 4)],
        strides=[4], dilations=[3]),
    "gemm": lambda: unary(
        "Gemm", ["N", 3], ["N", 2],
        inits=[weights("w", 2, 3), weights("b", 2)], transB=1, alpha=0.5),
    "einsum": lambda: einsum("nhqd,nhkd->nhqk", ["N", 2, 3, 5], ["N", 2, 4, 5]),
    "einsum-steps": lambda: einsum("iij,jk->ik", [3, 3, 4], [4, 2]),
    "einsum-product": lambda: einsum("i,ij->ij", [3], [3, 4]),
    "grid-sample": lambda: grid_sample(
        ["N", 2, 4, 5], ["N", 3, 6, 2], align_corners=1),
    "matmul-nd": lambda: unary(
        "MatMul", ["N", 2, 3], ["N", 2, 4], inits=[weights("w", 3, 4)]),
    # Pools and reductions.
    "max-pool": lambda: unary(
        "MaxPool", [1, 1, 4, 4], [1, 1, 2, 2], kernel_shape=[2, 2],
        strides=[2, 2], pads=[1, 1, 0, 0]),
    "average-pool": lambda: unary(
        "AveragePool", [1, 1, 4, 4], [1, 1, 2, 2], kernel_shape=[3, 3],
        strides=[2, 2], pads=[1, 1, 1, 1]),
    "reduce-mean": lambda: unary(
        "ReduceMean", ["N", 4], ["N", 1], axes=[1]),
    # Elementwise and composite operators.
    "add": lambda: unary("Add", [2, 3], [2, 3], inits=[weights("b", 2, 1)]),
    "sigmoid": lambda: unary("Sigmoid", [4], [4]),
    "functions": lambda: chain("Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh",
                               "Asinh", "Acosh", "Atanh"),
    "softmax-old": lambda: unary(
        "Softmax", [2, 3, 4], [2, 3, 4], opset=9, axis=1),
    "softmax": lambda: unary("Softmax", [2, 3, 4], [2, 3, 4], axis=1),
    "batch-norm": lambda: unary(
        "BatchNormalization", [1, 2, 2, 2], [1, 2, 2, 2],
        inits=[weights(n, 2) for n in ("scale", "bias", "mean", "var")],
        epsilon=1.0),
    # Layout.
    "flatten": lambda: unary("Flatten", ["N", 2, 3], ["N", 6]),
    "reshape": lambda: unary(
        "Reshape", ["N", 4, 6], ["N", 3, 8], inits=[ints("s", 0, 3, -1)]),
    # Casts to and from formats.
    "cast-saturate": lambda: cast(17),
    "cast-infinity": lambda: cast(19, saturate=0),
    "cast-f16": lambda: cast(10),
    "cast-e8m0": lambda: cast(24, opset=25),
    "cast-e8m0-nearest": lambda: cast(24, opset=25, round_mode="nearest"),
    "cast-e8m0-down": lambda: cast(24, opset=25, round_mode="down"),
    "cast-back": lambda: cast(1, source=23),
    # Recurrent operators.
    "lstm": lambda: recurrent("LSTM"),
    "gru-reverse": lambda: recurrent(
        "GRU", direction="reverse", B=None, outputs=2),
    "rnn-lengths": lambda: recurrent("RNN", lengths=[7]),
    "rnn-all": lambda: recurrent("RNN", lengths=[100]),
    "lstm-w": lambda: recurrent("LSTM", W=[1, 6, 3]),
    "lstm-r": lambda: recurrent("LSTM", R=[1, 8, 3], hidden_size=2),
    "lstm-b": lambda: recurrent("LSTM", B=[1, 8]),
    "lstm-p": lambda: recurrent("LSTM", P=[1, 8]),
    "lstm-c": lambda: recurrent("LSTM", C=[1, 2, 2]),
    "gru-h": lambda: recurrent("GRU", H=[1, 2]),
    "rnn-directions": lambda: recurrent("RNN", direction="bidirectional"),
    "rnn-direction": lambda: recurrent("RNN", direction="both"),
    "rnn-layout": lambda: recurrent("RNN", layout=2),
    "rnn-hidden": lambda: recurrent("RNN", hidden_size=0),
    "rnn-clip": lambda: recurrent("RNN", clip=-1.0),
    "rnn-batch": lambda: recurrent("RNN", lengths=[7, 8]),
    "rnn-length": lambda: recurrent("RNN", lengths=[101]),
    "rnn-activation": lambda: recurrent("RNN", activations=["Swish"]),
    "gru-activations": lambda: recurrent("GRU", activations=["Tanh"]),
    "rnn-no-alpha": lambda: recurrent("RNN", activations=["ScaledTanh"]),
    "rnn-nan": lambda: recurrent(
        "RNN", activations=["Elu"], activation_alpha=[float("nan")]),
    "rnn-no-steps": lambda: recurrent("RNN", x=[0, 1, 3]),
    "rnn-rank": lambda: recurrent("RNN", x=[100, 3]),
    "rnn-integers": lambda: recurrent("RNN", element=TensorProto.INT32),
    "rnn-double": lambda: recurrent("RNN", element=TensorProto.DOUBLE),
    "rnn-int64": lambda: recurrent("RNN", lengths=[7], counts=np.int64),
    "gru-alphas": lambda: recurrent(
        "GRU", activations=["Tanh", "Elu"], activation_alpha=[0.0, 0.5]),
    # Fourier transforms.
    "dft": lambda: unary("DFT", ["N", 4, 1], ["N", 4, 2], opset=17),
    "stft": lambda: stft(),
    "dft-axis": lambda: unary("DFT", [2, 4, 1], [2, 4, 2], opset=17, axis=3),
    "dft-parts": lambda: unary("DFT", [2, 4, 1], [2, 4, 2], opset=17, axis=2),
    "dft-batch": lambda: unary("DFT", ["N", 4, 1], ["N", 4, 2], opset=17, axis=0),
    "dft-last": lambda: unary("DFT", [2, 4], [2, 4, 2], opset=17),
    "dft-onesided": lambda: unary(
        "DFT", [2, 4, 2], [2, 3, 2], opset=17, onesided=1),
    "dft-inverse": lambda: unary(
        "DFT", [2, 4, 1], [2, 6, 1], opset=17, onesided=1, inverse=1),
    "dft-length": lambda: unary(
        "DFT", [2, 4, 1], [2, 4, 2], opset=17, inits=[ints("n", 0)]),
    "dft-one": lambda: unary(
        "DFT", [2, 1, 2], [2, 1, 1], opset=17, onesided=1, inverse=1),
    "dft-large": lambda: unary(
        "DFT", [2, 8192, 2], [2, 8192, 2], opset=17),
    "dft-chosen": lambda: dft_chosen([2, 6, 2], [2, 6, 3]),
    "dft-undeclared": lambda: dft_chosen([3, 6, 1], None, onesided=1),
    "stft-step": lambda: stft(step=0),
    "stft-frame": lambda: stft(length=9),
    "stft-window": lambda: stft(window=3),
    "stft-complex": lambda: stft(parts=2),
    "stft-rank": lambda: stft(shape=[2, 8]),
    "stft-integers": lambda: stft(element=TensorProto.INT32),
    # Boxes.
    "boxes": lambda: select_boxes(),
    "boxes-three": lambda: select_boxes(boxes=[1, 6, 3]),
    "boxes-scores": lambda: select_boxes(scores=[1, 2, 5]),
    "boxes-rank": lambda: select_boxes(boxes=[6, 4]),
    "boxes-batch": lambda: select_boxes(boxes=["N", 6, 4], scores=["N", 2, 6]),
    "boxes-open": lambda: select_boxes(count="found"),
    "boxes-most": lambda: select_boxes(kind=TensorProto.INT32),
    "boxes-limits": lambda: select_boxes(limit=[2]),
    "boxes-none": lambda: select_boxes(most=None),
    "boxes-center": lambda: select_boxes(center_point_box=2),
    "boxes-integers": lambda: select_boxes(element=TensorProto.INT32),
    "boxes-double": lambda: select_boxes(element=TensorProto.DOUBLE),
    # Errors.
    "cast-string": lambda: cast(8),
    "cast-e8m0-nan": lambda: cast(24, opset=25, saturate=0),
    "cast-e8m0-mode": lambda: cast(24, opset=25, round_mode="odd"),
    "input-string": lambda: unary("Exp", [2], [2], source=8),
    "unsupported": lambda: unary("StringNormalizer", [2], [2]),
    "gemm-mismatch": lambda: unary(
        "Gemm", [1, 3], [1, 2], inits=[weights("w", 4, 2)]),
    "conv-channels": lambda: unary(
        "Conv", [1, 3, 4, 4], [1, 1, 3, 3], inits=[weights("w", 1, 2, 2, 2)]),
    "conv-bias": lambda: unary(
        "Conv", [1, 1, 4, 4], [1, 2, 3, 3],
        inits=[weights("w", 2, 1, 2, 2), weights("b", 3)]),
    "conv-window": lambda: unary(
        "Conv", [1, 1, 2, 2], [1, 1, 1, 1], inits=[weights("w", 1, 1, 3, 3)]),
    "conv-stride-type": lambda: unary(
        "Conv", [1, 1, 2, 2], [1, 1, 1, 1], inits=[weights("w", 1, 1, 1, 1)],
        strides=1.5),
    "conv-transpose-channels": lambda: unary(
        "ConvTranspose", [1, 3, 4], [1, 2, 5], inits=[weights("w", 3, 1, 2)],
        group=2),
    "conv-transpose-weights": lambda: unary(
        "ConvTranspose", [1, 3, 4], [1, 1, 5], inits=[weights("w", 2, 1, 2)]),
    "conv-transpose-bias": lambda: unary(
        "ConvTranspose", [1, 2, 4], [1, 2, 5],
        inits=[weights("w", 2, 1, 2), weights("b", 1)], group=2),
    "conv-transpose-numbers": lambda: unary(
        "ConvTranspose", [1, 1, 4], [1, 1, 5],
        inits=[weights("w", 1, 1, 2),
               numpy_helper.from_array(np.zeros(1, np.float64), "b")]),
    "conv-transpose-rank": lambda: unary(
        "ConvTranspose", [2, 4], [2, 4], inits=[weights("w", 2, 1)]),
    "conv-transpose-kernel": lambda: unary(
        "ConvTranspose", [1, 1, 4], [1, 1, 5], inits=[weights("w", 1, 1, 2)],
        kernel_shape=[3]),
    "conv-transpose-pads": lambda: unary(
        "ConvTranspose", [1, 1, 2], [1, 1, 1], inits=[weights("w", 1, 1, 2)],
        pads=[2, 1]),
    "conv-transpose-auto": lambda: unary(
        "ConvTranspose", [1, 1, 4], [1, 1, 4], inits=[weights("w", 1, 1, 2)],
        pads=[1, 0], auto_pad="SAME_LOWER"),
    "conv-transpose-mode": lambda: unary(
        "ConvTranspose", [1, 1, 4], [1, 1, 4], inits=[weights("w", 1, 1, 2)],
        auto_pad="SAME"),
    "conv-transpose-shape": lambda: unary(
        "ConvTranspose", [1, 1, 4], [1, 1, 4], inits=[weights("w", 1, 1, 2)],
        output_shape=[1, 1, 4]),
    "conv-transpose-types": lambda: unary(
        "ConvTranspose", [1, 1, 4], [1, 1, 5], inits=[weights("w", 1, 1, 2)],
        source=TensorProto.DOUBLE),
    "conv-transpose-many": lambda: unary(
        "ConvTranspose", [1, 1, 1, 1], [1, 1, 1, 1],
        inits=[weights("w", 1, 1, 50, 50)], strides=[50, 50], dilations=[3, 3]),
    "conv-transpose-size": lambda: unary(
        "ConvTranspose", [1, 1, 1025, 1025], [1, 1, 1, 1],
        inits=[weights("w", 1, 1, 1, 1)], strides=[1024, 1024]),
    "einsum-none": lambda: einsum(None, [2]),
    "einsum-character": lambda: einsum("i1->i", [2, 2]),
    "einsum-ellipses": lambda: einsum("...i...", [2, 2]),
    "einsum-terms": lambda: einsum("ij", [2, 2], [2, 2]),
    "einsum-rank": lambda: einsum("ij,j", [2], [2]),
    "einsum-size": lambda: einsum("ij,jk->ik", [2, 3], [2, 3]),
    "einsum-diagonal": lambda: einsum("ii->i", [1, 3]),
    "einsum-dots": lambda: einsum("...,...", [2], [3]),
    "einsum-letter": lambda: einsum("ij->ik", [2, 3]),
    "einsum-twice": lambda: einsum("ij->ii", [2, 3]),
    "einsum-lost": lambda: einsum("...i->i", [2, 3]),
    "einsum-types": lambda: einsum("i,i", [2], [2], elements=[TensorProto.DOUBLE]),
    "einsum-bool": lambda: einsum("i->", [2], elements=[TensorProto.BOOL]),
    "einsum-batches": lambda: einsum("ni,mi->nm", ["N", 2], ["N", 2]),
    "einsum-large": lambda: einsum("i,j->ij", [1 << 21], [1 << 21]),
    "grid-sample-mode": lambda: grid_sample(
        [1, 1, 4], [1, 3, 1], mode="quadratic"),
    "grid-sample-padding": lambda: grid_sample(
        [1, 1, 4], [1, 3, 1], padding_mode="reflect"),
    "grid-sample-rank": lambda: grid_sample(
        [1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 1, 4]),
    "grid-sample-empty": lambda: grid_sample([1, 1, 0], [1, 3, 1]),
    "grid-sample-places": lambda: grid_sample([1, 1, 4, 4], [1, 3, 2]),
    "grid-sample-coordinates": lambda: grid_sample([1, 1, 4, 4], [1, 3, 3, 3]),
    "grid-sample-batch": lambda: grid_sample(["N", 1, 4], [2, 3, 1]),
    "grid-sample-numbers": lambda: grid_sample(
        [1, 1, 4], [1, 3, 1], element=TensorProto.DOUBLE),
    "grid-sample-integers": lambda: grid_sample(
        [1, 1, 4], [1, 3, 1], element=TensorProto.INT32),
    "unknown-attribute": lambda: unary("Relu", [2], [2], slope=1.0),
    "add-mismatch": lambda: unary(
        "Add", [2, 3], [2, 3], inits=[weights("b", 2)]),
    "reshape-mismatch": lambda: unary(
        "Reshape", [2, 3], [4, 2], inits=[ints("s", 4, -1)]),
    "dynamic-inner": lambda: unary("Relu", ["N", "length"], ["N", "length"]),
    "opset": lambda: unary("Relu", [2], [2], opset=99),
    "transpose-scalar": lambda: unary("Transpose", [], []),
    "softmax-scalar": lambda: unary("Softmax", [], []),
}


def undefined_input():
    node = helper.make_node("Relu", ["nowhere"], ["y"], name="the_node")
    return [node], [value("x", 2)], [value("y", 2)], [], 13


def unnamed_input():
    node = helper.make_node("Cast", ["x"], ["y"], name="the_node", to=1)
    batches = [value(name, "N", 2, element=TensorProto.UINT16) for name in ("", "x")]
    return [node], batches, [value("y", "N", 2)], [], 19


def short_initializer():
    nodes, inputs, outputs, inits, opset = unary(
        "Add", [2, 3], [2, 3], inits=[weights("b", 2, 3)])
    inits[0].raw_data = inits[0].raw_data[:8]
    return nodes, inputs, outputs, inits, opset


def external():
    nodes, inputs, outputs, inits, opset = unary(
        "Add", [2], [2], inits=[weights("b", 2)])
    inits[0].data_location = TensorProto.EXTERNAL
    inits[0].external_data.add(key="location", value="../elsewhere")
    return nodes, inputs, outputs, inits, opset


def batch_shape():
    """Reshape to [N, -1] as PyTorch exports it: Shape, Gather, Concat."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["n"], axis=0),
        helper.make_node("Concat", ["n", "rest"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    return (nodes, [value("x", "N", 2, 3)], [value("y", "N", 6)],
            [ints("zero", 0), ints("rest", -1)], 13)


def initializer_as_input():
    nodes, inputs, outputs, inits, opset = unary(
        "Add", [2], [2], inits=[weights("b", 2)])
    return nodes, inputs + [value("b", 2)], outputs, inits, opset


def two_batches():
    node = helper.make_node("Add", ["a", "b"], ["y"], name="the_node")
    return ([node], [value("a", "N", 2), value("b", "M", 2)],
            [value("y", "N", 2)], [], 13)


MODELS.update({
    "undefined-input": undefined_input,
    "unnamed-input": unnamed_input,
    "short-initializer": short_initializer,
    "external": external,
    "batch-shape": batch_shape,
    "initializer-as-input": initializer_as_input,
    "two-batches": two_batches,
})
MODELS.update(NODES)


def write(name, path):
    nodes, inputs, outputs, inits, opset = MODELS[name]()
    graph = helper.make_graph(nodes, name, inputs, outputs, inits)
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    with open(path, "wb") as file:
        file.write(model.SerializeToString())


def main():
    *names, path = sys.argv[1:]
    for name in names:
        write(name, path if len(names) == 1 else f"{path}/{name}.onnx")


if __name__ == "__main__":
    main()
