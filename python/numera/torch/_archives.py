# SPDX-License-Identifier: MIT
"""``.pt2`` files as data. PyTorch's reader runs what a file says: it unpickles, has
sympy evaluate sizes, loads machine code, and calls any function below ``torch``."""

from __future__ import annotations

import builtins
import importlib
import json
import keyword
import math
import operator
import re
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

import sympy
import torch
from torch._export.serde import schema, serialize
from torch._ops import HigherOrderOperator, OpOverload
from torch.export.pt2_archive import _package
from torch.export.pt2_archive.constants import SAMPLE_INPUTS_DIR
from torch.utils import _pytree

from numera._errors import Error

__all__ = ["as_data"]

_lock = threading.Lock()
_refused: list[str] = []
_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*)(?P<call>\s*\()?|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])"
    r"|'\w*'|'[-+\d][-+\d.e]*'|\*\*|//|[<>=!]=|[-+*/%()<>=,&|~])"
)
_CALLS = (
    *("Abs", "Add", "And", "Equality", "Float", "GreaterThan", "Integer", "LessThan"),
    *("Max", "Min", "Mod", "Mul", "Not", "Or", "Piecewise", "Pow", "Rational"),
    *("StrictGreaterThan", "StrictLessThan", "Symbol", "Unequality", "ceiling", "exp"),
    *("floor", "log", "sqrt"),
)
"""What sympy writes sizes with, beside the functions of PyTorch's reader."""
_EFFECTS = (
    *("aten::save", "aten::from_file", "aten::_print", "aten::warn", "print"),
    *("call_torchbind", "aoti_call_delegate", "executorch_call_delegate", "flat_apply"),
    *("triton_kernel_wrapper_functional", "triton_kernel_wrapper_mutation"),
)
"""Operators of PyTorch that read or write files, print, or call what they are given."""
_WORDS = ("and", "or", "not", "True", "False")


@contextmanager
def as_data() -> Iterator[list[str]]:
    """PyTorch's reader takes tensors, sizes and operators, and nothing that runs. What
    was refused is in the list, whatever the reader makes of that."""
    replaced: list[tuple[Any, str, Any]] = [
        (torch, "load", _tensors_alone(torch.load)),
        (torch._C, "_pickle_load_obj", _refuse("an object of TorchScript")),
        (_package.pickle, "loads", _refuse("a pickled object")),
        (_package, "_load_aoti", _refuse("a compiled program")),
        (_package.PT2ArchiveReader, "read_bytes", _without_samples()),
        (sympy, "sympify", _sizes_alone(sympy.sympify)),
        (_pytree, "importlib", SimpleNamespace(import_module=_import_builtins)),
        (serialize, "_bytes_to_dataclass", _names_alone(serialize._bytes_to_dataclass)),
        (serialize.GraphModuleDeserializer, "deserialize_operator", _operators_alone()),
    ]
    with _lock, ExitStack() as stack:
        for owner, name, value in replaced:
            stack.enter_context(mock.patch.object(owner, name, value))
        _refused.clear()
        yield _refused


def _error(text: str) -> Error:
    _refused.append(text)
    return Error(text)


def _refuse(what: str) -> Any:
    def refuse(*_: Any, **__: Any) -> None:
        raise _error(f"has {what}, which is code; expected tensors and operators")

    return refuse


def _import_builtins(name: str) -> Any:
    """What makes the missing elements of a dict is a type, mostly."""
    return (
        importlib.import_module(name)
        if name == "builtins"
        else _refuse(f"a module, '{name}'")()
    )


def _tensors_alone(load: Any) -> Any:
    def read(*arguments: Any, **options: Any) -> Any:
        try:
            return load(*arguments, **{**options, "weights_only": True})
        except Exception as error:
            if "weights_only" in str(error).lower() or "Weights only" in str(error):
                _refuse("a pickled object")()
            raise

    return read


