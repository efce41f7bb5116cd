# SPDX-License-Identifier: MIT
"""Models of one node, for make-model.py."""

import numpy as np
from onnx import helper, numpy_helper


def several(op, *given, results=("y",), out=None, opset=22, **attributes):
    """One node. An input is a shape, a pair of a shape and an element type, or a
    list of integers that are known."""
    places, inputs, constants = [], [], []
    for i, each in enumerate(given):
        name = f"x{i}"
        places.append(name)
        if isinstance(each, list):
            constants.append(numpy_helper.from_array(np.array(each, np.int64), name))
        else:
            shape, element = each if each and isinstance(each[0], tuple) else (each, 1)
            inputs.append(helper.make_tensor_value_info(name, element, shape))
    node = helper.make_node(op, places, list(results), "the_node", **attributes)
    outputs = [helper.make_tensor_value_info(name, 1, out) for name in results]
    return [node], inputs, outputs, constants, opset


TRAINING, PREVIEW = "ai.onnx.preview.training", "ai.onnx.preview"


def attend(keys, *states, **attributes):
    return several(
        "LinearAttention",
        (1, 2, 4),
        keys,
        (1, 2, 4),
        *states,
        results=("y", "z"),
        q_num_heads=2,
        kv_num_heads=2,
        **attributes,
    )


def grams(**attributes):
    usual = {
        "mode": "TF",
        "min_gram_length": 1,
        "max_gram_length": 2,
        "max_skip_count": 0,
        "pool_int64s": [7, 1, 2],
        "ngram_counts": [0, 1],
        "ngram_indexes": [0, 1],
    }
    return several("TfIdfVectorizer", ((4,), 7), **(usual | attributes))


def resize(**attributes):
    return several("Resize", (1, 1, 4, 4), [], [], [1, 1, 8, 8], **attributes)


def product_shape():
    """Reshape to [max(N · 2, 1), 3], as tf2onnx writes it."""
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Slice", ["shape", "none", "two"], ["front"]),
        helper.make_node("ReduceProd", ["front"], ["rows"]),
        helper.make_node("Max", ["rows", "one"], ["most"], "the_node"),
        helper.make_node("Concat", ["most", "three"], ["to"], axis=0),
        helper.make_node("Reshape", ["x", "to"], ["y"]),
    ]
    known = {"none": 0, "one": 1, "two": 2, "three": 3}
    constants = [numpy_helper.from_array(np.array([n]), name) for name, n in known.items()]
    inputs = [helper.make_tensor_value_info("x", 1, ["N", 2, 3])]
    return nodes, inputs, [helper.make_tensor_value_info("y", 1, ["M", 3])], constants, 18


def scan(batch):
    """Adds up 40 rows: the sum at the end, and those on the way."""
    of = {name: helper.make_tensor_value_info(name, 1, [batch, 3])
          for name in ("before", "row", "after", "sum")}
    body = helper.make_graph(
        [helper.make_node("Add", ["before", "row"], ["after"]),
         helper.make_node("Identity", ["after"], ["sum"])], "body",
        [of["before"], of["row"]], [of["after"], of["sum"]])
    return several("Scan", (batch, 3), (40, batch, 3), results=("y", "sums"), opset=17,
                   body=body, num_scan_inputs=1)


