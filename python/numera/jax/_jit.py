# SPDX-License-Identifier: MIT
"""Functions that are traced by JAX and compiled by Numera."""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import threading
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np

from numera import _programs
from numera._errors import Error, check_whole
from numera._request import Path, Spec
from numera.jax import _keys, _lowering, _static, _tensors

__all__ = ["Jitted", "jit"]


_FORWARD = (
    "a compiled function has a gradient alone; take other derivatives inside, "
    "jit(jax.hessian(f)), jit(lambda x, t: jax.jvp(f, x, t))"
)


class _Tracing(threading.local):
    within = False
    """Whether a function is traced for Numera: those inside are a part of it."""


_tracing = _Tracing()


class _Compiled(NamedTuple):
    run: Any
    """A function of a program; None where there are no results."""
    results: tuple[jax.ShapeDtypeStruct, ...]
    tree: Any
    """How results are put together."""
    keys: tuple[Any, ...]
    """Which of them are keys of random numbers."""


class _Signature(NamedTuple):
    """What a program is compiled for."""

    tree: Any
    fixed: tuple[tuple[Any, Any], ...]
    """Static arguments, by place or name."""
    kinds: tuple[type, ...]
    """Their types: 1, 1.0 and True are equal."""
    avals: tuple[tuple[tuple[int, ...], np.dtype[Any], bool], ...]
    keys: tuple[Any, ...]
    """Which of them are keys of random numbers."""
    pulls: bool
    """Whether it is the gradient."""


