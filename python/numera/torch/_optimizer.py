# SPDX-License-Identifier: MIT
"""What the optimisers of ``numera.torch.optim`` have in common."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import numpy as np
import torch

from numera._errors import Error, check_whole
from numera.torch import _roles, _update
from numera.torch._roles import Roles
from numera.torch._state import Record, check

T = TypeVar("T")

_CHUNK = 1 << 18
"""Elements computed at once, which is what results need beside the tensors."""
_MANY = 1 << 15
"""Elements from which on several threads are worth while."""
_REFUSED = ("foreach", "fused", "capturable", "differentiable")
_FLAGS = ("maximize", "compensated", "nesterov", "amsgrad")
_OTHERS = (
    *("params", "param_names", "name", "initial_lr", "swa_lr"),
    *("min_lr", "max_lr", "base_momentum", "max_momentum"),
)
"""What a group has beside options: PyTorch, its schedulers and users put it there."""


def check_at_least_zero(**named: Any) -> None:
    for name, value in named.items():
        try:
            fits = bool(value >= 0)
        except TypeError:
            fits = False
        if not fits:
            raise Error(f"{name.replace('_', ' ')} is {value!r}, expected at least 0")


def _check(group: Mapping[str, Any]) -> None:
    """Refuses words in place of numbers and of truths."""
    check_whole(seed=group["seed"])
    bits = group["random_bits"]
    if bits is not None and bits not in range(1, 33):
        raise Error(f"random bits are {bits!r}, expected 1 to 32")
    for name in _FLAGS:
        if group.get(name, False) not in (True, False):
            raise Error(f"{name} is {group[name]!r}, expected True or False")


class Optimizer(torch.optim.Optimizer):
    """Runs a program on each tensor. Subclasses say what the program is."""

    _rule: str

    def __init__(
        self, params: Any, defaults: dict[str, Any], others: Mapping[str, Any]
    ) -> None:
        """``others`` are arguments of which this class has none."""
        for name, value in others.items():
            if name not in _REFUSED:
                raise TypeError(
                    f"{type(self).__name__} has no argument '{name}', expected "
                    f"{', '.join(defaults)}"
                )
            if value:
                raise Error(f"{name}= is not for the optimisers of numera.torch")
        self._check_begin(defaults)
        self._clear()
        super().__init__(params, defaults)

    def _clear(self) -> None:
        self._scratch = _roles.Scratch()
        self._known: dict[tuple[Any, ...], Any] = {}
        self._record = Record()

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._clear()

    # ---- what subclasses say ------------------------------------------------

    def _names(self, group: Mapping[str, Any]) -> tuple[str, ...]:
        """What is kept of each element."""
        raise NotImplementedError

    def _flags(self, group: Mapping[str, Any]) -> list[str]:
        """Those of ``_update.Plan``."""
        raise NotImplementedError

    def _scalars(
        self, group: Mapping[str, Any], step: int, begins: bool
    ) -> list[float]:
        """In the order of ``_update.SCALARS``. ``begins``: its state is new."""
        raise NotImplementedError

    def _check_group(self, group: Mapping[str, Any]) -> None:
        """Refuses values of options; groups are checked in each step, too."""
        _check(group)

    def _check_begin(self, group: Mapping[str, Any]) -> None:
        """Refuses what a group may come to, but does not begin with."""
        check_at_least_zero(lr=group["lr"])
        self._check_group(group)

    # ---- formats and programs -----------------------------------------------

    def _lookup(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        # A format keeps the meaning that it had when its codes were written.
        if key not in self._known:
            self._known[key] = make()
        found: T = self._known[key]
        return found

    def _roles(self, group: Mapping[str, Any], dtype: torch.dtype) -> Roles:
        names = self._names(group)
        return self._lookup(
            (*_options(group), names, dtype), lambda: _roles.find(group, dtype, names)
        )

    def _program(
        self, group: Mapping[str, Any], roles: Roles, gradient: torch.dtype
    ) -> _update.Update:
        flags = self._flags(group)
        flags += [name for name in ("maximize", "compensated") if group[name]]

        def make() -> _update.Update:
            plan = _update.Plan(
                self._rule,
                frozenset(flags),
                roles.parameter,
                _roles.of_dtype(gradient),
                roles.compute,
                roles.weight,
                roles.master,
                roles.state,
            )
            return _update.find(plan)

        return self._lookup((*flags, id(roles), gradient), make)

    # ---- the interface of torch.optim ---------------------------------------

    @torch.no_grad()
    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds parameters, which are rounded to the format of weights."""
        given = param_group if isinstance(param_group, Mapping) else {}
        for name, value in given.items():
            if name in _REFUSED and value:
                raise Error(f"{name}= is not for the optimisers of numera.torch")
            if name not in (*_REFUSED, *_OTHERS, *self.defaults):
                self._check_spelling(name)
        super().add_param_group(param_group)
        try:
            self._begin(self.param_groups[-1])
        except Exception:
            self.param_groups.pop()
            raise

    def _check_spelling(self, name: str) -> None:
        """Refuses a key that is nearly an option; others are the user's own."""
        near = difflib.get_close_matches(str(name), self.defaults, n=1, cutoff=0.75)
        if near and near[0] not in name:  # weight_decay_mult is no mistake
            raise Error(
                f"a group of {type(self).__name__} has no '{name}', expected "
                f"'{near[0]}'; what is yours takes a name that is less like it"
            )

    def _begin(self, group: dict[str, Any]) -> None:
        """Checks a group, and rounds its parameters."""
        self._check_begin(group)
        for name in ("weights", "master", "compute"):
            group[name] = _roles.spelled(group[name])
        state = group["state"]
        if isinstance(state, Mapping):
            names = self._names(group)
            for name in state:
                if name not in names:
                    raise Error(f"state is of {' and '.join(names)}, found '{name}'")
            group["state"] = {k: _roles.spelled(v) for k, v in state.items()}
        else:
            group["state"] = _roles.spelled(state)
        for p in group["params"]:
            if p.device.type != "cpu":
                raise Error(f"a parameter lies on {p.device}, expected cpu")
        for p in group["params"]:
            roles = self._roles(group, p.dtype)
            if roles.master is not None:
                master = _roles.encode(p, roles.master)
                self.state[p] = {"step": 0, "master": master}
                self._record.note(p, roles, self.state[p])
                p.copy_(_roles.read_master(master, roles, p.dtype))
            elif roles.weight != roles.parameter:
                p.copy_(_roles.round_to(p, roles.weight))

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Updates all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        sample = 0  # the place of a tensor among all
        for group in self.param_groups:
            self._check_group(group)
            for p in group["params"]:
                if p.grad is not None:
                    self._update(group, p, p.grad.detach(), sample)
                sample += 1
        return loss

    def _update(
        self, group: Mapping[str, Any], p: torch.Tensor, grad: torch.Tensor, sample: int
    ) -> None:
        if grad.layout != torch.strided:
            raise Error(f"a gradient of layout {grad.layout}, expected a dense one")
        roles = self._roles(group, p.dtype)
        program = self._program(group, roles, grad.dtype)
        state = self.state[p]
        self._record.note(p, roles, state)
        state.setdefault("step", 0)
        begins = any(name not in state for name in self._names(group))
        for name, fmt in roles.kept:
            if name in state:
                check(name, state[name], fmt, p)
            else:
                make = _roles.encode if name == "master" else _roles.zeros
                state[name] = make(p, fmt)
        kept = [state[name] for name, _ in roles.kept]
        state["step"] += 1
        scalars = np.array(self._scalars(group, state["step"], begins))
        targets = [p, *kept]
        dense = [_roles.flat(x) for x in targets]
        written = [_roles.lend(x) for x in dense]
        read = [written[0], _roles.lend(_roles.flat(grad)), *written[1:]]
        for begin in range(0, p.numel(), _CHUNK):
            end = min(begin + _CHUNK, p.numel())
            results = self._scratch.take(written, end - begin)
            program.run(
                [scalars, np.array(begin), *(x[begin:end] for x in read)],
                results,
                1 if end - begin < _MANY else torch.get_num_threads(),
                group["seed"],
                state["step"],
                sample,
            )
            for target, result in zip(written, results):
                # Not PyTorch's copy: its threads spin while the program's work.
                target[begin:end] = result
        for whole, part in zip(targets, dense):
            if whole.data_ptr() == part.data_ptr():
                torch.autograd.graph.increment_version(whole)
            else:
                whole.copy_(part.view(whole.shape))

    # ---- state dicts --------------------------------------------------------

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what ``state_dict`` returned: the same bits follow."""
        for group in state_dict["param_groups"]:
            wanted = (*_roles.OPTIONS, *self.defaults)
            if missing := [each for each in wanted if each not in group]:
                raise Error(
                    f"a group of the state dict has no '{missing[0]}'; expected what "
                    f"state_dict of numera.torch.optim.{type(self).__name__} returned"
                )
        self._check_state(state_dict)
        super().load_state_dict(state_dict)
        # torch.optim casts state to the parameter's type, which codes are not.
        places = (
            place for group in state_dict["param_groups"] for place in group["params"]
        )
        for group in self.param_groups:
            for p in group["params"]:
                for name, value in state_dict["state"].get(next(places), {}).items():
                    if isinstance(value, torch.Tensor):
                        value = value.detach().clone()
                    self.state[p][name] = value
                self._record.note(p, self._roles(group, p.dtype), self.state[p])

    def _check_state(self, state_dict: Mapping[str, Any]) -> None:
        """Refuses a state dict whose state is not what its own groups say."""
        for saved, group in zip(state_dict["param_groups"], self.param_groups):
            self._check_group(saved)
            for place, p in zip(saved["params"], group["params"]):
                state = state_dict["state"].get(place, {})
                check_whole(step=state.get("step", 0))
                for name, fmt in self._roles(saved, p.dtype).kept:
                    if name in state:
                        check(name, state[name], fmt, p)


def _options(group: Mapping[str, Any]) -> tuple[Any, ...]:
    state = group["state"]
    if isinstance(state, Mapping):
        state = tuple(state.items())
    return tuple(state if k == "state" else group[k] for k in _roles.OPTIONS)
