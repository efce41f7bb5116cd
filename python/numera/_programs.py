# SPDX-License-Identifier: MIT
"""Models compiled in a number format."""

from __future__ import annotations

import json
import os
import pathlib
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from numera import _numera
from numera._calls import Function
from numera._errors import Error, check_whole
from numera._models import Model, read, source_of, write
from numera._request import Path, Spec
from numera._sources import Source

__all__ = ["Program", "Statistics", "compile", "open"]


class Statistics(NamedTuple):
    """What a program counted, as rows that ``pandas.DataFrame`` takes."""

    operations: list[dict[str, Any]]
    """``name``, ``operation``, ``format``, ``count`` and the flags."""
    scaled: list[dict[str, Any]]
    """Of scaled tensors: elements, those beyond full scale, scales."""


class Program:
    """A compiled model. Made by :func:`numera.compile` and :func:`numera.open`.

    Threads may call a program at the same time, and so may processes that were
    forked from the one that compiled it. A program that was pickled is compiled
    again, for the machine at hand.
    """

    def __init__(self, native: _numera.Program, model: Model | None = None) -> None:
        self._native = native
        self._model = model
        self._path: str | None = None
        self._counting: _numera.Program | None = None
        # What counts rows that the other leaves, for each function.
        self._recounting: dict[str, tuple[set[int], _numera.Program]] = {}
        self._showing: _numera.Program | None = None
        self._metadata = json.loads(native.metadata)
        self.functions: dict[str, Function] = {
            entry["name"]: Function(native, entry, self.seed, self.target)
            for entry in self._metadata["functions"]
        }

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Calls the function, if there is only one. See :class:`numera.Function`."""
        return self._only(*inputs, **options)

    @property
    def _only(self) -> Function:
        if len(self.functions) != 1:
            raise Error(
                f"the program has several functions; choose one of "
                f"{', '.join(self.functions)} in .functions"
            )
        return next(iter(self.functions.values()))

    @property
    def inputs(self) -> tuple[Any, ...]:
        """What the only function takes: names, dtypes and shapes."""
        return self._only.inputs

    @property
    def outputs(self) -> tuple[Any, ...]:
        """What the only function returns."""
        return self._only.outputs

    @property
    def seed(self) -> int:
        """Of stochastic rounding, where a call has none."""
        return self._metadata["seed"]

    @property
    def target(self) -> str:
        """The machine, and the CPU or GPU."""
        return self._metadata["target"]

    @property
    def policy(self) -> dict[str, Any]:
        """What was chosen: the format, what sums are kept in, how it rounds and
        overflows; and, where there are rules, the operations each was for."""
        keys = ("format", "accumulate", "rounding", "overflow", "rules")
        chosen = {key: self._metadata[key] for key in keys if key in self._metadata}
        return json.loads(json.dumps(chosen))

    def save(self, path: Path, *, emit: str | None = None) -> None:
        """Writes the program to a file, completely or not at all.

        ``emit`` is ``so``, ``exe``, ``obj``, ``asm`` or ``llvm``; None: as the end
        of the path says. A shared object stands alone: :func:`numera.open` and
        programs in C call it (its header is written beside it). Linking one, or an
        executable, needs clang.
        """
        model = self._known("save")
        path = os.fspath(path)
        ends = {".so": "so", ".o": "obj", ".s": "asm", ".ll": "llvm", "": "exe"}
        end = os.path.splitext(path)[1]
        if emit is None and end not in ends:
            raise Error(
                f"'{path}' does not say what to write, expected an end of "
                f"{', '.join(filter(None, ends))} or emit="
            )
        write(model, emit or ends[end], path)

    def mlir(self, stage: str = "retype") -> str:
        """The model as MLIR: ``import`` (in f32), ``retype`` (in the format) or
        ``lowered`` (LLVM dialect)."""
        model = self._known("mlir")
        return _numera.print_model(
            model.registry, model.name, model.text, model.options, stage
        )

    def stats(
        self, *inputs: Any, function: str | None = None, **options: Any
    ) -> Statistics:
        """Runs a function and counts, for each operation, how often it overflowed,
        underflowed, was invalid or divided by zero (docs/Semantics/StatusFlags.md).

        The counts are those of ``numera run --stats``; None where they cannot be
        told. A program of its own counts, which the first call compiles. It tests
        what seldom has flags. Where a test fails, another one counts this alone.

        >>> import numera
        >>> square = numera.compile('''
        ...   func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
        ...     %y = arith.mulf %x, %x : tensor<?xf32>
        ...     return %y : tensor<?xf32>
        ...   }''', format="f8E4M3FN")
        >>> for row in square.stats([1e-3, 1, 100]).operations:
        ...     print(row["operation"], row["overflow"], row["underflow"])
        cast 0 1
        mul 1 1
        """
        model = self._known("stats")
        if self._counting is None:
            self._counting = model.compile("count=flags", "postpone=yes")
        name, results = self._observe(self._counting, function, inputs, options)
        if not results:
            return Statistics([], [])  # it only moves numbers
        numbers = results[-1]
        if left := self._counting.postponed(name, numbers):
            program = self._recounter(model, name, set(map(int, left.split(","))))
            _, results = self._observe(program, function, inputs, options)
            numbers = np.where(numbers == -1, results[-1], numbers)
        found = json.loads(self._counting.statistics(model.registry, name, numbers))
        return Statistics(found["stats"], found.get("scaled", []))

    def _recounter(self, model: Model, name: str, rows: set[int]) -> _numera.Program:
        """A program that counts these rows of a function, and others that an
        earlier call left."""
        counted, program = self._recounting.get(name, (set(), None))
        if program is None or not rows <= counted:
            rows |= counted
            listed = ",".join(map(str, sorted(rows)))
            program = model.compile("count=flags", f"counted-rows={listed}")
            self._recounting[name] = rows, program
        return program

    def layers(
        self, *inputs: Any, function: str | None = None, **options: Any
    ) -> list[dict[str, Any]]:
        """Runs a function and measures, for each layer, how far its numbers are
        from those of the same model in f32 (docs/Semantics/LayerErrors.md).

        Each row has the keys of ``numera run --layers --json``:
        ``pandas.DataFrame(program.layers(x))`` is a table. ``input_sqnr_db`` is
        what the layer got, ``own_sqnr_db`` what it adds by itself, and
        ``sqnr_db`` both; in dB, None for infinite. A program of its own measures,
        which the first call compiles.

        >>> import numera
        >>> square = numera.compile('''
        ...   func.func @square(%x: tensor<?xf32>) -> tensor<?xf32> {
        ...     %y = arith.mulf %x, %x : tensor<?xf32>
        ...     return %y : tensor<?xf32>
        ...   }''', format="f8E4M3FN")
        >>> (row,) = square.layers([1e-3, 1, 100])
        >>> row["name"], row["overflow"] == 1 / 3, row["zeros"] == 1 / 3
        ('mulf', True, True)
        """
        return self._layers_of(function, [(inputs, options)])

    def _layers_of(
        self,
        function: str | None,
        calls: Iterable[tuple[Sequence[Any], Mapping[str, Any]]],
    ) -> list[dict[str, Any]]:
        """Of several calls together: inputs and options of each."""
        model = self._known("layers")
        on_device = self.target.startswith("nvptx")
        if self._showing is None:
            self._showing = model.compile(f"count={'layers' if on_device else 'rows'}")
        if on_device:
            return self._returned_layers(self._showing, function, calls)
        name = self._named(function)
        layers = None
        for inputs, options in calls:
            if layers is None:
                threads = options.get("threads", 0)
                check_whole(threads=threads)
                layers = _numera.Layers(self._showing, model.registry, name, threads)
            call = self._function_of(self._showing, name)
            call.layers = layers
            call(*inputs, **options)
        return _layers(layers.print()) if layers else []

    def _returned_layers(
        self,
        program: _numera.Program,
        function: str | None,
        calls: Iterable[tuple[Sequence[Any], Mapping[str, Any]]],
    ) -> list[dict[str, Any]]:
        """The same of a program for a GPU, which returns what layers make."""
        parts = []
        for inputs, options in calls:
            name, results = self._observe(program, function, inputs, options)
            if not results:
                return []  # it only moves numbers
            parts.append(results)
        if len(parts) > 1:  # errors are of elements, whatever the shapes
            results = [
                np.concatenate([np.ravel(each) for each in same])
                for same in zip(*parts)
            ]
        return _layers(program.layers(self._known("layers").registry, name, results))

    def _named(self, function: str | None) -> str:
        name = function or self._only.name
        if name not in self.functions:
            raise Error(f"no function '{name}'")
        return name

    def _function_of(self, program: _numera.Program, name: str) -> Function:
        """The function as `program` has it."""
        entries = json.loads(program.metadata)["functions"]
        (entry,) = (entry for entry in entries if entry["name"] == name)
        return Function(program, entry, self.seed, self.target)

    def _observe(
        self,
        program: _numera.Program,
        function: str | None,
        inputs: Sequence[Any],
        options: Mapping[str, Any],
    ) -> tuple[str, list[np.ndarray]]:
        """The function's name, and all results that it has in `program`; none
        where these are the function's own."""
        name = self._named(function)
        call = self._function_of(program, name)
        if len(call.outputs) == len(self.functions[name].outputs):
            return name, []
        results = call(*inputs, **options)
        return name, [np.asarray(result) for result in results]

    def _known(self, method: str) -> Model:
        if self._model is None:
            raise Error(
                f"a program that was opened has no model, which .{method} needs; "
                f"compile it instead"
            )
        return self._model

    def __reduce__(self) -> tuple[Any, ...]:
        if self._model is None:
            return open, (self._path,)
        name, text, sources, options, folder = self._model
        data = pathlib.Path(name).read_bytes() if folder else text
        return _restore, (name, data, tuple(map(tuple, sources)), options)

    def __repr__(self) -> str:
        functions = ", ".join(map(str, self.functions.values()))
        return f"<numera.Program in {self._metadata['format']}: {functions}>"