def _without_samples() -> Any:
    """The example inputs are the one thing that files pickle, and no model needs."""
    read = _package.PT2ArchiveReader.read_bytes

    def read_bytes(self: Any, name: str) -> bytes:
        return b"" if name.startswith(SAMPLE_INPUTS_DIR) else read(self, name)

    return read_bytes


def _sizes_alone(sympify: Any) -> Any:
    def parse(value: Any, locals: Any = None, **options: Any) -> Any:
        if isinstance(value, str):
            _check_size(value, locals or {})
        return sympify(value, locals=locals, **options)

    return parse


def _check_size(text: str, known: Any) -> None:
    """Symbols, numbers, and functions that are known; sympy evaluates the text, whose
    names are Python's as well."""
    place, follows = 0, False  # whether a parenthesis would call what is in front
    while place < len(text.rstrip()):
        token = _TOKEN.match(text, place)
        if not token or "__" in token[0]:
            break
        word, name = token[0].strip(), token["name"]
        if word == "(" and follows:
            break
        if name and name not in _WORDS and name not in known:
            if token["call"] and name not in _CALLS:
                break
            if keyword.iskeyword(name) or hasattr(builtins, name):
                break
        place, follows = token.end(), word[-1].isalnum() or word[-1] in ")'_"
    else:
        return
    raise _error(f"has the size '{text[:40]}', expected symbols and arithmetic")


def _names_alone(read: Any) -> Any:
    """torch.fx writes names into a function's text, which it runs, and guards too."""

    def parse(cls: Any, content: bytes) -> Any:
        if cls is schema.ExportedProgram:
            program = json.loads(content)
            _check_names(program)
            content = json.dumps({**program, "guards_code": []}).encode()
        return read(cls, content)

    return parse


def _check_names(value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            _check_names(each)
    if not isinstance(value, dict):
        return
    # A dict of arguments has keys of its own, which may be any of these.
    for key, each in value.items():
        if key == "in_spec" and isinstance(each, str) and each:
            _check_arguments(json.loads(each)[1])
        elif key == "forward_arg_names" and isinstance(each, list):
            _check_identifiers(each)
        elif key in ("name", "as_name") and isinstance(each, str):
            _check_identifiers([each])
        _check_names(each)


def _check_arguments(spec: Any) -> None:
    """The names of a function's arguments, which are behind those without a name."""
    children = spec.get("children_spec") or []
    for named in children[1:]:
        _check_identifiers(json.loads(named["context"] or "[]") or [])


def _check_identifiers(names: Any) -> None:
    for name in names or []:
        if not isinstance(name, str) or (name and not name.isidentifier()):
            raise _error(
                f"has the name {str(name)[:40]!r}, expected letters and digits"
            )


def _operators_alone() -> Any:
    find = serialize.GraphModuleDeserializer.deserialize_operator

    def deserialize(self: Any, target: str) -> Any:
        parts = target.split(".")
        # Attributes are looked up, which loads what a package loads when asked for.
        if parts[:2] != ["torch", "ops"] and len(parts) != 2:
            _no_operator(target)
        found = find(self, target)
        is_operator = isinstance(found, (OpOverload, HigherOrderOperator))
        if isinstance(found, str) and parts[:2] == ["torch", "ops"]:
            return found  # which nothing registers here
        if not is_operator and not _is_arithmetic(found):
            _no_operator(target)
        if is_operator and found.name().partition(".")[0] in _EFFECTS:
            raise _error(f"calls '{target[:60]}', which does not compute")
        return found

    return deserialize


def _no_operator(target: str) -> None:
    raise _error(f"calls '{target[:60]}', which is no operator of PyTorch")


def _is_arithmetic(found: Any) -> bool:
    """Of sizes: what PyTorch writes, and operators and functions of numbers."""
    if found in serialize._SYM_OPS:
        return True
    name = getattr(found, "__name__", "")
    if getattr(torch, name, None) is found:
        return name.startswith(("sym_", "_sym_", "_check"))
    fits = getattr(operator, name, None) is found or getattr(math, name, None) is found
    return fits and name not in ("attrgetter", "call", "itemgetter", "methodcaller")
