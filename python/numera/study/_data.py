# SPDX-License-Identifier: MIT
"""Data sets: files of arrays, and how they are given to a function in slices."""

from __future__ import annotations

import copy
import gzip
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from numera._calls import Function, Tensor
from numera._errors import Error
from numera._request import Path
from numera.study import _files

__all__ = ["DataSet", "load", "load_labels", "read", "read_inputs"]

Array = np.ndarray[Any, Any]

_IDX = {8: "u1", 9: "i1", 11: ">i2", 12: ">i4", 13: ">f4", 14: ">f8"}
"""NumPy's names of the types in idx files, by their codes."""
_NAMED = re.compile(r"\.(npz|csv|parquet):[^:]*$", re.IGNORECASE)
"""A file with one of its arrays, or some of its columns."""
_BATCH = 64
"""Rows of a slice where the model leaves them open, as ``numera run`` has them."""


def read(path: Path) -> Array:
    """The array of a file: .npy, .npz, or idx, which may be in gzip's format; the
    numbers of a .csv or .parquet file; the images of a folder.

    The content tells which. An .npz file with several arrays is named with one of
    them behind a colon: ``data.npz:images``; so are columns: ``data.csv:a,b``.

    >>> import numera
    >>> numera.study.read("none.npy")
    Traceback (most recent call last):
    numera.Error: cannot read none.npy: No such file or directory
    """
    text, name = os.fspath(path), ""
    if not os.path.exists(text) and _NAMED.search(text):
        text, _, name = text.rpartition(":")
    if os.path.isdir(text):
        return _files.images(text)
    try:
        if text.lower().endswith((".csv", ".parquet")):
            return _files.table(text, name)
        with open(text, "rb") as file:
            head = file.read(4)
        if head[:2] == b"PK":
            return _member(text, name)
        if head == b"\x93NUM":
            return _plain(np.load(text, allow_pickle=False))
        opened = gzip.open if head[:2] == b"\x1f\x8b" else open
        with opened(text, "rb") as file:
            return _idx(file.read())
    except OSError as error:
        reason = error.strerror or str(error)
    except Error:
        raise
    except Exception as error:  # noqa: BLE001 - parsers of damaged files raise any kind
        reason = (str(error).splitlines() or [type(error).__name__])[0]
    raise Error(f"cannot read {text}: {reason}")


def _member(path: str, name: str) -> Array:
    with np.load(path, allow_pickle=False) as arrays:
        if not name and len(arrays.files) == 1:
            name = arrays.files[0]
        if name not in arrays.files:
            found = f"has no array '{name}'" if name else "has several arrays"
            raise ValueError(
                f"it {found}; name one of {', '.join(arrays.files)}: {path}:NAME"
            )
        return _plain(arrays[name])


def _plain(array: Array) -> Array:
    """With the values of bf16, which NumPy saves as bytes without a type."""
    if array.dtype == np.dtype("V2"):
        return (array.view("u2").astype("u4") << 16).view("f4")
    return array


def _idx(data: bytes) -> Array:
    """0, 0, type, rank, the sizes, the elements; all with the highest byte first."""
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _IDX:
        raise ValueError(
            "it is neither .npy, .npz nor idx, nor does its name end in .csv or .parquet"
        )
    start = 4 + 4 * data[3]
    if len(data) < start:
        raise ValueError("its head is cut off")
    shape = [int(size) for size in np.frombuffer(data, ">u4", data[3], 4)]
    dtype = np.dtype(_IDX[data[2]])
    size = start + dtype.itemsize * int(np.prod(shape, dtype=object))
    if len(data) != size:
        raise ValueError(f"it has {len(data)} bytes, expected {size} by its head")
    array = np.frombuffer(data, dtype, offset=start).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


