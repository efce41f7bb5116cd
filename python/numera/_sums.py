# SPDX-License-Identifier: MIT
"""Programs of sums and of products of matrices, in any accumulator, as MLIR."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from numera import _casts, _numera
from numera._bounded import PROGRAMS, Bounded
from numera._formats import Format
from numera._kernels import (
    Draw,
    Kernel,
    constants,
    function,
    indices,
    is_stochastic,
    number,
    parallel,
    tensor_type,
)
from numera._scaled import code_dtype

_I64 = 6
_COUNT = "fixed<63,0>"
"""The format of a number of elements, an i64."""


_accumulators: dict[tuple[Format, Any], Accumulator] = Bounded(PROGRAMS)


def accumulator(fmt: Format, name: str | Format | None) -> Accumulator:
    """What sums of a format add up in, by a name; None: by default."""
    if isinstance(name, str) and name not in ("quire", "same"):
        name = _casts.chosen(name)
    found = _accumulators.get((fmt, name))
    if found is None:
        found = _accumulators[fmt, name] = Accumulator(fmt, name)
    return found


class Accumulator:
    """What a sum of numbers of a format adds up in."""

    def __init__(self, fmt: Format, name: str | Format | None) -> None:
        self.of = fmt
        if name is None:
            name = _numera.accumulator(fmt._registry, fmt.name)
            # A name in the format's own sources, whatever it means now.
            if name == fmt.name:
                name = fmt
        self.is_exact = name == "quire"
        self.is_same = name == "same"
        self.format = fmt if self.is_exact or self.is_same else _casts.chosen(name)
        self.key = "quire" if self.is_exact else "same" if self.is_same else self.format
        self.type = number(self.format)
        self.quotient = self.format
        """What means are divided in."""
        if self.is_exact:
            self.type = f"!numera.quire<{_parameter(fmt)}>"
            self.quotient = _wider(fmt)

    def start(self, value: str = "0.0") -> list[str]:
        """Lines that make %start_value, where a reduction begins."""
        if self.is_exact:
            return [f"%start_value = numera.quire_zero : {self.type}"]
        if self.format.family == "opaque":
            kind = _casts.way_in("f32", self.format)
            return [
                f"%start_number = arith.constant {value} : {kind}",
                f"%start_value = numera.cast %start_number : {kind} to {self.type}",
            ]
        kind = "arith" if self.type in ("f32", "f64") else "numera"
        return [f"%start_value = {kind}.constant {value} : {self.type}"]

    def check_count(self, count: int) -> bool:
        """Whether sums of so many elements are divided as they are, but for roundings
        of f64; an error for a divisor that no cast brings to the format."""
        if self.is_exact and self.of.family == "fixed":
            return self.quotient is not self.of and count < 1 << (64 - self.of.width)
        kind = _casts.way_in(_COUNT, self.format)
        if kind != _COUNT:
            _casts.narrowed(np.array(count), _COUNT, kind, self.format)
        return True

    def product(self, draw: Draw) -> list[str]:
        """The step %t of a contraction, on %x0, %x1 and %acc."""
        number_ = number(self.of)
        if self.is_exact:
            return [f"%t = numera.quire_mac %x0, %x1, %acc : {number_}, {self.type}"]
        if self.is_same and is_stochastic(self.of):
            first = draw.operand(self.of)
            second = draw.operand(self.of)
            return [
                f"%m = numera.mul %x0, %x1{first} : {number_}",
                f"%t = numera.add %acc, %m{second} : {number_}",
            ]
        product = ""
        if self.is_same and self.type not in ("f32", "f64"):
            product = f" {{product = #numera.format<{_parameter(self.of)}>}}"
        types = (
            number_
            if number_ == self.type
            else f"({number_}, {number_}, {self.type}) -> {self.type}"
        )
        random = draw.operand(self.format)
        return [f"%t = numera.mac %x0, %x1, %acc{random}{product} : {types}"]

    def term(self, draw: Draw, operation: str = "add") -> list[str]:
        """The step %t of a sum, or of a product (``mul``), on %x0 and %acc."""
        number_ = number(self.of)
        if self.is_exact:
            return [f"%t = numera.quire_add %acc, %x0 : {self.type}, {number_}"]
        types = (
            number_
            if number_ == self.type
            else f"({self.type}, {number_}) -> {self.type}"
        )
        random = draw.operand(self.format)
        return [f"%t = numera.{operation} %acc, %x0{random} : {types}"]


def _wider(fmt: Format) -> Format:
    """What the sum in a quire is rounded to before a mean is divided: fixed point of
    64 bits with the same fraction, or f64, where that has all of the numbers."""
    if fmt._facts["lowerings"]:  # a division of the user's
        return fmt
    if fmt.family == "fixed":
        found = _FIXED.match(fmt.spelling)
        assert found is not None
        whole, fraction = map(int, found.groups())
        more = whole + 64 - fmt.width
        return _casts.chosen(_FIXED.sub(f"fixed<{more},{fraction}", fmt.spelling))
    return _casts.chosen("f64") if _casts.carrier(fmt) else fmt


def wraps(fmt: Format, accumulate: Any) -> bool:
    """Whether a quire of the format has the low bits of a sum alone."""
    if fmt.family != "fixed" or fmt.overflow != "wrap":
        return False
    found = accumulator(fmt, accumulate)
    return found.is_exact and found.quotient is not fmt


def in_f64(fmt: Format, accumulate: Any = None) -> bool:
    """Whether functions of several steps, of which one may be beyond the format, are
    computed in f64: those of fixed point that adds up in a quire."""
    if fmt.family != "fixed" or fmt._facts["lowerings"] or not _casts.carrier(fmt):
        return False
    return accumulator(fmt, accumulate).is_exact


def saturating(fmt: Format) -> Format:
    """The same numbers in a format that does not wrap."""
    return _casts.chosen(fmt.spelling.replace(",wrap", ""))


_FIXED = re.compile(r"fixed<(\d+),(\d+)")


def _parameter(fmt: Format) -> str:
    kind = number(fmt)
    if kind in ("f32", "f64"):
        return fmt.spelling
    return kind.removeprefix("!numera.num<").removesuffix(">")


def _rounded(
    accumulator: Accumulator, rank: int, divisor: bool
) -> tuple[list[str], bool]:
    """Lines that round tensor %sums to %r, the result; and whether they draw.

    With ``divisor`` each sum is divided by %count, in the accumulator; that in a quire
    after it was rounded to ``accumulator.quotient``.
    """
    fmt, kind = accumulator.of, number(accumulator.of)
    whole, sums = tensor_type(rank, kind), tensor_type(rank, accumulator.type)
    draw = Draw(rank, "%m", before=2)
    lines = []
    value, at = "%s", accumulator.type
    if accumulator.is_exact:
        sum_ = accumulator.quotient if divisor else fmt
        random = draw.operand(sum_)
        lines.append(f"%q = numera.quire_round %s{random} : {at} to {number(sum_)}")
        value, at = "%q", number(sum_)
    if divisor:
        middle = accumulator.quotient
        random = draw.operand(middle)
        count, of = "%count", "i64"
        step = _casts.way_in(_COUNT, middle)
        if step != _COUNT:
            count, of = "%whole", step
            lines.append(f"%whole = arith.sitofp %count : i64 to {step}")
        lines.append(f"%n = numera.cast {count}{random} : {of} to {at}")
        random = draw.operand(middle)
        lines.append(f"%d = numera.div {value}, %n{random} : {at}")
        value = "%d"
    if at != kind or (at in ("f32", "f64") and not accumulator.is_exact):
        random = draw.operand(fmt)
        lines.append(f"%y = numera.cast {value}{random} : {at} to {kind}")
        value = "%y"
    if value == "%s":
        return [f"return %sums : {sums}"], False
    one = f"affine_map<({indices(rank)}) -> ({indices(rank)})>"
    return [
        *(f"%m{d} = tensor.dim %sums, %c{d} : {sums}" for d in range(rank)),
        f"%e = tensor.empty({', '.join(f'%m{d}' for d in range(rank))}) : {whole}",
        (
            f"%r = linalg.generic {{indexing_maps = [{one}, {one}], "
            f"iterator_types = [{parallel(rank)}]}} ins(%sums : {sums}) outs(%e : {whole}) {{"
        ),
        f"^bb0(%s: {accumulator.type}, %old: {kind}):",
        *draw.lines,
        *lines,
        f"linalg.yield {value} : {kind}",
        f"}} -> {whole}",
        f"return %r : {whole}",
    ], bool(draw.lines)


def contraction(accumulator: Accumulator) -> Kernel:
    """Batches of matrices: (b, m, k) times (b, k, n)."""
    fmt = accumulator.of
    kind = tensor_type(3, number(fmt))
    sums = tensor_type(3, accumulator.type)
    draw = Draw(4, "%n")
    step = accumulator.product(draw)
    after, draws = _rounded(accumulator, 3, divisor=False)
    names = ("b", "m", "n", "k")
    maps = ", ".join(
        f"affine_map<({', '.join(names)}) -> ({', '.join(some)})>"
        for some in ("bmk", "bkn", "bmn")
    )
    text = function(
        [f"%a: {kind}", f"%b: {kind}"],
        kind,
        draws or bool(draw.lines),
        [
            *constants(3),
            f"%n0 = tensor.dim %a, %c0 : {kind}",
            f"%n1 = tensor.dim %a, %c1 : {kind}",
            f"%n2 = tensor.dim %b, %c2 : {kind}",
            f"%n3 = tensor.dim %a, %c2 : {kind}",
            *accumulator.start(),
            f"%empty = tensor.empty(%n0, %n1, %n2) : {sums}",
            (
                f"%start = linalg.fill ins(%start_value : {accumulator.type}) "
                f"outs(%empty : {sums}) -> {sums}"
            ),
            (
                f"%sums = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
                '["parallel", "parallel", "parallel", "reduction"]} '
                f"ins(%a, %b : {kind}, {kind}) outs(%start : {sums}) {{"
            ),
            f"^bb0(%x0: {number(fmt)}, %x1: {number(fmt)}, %acc: {accumulator.type}):",
            *draw.lines,
            *step,
            f"linalg.yield %t : {accumulator.type}",
            f"}} -> {sums}",
            *after,
        ],
    )
    dtype = code_dtype(fmt)
    return Kernel([fmt, accumulator.format], text, [dtype, dtype], [dtype])


def total(accumulator: Accumulator, divisor: bool, operation: str = "add") -> Kernel:
    """Sums over the middle one of three dimensions; with ``divisor``, means.

    With ``mul``, products, of which a quire knows nothing.
    """
    fmt = accumulator.of
    kind, result = tensor_type(3, number(fmt)), tensor_type(2, number(fmt))
    sums = tensor_type(2, accumulator.type)
    draw = Draw(3, "%n")
    step = accumulator.term(draw, operation)
    after, draws = _rounded(accumulator, 2, divisor)
    text = function(
        [f"%a: {kind}", *(["%count: i64"] if divisor else [])],
        result,
        draws or bool(draw.lines),
        [
            *constants(3),
            *(f"%n{d} = tensor.dim %a, %c{d} : {kind}" for d in range(3)),
            *accumulator.start("1.0" if operation == "mul" else "0.0"),
            f"%empty = tensor.empty(%n0, %n2) : {sums}",
            (
                f"%start = linalg.fill ins(%start_value : {accumulator.type}) "
                f"outs(%empty : {sums}) -> {sums}"
            ),
            (
                "%sums = linalg.generic {indexing_maps = ["
                "affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>], "
                'iterator_types = ["parallel", "reduction", "parallel"]} '
                f"ins(%a : {kind}) outs(%start : {sums}) {{"
            ),
            f"^bb0(%x0: {number(fmt)}, %acc: {accumulator.type}):",
            *draw.lines,
            *step,
            f"linalg.yield %t : {accumulator.type}",
            f"}} -> {sums}",
            *after,
        ],
    )
    dtype = code_dtype(fmt)
    return Kernel(
        [fmt, accumulator.format],
        text,
        [dtype, *([_I64] if divisor else [])],
        [dtype],
    )
