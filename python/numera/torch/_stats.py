# SPDX-License-Identifier: MIT
"""What a format did to gradients, against the same step in f32.

Each graph of a training step has a shadow: the same operations in f32, on the same
parameters, data and draws. What the shadow of the forward pass leaves for the
backward pass goes to the shadow of that, so gradients are compared with those of a
step that is in f32 as a whole.
"""

from __future__ import annotations

import functools
import math
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import fx

from numera._formats import Format
from numera._programs import Program
from numera.torch._call import make_call
from numera.torch._graph import Graph
from numera.torch._outside import SLOPES
from numera.torch._passes import gradients_of
from numera.torch._quantize import ROUNDS, rounds_to
from numera.torch._random import Draw

__all__ = ["Recorder", "names_of"]

_MOST = 8
"""Training calls whose results may still be read by a backward pass."""

Call = Callable[..., list[Any]]


class _Seen(NamedTuple):
    """The last call of a program that was measured."""

    program: Program
    kind: str
    inputs: list[Any]
    seed: int
    step: int


class Recorder:
    """Runs graphs with their shadows, and measures gradients."""

    def __init__(self, every: int) -> None:
        self.every = every
        self.rows: list[dict[str, Any]] = []
        self._seen: dict[int, _Seen] = {}
        self._calls = 0
        # By address: a tensor, which keeps its memory, and its shadow.
        self._shadows: OrderedDict[int, tuple[int, Any, Any]] = OrderedDict()

    def measures(self, step: int) -> bool:
        return (step - 1) % self.every == 0

    def call(
        self,
        graph: Graph,
        program: Program,
        plain: Program,
        draw: Callable[[], tuple[int, int]],
        threads: int,
        named: Sequence[tuple[Sequence[str], Format]] | None,
    ) -> Call:
        """As :func:`make_call`, and the shadow beside it.

        plain   the graph in f32.
        named   of a backward pass: of each result the names that it has as a
                gradient, and its format.
        """
        last: list[torch.Tensor] = []
        drawn = (0, 0)

        def drawing() -> tuple[int, int]:
            nonlocal drawn
            drawn = draw()
            return drawn

        given: list[Any] = []
        own = make_call(graph, program, drawing, threads, given)
        again: list[Draw] = [
            functools.partial(last.__getitem__, n) for n in range(len(graph.draws))
        ]
        shadow = make_call(graph._replace(draws=again), plain, lambda: (0, 0), threads)
        count = len(graph.draws)

        def invoke(*arguments: Any) -> list[Any]:
            results = own(*arguments)
            seed, step = drawn
            if not self.measures(step):
                return results
            last[:] = given[len(given) - count :]
            kind = "forward" if named is None else "backward"
            inputs = [tensor.detach().clone() for tensor in given]
            self._seen[id(program)] = _Seen(program, kind, inputs, seed, step)
            expected = shadow(*map(self._shadow_of, arguments))
            self._keep(results, expected, named is None)
            self._measure(step, named or (), results, expected)
            return results

        return invoke

    def _measure(
        self,
        step: int,
        named: Sequence[tuple[Sequence[str], Format]],
        results: Sequence[Any],
        expected: Sequence[Any],
    ) -> None:
        """Adds a row for each gradient."""
        for (names, format), value, reference in zip(named, results, expected):
            if not isinstance(value, torch.Tensor):
                continue
            if value.is_complex():  # a gradient of twice as many numbers
                value, reference = map(torch.view_as_real, (value, reference))
            if not value.is_floating_point():
                continue
            for name in names:
                row = {"step": step, "name": name, "format": format.name}
                self.rows.append({**row, **_measured(value, reference, format)})

    def watch(self, step: Callable[[], int], part: fx.GraphModule) -> torch.nn.Module:
        """What PyTorch runs between programs, and its shadow, which rounds nothing."""
        return _Watched(self, step, part)

    def _shadow_of(self, argument: Any) -> Any:
        if not isinstance(argument, torch.Tensor):
            return argument
        _, tensor, shadow = self._shadows.get(argument.data_ptr(), (0, None, None))
        if tensor is None or tensor.shape != argument.shape:
            return argument
        return shadow

    def _keep(self, results: list[Any], expected: list[Any], is_new: bool) -> None:
        self._calls += is_new
        for value, reference in zip(results, expected):
            if not isinstance(value, torch.Tensor) or value.is_sparse:
                continue
            if value is not reference:
                # As it was; the model may write to it.
                known = (self._calls, value, reference)
                self._shadows.pop(value.data_ptr(), None)
                self._shadows[value.data_ptr()] = known
        while self._shadows:
            oldest = next(iter(self._shadows))
            if self._calls - self._shadows[oldest][0] < _MOST:
                break
            del self._shadows[oldest]

    def layers(self) -> list[dict[str, Any]]:
        """Rows of :meth:`numera.Program.layers`, of the last calls measured."""
        found = []
        for seen in self._seen.values():
            arrays = [tensor.numpy() for tensor in seen.inputs]
            options = {"seed": seen.seed, "step": seen.step}
            rows = seen.program._layers_of(None, [(arrays, options)])
            found += [{"step": seen.step, "pass": seen.kind, **row} for row in rows]
        return found


