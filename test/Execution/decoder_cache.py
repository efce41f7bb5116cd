# SPDX-License-Identifier: MIT
"""A decoder with a cache of keys and values, as exporters write them: decoder_cache.py FOLDER

The names of sizes are those of onnxruntime-genai, or made up by PyTorch; the cache
is joined by Concat, or by Attention. The total length is a size of its own.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

WORDS, WIDTH, HEADS, GROUPS, LONGEST = 11, 16, 4, 2, 32
SIZE = WIDTH // HEADS
FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
random = np.random.default_rng(0)
WEIGHTS = {
    name: random.standard_normal(shape).astype("f4") / 2
    for name, shape in {"words": (WORDS, WIDTH), "places": (LONGEST, WIDTH), "wq": (WIDTH, WIDTH),
                        "wk": (WIDTH, GROUPS * SIZE), "wv": (WIDTH, GROUPS * SIZE)}.items()
}
GENAI = ("batch_size", "sequence_length", "past_sequence_length", "total_sequence_length")
CASES = ((2, 3, 5), (1, 1, 7), (1, 4, 0), (3, 2, 1))


def decoder(names, op):
    batch, length, past, total = names
    constants = [numpy_helper.from_array(array, name) for name, array in WEIGHTS.items()]
    nodes = []

    def node(op, inputs, output, **attributes):
        places = []
        for each in inputs:
            if not isinstance(each, str):
                array = np.asarray(each, "f4" if isinstance(each, float) else "i8")
                constants.append(numpy_helper.from_array(array, f"c{len(constants)}"))
                each = constants[-1].name
            places.append(each)
        nodes.append(helper.make_node(op, places, [output], output, **attributes))
        return output

    def size(of, axis):
        shape = node("Shape", [of], f"shape{len(nodes)}")
        return node("Gather", [shape, axis], f"size{len(nodes)}", axis=0)

    # Positions behind the past, of a Range from a size to the sum of two.
    first = size("past_key", 2)
    last = node("Add", [first, size("input_ids", 1)], "last")
    positions = node("Range", [first, last, 1], "positions")
    x = node("Add", [node("Gather", ["words", "input_ids"], "embedded"),
                     node("Gather", ["places", positions], "placed")], "x")
    # A query sees what is not behind it, and what the mask has.
    row = node("Unsqueeze", [node("Range", [0, last, 1], "keys"), [0]], "row")
    column = node("Unsqueeze", [positions, [1]], "column")
    before = node("LessOrEqual", [row, column], "before")
    kept = node("Unsqueeze", [node("Cast", ["attention_mask"], "kept", to=TensorProto.BOOL), [1, 2]], "kept4")
    sees = node("And", [kept, before], "sees")
    mask = node("Where", [sees, 0.0, -10000.0], "mask")
    split = {}
    for name, heads in (("q", HEADS), ("k", GROUPS), ("v", GROUPS)):
        y = node("MatMul", [x, f"w{name}"], f"{name}0")
        y = node("Reshape", [y, [0, 0, heads, SIZE]], f"{name}1")
        split[name] = node("Transpose", [y], f"{name}2", perm=[0, 2, 1, 3])
    if op == "Attention":
        nodes.append(helper.make_node("Attention", [*split.values(), mask, "past_key", "past_value"],
                                      ["mixed", "present_key", "present_value"], "attention"))
    else:
        wide = {}
        for name, full in (("k", "key"), ("v", "value")):
            all_ = node("Concat", [f"past_{full}", split[name]], f"present_{full}", axis=2)
            each = node("Unsqueeze", [all_, [2]], f"{name}3")
            each = node("Expand", [each, [1, 1, HEADS // GROUPS, 1, 1]], f"{name}4")
            # By sizes that Shape has, as exporters do.
            form = node("Concat", [node("Unsqueeze", [size(all_, 0), [0]], f"{name}b"), [HEADS],
                                   node("Unsqueeze", [size(all_, 2), [0]], f"{name}n"), [SIZE]], f"{name}5", axis=0)
            wide[name] = node("Reshape", [each, form], f"{name}6")
        scores = node("MatMul", [split["q"], node("Transpose", [wide["k"]], "kt", perm=[0, 1, 3, 2])], "scores")
        scores = node("Mul", [scores, float(SIZE ** -0.5)], "scaled")
        weights = node("Softmax", [node("Add", [scores, mask], "masked")], "weights", axis=-1)
        node("MatMul", [weights, wide["v"]], "mixed")
    node("Reshape", [node("Transpose", ["mixed"], "back", perm=[0, 2, 1, 3]), [0, 0, WIDTH]], "joined")
    # The last position alone, as where words are generated.
    node("Slice", ["joined", [-1], [2**31 - 1], [1]], "y")

    def value(name, kind, *shape):
        return helper.make_tensor_value_info(name, kind, shape)

    cache = (batch, GROUPS, past, SIZE)
    grown = (None, GROUPS, None, SIZE)
    graph = helper.make_graph(
        nodes, "decoder",
        [value("input_ids", INT64, batch, length), value("attention_mask", INT64, batch, total),
         value("past_key", FLOAT, *cache), value("past_value", FLOAT, *cache)],
        [value("y", FLOAT, None, 1, WIDTH), value("present_key", FLOAT, *grown),
         value("present_value", FLOAT, *grown)], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23 if op == "Attention" else 17)])
    model.ir_version = 10
    return model.SerializeToString()


def expected(tokens, mask, key, value):
    """In NumPy, in f64."""
    w = {name: array.astype("f8") for name, array in WEIGHTS.items()}
    (batch, length), past = tokens.shape, key.shape[2]
    x = w["words"][tokens] + w["places"][past : past + length]
    q, k, v = ((x @ w["w" + n]).reshape(batch, length, -1, SIZE).transpose(0, 2, 1, 3) for n in "qkv")
    k, v = np.concatenate([key, k], 2), np.concatenate([value, v], 2)
    scores = q @ np.repeat(k, HEADS // GROUPS, 1).transpose(0, 1, 3, 2) * SIZE ** -0.5
    sees = mask.astype(bool)[:, None, None] & (np.arange(past + length) <= np.arange(past, past + length)[:, None])
    weights = np.exp(scores + np.where(sees, 0, -10000) - scores.max(-1, keepdims=True))
    mixed = weights / weights.sum(-1, keepdims=True) @ np.repeat(v, HEADS // GROUPS, 1)
    return mixed.transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)[:, -1:], k, v


def run(folder, arrays, *options):
    given = []
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
        given += ["--input", f"{name}={folder}/{name}.npy"]
    return subprocess.run(["numera", "run", folder / "decoder.onnx", *given, "--output-dir", folder, *options],
                          capture_output=True, text=True, check=False)


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for label, names in (("genai", GENAI), ("automatic", ("s0", "s1", "s2", "s3"))):
        for op in ("Concat", "Attention"):
            (folder / "decoder.onnx").write_bytes(decoder(names, op))
            for batch, length, past in CASES:
                arrays = {"input_ids": random.integers(0, WORDS, (batch, length)),
                          "attention_mask": np.ones((batch, past + length), "i8")}
                arrays["attention_mask"][-1, : past // 2] = 0
                for name in ("past_key", "past_value"):
                    arrays[name] = random.standard_normal((batch, GROUPS, past, SIZE)).astype("f4")
                done = run(folder, arrays)
                assert done.returncode == 0, done.stderr
                for name, wanted in zip(("y", "present_key", "present_value"), expected(*arrays.values())):
                    np.testing.assert_allclose(np.load(folder / f"{name}.npy"), wanted, rtol=1e-4, atol=1e-5)
            print(f"{label} {op}: as NumPy")
    arrays["attention_mask"] = np.ones((batch, past + length + 1), "i8")
    print("a longer mask:", run(folder, arrays).stderr.strip())


main(Path(sys.argv[1]))
