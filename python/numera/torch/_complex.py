# SPDX-License-Identifier: MIT
"""Complex numbers as pairs of real ones, in a graph of ATen operators.

Each operator on complex tensors becomes what `_pairs` has for it, traced on the parts
under the same decompositions as the model. What comes of an operator has its place in
the model, and so its module's format.

Where a graph begins and ends, a complex tensor is one of real numbers whose last
dimension has both parts: `view_as_real` stands behind an argument, and
`view_as_complex` before a result. A result that is an argument stays as it is.
"""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, fx
from torch._subclasses.fake_tensor import FakeTensorMode, unset_fake_temporarily
from torch.fx.experimental.proxy_tensor import (
    disable_proxy_modes_tracing,
    get_proxy_mode,
    make_fx,
    track_tensor_tree,
)

from numera.torch import _complex_functions, _decompositions, _fourier
from numera.torch._dynamic import as_dynamo_compiles
from numera.torch._extents import Extents
from numera.torch._pairs import (
    HALVES,
    MADE,
    RULES,
    Pair,
    Refused,
    halves,
    in_memory,
    made,
    pair,
    part_type,
)
from numera.torch._refusals import GraphError

aten = torch.ops.aten

__all__ = ["at_border", "split"]

_NO_COUNTERPART = "it has no counterpart in linalg for complex numbers"

_RULES = {**RULES, **_complex_functions.RULES}

_DRAWN = (aten.rand.default, aten.randn.default)
"""Operators whose complex results PyTorch draws (`_random`)."""

_KEPT = (aten.alias.default, aten.detach.default, aten.clone.default)


def _values(node: fx.Node) -> list[Any]:
    value = node.meta.get("val")
    return list(value) if isinstance(value, (tuple, list)) else [value]


def _is_complex(node: fx.Node) -> bool:
    """Whether a result is complex."""
    return any(isinstance(each, Tensor) and each.is_complex() for each in _values(node))


def split(module: fx.GraphModule) -> None:
    """Rewrites the nodes of a graph that have complex numbers."""
    graph = module.graph
    for node in graph.find_nodes(op="get_attr"):
        _described(module, node)
    if any(_is_complex(node) for node in graph.nodes):
        _Split(module).run()


def _described(module: fx.GraphModule, node: fx.Node) -> None:
    """What a tensor is that a graph holds, where the graph does not say it."""
    path: Any = node.target
    held: Any = functools.reduce(getattr, path.split("."), module)
    if isinstance(held, Tensor) and held.is_complex() and "val" not in node.meta:
        with unset_fake_temporarily():
            node.meta["val"] = _mode_of(module).from_tensor(held)


def _mode_of(module: fx.GraphModule) -> FakeTensorMode:
    for node in module.graph.nodes:
        for value in _values(node):
            if isinstance(value, torch._subclasses.FakeTensor):
                return value.fake_mode
    return FakeTensorMode()


