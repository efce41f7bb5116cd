# SPDX-License-Identifier: MIT
"""The one seam to torch-mlir: graphs of FX to linalg that MLIR 22 parses.

torch-mlir's text is that of another MLIR than Numera's. What both read alike is
what this file lets through: linalg, tensor, arith, math and scf. Scatters and
scans become loops (`_scatter.py`, `_scan.py`), and a check finds f64 that the model
did not ask for.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import torch
from torch import fx
from torch._subclasses.fake_tensor import unset_fake_temporarily

from numera._errors import Error
from numera.torch._refusals import GraphError, alone, find_node, plainly

__all__ = ["TORCH_MLIR", "GraphError", "to_linalg"]

TORCH_MLIR = "20261001"
"""The release of torch-mlir whose output is known."""

_PIPELINE = (
    "builtin.module("
    "torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops=},"
    "torch-backend-to-linalg-on-tensors-backend-pipeline,lower-affine)"
)


def check_version() -> None:
    """One line, where torch-mlir is missing or another one."""
    from importlib import metadata

    try:
        found = metadata.version("torch-mlir")
    except metadata.PackageNotFoundError:
        raise Error(
            f"PyTorch's graphs need torch-mlir {TORCH_MLIR}: "
            f"pip install torch-mlir=={TORCH_MLIR}"
        ) from None
    if found != TORCH_MLIR:
        raise Error(f"torch-mlir is {found}, expected {TORCH_MLIR}")


def to_linalg(
    graph: fx.GraphModule,
    *,
    names: Callable[[fx.Node], str] | None = None,
    function: str = "graph",
) -> str:
    """A graph of ATen operators, as AOTAutograd makes it, as text in linalg.

    names     the names that operations have in their locations, for rules and
              reports; None: those of the nodes.
    function  the name of the only function.
    """
    check_version()
    try:
        return _lowered(graph, names or (lambda node: node.name), function)
    except GraphError as error:
        if error.node is not None and "torch.constant." not in error.details:
            raise
        found = alone(graph, _refused)
        if found is None:
            raise
        node, message = found
        raise GraphError(node, plainly(node, message), message) from None


def _refused(graph: fx.GraphModule) -> str | None:
    """Why a graph has no linalg; None where it has."""
    try:
        _lowered(graph, lambda node: node.name, "graph")
    except GraphError as error:
        return error.details or error.reason
    return None


def _lowered(
    graph: fx.GraphModule, name_of: Callable[[fx.Node], str], function: str
) -> str:
    from torch_mlir import ir
    from torch_mlir.dialects import torch as torch_dialect
    from torch_mlir.extras.fx_importer import ContextCache, FxImporter
    from torch_mlir.passmanager import PassManager

    from numera.torch._largest import places_of_nans
    from numera.torch._named import STANDS_FOR, powers, renamed, stand_ins
    from numera.torch._order import sorts_to_loops
    from numera.torch._scan import scans_to_loops
    from numera.torch._scatter import scatters_to_loops

    class Names(ContextCache):
        """Gives operations names of modules, around those of nodes."""

        __slots__ = ()

        def get_node_location(self, node: fx.Node) -> Any:
            node = node.meta.get(STANDS_FOR, node)
            with self._c:
                inner = ir.Location.name(node.name)
                return ir.Location.name(name_of(node), inner)

    context = ir.Context()
    torch_dialect.register_dialect(context)
    importer = FxImporter(context=context)
    importer._cc = Names(context, py_attr_tracker=importer._py_attr_tracker)
    try:
        # Tensors that the graph holds are read, which fake ones are not.
        with stand_ins(graph) as targets, unset_fake_temporarily():
            importer.import_stateless_graph(graph.graph, func_name=function)
    except Exception as error:  # noqa: BLE001 - the importer raises any kind
        raise _importing(graph, error) from None
    module = importer.module
    with context:
        try:
            PassManager.parse(_PIPELINE).run(module.operation)
        except ir.MLIRError as error:
            raise _lowering(graph, error.error_diagnostics) from None
        try:
            renamed(module, targets)
            powers(module)
            places_of_nans(module)
            sorts_to_loops(module)
            scatters_to_loops(module, _counted_from_the_end(graph))
            scans_to_loops(module, _named(graph, torch.ops.aten.logcumsumexp.default))
            if not _wants_f64(graph):
                _check_f64(graph, module)
            _check_dialects(graph, module)
            context.allow_unregistered_dialects = True
            _mark_weights(graph, module)
            for each in module.body.operations:
                # What comes first is often a weight, not the batch (D8).
                each.attributes["numera.optional_batch"] = ir.UnitAttr.get()
            module.operation.verify()
        except ir.MLIRError as error:
            raise _lowering(graph, error.error_diagnostics) from None
        return module.operation.get_asm(enable_debug_info=True)


def _named(graph: fx.GraphModule, target: Any) -> list[str]:
    return [node.name for node in graph.graph.nodes if node.target is target]


def _counted_from_the_end(graph: fx.GraphModule) -> list[str]:
    """The assignments whose indices may be negative: not those that others become."""
    put = torch.ops.aten.index_put.default
    return [
        node.name
        for node in graph.graph.find_nodes(op="call_function", target=put)
        if str(node.meta.get("original_aten"))  # perhaps a copy, which equals none
        not in ("aten.index_add.default", "aten.index_copy.default")
    ]


def _mark_weights(graph: fx.GraphModule, module: Any) -> None:
    """Tells parameters of the model from other arguments of the function."""
    from torch_mlir import ir

    arguments = graph.graph.find_nodes(op="placeholder")
    marked = [
        bool(node.meta.get("numera_weight")) and node.meta["val"].is_floating_point()
        for node in arguments
    ]
    if not any(marked):
        return
    weight = ir.DictAttr.get({"numera.weight": ir.UnitAttr.get()})
    (function,) = module.body.operations
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(
        [weight if each else ir.DictAttr.get({}) for each in marked]
    )


# ---- what went wrong, and where ---------------------------------------------


def refused_by_numera(graph: fx.GraphModule, text: str, error: Error) -> Error:
    """The error of a compilation of the graph's text, with the node's place."""
    for name in re.findall(r"'([a-z_]+\.\w+)'", str(error)):
        line = re.search(rf'"?{re.escape(name)}"?[ (].*?loc\((#loc\d*)\)', text)
        if line is None:
            continue
        names = []
        place: str | None = line[1]
        while place is not None:
            alias = re.search(
                rf'^{place} = loc\("([^"]*)"(?:\((#loc\d*)\))?', text, re.MULTILINE
            )
            if alias is None:
                break
            names.append(alias[1])
            place = alias[2]
        node = find_node(graph, names[::-1])
        if node is not None:
            return GraphError(node, re.sub("^error: ", "", str(error)))
    return error


def _importing(graph: fx.GraphModule, error: Exception) -> GraphError:
    """torch-mlir's importer names a node, or its operator, in its message."""
    message = str(error).strip() or repr(error)
    node = find_node(graph, re.findall(r"\w+", message.splitlines()[0]))
    return GraphError(node, plainly(node, message), message)


