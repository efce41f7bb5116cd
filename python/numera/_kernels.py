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

from numera import _numera, _register, _sources
from numera._bounded import PROGRAMS, Bounded
from numera._errors import Error, check_whole
from numera._formats import Format
from numera._scaled import code_dtype

__all__ = ["stochastic"]

Pattern = tuple[tuple[bool, ...], ...]
"""For each dimension of a loop, whether each operand has it."""

_BOOL = 11
_MANY = 1 << 15
_PLACE = re.compile(r"^kernel:\d+:\d+: error: ")
_kernels: dict[tuple[Any, ...], Kernel] = Bounded(PROGRAMS)


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
        try:
            self._native = _numera.Kernel(registry, text, inputs, outputs)
        except Error as error:
            # Without the place in a text that no user has seen.
            line = Error(_PLACE.sub("", str(error)))
            raise _register.explained(line, formats) from None
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

    def run_each(self, inputs: tuple[Any, ...], output: Any) -> bool:
        """Fills the output of an operation on each element; False, and nothing is
        done, if shapes differ or there are gaps.

        Nor for what draws: an operation that is tried in vain must not take a
        sample.
        """
        if self._draws:
            return False
        return self._native.run_each(inputs, output, 1 if output.size < _MANY else 0)


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
    check_whole(seed=seed, step=step)
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


def tensor_type(rank: int, element: str) -> str:
    """The MLIR type of a tensor of any sizes."""
    return f"tensor<{'?x' * rank}{element}>"


def is_stochastic(fmt: Format) -> bool:
    """Whether what is rounded to a format draws."""
    return fmt.family != "opaque" and fmt.rounding == "stochastic"


def _random_bits(fmt: Format) -> int:
    return fmt.facts["random_bits"]


class Draw:
    """The draws in a loop, each with an id of its own behind ``before``."""

    def __init__(self, loops: int, sizes: str, before: int = 0) -> None:
        self.lines: list[str] = []
        self.ids = before
        self._loops, self._sizes = loops, sizes

    def operand(self, fmt: Format) -> str:
        """`` random %draw``, or nothing for a format that does not draw."""
        if not is_stochastic(fmt):
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


def function(
    arguments: list[str], result: str, draws: bool, body: Sequence[str]
) -> str:
    """The one function of a program; one that draws takes what draws follow from."""
    attributes = ""
    if draws:
        arguments = [*arguments, "%seed: i64", "%step: i64", "%sample: i64"]
        attributes = " attributes {numera.draws}"
    lines = "\n  ".join(body)
    return (
        f"func.func @kernel({', '.join(arguments)}) -> {result}{attributes} {{\n"
        f"  {lines}\n}}\n"
    )


def constants(count: int) -> list[str]:
    """Lines that make %c0, %c1 …, the numbers of dimensions."""
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
    sizes = constants(loops)
    for d, has in enumerate(pattern):
        i = has.index(True)
        place = sum(other[i] for other in pattern[:d])
        kind = tensor_type(ranks[i], types[i])
        sizes.append(f"%n{d} = tensor.dim %a{i}, %c{place} : {kind}")
    draw = Draw(loops, "%n")
    lines, value = body(draw.operand)
    maps = [
        f"affine_map<({indices(loops)}) -> "
        f"({', '.join(f'd{d}' for d in range(loops) if pattern[d][i])})>"
        for i in range(len(operands))
    ] + [f"affine_map<({indices(loops)}) -> ({indices(loops)})>"]
    tensors = [tensor_type(rank, kind) for rank, kind in zip(ranks, types)]
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    values = "".join(f"%x{i}: {kind}, " for i, kind in enumerate(types))
    whole = tensor_type(loops, out)
    text = function(
        [f"%a{i}: {kind}" for i, kind in enumerate(tensors)],
        whole,
        bool(draw.lines),
        [
            *sizes,
            f"%e = tensor.empty({', '.join(f'%n{d}' for d in range(loops))}) : {whole}",
            (
                f"%r = linalg.generic {{indexing_maps = [{', '.join(maps)}], "
                f"iterator_types = [{parallel(loops)}]}} "
                f"ins({names} : {', '.join(tensors)}) outs(%e : {whole}) {{"
            ),
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


def indices(loops: int) -> str:
    """The dimensions of an affine map."""
    return ", ".join(f"d{d}" for d in range(loops))


def parallel(loops: int) -> str:
    """The kinds of loops that are all parallel."""
    return ", ".join(['"parallel"'] * loops)