class _Split:
    def __init__(self, module: fx.GraphModule) -> None:
        self.module = module
        self.graph = module.graph
        self.mode = _mode_of(module)
        self.values: dict[fx.Node, Any] = {}
        """What nodes are in the trace: tensors, pairs, numbers, lists of these."""
        self.origins: list[tuple[fx.Node, bool]] = []
        """What nodes of the trace are for, and whether it is for the graph's end."""
        self.held: dict[Any, str] = {}
        """The names of tensors that the graph holds, by their elements."""
        self.given: dict[fx.Node, fx.Node] = {}
        """Of complex arguments, the nodes that are real."""
        self.extents = Extents()
        self.found: dict[fx.Node, None] = {}
        """Nodes with complex numbers, and those that take a part of one."""
        self.results: dict[fx.Node, Tensor] = {}
        """Real tensors in place of nodes; of complex results of the graph, both
        parts."""
        self.ends: list[fx.Node] = []

    def run(self) -> None:
        self._find()
        inputs = dict.fromkeys(self.given.values())
        for node in self.found:
            for each in node.all_input_nodes:
                if each not in self.given and each not in self.found:
                    inputs[each] = None
        traced = self._trace(list(inputs))
        self._inline(traced, list(inputs))
        for node in reversed(list(self.found)):
            if not node.users:
                self.graph.erase_node(node)

    # ---- what there is ------------------------------------------------------

    def _find(self) -> None:
        own: set[fx.Node] = set()
        for node in list(self.graph.nodes):
            if node.op == "output":
                self.ends = [
                    each
                    for each in dict.fromkeys(node.all_input_nodes)
                    if _is_complex(each) and not self._is_given(each)
                ]
            elif node.op in ("placeholder", "get_attr") or node.target in _DRAWN:
                if _is_complex(node):
                    self.given[node] = self._real_one(node)
                    own.add(self.given[node])
            elif _is_complex(node) or any(map(_is_complex, node.all_input_nodes)):
                if node not in own:
                    self.found[node] = None
            elif node.target is aten.select.int and _is_part(node):
                self.found[node] = None

    def _real_one(self, node: fx.Node) -> fx.Node:
        value = node.meta["val"]
        try:
            part_type(value.dtype)
        except Refused as error:
            raise GraphError(next(iter(node.users), node), str(error)) from None
        if node.op == "get_attr":
            path: Any = node.target
            held: Any = functools.reduce(getattr, path.split("."), self.module)
            with unset_fake_temporarily():
                name = self._hold(torch.view_as_real(held.detach().resolve_conj()))
            with self.graph.inserting_after(node):
                made = self.graph.get_attr(name)
        else:
            with self.graph.inserting_after(node):
                made = self.graph.call_function(aten.view_as_real.default, (node,))
        made.meta.update(node.meta)
        with self.mode, torch.no_grad():
            made.meta["val"] = torch.view_as_real(value.detach().resolve_conj())
        return made

    def _hold(self, tensor: Tensor) -> str:
        """The name of a tensor that the graph holds from now on."""
        key = tuple(tensor.shape), tensor.dtype, tensor.numpy().tobytes()
        if key not in self.held:
            self.held[key] = f"numera_parts_{len(self.held)}"
            self.module.register_buffer(self.held[key], tensor)
        return self.held[key]

    def _is_given(self, node: fx.Node) -> bool:
        """Whether a result is an argument, perhaps with its dimensions in another
        order, or a tensor that the graph holds, and needs no program."""
        known = ["placeholder", "get_attr"]
        if node.target is aten.permute.default:
            node, known = node.args[0], known[:1]  # type: ignore[assignment]
        while node.target in _KEPT:
            source: Any = node.args[0]
            if source.meta["val"].stride() != node.meta["val"].stride():
                return False
            node = source
        return node.op in known

    # ---- tracing ------------------------------------------------------------

    def _trace(self, inputs: list[fx.Node]) -> fx.GraphModule:
        def run(*given: Any) -> list[Tensor]:
            self.values.update(zip(inputs, given))
            for node, real in self.given.items():
                with self._origin(real):
                    parts = self.values[real]
                    self.values[node] = Pair(parts.select(-1, 0), parts.select(-1, 1))
            for node in self.found:
                with self._origin(node):
                    self._replace(node)
            for node in self.ends:
                with self._origin(node, is_end=True):
                    self.results[node] = self._both_parts(node)
            return list(self.results.values())

        with self.mode, torch.no_grad():
            fakes = [node.meta["val"].resolve_neg() for node in inputs]
        with (
            as_dynamo_compiles(),  # a backward pass may come here when it is first run
            self.mode,
            torch.no_grad(),
            torch._C._DisableAutocast(),
            fx.traceback.preserve_node_meta(False),
        ):
            return make_fx(
                run,
                decomposition_table=_decompositions.table(),
                tracing_mode="real",
            )(*fakes)

    @contextlib.contextmanager
    def _origin(self, node: fx.Node, is_end: bool = False) -> Iterator[None]:
        """Says of nodes that are traced which one they are for."""
        mode: Any = get_proxy_mode()
        root = mode.tracer.graph._root
        last = root._prev
        yield
        place = len(self.origins)
        self.origins.append((node, is_end))
        while last._next is not root:
            last = last._next
            last.meta["numera_origin"] = place

    def _replace(self, node: fx.Node) -> None:
        try:
            found = self._made(node)
        except Refused as error:
            raise GraphError(node, str(error)) from None
        except GraphError:
            raise
        except Exception as error:  # noqa: BLE001 - no rule knows such arguments
            raise GraphError(node, _NO_COUNTERPART, repr(error)) from None
        self.values[node] = found
        if isinstance(found, Tensor):
            self.results[node] = found

    def _made(self, node: fx.Node) -> Any:
        target: Any = node.target
        value = node.meta["val"]
        if target is aten.select.int and _is_part(node):
            viewed: Any = node.args[0]
            return self.values[viewed.args[0]].both()[int(node.args[2])]  # type: ignore
        args, kwargs = self._taken(node.args), self._taken(node.kwargs)
        if target is operator.getitem:
            return args[0][args[1]]
        packet = getattr(target, "overloadpacket", None)
        rule = _RULES.get(target) or _RULES.get(packet)
        found: Any
        if rule is not None:
            found = rule(*args, **kwargs)
        elif packet in _fourier.RULES:
            found = _fourier.RULES[packet](self._site(node), *args, **kwargs)
        elif packet in MADE:
            found = made(packet, args, kwargs, value)
        elif target in HALVES or packet in HALVES:
            found = halves(target, args, kwargs)
        elif target is aten.as_strided.default and _lies_in_order(node):
            found = halves(target, [in_memory(args[0]), *args[1:]], kwargs)
        else:
            raise Refused(_NO_COUNTERPART)
        return _fitted(found, value)

    def _taken(self, value: Any) -> Any:
        if isinstance(value, fx.Node):
            return self.values[value]
        if isinstance(value, (tuple, list)):
            return [self._taken(each) for each in value]
        if isinstance(value, dict):
            return {key: self._taken(each) for key, each in value.items()}
        return value

    def _both_parts(self, node: fx.Node) -> Tensor:
        value = self.values[node]
        if not isinstance(value, Pair):
            raise GraphError(node, _NO_COUNTERPART)
        return torch.stack(value.both(), -1)

    def _site(self, node: fx.Node) -> _fourier.Site:
        source: Any = node.args[0]
        reach = functools.partial(self.extents.reach, source)
        wanted = functools.partial(self.extents.wanted, node)
        return _fourier.Site(self._constant, reach, wanted)

    def _constant(self, numbers: Any, dtype: torch.dtype) -> Tensor:
        """A tensor that the graph holds."""
        mode: Any = get_proxy_mode()
        with unset_fake_temporarily(), disable_proxy_modes_tracing():
            tensor = torch.from_numpy(numbers).to(dtype)
            name = self._hold(tensor)
        setattr(mode.tracer.root, name, tensor)
        with disable_proxy_modes_tracing():
            fake = self.mode.from_tensor(tensor, static_shapes=True)
        proxy = mode.tracer.create_proxy("get_attr", name, (), {})
        track_tensor_tree(fake, proxy, constant=None, tracer=mode.tracer)
        return fake

    # ---- into the graph -----------------------------------------------------

    def _inline(self, traced: fx.GraphModule, inputs: list[fx.Node]) -> None:
        """Puts what was traced before the nodes that it is in place of."""
        places = traced.graph.find_nodes(op="placeholder")
        own: dict[fx.Node, fx.Node] = dict(zip(places, inputs))
        reals = set(self.given.values())
        end = self.graph.output_node()
        for node in traced.graph.nodes:
            if node.op in ("placeholder", "output"):
                continue
            origin, is_end = self.origins[node.meta["numera_origin"]]
            if node.op == "call_function" and _writes(node):
                raise GraphError(origin, _NO_COUNTERPART, f"'{node.target}'")
            with self.graph.inserting_before(
                end if is_end else origin.next if origin in reals else origin
            ):
                copy = self.graph.node_copy(node, own.__getitem__)
            copy.meta = {**origin.meta, "val": node.meta.get("val")}
            own[node] = copy
        made: Any = traced.graph.output_node().args[0]
        for node, each in zip(self.results, made):
            if _is_complex(node):
                self._end(node, own[each])
            else:
                self._put(node, own[each])

    def _put(self, node: fx.Node, new: fx.Node) -> None:
        """In place of a node with a real result."""
        if new.meta.get("numera_node") == node.meta.get("numera_node"):
            value = node.meta["val"]
            if new.op == "call_function" and value.shape == new.meta["val"].shape:
                new.meta["val"] = value  # the graph's callers know how it lies
        node.replace_all_uses_with(new)

    def _end(self, node: fx.Node, new: fx.Node) -> None:
        """In place of a complex result of the graph."""
        end, value = self.graph.output_node(), node.meta["val"]
        with self.graph.inserting_before(end):
            made = self.graph.call_function(aten.view_as_complex.default, (new,))
        made.meta.update(node.meta)
        with self.mode, torch.no_grad():
            new.meta["val"] = torch.view_as_real(value.detach().resolve_conj())
        end.replace_input_with(node, made)


