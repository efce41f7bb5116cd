# SPDX-License-Identifier: MIT
"""LSTM, GRU and RNN against the equations of the ONNX standard.

    recurrent.py FOLDER

The equations are evaluated sequence by sequence and step by step, with every
operation rounded to the format, and so are products: their results have the same
bits. Prints a line for each format and kind of model.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import IS_MIRRORED
from onnx import TensorProto, helper, numpy_helper, save

STEPS, BATCH, INPUTS, HIDDEN = 5, 3, 4, 3
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
USUAL = {
    "LSTM": ["Sigmoid", "Tanh", "Tanh"],
    "GRU": ["Sigmoid", "Tanh"],
    "RNN": ["Tanh"],
}


def in_float(bits, least, most):
    """Rounds f64 to floats of `bits` significant bits, ties to even."""

    def rounded(x):
        x = np.asarray(x, "f8")
        with np.errstate(all="ignore"):
            exponent = np.frexp(x)[1] - 1
            unit = np.exp2(np.maximum(exponent, least) - bits + 1.0)
            y = np.where(np.isfinite(x), np.rint(x / unit) * unit, x)
        return np.where(np.abs(y) >= 2.0 ** (most + 1), np.copysign(np.inf, y), y)

    return rounded


FORMATS = {
    "f32": in_float(24, -126, 127),
    "bf16": in_float(8, -126, 127),
    "float<5,3>": in_float(4, -14, 15),
}


class Equations:
    """What one node gives, by the text of the operators."""

    def __init__(self, op, attributes, tensors, rounded):
        self.op, self.given, self.tensors, self.r = op, attributes, tensors, rounded

    def add(self, *terms):
        total = terms[0]
        for term in terms[1:]:
            total = self.r(total + term)
        return total

    def mul(self, x, y):
        return self.r(x * y)

    def dot(self, row, matrix):
        """row times the transpose of the matrix, k ascending."""
        total = np.zeros(len(matrix))
        for k, x in enumerate(row):
            total = self.r(total + self.r(x * matrix[:, k]))
        return total

    def function(self, name, alpha, beta, x):
        r = self.r
        if name == "tanh":
            return r(np.tanh(x))
        if name == "sigmoid":
            return r(1 / r(r(np.exp(-x)) + 1))
        if name == "relu":
            return np.maximum(x, 0)
        if name == "affine":
            return r(r(x * r(alpha)) + r(beta))
        if name == "scaledtanh":
            return r(r(np.tanh(r(x * r(beta)))) * r(alpha))
        if name == "leakyrelu":
            return np.where(x < 0, r(x * r(alpha)), x)
        if name == "thresholdedrelu":
            return np.where(x >= r(alpha), x, 0)
        if name == "hardsigmoid":
            return np.maximum(np.minimum(r(r(x * r(alpha)) + r(beta)), 1), 0)
        if name == "elu":
            return np.where(x < 0, r(r(r(np.exp(x)) - 1) * r(alpha)), x)
        if name == "softsign":
            return r(x / r(1 + np.abs(x)))
        assert name == "softplus", name
        return r(np.maximum(x, 0) + r(np.log1p(r(np.exp(-np.abs(x))))))

    def functions(self, directions):
        names = self.given.get("activations", USUAL[self.op] * directions)
        alphas = list(self.given.get("activation_alpha", []))
        betas = list(self.given.get("activation_beta", []))
        defaults = {
            "affine": (1, 0),
            "leakyrelu": (0.01, 0),
            "thresholdedrelu": (1, 0),
            "hardsigmoid": (0.2, 0.5),
            "elu": (1, 0),
            "scaledtanh": (0, 0),
        }
        two = {"affine", "scaledtanh", "hardsigmoid"}
        found = []
        for name in map(str.lower, names):
            alpha, beta = defaults.get(name, (0, 0))
            if name in defaults and alphas:
                alpha = alphas.pop(0)
            if name in two and betas:
                beta = betas.pop(0)
            alpha, beta = float(np.float32(alpha)), float(np.float32(beta))
            found.append(
                lambda x, name=name, a=alpha, b=beta: self.function(name, a, b, x)
            )
        count = len(USUAL[self.op])
        return [found[d * count : (d + 1) * count] for d in range(directions)]

    def gate(self, f, x):
        if "clip" in self.given:
            bound = self.r(np.float32(self.given["clip"]))
            x = np.clip(x, -bound, bound)
        return f(x)

    def biased(self, direction, place, *terms):
        """The terms and the biases Wb and Rb of the gate at `place`."""
        if "B" not in self.tensors:
            return self.add(*terms)
        half = GATES[self.op] * HIDDEN
        biases = self.tensors["B"][direction]
        return self.add(*terms, biases[:half][place], biases[half:][place])

    def step(self, d, functions, x, h, c):
        t = self.tensors
        place = [slice(i * HIDDEN, (i + 1) * HIDDEN) for i in range(4)]
        w = [t["W"][d][place[i]] for i in range(GATES[self.op])]
        r = [t["R"][d][place[i]] for i in range(GATES[self.op])]
        f, g, bend = (*functions, None, None)[:3]

        def gate(function, i, *more):
            terms = (self.dot(x, w[i]), self.dot(h, r[i]), *more)
            return self.gate(function, self.biased(d, place[i], *terms))

        if self.op == "RNN":
            return gate(f, 0), c
        if self.op == "GRU":
            z, reset = gate(f, 0), gate(f, 1)
            zero = np.zeros(3 * HIDDEN)
            biases = t["B"][d] if "B" in t else np.zeros(6 * HIDDEN)
            wb, rb = (
                part[place[2]] for part in (biases[: len(zero)], biases[len(zero) :])
            )
            if self.given.get("linear_before_reset"):
                linear = self.mul(reset, self.add(self.dot(h, r[2]), rb))
                s = self.add(self.dot(x, w[2]), linear, wb)
            else:
                s = self.add(
                    self.dot(x, w[2]), self.dot(self.mul(reset, h), r[2]), rb, wb
                )
            fresh = self.gate(g, s)
            return self.add(self.mul(self.r(1 - z), fresh), self.mul(z, h)), c

        def peep(i, state):
            return [self.mul(t["P"][d][place[i]], state)] if "P" in t else []

        i = gate(f, 0, *peep(0, c))
        forget = (
            self.r(1 - i) if self.given.get("input_forget") else gate(f, 2, *peep(2, c))
        )
        c = self.add(self.mul(forget, c), self.mul(i, gate(g, 3)))
        o = gate(f, 1, *peep(1, c))
        return self.mul(o, bend(c)), c

    def results(self):
        t = {name: np.asarray(value) for name, value in self.tensors.items()}
        first = self.given.get("layout", 0)
        x, directions = t["X"], len(t["W"])
        if first:
            x = x.swapaxes(0, 1)
        steps, batch = x.shape[:2]
        y = np.zeros((steps, directions, batch, HIDDEN))
        zero = np.zeros((directions, batch, HIDDEN))

        def state(name):
            if name not in t:
                return zero.copy()
            return (t[name].swapaxes(0, 1) if first else t[name]).copy()

        states = state("initial_h"), state("initial_c")
        functions = self.functions(directions)
        lengths = t.get("sequence_lens", np.full(batch, steps))
        for d in range(directions):
            backwards = d == 1 or self.given.get("direction") == "reverse"
            for b in range(batch):
                h, c = states[0][d, b], states[1][d, b]
                order = range(lengths[b])
                for s in reversed(order) if backwards else order:
                    h, c = self.step(d, functions[d], x[s, b], h, c)
                    y[s, d, b] = h
                states[0][d, b], states[1][d, b] = h, c
        if first:
            states = [s.swapaxes(0, 1) for s in states]
            y = y.transpose(2, 0, 1, 3)
        return [y, *states][: 3 if self.op == "LSTM" else 2]


NAMES = ("X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P")
ALL = ("B", "sequence_lens", "initial_h", "initial_c", "P")
# Operator, its optional inputs, which results, attributes.
CASES = [
    ("LSTM", ("B",), "yhc", {}),
    ("LSTM", ALL, "yhc", {"direction": "bidirectional", "clip": 0.4}),
    (
        "LSTM",
        ("B", "initial_c"),
        "yc",
        {
            "direction": "reverse",
            "input_forget": 1,
            "layout": 1,
            "activations": ["HardSigmoid", "affine", "ScaledTanh"],
            "activation_alpha": [0.3, 1.5, 0.7],
            "activation_beta": [0.4, 0.2, 1.2],
        },
    ),
    ("LSTM", ("sequence_lens", "P"), "c", {"input_forget": 1}),
    ("GRU", ALL[:3], "yh", {"direction": "bidirectional", "linear_before_reset": 1}),
    (
        "GRU",
        (),
        "h",
        {"direction": "reverse", "clip": 0.5, "activations": ["elu", "SOFTSIGN"]},
    ),
    ("GRU", ("B", "sequence_lens"), "yh", {"direction": "reverse", "layout": 1}),
    (
        "RNN",
        ("B", "initial_h"),
        "yh",
        {
            "direction": "bidirectional",
            "activations": ["Relu", "LeakyRelu"],
            "activation_alpha": [0.3],
        },
    ),
    ("RNN", ("B",), "y", {"activations": ["Softplus"]}),
    (
        "RNN",
        ("B", "sequence_lens"),
        "y",
        {"activations": ["ThresholdedRelu"], "activation_alpha": [0.125]},
    ),
]


def tensors_of(case, generator):
    op, optional, _, attributes = case
    d = 2 if attributes.get("direction") == "bidirectional" else 1
    rows = GATES[op] * HIDDEN
    state = (BATCH, d, HIDDEN) if attributes.get("layout") else (d, BATCH, HIDDEN)
    x = (BATCH, STEPS, INPUTS) if attributes.get("layout") else (STEPS, BATCH, INPUTS)
    shapes = {
        "X": x,
        "W": (d, rows, INPUTS),
        "R": (d, rows, HIDDEN),
        "B": (d, 2 * rows),
        "initial_h": state,
        "initial_c": state,
        "P": (d, 3 * HIDDEN),
    }
    found = {}
    for name in NAMES:
        if name == "sequence_lens" and name in optional:
            found[name] = np.array([STEPS, 0, 3], "i4")
        elif name in optional or name in "XWR":
            # Quarters and smaller: numbers of all formats.
            found[name] = generator.integers(-7, 8, shapes[name]) / 8
    return found


def model_of(
    cases,
    tensors,
    folder,
    element=TensorProto.FLOAT,
    opset=14,
    known=(),
    open_axis=None,
):
    """One node for each case. Names in `known` are initializers, the others inputs."""
    nodes, inputs, outputs, initializers, arrays = [], [], [], [], []
    for n, ((op, _, results, attributes), given) in enumerate(
        zip(cases, tensors, strict=True)
    ):
        for name, value in given.items():
            kind = TensorProto.INT32 if name == "sequence_lens" else element
            array = (
                value
                if name == "sequence_lens"
                else value.astype({1: "f4", 10: "f2", 11: "f8"}[element])
            )
            if name == "sequence_lens" and name not in known:
                # Outside the sequence, where they are taken to be its ends.
                array = np.select([value == 0, value == STEPS], [-2, STEPS + 4], value)
                array = array.astype("i4")
            if name in known:
                initializers.append(numpy_helper.from_array(array, f"{name}{n}"))
                continue
            shape = list(array.shape)
            if open_axis and name in open_axis:
                shape[0] = "N"
            inputs.append(helper.make_tensor_value_info(f"{name}{n}", kind, shape))
            arrays.append(folder / f"{name}{n}.npy")
            np.save(arrays[-1], array)
        letters = "yhc" if op == "LSTM" else "yh"
        names = [f"{letter}{n}" if letter in results else "" for letter in letters]
        while not names[-1]:
            names.pop()
        places = [f"{name}{n}" if name in given else "" for name in NAMES]
        while not places[-1]:
            places.pop()
        nodes.append(helper.make_node(op, places, names, name=f"node{n}", **attributes))
        outputs += [
            helper.make_tensor_value_info(name, element, None) for name in names if name
        ]
    graph = helper.make_graph(nodes, "recurrent", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", opset)]
    save(
        helper.make_model(graph, opset_imports=opsets, ir_version=7),
        folder / "model.onnx",
    )
    return arrays


def run(folder, arrays, *options):
    command = ["numera", "run", folder / "model.onnx", "--output-dir", folder, *options]
    for array in arrays:
        command += ["--input", array]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def compare(cases, tensors, folder, rounded, finish, same):
    count = 0
    for n, (case, given) in enumerate(zip(cases, tensors, strict=True)):
        op, _, results, attributes = case
        values = {
            name: value if name == "sequence_lens" else rounded(value)
            for name, value in given.items()
        }
        for letter, expected in zip(
            "yhc", Equations(op, attributes, values, rounded).results(), strict=False
        ):
            if letter not in results:
                continue
            found = np.load(folder / f"{letter}{n}.npy")
            expected = finish(expected)
            assert found.shape == expected.shape, (
                n,
                letter,
                found.shape,
                expected.shape,
            )
            assert same(found.astype("f8"), expected), (
                n,
                case,
                letter,
                found,
                expected,
            )
            assert np.unique(found).size > 3 and np.isfinite(found).all(), (n, letter)
            count += found.size
    return count


def close(found, expected):
    return np.allclose(found, expected, rtol=1e-12, atol=1e-14)


def main(folder):
    generator = np.random.default_rng(5)
    tensors = [tensors_of(case, generator) for case in CASES]
    quick = ("--optimization", "0")
    arrays = model_of(CASES, tensors, folder, known=NAMES[1:])
    for name, rounded in FORMATS.items():
        if IS_MIRRORED and name != "bf16":
            continue
        run(folder, arrays, "--format", name, "--accumulate", "same", *quick)
        count = compare(CASES, tensors, folder, rounded, lambda x: x, np.array_equal)
        print(f"{name}: {count} numbers, the same")
    if IS_MIRRORED:
        return

    # Weights, states and lengths that are inputs, in the types of ONNX: f16 is
    # computed with in f32.
    arrays = model_of(CASES, tensors, folder, TensorProto.DOUBLE)
    run(folder, arrays, *quick)
    count = compare(CASES, tensors, folder, lambda x: x, lambda x: x, close)
    print(f"DOUBLE: {count} numbers, the same")
    arrays = model_of(CASES, tensors, folder, TensorProto.FLOAT16, known=NAMES[1:4])
    run(folder, arrays, "--accumulate", "same", *quick)
    count = compare(
        CASES, tensors, folder, FORMATS["f32"], in_float(11, -14, 15), np.array_equal
    )
    print(f"FLOAT16: {count} numbers, the same")

    # An open batch, and an open number of steps; the first version of today's
    # meaning.
    for name, layout, opset in (("batch", 1, 14), ("steps", 0, 7)):
        cases = [
            (op, optional, "yh", {**attributes, **({"layout": 1} if layout else {})})
            for op, optional, _, attributes in CASES
            if "layout" not in attributes
        ]
        given = [tensors_of(case, generator) for case in cases]
        axis = ("X", "sequence_lens", "initial_h", "initial_c") if layout else ("X",)
        arrays = model_of(
            cases,
            given,
            folder,
            opset=opset,
            known=("W", "R", "B", "P"),
            open_axis=axis,
        )
        run(folder, arrays, "--accumulate", "same", *quick)
        count = compare(
            cases, given, folder, FORMATS["f32"], lambda x: x, np.array_equal
        )
        print(f"open {name}: {count} numbers, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
