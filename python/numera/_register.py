# SPDX-License-Identifier: MIT
"""Formats of one's own: a library in C, what it is for, and what it lacks."""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from numera import _formats, _numera, _sources
from numera._errors import Error
from numera._formats import Format
from numera._sources import Source

__all__ = ["register"]

_SOURCES = (".c", ".cc", ".cpp", ".cxx")
_INTEGERS = [f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64)]


def register(
    name: str,
    *,
    bits: int,
    source: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    operations: Mapping[str, str | Mapping[str, Any] | None] | None = None,
    target: str = "*",
    equivalent: str | Format | None = None,
    carrier: str | None = None,
    fallback: str | None = None,
    derive: str | Sequence[str] | None = None,
    identities: Mapping[str, Any] | None = None,
    proofs: str | None = None,
    **library: Any,
) -> Format:
    """Registers a format that a library in C computes with.

    source      C, C++ (``extern "C"``), bitcode, an object, an archive or a
                shared object, or several of them. C and C++ need clang. Functions
                in C and C++ whose names are the format's, an underscore and the
                operation are its operations, ``mine_add``, ``mine_from_f32``.
    operations  functions with other names, which go before these: ``{"add":
                "my_add", "from_f32": "my_from_f32"}``; ``from_X`` and ``to_X`` are
                casts, ``cmp`` may be ``"cmp olt"``. A mapping in place of a name
                has other keys of a lowering, ``{"call": "my_add", "rounding":
                "toward-zero"}``. None leaves a function out.
    carrier, fallback, derive, identities, equivalent, proofs
                as the keys of an opaque format (Configuration.md).
    library     keys of the library: ``include``, ``defines``, ``flags``, ``link``,
                ``standard``, ``codes``, ``floats``, ``wide_codes``.

    The name is known from then on, to all that takes names of formats. A name
    that is registered again has the new meaning; formats keep the old one.
    """
    paths = _checked(name, source, operations)
    files = [os.path.abspath(os.fspath(path)) for path in paths]
    entry = {
        "family": "opaque",
        "bits": bits,
        "equivalent": None if equivalent is None else _spell(equivalent),
        "carrier": carrier,
        "fallback": fallback,
        "derive": derive,
        "identities": identities,
        "proofs": proofs,
    }

    def sources_with(operations: Mapping[str, Any]) -> tuple[Source]:
        configuration = {
            "formats": {name: _given(entry)},
            "libraries": {name: {"path": files, **_given(library)}},
            "lowerings": [
                _lowering(name, operation, function, target)
                for operation, function in operations.items()
            ],
        }
        # A source that has changed since makes another registry.
        text = f"{json.dumps(configuration, indent=1)}\n# {_digest(files)}\n"
        return (Source(text, _source_name(name), os.getcwd()),)

    def make(operations: Mapping[str, Any]) -> tuple[Format, tuple[Source]]:
        sources = sources_with(operations)
        try:
            return _formats._make(name, sources), sources
        except Error as error:
            raise _of_argument(error, sources[0], list(operations.items())) from None

    own = {**_functions(name, files), **(operations or {})}
    chosen = {key: function for key, function in own.items() if function is not None}
    if not chosen:
        try:  # the compiler may say of the source why
            make({"add": f"{name}_add"})
        except Error as error:
            if "does not define" not in str(error):
                raise
        raise Error(
            f"no function in {', '.join(files)} is called {name}_from_f32, "
            f"{name}_add or the like; name them: operations={{'add': …}}"
        )
    registered, sources = make(chosen)
    _sources.learn(sources)
    return registered


def _checked(name: Any, source: Any, operations: Any) -> list[Any]:
    """The paths of sources; an error where arguments are something else."""
    if not isinstance(name, str):
        raise Error(f"name is {name!r}, expected text")
    if operations is not None and not isinstance(operations, Mapping):
        raise Error(f"operations are {operations!r}, expected {{'add': 'my_add'}}")
    for operation, function in (operations or {}).items():
        if function is not None and not isinstance(function, (str, Mapping)):
            raise Error(
                f"operations['{operation}'] is {function!r}, expected the name of a "
                f"function"
            )
    if isinstance(source, (str, os.PathLike)):
        return [source]
    paths = list(source) if isinstance(source, Iterable) else []
    if not paths or not all(isinstance(path, (str, os.PathLike)) for path in paths):
        raise Error(f"source is {source!r}, expected a path or several")
    return paths


def _source_name(name: str) -> str:
    return f"numera.register('{name}')"


