# SPDX-License-Identifier: MIT
"""Models of torch.export as MLIR, with their weights beside it."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, TensorArgument
from torch.export.pt2_archive._package import load_pt2

from numera._errors import Error
from numera.torch._archives import as_data
from numera.torch._constants import decomposed
from numera.torch._decompositions import table
from numera.torch._factors import without_checks
from numera.torch._graph import Graph, prepare
from numera.torch._linalg import to_linalg
from numera.torch._policy import module_name

__all__ = ["read_exported"]

_HELD = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)


def read_exported(path: str) -> tuple[str, dict[str, torch.Tensor]]:
    """A `.pt2` file as MLIR whose function takes the model's inputs, and the
    elements of its ``dense_resource`` constants, which are named as in the
    model's state."""
    program = _load(path)
    sizes = _open_sizes(program)
    with without_checks():
        program = _decomposed(path, program)
    for size in sizes:
        size.check(path)
    _check_results(path, program)
    graph = prepare(program.graph_module, whole=True)
    _check_graph(path, graph)
    held = _held(path, program, graph)
    text = to_linalg(
        graph.module,
        names=lambda node: module_name(node) or node.name,
        function="main",
    )
    inputs = [spec.arg.name for spec in program.graph_signature.input_specs]
    return _with_constants(
        text,
        [held.get(place) for place in graph.inputs],
        [inputs[place] for place in graph.inputs if place not in held],
    ), {name: _as_argument(program, graph, name, place) for place, name in held.items()}


def _load(path: str) -> ExportedProgram:
    try:
        with as_data() as refused:
            return load_pt2(path).exported_programs["model"]
    except Exception as error:  # noqa: BLE001 - torch raises any kind
        if refused:
            raise Error(f"{path}: {refused[0]}") from None
        causes = [error, error.__cause__, error.__context__]
        unknown = re.search(r"failed to resolve (torch\.ops\.[\w.]+)", str(causes))
        if unknown:
            raise Error(
                f"{path}: calls '{unknown[1]}', which nothing registers here; in "
                "Python, import the package that does, and then numera.import_model"
            ) from None
        reason = str(error).strip().splitlines() or [repr(error)]
        raise Error(f"{path}: not what torch.export.save writes: {reason[0]}") from None


def _decomposed(path: str, program: ExportedProgram) -> ExportedProgram:
    try:
        return decomposed(program, table())
    except Error:
        raise
    except (
        AssertionError,
        LookupError,
        AttributeError,
        TypeError,
        ValueError,
    ) as error:
        reason = str(error).strip().splitlines() or [repr(error)]
        raise Error(f"{path}: PyTorch cannot decompose it: {reason[0]}") from None


class _Size(NamedTuple):
    """A size that the model leaves open."""

    input: str
    axis: int
    symbol: torch.SymInt
    range: Any

    def now(self) -> Any:
        node = self.symbol.node
        return node.shape_env.bound_sympy(node.expr)

    def check(self, path: str) -> None:
        """Refuses decompositions for the size of the example alone, or for a few."""
        found = self.now()
        lower, upper = found.lower, found.upper
        # PyTorch takes an open size to be at least 2, and no program depends on that.
        if lower <= max(self.range.lower, 2) and upper >= self.range.upper:
            return
        needed = f"{lower} to {upper}" if upper < self.range.upper else f"from {lower}"
        raise Error(
            f"{path}: dimension {self.axis} of input '{self.input}' is left open, and "
            f"an operator needs it to be {lower if lower == upper else needed}"
        )


def _open_sizes(program: ExportedProgram) -> list[_Size]:
    found = []
    for node in program.graph.find_nodes(op="placeholder"):
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor):
            continue
        for axis, size in enumerate(value.shape):
            if isinstance(size, torch.SymInt):
                made = _Size(node.name, axis, size, None)
                found.append(made._replace(range=made.now()))
    return found


def _check_results(path: str, program: ExportedProgram) -> None:
    for place, spec in enumerate(program.graph_signature.output_specs):
        if spec.kind != OutputKind.USER_OUTPUT:
            raise Error(f"{path}: the model changes '{spec.target}'; export it in eval")
        if getattr(spec.arg, "value", "") is None:
            continue  # which no program returns
        if not isinstance(spec.arg, TensorArgument):
            raise Error(f"{path}: result {place} is a number, expected a tensor")


def _check_graph(path: str, graph: Graph) -> None:
    if graph.draws:
        raise Error(f"{path}: the model draws random numbers; export it in eval")
    for place, (kind, _) in enumerate(graph.plan):
        if kind == "complex":
            raise Error(f"{path}: result {place} is complex, expected real numbers")


def _held(path: str, program: ExportedProgram, graph: Graph) -> dict[int, str]:
    """The arguments of the graph that the model holds, and their names."""
    held = {}
    for place, spec in enumerate(program.graph_signature.input_specs):
        if place not in graph.inputs:
            continue
        if spec.kind in _HELD:
            assert spec.target is not None
            held[place] = spec.target
        elif spec.kind != InputKind.USER_INPUT:
            raise Error(f"{path}: an input of kind {spec.kind.name}")
        elif graph.inputs.index(place) in graph.pairs:
            raise Error(
                f"{path}: input '{spec.arg.name}' is complex, expected real numbers"
            )
        elif place in graph.orders:
            raise Error(
                f"{path}: input '{spec.arg.name}' is not contiguous; export the "
                f"model with contiguous tensors"
            )
    return held


def _as_argument(
    program: ExportedProgram, graph: Graph, name: str, place: int
) -> torch.Tensor:
    known: dict[str, Any] = {**program.state_dict, **program.constants}
    tensor: torch.Tensor = known[name].detach()
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    order = graph.orders.get(place)
    return (tensor.permute(order) if order else tensor).clone(
        memory_format=torch.contiguous_format
    )


def _with_constants(text: str, names: list[str | None], inputs: list[str]) -> str:
    """The module with constants in place of the arguments that have names. `inputs`
    are those of the other ones."""
    from torch_mlir import ir

    with ir.Context() as context:
        # Attributes of the dialect numera, which torch-mlir does not know.
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(text)
        (function,) = module.body.operations
        entry = function.regions[0].blocks[0]
        start = ir.InsertionPoint.at_block_begin(entry)
        for argument, name in zip(list(entry.arguments), names, strict=True):
            if name is None:
                continue
            value = ir.Attribute.parse(
                f"dense_resource<{_key(name)}> : {argument.type}"
            )
            constant = ir.Operation.create(
                "arith.constant",
                results=[argument.type],
                attributes={"value": value},
                loc=ir.Location.name(name),
                ip=start,
            )
            argument.replace_all_uses_with(constant.result)
        for place in reversed(range(len(names))):
            if names[place] is not None:
                entry.erase_argument(place)
        old = ir.TypeAttr(function.attributes["function_type"]).value
        function.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get([each.type for each in entry.arguments], old.results)
        )
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(
            [ir.DictAttr.get({"numera.name": ir.StringAttr.get(n)}) for n in inputs]
        )
        module.operation.verify()
        printed: str = module.operation.get_asm(enable_debug_info=True)
        return printed


def _key(name: str) -> str:
    """A key of MLIR's resources; only quoted may it have any character."""
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