NODES = {
    "product-shape": product_shape,
    # Words that Resize does not know.
    "resize-place": lambda: resize(coordinate_transformation_mode="middle"),
    "resize-nearest": lambda: resize(nearest_mode="simple"),
    "resize-mode": lambda: resize(mode="bilinear"),
    "resize-policy": lambda: resize(keep_aspect_ratio_policy="fit"),
    # Selections.
    "compress-open": lambda: several("Compress", (4,), (("N",), 9), axis=0),
    "squeeze-open": lambda: several("Squeeze", ("N", 1, 3)),
    "squeeze-declared": lambda: several("Squeeze", ("N", 1, 3), out=["N", 3]),
    "hardmax-open": lambda: several("Hardmax", ("N", 3), axis=0),
    # Blocks of 2 of 5 elements are 3.
    "quantize-blocks": lambda: several("QuantizeLinear", (5,), (2,), axis=0, block_size=2),
    "scan": lambda: scan(2),
    "scan-of-nothing": lambda: scan(0),
    # Grids.
    "grid": lambda: several("AffineGrid", (2, 2, 3), [2, 1, 4, 5], opset=20),
    "grid-theta": lambda: several("AffineGrid", (2, 2, 4), [2, 1, 4, 5], opset=20),
    "grid-batch": lambda: several("AffineGrid", (2, 2, 3), [3, 1, 4, 5], opset=20),
    "grid-empty": lambda: several("AffineGrid", (2, 2, 3), [2, 1, 0, 5], opset=20),
    "grid-rank": lambda: several("AffineGrid", (2, 3), [2, 1, 4, 5], opset=20),
    "grid-open": lambda: several("AffineGrid", (2, 2, 3), ((4,), 7), opset=20),
    "grid-integers": lambda: several("AffineGrid", ((2, 2, 3), 6), [2, 1, 4, 5]),
    "grid-one": lambda: several("AffineGrid", (2, 2, 3), ((), 7), out=(2, 2, 3, 2)),
    # Blocks.
    "blocks": lambda: several("Col2Im", ("N", 8, 12), [4, 5], [2, 2], opset=18),
    "blocks-count": lambda: several("Col2Im", (1, 8, 11), [4, 5], [2, 2]),
    "blocks-taps": lambda: several("Col2Im", (1, 7, 12), [4, 5], [2, 2]),
    "blocks-rank": lambda: several("Col2Im", (1, 8, 12), [4, 5, 6], [2, 2]),
    "blocks-large": lambda: several("Col2Im", (1, 8, 12), [4, 5], [6, 2]),
    "blocks-empty": lambda: several("Col2Im", (1, 8, 12), [4, 5], [0, 2]),
    "blocks-open": lambda: several("Col2Im", (1, 8, 12), [4, 5], ((2,), 7)),
    "blocks-strides": lambda: several(
        "Col2Im", (1, 8, 12), [4, 5], [2, 2], strides=[0, 1]
    ),
    "blocks-bool": lambda: several("Col2Im", ((1, 8, 12), 9), [4, 5], [2, 2]),
    # Maxima at their places.
    "unpool": lambda: several(
        "MaxUnpool",
        (1, 1, 2, 2),
        ((1, 1, 2, 2), 7),
        kernel_shape=[2, 2],
        strides=[2, 2],
    ),
    "unpool-kernel": lambda: several("MaxUnpool", (1, 1, 2), ((1, 1, 2), 7)),
    "unpool-indices": lambda: several(
        "MaxUnpool", (1, 1, 2), ((1, 2, 2), 7), kernel_shape=[2]
    ),
    "unpool-smaller": lambda: several(
        "MaxUnpool", (1, 1, 2), ((1, 1, 2), 7), [1, 1, 2], kernel_shape=[2]
    ),
    "unpool-pads": lambda: several(
        "MaxUnpool", (1, 1, 2), ((1, 1, 2), 7), kernel_shape=[2], pads=[2, 2]
    ),
    "unpool-batch": lambda: several(
        "MaxUnpool", ("N", 1, 2), (("N", 1, 2), 7), kernel_shape=[2]
    ),
    "unpool-huge": lambda: several(
        "MaxUnpool",
        (1, 1, 2**20),
        ((1, 1, 2**20), 7),
        kernel_shape=[2],
        strides=[2**31],
    ),
    "unpool-rank": lambda: several("MaxUnpool", (1, 2), ((1, 2), 7)),
    # Displaced taps.
    "deform": lambda: several(
        "DeformConv", ("N", 2, 4, 4), (3, 2, 2, 2), ("N", 8, 3, 3), (3,), ("N", 4, 3, 3)
    ),
    "deform-offsets": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), (1, 4, 3, 3)
    ),
    "deform-mask": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), (1, 8, 3, 3), (3,), (1, 8, 3, 3)
    ),
    "deform-bias": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), (1, 8, 3, 3), (2,)
    ),
    "deform-groups": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), (1, 8, 3, 3), group=2
    ),
    "deform-parts": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), (1, 8, 3, 3), offset_group=3
    ),
    "deform-kernel": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), (1, 8, 3, 3), kernel_shape=[3, 3]
    ),
    "deform-rank": lambda: several("DeformConv", (1, 2), (3, 2), (1, 8)),
    "deform-window": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 5, 2), (1, 20, 1, 3)
    ),
    "deform-double": lambda: several(
        "DeformConv", (1, 2, 4, 4), (3, 2, 2, 2), ((1, 8, 3, 3), 11)
    ),
    "deform-integers": lambda: several(
        "DeformConv", ((1, 2, 4, 4), 6), ((3, 2, 2, 2), 6), ((1, 8, 3, 3), 6)
    ),
    # Regions.
    "regions": lambda: several(
        "RoiAlign",
        (2, 3, 8, 8),
        ("N", 4),
        (("N",), 7),
        sampling_ratio=2,
        output_height=2,
        output_width=3,
    ),
    "maxima": lambda: several(
        "MaxRoiPool", ("N", 3, 8, 8), (4, 5), pooled_shape=[2, 3]
    ),
    "maxima-regions": lambda: several(
        "MaxRoiPool", (2, 3, 8, 8), (4, 4), pooled_shape=[2, 3]
    ),
    "maxima-open": lambda: several(
        "MaxRoiPool", (2, "C", 8, 8), (4, 5), pooled_shape=[2, 3]
    ),
    "maxima-empty": lambda: several(
        "MaxRoiPool", (2, 3, 0, 8), (4, 5), pooled_shape=[2, 3]
    ),
    "maxima-bins": lambda: several(
        "MaxRoiPool", (2, 3, 8, 8), (4, 5), pooled_shape=[2, 0]
    ),
    "maxima-double": lambda: several(
        "MaxRoiPool", ((2, 3, 8, 8), 11), ((4, 5), 11), pooled_shape=[2, 3]
    ),
    "attention-open": lambda: several(
        "Attention", ("N", "H", 4, 8), (1, 2, 4, 8), (1, 2, 4, 8), opset=23
    ),
    "attention-past": lambda: several(
        "Attention",
        (1, 2, 4, 8),
        (1, 2, 4, 8),
        (1, 2, 4, 8),
        (4, 6),
        (1, 3, 2, 8),
        (1, 2, 2, 8),
        opset=23,
    ),
    "regions-counted": lambda: several("RoiAlign", (2, 3, 8, 8), (5, 4), ((5,), 7)),
    "regions-boxes": lambda: several(
        "RoiAlign", (2, 3, 8, 8), (5, 4), ((6,), 7), sampling_ratio=2
    ),
    "regions-bins": lambda: several(
        "RoiAlign", (2, 3, 8, 8), (5, 4), ((5,), 7), sampling_ratio=2, output_height=0
    ),
    "regions-many": lambda: several(
        "RoiAlign",
        (2, 3, 8, 8),
        (5, 4),
        ((5,), 7),
        sampling_ratio=2,
        output_height=2**32 + 2,
    ),
    "regions-samples": lambda: several(
        "RoiAlign", (2, 3, 8, 8), (5, 4), ((5,), 7), sampling_ratio=2**32 + 2
    ),
    "regions-mode": lambda: several(
        "RoiAlign", (2, 3, 8, 8), (5, 4), ((5,), 7), sampling_ratio=2, mode="sum"
    ),
    "regions-place": lambda: several(
        "RoiAlign",
        (2, 3, 8, 8),
        (5, 4),
        ((5,), 7),
        sampling_ratio=2,
        coordinate_transformation_mode="asymmetric",
    ),
    "regions-rank": lambda: several(
        "RoiAlign", (3, 8, 8), (5, 4), ((5,), 7), sampling_ratio=2
    ),
    "regions-open": lambda: several(
        "RoiAlign", (2, 3, 8, "N"), (5, 4), ((5,), 7), sampling_ratio=2
    ),
    "regions-double": lambda: several(
        "RoiAlign", (2, 3, 8, 8), ((5, 4), 11), ((5,), 7), sampling_ratio=2
    ),
    "regions-images": lambda: several(
        "RoiAlign", (2, 3, 8, 8), (5, 4), ((5,), 6), sampling_ratio=2
    ),
    # What differs.
    "unique": lambda: several("Unique", (4, 3), out=[4, 2], axis=1, opset=11),
    "unique-open": lambda: several("Unique", (4, 3)),
    "unique-many": lambda: several("Unique", (4, 3), out=[13]),
    "unique-none": lambda: several("Unique", (4, 3), out=[0]),
    "unique-axis": lambda: several("Unique", (4, 3), out=[4, 2], axis=2),
    "unique-batch": lambda: several("Unique", ("N", 3), out=[2]),
    # Linear attention with 2 heads.
    "attend-rates": lambda: attend((1, 2, 4), (1, 2, 2, 2), (1, 2, 2), (1, 2, 3)),
    "attend-decays": lambda: attend((1, 2, 4), (1, 2, 2, 2), (1, 2, 1), (1, 2, 1)),
    "attend-keys": lambda: attend((1, 2, 6), update_rule="linear"),
    # What training and signals are made of.
    "step": lambda: several("Adam", (), ((), 7), (3,), (3,), (3,), domain=TRAINING),
    "step-shapes": lambda: several(
        "Adagrad", (), ((), 7), (3,), (2,), (3,), domain=TRAINING
    ),
    "step-rate": lambda: several(
        "Momentum", (2,), ((), 7), (3,), (3,), (3,), domain=TRAINING
    ),
    "step-mode": lambda: several(
        "Momentum", (), ((), 7), (3,), (3,), (3,), domain=TRAINING, mode="heavy"
    ),
    "step-domain": lambda: several("Adam", (), ((), 7), *[(3,)] * 4),
    "drop-seed": lambda: several("Dropout", (2, 3), (), ((), 9)),
    "drop-seeds": lambda: several("Dropout", (2, 3), (), ((), 9), seed=-1),
    "drop-batch": lambda: several("Dropout", ("N", 3), (), ((), 9), seed=1),
    "det": lambda: several("Det", (2, 3)),
    "window": lambda: several("HannWindow", ((), 7)),
    "window-type": lambda: several("HannWindow", ((), 7), output_datatype=8),
    "window-size": lambda: several("HannWindow", [-1], output_datatype=1),
    "mel": lambda: several("MelWeightMatrix", *[((), 7)] * 3, (), ()),
    "grams-mode": lambda: grams(mode="TD"),
    "grams-pool": lambda: grams(pool_int64s=[1, 2, 3, 4]),
    "grams-places": lambda: grams(ngram_indexes=[0]),
    "grams-weights": lambda: grams(weights=[1.0]),
    "grams-lengths": lambda: grams(min_gram_length=3),
    "flex-heads": lambda: several(
        "FlexAttention", (1, 3, 4, 5), (1, 2, 4, 5), (1, 2, 4, 5), domain=PREVIEW
    ),
    "flex-precision": lambda: several(
        "FlexAttention", *[(1, 2, 4, 5)] * 3, domain=PREVIEW, softmax_precision=7
    ),
}
