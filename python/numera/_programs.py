# SPDX-License-Identifier: MIT
"""Models compiled in a number format."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from numera import _formats, _numera, _sources
from numera._errors import Error
from numera._formats import Format

__all__ = ["Function", "Program", "Tensor", "compile", "open"]

_DTYPES = {
    "f32": "f4",
    "f64": "f8",
    "bool": "?",
    **{f"{kind}{8 * n}": f"{kind}{n}" for kind in "iu" for n in (1, 2, 4, 8)},
}


class Tensor(NamedTuple):
    """What a function takes or returns."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...]
    """None for a dimension that calls decide."""


def _tensors(entries: Sequence[Mapping[str, Any]]) -> tuple[Tensor, ...]:
    return tuple(
        Tensor(
            entry["name"],
            np.dtype(_DTYPES[entry["dtype"]]),
            tuple(None if size < 0 else size for size in entry["shape"]),
        )
        for entry in entries
    )


class Function:
    """A function of a program."""

    def __init__(self, program: Program, entry: Mapping[str, Any]) -> None:
        self._program = program
        self._native = program._native
        self._seed = program.seed
        self.name: str = entry["name"]
        self.inputs = _tensors(entry["inputs"])
        self.outputs = _tensors(entry["outputs"])

    def __call__(
        self,
        *inputs: Any,
        out: Any = None,
        threads: int = 0,
        seed: int | None = None,
        step: int = 0,
        sample: int = 0,
    ) -> Any:
        """Runs the function.

        Arrays of NumPy, and whatever else speaks DLPack, are read where they are
        if they are dense and of the input's type. The result is a NumPy array, or
        a tuple of them where there are several.

        threads  0: as many as there are processors; the bits are the same.
        seed     of stochastic rounding; None: the seed given to ``compile``.
        step     of stochastic rounding: the training step, say.
        sample   the place in the data set of the inputs' first row.
        """
        if len(inputs) != len(self.inputs):
            raise Error(
                f"'{self.name}' takes {len(self.inputs)} inputs, found {len(inputs)}"
            )
        arrays = [
            array
            if type(array) is np.ndarray
            and array.dtype == tensor.dtype
            and array.flags.c_contiguous
            else _dense(array, tensor)
            for array, tensor in zip(inputs, self.inputs)
        ]
        results = self._native.call(
            self.name,
            arrays,
            [],
            len(self.outputs),
            threads,
            self._seed if seed is None else seed,
            step,
            sample,
        )
        return results[0] if len(results) == 1 else tuple(results)


def _dense(value: Any, tensor: Tensor) -> np.ndarray[Any, Any]:
    """The array of an argument that is none, or not as the function wants it."""
    array = np.asarray(value)
    if not np.can_cast(array.dtype, tensor.dtype, "safe"):
        raise Error(
            f"input '{tensor.name}' has dtype {array.dtype}, expected {tensor.dtype}"
        )
    return np.require(array, tensor.dtype, "C")


class Program:
    """A compiled model. Made by :func:`numera.compile` and :func:`numera.open`."""

    def __init__(self, native: _numera.Program) -> None:
        self._native = native
        self._metadata = json.loads(native.metadata)
        self.functions = {
            entry["name"]: Function(self, entry)
            for entry in self._metadata["functions"]
        }

    @property
    def seed(self) -> int:
        """Of stochastic rounding, where a call has none."""
        return self._metadata["seed"]

    def __call__(self, *inputs: Any, **options: Any) -> Any:
        """Calls the function, if there is only one. See :class:`Function`."""
        if len(self.functions) != 1:
            raise Error(
                f"the program has several functions; choose one of "
                f"{', '.join(self.functions)} in .functions"
            )
        (function,) = self.functions.values()
        return function(*inputs, **options)


def compile(
    model: str | os.PathLike[str],
    *,
    format: str | Format | None = None,
    accumulate: str | Format | None = None,
    rounding: str | None = None,
    random_bits: int | None = None,
    overflow: str | None = None,
    seed: int | None = None,
    output_as: str | None = None,
    function: str | None = None,
    cpu: str | None = None,
) -> Program:
    """Compiles a model, for calls from this process.

    model  the path of an .onnx or .mlir file, or MLIR itself.
    """
    groups = []
    options = []
    for key, value in (("format", format), ("accumulate", accumulate)):
        if value is None:
            continue
        words = ("same", "quire", "tensorcore")
        if key == "accumulate" and value in words:
            options.append(f"{key}={value}")
            continue
        chosen = _formats.format(value)
        groups.append(chosen._sources)
        options.append(f"{key}={chosen.name}")
    named = {
        "rounding": rounding,
        "random-bits": random_bits,
        "overflow": overflow,
        "seed": seed,
        "output-as": output_as,
        "function": function,
        "cpu": cpu,
    }
    options += [f"{key}={value}" for key, value in named.items() if value is not None]
    registry = _sources.registry(_sources.merge(groups))
    text = os.fspath(model)
    if isinstance(model, str) and not text.endswith((".onnx", ".mlir")):
        native = _numera.Program.compile_text(registry, text, "model.mlir", options)
    else:
        native = _numera.Program.compile_file(registry, text, options)
    return Program(native)


def open(path: str | os.PathLike[str]) -> Program:
    """Opens a shared object that Numera wrote."""
    return Program(_numera.Program.open(os.fspath(path)))
