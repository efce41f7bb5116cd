# SPDX-License-Identifier: MIT
"""What a result depends on, as a hash.

A store finds a result again by the content of all that went into it: the library,
the model with its external data, the arrays, the metric's code, the format with
the files it came from, and the options that change bits.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import pathlib
import pickle
import re
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from numera import _numera, _sources
from numera._errors import Error
from numera._formats import Format
from numera._request import MODEL_ENDINGS
from numera._sources import Source, Sources

__all__ = [
    "array",
    "digest",
    "external",
    "function",
    "library",
    "model",
    "options",
    "spec",
]

# A StringStringEntryProto of ONNX: the key, then the value with its length, of which
# all bytes but the last have the high bit.
_LOCATION = re.compile(rb"\n\x08location\x12([\x80-\xff]*[\x00-\x7f])")
_INCLUDE = re.compile(
    rb"^[ \t]*#[ \t]*(?:include|import)\w*[ \t]*[\"<]([^\">\n]+)", re.MULTILINE
)
_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".c++", ".h", ".hh", ".hpp", ".inc")

_OF_CLASSES = (
    types.FunctionType,
    bool,
    int,
    float,
    str,
    bytes,
    tuple,
    list,
    dict,
    np.ndarray,
)
"""What attributes of a class have to be to count."""

_SAME_BITS = ("optimization", "code_cache", "cpu")


def digest(*parts: str | bytes) -> str:
    """A hash that tells lists of parts from each other."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(b"%d " % len(data))
        found.update(data)
    return found.hexdigest()


@functools.cache
def library() -> str:
    """Of the machine code that computes, since a release changes what it rounds."""
    paths = {_numera.__file__}
    maps = pathlib.Path("/proc/self/maps")
    if maps.exists():
        words = (line.split(maxsplit=5) for line in maps.read_text().splitlines())
        paths.update(w[5] for w in words if len(w) == 6 and "libNumeraC" in w[5])
    return digest(*(_content(path) for path in sorted(paths)))


def _content(path: str) -> bytes:
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def model(given: Any) -> str:
    """Of a path, bytes, or MLIR."""
    if isinstance(given, bytes):
        return digest(given)
    text = os.fspath(given)
    if isinstance(given, str) and not text.endswith(MODEL_ENDINGS):
        return digest(text)
    folder = os.path.dirname(text)
    return digest(
        _content(text),
        *(_content(os.path.join(folder, name)) for name in external(text)),
    )


def external(path: str) -> list[str]:
    """Files of external data, which a model names, in its folder; of one in MLIR,
    the file of weights beside it."""
    stem, ending = os.path.splitext(path)
    if ending != ".onnx":
        beside = f"{stem}.safetensors"
        return [os.path.basename(beside)] if os.path.exists(beside) else []
    data = _content(path)
    names = set()
    for match in _LOCATION.finditer(data):
        length = sum((byte & 0x7F) << 7 * n for n, byte in enumerate(match[1]))
        name = data[match.end() : match.end() + length]
        names.add(name.decode(errors="replace"))
    return sorted(names)


def array(value: np.ndarray[Any, Any] | None) -> str:
    if value is None:
        return ""
    value = np.ascontiguousarray(value)
    return digest(str(value.dtype), str(value.shape), value.tobytes())


def spec(value: str | Format | None) -> str:
    """Of a format, or of a word in place of one."""
    if not isinstance(value, Format):
        return value or ""
    return digest(value.spelling, _files(value._sources))


def _files(sources: Sources) -> str:
    """Of YAML, and of the files that it names."""
    return digest(*(part for source in sources for part in _parts(source)))


def _parts(source: Source) -> list[str | bytes]:
    words = sorted(set(re.findall(r"[^\s\"'\[\]{},]+", source.text)))
    paths = [os.path.join(source.directory, word) for word in words]
    folders = [path for path in paths if os.path.isdir(path)]
    seen: set[str] = set()
    found: list[str | bytes] = [source.text]
    for path in paths:
        if os.path.isfile(path):
            found += _with_headers(path, folders, seen)
    return found


def _with_headers(path: str, folders: Sequence[str], seen: set[str]) -> list[bytes]:
    """What a file has, and what the files have that it includes, as far as they are
    beside it or in one of the folders."""
    if path in seen:
        return []
    seen.add(path)
    content = _content(path)
    found = [content]
    if path.lower().endswith(_SOURCES):
        for name in _INCLUDE.findall(content):
            for folder in (os.path.dirname(path), *folders):
                header = os.path.join(folder, os.fsdecode(name))
                if os.path.isfile(header):
                    found += _with_headers(header, folders, seen)
    return found


def options(given: Mapping[str, Any]) -> str:
    """Of the arguments for :func:`numera.compile` that change results."""
    parts: list[str] = []
    for key in sorted(set(given) - set(_SAME_BITS)):
        value = given[key]
        if key == "policy" and value is not None:
            # Its words may be formats that were loaded.
            parts += map(_files, _sources.known())
            if not isinstance(value, Mapping):
                value = _sources.read(value)
                parts.append(_files((value,)))
                value = value.text
        if key == "safetensors" and value is not None:
            value = _content(value)
        parts += key, json.dumps(value, sort_keys=True, default=_word)
    return digest(*parts)


def _word(value: Any) -> str:
    """A format may have other functions than another one of its spelling."""
    return spec(value) if isinstance(value, Format) else repr(value)


def function(metric: Callable[..., Any]) -> str:
    """Of the code of a function, its defaults, and what it has closed over.

    Functions that it calls by name are not part of it.
    """
    if not isinstance(metric, types.FunctionType):
        raise Error(
            f"a store tells metrics by their code, expected a function that def or "
            f"lambda made, found {type(metric).__name__}"
        )
    return digest(*_value(metric, set()))


def _value(value: Any, seen: set[int]) -> list[str | bytes]:
    if isinstance(value, types.FunctionType):
        if id(value) in seen:
            return ["itself"]
        seen.add(id(value))
        cells = [cell.cell_contents for cell in value.__closure__ or ()]
        parts = [value.__code__, value.__defaults__, value.__kwdefaults__, *cells]
    elif isinstance(value, types.CodeType):
        known: list[str | bytes] = [value.co_code, *value.co_names, *value.co_varnames]
        return known + [p for each in value.co_consts for p in _value(each, seen)]
    elif isinstance(value, frozenset):
        return sorted(map(repr, value))
    elif isinstance(value, (tuple, list)):
        parts = [type(value).__name__, *value]
    elif isinstance(value, type) and id(value) not in seen:
        seen.add(id(value))  # pickle has its name alone
        own = sorted(k for k, e in vars(value).items() if isinstance(e, _OF_CLASSES))
        parts = [value.__qualname__, *own, *(vars(value)[key] for key in own)]
    else:
        try:
            return [pickle.dumps(value, protocol=4)]
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            raise Error(
                f"a store tells metrics by their code and values, and a value of "
                f"{type(value).__name__} cannot be pickled: {error}"
            ) from None
    return [p for each in parts for p in _value(each, seen)]