class _Watched(torch.nn.Module):
    def __init__(
        self, recorder: Recorder, step: Callable[[], int], part: fx.GraphModule
    ) -> None:
        super().__init__()
        self._recorder, self._step, self._part = recorder, step, part
        results: Any = part.graph.output_node().args[0]
        self._is_single = isinstance(results, fx.Node)
        nodes = [results] if self._is_single else results
        self._named = [
            (gradients_of(node), rounds_to(node))
            if node.target is ROUNDS
            else ([], None)
            for node in nodes
        ]

    def forward(self, *arguments: Any) -> Any:
        recorder, step = self._recorder, self._step()
        run = _Noted(self._part)
        found = run.run(*arguments)
        # What comes before the first program of a step has the step before.
        if not (recorder.measures(step) or recorder.measures(step + 1)):
            return found
        shadow = _Unrounded(self._part, run.noted)
        expected = shadow.run(*map(recorder._shadow_of, arguments))
        results, references = (
            [each] if self._is_single else list(each) for each in (found, expected)
        )
        recorder._keep(results, references, False)
        if recorder.measures(step):
            recorder._measure(step, self._named, results, references)
        return found


class _Noted(fx.Interpreter):
    """Keeps what nodes make that draw."""

    def __init__(self, part: fx.GraphModule) -> None:
        super().__init__(part)
        self.noted: dict[str, Any] = {}

    def run_node(self, n: fx.Node) -> Any:
        found = super().run_node(n)
        if n.target is SLOPES:
            self.noted[n.name] = found
        return found


class _Unrounded(fx.Interpreter):
    def __init__(self, part: fx.GraphModule, noted: dict[str, Any]) -> None:
        super().__init__(part)
        self.noted = noted

    def run_node(self, n: fx.Node) -> Any:
        if n.name in self.noted:
            return self.noted[n.name]
        if n.target is ROUNDS:
            return self.fetch_args_kwargs_from_env(n)[0][0].clone()
        return super().run_node(n)


def _measured(value: Any, reference: Any, format: Format) -> dict[str, Any]:
    """M3 and M5 of docs/Semantics/LayerErrors.md."""
    v, r = (each.detach().double().numpy() for each in (value, reference))
    finite = np.isfinite(r)
    both = finite & np.isfinite(v)
    size = np.abs(r)
    count = max(v.size, 1)
    signal = float(np.sum(np.square(r[both])))
    noise = float(np.sum(np.square(v[both] - r[both])))
    sqnr = None
    if noise and signal:
        sqnr = 10 * math.log10(signal / noise)
    elif noise:
        sqnr = -math.inf
    row: dict[str, Any] = {"count": v.size, "sqnr_db": sqnr}
    most, least = _range(format)

    def share(where: Any) -> float:
        return float(np.count_nonzero(where)) / count

    beyond = None if most is None else finite & (size > most)
    row["overflow"] = None if beyond is None else share(beyond)
    row["saturated"] = None if beyond is None else share(beyond & (np.abs(v) == most))
    below = None if least is None else finite & (size < least) & (r != 0)
    row["underflow"] = None if below is None else share(below)
    row["zeros"] = share(finite & (r != 0) & (v == 0))
    row["nan"] = share(np.isnan(v) & ~np.isnan(r))
    row["max_abs"] = float(size[finite].max(initial=0.0))
    return row


def _range(format: Format) -> tuple[float | None, float | None]:
    """The largest number, and the least normal one or, without any, the least."""
    info = getattr(format, "finfo", None)
    if info is None:
        return None, None
    least = info.nearest("smallest_normal")
    if least is None:
        least = info.nearest("smallest_subnormal")
    return info.nearest("max"), least


def names_of(graph: fx.GraphModule) -> list[str]:
    """Of a graph of Dynamo, what each argument is to its users: ``layers.0.weight``."""
    return [
        _named(getattr(node.meta.get("grapharg"), "source", None)) or node.name
        for node in graph.graph.find_nodes(op="placeholder")
    ]


def _named(source: Any) -> str:
    """The path of attributes and indices; of a local variable, its name."""
    parts: list[str] = []
    at = source
    while (base := getattr(at, "base", None)) is not None:
        part = getattr(at, "member", None)
        part = getattr(at, "index", None) if part is None else part
        if part is not None and part not in ("_modules", "_parameters", "_buffers"):
            parts.append(str(part))
        at = base
    return ".".join(reversed(parts)) or str(getattr(at, "local_name", ""))
