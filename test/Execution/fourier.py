# SPDX-License-Identifier: MIT
"""DFT and STFT against the sums that they are, and against numpy.fft.

    fourier.py FOLDER [declared]

In a format every product and every sum is rounded, in order, and the results have
the same bits; in f64 they are close to numpy's. With `declared`, only the last transform of
each kind is run, whose axis and step are inputs.
"""

import subprocess
import sys
from pathlib import Path

import numpy as np
from chosen import IS_MIRRORED
from onnx import TensorProto, helper, numpy_helper, save
from recurrent import FORMATS

# Shape, length, axis, attributes; the axis is an attribute, or an input of the
# model where it is written as a text.
TRANSFORMS = [
    ([2, 6, 5, 1], None, None, {}),
    ([2, 6, 5, 1], 8, 2, {}),
    ([2, 6, 5, 2], 3, -3, {}),
    ([2, 6, 5, 2], None, -2, {"inverse": 1}),
    ([2, 7, 1], None, 1, {"onesided": 1}),
    ([2, 12, 1], 9, 1, {"onesided": 1, "inverse": 0}),
    ([3, 4, 3, 2], None, 1, {"onesided": 1, "inverse": 1}),
    ([3, 4, 3, 2], 7, 1, {"onesided": 1, "inverse": 1}),
    ([3, 4, 3, 2], 4, 1, {"onesided": 1, "inverse": 1}),
    ([3, 1], None, 0, {"inverse": 1}),
    ([1, 3, 2], 1, 1, {}),
    ([1, 3, 16, 1], None, "2", {}),
    ([1, 3, 3, 1], None, "-3", {"inverse": 1}),
    ([4, 6, 1], None, "1", {"onesided": 1}),
]
# Shape, step, window, length, attributes; a step as a text is an input.
SHORT = [
    ([2, 20, 1], 4, 8, None, {}),
    ([2, 20, 1], 3, None, 7, {"onesided": 0}),
    ([1, 11, 2], 5, 5, 5, {"onesided": 0}),
    ([1, 9, 1], 2, None, None, {}),
    ([2, 20, 1], "4", 8, None, {}),
]


def turns(n):
    """cos and sin of 2 pi i / n for all i: exact zeros, as f64."""
    angle = 2 * np.arccos(np.longdouble(-1)) * np.arange(n) / n
    both = np.cos(angle), np.sin(angle)
    return [np.where(np.abs(x) < 1e-15, 0, x).astype("f8") for x in both]


def transform(x, axis, length, attributes, rounded):
    """Term by term: real and imaginary part of each element in turn."""
    inverse, onesided = attributes.get("inverse", 0), attributes.get("onesided", 0)
    real = inverse and onesided
    x = np.moveaxis(x, axis, -2)
    n = length or (2 * (x.shape[-2] - 1) if real else x.shape[-2])
    cosines, sines = turns(n)
    narrow = (lambda y: rounded(np.float32(y))) if rounded else lambda y: y
    r = rounded or (lambda y: y)
    count = n // 2 + 1 if onesided and not inverse else n
    used = min(x.shape[-2], n // 2 + 1 if real else n)
    out = np.zeros((*x.shape[:-2], count, 1 if real else 2))
    for k in range(count):
        for i in range(used):
            weight = 2 if real and i and 2 * i != n else 1
            turn = i * k % n
            c = narrow(weight * cosines[turn])
            s = narrow(weight * (sines[turn] if inverse else sines[(n - turn) % n]))
            parts = [(c, s), (-s, c)]
            for part in range(x.shape[-1]):
                for to in range(out.shape[-1]):
                    term = r(x[..., i, part] * parts[part][to])
                    out[..., k, to] = r(out[..., k, to] + term)
    if inverse:
        out = r(out / n)
    return np.moveaxis(out, -2, axis)


def of_numpy(x, axis, length, attributes):
    inverse, onesided = attributes.get("inverse", 0), attributes.get("onesided", 0)
    numbers = x[..., 0] + (1j * x[..., 1] if x.shape[-1] == 2 else 0)
    axis = axis if axis >= 0 else axis + 1
    if inverse and onesided:
        return np.fft.irfft(numbers, length, axis)[..., None]
    if onesided:
        found = np.fft.rfft(numbers.real, length, axis)
    else:
        found = (np.fft.ifft if inverse else np.fft.fft)(numbers, length, axis)
    return np.stack([found.real, found.imag], -1)


def frames_of(x, step, window, length, rounded):
    length = length or (len(window) if window is not None else x.shape[1])
    count = (x.shape[1] - length) // step + 1
    cut = np.stack([x[:, i * step : i * step + length] for i in range(count)], 1)
    if window is None:
        return cut
    return (rounded or (lambda y: y))(cut * window[:, None])


class Model:
    def __init__(self, folder, element, is_open):
        self.folder, self.element, self.is_open = folder, element, is_open
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.arrays = []

    def given(self, name, array, element=None, is_open=False):
        shape = list(array.shape)
        if is_open and self.is_open:
            shape[0] = "N"
        self.inputs.append(
            helper.make_tensor_value_info(name, element or self.element, shape)
        )
        self.arrays.append(self.folder / f"{name}.npy")
        np.save(self.arrays[-1], array)
        return name

    def known(self, name, array):
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, places, n, shape, attributes):
        while not places[-1]:
            places.pop()
        self.nodes.append(
            helper.make_node(op, places, [f"y{n}"], f"node{n}", **attributes)
        )
        shape = None if self.is_open else shape
        self.outputs.append(helper.make_tensor_value_info(f"y{n}", self.element, shape))

    def run(self, opset, *options):
        graph = helper.make_graph(
            self.nodes, "fourier", self.inputs, self.outputs, self.initializers
        )
        opsets = [helper.make_opsetid("", opset)]
        path = self.folder / "model.onnx"
        save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)
        command = ["numera", "run", path, "--output-dir", self.folder, *options]
        for array in self.arrays:
            command += ["--input", array]
        subprocess.run(
            [*command, "--optimization", "0"], check=True, stdout=subprocess.DEVNULL
        )


