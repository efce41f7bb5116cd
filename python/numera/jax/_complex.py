# SPDX-License-Identifier: MIT
"""Complex numbers as pairs of real ones, in a module without calls.

    complex, real, imag, convert       nothing, or one of a pair
    what moves numbers; add, subtract  the same of both parts
    loops, branches, scatters          `_complex_regions`
    dot_general, convolution           four of them, a sum and a difference
    what `_fourier` has; reduce (sum)  a call of a function that JAX lowers

An imaginary part that is zero everywhere is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from numera import _pieces as p
from numera._errors import Error
from numera._fourier import LONGEST
from numera.jax import _complex_regions, _fourier, _functions

__all__ = ["split"]

_HALVES = frozenset(
    f"stablehlo.{name}"
    for name in (
        *("add", "subtract", "negate", "broadcast_in_dim", "reshape", "slice"),
        *("transpose", "concatenate", "reverse", "dynamic_slice", "gather", "pad"),
        *("dynamic_update_slice", "select"),
    )
)


_WHOLE = ("stablehlo.reduce", "stablehlo.scatter", "stablehlo.reduce_window")
"""Operations whose regions are not rewritten by themselves."""


def split(
    module: Any, lower: Callable[..., Any], refused: Callable[[str, str], Error]
) -> bool:
    """Rewrites all operations on complex numbers; returns whether there are some.

    lower    makes StableHLO of a function of JAX.
    refused  the error of an operation's place, and a reason.
    """
    found: list[Any] = []

    def visit(operation: Any) -> Any:
        values = [*operation.operands, *operation.results]
        if any(_is_complex(value.type) for value in values):
            found.append(operation)
            if operation.name in _WHOLE:
                return ir.WalkResult.SKIP
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    split = _Split(_functions.Functions(ir, module, lower))
    for operation in found:
        with operation.location, ir.InsertionPoint(operation):
            if not split.replace(operation):
                raise refused(
                    str(operation.location),
                    f"'{operation.name}' of complex numbers has no counterpart in linalg",
                )
    for operation in reversed(found):
        operation.operation.erase()
    return bool(found)


def _is_complex(kind: Any) -> bool:
    return "complex<" in str(kind)


def _part_type(kind: Any) -> Any:
    element = ir.ComplexType(kind.element_type).element_type
    return ir.RankedTensorType.get(kind.shape, element)


class _Split:
    def __init__(self, functions: _functions.Functions) -> None:
        self.functions = functions
        self.pairs: dict[Any, tuple[Any, Any]] = {}
        self.known: dict[str, bool] = {}
        """Whether functions give an imaginary part."""

    def replace(self, operation: Any) -> bool:
        """Whether the operation is known. Its results have other values then."""
        known = all(
            value in self.pairs
            for value in operation.operands
            if _is_complex(value.type)
        )
        if not known:
            return False
        if operation.name in _complex_regions.CONTROL:
            _complex_regions.rewrite(
                operation,
                self.pairs,
                lambda kind: _part_type(kind) if _is_complex(kind) else None,
                self._imaginary,
            )
            return True
        if len(operation.results) != 1:
            return False
        made = self._made(operation)
        if made is None:
            return False
        (result,) = operation.results
        if _is_complex(result.type):
            self.pairs[result] = made
        else:
            result.replace_all_uses_with(made)
        return True

    def _made(self, operation: Any) -> Any:
        """The pair, or the real tensor, that an operation gives; None if unknown."""
        name, operands = operation.name, list(operation.operands)
        given = [self.pairs.get(value, (value, None)) for value in operands]
        (result,) = operation.results
        if name == "stablehlo.complex":
            return tuple(operands)
        if name == "stablehlo.real":
            return given[0][0]
        if name == "stablehlo.imag":
            return self._imaginary(given[0])
        if name == "stablehlo.constant":
            return _constant(operation)
        if name == "stablehlo.iota":
            return _same(operation, []), None
        if name == "stablehlo.convert":
            return self._converted(operation, given[0])
        if name in _HALVES:
            return self._halves(operation, given)
        if name in _WHOLE[1:]:
            return self._windows(operation, given)
        if name in ("stablehlo.dot_general", "stablehlo.convolution"):
            return self._product(operation, *given)
        function = _function(operation)
        return (
            None if function is None else self._call(operation, function, given, result)
        )

    # ---- rules --------------------------------------------------------------

    def _imaginary(self, pair: tuple[Any, Any]) -> Any:
        real, imaginary = pair
        return _zeros(real.type) if imaginary is None else imaginary

    def _converted(self, operation: Any, pair: tuple[Any, Any]) -> Any:
        kind = operation.results[0].type
        if not _is_complex(kind):
            return None
        return tuple(
            part
            if part is None or part.type == _part_type(kind)
            else p.make("stablehlo.convert", [part], _part_type(kind))
            for part in pair
        )

    def _halves(self, operation: Any, given: Sequence[Any]) -> Any:
        complexes = [_is_complex(value.type) for value in operation.operands]
        real = _same(operation, [pair[0] for pair in given])
        if all(pair[1] is None for pair, is_one in zip(given, complexes) if is_one):
            return real, None
        return real, _same(
            operation,
            [
                self._imaginary(pair) if is_one else pair[0]
                for pair, is_one in zip(given, complexes)
            ],
        )

    def _windows(self, operation: Any, given: Sequence[Any]) -> Any:
        kind = _part_type(operation.results[0].type)
        parts = []
        for imaginary in (False, True):
            operands = [
                pair[0]
                if not imaginary or not _is_complex(value.type)
                else self._imaginary(pair)
                for pair, value in zip(given, operation.operands)
            ]
            parts.append(
                _complex_regions.of_parts(operation, operands, kind, kind.element_type)
            )
        return None if any(each is None for each in parts) else tuple(parts)

    def _product(self, operation: Any, x: Any, y: Any) -> Any:
        def product(first: Any, second: Any) -> Any:
            if first is None or second is None:
                return None
            return _same(operation, [first, second])

        def combined(name: str, first: Any, second: Any) -> Any:
            if first is None or second is None:
                return second if first is None else first
            return p.make(name, [first, second], first.type)

        (a, b), (c, d) = x, y
        real = combined("stablehlo.subtract", product(a, c), product(b, d))
        return real, combined("stablehlo.add", product(a, d), product(b, c))

    def _call(
        self, operation: Any, function: Callable[..., Any], given: Any, result: Any
    ) -> Any:
        shape = [pair[1] is not None for pair in given]
        parts = [part for pair in given for part in pair if part is not None]
        has_imaginary: list[bool] = []

        def flat(*values: Any) -> Any:
            rest = iter(values)
            pairs = [(next(rest), next(rest) if both else None) for both in shape]
            found = function(*pairs)
            if not isinstance(found, tuple):
                return (found,)
            has_imaginary.append(found[1] is not None)
            return found if found[1] is not None else found[:1]

        key = f"{operation.name} {_options(operation)} {shape}"
        callee = self.functions.callee(key, flat, parts)
        if not _is_complex(result.type):
            return p.make("func.call", parts, result.type, callee=callee)
        kind = _part_type(result.type)
        both = self._both(key, parts, has_imaginary)
        found = ir.Operation.create(
            "func.call",
            operands=parts,
            results=[kind] * (1 + both),
            attributes={"callee": callee},
        ).results
        return found[0], found[1] if both else None

    def _both(self, key: str, parts: Sequence[Any], traced: Sequence[bool]) -> bool:
        """Whether a function gives both parts, which is known when it is traced."""
        key += f" {[str(part.type) for part in parts]}"
        if traced:
            self.known[key] = traced[-1]
        return self.known[key]


def _function(operation: Any) -> Callable[..., Any] | None:
    """The function of pairs that an operation is."""
    options = _options(operation)
    if operation.name == "stablehlo.compare":
        direction = options["comparison_direction"]
        if "EQ" in direction:
            return _fourier.equal
        return (lambda x, y: ~_fourier.equal(x, y)) if "NE" in direction else None
    if operation.name == "stablehlo.reduce":
        steps = operation.regions[0].blocks[0].operations
        adds = [step.name for step in steps] == ["stablehlo.add", "stablehlo.return"]
        return _fourier.total(options) if adds else None
    if operation.name == "stablehlo.fft":
        kind = operation.operands[0].type
        if max(kind.shape[-3:], default=0) > LONGEST:
            return None
        return _fourier.transform(options)
    return _fourier.FUNCTIONS.get(operation.name)


def _options(operation: Any) -> dict[str, str]:
    known = operation.attributes
    named = [known[n] for n in range(len(known))]
    return {each.name: str(each.attr) for each in named}


def _same(operation: Any, operands: Sequence[Any]) -> Any:
    """The operation on parts of its operands."""
    known = operation.attributes
    return ir.Operation.create(
        operation.name,
        operands=list(operands),
        results=[_part_type(operation.results[0].type)],
        attributes={each: known[each] for each in known},
    ).result


def _constant(operation: Any) -> Any:
    kind = operation.results[0].type
    # Python has no type for such an attribute.
    text = operation.operation.get_asm(enable_debug_info=False)
    pairs = re.findall(r"\(([^(),]+),([^(),]+)\)", text)
    numbers = np.array([[_number(x) for x in pair] for pair in pairs], "f8")
    if not len(numbers):
        return None
    parts = []
    for part in numbers.T:
        part = np.broadcast_to(part if len(part) > 1 else part[0], len(part))
        parts.append(_tensor(part, _part_type(kind)))
    return parts[0], parts[1] if numbers[:, 1].any() else None


def _number(text: str) -> float:
    """What MLIR prints: infinities and NaN as their bits."""
    if not text.strip().startswith("0x"):
        return float(text)
    bits = int(text, 16)
    wide = len(text.strip()) > 10
    return float(np.array(bits, "u8" if wide else "u4").view("f8" if wide else "f4"))


def _tensor(numbers: Any, kind: Any) -> Any:
    dtype = "f4" if isinstance(kind.element_type, ir.F32Type) else "f8"
    if len(numbers) == 1:
        number = ir.FloatAttr.get(kind.element_type, float(numbers[0]))
        value = ir.DenseElementsAttr.get_splat(kind, number)
    else:
        value = ir.DenseElementsAttr.get(
            np.ascontiguousarray(numbers, dtype).reshape(kind.shape)
        )
    return p.make("stablehlo.constant", [], kind, value=value)


def _zeros(kind: Any) -> Any:
    return _tensor(np.zeros(1), kind)
