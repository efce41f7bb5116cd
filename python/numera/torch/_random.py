# SPDX-License-Identifier: MIT
"""Random numbers of PyTorch's own generator, drawn before a program runs.

A node that draws becomes an input of the graph, so that a model has the bits that
it has in eager mode after the same `torch.manual_seed`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import fx
from torch._functorch.partitioners import default_partition
from torch.utils.checkpoint import CheckpointPolicy

from numera.torch._refusals import GraphError

aten = torch.ops.aten

__all__ = ["TABLE", "Draw", "lift", "mix", "partition"]

Draw = Callable[[], torch.Tensor]


class _Memory(NamedTuple):
    """Tensors that lie in memory as `empty_like` of another: eager mode draws in the
    order of memory."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def empty(self, dtype: torch.dtype) -> torch.Tensor:
        return torch.empty_strided(self.shape, self.strides, dtype=dtype)


def _like_memory(value: torch.Tensor) -> _Memory:
    shape, strides = tuple(value.shape), tuple(value.stride())
    away = torch.empty_strided(shape, strides, device="meta")
    return _Memory(shape, tuple(torch.empty_like(away).stride()))


class _Mask(NamedTuple):
    memory: _Memory
    share: float

    def __call__(self) -> torch.Tensor:
        return self.memory.empty(torch.bool).bernoulli_(self.share)


class _Uniform(NamedTuple):
    memory: _Memory

    def __call__(self) -> torch.Tensor:
        return self.memory.empty(torch.float32).uniform_()


class _Drawn(NamedTuple):
    """What a node draws. Its tensor, if any, says only what the draws look like."""

    operator: str
    memory: _Memory | None
    dtype: torch.dtype
    args: tuple[Any, ...]
    options: dict[str, Any]

    def __call__(self) -> torch.Tensor:
        target: Any = aten
        for part in self.operator.split(".")[1:]:
            target = getattr(target, part)
        tensors = [self.memory.empty(self.dtype)] if self.memory else []
        drawn: torch.Tensor = target(*tensors, *self.args, **self.options)
        return drawn


def _like(node: fx.Node) -> Draw:
    origin: Any = node.args[0]
    memory, dtype = _like_memory(origin.meta["val"]), node.meta["val"].dtype
    return _Drawn(str(node.target), memory, dtype, node.args[1:], dict(node.kwargs))


def _free(node: fx.Node) -> Draw:
    dtype = node.meta["val"].dtype
    return _Drawn(str(node.target), None, dtype, node.args, dict(node.kwargs))


_DRAWS: dict[Any, Callable[[fx.Node], Draw]] = {
    aten.normal.float_float: _free,
    aten.rand.default: _free,
    aten.rand.generator: _free,
    aten.randn.default: _free,
    aten.randn.generator: _free,
    aten.randint.default: _free,
    aten.randint.low: _free,
    aten.randperm.default: _free,
    aten.rand_like.default: _like,
    aten.randn_like.default: _like,
    aten.randint_like.default: _like,
    aten.randint_like.low_dtype: _like,
    aten.bernoulli.p: _like,
    aten.cauchy.default: _like,
    aten.exponential.default: _like,
    aten.geometric.default: _like,
    aten.log_normal.default: _like,
    aten.uniform.default: _like,
    aten.normal_functional.default: _like,
}


def partition(joint: fx.GraphModule, inputs: Any, **options: Any) -> Any:
    """The forward and the backward pass of a graph of both.

    Draws of a part that is computed once more in the backward pass
    (``torch.utils.checkpoint``) are kept for it, and not drawn again. So are seeds and
    steps of quantizers, which are counted.
    """
    for node in joint.graph.nodes:
        if node.target is torch.ops.numera.quantize.default:
            counted = node.args[1]
            if "recompute" in counted.meta:
                counted.meta["recompute"] = CheckpointPolicy.MUST_SAVE
        if node.target in (
            *_DRAWS,
            aten.native_dropout.default,
            aten.bernoulli.default,
        ):
            parts = [user for user in node.users if user.target is operator.getitem]
            for each in (node, *parts):
                if "recompute" in each.meta:
                    each.meta["recompute"] = CheckpointPolicy.MUST_SAVE
    return default_partition(joint, inputs, **options)