def _writes(node: fx.Node) -> bool:
    """Whether an operator changes what it is given, which no graph is to do."""
    return bool(getattr(getattr(node.target, "_schema", None), "is_mutable", False))


def _is_part(node: fx.Node) -> bool:
    """Whether a node takes the real or the imaginary parts of a complex tensor."""
    given: tuple[Any, ...] = node.args
    viewed, axis, *_ = given
    if viewed.target is not aten.view_as_real.default:
        return False
    rank = viewed.meta["val"].dim()
    return bool(axis % rank == rank - 1)


def _lies_in_order(node: fx.Node) -> bool:
    source: Any = node.args[0]
    value = source.meta["val"]
    return bool(value.is_contiguous() and value.storage_offset() == 0)


def _fitted(found: Any, value: Any) -> Any:
    """What a rule made, of the type and shape that the result has."""
    if isinstance(value, (tuple, list)):
        return [_fitted(*each) for each in zip(found, value, strict=True)]
    if isinstance(found, complex):
        return found
    if value.is_complex():
        dtype = part_type(value.dtype)
        return Pair(*(_as(each, dtype, value.shape) for each in pair(found)))
    if not isinstance(found, Tensor):
        raise Refused(_NO_COUNTERPART)
    return _as(found, value.dtype, value.shape)