class DataSet:
    """Arrays for the inputs of a function, in slices of a batch.

    As with ``numera run``, an array with more rows than the input's is a data set,
    and any array is where the input leaves its first dimension open. The others are
    passed whole. The last slice of a fixed batch is filled up with the last row.
    """

    def __init__(
        self, function: Function, given: Any, limit: int | None, batch: int | None
    ) -> None:
        tensors = function.inputs
        arrays = _by_input(given, tensors)
        self.arrays = [_conform(a, t) for a, t in zip(arrays, tensors)]
        self.sliced = [
            bool(t.shape) and (t.shape[0] is None or t.shape[0] < len(a))
            for a, t in zip(self.arrays, tensors)
        ]
        chosen = [
            (array, tensor)
            for array, tensor, sliced in zip(self.arrays, tensors, self.sliced)
            if sliced
        ]
        found = {tensor.name: len(array) for array, tensor in chosen}
        if len(set(found.values())) > 1:
            listed = ", ".join(f"{rows} of '{name}'" for name, rows in found.items())
            raise Error(f"the inputs have different numbers of rows: {listed}")
        fixed = {t.shape[0] for _, t in chosen if t.shape[0] is not None}
        if len(fixed) > 1:
            raise Error("the inputs have batches of different sizes")
        self.fixed = bool(fixed)
        if fixed and batch not in (None, *fixed):
            raise Error(f"the batch is {batch}, and the model's is {min(fixed)}")
        # Rows that need each other stay together.
        most = _BATCH if function.independent_rows else max(found.values(), default=1)
        self.batch = int(min(fixed)) if fixed else batch or max(most, 1)
        self.rows: int | None = None
        """None if every array is passed whole."""
        self.order: Array | None = None
        """In which rows are given; None: as they come."""
        self.given = 0
        """How many there were before the limit."""
        if found:
            self.rows = self.given = min(found.values())
            if limit is not None:
                self.rows = min(limit, self.rows)
            if not self.rows:
                raise Error("the inputs have no rows")
            self.arrays = [
                array[: self.rows] if sliced else array
                for array, sliced in zip(self.arrays, self.sliced)
            ]

    def ordered(self, order: Array, batch: int) -> DataSet:
        """The same rows in another order, in slices of at most such a batch."""
        found = copy.copy(self)
        found.order = order
        found.batch = self.batch if self.fixed else min(batch, self.batch)
        return found

    def labels_of_rows(self, labels: Any) -> Array | None:
        """The labels of the rows that are run, where a limit leaves out others."""
        if labels is None:
            return None
        array = np.asarray(labels)
        if self.rows is None or self.rows == self.given or not array.ndim:
            return array
        if len(array) != self.given:
            raise Error(
                f"{len(array)} labels, expected one for each of {self.given} rows"
            )
        return array[: self.rows]

    def labelled(self, function: Function) -> int | None:
        """How many labels there are: one for each row; of arrays that are passed
        whole, for each row of the first output, as with ``numera run``."""
        if self.rows is not None or not function.outputs:
            return self.rows
        shape = function.outputs[0].shape
        return 1 if len(shape) < 2 else shape[0]

    def run(
        self,
        function: Function,
        threads: int,
        first: int = 0,
        last: int | None = None,
    ) -> tuple[Array, ...]:
        """The results for all rows, or for those from a multiple of the batch to
        before `last`."""
        if self.rows is None:
            return _tuple(function(*self.arrays, threads=threads))
        found = []
        for start, count, arrays in self._slices(first, last):
            results = _tuple(function(*arrays, threads=threads, sample=start))
            for result, tensor in zip(results, function.outputs):
                if result.shape[:1] != (len(arrays[self.sliced.index(True)]),):
                    raise Error(
                        f"output '{tensor.name}' has no row for each of the inputs'"
                    )
            found.append([result[:count] for result in results])
        return tuple(np.concatenate(parts) for parts in zip(*found))

    def first(self, most: int | None = None) -> tuple[int, list[Array]]:
        """How many rows count in a first call, and its arrays; only so many rows
        where the model leaves them open."""
        if self.rows is None:
            return 1, self.arrays
        _, count, arrays = next(self._slices())
        if most is None or self.fixed or count <= most:
            return count, arrays
        cut = [a[:most] if sliced else a for a, sliced in zip(arrays, self.sliced)]
        return most, cut

    def _slices(
        self, first: int = 0, last: int | None = None
    ) -> Iterator[tuple[int, int, list[Array]]]:
        """The first row, how many rows count, and the arrays."""
        assert self.rows is not None
        end = self.rows if last is None else last
        for start in range(first, end, self.batch):
            count = min(self.batch, end - start)
            arrays = [
                self._fill(self._part(array, start, count)) if sliced else array
                for array, sliced in zip(self.arrays, self.sliced)
            ]
            yield start, count, arrays

    def _part(self, array: Array, start: int, count: int) -> Array:
        if self.order is None:
            return array[start : start + count]
        return array[self.order[start : start + count]]

    def _fill(self, part: Array) -> Array:
        missing = self.batch - len(part)
        if not self.fixed or not missing:
            return part
        return np.concatenate([part, np.repeat(part[-1:], missing, axis=0)])


