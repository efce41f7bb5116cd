# SPDX-License-Identifier: MIT
"""The formats of what an optimiser computes and keeps, and their memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from numera import _arrays, _casts, _formats, _kernels, _kinds, _numera
from numera._errors import Error
from numera._formats import Format, ScaledFormat

Spec = str | Format

OPTIONS = (
    "weights",
    "state",
    "master",
    "compute",
    "rounding",
    "state_rounding",
    "random_bits",
    "compensated",
)
"""What of a group of parameters formats follow from."""

_MACHINE = {"float<8,23>": torch.float32, "float<11,52>": torch.float64}


class Roles(NamedTuple):
    """In what a tensor of parameters is computed and kept."""

    parameter: Format
    """What its own elements are in."""
    compute: Format
    weight: Format
    master: Format | None
    state: tuple[tuple[str, Format], ...]

    @property
    def kept(self) -> tuple[tuple[str, Format], ...]:
        """What is kept of a tensor as codes."""
        own = () if self.master is None else (("master", self.master),)
        return own + self.state


def find(group: Mapping[str, Any], dtype: torch.dtype, names: Sequence[str]) -> Roles:
    """The formats of parameters of a type, with state of these names."""
    parameter = of_dtype(dtype)
    wide = "f64" if dtype == torch.float64 else "f32"
    compute = _chosen(group["compute"] or wide)
    rounding, bits = group["rounding"], group["random_bits"]
    for mode in (rounding, group["state_rounding"]):  # which nothing may need
        _formats.format("f32", rounding=mode)

    def rounded(spec: Spec | None, how: str | None) -> Format:
        fmt = _chosen(spec or parameter)
        if fmt.family == "opaque" or has_all(fmt, compute):
            return fmt
        draws = (how or fmt.rounding) == "stochastic"
        return _formats.format(fmt, rounding=how, random_bits=bits if draws else None)

    # The update is rounded as the group says, what is read of a master to nearest.
    master = None
    if group["master"] is None:
        weight = rounded(group["weights"], rounding)
    else:
        master = rounded(group["master"], rounding)
        weight = _chosen(group["weights"] or parameter)
    if not has_all(parameter, weight):
        raise Error(
            f"{dtype} has not all values of '{weight.name}'; parameters may be "
            f"kept in it as master="
        )
    own = group["state"]
    how = group["state_rounding"] or rounding
    state = {
        name: rounded(own.get(name) if isinstance(own, Mapping) else own, how)
        for name in names
    }
    if group["compensated"]:
        state["compensation"] = master or weight
    return Roles(parameter, compute, weight, master, tuple(state.items()))


def spelled(spec: Spec | None) -> Spec | None:
    """The name of a format where it says all, so that state dicts hold strings."""
    if isinstance(spec, Format):
        try:
            return spec.name if _formats.format(spec.name) == spec else spec
        except Error:
            return spec
    return spec


def of_dtype(dtype: torch.dtype) -> Format:
    """The format that elements of a type are in."""
    name = _kinds.of_torch(dtype)
    if name is None or dtype.itemsize == 1:
        raise Error(
            f"a parameter or gradient of {dtype}, expected one of floats of 16 bits or "
            f"more, which weights= rounds"
        )
    return _casts.chosen(name)


def has_all(wide: Format, fmt: Format) -> bool:
    """Whether all values of a format are values of a machine's or of itself."""
    if wide == fmt:
        return True
    machine = _MACHINE.get(wide.spelling)
    if machine is not None:
        return 0 < _numera.carrier(fmt._registry, fmt.name) <= machine.itemsize * 8
    if max(fmt.width, wide.width) > _formats.WIDEST_TABLE or fmt.family == "opaque":
        return False
    values = fmt.values()
    kept = _arrays.quantize(values, wide, rounding="nearest-even")
    return bool(((kept == values) | np.isnan(values)).all())


def _chosen(spec: Spec) -> Format:
    fmt = _casts.chosen(spec)
    if isinstance(fmt, ScaledFormat):
        raise Error(f"'{fmt.name}' is a scaled format, expected one of numbers")
    return fmt


# ---- memory -----------------------------------------------------------------


def storage(fmt: Format) -> torch.dtype:
    """The integer that codes are kept in; f32 and f64 are what they are."""
    integer: torch.dtype = getattr(torch, f"uint{fmt.storage_bits}")
    return _MACHINE.get(fmt.spelling, integer)


def encode(values: torch.Tensor, fmt: Format) -> torch.Tensor:
    """The codes of a tensor in a format, to nearest."""
    if fmt.spelling in _MACHINE:
        return values.detach().to(_MACHINE[fmt.spelling], copy=True)
    flat = values.detach().contiguous().view(-1)
    codes = torch.empty(flat.numel(), dtype=storage(fmt))
    _arrays.encode(flat, fmt, rounding=_nearest(fmt), out=codes.numpy())
    return codes.view(values.shape)


def decode(codes: torch.Tensor, fmt: Format) -> torch.Tensor:
    """The values of codes, in f32 or f64."""
    if fmt.spelling in _MACHINE:
        return codes
    values: torch.Tensor = _arrays.decode(codes, fmt)
    return values


def zeros(like: torch.Tensor, fmt: Format) -> torch.Tensor:
    """Codes of zero."""
    zero = encode(torch.zeros(1), fmt)
    if decode(zero, fmt).item() != 0:
        raise Error(f"format '{fmt.name}' has no zero, with which state begins")
    return zero.expand(like.numel()).reshape(like.shape).clone()


def read_master(codes: torch.Tensor, roles: Roles, dtype: torch.dtype) -> torch.Tensor:
    """The parameter that is read of a master."""
    assert roles.master is not None
    wide = decode(codes, roles.master)
    return round_to(wide, roles.weight).to(dtype)


def round_to(values: torch.Tensor, fmt: Format) -> torch.Tensor:
    """Values of a format, to nearest."""
    rounded: torch.Tensor = _arrays.quantize(
        values.detach(), fmt, rounding=_nearest(fmt)
    )
    return rounded


def _nearest(fmt: Format) -> str | None:
    return "nearest-even" if _kernels.is_stochastic(fmt) else None


def lend(tensor: torch.Tensor) -> Any:
    """A dense tensor's elements for a program: NumPy's, or their bits."""
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy()
    return tensor.numpy()


def flat(tensor: torch.Tensor) -> torch.Tensor:
    """Elements in row-major order: the tensor's memory where that is dense."""
    return tensor.detach().contiguous().view(-1)


class Scratch:
    """Memory for results, of which there are never many at once.

    Programs may not write where they read; what they wrote is copied.
    """

    def __init__(self) -> None:
        self._spare: dict[tuple[np.dtype[Any], int], Any] = {}

    def take(self, like: Sequence[Any], count: int) -> list[Any]:
        """Memory for some elements of each array's type."""
        taken = []
        for place, array in enumerate(like):
            key = (array.dtype, place)
            spare = self._spare.get(key)
            if spare is None or len(spare) < count:
                spare = self._spare[key] = np.empty(count, array.dtype)
            taken.append(spare[:count])
        return taken