class Jitted:
    """A function that computes in a format. Made by :func:`numera.jax.jit`.

    ``mlir(*args)`` is what is compiled for arguments, ``program(*args)`` the
    :class:`numera.Program`.
    """

    def __init__(
        self,
        fun: Callable[..., Any],
        options: Mapping[str, Any],
        backward: Mapping[str, Any],
        static_argnums: Sequence[int],
        static_argnames: Sequence[str],
        seed: int,
        threads: int,
    ) -> None:
        functools.update_wrapper(self, fun)
        self._fun = fun
        self._options, self._backward = options, backward
        self._argnums, self._argnames = _static.static(
            fun, static_argnums, static_argnames
        )
        self._seed, self._threads = seed, threads
        self._known: dict[_Signature, tuple[_programs.Program | None, _Compiled]] = {}
        self._lock = threading.RLock()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Computes; inside of ``jax.jit`` and the like by a callback."""
        return self._call(0, args, kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        """As a method, with the object as the first argument."""
        return self if instance is None else types.MethodType(self, instance)

    def at_step(self, step: Any) -> Callable[..., Any]:
        """The function whose stochastic rounding draws by a step, which may be
        traced: ``train.at_step(i)(weights, batch)``."""

        @functools.wraps(self._fun)
        def call(*args: Any, **kwargs: Any) -> Any:
            return self._call(step, args, kwargs)

        return call

    def program(self, *args: Any, **kwargs: Any) -> _programs.Program:
        """The program for arguments. Its inputs and outputs are their leaves;
        inputs of two dimensions or more are flat."""
        _, signature = self._split(args, kwargs)
        found = self._find(signature)[0]
        if found is None:
            raise Error("the function returns no array, so there is no program")
        return found

    def mlir(self, *args: Any, **kwargs: Any) -> str:
        """What is compiled for arguments: linalg in f32."""
        return self.program(*args, **kwargs).mlir("import")

    # ---- arguments ----------------------------------------------------------

    def _split(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[Any], _Signature]:
        static = {n if n >= 0 else n + len(args) for n in self._argnums}
        fixed: list[tuple[Any, Any]] = [
            (n, args[n]) for n in sorted(static) if 0 <= n < len(args)
        ]
        fixed += [(k, kwargs[k]) for k in self._argnames if k in kwargs]
        names = {name for name, _ in fixed}
        moving = [x for n, x in enumerate(args) if n not in names]
        named = {k: x for k, x in kwargs.items() if k not in names}
        leaves, tree = jax.tree.flatten((moving, named))
        leaves, keys = _keys.as_data(leaves)
        avals = tuple(map(_tensors.aval, leaves))
        kinds = tuple(type(value) for _, value in fixed)
        return leaves, _Signature(tree, tuple(fixed), kinds, avals, keys, pulls=False)

    def _flat(self, signature: _Signature, out: list[Any]) -> Callable[..., Any]:
        """The function of leaves that returns leaves; the tree goes to ``out``, and
        which leaves are keys."""

        @functools.wraps(self._fun)
        def flat(*leaves: Any) -> Any:
            given = _keys.as_keys(leaves, signature.keys)
            args, kwargs = jax.tree.unflatten(signature.tree, given)
            for place, value in signature.fixed:
                if isinstance(place, int):
                    args.insert(place, value)
                else:
                    kwargs[place] = value
            results, tree = jax.tree.flatten(self._fun(*args, **kwargs))
            results, keys = _keys.as_data(results)
            out.append((tree, keys))
            return tuple(map(jax.numpy.asarray, results))  # numbers, too

        return flat

    # ---- programs -----------------------------------------------------------

    def _find(
        self, signature: _Signature
    ) -> tuple[_programs.Program | None, _Compiled]:
        try:
            found = self._known.get(signature)
        except TypeError:
            raise _static.without_hash(signature.fixed) from None
        if found is None:
            with self._lock:
                found = self._known.get(signature)
                if found is None:
                    found = self._known[signature] = self._compile(signature)
        return found

    def _compile(
        self, signature: _Signature
    ) -> tuple[_programs.Program | None, _Compiled]:
        trees: list[Any] = []
        flat = self._flat(signature, trees)
        avals, options = list(signature.avals), self._options
        if signature.pulls:
            flat, avals = self._pulled(signature, flat)
            options = self._backward

        found: list[jax.ShapeDtypeStruct] = []

        @functools.wraps(self._fun)
        def of_vectors(*vectors: Any) -> Any:
            # As vectors no argument is a batch (D8): a call is one sample.
            rest = iter(vectors)
            leaves = []
            for shape, dtype, _ in avals:
                parts = [next(rest) for _ in range(_tensors.count(dtype))]
                x = jax.lax.complex(*parts) if len(parts) > 1 else parts[0]
                leaves.append(_tensors.signed(x, _tensors.wide(dtype)).reshape(shape))
            results = flat(*leaves)
            found[:] = map(_tensors.struct, results)
            return tuple(
                part
                for x in results
                for part in (
                    (x.real, x.imag)
                    if _tensors.count(x.dtype) > 1
                    else (_tensors.signed(x, _tensors.signless(x.dtype)),)
                )
            )

        given = [
            jax.ShapeDtypeStruct(
                (math.prod(shape),) if len(shape) > 1 else shape,
                _tensors.part(dtype),
                weak_type=weak,
            )
            for shape, dtype, weak in avals
            for _ in range(_tensors.count(dtype))
        ]
        before, _tracing.within = _tracing.within, True
        try:
            text = _lowering.to_linalg(of_vectors, *given)
            results = _tensors.narrowed(flat, avals, found)
        finally:
            _tracing.within = before
        if not found:
            return None, _Compiled(None, (), *trees[-1])
        program = _programs.compile(text, seed=self._seed, **options)
        (function,) = program.functions.values()
        return program, _Compiled(function, results, *trees[-1])

    def _pulled(
        self, signature: _Signature, flat: Callable[..., Any]
    ) -> tuple[Callable[..., Any], list[Any]]:
        """The function of leaves and of what comes back of its results that are
        floats, which returns the gradients of leaves that are floats."""
        floats = _tensors.floats(signature.avals)
        results = self._find(signature._replace(pulls=False))[1].results
        cotangents = [
            (x.shape, x.dtype, False) for x in results if _tensors.is_float(x.dtype)
        ]

        def pulled(*values: Any) -> Any:
            leaves = list(values[: len(signature.avals)])
            back = iter(values[len(signature.avals) :])

            def of_floats(*some: Any) -> Any:
                for place, value in zip(floats, some):
                    leaves[place] = value
                return flat(*leaves)

            made, pull = jax.vjp(of_floats, *(leaves[place] for place in floats))
            return pull(
                tuple(
                    next(back).astype(x.dtype)
                    if _tensors.is_float(x.dtype)
                    else np.zeros(x.shape, jax.dtypes.float0)
                    for x in made
                )
            )

        return pulled, [*signature.avals, *cotangents]

    # ---- calls --------------------------------------------------------------

    def _call(self, step: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if _tracing.within:
            return self._fun(*args, **kwargs)
        leaves, signature = self._split(args, kwargs)
        _, compiled = self._find(signature)
        if compiled.run is None:
            results: Sequence[Any] = ()
        elif any(isinstance(x, jax.core.Tracer) for x in (step, *leaves)):
            results = self._traced(signature)(step, *leaves)
        else:
            results = self._run(compiled, int(step), leaves)
        results = list(map(_tensors.typed, results, compiled.results))
        return jax.tree.unflatten(compiled.tree, _keys.as_keys(results, compiled.keys))

    def _traced(self, signature: _Signature) -> Callable[..., Any]:
        """The function of leaves by a callback, with a gradient."""

        def call(step: Any, *leaves: Any) -> Any:
            return self._callback(signature, step, leaves)

        def forward(step: Any, *leaves: Any) -> Any:
            return call(step, *leaves), (step, leaves)

        def backward(kept: Any, cotangents: Any) -> Any:
            step, leaves = kept
            back = [
                x
                for x, result in zip(cotangents, self._find(signature)[1].results)
                if _tensors.is_float(result.dtype)
            ]
            pulls = signature._replace(pulls=True)
            found = iter(self._callback(pulls, step, (*leaves, *back)))
            zero = np.zeros((), jax.dtypes.float0)
            gradients = [
                next(found)
                if _tensors.is_float(dtype)
                else np.zeros(shape, jax.dtypes.float0)
                for shape, dtype, _ in signature.avals
            ]
            return (zero, *gradients)

        function = jax.custom_vjp(call)
        function.defvjp(forward, backward)

        def traced(step: Any, *leaves: Any) -> Any:
            try:
                return function(jax.numpy.asarray(step), *leaves)
            except TypeError as error:
                if "forward-mode" not in str(error):
                    raise
                raise Error(_FORWARD) from None

        return traced

    def _callback(self, signature: _Signature, step: Any, leaves: Sequence[Any]) -> Any:
        _, compiled = self._find(signature)

        def host(step: Any, *values: Any) -> Any:
            return tuple(self._run(compiled, int(step), values))

        @jax.custom_jvp
        def call(step: Any, *values: Any) -> Any:
            return jax.pure_callback(
                host, compiled.results, step, *values, vmap_method="sequential"
            )

        @call.defjvp
        def refuse(*_: Any) -> Any:
            raise Error(_FORWARD)

        return call(step, *leaves)

    def _run(self, compiled: _Compiled, step: int, leaves: Sequence[Any]) -> list[Any]:
        run = compiled.run
        parts = [part for x in leaves for part in _tensors.parts(x)]
        inputs = [
            _tensors.lent(part, tensor) for part, tensor in zip(parts, run.inputs)
        ]
        found = run(*inputs, step=step, threads=self._threads)
        rest = iter(found if isinstance(found, tuple) else (found,))
        results = []
        for x in compiled.results:
            if _tensors.count(x.dtype) > 1:
                y = np.empty(x.shape, x.dtype)
                y.real, y.imag = next(rest), next(rest)
            else:
                y = next(rest)
            if y.dtype != x.dtype:
                same = y.dtype.itemsize == x.dtype.itemsize
                y = y.view(x.dtype) if same else y.astype(x.dtype)
            results.append(jax.numpy.asarray(y))
        return results


_OPTIONS = (
    *("formats", "target", "cpu", "gpu", "optimization", "code_cache", "output_as"),
    *("replace", "safetensors"),
)
"""Arguments of `numera.compile` that are passed on."""


def _check(fun: Any, options: Mapping[str, Any]) -> None:
    if not callable(fun):
        raise TypeError(f"jit takes a function, found {type(fun).__name__}")
    for name in options:
        if name not in _OPTIONS:
            known = [*inspect.signature(jit).parameters, *_OPTIONS]
            near = difflib.get_close_matches(name, known, 1)
            end = f"did you mean '{near[0]}'?" if near else f"expected one of {known}"
            raise TypeError(f"jit has no argument '{name}', {end}")


def jit(
    fun: Callable[..., Any] | None = None,
    *,
    format: Spec | None = None,
    backward: Spec | None = None,
    accumulate: Spec | None = None,
    rounding: str | None = None,
    random_bits: int | None = None,
    overflow: str | None = None,
    policy: Mapping[str, Any] | Path | None = None,
    seed: int = 0,
    threads: int = 0,
    static_argnums: int | Sequence[int] = (),
    static_argnames: str | Sequence[str] = (),
    donate_argnums: int | Sequence[int] = (),
    donate_argnames: str | Sequence[str] = (),
    **options: Any,
) -> Any:
    """As ``jax.jit``, with every operation in a number format.

    format     what is computed in; None: the policy's, else f32.
    backward   the format of gradients that are taken of the result, by
               ``jax.grad(jit(f))``; None: ``format``. In ``jit(jax.grad(f))`` all is
               computed in ``format``.
    accumulate, rounding, random_bits, overflow, policy, seed, **options
               as in :func:`numera.compile`. Rules match the names of
               ``jax.named_scope``.
    threads    of a call; 0: as many as there are processors. Bits do not depend on
               them.
    static_argnums, static_argnames
               as in ``jax.jit``.
    donate_argnums, donate_argnames
               taken and not used: arguments stay.

    Arguments and results are trees of arrays: of f32, integers and booleans (and
    f64, where JAX has it). A program is compiled for each kind of arguments. ``jit``
    without a function makes a decorator.

    >>> import jax, numera.jax
    >>> @numera.jax.jit(format="bf16")
    ... def third(x):
    ...     return {"x": x / 3}
    >>> third(1.0)
    {'x': Array(0.33398438, dtype=float32, weak_type=True)}
    """
    if fun is None:
        given = {k: v for k, v in locals().items() if k not in ("fun", "options")}
        return functools.partial(jit, **given, **options)
    _check(fun, options)
    check_whole(threads=threads)
    shared = {
        "accumulate": accumulate,
        "rounding": rounding,
        "random_bits": random_bits,
        "overflow": overflow,
        "policy": policy,
        **options,
    }
    return Jitted(
        fun,
        {"format": format, **shared},
        {"format": backward or format, **shared},
        [static_argnums] if isinstance(static_argnums, int) else static_argnums,
        [static_argnames] if isinstance(static_argnames, str) else static_argnames,
        seed,
        threads,
    )