def _tuple(results: Any) -> tuple[Array, ...]:
    several = results if isinstance(results, tuple) else (results,)
    return tuple(map(np.asarray, several))


def load(value: Any) -> Any:
    """The array of a path; what is no path is returned as it is."""
    return read(value) if isinstance(value, (str, os.PathLike)) else value


def load_labels(value: Any) -> Any:
    """The same of labels; of a folder of images, those of its folders."""
    if isinstance(value, (str, os.PathLike)) and os.path.isdir(value):
        return _files.classes(os.fspath(value))
    return load(value)


def _by_input(given: Any, tensors: Sequence[Tensor]) -> list[Any]:
    """What is given for each input: by name, in order, or for the only one."""
    names = [tensor.name for tensor in tensors]
    listed = ", ".join(f"'{name}'" for name in names)
    if isinstance(given, Mapping):
        if unknown := [str(key) for key in given if key not in names]:
            raise Error(f"no input '{unknown[0]}', expected {listed}")
        if missing := [name for name in names if name not in given]:
            raise Error(f"no array for input '{missing[0]}'")
        return [given[name] for name in names]
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) != len(names):
        raise Error(f"found {len(values)} arrays, expected {len(names)}: {listed}")
    return values


def _conform(value: Any, tensor: Tensor) -> Array:
    """With the input's type, where each number is rounded once, and its rank."""
    array = np.asarray(load(value))
    if tensor.dtype.kind == "f" and tensor.dtype.itemsize >= 4:
        if array.dtype.kind not in "fiub" and array.dtype.name != "bfloat16":
            raise Error(f"input '{tensor.name}' has dtype {array.dtype}")
        with np.errstate(over="ignore"):
            array = array.astype(tensor.dtype, copy=False)
    elif not np.can_cast(array.dtype, tensor.dtype, "safe"):
        raise Error(
            f"input '{tensor.name}' has dtype {array.dtype}, expected {tensor.dtype}"
        )
    shape = tensor.shape
    if array.ndim != len(shape) and shape and array.ndim:
        # Images of one channel come without it.
        inner = [size for size in shape[1:] if size != 1]
        if None not in inner and inner == [s for s in array.shape[1:] if s != 1]:
            array = array.reshape(len(array), *map(int, filter(None, shape[1:])))
    fits = array.ndim == len(shape) and all(
        wanted in (None, size) or not place and wanted < size
        for place, (wanted, size) in enumerate(zip(shape, array.shape))
    )
    if not fits:
        wanted = ", ".join("?" if size is None else str(size) for size in shape)
        found = ", ".join(map(str, array.shape))
        raise Error(f"input '{tensor.name}' has shape [{found}], expected [{wanted}]")
    return np.ascontiguousarray(array) if array.ndim else array


def read_inputs(given: list[str], divide: float | None) -> Any:
    """Arrays by name, or in order, as a command line has them: [NAME=]FILE."""
    if divide is not None and not (math.isfinite(divide) and divide):
        raise Error(f"--divide is {divide:g}, expected a number that is not 0")
    named: dict[str, Any] = {}
    ordered: list[Any] = []
    for each in given:
        name, equals, path = each.partition("=")
        if equals and not os.path.exists(each):
            named[name] = _divided(path, divide)
        else:
            ordered.append(_divided(each, divide))
    if named and ordered:
        raise Error("some of --input have names and some have none")
    return named or ordered


def _divided(path: str, divide: float | None) -> Any:
    array = read(path)
    return array if divide is None else array.astype("f4") / np.float32(divide)