def _lowering(graph: fx.GraphModule, diagnostics: list[Any]) -> GraphError:
    """The last one is of the operation that was to be lowered."""
    details = "\n".join(each.message for each in diagnostics)
    for each in diagnostics[::-1]:
        node = _place(graph, each)
        if node is not None:
            return GraphError(node, plainly(node, each.message), details)
    reasons = [plainly(None, each.message) for each in diagnostics]
    reason = "; ".join(dict.fromkeys(reasons)) or "torch-mlir gives no reason"
    return GraphError(None, reason, details)


# ---- what comes out ---------------------------------------------------------

_DIALECTS = ("arith", "builtin", "cf", "func", "linalg", "math", "scf", "tensor")


def _operations(module: Any) -> list[Any]:
    from torch_mlir import ir

    found: list[Any] = []

    def visit(operation: Any) -> Any:
        found.append(operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return found


def _place(graph: fx.GraphModule, placed: Any) -> fx.Node | None:
    """The node of an operation or of a diagnostic."""
    return find_node(graph, re.findall(r'"([^"]*)"', str(placed.location))[::-1])


def _check_dialects(graph: fx.GraphModule, module: Any) -> None:
    for operation in _operations(module):
        if operation.name.split(".")[0] not in _DIALECTS:
            node = _place(graph, operation)
            message = f"torch-mlir leaves '{operation.name}'"
            raise GraphError(node, plainly(node, message), message)


def _wants_f64(graph: fx.GraphModule) -> bool:
    """Whether a tensor of the model is f64."""
    for node in graph.graph.nodes:
        values = node.meta.get("val")
        for value in values if isinstance(values, (tuple, list)) else [values]:
            if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
                return True
    return False


def _check_f64(graph: fx.GraphModule, module: Any) -> None:
    """No operation may compute in f64 where no tensor of the model is f64."""
    from torch_mlir import ir

    for operation in _operations(module):
        if operation.name in ("arith.constant", "arith.truncf"):
            continue  # a number of Python, rounded to f32
        for value in operation.results:
            element = value.type
            if isinstance(element, ir.ShapedType):
                element = element.element_type
            if isinstance(element, ir.F64Type):
                node = _place(graph, operation)
                message = "it computes in f64, which no tensor of the model is"
                raise GraphError(
                    node, plainly(node, message), f"{message}: '{operation.name}'"
                )
