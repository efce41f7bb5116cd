# SPDX-License-Identifier: MIT
"""Files that are written, and what they say of a model."""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from numera._errors import Error
from numera._request import Path

__all__ = [
    "check_page",
    "check_path",
    "described",
    "described_one",
    "is_stream",
    "name_of",
    "plain",
    "say",
    "whole",
]


def check_path(path: Path) -> None:
    """Refuses what is no file, before time is spent on it."""
    text = os.fspath(path)
    if text == "-":
        raise Error("cannot write -: standard output has the words, expected a file")
    if os.path.isdir(text) or text.endswith(os.sep):
        raise Error(f"cannot write {text}: it is a folder, expected a file")
    folder = os.path.dirname(os.path.realpath(text))
    if not os.path.isdir(folder):
        raise Error(f"cannot write {text}: no folder {os.path.dirname(text) or folder}")


def is_stream(path: Path) -> bool:
    """Whether what is written goes behind what was written before: into a device, a
    pipe, or what the process has open, such as /dev/stdout."""
    text = os.path.abspath(os.fspath(path))
    for _ in range(40):  # links, at most
        if text.startswith("/dev/") or (text.startswith("/proc/") and "/fd/" in text):
            return True
        if not os.path.islink(text):
            break
        text = os.path.abspath(os.path.join(os.path.dirname(text), os.readlink(text)))
    return os.path.exists(text) and not os.path.isfile(text)


@contextlib.contextmanager
def whole(path: Path) -> Iterator[str]:
    """A file that becomes `path` when it is whole, and is removed after an error. A
    link stays one, and a device or a pipe gets what is in the file."""
    text = os.fspath(path)
    end = os.path.splitext(text)[1]
    target = os.path.realpath(text)
    made = f"{os.path.splitext(target)[0]}.{os.getpid()}{end}"
    try:
        if not is_stream(text):
            yield made
            if os.path.exists(target):
                shutil.copymode(target, made)
            os.replace(made, target)
        else:
            handle, made = tempfile.mkstemp(end, "numera")
            os.close(handle)
            yield made
            with open(made, "rb") as source, open(text, "ab") as file:
                shutil.copyfileobj(source, file)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise Error(f"cannot write {text}: {reason}") from None
    finally:
        with contextlib.suppress(OSError):  # none was made, or none can be
            os.remove(made)


def say(text: Any) -> None:
    """Prints what a command found. Where nobody reads it, the process ends as others
    do, by the signal."""
    if sys.stdout is None:
        raise Error("cannot write to standard output: it is closed")
    try:
        print(text, flush=True)
    except OSError as error:
        # What is left of it fails no more when Python ends.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            signal.signal(signal.SIGPIPE, signal.SIG_DFL)
            signal.raise_signal(signal.SIGPIPE)
        raise Error(f"cannot write to standard output: {error.strerror}") from None


def check_page(path: Path) -> None:
    """Before time is spent on what cannot be written."""
    check_path(path)
    for package in ("grandalf", "jinja2", "vl_convert"):
        if importlib.util.find_spec(package) is None:
            raise Error(
                f"a page needs the package {package}, which {sys.executable} has not: "
                "pip install 'numera-mlir[report]', or name another Python in "
                "NUMERA_PYTHON"
            )


def name_of(model: Any) -> str:
    """The model's file, or what kind of object it is."""
    if isinstance(model, (str, os.PathLike)) and "\n" not in str(model):
        return os.path.basename(os.fspath(model))
    return "MLIR" if isinstance(model, str) else type(model).__name__


def described(given: Any) -> Any:
    """What was given for the inputs: files by their names, arrays by their shapes."""
    if isinstance(given, Mapping):
        return {str(key): described_one(each) for key, each in given.items()}
    several = isinstance(given, (list, tuple))
    return [described_one(each) for each in (given if several else [given])]


def described_one(given: Any) -> str:
    if isinstance(given, (str, os.PathLike)):
        return os.path.basename(os.fspath(given))
    shape = given.shape if hasattr(given, "shape") else np.shape(given)
    return f"an array {list(map(int, shape))}"


def plain(value: Any) -> Any:
    """For JSON, which has no infinities."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in value]
    return value
