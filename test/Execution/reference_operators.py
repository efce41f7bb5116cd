# SPDX-License-Identifier: MIT
"""ONNX operators in exact arithmetic with one rounding an operation.

The steps are those that Numera promises. A contraction starts at +0 and walks
k, or channel, kernel row and kernel column, in ascending order; `same` rounds
the product and then the sum, both to the format; an accumulator A rounds
acc + a b once, to A; the result is cast to the format, and a bias is a separate
addition after it. A sum goes the same way and a mean divides it by the count.
The accumulator `quire` adds in integers of any size and rounds once, at the end.
All loops run over the terms of a sum and treat its positions as one array.
"""

import decimal
import fnmatch
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from reference_formats import Array, Exact, Format, maximum, minimum, parse, parse_accumulator

F32Array = npt.NDArray[np.float32]
AnyArray = npt.NDArray[Any]
Shape = tuple[int, ...]


def odd_float(x: Fraction) -> float:
    """x > 0 rounded to an odd float64, which no boundary separates from x."""
    scale = x.numerator.bit_length() - x.denominator.bit_length() - 53
    scaled = x / Fraction(2) ** scale  # between 2^52 and 2^54
    if scaled >= 2**53:
        scaled, scale = scaled / 2, scale + 1
    whole = math.floor(scaled)
    return math.ldexp(whole | (scaled != whole), scale)


def exponential(exact: float) -> float:
    """e^x to 60 digits, then rounded to odd: it is irrational except at 0, and
    no boundary of a format of 16 bits is that close."""
    if not math.isfinite(exact) or exact == 0:
        return math.exp(exact)
    # e^±400 is beyond every format's ends, and so is what lies further out.
    clamped = decimal.Decimal(max(-400.0, min(400.0, exact)))
    with decimal.localcontext() as context:
        context.prec = 60
        return odd_float(Fraction(clamped.exp()))


class ExactSum:
    """Sums as integers over 2^-1100, below the last bit of every product.
    Infinities and NaNs add up beside them, as IEEE sums do."""

    UNIT = 1100

    def __init__(self, shape: Shape) -> None:
        self.units: AnyArray = np.zeros(shape, object)
        self.special = np.zeros(shape)

    def add(self, term: Array) -> "ExactSum":
        finite = np.isfinite(term)
        fraction, exponent = np.frexp(np.where(finite, term, 0.0))
        digits = np.ldexp(fraction, 53).astype(np.int64).astype(object)
        shifts = np.asarray(exponent).astype(object) - 53 + self.UNIT
        self.units = np.asarray(self.units + (digits << shifts), object)
        self.special = self.special + np.where(finite, 0.0, term)
        return self

    def odd(self) -> Array:
        """The sums rounded to odd float64s; zero is +0."""

        def value(units: int) -> float:
            if units == 0:
                return 0.0
            size = odd_float(Fraction(abs(units), 1 << self.UNIT))
            return -size if units < 0 else size

        sums = np.array([value(units) for units in self.units.flat])
        return np.where(self.special == 0, sums.reshape(self.units.shape), self.special)


Sum = Array | ExactSum


class Arithmetic:
    """The operations of a format and of its accumulator."""

    def __init__(self, target: Format, accumulator: Format | None) -> None:
        self.target, self.accumulator = target, accumulator

    def start(self, shape: Shape) -> Sum:
        return ExactSum(shape) if isinstance(self.accumulator, Exact) else np.zeros(shape)

    def accumulate(self, acc: Sum, term: Array) -> Sum:
        if isinstance(acc, ExactSum):
            return acc.add(term)
        return (self.accumulator or self.target).add(acc, term)

    def finish(self, acc: Sum) -> Array:
        return self.target.round(acc.odd() if isinstance(acc, ExactSum) else acc)

    def mac(self, acc: Sum, a: Array, b: Array) -> Sum:
        """A step of a contraction; the product is exact in float64."""
        product = a * b
        if self.accumulator is None:
            product = self.target.round(product)
        return self.accumulate(acc, product)

    def sum(self, x: Array, axes: Sequence[int]) -> Array:
        """The sum along `axes`, which stay as 1, in row-major order: ascending
        for `same`, in any order where it is exact, else 32 interleaved partial
        sums, then added in pairs."""
        moved = np.moveaxis(x, axes, range(len(axes)))
        terms = moved.reshape(-1, *moved.shape[len(axes) :])
        if isinstance(self.accumulator, Exact):
            exact = reduce(self.accumulate, terms, self.start(terms.shape[1:]))
            return np.expand_dims(self.finish(exact), tuple(axes))
        lanes = 1 if self.accumulator is None else 32
        partial: list[Any] = [np.zeros(terms.shape[1:])] * lanes
        for i, term in enumerate(terms):
            partial[i % lanes] = self.accumulate(partial[i % lanes], term)
        while len(partial) > 1:
            partial = [self.accumulate(a, b) for a, b in zip(partial[::2], partial[1::2])]
        return np.expand_dims(self.target.round(partial[0]), tuple(axes))

    def exp(self, x: Array) -> Array:
        if self.target.bits > 16:
            raise ValueError(f"exp in {self.target.name} is not promised to round correctly")
        numbers, where = np.unique(x, return_inverse=True)
        powers = np.array([exponential(float(number)) for number in numbers])
        return self.target.round(powers[where].reshape(x.shape))


