# SPDX-License-Identifier: MIT
"""`torch.compile(model, backend=numera.torch.backend("posit16"))`."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

from torch import fx
from torch._functorch import config

import numera
from numera._errors import Error
from numera.torch import _entries
from numera.torch._accumulate import NO_GRADIENTS, Accumulation, Gradients, make_exact
from numera.torch._background import Awaited, Begun, raising
from numera.torch._cache import made_of
from numera.torch._call import check_given, check_types, make_call, make_empty_call
from numera.torch._decompositions import table
from numera.torch._dynamic import divide_numbers, has_symbols, specialising
from numera.torch._entries import Entry, Recipe
from numera.torch._factors import without_checks
from numera.torch._fallback import Fallback, run_with_fallbacks
from numera.torch._graph import Graph, prepare
from numera.torch._layers import with_open_attention
from numera.torch._linalg import refused_by_numera
from numera.torch._losses import margins_of_labels
from numera.torch._outside import OUTSIDE, with_sparse_gradients
from numera.torch._passes import (
    BACKWARD,
    INFERENCE,
    SUMS,
    TRAINING,
    gradients_of,
    keeps_what_it_is_given,
    made_by,
    moved,
    name_gradients,
    parameters,
    passes_of,
)
from numera.torch._policy import Found, Groups, Policy, operations_of
from numera.torch._random import mix, partition
from numera.torch._recurrent import dropout_between_layers
from numera.torch._refusals import FALLBACK, GraphError, check_operators
from numera.torch._state import counts_of
from numera.torch._stats import Recorder, names_of

__all__ = ["Backend"]

Made = TypeVar("Made")
Note = Callable[[Recipe], None] | None
"""Takes what the call of a graph is made from."""


class Backend:
    """A backend of ``torch.compile``, made by :func:`numera.torch.backend`."""

    def __init__(
        self,
        policy: Policy,
        seed: int,
        threads: int,
        fallback: str | None,
        options: Mapping[str, Any],
        stats: int = 0,
    ) -> None:
        self.seed = seed
        self.step = 0
        """Counts calls in training; keys stochastic rounding."""
        self.fallbacks: list[Fallback] = []
        """What PyTorch runs, with ``fallback="torch"``."""
        self.programs: list[numera.Program] = []
        """What was compiled, in order."""
        self._policy = policy
        self._threads = threads
        self._fallback = fallback
        self._options = dict(options)
        self._recorder = Recorder(stats) if stats else None
        self._ordinal = 0
        """Counts calls of a step."""
        self._accumulation: Accumulation | None = None
        self._sums = 0
        """Counts what :meth:`accumulate` has rounded."""
        self._is_broken = False
        """Whether there was a model of several graphs."""
        self._lock = threading.Lock()

    def __call__(
        self, graph: fx.GraphModule, inputs: list[Any], **options: Any
    ) -> Callable[..., Any]:
        """What ``torch.compile`` calls with a graph of the model."""
        from torch._dynamo.backends.common import aot_autograd

        check_given(options)
        ended: Any = getattr(graph, "compile_subgraph_reason", None)
        self._is_broken |= getattr(ended, "graph_break", False)
        with_sparse_gradients(graph)
        with_open_attention(graph)
        saved: set[str] = set()
        gradients = Gradients(names_of(graph), set())
        pending = entry = None
        is_plain = self._recorder is None and self._fallback is None
        if is_plain:
            pending, entry = _entries.find(graph, inputs, self._policy)
        if entry is not None:
            return self._restored(entry, graph, inputs, gradients)
        note = pending.note if pending else None
        first: list[Awaited] = []
        compiler = aot_autograd(
            fw_compiler=self._compiler(TRAINING, saved, gradients, note, first),
            bw_compiler=self._compiler(BACKWARD, saved, gradients, note, []),
            inference_compiler=self._compiler(
                INFERENCE, saved, NO_GRADIENTS, note, first
            ),
            decompositions=table(),
            partition_fn=partition,
        )
        kinds = TRAINING, BACKWARD, INFERENCE
        keeping = pending.kept(*kinds) if pending else contextlib.nullcontext()
        # The second pass is compiled beside the first, not when it is first called.
        beside = config.patch(force_non_lazy_backward_lowering=is_plain)
        with dropout_between_layers(), margins_of_labels(), without_checks(), keeping:
            with beside:
                call: Callable[..., Any] = compiler(graph, inputs)
            for each in first:
                each.ready()
        return call

    def _restored(
        self,
        entry: Entry,
        graph: fx.GraphModule,
        inputs: list[Any],
        gradients: Gradients,
    ) -> Callable[..., Any]:
        """What :meth:`__call__` returned when the entry was written."""
        recipes = [each for each in (entry.forward, entry.backward) if each]
        if entry.backward:
            gradients.parameters.update(entry.forward.weights)
        groups = [Groups(self._policy, {}, each.found) for each in recipes]

        for recipe in recipes:
            self._policy.see(
                recipe.operations,
                is_all=not self._is_broken,
                is_forward=recipe.kind == TRAINING,
            )
        calls = [
            self._again(recipe, own, gradients) for recipe, own in zip(recipes, groups)
        ]
        calls[0].ready()
        return _entries.restored(entry, graph, inputs, calls[0], *calls[1:] or [None])

    def _again(self, recipe: Recipe, own: Groups, gradients: Gradients) -> Awaited:
        """The call of a recipe, whose program is compiled from now on."""
        graph, text, kind = recipe.graph, recipe.text, recipe.kind
        compiled = None
        if text:
            compiled = Begun(lambda: own.compile(text, self._options))

        def make() -> Callable[..., Any]:
            program = compiled.result() if compiled else None
            return self._call(graph, program, text, own, kind, gradients)

        return Awaited(make)

    def __deepcopy__(self, _: dict[int, Any]) -> Backend:
        return self  # copies of a compiled model have one backend, as two models may

    def __reduce__(self) -> Any:
        """With a compiled model, ``torch.save`` keeps settings and the state."""
        stats = self._recorder.every if self._recorder else 0
        made = (self._policy, self.seed, self._threads, self._fallback)
        counts = {"_ordinal": self._ordinal, "_sums": self._sums}
        state = {"step": self.step, **counts}
        return Backend, (*made, self._options, stats), state

    def __repr__(self) -> str:
        return f"<numera.torch.Backend in {self._policy}>"

    @property
    def gradients(self) -> list[dict[str, Any]]:
        """With ``stats``, a row for each gradient of each step that was measured;
        ``pandas.DataFrame`` takes them. The list may be cleared."""
        return self._measured.rows

    def layers(self) -> list[dict[str, Any]]:
        """With ``stats``, the layers of the graphs that were measured last, as
        :meth:`numera.Program.layers` has them, forward and backward."""
        return self._measured.layers()

    def accumulate(self, parameters: Any, *, group: Any = None) -> Accumulation:
        """A block in which the gradients of several backward passes are added up in
        quires, and rounded once where it ends.

        parameters  a module, or its parameters.
        group       processes that share the sum: ``True``, or a group of
                    ``torch.distributed``.
        """
        if self._recorder is not None:
            raise Error("accumulate goes without stats, expected one of them")
        if self._fallback is not None:
            raise Error("accumulate goes without fallback, expected one of them")
        return Accumulation(self, parameters, group)

    def _draws_of_sums(self) -> Any:
        """What sums draw that are rounded stochastically."""
        self._sums += 1
        return numera.stochastic(mix(self.seed + mix(SUMS << 32)), self._sums)

    @property
    def _measured(self) -> Recorder:
        if self._recorder is None:
            raise Error("the backend has no statistics; make it with stats=True")
        return self._recorder

    def state_dict(self) -> dict[str, int]:
        """What a run needs that goes on with the same bits."""
        counts = {"calls": self._ordinal, "sums": self._sums}
        more = {name: count for name, count in counts.items() if count}
        return {"seed": self.seed, "step": self.step, **more}

    def load_state_dict(self, state: Mapping[str, int]) -> None:
        self.seed, self.step, self._ordinal, self._sums = counts_of(state)

    # ---- compiling ----------------------------------------------------------

    def _compiler(
        self,
        kind: int,
        saved: set[str],
        gradients: Gradients,
        note: Note,
        begun: list[Awaited],
    ) -> Callable[[fx.GraphModule, Any], Any]:
        """`saved` are the names of parameters that the forward pass moved, for the
        backward pass. Calls that wait for their programs are added to `begun`."""
        from functorch.compile import make_boxed_func

        def compile(module: fx.GraphModule, inputs: Any) -> Any:
            divide_numbers(module)
            weights = parameters(module, saved)
            if kind == TRAINING:
                saved.update(moved(module, weights))
                gradients.parameters.update(weights)
                keeps_what_it_is_given()
            try:
                call = self._compile(module, kind, weights, gradients, note)
            except Exception as error:  # the forward pass may do alone
                if kind != BACKWARD:
                    raise
                call = raising(error)
            if isinstance(call, Awaited):
                begun.append(call)
            return make_boxed_func(call)

        return compile

    def _compile(
        self,
        module: fx.GraphModule,
        kind: int,
        weights: Collection[int] = (),
        gradients: Gradients = NO_GRADIENTS,
        note: Note = None,
    ) -> Callable[..., Any]:
        """A function of the graph's arguments, of which `weights` are parameters."""
        if has_symbols(module):
            return specialising(
                module,
                self._policy.takes_numbers(),
                lambda each: self._compile(each, kind, weights, gradients),
            )
        operations = operations_of(module)
        self._policy.see(
            operations, is_all=not self._is_broken, is_forward=kind == TRAINING
        )
        for place, node in enumerate(module.graph.find_nodes(op="placeholder")):
            given = kind == BACKWARD and not node.name.startswith("tangents")
            node.meta["numera_weight"] = (
                "parameter" if place in weights else "activation" if given else None
            )
        for node in module.graph.nodes:
            node.meta["numera_node"] = node.name  # parts give nodes new names
        passes = passes_of(module, kind)
        if kind == BACKWARD and self._recorder is not None:
            name_gradients(module, gradients.names)
        own = {node.name for node in module.graph.nodes if node.target in OUTSIDE}
        if self._fallback is None and not own:
            taken = note and (
                lambda *made: note(Recipe(kind, *made, operations, frozenset(weights)))
            )

            def hinted(make: Callable[[], Made]) -> Made:
                try:
                    return make()
                except GraphError as error:
                    raise error.with_hint(FALLBACK) from None

            program = hinted(
                lambda: self._program(module, kind, passes, gradients, note=taken)
            )
            return Awaited(lambda: hinted(program.ready))
        watch = None
        if self._recorder is not None and kind != INFERENCE:
            watch = functools.partial(self._recorder.watch, lambda: self.step)

        def compiler() -> Callable[[fx.GraphModule], Callable[..., Any]]:
            begun: list[int] = []
            return lambda part: self._program(part, kind, passes, begun=begun).ready()

        call, found = run_with_fallbacks(
            module, own, compiler, watch, asked=self._fallback is not None
        )
        self.fallbacks += found
        return call

    def _program(
        self,
        module: fx.GraphModule,
        kind: int,
        passes: Mapping[str, str],
        gradients: Gradients = NO_GRADIENTS,
        begun: list[int] | None = None,
        note: Callable[[Graph, str, list[Found]], None] | None = None,
    ) -> Awaited:
        """``begun``: of a part of a graph, the kinds of the programs before it. The
        first one begins a step. ``note`` takes what the call is made from."""
        check_operators(module)
        groups = Groups(self._policy, passes)
        graph = prepare(
            module,
            is_finite=self._policy.is_finite(),
            largest=groups.largest,
            widens=True,
        )
        text, compiled = "", None
        prepared = graph.module
        assert prepared is not None
        if graph.outputs:
            check_types(prepared)

            def compile(text: str) -> Begun[numera.Program]:
                return Begun(lambda: self._compiled(text, groups, prepared))

            text, compiled = made_of(prepared, groups.name, compile)

        def make() -> Callable[..., Any]:
            program = compiled.result() if compiled else None
            if note is not None:
                note(graph._replace(module=None), text, groups.found)
            if program is None or self._recorder is None or kind == INFERENCE:
                return self._call(graph, program, text, groups, kind, gradients, begun)
            return self._recorded(module, graph, program, text, groups, kind, begun)

        return Awaited(make)

    def _compiled(
        self, text: str, groups: Groups, prepared: fx.GraphModule
    ) -> numera.Program:
        try:
            return groups.compile(text, self._options)
        except Error as error:
            raise refused_by_numera(prepared, text, error) from None

    def _recorded(
        self,
        module: fx.GraphModule,
        graph: Graph,
        program: numera.Program,
        text: str,
        groups: Groups,
        kind: int,
        begun: list[int] | None,
    ) -> Callable[..., Any]:
        """A call whose gradients are measured."""
        self.programs.append(program)
        draws = self._draws_of(kind, begun)
        plain = numera.compile(text, format="f32", **self._options)
        named = None
        if kind == BACKWARD:
            results: Any = module.graph.output_node().args[0]
            named = [
                (gradients_of(node), groups.format_of(made_by(node)))
                for node in results
            ]
        return self._measured.call(graph, program, plain, draws, self._threads, named)

    def _call(
        self,
        graph: Graph,
        program: numera.Program | None,
        text: str,
        groups: Groups,
        kind: int,
        gradients: Gradients,
        begun: list[int] | None = None,
    ) -> Callable[..., Any]:
        """Calls a program that was compiled from a text."""
        if program is None:
            return make_empty_call(graph)
        self.programs.append(program)
        draws = self._draws_of(kind, begun)
        call = make_call(graph, program, draws, self._threads)
        if kind != BACKWARD:
            return call
        return make_exact(
            self,
            graph,
            call,
            lambda quires: groups.compile(text, {**self._options, "quires": quires}),
            lambda program, **more: make_call(
                graph, program, draws, self._threads, **more
            ),
            gradients,
        )

    def _draws_of(
        self, kind: int, begun: list[int] | None
    ) -> Callable[[], tuple[int, int]]:
        draws = self._draws(kind, begins=kind == TRAINING and not begun)
        if begun is not None:
            begun.append(kind)
        return draws

    def _draws(self, kind: int, begins: bool) -> Callable[[], tuple[int, int]]:
        """Seed and step of the next call of a graph.

        Training calls count steps. A backward call has the step of the call
        before it, and what tells calls of one step apart is mixed into the seed.
        """

        def next_call() -> tuple[int, int]:
            with self._lock:
                if begins:
                    if self._accumulation is not None:
                        self._accumulation.begin()
                    self.step += 1
                    self._ordinal = 0
                self._ordinal += 1
                salt = (kind << 32) + self._ordinal
                return mix(self.seed + mix(salt)), self.step

        return next_call