def check(
    folder,
    opset,
    rounded,
    options,
    element=TensorProto.FLOAT,
    is_open=False,
    transforms=TRANSFORMS,
    short=SHORT,
):
    """The number of elements that are the same."""
    kind = "f4" if element == TensorProto.FLOAT else "f8"
    generator = np.random.default_rng(7)
    model, expected, close = Model(folder, element, is_open), [], []

    def add(op, places, attributes, result, reference):
        model.node(op, places, len(expected), result.shape, attributes)
        expected.append(result)
        close.append(reference)

    def numbers(shape):
        return generator.integers(-7, 8, shape) / 8

    def batched(shape):
        """All of one batch, where it is open."""
        return numbers([3, *shape[1:]] if is_open else shape)

    for shape, length, axis, attributes in transforms:
        is_input = isinstance(axis, str)
        if (is_input and (opset < 20 or is_open)) or (
            is_open and axis in (0, -len(shape))
        ):
            continue
        n, x = len(expected), batched(shape)
        places = [
            model.given(f"x{n}", x.astype(kind), is_open=True),
            model.known(f"n{n}", np.int64(length)) if length else "",
            "",
        ]
        given = dict(attributes)
        if is_input:
            places[2] = model.given(f"axis{n}", np.array(int(axis)), TensorProto.INT64)
        elif axis is not None and opset >= 20:
            places[2] = model.known(f"axis{n}", np.int64(axis))
        elif axis is not None:
            given["axis"] = axis
        axis = int(axis) if axis is not None else -2 if opset >= 20 else 1
        axis = axis + len(shape) if axis < 0 else axis
        add(
            "DFT",
            places,
            given,
            transform(x, axis, length, attributes, rounded),
            of_numpy(x, axis, length, attributes),
        )
    for shape, step, window, length, attributes in short:
        if is_open and isinstance(step, str):
            continue
        n, x = len(expected), batched(shape)
        shade = numbers(window) if window else None
        given = np.array(int(step))
        places = [
            model.given(f"x{n}", x.astype(kind), is_open=True),
            model.given(f"step{n}", given, TensorProto.INT64)
            if isinstance(step, str)
            else model.known(f"step{n}", given),
            model.known(f"w{n}", shade.astype(kind)) if window else "",
            model.known(f"n{n}", np.int64(length)) if length else "",
        ]
        sided = {"onesided": attributes.get("onesided", 1)}
        cut = frames_of(x, int(step), shade, length, rounded)
        add(
            "STFT",
            places,
            attributes,
            transform(cut, 2, None, sided, rounded),
            of_numpy(frames_of(x, int(step), shade, length, None), 2, None, sided),
        )
    model.run(opset, *options)
    for n, (result, reference) in enumerate(zip(expected, close, strict=True)):
        found = np.load(folder / f"y{n}.npy").astype("f8")
        assert found.shape == result.shape == reference.shape, (
            n,
            found.shape,
            result.shape,
        )
        if rounded:
            assert np.array_equal(found, result), (n, model.nodes[n], found, result)
            assert np.allclose(found, reference, atol=2.0), (n, found, reference)
        else:
            assert np.allclose(found, reference, rtol=1e-13, atol=1e-13), (
                n,
                found,
                reference,
            )
    return sum(result.size for result in expected)


def main(folder, *declared):
    if declared:
        np.save(folder / "wrong.npy", np.int64(0))
        check(
            folder,
            20,
            FORMATS["f32"],
            ("--accumulate", "same"),
            transforms=TRANSFORMS[-1:],
            short=SHORT[-1:],
        )
        return
    for name, rounded in FORMATS.items():
        if IS_MIRRORED and name != "bf16":
            continue
        options = ("--format", name, "--accumulate", "same")
        print(f"{name}: {check(folder, 20, rounded, options)} numbers, the same")
    if IS_MIRRORED:
        return
    count = check(folder, 17, None, (), TensorProto.DOUBLE)
    print(f"DOUBLE: {count} numbers, those of numpy.fft")
    count = check(folder, 17, FORMATS["f32"], ("--accumulate", "same"), is_open=True)
    print(f"open batch: {count} numbers, the same")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