def _as(part: Any, dtype: torch.dtype, shape: torch.Size) -> Any:
    if part is None:
        return None
    if not isinstance(part, Tensor):
        return torch.full(shape, part, dtype=dtype)
    if part.is_complex():
        raise Refused(_NO_COUNTERPART)
    part = part if part.dtype == dtype else part.to(dtype)
    return part if part.shape == shape else part.expand(shape)


# ---- where a graph begins and ends ------------------------------------------


def at_border(
    graph: fx.Graph, plan: list[tuple[str, Any]], kept: list[fx.Node]
) -> tuple[list[tuple[str, Any]], list[fx.Node], frozenset[fx.Node]]:
    """The graph of a program, which takes and returns real tensors: the plan of
    results, the program's own, and which arguments are taken as real ones."""
    taken = []
    for node in graph.find_nodes(op="placeholder"):
        if not _is_complex(node):
            continue
        taken.append(node)
        for user in list(node.users):
            if user.target is aten.view_as_real.default:
                node.meta["val"] = user.meta["val"]
                user.replace_all_uses_with(node)
                graph.erase_node(user)
    wide: list[Any] = [
        each.args[0] if each.target is aten.view_as_complex.default else each
        for each in kept
    ]
    if wide != kept:
        graph.output_node().args = (tuple(wide),)
        plan = [
            ("complex", value) if kind == "output" and wide[value] is not kept[value]
            else (kind, value)
            for kind, value in plan
        ]  # fmt: skip
    return plan, wide, frozenset(taken)
