# SPDX-License-Identifier: MIT
"""The arguments of `numera.torch.backend`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from numbers import Integral
from typing import Any

from torch import fx

import numera
from numera._errors import Error
from numera._models import ACCUMULATORS
from numera._request import Spec
from numera.torch._backend import Backend
from numera.torch._policy import Policy

__all__ = ["backend"]

_OWN = (
    *("format", "backward", "gradients", "weights", "activations", "errors"),
    *("accumulate", "rounding", "overflow", "random_bits", "policy", "seed"),
    *("threads", "fallback", "stats"),
)
_COMPILERS = ("formats", "target", "cpu", "gpu", "optimization", "code_cache", "replace")
"""Arguments of `numera.compile` that are passed on."""


def _check_options(options: Mapping[str, Any]) -> None:
    for name in options:
        if name not in _COMPILERS:
            near = difflib.get_close_matches(name, (*_OWN, *_COMPILERS), 1)
            end = (
                f"did you mean '{near[0]}'?"
                if near
                else f"expected one of {', '.join((*_OWN, *_COMPILERS))}"
            )
            raise Error(f"the backend has no argument '{name}', {end}")


def _load(files: Any) -> None:
    """Reads files of formats, so that roles and rules know their names."""
    listed = [files] if isinstance(files, (str, os.PathLike)) else files
    if not isinstance(listed, (list, tuple)):
        raise Error(f"formats are YAML files, found {type(listed).__name__}")
    numera.load(*listed)


def backend(
    format: Spec = "f32",
    *more: Any,
    backward: Any = None,
    gradients: Any = None,
    weights: Spec | None = None,
    activations: Spec | None = None,
    errors: Spec | None = None,
    accumulate: Spec | None = None,
    rounding: str | None = None,
    overflow: str | None = None,
    random_bits: int | None = None,
    policy: Any = None,
    seed: int = 0,
    threads: int = 0,
    fallback: str | None = None,
    stats: bool | int = False,
    **options: Any,
) -> Backend:
    """A backend of ``torch.compile`` that computes in a format.

    stats  whether gradients are compared with those in f32; a number n: in every
           n-th step.
    """
    if isinstance(format, fx.GraphModule):
        raise Error("torch.compile takes what numera.torch.backend('posit16') returns")
    if more:
        raise Error(f"the backend takes one argument without a name, found {more[0]!r}")
    _check_options(options)
    for name, number in (("seed", seed), ("threads", threads)):
        if isinstance(number, bool) or not isinstance(number, Integral) or number < 0:
            raise Error(f"{name} is {number!r}, expected a number from 0 on")
    if "formats" in options:
        _load(options["formats"])
    if accumulate not in (None, *ACCUMULATORS):
        numera.format(accumulate)
    if not isinstance(stats, Integral) or stats < 0:
        raise Error(f"stats is {stats!r}, expected True or a number of steps")
    if stats and fallback:
        raise Error("stats goes without fallback, expected one of them")
    if fallback not in (None, "torch"):
        raise Error(f"fallback is {fallback!r}, expected None or 'torch'")
    chosen = {
        "format": format,
        "backward": backward,
        "gradients": gradients,
        "weights": weights,
        "activations": activations,
        "errors": errors,
        "accumulate": accumulate,
        "rounding": rounding,
        "overflow": overflow,
        "random_bits": random_bits,
    }
    given = {key: value for key, value in chosen.items() if value is not None}
    return Backend(Policy(given, policy), seed, threads, fallback, options, int(stats))
