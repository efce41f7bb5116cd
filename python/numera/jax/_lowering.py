# SPDX-License-Identifier: MIT
"""The seam to torch-mlir: functions of JAX, as StableHLO, to linalg.

JAX lowers for a platform that it does not know, so that no rules of XLA's for CPUs
apply, which call libraries.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import jax

from numera._errors import Error
from numera.jax import _eigen, _refusals, _replace

__all__ = ["TORCH_MLIR", "file_to_linalg", "to_linalg"]

TORCH_MLIR = "20261001"
"""The release of torch-mlir whose output is known."""

_MOST = 1 << 22
"""Elements of the constants that are made of a function."""

_BYTECODE = b"ML\xefR"
_HINT = "; import numera.jax, and export it for platforms=('numera',)"
_HERE = os.path.dirname(__file__)
_PLATFORM = "numera"
_CALLS = "builtin.module(inline,symbol-dce)"
_LINALG = (
    "builtin.module(func.func(stablehlo-aggressive-simplification),"
    "func.func(stablehlo-legalize-to-linalg),canonicalize,cse)"
)
_DIALECTS = ("arith", "builtin", "func", "linalg", "math", "scf", "tensor")


_eigen.register()


def _check_version() -> None:
    from importlib import metadata

    try:
        found = metadata.version("torch-mlir")
    except metadata.PackageNotFoundError:
        raise Error(
            f"JAX's functions need torch-mlir {TORCH_MLIR}: "
            f"pip install torch-mlir=={TORCH_MLIR}"
        ) from None
    if found != TORCH_MLIR:
        raise Error(f"torch-mlir is {found}, expected {TORCH_MLIR}")


def to_linalg(fun: Callable[..., Any], *arguments: Any) -> str:
    """A function of arrays as MLIR.

    arguments  arrays, or what is known of them (``jax.ShapeDtypeStruct``).
    """
    _check_version()
    from jaxlib.mlir import ir

    module = _to_stablehlo(fun, *arguments)
    _check(_operations(ir, module), ("builtin", "func", "math", "stablehlo"))
    text = module.operation.get_asm(enable_debug_info=True)
    return _legalized(text)


def _to_stablehlo(fun: Callable[..., Any], *arguments: Any) -> Any:
    traced = _traced(fun, *arguments)
    try:
        lowered = traced.lower(lowering_platforms=(_PLATFORM,))
    except NotImplementedError as error:
        named = re.search("primitive '([^']*)'", str(error))
        if named is None:
            raise
        reason = "JAX has no operations of StableHLO for it"
        raise _refusals.refused(traced, named[1], reason) from None
    module = lowered.compiler_ir("stablehlo")
    _replace.replace(module, _to_stablehlo)
    return module


def _traced(fun: Callable[..., Any], *arguments: Any) -> Any:
    """What depends on no argument is a constant: in the format, places in an image would
    be rounded, too. Where constants would be large, or something cannot be computed
    before, all is left as it is."""

    def trace() -> Any:
        return jax.jit(fun, keep_unused=True).trace(*arguments)

    def held(traced: Any) -> int:
        return sum(getattr(each, "size", 1) for each in traced.jaxpr.consts)

    traced = trace()
    _refusals.check(traced)
    if not traced.jaxpr.consts and not _refusals.computes_alone(traced.jaxpr):
        return traced
    try:
        with jax.ensure_compile_time_eval():
            folded = trace()
    except Exception:  # noqa: BLE001, of what can be traced alone
        return traced
    return folded if held(folded) - held(traced) <= _MOST else traced


def file_to_linalg(path: str) -> str:
    """StableHLO of a file, text, bytecode or a portable artifact, as MLIR."""
    _check_version()
    try:
        content = pathlib.Path(path).read_bytes()
    except OSError as error:
        raise Error(error.strerror or str(error)) from None
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    # JAX has no public way to make a context with all of its dialects.
    known: Any = jax.jit(lambda: 0).lower().compiler_ir("stablehlo")
    said: list[str] = []

    def listen(diagnostic: Any) -> bool:
        said.extend(str(diagnostic.message).splitlines()[:1])
        return True

    with known.context as context:
        handler = context.attach_diagnostic_handler(listen)
        try:
            if content.startswith(_BYTECODE):
                module = stablehlo.deserialize_portable_artifact(context, content)
            else:
                module = ir.Module.parse(content)
        except Exception as error:  # noqa: BLE001, of jaxlib's own types
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            reason = said[0] if said else " ".join(lines)
            raise Error(f"not StableHLO: {reason}") from None
        finally:
            handler.detach()
        if not list(module.body.operations):
            raise Error("not StableHLO: it has no function")
        _replace.replace(module, _to_stablehlo)
        _drop_shardings(ir, module)
        _check(_operations(ir, module), ("builtin", "func", "math", "stablehlo"))
        text: Any = module.operation.get_asm(enable_debug_info=True)
        return _legalized(text)


def _drop_shardings(ir: Any, module: Any) -> None:
    """Drops attributes that say which device has which part."""

    def visit(operation: Any) -> Any:
        known = operation.attributes
        for name in [known[n].name for n in range(len(known))]:
            if name.startswith("sdy."):
                del known[name]
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def _legalized(text: str) -> str:
    from torch_mlir import ir

    # Importing the second one registers the passes.
    from torch_mlir._mlir_libs import _stablehlo, _torchMlir  # noqa: F401
    from torch_mlir.passmanager import PassManager

    from numera.jax import _complex, _control, _names, _nans, _truths, _unsigned

    diagnostics: list[tuple[str, str]] = []

    def listen(diagnostic: Any) -> bool:
        if diagnostic.severity == ir.DiagnosticSeverity.ERROR:
            diagnostics.append((str(diagnostic.location), diagnostic.message))
        return True

    with ir.Context() as context:
        _stablehlo.register_dialect(context)
        module = ir.Module.parse(text)
        PassManager.parse(_CALLS).run(module.operation)
        if _complex.split(module, _to_stablehlo, _refused):
            PassManager.parse(_CALLS).run(module.operation)
        _names.spell_out(module)
        _control.rewrite(module)
        handler = context.attach_diagnostic_handler(listen)
        try:
            PassManager.parse(_LINALG).run(module.operation)
        except Exception:  # noqa: BLE001, of torch-mlir's own types
            _check(_operations(ir, module), _DIALECTS)
            place, message = diagnostics[0] if diagnostics else ("", "no reason given")
            raise _refused(place, message.splitlines()[0]) from None
        finally:
            handler.detach()
        _check(_operations(ir, module), _DIALECTS)
        _nans.ask_for_nans(module)
        _truths.widen(module)
        _unsigned.without_signs(module)
        printed: str = module.operation.get_asm(enable_debug_info=True)
        return printed


# ---- what has no place in linalg --------------------------------------------


def _operations(ir: Any, module: Any) -> list[tuple[str, str]]:
    """Names and locations. That of a call of a library has the function's."""
    found: list[tuple[str, str]] = []

    def visit(operation: Any) -> Any:
        name = operation.name
        if name == "stablehlo.custom_call":
            target = ir.StringAttr(operation.attributes["call_target_name"]).value
            name = f"{name} @{target}"
        found.append((name, str(operation.location)))
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def _check(operations: Iterable[tuple[str, str]], dialects: tuple[str, ...]) -> None:
    for name, place in operations:
        if name.split(".")[0] not in dialects:
            if name == "stablehlo.return":
                continue  # of what is reported next
            # JAX has no other operations for a CPU.
            hint = _HINT if "@lapack" in name else ""
            raise _refused(place, f"'{name}' has no counterpart in linalg{hint}")


def _refused(place: str, reason: str) -> Error:
    """Names the primitive, and the user's line: the innermost that JAX keeps."""
    names = re.findall(r'"([^"]*)"\(', place)
    primitive = next((n.rsplit("/", 1)[-1] for n in names if "/" in n), None)
    lines = [
        line
        for line in re.findall(r'"([^"]+)":(\d+):', place)
        if os.path.dirname(line[0]) != _HERE
    ]
    text = f"'{primitive}'" if primitive else "the function"
    if lines:
        text += " at {}:{}".format(*lines[0])
    return Error(f"cannot compile {text}: {reason}")
