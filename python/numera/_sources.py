# SPDX-License-Identifier: MIT
"""Where formats come from: YAML, and the registries that are made of it.

A registry is never changed. What is loaded or registered adds sources; a format
keeps those that it was found in, and a compilation those of all formats that it
is given. So a program, a pickled format and another thread see what they saw.
"""

import os
import threading
from collections.abc import Iterable
from typing import NamedTuple

from numera import _numera
from numera._errors import Error


class Source(NamedTuple):
    """YAML with formats."""

    text: str
    name: str
    """Stands in messages; a later source takes the place of one of its name."""
    directory: str
    """Where relative paths of libraries start."""


Sources = tuple[Source, ...]

_lock = threading.RLock()
_registries: dict[Sources, _numera.Registry] = {}
_MOST = 64
"""Of them; policies that are mappings make one each. Programs keep none."""
_known: tuple[Sources, ...] = ()


def _unlock_after_fork() -> None:
    # Another thread may have held it, which the child does not have.
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_unlock_after_fork)


def registry(sources: Sources) -> _numera.Registry:
    """The registry of the built-in formats and of sources, in their order."""
    with _lock:
        # The one that was used last is the last.
        found = _registries.pop(sources, None) or _numera.Registry(list(sources))
        _registries[sources] = found
        if len(_registries) > _MOST:
            del _registries[next(iter(_registries))]
        return found


def forget(sources: Sources) -> None:
    """Has the registry of sources made anew, where one is wanted next."""
    with _lock:
        _registries.pop(sources, None)


def read(path: str | os.PathLike[str]) -> Source:
    """The source that a file is."""
    path = os.fspath(path)
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except UnicodeDecodeError as error:
        before = error.object[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise Error(
            f"{path}:{line}:{column}: error: found a byte that is no text, expected a "
            f"file in UTF-8"
        ) from None
    except OSError as error:
        raise Error(f"cannot read {path}: {error.strerror or error}") from None
    return Source(text, path, os.path.dirname(os.path.abspath(path)))


def known() -> tuple[Sources, ...]:
    """What was loaded and registered, the latest first."""
    return _known


def learn(sources: Sources) -> None:
    """Makes the names of sources known to all that takes names."""
    global _known
    names = {source.name for source in sources}
    with _lock:
        others = (
            group
            for group in _known
            if not names.intersection(source.name for source in group)
        )
        _known = (sources, *others)


def know(groups: tuple[Sources, ...]) -> None:
    """Makes known what another process knows, and nothing else."""
    global _known
    _known = groups


def merge(groups: Iterable[Sources]) -> Sources:
    """All sources, each once."""
    return tuple(dict.fromkeys(source for group in groups for source in group))
