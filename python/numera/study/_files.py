# SPDX-License-Identifier: MIT
"""Data sets in tables and in folders of images."""

from __future__ import annotations

import csv
import os
import re
from typing import Any

import numpy as np

from numera._errors import Error

__all__ = ["classes", "images", "table"]

Array = np.ndarray[Any, Any]

_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".gif", ".ppm", ".pgm", ".tif", ".tiff",
           ".webp")  # fmt: skip
_DIGIT = re.compile(r"[+-]?\.?\d")
"""How a number begins."""
_POINT = re.compile(r"[.eEnN]")
"""What a number has that is not written as a whole one."""


def table(path: str, columns: str) -> Array:
    """The numbers of a .csv or .parquet file, a row for each of its rows.

    `columns` names some, with commas; empty: all. One column is an array of one
    dimension.
    """
    names = [name for name in columns.split(",") if name]
    if path.lower().endswith(".parquet"):
        return _parquet(path, names)
    return _csv(path, names)


def _csv(path: str, names: list[str]) -> Array:
    rows = _rows(path)
    header: list[str] = []
    if _is_header(path, rows, names):
        header = [name.strip() for name in rows.pop(0)[1]]
        if not rows:
            raise Error(f"cannot read {path}: it has no rows below its names")
    places = _places(path, names, header) if names else None
    width = len(header) or len(rows[0][1])
    numbers = np.empty((len(rows), len(places or range(width))))
    for place, (line, row) in enumerate(rows):
        if len(row) != width:
            raise Error(f"{path}:{line}: found {len(row)} columns, expected {width}")
        for i, column in enumerate(places or range(width)):
            if not _is_number(row[column]):
                raise Error(
                    f"{path}:{line}: column {column + 1} is '{row[column]}', "
                    f"expected a number"
                )
            numbers[place, i] = float(row[column])
    return numbers[:, 0] if numbers.shape[1] == 1 else numbers


