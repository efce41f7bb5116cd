# SPDX-License-Identifier: MIT
"""Programs of one operation on arrays of codes, as MLIR.

Sizes are dynamic: a program serves every array of a kind, and is compiled when
the first one comes.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from numera import _arrays, _numera, _sources
from numera._formats import Format
from numera._scaled import code_dtype

__all__ = ["stochastic"]

Pattern = tuple[tuple[bool, ...], ...]
"""For each dimension of a loop, whether each operand has it."""

_BOOL, _I64 = 11, 6
_MANY = 1 << 15
_kernels: dict[tuple[Any, ...], Kernel] = {}


class Kernel:
    """A program, and whether it draws."""

    def __init__(
        self,
        formats: Sequence[Format],
        text: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
    ) -> None:
        registry = _sources.registry(_sources.merge(f._sources for f in formats))
        self._native = _numera.Kernel(registry, text, inputs, outputs)
        self._draws = "numera.draws" in text

    def run(self, inputs: list[Any], outputs: list[Any], work: int) -> None:
        """Fills outputs. All arrays are without gaps.

        work  how many elements are computed: few are not worth several threads.
        """
        seed = step = sample = 0
        threads = 1 if work < _MANY else 0
        if self._draws:
            seed, step, sample = _draws()
        self._native.run(inputs, outputs, threads, seed, step, sample)


def find(key: tuple[Any, ...], make: Callable[[], Kernel]) -> Kernel:
    """The program of a key, made when it is first asked for."""
    found = _kernels.get(key)
    if found is None:
        found = _kernels[key] = make()
    return found


def known(key: tuple[Any, ...]) -> Kernel | None:
    """The program of a key, if there is one."""
    return _kernels.get(key)


# ---- stochastic rounding ----------------------------------------------------


class _State(threading.local):
    def __init__(self) -> None:
        self.seed = self.step = 0
        self.count = itertools.count()


_state = _State()


def _draws() -> tuple[int, int, int]:
    """Seed, step, and a sample that no operation before has had."""
    return _state.seed, _state.step, next(_state.count)


@contextmanager
def stochastic(seed: int, step: int = 0) -> Iterator[None]:
    """Seeds what operations of stochastic formats draw, in this thread.

    Inside, the first operation draws as sample 0 of that seed and step, the
    second one as sample 1, and so on: the same operations give the same bits.
    Outside of it, seed and step are 0, and a thread's operations are counted from
    its beginning.

    >>> import numera
    >>> x = numera.array([1.0, 1.0, 1.0], numera.float(8, 7, rounding="stochastic"))
    >>> with numera.stochastic(seed=1):
    ...     a = x / 3
    >>> with numera.stochastic(seed=1):
    ...     b = x / 3
    >>> bool((a == b).all())
    True
    """
    before = _state.seed, _state.step, _state.count
    _state.seed, _state.step, _state.count = seed, step, itertools.count()
    try:
        yield
    finally:
        _state.seed, _state.step, _state.count = before


# ---- text -------------------------------------------------------------------


def number(fmt: Format) -> str:
    """The MLIR type of a number of a format."""
    kind = _numera.tensor_type(fmt._registry, fmt.name, 0)
    return kind.removeprefix("tensor<").removesuffix(">")


def _tensor(rank: int, element: str) -> str:
    return f"tensor<{'?x' * rank}{element}>"


def _is_stochastic(fmt: Format) -> bool:
    return "stochastic" in re.split("[<,>]", fmt.spelling)


def _random_bits(fmt: Format) -> int:
    _, found, bits = fmt.spelling.rpartition("random-bits=")
    return int(bits.split(",")[0].rstrip(">")) if found else 32


class _Draw:
    """The draws in a loop, each with an id of its own behind ``before``."""

    def __init__(self, loops: int, sizes: str, before: int = 0) -> None:
        self.lines: list[str] = []
        self.ids = before
        self._loops, self._sizes = loops, sizes

    def operand(self, fmt: Format) -> str:
        """`` random %draw``, or nothing for a format that does not draw."""
        if not _is_stochastic(fmt):
            return ""
        if not self.lines:
            self._index()
        self.ids += 1
        self.lines.append(
            f"%draw{self.ids} = numera.random %seed, %step, %sample, %index "
            f"id {self.ids} bits {_random_bits(fmt)}"
        )
        return f" random %draw{self.ids}"

    def _index(self) -> None:
        """The place in row-major order of all loops."""
        lines = self.lines
        for d in range(self._loops):
            lines.append(f"%i{d} = linalg.index {d} : index")
        at = "%i0"
        for d in range(1, self._loops):
            lines.append(f"%p{d} = arith.muli {at}, {self._sizes}{d} : index")
            lines.append(f"%s{d} = arith.addi %p{d}, %i{d} : index")
            at = f"%s{d}"
        lines.append(f"%index = arith.index_cast {at} : index to i64")


def _function(
    arguments: list[str], result: str, draws: bool, body: Sequence[str]
) -> str:
    attributes = ""
    if draws:
        arguments = [*arguments, "%seed: i64", "%step: i64", "%sample: i64"]
        attributes = " attributes {numera.draws}"
    lines = "\n  ".join(body)
    return (
        f"func.func @kernel({', '.join(arguments)}) -> {result}{attributes} {{\n"
        f"  {lines}\n}}\n"
    )


def _constants(count: int) -> list[str]:
    return [f"%c{d} = arith.constant {d} : index" for d in range(count)]


# ---- elementwise ------------------------------------------------------------

Body = Callable[[Callable[[Format], str]], tuple[list[str], str]]
"""Given what writes a draw: lines that compute on %x0, %x1 …, and the result."""


def elementwise(
    operands: Sequence[Format],
    result: Format | None,
    pattern: Pattern,
    body: Body,
) -> Kernel:
    """An operation on each element; without a result's format it gives bits."""
    loops = len(pattern)
    types = [number(fmt) for fmt in operands]
    out = number(result) if result is not None else "i1"
    ranks = [sum(has[i] for has in pattern) for i in range(len(operands))]
    sizes = _constants(loops)
    for d, has in enumerate(pattern):
        i = has.index(True)
        place = sum(other[i] for other in pattern[:d])
        kind = _tensor(ranks[i], types[i])
        sizes.append(f"%n{d} = tensor.dim %a{i}, %c{place} : {kind}")
    draw = _Draw(loops, "%n")
    lines, value = body(draw.operand)
    maps = [
        f"affine_map<({_indices(loops)}) -> "
        f"({', '.join(f'd{d}' for d in range(loops) if pattern[d][i])})>"
        for i in range(len(operands))
    ] + [f"affine_map<({_indices(loops)}) -> ({_indices(loops)})>"]
    tensors = [_tensor(rank, kind) for rank, kind in zip(ranks, types)]
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    values = "".join(f"%x{i}: {kind}, " for i, kind in enumerate(types))
    whole = _tensor(loops, out)
    text = _function(
        [f"%a{i}: {kind}" for i, kind in enumerate(tensors)],
        whole,
        bool(draw.lines),
        [
            *sizes,
            f"%e = tensor.empty({', '.join(f'%n{d}' for d in range(loops))}) : {whole}",
            f"%r = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
            f"iterator_types = [{_parallel(loops)}]}} "
            f"ins({names} : {', '.join(tensors)}) outs(%e : {whole}) {{",
            f"^bb0({values}%old: {out}):",
            *draw.lines,
            *lines,
            f"linalg.yield {value} : {out}",
            f"}} -> {whole}",
            f"return %r : {whole}",
        ],
    )
    formats = [*operands, *([] if result is None else [result])]
    return Kernel(
        formats,
        text,
        [code_dtype(fmt) for fmt in operands],
        [_BOOL if result is None else code_dtype(result)],
    )


