# SPDX-License-Identifier: MIT
"""Optimisers that keep weights and state in number formats.

They take what those of ``torch.optim`` take, and the formats of what they keep.
docs/Training.md says what they compute.

>>> import torch
>>> from numera.torch import optim
>>> model = torch.nn.Linear(3, 2)
>>> adam = optim.Adam(model.parameters(), weights="bf16", state="posit16",
...                   rounding="stochastic", seed=1)
>>> model(torch.ones(3)).sum().backward()
>>> adam.step()
>>> adam.state[model.bias]["exp_avg"]
tensor([9421, 9421], dtype=torch.uint16)
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import Any

from numera._errors import Error
from numera.torch._optimizer import Optimizer, check_at_least_zero
from numera.torch._roles import Spec

__all__ = ["SGD", "Adam", "AdamW"]


def _check_betas(betas: Any) -> None:
    try:
        first, second = betas
    except (TypeError, ValueError):
        raise Error(f"betas are {betas!r}, expected two numbers") from None
    for beta in (first, second):
        try:
            fits = bool(0 <= beta < 1)
        except TypeError:
            fits = False
        if not fits:
            raise Error(f"beta is {beta!r}, expected one below 1")


class SGD(Optimizer):
    """Stochastic gradient descent, as ``torch.optim.SGD``, in formats.

    weights   the format of weights; None: that of the parameters' type.
    state     the format of the momentum, kept as codes; None as for weights.
    master    a format in which weights are kept as well, as codes: an update goes
              to them, and parameters are what is read of them.
    compute   the format that every operation is rounded to; None: f32, or f64 for
              parameters of f64.
    rounding, random_bits
              of what is kept; None: as its format rounds. ``stochastic`` draws by
              the seed, the step, the tensor and the element.
    state_rounding
              of the state alone.
    compensated
              keeps what rounding takes from weights, in their format, and adds it
              to the next update (Kahan).
    seed      of stochastic rounding.

    All of these may differ from group to group.
    """

    _rule = "sgd"

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        weights: Spec | None = None,
        state: Spec | Mapping[str, Spec] | None = None,
        master: Spec | None = None,
        compute: Spec | None = None,
        rounding: str | None = None,
        state_rounding: str | None = None,
        random_bits: int | None = None,
        compensated: bool = False,
        seed: int = 0,
        **others: Any,
    ) -> None:
        own = {key: value for key, value in locals().items() if key in _SGD}
        super().__init__(params, own, others)

    def _check_group(self, group: Mapping[str, Any]) -> None:
        super()._check_group(group)
        named = {key: group[key] for key in ("momentum", "weight_decay")}
        check_at_least_zero(**named)
        if not isinstance(group["dampening"], Real):
            raise Error(f"dampening is {group['dampening']!r}, expected a number")

    def _check_begin(self, group: Mapping[str, Any]) -> None:
        super()._check_begin(group)
        if group["nesterov"] and (group["momentum"] <= 0 or group["dampening"] != 0):
            raise Error("nesterov needs a momentum, and no dampening")

    def _names(self, group: Mapping[str, Any]) -> tuple[str, ...]:
        return ("momentum_buffer",) if group["momentum"] else ()

    def _flags(self, group: Mapping[str, Any]) -> list[str]:
        flags = {
            "momentum": group["momentum"],
            "nesterov": group["nesterov"],
            "decay": group["weight_decay"],
        }
        return [name for name, value in flags.items() if value]

    def _scalars(
        self, group: Mapping[str, Any], step: int, begins: bool
    ) -> list[float]:
        # The first momentum is the gradient itself.
        kept = 1.0 if begins else 1 - group["dampening"]
        return [
            -float(group["lr"]),
            group["momentum"],
            kept,
            float(group["weight_decay"]),
        ]


_SHARED = (
    "lr",
    "weight_decay",
    "maximize",
    "weights",
    "state",
    "master",
    "compute",
    "rounding",
    "state_rounding",
    "random_bits",
    "compensated",
    "seed",
)
_SGD = (*_SHARED, "momentum", "dampening", "nesterov")
_ADAM = (*_SHARED, "betas", "eps", "amsgrad")


class Adam(Optimizer):
    """Adam, as ``torch.optim.Adam``, in formats.

    state  the format of both moments, or a mapping from ``exp_avg``, ``exp_avg_sq``
           (and ``max_exp_avg_sq``) to formats.

    The other formats are those of :class:`SGD`.
    """

    _rule = "adam"
    _decoupled = False

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
        weights: Spec | None = None,
        state: Spec | Mapping[str, Spec] | None = None,
        master: Spec | None = None,
        compute: Spec | None = None,
        rounding: str | None = None,
        state_rounding: str | None = None,
        random_bits: int | None = None,
        compensated: bool = False,
        seed: int = 0,
        **others: Any,
    ) -> None:
        own = {key: value for key, value in locals().items() if key in _ADAM}
        super().__init__(params, own, others)

    def _check_group(self, group: Mapping[str, Any]) -> None:
        super()._check_group(group)
        check_at_least_zero(eps=group["eps"], weight_decay=group["weight_decay"])
        _check_betas(group["betas"])

    def _names(self, group: Mapping[str, Any]) -> tuple[str, ...]:
        names = ("exp_avg", "exp_avg_sq")
        return (*names, "max_exp_avg_sq") if group["amsgrad"] else names

    def _flags(self, group: Mapping[str, Any]) -> list[str]:
        flags = ["decay"] if group["weight_decay"] else []
        if flags and self._decoupled:
            flags.append("decoupled")
        return flags + (["amsgrad"] if group["amsgrad"] else [])

    def _scalars(
        self, group: Mapping[str, Any], step: int, begins: bool
    ) -> list[float]:
        beta1, beta2 = group["betas"]
        lr, decay = float(group["lr"]), float(group["weight_decay"])
        if self._decoupled:
            decay = -lr * decay if group["compensated"] else 1 - lr * decay
        return [
            1 - beta1,
            beta2,
            1 - beta2,
            math.sqrt(1 - beta2**step),
            group["eps"],
            -(lr / (1 - beta1**step)),
            decay,
        ]


class AdamW(Adam):
    """Adam with weight decay that is not part of the gradient, in formats.

    As ``torch.optim.AdamW``; the formats are those of :class:`SGD` and
    :class:`Adam`.
    """

    _decoupled = True

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        amsgrad: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, **options)