def _rows(path: str) -> list[tuple[int, list[str]]]:
    """Lines and their cells. Blank ones are left out, but where one may be the missing
    cell of the only column."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file)
        rows = [(reader.line_num, row) for row in reader]
    while rows and not rows[-1][1]:
        rows.pop()
    found = [(line, row) for line, row in rows if row]
    if not found:
        raise Error(f"cannot read {path}: it has no rows")
    if len(found[0][1]) == 1 and len(found) < len(rows):
        blank = next(line for line, row in rows if not row)
        raise Error(f"{path}:{blank}: column 1 is '', expected a number")
    return found


def _is_header(path: str, rows: list[tuple[int, list[str]]], names: list[str]) -> bool:
    """Whether the first row has names, some of which may be missing, and no numbers.

    pandas names columns 0, 1, 2… where they have no names, behind an empty one where
    it writes those of rows, too. Where columns are asked for by such names, or by
    some that stand beside numbers, the row has names.
    """
    line, row = rows[0]
    words = [word.strip() for word in row if word.strip()]
    numbers = [word for word in words if _is_number(word)]
    is_counted = words == [str(place) for place in range(len(words))]
    is_asked = bool(names) and all(name in words for name in names)
    if is_asked and (len(numbers) < len(words) or is_counted and len(words) > 1):
        return True
    if not numbers:
        # 1_000 and 50% are no names.
        return any(not _DIGIT.match(word) for word in words)
    if len(numbers) < len(words):
        word = next(word for word in words if not _is_number(word))
        raise Error(
            f"{path}:{line}: found '{word}' beside the number {numbers[0]}, expected "
            f"numbers alone or names alone"
        )
    if not is_counted or len(rows) == 1:
        return False
    if len(words) < len(row):
        return len(words) == len(row) - 1 and not row[0].strip()
    # Whole numbers above others are names, if there are enough of them.
    is_whole = not all(_POINT.search(cell) for _, below in rows[1:] for cell in below)
    if len(words) > 2 and not is_whole:
        return True
    if len(words) == 1 and is_whole:
        return False
    raise Error(
        f"{path}:{line}: {', '.join(words[:3])}{'…' * (len(words) > 3)} may be numbers, "
        f"or names of columns as pandas has them; write other names above the numbers"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _places(path: str, names: list[str], header: list[str]) -> list[int]:
    for name in names:
        if name not in header:
            listed = ", ".join(header) or "none, as it has no header"
            raise Error(f"{path} has no column '{name}'; it has {listed}")
        if (count := header.count(name)) > 1:
            raise Error(f"{path} has {count} columns '{name}', expected one")
    return [header.index(name) for name in names]


def _parquet(path: str, names: list[str]) -> Array:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise Error(f"{path} needs the package pyarrow: pip install pyarrow") from None
    try:
        known = parquet.read_schema(path).names
        _places(path, names, known)
        read = parquet.read_table(path, columns=names or None)
        found = [np.asarray(_column(column)) for column in read.columns]
    except (pyarrow.ArrowException, ValueError) as error:
        raise Error(f"cannot read {path}: {str(error).splitlines()[0]}") from None
    for name, array in zip(read.column_names, found):
        if array.dtype.kind not in "fiub":
            raise Error(f"column '{name}' of {path} has no numbers")
    if len(found) == 1:
        return found[0]
    if not found or any(array.ndim > 1 for array in found):
        raise Error(f"{path} has columns of lists; name one: {path}:COLUMN")
    return np.stack(found, axis=1)


def _column(column: Any) -> Any:
    """Numbers, or lists of equally many."""
    for part in column.chunks:
        while not part.null_count and hasattr(part, "value_lengths"):
            part = part.flatten()  # lists
        if part.null_count:
            raise ValueError("it has rows without a value")
    array = column.to_numpy()
    return (
        np.stack([np.asarray(row) for row in array]) if array.dtype == object else array
    )


def _listed(folder: str) -> list[str]:
    """Images, in the order of their paths, without what is hidden. Nothing outside the
    folder is read."""
    inside = os.path.join(os.path.realpath(folder), "")
    found = []
    for base, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in folders:
            if os.path.islink(path := os.path.join(base, name)):
                raise Error(f"{path} is a link, expected a folder")
        for name in names:
            if name.startswith(".") or not name.lower().endswith(_IMAGES):
                continue
            path = os.path.join(base, name)
            if not os.path.realpath(path).startswith(inside):
                raise Error(f"{path} is a link out of {folder}")
            found.append(path)
    if not found:
        raise Error(f"cannot read {folder}: it has no images")
    return sorted(found)


def images(folder: str) -> Array:
    """All images of a folder and of those in it, in the order of their paths, without
    those that are hidden: u8, (images, channels, height, width), with one channel if
    all are grey, else three.
    """
    try:
        from PIL import Image, UnidentifiedImageError
    except ImportError:
        raise Error(f"{folder} needs the package pillow: pip install pillow") from None
    paths = _listed(folder)
    found = []
    for path in paths:
        try:
            with Image.open(path) as image:
                if image.mode[0] in "IF":
                    raise Error(
                        f"{path} has pixels of more than 8 bits, expected 8: save the "
                        f"numbers as .npy"
                    )
                is_grey = image.mode in ("1", "L")
                found.append(np.asarray(image.convert("L" if is_grey else "RGB")))
        except UnidentifiedImageError:
            raise Error(f"cannot read {path}: it is no image") from None
        except OSError as error:
            raise Error(f"cannot read {path}: {error}") from None
        if found[-1].shape[:2] != found[0].shape[:2]:
            size, first = (f"{a.shape[1]}x{a.shape[0]}" for a in (found[-1], found[0]))
            raise Error(f"{path} has {size} pixels, expected {first}, as {paths[0]}")
    if all(array.ndim == 2 for array in found):
        return np.stack(found)[:, np.newaxis]
    colours = [
        np.repeat(array[..., np.newaxis], 3, axis=2) if array.ndim == 2 else array
        for array in found
    ]
    return np.moveaxis(np.stack(colours), -1, 1)


def classes(folder: str) -> Array:
    """For each image, the place of its folder among those of `folder`, by name."""
    names = [os.path.relpath(path, folder).split(os.sep) for path in _listed(folder)]
    for parts in names:
        if len(parts) < 2:
            raise Error(f"{os.path.join(folder, parts[0])} is in no folder of a class")
    places = {name: i for i, name in enumerate(sorted({parts[0] for parts in names}))}
    return np.array([places[parts[0]] for parts in names])
