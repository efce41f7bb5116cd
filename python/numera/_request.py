# SPDX-License-Identifier: MIT
"""Which formats, and which YAML, a compilation is about."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from numera import _formats, _sources
from numera._errors import Error
from numera._formats import Format
from numera._sources import Source, Sources

Path = str | os.PathLike[str]

MODEL_ENDINGS = (".onnx", ".mlir", ".mlirbc")
"""Of files; text without one is MLIR itself."""
Spec = str | Format
_INTEGER = re.compile(r"[iu]([2-9]|[12][0-9]|3[0-2])")


class Request:
    """Collects the sources of what a compilation names.

    A format that is given as an object brings the sources it came from; one that
    is given by name, those that are known under that name now. Files of formats
    may have been read already.
    """

    def __init__(self, files: Path | Sequence[Path | Source]) -> None:
        paths = [files] if isinstance(files, (str, os.PathLike)) else files
        if not isinstance(paths, Iterable):
            raise Error(f"formats are YAML files, found {type(paths).__name__}")
        own = tuple(
            path
            if isinstance(path, Source)
            else _sources.read(path_of(path, "formats"))
            for path in paths
        )
        self._groups: list[Sources] = [own]
        self._own = set(_formats.own_names(own))

    def name(self, spec: Spec | None, words: Sequence[str] = ()) -> str | None:
        """The name by which the compiler is told of a format."""
        if spec is None or isinstance(spec, str) and spec in {*words, *self._own}:
            return spec
        if isinstance(spec, str) and _INTEGER.fullmatch(spec):
            return spec  # the compiler knows which fixed point that is
        found = _formats.format(spec)
        self._groups.append(found._sources)
        return found.name

    def add_formats(self, sources: Sequence[Source]) -> None:
        """Adds what a file has beside its policy, whose names go before known ones."""
        self._groups.append(tuple(sources))
        self._own.update(_formats.own_names(tuple(sources)))

    def add_file(self, path: Path) -> None:
        """Adds a file that has a policy."""
        source = _sources.read(path_of(path, "policy", "a mapping or "))
        self._groups += self._known_to(source)
        self._groups.append((source,))

    def check_file(self, path: Path) -> None:
        """Refuses a file that is no configuration, with the place in it."""
        source = _sources.read(path)
        groups = [*self._groups, *self._known_to(source), (source,)]
        _sources.registry(_sources.merge(groups))

    def _known_to(self, source: Source) -> list[Sources]:
        """What a file names beside its own formats and those that were given: none,
        if it is right by itself, or wrong with all that is known."""
        known = self._named(source.text)
        for groups in ([], known):
            try:
                _sources.registry(_sources.merge([*self._groups, *groups, (source,)]))
            except Error:
                continue
            return groups
        return []

    def add_policy(self, policy: Mapping[str, Any]) -> None:
        """Adds the section `policy` of a configuration."""
        text = json.dumps({"policy": self._plain(policy)})
        self._groups += self._named(text)
        self._groups.append((Source(text, "policy", os.getcwd()),))

    def _named(self, text: str) -> list[Sources]:
        """What is known of the words of a text, the latest that has a name."""
        words = set(re.findall(r"\w+", text)) - self._own
        groups = []
        for group in _sources.known():
            if found := words.intersection(_formats.own_names(group)):
                groups.append(group)
                words -= found
        return groups

    def _plain(self, value: Any) -> Any:
        """With names in place of formats, and without what is None."""
        if isinstance(value, Format):
            return self.name(value)
        if isinstance(value, Mapping):
            return {
                key.replace("_", "-") if key in _POLICY_KEYS else key: self._plain(each)
                for key, each in value.items()
                if each is not None
            }
        if isinstance(value, (list, tuple)):
            return [self._plain(each) for each in value]
        if isinstance(value, (str, int, float)):
            return value
        if isinstance(value, np.generic):
            return value.item()
        return self.name(value)  # a dtype

    def sources(self) -> Sources:
        return _sources.merge(self._groups)


def path_of(given: Any, name: str, others: str = "") -> str:
    """A path that an argument has."""
    if isinstance(given, (str, os.PathLike)):
        path = os.fspath(given)
        if isinstance(path, str):
            return path
    raise Error(f"{name} is {given!r}, expected {others}a path")


_POLICY_KEYS = ("scale_format", "zero_points")
