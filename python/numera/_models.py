# SPDX-License-Identifier: MIT
"""What programs are compiled from."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from typing import Any, NamedTuple

from numera import _numera, _sources
from numera._errors import Error
from numera._request import MODEL_ENDINGS, Path, Request, path_of
from numera._sources import Sources

__all__ = ["ACCUMULATORS", "Model", "read", "source_of", "write"]

ACCUMULATORS = ("same", "quire", "tensorcore")
_AS_GIVEN = ("rounding", "random_bits", "overflow", "seed", "function", "target",
             "cpu", "gpu", "optimization")  # fmt: skip
"""Arguments of a compilation that are options of the library as they are."""


_LIKE_A_PATH = re.compile(r"[\w./\\~ -]+")
"""A word or a path; MLIR has symbols, braces or quotes."""


class _Folder:
    """A folder of ours, which goes when nobody has it."""

    def __init__(self) -> None:
        self.name = tempfile.mkdtemp(prefix="numera-")
        weakref.finalize(self, _remove, self.name, os.getpid())


def _remove(folder: str, owner: int) -> None:
    if os.getpid() == owner:  # a forked process leaves it to the one that made it
        shutil.rmtree(folder, ignore_errors=True)


class Model(NamedTuple):
    """What a program is compiled from: a file, or MLIR in memory."""

    name: str
    text: str | None
    sources: Sources
    options: list[str]
    folder: _Folder | None
    """Where the file is, if it is ours."""

    @property
    def registry(self) -> _numera.Registry:
        return _sources.registry(self.sources)

    def compile(self, *more: str) -> _numera.Program:
        options = [*self.options, *more]
        if self.text is None:
            try:
                return _numera.Program.compile_file(self.registry, self.name, options)
            except Error as error:
                raise Error(self.shown(str(error))) from None
        return _numera.Program.compile_text(
            self.registry, self.text, self.name, options
        )

    def shown(self, text: str) -> str:
        """A message without the folder that is ours."""
        return text.replace(self.folder.name + os.sep, "") if self.folder else text


def write(model: Model, emit: str, path: str) -> None:
    _numera.compile_to_file(
        model.registry, model.name, model.text, model.options, emit, path
    )


def source_of(model: Any, given: Mapping[str, Any]) -> Model:
    """What is compiled, by the arguments of :func:`compile`."""
    request = Request(given.get("formats", ()))
    policy, replace = given.get("policy"), given.get("replace")
    if given.get("format") is not None and isinstance(policy, (str, os.PathLike)):
        policy = _read_policy(policy, request)
    paths = {key: given.get(key) for key in ("code_cache", "safetensors")}
    options = {
        "format": request.name(given.get("format")),
        "replace": _joined(replace),
        "output-as": _outputs(given.get("output_as")),
        "quires": ",".join(map(str, given.get("quires", ()))),
        "accumulate": request.name(given.get("accumulate"), words=ACCUMULATORS),
        **{key.replace("_", "-"): given.get(key) for key in _AS_GIVEN},
        **{
            key.replace("_", "-"): None if path is None else path_of(path, key)
            for key, path in paths.items()
        },
    }
    if isinstance(policy, Mapping):
        chosen = dict(policy)
        for key, option in (("default", "format"), ("accumulate", "accumulate")):
            chosen[key] = options.pop(option) or policy.get(key)
        request.add_policy(chosen)
    elif policy is not None:
        request.add_file(policy)
    listed = [
        f"{key}={value}" for key, value in options.items() if value not in (None, "")
    ]
    return read(model, request.sources(), listed)


def _read_policy(path: Path, request: Request) -> dict[str, Any]:
    """That of a file as a mapping, whose default may be another one."""
    from numera.study import _yaml

    found = _yaml.policy(path)
    if "default" in found:  # without one, it may need the one that is given
        request.check_file(path)
    request.add_formats(_yaml.beside(path))
    return found


def _joined(replace: Any) -> str:
    """The float types that are replaced, as an option of the library."""
    names = [replace] if isinstance(replace, str) else replace or ()
    if not isinstance(names, (list, tuple)) or not all(
        isinstance(name, str) for name in names
    ):
        raise Error(f"replace is {replace!r}, expected a float type or several: 'f32'")
    return ",".join(names)


def _outputs(wanted: Any) -> str | None:
    """What results are, as an option of the library."""
    if wanted is None or isinstance(wanted, str):
        return wanted
    listed = wanted if isinstance(wanted, (list, tuple)) else ()
    words = ["model" if word is None else word for word in listed]
    if not words or not all(isinstance(word, str) for word in words):
        raise Error(
            f"output_as is {wanted!r}, expected 'f32', 'f64', 'storage' or None, "
            f"or a list with one for each result"
        )
    return ",".join(words)


def read(model: Any, sources: Sources, options: list[str]) -> Model:
    """Tells paths, MLIR and models of ONNX from each other."""
    if hasattr(model, "SerializeToString"):
        model = model.SerializeToString()
    if isinstance(model, bytes):
        folder = _Folder()
        path = os.path.join(folder.name, "model.onnx")
        pathlib.Path(path).write_bytes(model)
        return Model(path, None, sources, options, folder)
    if not isinstance(model, (str, os.PathLike)):
        what = f"a model is a path, MLIR, or one of ONNX, found {type(model).__name__}"
        if any(each.__module__.startswith("torch.") for each in type(model).__mro__):
            what += "; numera.torch.compile takes those of PyTorch"
        raise Error(what)
    text = os.fspath(model)
    if isinstance(model, str) and not text.endswith(MODEL_ENDINGS):
        if os.path.isdir(text):
            raise Error(
                f"{text} is a folder, expected a file that ends in "
                f"{', '.join(MODEL_ENDINGS)}"
            )
        if "\n" not in text and _LIKE_A_PATH.fullmatch(text):
            raise Error(
                f"'{text}' is neither MLIR nor a path that ends in "
                f"{', '.join(MODEL_ENDINGS)}; numera.import_model reads other models"
            )
        return Model("model.mlir", text, sources, options, None)
    return Model(text, None, sources, options, None)