def _indices(loops: int) -> str:
    return ", ".join(f"d{d}" for d in range(loops))


def _parallel(loops: int) -> str:
    return ", ".join(['"parallel"'] * loops)


# ---- sums -------------------------------------------------------------------


_accumulators: dict[tuple[Format, Any], Accumulator] = {}


def accumulator(fmt: Format, name: str | Format | None) -> Accumulator:
    """What sums of a format add up in, by a name; None: by default."""
    if isinstance(name, str) and name not in ("quire", "same"):
        name = _arrays.chosen(name)
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
        self.is_exact = name == "quire"
        self.is_same = name == "same"
        self.format = fmt if self.is_exact or self.is_same else _arrays.chosen(name)
        self.key = "quire" if self.is_exact else "same" if self.is_same else self.format
        self.type = number(self.format)
        if self.is_exact:
            self.type = f"!numera.quire<{_parameter(fmt)}>"

    def zero(self) -> str:
        """The line that makes %zero."""
        if self.is_exact:
            return f"%zero = numera.quire_zero : {self.type}"
        kind = "arith" if self.type in ("f32", "f64") else "numera"
        return f"%zero = {kind}.constant 0.0 : {self.type}"

    def product(self, draw: _Draw) -> list[str]:
        """The step %t of a contraction, on %x0, %x1 and %acc."""
        number_ = number(self.of)
        if self.is_exact:
            return [f"%t = numera.quire_mac %x0, %x1, %acc : {number_}, {self.type}"]
        if self.is_same and _is_stochastic(self.of):
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

    def term(self, draw: _Draw) -> list[str]:
        """The step %t of a sum, on %x0 and %acc."""
        number_ = number(self.of)
        if self.is_exact:
            return [f"%t = numera.quire_add %acc, %x0 : {self.type}, {number_}"]
        types = (
            number_
            if number_ == self.type
            else f"({self.type}, {number_}) -> {self.type}"
        )
        random = draw.operand(self.format)
        return [f"%t = numera.add %acc, %x0{random} : {types}"]