class Node:
    """A node of the graph: its attributes and its inputs, of which constants
    are still f32 or integers. Calling the node gives an input in the format."""

    def __init__(
        self, proto: onnx.NodeProto, inputs: list[AnyArray | None], opset: int, on: Arithmetic
    ) -> None:
        self.op, self.opset, self.on = proto.op_type, opset, on
        self.name = proto.name or proto.output[0]
        self.inputs = inputs
        self.attributes = {a.name: helper.get_attribute_value(a) for a in proto.attribute}

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def raw(self, index: int) -> AnyArray:
        array = self.inputs[index]
        if array is None:
            raise self.error(f"input {index} is missing")
        return array

    def __call__(self, index: int) -> Array:
        return self.constant(self.raw(index))

    def constant(self, array: AnyArray) -> Array:
        """`array` cast to the format where it is f32, or of another format."""
        if array.dtype in (np.float32, np.float64):
            return self.on.target.round(array.astype(np.float64))
        return array

    def get(self, name: str, default: Any) -> Any:
        return self.attributes.get(name, default)

    def error(self, message: str) -> ValueError:
        return ValueError(f"{self.op} {self.name}: {message}")


class Window:
    """A kernel that slides along the last dimensions of an input."""

    def __init__(self, node: Node, size: Shape, kernel: Shape) -> None:
        ones = [1] * len(kernel)
        self.kernel = kernel
        self.strides = node.get("strides", ones)
        self.dilations = node.get("dilations", ones)
        if node.get("ceil_mode", 0):
            raise node.error("ceil_mode is not supported")
        extent = [(k - 1) * d + 1 for k, d in zip(kernel, self.dilations)]
        automatic = node.get("auto_pad", b"NOTSET").decode()
        pads = node.get("pads", 2 * [0] * len(kernel))
        if automatic.startswith("SAME"):
            total = [
                max(0, (-(-n // s) - 1) * s + e - n) for n, s, e in zip(size, self.strides, extent)
            ]
            small, large = [t // 2 for t in total], [t - t // 2 for t in total]
            pads = small + large if automatic == "SAME_UPPER" else large + small
        self.pads = list(zip(pads[: len(kernel)], pads[len(kernel) :]))
        self.output = tuple(
            (n + low + high - e) // s + 1
            for n, (low, high), e, s in zip(size, self.pads, extent, self.strides)
        )

    def taps(self, x: Array, padding: float) -> Iterator[tuple[Shape, Array]]:
        """Each position of the kernel in row-major order, with the elements of
        x that all windows have there."""
        outer = [(0, 0)] * (x.ndim - len(self.kernel))
        padded = np.pad(x, outer + self.pads, constant_values=padding)
        for tap in np.ndindex(*self.kernel):
            begin = [k * d for k, d in zip(tap, self.dilations)]
            places = zip(begin, self.output, self.strides)
            index: tuple[Any, ...] = (..., *(slice(b, b + n * s, s) for b, n, s in places))
            yield tap, padded[index]


def conv(node: Node) -> Array:
    x, w = node(0), node(1)
    groups = node.get("group", 1)
    window = Window(node, x.shape[2:], w.shape[2:])
    # Dimensions: batch, group, filter, then space; one channel at a time.
    x = x.reshape(x.shape[0], groups, 1, -1, *x.shape[2:])
    w = w.reshape(groups, -1, *w.shape[1:])
    acc = node.on.start((x.shape[0], *w.shape[:2], *window.output))
    ones = (1,) * len(window.kernel)
    for channel in range(w.shape[2]):
        for tap, elements in window.taps(x[:, :, :, channel], 0.0):
            index: tuple[Any, ...] = (..., channel, *tap)
            acc = node.on.mac(acc, elements, w[index].reshape(*w.shape[:2], *ones))
    result = node.on.finish(acc).reshape(x.shape[0], -1, *window.output)
    if node.has(2):
        result = node.on.target.add(result, node(2).reshape(-1, *ones))
    return result


def multiply_matrices(on: Arithmetic, a: Array, b: Array) -> Array:
    """Stacks of matrices, k ascending."""
    outer = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    acc = on.start((*outer, a.shape[-2], b.shape[-1]))
    for k in range(a.shape[-1]):
        acc = on.mac(acc, a[..., :, k, None], b[..., None, k, :])
    return on.finish(acc)


def matmul(node: Node) -> Array:
    a, b = node(0), node(1)
    if min(a.ndim, b.ndim) < 2:
        raise node.error("vectors are not supported")
    return multiply_matrices(node.on, a, b)


def gemm(node: Node) -> Array:
    a = node(0).T if node.get("transA", 0) else node(0)
    b = node(1).T if node.get("transB", 0) else node(1)

    def scaled(x: Array, name: str) -> Array:
        factor = np.array(node.get(name, 1.0), np.float32)
        return x if factor == 1 else node.on.target.multiply(x, node.constant(factor))

    result = scaled(multiply_matrices(node.on, a, b), "alpha")
    if node.has(2) and node.get("beta", 1.0):
        result = node.on.target.add(result, scaled(node(2), "beta"))
    return result


def max_pool(node: Node) -> Array:
    x = node(0)
    window = Window(node, x.shape[2:], tuple(node.get("kernel_shape", ())))
    return reduce(maximum, (elements for _, elements in window.taps(x, -math.inf)))


def average_pool(node: Node) -> Array:
    x = node(0)
    window = Window(node, x.shape[2:], tuple(node.get("kernel_shape", ())))
    total = node.on.sum(np.stack([e for _, e in window.taps(x, 0.0)]), [0])[0]
    present = np.ones(x.shape[2:])
    padding = float(node.get("count_include_pad", 0))
    count = sum(elements for _, elements in window.taps(present, padding))
    return node.on.target.divide(total, node.on.target.round(np.asarray(count)))


def global_average_pool(node: Node) -> Array:
    x = node(0)
    axes = range(2, x.ndim)
    count = node.on.target.round(np.array(float(np.prod(x.shape[2:]))))
    return node.on.target.divide(node.on.sum(x, axes), count)


def softmax(node: Node) -> Array:
    """Maximum, difference, exponential, sum, quotient. Before opset 13 along
    all dimensions from the axis on."""
    x, coerced = node(0), node.opset < 13
    axis = node.get("axis", 1 if coerced else -1) % x.ndim
    axes = range(axis, x.ndim) if coerced else [axis]
    rows = x
    for each in axes:
        rows = reduce(maximum, np.split(rows, rows.shape[each], each))
    powers = node.on.exp(node.on.target.add(x, -rows))
    return node.on.target.divide(powers, node.on.sum(powers, axes))


def batch_normalization(node: Node) -> Array:
    """x s + t, where s and t are f32 constants from a computation in f64."""
    x = node(0)
    scale, bias, mean, variance = (node.raw(i).astype(np.float64) for i in range(1, 5))
    factor = scale / np.sqrt(variance + np.float32(node.get("epsilon", 1e-5)))
    offset = bias - mean * factor
    shape = (-1, *[1] * (x.ndim - 2))
    s, t = (node.constant(c.astype(np.float32)).reshape(shape) for c in (factor, offset))
    return node.on.target.add(node.on.target.multiply(x, s), t)


def clip(node: Node) -> Array:
    x = node(0)
    for index, name, bound in ((1, "min", maximum), (2, "max", minimum)):
        if node.has(index):
            x = bound(x, node(index))
        elif name in node.attributes:
            x = bound(x, node.constant(np.array(node.get(name, 0.0), np.float32)))
    return x


def reshape(node: Node) -> AnyArray:
    x, shape = node.raw(0), node.raw(1).tolist()
    if not node.get("allowzero", 0):
        shape = [size or x.shape[i] for i, size in enumerate(shape)]
    return x.reshape(shape)


def flatten(node: Node) -> AnyArray:
    x, axis = node.raw(0), node.get("axis", 1)
    return x.reshape(math.prod(x.shape[:axis]), -1)


def constant(node: Node) -> AnyArray:
    if "value" not in node.attributes:
        raise node.error("expected a tensor value")
    return np.asarray(numpy_helper.to_array(node.get("value", None)))


OPERATORS: dict[str, Callable[[Node], AnyArray]] = {
    "Add": lambda node: node.on.target.add(node(0), node(1)),
    "AveragePool": average_pool,
    "BatchNormalization": batch_normalization,
    "Clip": clip,
    "Concat": lambda node: np.concatenate(
        [node(i) for i in range(len(node.inputs))], node.get("axis", 0)
    ),
    "Constant": constant,
    "Conv": conv,
    "Div": lambda node: node.on.target.divide(node(0), node(1)),
    "Flatten": flatten,
    "Gemm": gemm,
    "GlobalAveragePool": global_average_pool,
    "Identity": lambda node: node.raw(0),
    "MatMul": matmul,
    "MaxPool": max_pool,
    "Mul": lambda node: node.on.target.multiply(node(0), node(1)),
    "Relu": lambda node: maximum(node(0), np.zeros(1)),
    "Reshape": reshape,
    "Softmax": softmax,
    "Sub": lambda node: node.on.target.add(node(0), -node(1)),
    "Transpose": lambda node: np.transpose(node.raw(0), node.get("perm", None)),
}


class Rule:
    """`PATTERN FORMAT ACCUMULATOR`, where a pattern is that of a name, or
    `op:NAME`: nodes that another format is for."""

    def __init__(self, text: str) -> None:
        self.pattern, target, accumulator = text.split()
        self.on = Arithmetic(parse(target), parse_accumulator(accumulator))

    def matches(self, proto: onnx.NodeProto) -> bool:
        if self.pattern.startswith("op:"):
            return proto.op_type.lower() == self.pattern.removeprefix("op:")
        return fnmatch.fnmatchcase(proto.name or proto.output[0], self.pattern)


class Evaluator:
    """A model with one input, run in a format; the first rule that matches a
    node has another one for it."""

    def __init__(
        self,
        model: onnx.ModelProto,
        target: Format,
        accumulator: Format | None,
        rules: Sequence[Rule] = (),
    ) -> None:
        self.rules = rules
        self.graph = model.graph
        self.opset = next(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
        self.on = Arithmetic(target, accumulator)
        self.constants = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        inputs = [item for item in self.graph.input if item.name not in self.constants]
        if len(inputs) != 1:
            raise ValueError(f"the model has {len(inputs)} inputs; expected one")
        self.input = inputs[0]

    def run(self, data: F32Array) -> F32Array:
        """The first output as f32. A model with a fixed batch runs slice by slice."""
        batch = self.input.type.tensor_type.shape.dim[0].dim_value or len(data)
        slices = [self.slice(data[i : i + batch]) for i in range(0, len(data), batch)]
        return np.concatenate(slices)

    def slice(self, data: F32Array) -> F32Array:
        values: dict[str, AnyArray] = {**self.constants, self.input.name: data}
        for proto in self.graph.node:
            if proto.op_type not in OPERATORS:
                raise ValueError(f"the reference has no operator {proto.op_type}")
            inputs = [values[name] if name else None for name in proto.input]
            rule = next((rule for rule in self.rules if rule.matches(proto)), self)
            node = Node(proto, inputs, self.opset, rule.on)
            values[proto.output[0]] = OPERATORS[proto.op_type](node)
        result = values[self.graph.output[0].name]
        if result.dtype == np.float32:  # A constant or the input itself.
            result = self.on.target.round(result.astype(np.float64))
        return parse("f32").round(result).astype(np.float32)