def number(graph: fx.Graph, before: fx.Node, value: Any, like: Any) -> fx.Node:
    """A number as a tensor of the type of another."""
    with graph.inserting_before(before):
        made = graph.call_function(
            aten.scalar_tensor.default, (value,), {"dtype": like.dtype}
        )
    describe(made, before, like.new_empty([]))
    return made


def describe(made: fx.Node, origin: fx.Node, value: Any) -> None:
    """Says of a new node which one it is for, and what its result is."""
    made.meta.update(origin.meta, val=value)


def lift(graph: fx.Graph) -> list[Draw]:
    """Puts inputs in place of nodes that draw, behind the inputs there are."""
    draws: list[Draw] = []
    last = [node for node in graph.nodes if node.op == "placeholder"][-1:]

    def add(node: fx.Node, draw: Draw, value: torch.Tensor) -> fx.Node:
        where = graph.inserting_after(last[0]) if last else graph.inserting_before()
        with where:
            drawn = graph.placeholder(f"drawn_{len(draws)}")
        drawn.meta["val"] = value
        last[:] = [drawn]
        draws.append(draw)
        return drawn

    for node in list(graph.nodes):
        if node.op != "call_function":
            continue
        if node.target is aten.native_dropout.default:
            _lift_dropout(graph, node, add)
        elif node.target is aten.bernoulli.default:
            _lift_bernoulli(graph, node, add)
        elif node.target in _DRAWS:
            drawn = add(node, _DRAWS[node.target](node), node.meta["val"])
            node.replace_all_uses_with(drawn)
            graph.erase_node(node)
        elif torch.Tag.nondeterministic_seeded in getattr(node.target, "tags", ()):
            raise GraphError(
                node, "what it draws depends on its operands, and is no input"
            )
    return draws


def _lift_dropout(graph: fx.Graph, node: fx.Node, add: Callable[..., fx.Node]) -> None:
    """`where(mask, x * 1 / (1 - p), 0)`, with the mask drawn."""
    given: tuple[Any, ...] = node.args
    value, share, training = given
    result, mask = node.meta["val"]
    if not training or share == 0:  # nor does eager mode draw
        return
    drawn = add(node, _Mask(_like_memory(value.meta["val"]), 1 - share), mask)
    with graph.inserting_before(node):
        scale = 0.0 if share == 1 else 1 / (1 - share)
        scaled = graph.call_function(aten.mul.Tensor, (value, scale))
        zero = number(graph, scaled, 0.0, result)
        kept = graph.call_function(aten.where.self, (drawn, scaled, zero))
    for made in (scaled, kept):
        describe(made, node, result)
    for user in list(node.users):
        user.replace_all_uses_with(kept if user.args[1] == 0 else drawn)
        graph.erase_node(user)
    graph.erase_node(node)


def _lift_bernoulli(
    graph: fx.Graph, node: fx.Node, add: Callable[..., fx.Node]
) -> None:
    """1 where a number that is drawn is less than the probability."""
    (share,) = node.args
    assert isinstance(share, fx.Node)
    result = node.meta["val"]
    drawn = add(node, _Uniform(_like_memory(result)), result)
    with graph.inserting_before(node):
        hit = graph.call_function(aten.lt.Tensor, (drawn, share))
        one, zero = (number(graph, hit, each, result) for each in (1.0, 0.0))
        chosen = graph.call_function(aten.where.self, (hit, one, zero))
    describe(hit, node, torch.empty_like(result, dtype=torch.bool))
    describe(chosen, node, result)
    node.replace_all_uses_with(chosen)
    graph.erase_node(node)


def multinomial(
    shares: torch.Tensor,
    count: int,
    replacement: bool = False,
    *,
    generator: Any = None,
) -> Any:
    """The largest quotients by exponential draws, as in eager mode."""
    if generator is not None or (replacement and count > 1):
        return NotImplemented
    quotients = shares / aten.exponential.default(torch.empty_like(shares))
    if count == 1:
        return quotients.argmax(-1, keepdim=True)
    return quotients.topk(count, -1).indices


TABLE: dict[Any, Any] = {aten.multinomial.default: multinomial}


def mix(number: int) -> int:
    """SplitMix64."""
    mask = (1 << 64) - 1
    number = (number + 0x9E3779B97F4A7C15) & mask
    number = ((number ^ (number >> 30)) * 0xBF58476D1CE4E5B9) & mask
    number = ((number ^ (number >> 27)) * 0x94D049BB133111EB) & mask
    return number ^ (number >> 31)