def _parameter(fmt: Format) -> str:
    kind = number(fmt)
    if kind in ("f32", "f64"):
        return fmt.spelling
    return kind.removeprefix("!numera.num<").removesuffix(">")


def _rounded(
    accumulator: Accumulator, rank: int, divisor: bool
) -> tuple[list[str], bool]:
    """Lines that round tensor %sums to %r, the result; and whether they draw.

    With ``divisor`` each sum is divided by %count, in the accumulator, or after
    it was rounded where that is the format itself.
    """
    fmt, kind = accumulator.of, number(accumulator.of)
    whole, sums = _tensor(rank, kind), _tensor(rank, accumulator.type)
    draw = _Draw(rank, "%m", before=2)
    lines = []
    value, at = "%s", accumulator.type
    if accumulator.is_exact:
        random = draw.operand(fmt)
        lines.append(f"%q = numera.quire_round %s{random} : {at} to {kind}")
        value, at = "%q", kind
    if divisor:
        middle = fmt if at == kind else accumulator.format
        random = draw.operand(middle)
        lines.append(f"%n = numera.cast %count{random} : i64 to {at}")
        random = draw.operand(middle)
        lines.append(f"%d = numera.div {value}, %n{random} : {at}")
        value = "%d"
    if at != kind or (at in ("f32", "f64") and not accumulator.is_exact):
        random = draw.operand(fmt)
        lines.append(f"%y = numera.cast {value}{random} : {at} to {kind}")
        value = "%y"
    if value == "%s":
        return [f"return %sums : {sums}"], False
    one = f"affine_map<({_indices(rank)}) -> ({_indices(rank)})>"
    return [
        *(f"%m{d} = tensor.dim %sums, %c{d} : {sums}" for d in range(rank)),
        f"%e = tensor.empty({', '.join(f'%m{d}' for d in range(rank))}) : {whole}",
        f"%r = linalg.generic {{indexing_maps = [{one}, {one}], "
        f"iterator_types = [{_parallel(rank)}]}} ins(%sums : {sums}) outs(%e : {whole}) {{",
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
    kind = _tensor(3, number(fmt))
    sums = _tensor(3, accumulator.type)
    draw = _Draw(4, "%n")
    step = accumulator.product(draw)
    after, draws = _rounded(accumulator, 3, divisor=False)
    names = ("b", "m", "n", "k")
    maps = ", ".join(
        f"affine_map<({', '.join(names)}) -> ({', '.join(some)})>"
        for some in ("bmk", "bkn", "bmn")
    )
    text = _function(
        [f"%a: {kind}", f"%b: {kind}"],
        kind,
        draws or bool(draw.lines),
        [
            *_constants(3),
            f"%n0 = tensor.dim %a, %c0 : {kind}",
            f"%n1 = tensor.dim %a, %c1 : {kind}",
            f"%n2 = tensor.dim %b, %c2 : {kind}",
            f"%n3 = tensor.dim %a, %c2 : {kind}",
            accumulator.zero(),
            f"%empty = tensor.empty(%n0, %n1, %n2) : {sums}",
            f"%start = linalg.fill ins(%zero : {accumulator.type}) "
            f"outs(%empty : {sums}) -> {sums}",
            f"%sums = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
            '["parallel", "parallel", "parallel", "reduction"]} '
            f"ins(%a, %b : {kind}, {kind}) outs(%start : {sums}) {{",
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


def total(accumulator: Accumulator, divisor: bool) -> Kernel:
    """Sums over the middle one of three dimensions; with ``divisor``, means."""
    fmt = accumulator.of
    kind, result = _tensor(3, number(fmt)), _tensor(2, number(fmt))
    sums = _tensor(2, accumulator.type)
    draw = _Draw(3, "%n")
    step = accumulator.term(draw)
    after, draws = _rounded(accumulator, 2, divisor)
    text = _function(
        [f"%a: {kind}", *(["%count: i64"] if divisor else [])],
        result,
        draws or bool(draw.lines),
        [
            *_constants(3),
            *(f"%n{d} = tensor.dim %a, %c{d} : {kind}" for d in range(3)),
            accumulator.zero(),
            f"%empty = tensor.empty(%n0, %n2) : {sums}",
            f"%start = linalg.fill ins(%zero : {accumulator.type}) "
            f"outs(%empty : {sums}) -> {sums}",
            "%sums = linalg.generic {indexing_maps = ["
            "affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>], "
            'iterator_types = ["parallel", "reduction", "parallel"]} '
            f"ins(%a : {kind}) outs(%start : {sums}) {{",
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
