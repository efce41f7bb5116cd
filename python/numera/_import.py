# SPDX-License-Identifier: MIT
"""Models of other tools as MLIR: ``numera.import_model`` and the command."""

from __future__ import annotations

import argparse
import contextlib
import os
import pathlib
import sys
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

from numera._errors import Error
from numera._request import Path

__all__ = ["add", "import_model"]

_COMMANDS = {
    ".onnx": "numera.compile and the tool numera take it as it is",
    ".tflite": "python -m tf2onnx.convert --tflite {0} --output {1}.onnx",
    ".pb": "python -m tf2onnx.convert --graphdef {0} --output {1}.onnx --inputs X:0 "
    "--outputs Y:0",
    ".keras": "python -m tf2onnx.convert --keras {0} --output {1}.onnx",
    ".h5": "python -m tf2onnx.convert --keras {0} --output {1}.onnx",
    ".pt": "torch.export.save(torch.export.export(model, inputs), '{1}.pt2')",
    ".pth": "torch.export.save(torch.export.export(model, inputs), '{1}.pt2')",
}
"""What else people have, and what makes a model of that."""

_STABLEHLO = (".stablehlo", ".mlir", ".mlirbc", ".vhlo")


def import_model(model: Path, output: Path) -> None:
    """Writes a model of another tool as MLIR, which :func:`compile` takes.

    model   what ``torch.export.save`` writes (.pt2), or StableHLO (.stablehlo,
            .mlir, .mlirbc): text, bytecode or a portable artifact, as JAX writes it.
    output  the path of the .mlir file. Weights of a .pt2 are beside it, in a file
            of the same name that ends in .safetensors.
    """
    from numera.study._output import check_path

    path, target = os.fspath(model), pathlib.Path(output)
    if target.suffix != ".mlir":
        raise Error(f"'{target}' is to be MLIR; expected a name that ends in .mlir")
    if not os.path.exists(path):
        raise Error(f"{path}: no such file")
    check_path(target)
    text, weights = _read(path)
    if weights:
        from safetensors.torch import save

        _write(target.with_suffix(".safetensors"), save(weights))
    _write(target, text.encode())


def _read(path: str) -> tuple[str, dict[str, Any]]:
    stem, ending = os.path.splitext(path)
    if ending == ".pt2":
        _need("torch", "safetensors")
        with _without_cache():
            from numera.torch._import import read_exported

            return read_exported(path)
    if ending in _STABLEHLO:
        _need("jax")
        return _stablehlo(path), {}
    if ending in _COMMANDS:
        raise Error(f"{path}: not imported; {_COMMANDS[ending].format(path, stem)}")
    raise Error(
        f"{path}: not a model that is known; expected .pt2, or StableHLO in "
        f"{', '.join(_STABLEHLO)}"
    )


def _stablehlo(path: str) -> str:
    """As linalg. The readers of JAX end a process whose file is none of theirs."""
    from numera._apart import Ended, text_of

    try:
        return text_of("numera.jax._lowering", "file_to_linalg", path)
    except Error as error:
        raise Error(f"{path}: {error}") from None
    except Ended as error:
        raise Error(f"{path}: not StableHLO: the reader of JAX ended with {error}") from None


@contextlib.contextmanager
def _without_cache() -> Iterator[None]:
    """Parts of PyTorch make a folder for compiled programs as soon as they are imported,
    and name it in the environment. No model that is read needs it."""
    name = "TORCHINDUCTOR_CACHE_DIR"
    asked = os.environ.get(name)
    temporary = pathlib.Path(tempfile.gettempdir())
    there = {str(path) for path in temporary.glob("torchinductor_*")}
    if asked and os.path.exists(asked):
        there.add(os.path.abspath(asked))
    try:
        yield
    finally:
        made = os.environ.get(name)
        if made and os.path.abspath(made) not in there:
            with contextlib.suppress(OSError):  # it has been of use
                os.rmdir(made)


def _need(*packages: str) -> None:
    import importlib.util

    for package in packages:
        if importlib.util.find_spec(package) is None:
            raise Error(
                f"this needs {package}, which {sys.executable} has not: pip install "
                f"'numera-mlir[{packages[0]}]', or name another Python in NUMERA_PYTHON"
            )


def _write(path: pathlib.Path, content: bytes) -> None:
    try:
        _replace(path, content)
    except OSError as error:
        raise Error(f"cannot write {path}: {error.strerror or error}") from None


def _replace(path: pathlib.Path, content: bytes) -> None:
    """Completely or not at all; into the file of a link, a device or a pipe."""
    from numera.study._output import is_stream

    if is_stream(path):
        with path.open("ab") as stream:
            stream.write(content)
        return
    path = path.resolve()
    made = path.with_name(f".{path.name}.{os.getpid()}")
    nameless = _nameless(path.parent)
    handle = made.open("xb") if nameless is None else os.fdopen(nameless, "wb")
    try:
        with handle as file:
            file.write(content)
            file.flush()
            if nameless is not None:
                # Only with a folder is the link followed.
                os.link(f"/proc/self/fd/{nameless}", made, src_dir_fd=nameless)
        os.replace(made, path)
    except BaseException:
        made.unlink(missing_ok=True)
        raise


def _nameless(folder: pathlib.Path) -> int | None:
    """A file that goes with this process; None where the system has none."""
    if not os.path.isdir("/proc/self/fd"):
        return None
    try:
        return os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except (AttributeError, OSError):
        return None


def add(commands: Any) -> None:
    """Adds ``import`` to the commands of ``python -m numera``."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "import",
        help="write a model of PyTorch or JAX as MLIR",
        description="Write a model of torch.export (.pt2) or in StableHLO as MLIR.",
        allow_abbrev=False,
    )
    run: Callable[..., int] = _run
    parser.set_defaults(run=run)
    parser.add_argument("model", metavar="MODEL", help=".pt2, .stablehlo or .mlir")
    parser.add_argument("-o", metavar="OUT.mlir", dest="output", required=True,
        help="the file to write; weights are beside it, in .safetensors")  # fmt: skip


def _run(*, model: str, output: str) -> int:
    import_model(model, output)
    return 0