def _layers(text: str) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", json.loads(text)["layers"])


def compile(
    model: Any,
    *,
    format: Spec | None = None,
    replace: str | Sequence[str] | None = None,
    accumulate: Spec | None = None,
    rounding: str | None = None,
    random_bits: int | None = None,
    overflow: str | None = None,
    seed: int | None = None,
    output_as: str | Sequence[str | None] | None = None,
    quires: Sequence[int] = (),
    function: str | None = None,
    policy: Mapping[str, Any] | Path | None = None,
    formats: Path | Sequence[Path] = (),
    target: str | None = None,
    cpu: str | None = None,
    gpu: str | None = None,
    optimization: int | None = None,
    code_cache: Path | None = None,
    safetensors: Path | None = None,
) -> Program:
    """Compiles a model, for calls from this process. Needs neither clang nor a
    linker.

    model       the path of an .onnx, .mlir or .mlirbc file, a model of ONNX or its
                bytes, or MLIR itself.
    format      what it computes in; None: the policy's, else f32.
    replace     the float types of the model that the format replaces, ``f32``
                (None) or several: ``("f32", "bf16")``. Numbers of another type are
                in the format of its name. Inputs and results keep their types.
    accumulate  what sums of products are kept in: ``same``, ``quire``, a format.
    output_as   results as ``f32``, ``f64``, or codes, ``storage``; None: as in the
                model. A list has one for each result.
    quires      numbers of results whose sums are results as well, behind all others:
                the words of the quires that they were rounded from, as i64 in a
                last dimension (Semantics/Quire.md). With ``accumulate="quire"``.
    policy      formats for parts of the model: a mapping with the keys of
                Configuration.md's ``policy``, or a YAML file that has one. Its
                ``default`` and ``accumulate`` are the two arguments above, where
                these are given; its rules hold.
    formats     YAML files for this compilation alone. ``format`` goes before a
                policy that they have, with its rules, as on the command line.
    cpu         the machine, ``native``, ``x86-64-v3``…; several with commas.

    optimization
                0 compiles in less time, 3 (None) runs in less; the bits are the
                same.
    code_cache  the folder where machine code is kept for programs of this and
                other processes that have the same parts; ``"off"``: none.
    safetensors
                the file with the elements of ``dense_resource`` constants; None:
                the one beside the model, with its name.

    The others are the options of ``numera compile`` (CommandLine.md). What the
    compiler warns of is a warning.

    >>> import numera
    >>> twice = numera.compile('''
    ...   func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
    ...     %y = arith.addf %x, %x : tensor<?xf32>
    ...     return %y : tensor<?xf32>
    ...   }''', format="posit8")
    >>> twice([1, 0.1, 3])
    array([2.      , 0.203125, 6.      ], dtype=float32)
    """
    given = {key: each for key, each in locals().items() if key != "model"}
    program, lines = compiled(model, given)
    for line in lines:
        warnings.warn(line, stacklevel=2)
    return program


def compiled(model: Any, given: Mapping[str, Any]) -> tuple[Program, list[str]]:
    """A program from the arguments of ``compile``, and what the compiler warns of."""
    source = source_of(model, given)
    native = source.compile()
    text = re.sub(r"see --(\w+)", r"see the argument '\1'", native.warnings)
    return Program(native, source), source.shown(text).splitlines()


def save(path: Path, model: Any, **given: Any) -> None:
    """Writes a shared object, as ``compile(model, …).save(path)`` does, without a
    program for this process."""
    write(source_of(model, given), "so", os.fspath(path))


def _restore(
    name: str,
    data: str | bytes | None,
    sources: Sequence[Sequence[str]],
    options: list[str],
) -> Program:
    """The program, compiled for this machine."""
    known = tuple(Source(*source) for source in sources)
    if isinstance(data, bytes):
        model = read(data, known, options)
    else:
        model = Model(name, data, known, options, None)
    return Program(model.compile(), model)


def open(path: Path) -> Program:
    """Opens a shared object that Numera wrote."""
    path = os.path.abspath(path)
    program = Program(_numera.Program.open(path))
    program._path = path
    return program