_PLACED = re.compile(
    r"(?P<source>.*?\)):(?P<line>\d+):\d+: error: (?P<said>.*)", re.DOTALL
)


def _of_argument(error: Error, source: Source, lowerings: Sequence[Any]) -> Error:
    """With an argument in place of a line of YAML that no user has seen."""
    found = _PLACED.fullmatch(str(error))
    if found is None or found["source"] != source.name:
        return error
    lines = source.text.splitlines()[: int(found["line"])]
    indents = [len(line) - len(line.lstrip()) for line in lines]
    begin = max(n for n, indent in enumerate(indents) if indent == 1)
    inner = [line for line, n in zip(lines[begin:], indents[begin:]) if n == 3]
    key = inner[-1].split('"')[1].replace("-", "_") if inner else ""
    if lines[begin].startswith(' "lowerings"'):
        operation, function = lowerings[lines[begin:].count("  {") - 1]
        argument = f"operations['{operation}']"
        if not isinstance(function, str):
            argument += f" = {dict(function)}"
        elif key == "target":
            argument = key
    elif lines[begin].startswith(' "libraries"'):
        argument = "source" if key == "path" else key
    else:
        argument = key or "name"
    said = found["said"]
    if argument and not said.startswith(f"{argument} is "):
        said = f"{argument}: {said}"
    return Error(f"{source.name}: {said}")


_LACKS = re.compile(
    r"no lowering for '(?P<operation>\w+)' "
    r"(?:from '(?P<source>[^']+)' to '(?P<target>[^']+)'|in format '(?P<of>[^']+)')"
    r"(?:.* predicate: (?P<predicate>\w+))?"
)


def explained(error: Error, formats: Iterable[Format]) -> Error:
    """Of an operation that a registered format lacks, the function to write."""
    found = _LACKS.search(str(error))
    if found is None or "operands:" in str(error):
        return error
    own = {f.name for f in formats if _is_registered(f)}
    for name, operation in (
        (found["target"], f"from_{found['source']}"),
        (found["source"], f"to_{found['target']}"),
        (found["of"], found["operation"]),
    ):
        if name in own:
            return Error(_advice(name, operation, found["predicate"]))
    return error


def _is_registered(fmt: Format) -> bool:
    own = _source_name(fmt.name)
    return any(source.name == own for source in fmt._sources)


def _advice(name: str, operation: str, predicate: str | None) -> str:
    key = f"{operation} {predicate}" if predicate else operation
    named = f"operations={{'{key}': …}}"
    ways = f"name one, {named}"
    if not predicate and operation in _named_operations():
        ways = f"write {name}_{operation}, or {ways}"
    if not operation.startswith(("from_", "to_")):
        ways += ", or register it with carrier='f32'"
    return f"the source of format '{name}' has no function for '{key}'; {ways}"


def _digest(files: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for file in files:
        try:
            digest.update(pathlib.Path(file).read_bytes())
        except OSError as error:
            raise Error(f"cannot read {file}: {error.strerror}") from None
    return digest.hexdigest()


def _given(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key.replace("_", "-"): value
        for key, value in entry.items()
        if value is not None
    }


def _spell(format: str | Format) -> str:
    return format.spelling if isinstance(format, Format) else format


def _lowering(
    name: str, operation: str, function: str | Mapping[str, Any], target: str
) -> dict[str, Any]:
    """The entry of a lowering."""
    rest = {"call": function} if isinstance(function, str) else dict(function)
    entry: dict[str, Any] = {"library": name, "target": target, **rest}
    way, _, other = operation.partition("_")
    if way == "from":
        return {"op": "cast", "from": other, "to": name, **entry}
    if way == "to":
        return {"op": "cast", "from": name, "to": other, **entry}
    operation, _, predicate = operation.partition(" ")
    if predicate:
        entry["predicate"] = predicate
    return {"op": operation, "format": name, **entry}


def _named_operations() -> list[str]:
    """What functions are found for by their names."""
    names = [op for op, _ in _numera.operations() if op not in ("cast", "cmp", "mac")]
    for other in ["f32", "f64", *_INTEGERS]:
        names += [f"from_{other}", f"to_{other}"]
    return names


def _functions(name: str, files: Iterable[str]) -> dict[str, str]:
    """The functions in sources that are called after the format."""
    text = ""
    for file in files:
        if file.endswith(_SOURCES):
            text += _sources.read(file).text
    return {
        operation: f"{name}_{operation}"
        for operation in _named_operations()
        if re.search(rf"\b{re.escape(name)}_{operation}\s*\(", text)
    }
