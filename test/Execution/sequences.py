# SPDX-License-Identifier: MIT
"""An encoder on tokens of any batch and length: sequences.py FOLDER

It has what PyTorch exports: positions that a Slice takes as far as the sequence goes,
a mask expanded by Where and Equal, a causal mask of two Ranges, heads that Reshape
splits off by 0 and -1, types of tokens by GatherElements, a mean over the sequence.
"""
import subprocess
import sys
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper

WORDS, WIDTH, HEADS, LONGEST = 11, 8, 2, 16
FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
random = np.random.default_rng(0)
WEIGHTS = {
    name: random.standard_normal(shape).astype("f4") / 2
    for name, shape in {
        "words": (WORDS, WIDTH), "places": (LONGEST, WIDTH), "types": (2, WIDTH), "scale": (WIDTH,),
        "shift": (WIDTH,), "wq": (WIDTH, WIDTH), "wk": (WIDTH, WIDTH), "wv": (WIDTH, WIDTH)}.items()
}
KINDS = np.arange(LONGEST)[None] % 2


def value(name, kind, *shape):
    return helper.make_tensor_value_info(name, kind, shape)


def encoder(sizes=(("batch", "sequence"), ("batch", "sequence"))):
    nodes, constants = [], []

    def node(op, inputs, output, **attributes):
        nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def ints(*numbers):
        name = "i" + "_".join(map(str, numbers)).replace("-", "m")
        if name not in [c.name for c in constants]:
            constants.append(numpy_helper.from_array(np.array(numbers, "i8"), name))
        return name

    def scalar(number):
        name = f"s{number}".replace("-", "m")
        if name not in [c.name for c in constants]:
            constants.append(numpy_helper.from_array(np.array(number, "i8"), name))
        return name

    constants += [numpy_helper.from_array(array, name) for name, array in WEIGHTS.items()]
    constants.append(numpy_helper.from_array(KINDS.astype("i8"), "kinds"))
    constants.append(numpy_helper.from_array(np.array(-1e9, "f4"), "low"))
    constants.append(numpy_helper.from_array(np.array((WIDTH // HEADS) ** -0.5, "f4"), "share"))
    node("Shape", ["tokens"], "shape")
    b = node("Gather", ["shape", ints(0)], "b")
    s = node("Gather", ["shape", ints(1)], "s")
    one = node("Squeeze", [s, ints(0)], "length")
    # Words, positions, types.
    node("Gather", ["words", "tokens"], "embedded")
    node("Slice", ["places", ints(0), s, ints(0)], "slice")
    node("Add", ["embedded", "slice"], "placed")
    node("Concat", [b, s], "both", axis=0)
    node("Slice", ["kinds", ints(0), s, ints(1)], "some")
    node("Expand", ["some", "both"], "chosen")
    node("Expand", ["kinds", node("Concat", [b, ints(LONGEST)], "all", axis=0)], "every")
    node("Cast", [node("CumSum", [node("Mul", ["chosen", scalar(0)], "none"), scalar(1)], "zeros")], "start", to=INT64)
    node("Range", [scalar(0), one, scalar(1)], "steps")
    node("Add", ["start", "steps"], "indices")
    node("GatherElements", ["every", "indices"], "kind", axis=1)
    node("Add", ["placed", node("Gather", ["types", "kind"], "typed")], "sum")
    node("LayerNormalization", ["sum", "scale", "shift"], "x", axis=-1)
    # Which place sees which.
    node("Concat", [b, ints(1), s, s], "square", axis=0)
    node("Equal", ["square", node("Mul", [node("ConstantOfShape", [node("Shape", ["square"], "rank")], "ones",
         value=numpy_helper.from_array(np.ones(1, "i8"))), scalar(-1)], "minus")], "open")
    node("Where", ["open", "ones", "square"], "wanted")
    node("Unsqueeze", [node("Cast", ["mask"], "kept", to=BOOL), ints(1, 2)], "keys")
    node("Expand", ["keys", "wanted"], "spread")
    node("Unsqueeze", ["steps", ints(1)], "column")
    node("LessOrEqual", ["steps", "column"], "causal")
    node("And", ["spread", "causal"], "sees")
    # Attention.
    for name in "qkv":
        product = node("MatMul", ["x", "w" + name], name + "1")
        split = node("Reshape", [product, ints(0, 0, HEADS, -1)], name + "2")
        node("Transpose", [split], name, perm=[0, 2, 3, 1] if name == "k" else [0, 2, 1, 3])
    node("Mul", [node("MatMul", ["q", "k"], "scores0"), "share"], "scores")
    node("Softmax", [node("Where", ["sees", "scores", "low"], "masked")], "shares", axis=-1)
    node("Transpose", [node("MatMul", ["shares", "v"], "heads")], "joined", perm=[0, 2, 1, 3])
    node("Reshape", ["joined", node("Concat", [b, s, ints(WIDTH)], "flat", axis=0)], "y")
    node("ReduceMean", ["y"], "pooled", axes=[1], keepdims=0)
    node("Slice", ["y", ints(-1), ints(2**62), ints(1)], "last")
    inputs = [value("tokens", INT64, *sizes[0]), value("mask", INT64, *sizes[1])]
    outputs = [value("y", FLOAT, *sizes[0], WIDTH), value("pooled", FLOAT, sizes[0][0], WIDTH),
               value("last", FLOAT, sizes[0][0], 1, WIDTH)]
    return helper.make_graph(nodes, "encoder", inputs, outputs, constants)


def rows(batch):
    """An LSTM on two sequences for each row, and updates of a few elements."""
    random = np.random.default_rng(3)
    constants = [numpy_helper.from_array(random.standard_normal(shape).astype("f4"), name)
                 for name, shape in {"w": (2, 12, 6), "r": (2, 12, 3)}.items()]
    constants += [numpy_helper.from_array(np.array(numbers, "i8"), name)
                  for name, numbers in {"split": [-1, 2, 6], "places": [[[0, 3], [2, 1]]], "one": [1, 1], "cut": [0],
                                        "first": [1], "two": [2, 2], "half": [2], "axis": [1]}.items()]
    nodes = [
        helper.make_node("Reshape", ["x", "split"], ["halves"]),
        helper.make_node("Transpose", ["halves"], ["steps"], perm=[1, 0, 2]),
        helper.make_node("LSTM", ["steps", "w", "r"], ["y", "h"], hidden_size=3, direction="bidirectional"),
        helper.make_node("Gather", ["x", "one"], ["some"], axis=2),
        helper.make_node("Shape", ["some"], ["sizes"]),
        helper.make_node("Slice", ["sizes", "cut", "first", "cut"], ["n"]),
        helper.make_node("Concat", ["n", "two"], ["wide"], axis=0),
        helper.make_node("Expand", ["places", "wide"], ["indices"]),
        helper.make_node("Slice", ["some", "cut", "half", "axis"], ["updates"]),
        helper.make_node("ScatterElements", ["x", "indices", "updates"], ["z"], axis=1, reduction="add"),
    ]
    return helper.make_graph(nodes, "rows", [value("x", FLOAT, batch, 4, 6)],
                             [value("y", FLOAT, 2, 2, None, 3), value("z", FLOAT, batch, 4, 6)], constants)


def compare_rows(folder):
    x = np.random.default_rng(4).standard_normal((3, 4, 6)).astype("f4")
    np.save(folder / "x.npy", x)
    results = []
    for batch in ("N", 3):
        save(rows(batch), folder / "rows.onnx")
        subprocess.run(["numera", "run", folder / "rows.onnx", "--input", folder / "x.npy", "--output-dir",
                        folder / "out"], check=True, capture_output=True)
        results.append([np.load(folder / f"out/{name}.npy") for name in ("y", "z")])
    for one, other in zip(*results):
        assert np.array_equal(one, other)
    wanted = x.copy()
    for n in range(3):
        for (i, j), place in np.ndenumerate([[0, 3], [2, 1]]):
            wanted[n, place, j] += x[n, i, 1]
    assert np.array_equal(results[0][1], wanted)
    assert results[0][0].shape == (2, 2, 6, 3)
    print("rows of N and of 3: the same bits")


def names(folder):
    """Sizes by their names, wherever these stand; what is found out when a program runs."""
    x = np.arange(12, dtype="f4").reshape(3, 4)
    place = numpy_helper.from_array(np.array([1], "i8"), "axis")

    def ints(name, number):
        return numpy_helper.from_array(np.array([number], "i8"), name)

    def result(label, nodes, shapes, arrays, constants=()):
        graph = helper.make_graph(
            nodes, "sizes", [value(n, INT64 if n == "i" else FLOAT, *shape) for n, shape in shapes.items()],
            [helper.make_tensor_value_info("y", FLOAT, None)], list(constants))
        save(graph, folder / "sizes.onnx")
        given = []
        for name, array in zip(shapes, arrays):
            np.save(folder / f"{name}.npy", array)
            given += ["--input", f"{name}={folder}/{name}.npy"]
        done = subprocess.run(["numera", "run", folder / "sizes.onnx", *given, "--output-dir", folder / "out"],
                              capture_output=True, text=True, check=False)
        print(f"{label}:", np.load(folder / "out/y.npy").tolist() if done.returncode == 0 else done.stderr.strip())

    product = [helper.make_node("MatMul", ["x", "w"], ["y"])]
    inner = {"x": (3, "K"), "w": ("K", 1)}
    result("inner", product, inner, [x, np.ones((4, 1), "f4")])
    result("inner of 5", product, inner, [x, np.ones((5, 1), "f4")])
    square = [helper.make_node("Transpose", ["x"], ["t"], perm=[1, 0]), helper.make_node("Add", ["x", "t"], ["y"])]
    result("square", square, {"x": ("s10", "s10")}, [x[:2, :2]])
    twice = [helper.make_node("ReduceSum", [n], [n + "s"], keepdims=0) for n in "xw"]
    result("two lengths", [*twice, helper.make_node("Add", ["xs", "ws"], ["y"])],
           {"x": ("s1", "s2"), "w": ("s1", "s3")}, [x, np.ones((3, 7), "f4")])
    result("five", [helper.make_node("Relu", ["x"], ["y"])], {"x": tuple("abcde")}, [np.ones((1,) * 5, "f4")])
    cut = [helper.make_node("Slice", ["x", "start", "end", "axis"], ["y"])]
    open_ = {"x": ("n", "k")}
    for start, end in ((-5, 2**62), (-1, 2**62), (-2**63, 1), (3, 1)):
        result(f"{start} to {end}", cut, open_, [x[:1]], [ints("start", start), ints("end", end), place])
    whole = [helper.make_node("Slice", ["x", "start", "end", "axis"], ["t"]), helper.make_node("Add", ["x", "t"], ["y"])]
    result("all", whole, open_, [x[:1]], [ints("start", 0), ints("end", 2**31 - 1), place])
    gather = [helper.make_node("GatherElements", ["x", "i"], ["y"], axis=1)]
    taken = {"x": ("n", "v"), "i": ("n", 2)}
    result("gathered", gather, taken, [x[:1], np.array([[3, -4]])])
    result("of nothing", gather, taken, [x[:1, :0], np.array([[0, 0]])])


def save(graph, path):
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())


def expected(tokens, mask):
    """In NumPy, in f64."""
    w = {name: array.astype("f8") for name, array in WEIGHTS.items()}
    batch, length = tokens.shape
    x = w["words"][tokens] + w["places"][:length] + w["types"][KINDS[0, :length]]
    x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * w["scale"] + w["shift"]
    q, k, v = ((x @ w["w" + n]).reshape(batch, length, HEADS, -1).transpose(0, 2, 1, 3) for n in "qkv")
    scores = q @ k.transpose(0, 1, 3, 2) * (WIDTH // HEADS) ** -0.5
    sees = mask.astype(bool)[:, None, None] & np.tri(length, dtype=bool)
    scores = np.where(sees, scores, -1e9)
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    shares /= shares.sum(-1, keepdims=True)
    y = (shares @ v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
    return {"y": y, "pooled": y.mean(1), "last": y[:, -1:]}


def inputs(batch, length):
    made = np.random.default_rng(batch * 100 + length)
    mask = (np.arange(length) < made.integers(1, length + 1, (batch, 1))).astype("i8")
    return made.integers(0, WORDS, (batch, length)), mask


def run(program, folder, tokens, mask, *options):
    np.save(folder / "tokens.npy", tokens)
    np.save(folder / "mask.npy", mask)
    done = subprocess.run(
        ["numera", "run", program, "--input", f"tokens={folder}/tokens.npy", "--input",
         f"mask={folder}/mask.npy", "--output-dir", folder / "out", *options],
        capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()
    return {name: np.load(folder / f"out/{name}.npy") for name in ("y", "pooled", "last")}


def compare(program, folder, batch, length):
    tokens, mask = inputs(batch, length)
    got, wanted = run(program, folder, tokens, mask), expected(tokens, mask)
    for name, array in wanted.items():
        assert got[name].shape == array.shape, (name, got[name].shape)
        error = abs(got[name] - array).max() / abs(array).max()
        assert error < 2e-6, (name, batch, length, error)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir()
    save(encoder(), folder / "encoder.onnx")
    program = folder / "encoder.so"
    subprocess.run(["numera", "compile", folder / "encoder.onnx", "-o", program], check=True)
    sizes = [(1, 1), (1, 7), (3, 5), (2, LONGEST)]
    for size in sizes:
        compare(program, folder, *size)
    print(f"encoder {', '.join(f'{b}x{s}' for b, s in sizes)}: as NumPy")

    # PyTorch names the sizes of each input.
    save(encoder((("s10", "s53"), ("s86", "s37"))), folder / "automatic.onnx")
    compare(folder / "automatic.onnx", folder, 3, 5)
    print("encoder of automatic names 3x5: as NumPy")

    # The sizes of a model that knows them give the same bits.
    save(encoder(((3, 5), (3, 5))), folder / "fixed.onnx")
    both = [run(folder / f"{name}.onnx", folder, *inputs(3, 5), "--format", "posit16", "--accumulate", "quire")
            for name in ("encoder", "fixed")]
    for name in both[0]:
        assert np.array_equal(both[0][name], both[1][name]), name
    print("pooled posit16 3x5: the bits of 3x5 alone")

    compare_rows(folder)
    names(folder)

    tokens, mask = inputs(3, 5)
    print("mask of 3x4:", run(program, folder, tokens, mask[:, :4]))
    print("mask of 2x5:", run(program, folder, tokens, mask[:2]))
    print("1x17:", run(program, folder, *inputs(1, LONGEST + 1)))
    graph = helper.make_graph(
        [helper.make_node("LRN", ["x"], ["y"], name="the_node", size=3)], "lrn",
        [value("x", FLOAT, "N", 3, "length")], [value("y", FLOAT, "N", 3, "length")])
    save(graph, folder / "lrn.onnx")
    done = subprocess.run(["numera", "compile", folder / "lrn.onnx", "-o", folder / "lrn.so"],
                          capture_output=True, text=True, check=False)
    print("unknown size:", done.stderr.strip())


main()
