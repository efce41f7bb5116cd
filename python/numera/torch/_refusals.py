# SPDX-License-Identifier: MIT
"""What a refused graph says: the operator, the line of the model, and the reason.

torch-mlir's messages are about its own operations. They are kept in
``GraphError.details``; a user reads which operator of PyTorch is meant.
"""

from __future__ import annotations

import functools
import operator
import os
import re
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import fx

from numera._errors import Error

__all__ = [
    "FALLBACK",
    "GraphError",
    "alone",
    "check_operators",
    "find_node",
    "place_in",
    "plainly",
]

FALLBACK = 'fallback="torch" has PyTorch run it'

_NO_COUNTERPART = "it has no counterpart in linalg"
_PYTORCH = os.path.dirname(torch.__file__) + os.sep


class GraphError(Error):
    """A graph that cannot be compiled, because of one of its nodes."""

    def __init__(
        self,
        node: fx.Node | None,
        reason: str,
        details: str = "",
        hint: str = "",
        anywhere: bool = True,
    ) -> None:
        """anywhere  whether PyTorch may run the node between programs."""
        self.node: str | None = (
            node.meta.get("numera_node", node.name) if node and anywhere else None
        )
        self.operator = str(_operator(node)) if node else ""
        self.place = _place_in_model(node) if node else ""
        self.reason = reason
        self.details = details
        """What torch-mlir said, with its operations."""
        what = f"'{self.operator}'" if node else "the graph"
        where = f" at {self.place}" if self.place else ""
        end = f"; {hint}" if hint and node else ""
        super().__init__(f"cannot compile {what}{where}: {reason}{end}")
        self._node, self._hint, self._anywhere = node, hint, anywhere

    def __reduce__(self) -> tuple[Any, ...]:
        return Error, (str(self),)  # a graph does not travel

    def with_hint(self, hint: str) -> GraphError:
        """The same, which says what to do."""
        if not self._anywhere:
            return self
        return GraphError(self._node, self.reason, self.details, hint)


def _inner(node: fx.Node) -> Any:
    """The operator that a node calls, where it may have effects, too."""
    target: Any = node.target
    given: tuple[Any, ...] = node.args
    if str(target) == "with_effects":  # a token, the operator and its arguments
        return given[1]
    return target


def _operator(node: fx.Node) -> Any:
    """The operator that the model called."""
    return node.meta.get("original_aten") or _inner(node)


def _traces(node: fx.Node) -> Iterable[str]:
    """Where a node came from, and where it has none, those that it reads."""
    yield node.meta.get("stack_trace") or ""
    for each in (*node.all_input_nodes, *node.users):
        yield each.meta.get("stack_trace") or ""


def _place_in_model(node: fx.Node) -> str:
    """The line of the model that a node came from."""
    return next(filter(None, map(place_in, _traces(node))), "")


def place_in(trace: str) -> str:
    """The last line of a trace that is not PyTorch's, nor of code that it made."""
    places = re.findall(r'File "([^"<]+)", line (\d+),[^\n]*\n\s*([^\n]*)', trace)
    own = [place for place in places if not place[0].startswith(_PYTORCH)]
    if not places:
        return ""
    file, line, code = (own or places)[-1]
    return f"{file}:{line}: {code.strip()}"


def find_node(graph: fx.GraphModule, names: list[str]) -> fx.Node | None:
    """The first node of the graph that has one of the names."""
    known = {node.name: node for node in graph.graph.nodes}
    for name in names:
        if name in known:
            return known[name]
    return None


# ---- reasons ----------------------------------------------------------------


def _tensors(node: fx.Node) -> list[torch.Tensor]:
    found = []
    for each in (node, *node.all_input_nodes):
        value = each.meta.get("val")
        values = value if isinstance(value, (tuple, list)) else [value]
        found += [one for one in values if isinstance(one, torch.Tensor)]
    return found


def _reason_of_types(node: fx.Node) -> str | None:
    """What no program has: complex numbers, shapes that depend on the data."""
    tensors = _tensors(node)
    for tensor in tensors:
        if tensor.is_complex():
            return f"it has complex numbers ({tensor.dtype}), which no program has"
        if str(tensor.dtype).startswith(("torch.q", "torch.bits")):
            return f"it has numbers of {tensor.dtype}, which no program has"
        if any(
            isinstance(size, torch.SymInt) and "u" in str(size) for size in tensor.shape
        ):
            return "the shape of its result depends on the data"
    return None


def plainly(node: fx.Node | None, message: str) -> str:
    """The reason of a refusal without operations of MLIR."""
    reason = node and _reason_of_types(node)
    if reason:
        return reason
    line = next(iter(message.strip().splitlines()), "").removeprefix("unimplemented: ")
    if "failed to legalize" in line or "not implemented in the FxImporter" in line:
        return _NO_COUNTERPART
    if line.startswith("torch-mlir leaves"):
        return _NO_COUNTERPART
    if re.fullmatch(r"torch\.\w+", line):  # the importer knows no such type
        return f"it has numbers of {line}, which no program has"
    # Behind the message, an operation may be printed.
    line = re.split(r':? *(?:%\w+(?::\d+)? = |"?torch\.\w+(?:\.\w+)*"?[ (])', line)[0]
    return line.strip(" :") or _NO_COUNTERPART


# ---- which node it is -------------------------------------------------------


def check_operators(graph: fx.GraphModule) -> None:
    """Refuses what no program has, and what torch-mlir would compile to something
    else or fail at: sparse tensors, graphs that values choose (``torch.cond``),
    random numbers by torch-mlir's own generator."""
    for node in graph.graph.nodes:
        if node.op != "call_function":
            continue
        for tensor in _tensors(node):
            if tensor.layout != torch.strided:
                raise GraphError(
                    node,
                    f"it has a sparse tensor ({tensor.layout}), which no program has",
                )
            if not all(type(size) is int for size in tensor.shape):
                raise GraphError(
                    node,
                    "its result has a size that depends on data; without fullgraph=True "
                    "PyTorch runs it between graphs",
                    anywhere=False,
                )
    for node in graph.graph.find_nodes(op="get_attr"):
        path: Any = node.target
        held = functools.reduce(getattr, path.split("."), graph)
        if isinstance(held, torch.nn.Module):
            raise GraphError(
                next(iter(node.users), node), "it has graphs of its own, to choose from"
            )


def alone(
    graph: fx.GraphModule, refuses: Callable[[fx.GraphModule], str | None]
) -> tuple[fx.Node, str] | None:
    """The first node that is refused alone, and why; None where none is.

    For messages that name no node, such as those about a number of Python.
    """
    for node in graph.graph.nodes:
        if node.op != "call_function" or node.target is operator.getitem:
            continue
        message = refuses(_only(node))
        if message is not None:
            return node, message
    return None


def _only(node: fx.Node) -> fx.GraphModule:
    """A graph of a node, whose inputs are its arguments."""
    graph = fx.Graph()
    made: dict[fx.Node, fx.Node] = {}
    for each in node.all_input_nodes:
        made[each] = graph.placeholder(each.name)
        made[each].meta["val"] = each.meta.get("val")
    copy = graph.node_copy(node, made.__getitem__)
    results = [copy]
    value = node.meta.get("val")
    if isinstance(value, (tuple, list)):
        results = []
        for place, one in enumerate(value):
            if isinstance(one, torch.Tensor):
                item = graph.call_function(operator.getitem, (copy, place))
                item.meta["val"] = one
                results.append(item)
    graph.output(tuple(results))
    return fx.GraphModule(torch.nn.Module(), graph)
